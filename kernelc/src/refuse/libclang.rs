//! Clang's own tree of a source, through libclang, which is loaded at run time: the one module that calls it.
//!
//! Loaded once and never unloaded, and what is parsed is never disposed of: the process that uses this does nothing else
//! (`refuse::child`). So a [`Cursor`] or a [`Type`] is valid from its making to the end of the process.
#![allow(unsafe_code)]

use crate::system;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_longlong, c_uint, c_void};
use std::path::Path;
use std::sync::OnceLock;

#[repr(C)]
#[derive(Clone, Copy)]
struct RawCursor {
    kind: c_int,
    extra: c_int,
    data: [*const c_void; 3],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawType {
    kind: c_int,
    data: [*mut c_void; 2],
}

#[repr(C)]
struct RawString {
    data: *const c_void,
    flags: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawLocation {
    pointers: [*const c_void; 2],
    number: c_uint,
}

type Visitor = extern "C" fn(RawCursor, RawCursor, *mut c_void) -> c_int;
type FieldVisitor = extern "C" fn(RawCursor, *mut c_void) -> c_int;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        #[expect(non_snake_case, reason = "libclang's names")]
        struct Functions { $($name: unsafe extern "C" fn($($argument),*) -> $result,)* }

        impl Functions {
            /// Those of a library that is loaded.
            ///
            /// SAFETY: the caller has a handle of a libclang, whose functions have these signatures since
            /// Clang 10 (its C API is stable).
            unsafe fn of(handle: *mut c_void) -> Result<Self, String> {
                Ok(Self { $($name: {
                    let name = CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()).unwrap_or_default();
                    // SAFETY: a symbol of that name is a function of this signature.
                    unsafe {
                        let found = system::function_of(handle, name);
                        if found.is_null() {
                            return Err(format!("it has no {}", stringify!($name)));
                        }
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(found)
                    }
                },)* })
            }
        }
    };
}

functions! {
    clang_createIndex(c_int, c_int) -> *mut c_void;
    clang_parseTranslationUnit2FullArgv(*mut c_void, *const c_char, *const *const c_char, c_int, *mut c_void, c_uint, c_uint,
        *mut *mut c_void) -> c_int;
    clang_getTranslationUnitCursor(*mut c_void) -> RawCursor;
    clang_visitChildren(RawCursor, Visitor, *mut c_void) -> c_uint;
    clang_getCursor(*mut c_void, RawLocation) -> RawCursor;
    clang_getCursorSpelling(RawCursor) -> RawString;
    clang_Cursor_getMangling(RawCursor) -> RawString;
    clang_Type_getTemplateArgumentAsType(RawType, c_uint) -> RawType;
    clang_getCursorType(RawCursor) -> RawType;
    clang_getCursorReferenced(RawCursor) -> RawCursor;
    clang_getCursorDefinition(RawCursor) -> RawCursor;
    clang_getCursorSemanticParent(RawCursor) -> RawCursor;
    clang_getCursorLexicalParent(RawCursor) -> RawCursor;
    clang_getCursorLocation(RawCursor) -> RawLocation;
    clang_getSpecializedCursorTemplate(RawCursor) -> RawCursor;
    clang_getCanonicalCursor(RawCursor) -> RawCursor;
    clang_hashCursor(RawCursor) -> c_uint;
    clang_equalCursors(RawCursor, RawCursor) -> c_uint;
    clang_Cursor_isNull(RawCursor) -> c_int;
    clang_CXXMethod_isVirtual(RawCursor) -> c_uint;
    clang_CXXMethod_isStatic(RawCursor) -> c_uint;
    clang_CXXMethod_isDefaulted(RawCursor) -> c_uint;
    clang_isVirtualBase(RawCursor) -> c_uint;
    clang_Cursor_isBitField(RawCursor) -> c_uint;
    clang_Cursor_getOffsetOfField(RawCursor) -> c_longlong;
    clang_Cursor_getStorageClass(RawCursor) -> c_int;
    clang_getCursorTLSKind(RawCursor) -> c_int;
    clang_Cursor_getNumArguments(RawCursor) -> c_int;
    clang_Cursor_getArgument(RawCursor, c_uint) -> RawCursor;
    clang_getEnumDeclIntegerType(RawCursor) -> RawType;
    clang_getCanonicalType(RawType) -> RawType;
    clang_getPointeeType(RawType) -> RawType;
    clang_getElementType(RawType) -> RawType;
    clang_getTypeDeclaration(RawType) -> RawCursor;
    clang_getTypeSpelling(RawType) -> RawString;
    clang_getResultType(RawType) -> RawType;
    clang_Type_getSizeOf(RawType) -> c_longlong;
    clang_isFunctionTypeVariadic(RawType) -> c_uint;
    clang_isVolatileQualifiedType(RawType) -> c_uint;
    clang_isConstQualifiedType(RawType) -> c_uint;
    clang_Type_visitFields(RawType, FieldVisitor, *mut c_void) -> c_uint;
    clang_getExpansionLocation(RawLocation, *mut *mut c_void, *mut c_uint, *mut c_uint, *mut c_uint) -> ();
    clang_getSpellingLocation(RawLocation, *mut *mut c_void, *mut c_uint, *mut c_uint, *mut c_uint) -> ();
    clang_Location_isInSystemHeader(RawLocation) -> c_int;
    clang_getFileName(*mut c_void) -> RawString;
    clang_getCString(RawString) -> *const c_char;
    clang_disposeString(RawString) -> ();
    clang_getDiagnosticSetFromTU(*mut c_void) -> *mut c_void;
    clang_getNumDiagnosticsInSet(*mut c_void) -> c_uint;
    clang_getDiagnosticInSet(*mut c_void, c_uint) -> *mut c_void;
    clang_getChildDiagnostics(*mut c_void) -> *mut c_void;
    clang_getDiagnosticSeverity(*mut c_void) -> c_int;
    clang_getDiagnosticSpelling(*mut c_void) -> RawString;
    clang_getDiagnosticLocation(*mut c_void) -> RawLocation;
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Attributes that Clang adds by itself are children of their declarations.
const VISIT_IMPLICIT_ATTRIBUTES: c_uint = 0x2000;
/// `CXChildVisit_Continue` and `CXVisit_Continue`.
const CONTINUE: c_int = 1;

fn with<R>(act: impl FnOnce(&Functions) -> R) -> Option<R> {
    FUNCTIONS.get().map(act)
}

/// Loads the library.
pub(super) fn load(path: &Path) -> Result<(), String> {
    let handle = system::load_library(path);
    if handle.is_null() {
        return Err(format!("{} cannot be loaded", path.display()));
    }
    // SAFETY: the handle is that of a libclang, by its file name.
    let functions = unsafe { Functions::of(handle) }.map_err(|e| format!("{}: {e}", path.display()))?;
    let _ = FUNCTIONS.set(functions);
    Ok(())
}

/// A parsed source.
pub(super) struct Unit(*mut c_void);

/// Parses what the command line of a compiler names; the first argument is the compiler.
pub(super) fn parse(arguments: &[OsString]) -> Option<Unit> {
    let arguments: Vec<CString> =
        arguments.iter().map(|a| CString::new(a.as_encoded_bytes())).collect::<Result<_, _>>().ok()?;
    let pointers: Vec<*const c_char> = arguments.iter().map(|a| a.as_ptr()).collect();
    let count = c_int::try_from(pointers.len()).ok()?;
    let mut unit = std::ptr::null_mut();
    let none = std::ptr::null_mut();
    // SAFETY: the strings live over the call, which copies what it keeps; the source is among the arguments.
    let code = with(|f| unsafe {
        let index = (f.clang_createIndex)(0, 0);
        let (first, options) = (pointers.as_ptr(), VISIT_IMPLICIT_ATTRIBUTES);
        (f.clang_parseTranslationUnit2FullArgv)(index, std::ptr::null(), first, count, none, 0, options, &mut unit)
    })?;
    (code == 0 && !unit.is_null()).then_some(Unit(unit))
}

/// A diagnostic of Clang.
pub(super) struct Diagnostic {
    pub(super) severity: Severity,
    pub(super) text: String,
    pub(super) place: Place,
    pub(super) notes: Vec<Diagnostic>,
    /// What stands there.
    pub(super) at: Cursor,
    /// The place is in a header of the system, of which C++ AMP's are part.
    pub(super) of_system: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    Note,
    Warning,
    Error,
    Fatal,
}

impl Unit {
    pub(super) fn cursor(&self) -> Cursor {
        // SAFETY: the unit is a parsed one, which is never disposed of.
        Cursor(with(|f| unsafe { (f.clang_getTranslationUnitCursor)(self.0) }).unwrap_or(NULL))
    }

    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        // SAFETY: as above.
        with(|f| unsafe { diagnostics(f, self.0, (f.clang_getDiagnosticSetFromTU)(self.0)) }).unwrap_or_default()
    }
}

/// SAFETY: the set is one of the unit, which is parsed.
unsafe fn diagnostics(f: &Functions, unit: *mut c_void, set: *mut c_void) -> Vec<Diagnostic> {
    // SAFETY: the caller's set, and its members by their numbers.
    unsafe {
        let all = 0..if set.is_null() { 0 } else { (f.clang_getNumDiagnosticsInSet)(set) };
        let one = |n| {
            let it = (f.clang_getDiagnosticInSet)(set, n);
            let location = (f.clang_getDiagnosticLocation)(it);
            Diagnostic {
                severity: match (f.clang_getDiagnosticSeverity)(it) {
                    4 => Severity::Fatal,
                    3 => Severity::Error,
                    2 => Severity::Warning,
                    _ => Severity::Note,
                },
                text: string(f, (f.clang_getDiagnosticSpelling)(it)),
                place: place(f, location),
                notes: diagnostics(f, unit, (f.clang_getChildDiagnostics)(it)),
                at: Cursor((f.clang_getCursor)(unit, location)),
                of_system: (f.clang_Location_isInSystemHeader)(location) != 0,
            }
        };
        all.map(one).collect()
    }
}

/// SAFETY: the string comes from libclang and is used once.
unsafe fn string(f: &Functions, raw: RawString) -> String {
    // SAFETY: the caller's string; what it points to lives until it is disposed of.
    unsafe {
        let copy = RawString { data: raw.data, flags: raw.flags };
        let text = (f.clang_getCString)(copy);
        let made = if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() };
        (f.clang_disposeString)(raw);
        made
    }
}

/// A place in a source, where macros are expanded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// SAFETY: the location comes from libclang.
unsafe fn place(f: &Functions, location: RawLocation) -> Place {
    let (mut file, mut line, mut column, mut offset) = (std::ptr::null_mut(), 0, 0, 0);
    // SAFETY: the caller's location; the results are written before the calls return.
    unsafe {
        (f.clang_getExpansionLocation)(location, &mut file, &mut line, &mut column, &mut offset);
        let file = if file.is_null() { String::new() } else { string(f, (f.clang_getFileName)(file)) };
        Place { file, line, column }
    }
}

/// A declaration, a statement, an expression or an attribute.
#[derive(Clone, Copy)]
pub(super) struct Cursor(RawCursor);

const NULL: RawCursor = RawCursor { kind: 70, extra: 0, data: [std::ptr::null(); 3] };
const NO_TYPE: RawType = RawType { kind: 0, data: [std::ptr::null_mut(); 2] };

impl PartialEq for Cursor {
    fn eq(&self, other: &Self) -> bool {
        // SAFETY: both are cursors of the unit.
        with(|f| unsafe { (f.clang_equalCursors)(self.0, other.0) != 0 }).unwrap_or(false)
    }
}

extern "C" fn keep_child(child: RawCursor, _: RawCursor, list: *mut c_void) -> c_int {
    // SAFETY: `children` gives the address of its list, which lives over the call.
    unsafe { (*list.cast::<Vec<Cursor>>()).push(Cursor(child)) };
    CONTINUE
}

extern "C" fn keep_field(field: RawCursor, list: *mut c_void) -> c_int {
    // SAFETY: as `keep_child`, of `fields`.
    unsafe { (*list.cast::<Vec<Cursor>>()).push(Cursor(field)) };
    CONTINUE
}

/// Methods that hand a cursor to a function of libclang.
macro_rules! asked {
    ($($name:ident -> $result:ty: $function:ident, $make:expr;)*) => {
        $(pub(super) fn $name(self) -> Option<$result> {
            // SAFETY: the cursor is one of the unit, which is never disposed of.
            with(|f| unsafe { (f.$function)(self.0) }).map($make)
        })*
    };
}

impl Cursor {
    asked! {
        ty -> Type: clang_getCursorType, Type;
        referenced -> Cursor: clang_getCursorReferenced, Cursor;
        definition -> Cursor: clang_getCursorDefinition, Cursor;
        canonical -> Cursor: clang_getCanonicalCursor, Cursor;
        semantic_parent -> Cursor: clang_getCursorSemanticParent, Cursor;
        lexical_parent -> Cursor: clang_getCursorLexicalParent, Cursor;
        specialized -> Cursor: clang_getSpecializedCursorTemplate, Cursor;
        hash -> u32: clang_hashCursor, |n| n;
        offset_of_field -> i64: clang_Cursor_getOffsetOfField, |n| n;
        storage -> i32: clang_Cursor_getStorageClass, |n| n;
        enum_type -> Type: clang_getEnumDeclIntegerType, Type;
    }

    pub(super) fn is_null(self) -> bool {
        // SAFETY: any cursor may be asked.
        with(|f| unsafe { (f.clang_Cursor_isNull)(self.0) != 0 }).unwrap_or(true) || (70..=73).contains(&self.0.kind)
    }

    pub(super) fn is_virtual(self) -> bool {
        // SAFETY: the cursor is one of the unit.
        with(|f| unsafe { (f.clang_CXXMethod_isVirtual)(self.0) != 0 }).unwrap_or(false)
    }

    pub(super) fn is_static_method(self) -> bool {
        // SAFETY: as above.
        with(|f| unsafe { (f.clang_CXXMethod_isStatic)(self.0) != 0 }).unwrap_or(false)
    }

    /// A member function that is written `= default`.
    pub(super) fn is_defaulted(self) -> bool {
        // SAFETY: as above.
        with(|f| unsafe { (f.clang_CXXMethod_isDefaulted)(self.0) != 0 }).unwrap_or(false)
    }

    pub(super) fn is_virtual_base(self) -> bool {
        // SAFETY: as above.
        with(|f| unsafe { (f.clang_isVirtualBase)(self.0) != 0 }).unwrap_or(false)
    }

    pub(super) fn is_thread_local(self) -> bool {
        // SAFETY: as above.
        with(|f| unsafe { (f.clang_getCursorTLSKind)(self.0) != 0 }).unwrap_or(false)
    }

    pub(super) fn is_bit_field(self) -> bool {
        // SAFETY: as above.
        with(|f| unsafe { (f.clang_Cursor_isBitField)(self.0) != 0 }).unwrap_or(false)
    }

    /// One of the constants of [`kind`].
    pub(super) fn kind(self) -> i32 {
        self.0.kind
    }

    pub(super) fn spelling(self) -> String {
        // SAFETY: the cursor is one of the unit; the string is new.
        with(|f| unsafe { string(f, (f.clang_getCursorSpelling)(self.0)) }).unwrap_or_default()
    }

    /// The name that the linker knows it by.
    pub(super) fn mangling(self) -> String {
        // SAFETY: as above.
        with(|f| unsafe { string(f, (f.clang_Cursor_getMangling)(self.0)) }).unwrap_or_default()
    }

    pub(super) fn children(self) -> Vec<Cursor> {
        let mut list: Vec<Cursor> = Vec::new();
        // SAFETY: the cursor is one of the unit; the list lives over the call, and nobody else uses it meanwhile.
        with(|f| unsafe { (f.clang_visitChildren)(self.0, keep_child, (&raw mut list).cast()) });
        list
    }

    /// The arguments of a call.
    pub(super) fn arguments(self) -> Vec<Cursor> {
        // SAFETY: the cursor is one of the unit, and has so many arguments.
        with(|f| unsafe {
            let count = u32::try_from((f.clang_Cursor_getNumArguments)(self.0)).unwrap_or(0);
            (0..count).map(|n| Cursor((f.clang_Cursor_getArgument)(self.0, n))).collect()
        })
        .unwrap_or_default()
    }

    pub(super) fn place(self) -> Place {
        // SAFETY: the cursor is one of the unit, and so is its location.
        with(|f| unsafe { place(f, (f.clang_getCursorLocation)(self.0)) }).unwrap_or(Place {
            file: String::new(),
            line: 0,
            column: 0,
        })
    }

    /// Written in a macro's definition.
    pub(super) fn is_from_macro(self) -> bool {
        // SAFETY: as `place`.
        with(|f| unsafe {
            let location = (f.clang_getCursorLocation)(self.0);
            let (mut file, mut line, mut column, mut at, mut spelt) = (std::ptr::null_mut(), 0, 0, 0, 0);
            (f.clang_getExpansionLocation)(location, &mut file, &mut line, &mut column, &mut at);
            (f.clang_getSpellingLocation)(location, &mut file, &mut line, &mut column, &mut spelt);
            at != spelt
        })
        .unwrap_or(false)
    }

    /// In a header of the system, of which C++ AMP's are part.
    pub(super) fn is_of_system(self) -> bool {
        // SAFETY: as `place`.
        with(|f| unsafe { (f.clang_Location_isInSystemHeader)((f.clang_getCursorLocation)(self.0)) != 0 })
            .unwrap_or(true)
    }
}

/// A type, with its qualifiers.
#[derive(Clone, Copy)]
pub(super) struct Type(RawType);

/// Methods that hand a type to a function of libclang.
macro_rules! asked_of_type {
    ($($name:ident: $function:ident;)*) => {
        $(pub(super) fn $name(self) -> Type {
            // SAFETY: the type is one of the unit, which is never disposed of.
            Type(with(|f| unsafe { (f.$function)(self.0) }).unwrap_or(NO_TYPE))
        })*
    };
}

impl Type {
    asked_of_type! {
        canonical: clang_getCanonicalType;
        pointee: clang_getPointeeType;
        element: clang_getElementType;
        result: clang_getResultType;
    }

    /// In bytes; none where that is not known yet.
    pub(super) fn size(self) -> Option<u64> {
        // SAFETY: the type is one of the unit.
        with(|f| unsafe { (f.clang_Type_getSizeOf)(self.0) }).and_then(|n| u64::try_from(n).ok())
    }

    /// One of the constants of [`ty`].
    pub(super) fn kind(self) -> i32 {
        self.0.kind
    }

    pub(super) fn spelling(self) -> String {
        // SAFETY: the type is one of the unit; the string is new.
        with(|f| unsafe { string(f, (f.clang_getTypeSpelling)(self.0)) }).unwrap_or_default()
    }

    pub(super) fn declaration(self) -> Cursor {
        // SAFETY: the type is one of the unit.
        Cursor(with(|f| unsafe { (f.clang_getTypeDeclaration)(self.0) }).unwrap_or(NULL))
    }

    /// The type that stands at a place of a template's arguments.
    pub(super) fn template_argument(self, at: u32) -> Option<Type> {
        // SAFETY: the type is one of the unit.
        with(|f| unsafe { (f.clang_Type_getTemplateArgumentAsType)(self.0, at) }).filter(|t| t.kind != 0).map(Type)
    }

    pub(super) fn is_variadic(self) -> bool {
        // SAFETY: as above.
        with(|f| unsafe { (f.clang_isFunctionTypeVariadic)(self.0) != 0 }).unwrap_or(false)
    }

    pub(super) fn is_volatile(self) -> bool {
        // SAFETY: as above.
        with(|f| unsafe { (f.clang_isVolatileQualifiedType)(self.0) != 0 }).unwrap_or(false)
    }

    pub(super) fn is_const(self) -> bool {
        // SAFETY: as above.
        with(|f| unsafe { (f.clang_isConstQualifiedType)(self.0) != 0 }).unwrap_or(false)
    }

    /// The members of a class that hold values, also those without names.
    pub(super) fn fields(self) -> Vec<Cursor> {
        let mut list: Vec<Cursor> = Vec::new();
        // SAFETY: the type is one of the unit; the list lives over the call, and nobody else uses it meanwhile.
        with(|f| unsafe { (f.clang_Type_visitFields)(self.0, keep_field, (&raw mut list).cast()) });
        list
    }
}

/// What a cursor is: `CXCursorKind` of Index.h.
pub(super) mod kind {
    pub const UNION: i32 = 3;
    pub const STRUCT: i32 = 2;
    pub const CLASS: i32 = 4;
    pub const FUNCTION: i32 = 8;
    pub const VARIABLE: i32 = 9;
    pub const PARAMETER: i32 = 10;
    pub const METHOD: i32 = 21;
    pub const FIELD: i32 = 6;
    pub const MEMBER_INITIALIZER: i32 = 47;
    pub const NAMESPACE: i32 = 22;
    pub const LINKAGE: i32 = 23;
    pub const CONSTRUCTOR: i32 = 24;
    pub const DESTRUCTOR: i32 = 25;
    pub const CONVERSION: i32 = 26;
    pub const FUNCTION_TEMPLATE: i32 = 30;
    pub const CLASS_TEMPLATE: i32 = 31;
    pub const PARTIAL_SPECIALIZATION: i32 = 32;
    pub const BASE: i32 = 44;
    pub const VARIABLE_REFERENCE: i32 = 50;
    pub const DECLARATION_REFERENCE: i32 = 101;
    pub const MEMBER_REFERENCE: i32 = 102;
    pub const CALL: i32 = 103;
    pub const INTEGER: i32 = 106;
    pub const FLOATING: i32 = 107;
    pub const STRING: i32 = 109;
    pub const CHARACTER: i32 = 110;
    pub const BINARY: i32 = 114;
    pub const CONDITIONAL: i32 = 116;
    pub const C_CAST: i32 = 117;
    pub const ADDRESS_OF_LABEL: i32 = 120;
    pub const NULL: i32 = 123;
    pub const STATIC_CAST: i32 = 124;
    pub const DYNAMIC_CAST: i32 = 125;
    pub const REINTERPRET_CAST: i32 = 126;
    pub const FUNCTIONAL_CAST: i32 = 128;
    pub const TYPEID: i32 = 129;
    pub const THROW: i32 = 133;
    pub const NEW: i32 = 134;
    pub const DELETE: i32 = 135;
    pub const SIZE_OF: i32 = 136;
    pub const STATIC_ASSERT: i32 = 602;
    pub const LAMBDA: i32 = 144;
    pub const LABEL: i32 = 201;
    pub const COMPOUND: i32 = 202;
    pub const GOTO: i32 = 210;
    pub const COMPUTED_GOTO: i32 = 211;
    pub const ASSEMBLY: i32 = 215;
    pub const CATCH: i32 = 223;
    pub const TRY: i32 = 224;
    pub const MS_ASSEMBLY: i32 = 229;
    pub const DEVICE_ATTRIBUTE: i32 = 413;
    pub const HOST_ATTRIBUTE: i32 = 415;
    pub const SHARED_ATTRIBUTE: i32 = 416;
    pub const FRIEND: i32 = 603;
}

/// What a type is: `CXTypeKind` of Index.h.
pub(super) mod ty {
    pub const UNEXPOSED: i32 = 1;
    pub const VOID: i32 = 2;
    pub const BOOL: i32 = 3;
    pub const UNSIGNED: i32 = 9;
    pub const UNSIGNED_LONG: i32 = 10;
    pub const CHAR: i32 = 13;
    pub const INT: i32 = 17;
    pub const LONG: i32 = 18;
    pub const FIRST_NUMBER: i32 = 3;
    pub const LAST_INTEGER: i32 = 20;
    pub const FLOAT: i32 = 21;
    pub const DOUBLE: i32 = 22;
    pub const LONG_DOUBLE: i32 = 23;
    pub const NULLPTR: i32 = 24;
    pub const FLOAT_128: i32 = 30;
    pub const BFLOAT_16: i32 = 39;
    pub const COMPLEX: i32 = 100;
    pub const POINTER: i32 = 101;
    pub const LVALUE_REFERENCE: i32 = 103;
    pub const RVALUE_REFERENCE: i32 = 104;
    pub const RECORD: i32 = 105;
    pub const ENUM: i32 = 106;
    pub const FUNCTION: i32 = 111;
    pub const ARRAY: i32 = 112;
    pub const ARRAY_WITHOUT_LENGTH: i32 = 114;
    pub const MEMBER_POINTER: i32 = 117;
}
