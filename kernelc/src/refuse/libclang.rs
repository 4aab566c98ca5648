//! Gives access to Clang's AST of a source. The module loads libclang at run time, and no other module calls libclang.
//!
//! libclang is never unloaded and parsed sources are never disposed of, because the process only checks one source
//! (`refuse::child`). Therefore a [`Cursor`] or a [`Type`] is valid until the process ends.
#![allow(unsafe_code)]

pub(super) use super::constants::{kind, ty};
use super::text::{Severity, Text};
use crate::clang;
use crate::diagnostics::SourceLocation;
use crate::files;
use libloading::Library;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_longlong, c_uint, c_ulonglong, c_void};
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

#[repr(C)]
#[derive(Clone, Copy)]
struct RawRange {
    pointers: [*const c_void; 2],
    numbers: [c_uint; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawToken {
    numbers: [c_uint; 4],
    data: *mut c_void,
}

type Visitor = extern "C" fn(RawCursor, RawCursor, *mut c_void) -> c_int;
type PartVisitor = extern "C" fn(RawCursor, *mut c_void) -> c_int;
type VisitParts = unsafe extern "C" fn(RawType, PartVisitor, *mut c_void) -> c_uint;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        #[expect(non_snake_case, reason = "libclang's names")]
        struct Functions { $($name: unsafe extern "C" fn($($argument),*) -> $result,)* }

        impl Functions {
            /// Looks the functions up.
            ///
            /// # Safety
            /// `library` must be libclang. Its functions have had these signatures since Clang 21 (a stable C API).
            /// The library must stay loaded as long as the functions are called.
            unsafe fn of(library: &Library) -> Result<Self, String> {
                Ok(Self { $($name: {
                    let name = stringify!($name);
                    // SAFETY: the caller promises the signature; the library stays loaded.
                    *unsafe { library.get::<unsafe extern "C" fn($($argument),*) -> $result>(name.as_bytes()) }
                        .map_err(|_| format!("the library has no {name}"))?
                },)* })
            }
        }
    };
}

functions! {
    clang_getClangVersion() -> RawString;
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
    clang_getCursorExtent(RawCursor) -> RawRange;
    clang_getCursorAvailability(RawCursor) -> c_int;
    clang_isCursorDefinition(RawCursor) -> c_uint;
    clang_getRangeStart(RawRange) -> RawLocation;
    clang_getRangeEnd(RawRange) -> RawLocation;
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
    clang_getCursorExceptionSpecificationType(RawCursor) -> c_int;
    clang_Cursor_Evaluate(RawCursor) -> *mut c_void;
    clang_EvalResult_getAsUnsigned(*mut c_void) -> c_ulonglong;
    clang_EvalResult_dispose(*mut c_void) -> ();
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
    clang_Type_visitFields(RawType, PartVisitor, *mut c_void) -> c_uint;
    clang_visitCXXBaseClasses(RawType, PartVisitor, *mut c_void) -> c_uint;
    clang_visitCXXMethods(RawType, PartVisitor, *mut c_void) -> c_uint;
    clang_getExpansionLocation(RawLocation, *mut *mut c_void, *mut c_uint, *mut c_uint, *mut c_uint) -> ();
    clang_getSpellingLocation(RawLocation, *mut *mut c_void, *mut c_uint, *mut c_uint, *mut c_uint) -> ();
    clang_getPresumedLocation(RawLocation, *mut RawString, *mut c_uint, *mut c_uint) -> ();
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
    clang_getDiagnosticOption(*mut c_void, *mut RawString) -> RawString;
    clang_getDiagnosticCategory(*mut c_void) -> c_uint;
    clang_getDiagnosticNumRanges(*mut c_void) -> c_uint;
    clang_getDiagnosticRange(*mut c_void, c_uint) -> RawRange;
    clang_getDiagnosticNumFixIts(*mut c_void) -> c_uint;
    clang_getDiagnosticFixIt(*mut c_void, c_uint, *mut RawRange) -> RawString;
    clang_getFile(*mut c_void, *const c_char) -> *mut c_void;
    clang_getFileContents(*mut c_void, *mut c_void, *mut usize) -> *const c_char;
    clang_getLocation(*mut c_void, *mut c_void, c_uint, c_uint) -> RawLocation;
    clang_getToken(*mut c_void, RawLocation) -> *mut RawToken;
    clang_getTokenSpelling(*mut c_void, RawToken) -> RawString;
    clang_disposeTokens(*mut c_void, *mut RawToken, c_uint) -> ();
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Visits attributes that Clang adds implicitly, as children of their declarations.
const VISIT_IMPLICIT_ATTRIBUTES: c_uint = 0x2000;
/// `CXChildVisit_Continue` and `CXVisit_Continue`.
const CONTINUE: c_int = 1;

fn with<R>(act: impl FnOnce(&Functions) -> R) -> Option<R> {
    FUNCTIONS.get().map(act)
}

/// Loads the library, which must be of the major version `major`.
pub(super) fn load(path: &Path, major: u32) -> Result<(), String> {
    let unfit = |why: String| format!("{} cannot be used: {why}", path.display());
    // SAFETY: the file name says that the library is a libclang, whose initialisers have no preconditions.
    let library = unsafe { Library::new(path) }.map_err(|e| unfit(e.to_string()))?;
    // SAFETY: the file name says that the library is a libclang. It is never unloaded.
    let functions = unsafe { Functions::of(&library) }.map_err(unfit)?;
    std::mem::forget(library);
    // SAFETY: nothing else uses the string.
    let version = unsafe { string(&functions, (functions.clang_getClangVersion)()) };
    if clang::major_in(&version) != Some(major) {
        return Err(unfit(format!("the library belongs to {version}, but the compiler is Clang {major}")));
    }
    let _ = FUNCTIONS.set(functions);
    Ok(())
}

/// A parsed source.
#[derive(Clone, Copy)]
pub(super) struct Unit(*mut c_void);

/// Parses the source that a compiler's command line names. The first argument is the compiler.
pub(super) fn parse(arguments: &[OsString]) -> Result<Unit, String> {
    let arguments: Vec<CString> = arguments
        .iter()
        .map(|a| CString::new(a.as_encoded_bytes()))
        .collect::<Result<_, _>>()
        .map_err(|_| "an argument has a zero byte")?;
    let pointers: Vec<*const c_char> = arguments.iter().map(|a| a.as_ptr()).collect();
    let count = c_int::try_from(pointers.len()).map_err(|e| e.to_string())?;
    let mut unit = std::ptr::null_mut();
    let no_files = std::ptr::null_mut();
    // SAFETY: the strings outlive the call, which copies what it keeps; the source is among the arguments.
    let code = with(|f| unsafe {
        let index = (f.clang_createIndex)(0, 0);
        let (first, options) = (pointers.as_ptr(), VISIT_IMPLICIT_ATTRIBUTES);
        (f.clang_parseTranslationUnit2FullArgv)(index, std::ptr::null(), first, count, no_files, 0, options, &mut unit)
    });
    match code {
        Some(0) => Ok(Unit(unit)),
        // `CXError_Crashed`.
        Some(2) => Err("libclang crashed".into()),
        _ => Err("libclang cannot parse the source".into()),
    }
}

/// A range of a source; `end` is exclusive.
pub(super) struct Range {
    pub(super) start: SourceLocation,
    pub(super) end: SourceLocation,
}

/// A diagnostic of Clang.
pub(super) struct Diagnostic {
    pub(super) severity: Severity,
    pub(super) text: Text,
    /// The option that controls the diagnostic, as `-Wname`; empty if there is none.
    pub(super) option: String,
    /// True for a note that only says by which inclusion or macro the compiler reached the place.
    pub(super) is_of_the_preprocessor: bool,
    pub(super) place: SourceLocation,
    pub(super) location: Location,
    /// The ranges that Clang underlines. `None` is a range without text, such as the arguments of a call without arguments.
    pub(super) ranges: Vec<Option<Range>>,
    /// Clang's fix-its: ranges and their replacements.
    pub(super) fixes: Vec<(Range, String)>,
    /// The word at the place; in a macro, the word of the macro's definition.
    pub(super) word: String,
    pub(super) notes: Vec<Diagnostic>,
    /// The cursor at the place.
    pub(super) at: Cursor,
    /// True if the place is in a system header; C++ AMP's headers are system headers.
    pub(super) in_system_header: bool,
}

/// A location in a unit. In a macro, each word has a separate location in each expansion.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Location(u32);

impl Unit {
    pub(super) fn cursor(&self) -> Cursor {
        // SAFETY: the unit is parsed and never disposed of.
        Cursor(with(|f| unsafe { (f.clang_getTranslationUnitCursor)(self.0) }).unwrap_or(NULL))
    }

    /// The text of a place's line, as Clang has read it.
    pub(super) fn line(&self, place: &SourceLocation) -> Option<String> {
        let name = CString::new(place.file.as_str()).ok()?;
        let mut length = 0;
        // SAFETY: the name is a C string. The text of a file of the unit is never disposed of, and has the length that
        // the call writes.
        let text = with(|f| unsafe {
            let file = (f.clang_getFile)(self.0, name.as_ptr());
            let text =
                if file.is_null() { std::ptr::null() } else { (f.clang_getFileContents)(self.0, file, &mut length) };
            if text.is_null() { &[] } else { std::slice::from_raw_parts(text.cast::<u8>(), length) }
        })?;
        let line = text.split(|byte| *byte == b'\n').nth((place.line as usize).checked_sub(1)?)?;
        Some(files::masked(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// The file, line and column that a place has according to `#line` directives.
    pub(super) fn presumed(&self, place: &SourceLocation) -> SourceLocation {
        let Ok(name) = CString::new(place.file.as_str()) else { return place.clone() };
        let mut shown = RawString { data: std::ptr::null(), flags: 0 };
        let (mut line, mut column) = (0, 0);
        // SAFETY: the name is a C string, and the unit is parsed. The results are written before the call returns.
        // Nothing else uses the string.
        let file = with(|f| unsafe {
            let file = (f.clang_getFile)(self.0, name.as_ptr());
            let location = (f.clang_getLocation)(self.0, file, place.line, place.column);
            (f.clang_getPresumedLocation)(location, &mut shown, &mut line, &mut column);
            string(f, shown)
        });
        match file {
            Some(file) if line > 0 => SourceLocation { file, line, column },
            _ => place.clone(),
        }
    }

    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        // SAFETY: as above.
        with(|f| unsafe { diagnostics(f, self.0, (f.clang_getDiagnosticSetFromTU)(self.0)) }).unwrap_or_default()
    }
}

/// SAFETY: the set belongs to the unit, which is parsed.
unsafe fn diagnostics(f: &Functions, unit: *mut c_void, set: *mut c_void) -> Vec<Diagnostic> {
    // SAFETY: the caller's set, and its members by their numbers.
    unsafe {
        let all = 0..if set.is_null() { 0 } else { (f.clang_getNumDiagnosticsInSet)(set) };
        all.map(|n| diagnostic(f, unit, (f.clang_getDiagnosticInSet)(set, n))).collect()
    }
}

/// SAFETY: the diagnostic belongs to the unit, which is parsed.
unsafe fn diagnostic(f: &Functions, unit: *mut c_void, raw: *mut c_void) -> Diagnostic {
    // SAFETY: the caller's diagnostic, and its parts by their numbers.
    unsafe {
        let location = (f.clang_getDiagnosticLocation)(raw);
        let fix = |n| {
            let mut replaced = RawRange { pointers: [std::ptr::null(); 2], numbers: [0; 2] };
            let text = string(f, (f.clang_getDiagnosticFixIt)(raw, n, &mut replaced));
            Some((range(f, replaced)?, text))
        };
        Diagnostic {
            severity: match (f.clang_getDiagnosticSeverity)(raw) {
                4 => Severity::Fatal,
                3 => Severity::Error,
                2 => Severity::Warning,
                _ => Severity::Note,
            },
            text: Text::new(string(f, (f.clang_getDiagnosticSpelling)(raw))),
            option: string(f, (f.clang_getDiagnosticOption)(raw, std::ptr::null_mut())),
            is_of_the_preprocessor: (f.clang_getDiagnosticCategory)(raw) == 0,
            place: place(f, location),
            location: Location(location.number),
            ranges: (0..(f.clang_getDiagnosticNumRanges)(raw))
                .map(|n| range(f, (f.clang_getDiagnosticRange)(raw, n)))
                .collect(),
            fixes: (0..(f.clang_getDiagnosticNumFixIts)(raw)).filter_map(fix).collect(),
            word: word(f, unit, location),
            notes: diagnostics(f, unit, (f.clang_getChildDiagnostics)(raw)),
            at: Cursor((f.clang_getCursor)(unit, location)),
            in_system_header: (f.clang_Location_isInSystemHeader)(location) != 0,
        }
    }
}

/// The word at a location, as it is written in a source or in a macro's definition.
///
/// SAFETY: the location belongs to the unit, which is parsed.
unsafe fn word(f: &Functions, unit: *mut c_void, location: RawLocation) -> String {
    let (mut file, mut line, mut column, mut offset) = (std::ptr::null_mut(), 0, 0, 0);
    // SAFETY: the caller's location; the results are written before the call returns. `clang_getToken` returns a single
    // token, which is disposed of after its last use.
    unsafe {
        (f.clang_getSpellingLocation)(location, &mut file, &mut line, &mut column, &mut offset);
        if file.is_null() {
            return String::new();
        }
        let token = (f.clang_getToken)(unit, (f.clang_getLocation)(unit, file, line, column));
        if token.is_null() {
            return String::new();
        }
        let word = string(f, (f.clang_getTokenSpelling)(unit, *token));
        (f.clang_disposeTokens)(unit, token, 1);
        word
    }
}

/// `None` for a range without text.
///
/// SAFETY: the range comes from libclang.
unsafe fn range(f: &Functions, raw: RawRange) -> Option<Range> {
    // SAFETY: the caller's range.
    let (start, end) = unsafe { (place(f, (f.clang_getRangeStart)(raw)), place(f, (f.clang_getRangeEnd)(raw))) };
    (start.line > 0 && end.line > 0).then_some(Range { start, end })
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

/// SAFETY: the location comes from libclang.
unsafe fn place(f: &Functions, location: RawLocation) -> SourceLocation {
    let (mut file, mut line, mut column, mut offset) = (std::ptr::null_mut(), 0, 0, 0);
    // SAFETY: the caller's location; the results are written before the calls return.
    unsafe {
        (f.clang_getExpansionLocation)(location, &mut file, &mut line, &mut column, &mut offset);
        let file = if file.is_null() { String::new() } else { string(f, (f.clang_getFileName)(file)) };
        SourceLocation { file, line, column }
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
    // SAFETY: `children` passes the address of its list, which outlives the call.
    unsafe { (*list.cast::<Vec<Cursor>>()).push(Cursor(child)) };
    CONTINUE
}

extern "C" fn keep_part(part: RawCursor, list: *mut c_void) -> c_int {
    // SAFETY: as in `keep_child`; the caller is `parts`.
    unsafe { (*list.cast::<Vec<Cursor>>()).push(Cursor(part)) };
    CONTINUE
}

/// Methods that pass a cursor to a function of libclang.
macro_rules! cursor_methods {
    ($($name:ident -> $result:ty: $function:ident, $make:expr;)*) => {
        $(pub(super) fn $name(self) -> Option<$result> {
            // SAFETY: the cursor belongs to the unit, which is never disposed of.
            with(|f| unsafe { (f.$function)(self.0) }).map($make)
        })*
    };
}

/// Methods that return libclang's answer to a yes-or-no question about a cursor or a type.
macro_rules! predicate_methods {
    ($($(#[$documentation:meta])? $name:ident: $function:ident;)*) => {
        $($(#[$documentation])? pub(super) fn $name(self) -> bool {
            // SAFETY: the cursor or the type belongs to the unit, which is never disposed of.
            with(|f| unsafe { (f.$function)(self.0) != 0 }).unwrap_or(false)
        })*
    };
}

impl Cursor {
    cursor_methods! {
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
        // SAFETY: the function accepts any cursor.
        with(|f| unsafe { (f.clang_Cursor_isNull)(self.0) != 0 }).unwrap_or(true) || (70..=73).contains(&self.0.kind)
    }

    predicate_methods! {
        is_virtual: clang_CXXMethod_isVirtual;
        is_static_method: clang_CXXMethod_isStatic;
        /// True for a member function with `= default`.
        is_defaulted: clang_CXXMethod_isDefaulted;
        is_definition: clang_isCursorDefinition;
        is_virtual_base: clang_isVirtualBase;
        is_thread_local: clang_getCursorTLSKind;
        is_bit_field: clang_Cursor_isBitField;
    }

    /// True for a deleted function.
    pub(super) fn is_deleted(self) -> bool {
        // SAFETY: the cursor belongs to the unit. `CXAvailability_NotAvailable` is 2.
        with(|f| unsafe { (f.clang_getCursorAvailability)(self.0) == 2 }).unwrap_or(false)
    }

    /// True for a function declared with `throw(...)` and a list of types.
    pub(super) fn has_dynamic_exceptions(self) -> bool {
        // SAFETY: the cursor belongs to the unit. `CXCursor_ExceptionSpecificationKind_Dynamic` is 2.
        with(|f| unsafe { (f.clang_getCursorExceptionSpecificationType)(self.0) == 2 }).unwrap_or(false)
    }

    /// The value of an integer literal.
    pub(super) fn value(self) -> Option<u64> {
        // SAFETY: the cursor belongs to the unit. The result comes from libclang and is disposed of after its last use.
        with(|f| unsafe {
            let result = (f.clang_Cursor_Evaluate)(self.0);
            (!result.is_null()).then(|| {
                let value = (f.clang_EvalResult_getAsUnsigned)(result);
                (f.clang_EvalResult_dispose)(result);
                value
            })
        })?
    }

    /// One of the constants of [`kind`].
    pub(super) fn kind(self) -> i32 {
        self.0.kind
    }

    pub(super) fn spelling(self) -> String {
        // SAFETY: the cursor belongs to the unit; nothing else uses the string.
        with(|f| unsafe { string(f, (f.clang_getCursorSpelling)(self.0)) }).unwrap_or_default()
    }

    /// The mangled name, as the linker knows it.
    pub(super) fn mangling(self) -> String {
        // SAFETY: as above.
        with(|f| unsafe { string(f, (f.clang_Cursor_getMangling)(self.0)) }).unwrap_or_default()
    }

    pub(super) fn children(self) -> Vec<Cursor> {
        let mut list: Vec<Cursor> = Vec::new();
        // SAFETY: the cursor belongs to the unit; the list outlives the call, and nothing else uses it meanwhile.
        with(|f| unsafe { (f.clang_visitChildren)(self.0, keep_child, (&raw mut list).cast()) });
        list
    }

    /// The arguments of a call.
    pub(super) fn arguments(self) -> Vec<Cursor> {
        // SAFETY: the cursor belongs to the unit, and has `count` arguments.
        with(|f| unsafe {
            let count = u32::try_from((f.clang_Cursor_getNumArguments)(self.0)).unwrap_or(0);
            (0..count).map(|n| Cursor((f.clang_Cursor_getArgument)(self.0, n))).collect()
        })
        .unwrap_or_default()
    }

    pub(super) fn place(self) -> SourceLocation {
        // SAFETY: the cursor and its location belong to the unit.
        with(|f| unsafe { place(f, (f.clang_getCursorLocation)(self.0)) }).unwrap_or_default()
    }

    pub(super) fn location(self) -> Location {
        // SAFETY: as `place`.
        Location(with(|f| unsafe { (f.clang_getCursorLocation)(self.0) }).map_or(0, |location| location.number))
    }

    /// The range from the cursor's first character to its last.
    pub(super) fn extent(self) -> Option<Range> {
        // SAFETY: as `place`.
        with(|f| unsafe { range(f, (f.clang_getCursorExtent)(self.0)) })?
    }

    /// True if the cursor is written in a macro's definition.
    pub(super) fn is_from_macro(self) -> bool {
        // SAFETY: as `place`.
        with(|f| unsafe {
            let location = (f.clang_getCursorLocation)(self.0);
            let (mut file, mut line, mut column, mut at, mut spelling_offset) = (std::ptr::null_mut(), 0, 0, 0, 0);
            (f.clang_getExpansionLocation)(location, &mut file, &mut line, &mut column, &mut at);
            (f.clang_getSpellingLocation)(location, &mut file, &mut line, &mut column, &mut spelling_offset);
            at != spelling_offset
        })
        .unwrap_or(false)
    }

    /// True if the cursor is in a system header; C++ AMP's headers are system headers.
    pub(super) fn is_in_system_header(self) -> bool {
        // SAFETY: as `place`.
        with(|f| unsafe { (f.clang_Location_isInSystemHeader)((f.clang_getCursorLocation)(self.0)) != 0 })
            .unwrap_or(true)
    }
}

/// A type, with its qualifiers.
#[derive(Clone, Copy)]
pub(super) struct Type(RawType);

/// Methods that pass a type to a function of libclang.
macro_rules! type_methods {
    ($($name:ident: $function:ident;)*) => {
        $(pub(super) fn $name(self) -> Type {
            // SAFETY: the type belongs to the unit, which is never disposed of.
            Type(with(|f| unsafe { (f.$function)(self.0) }).unwrap_or(NO_TYPE))
        })*
    };
}

impl Type {
    type_methods! {
        canonical: clang_getCanonicalType;
        pointee: clang_getPointeeType;
        element: clang_getElementType;
        result: clang_getResultType;
    }

    /// The size in bytes; `None` if it is unknown.
    pub(super) fn size(self) -> Option<u64> {
        // SAFETY: the type belongs to the unit.
        with(|f| unsafe { (f.clang_Type_getSizeOf)(self.0) }).and_then(|n| u64::try_from(n).ok())
    }

    /// One of the constants of [`ty`].
    pub(super) fn kind(self) -> i32 {
        self.0.kind
    }

    pub(super) fn spelling(self) -> String {
        // SAFETY: the type belongs to the unit; nothing else uses the string.
        with(|f| unsafe { string(f, (f.clang_getTypeSpelling)(self.0)) }).unwrap_or_default()
    }

    pub(super) fn declaration(self) -> Cursor {
        // SAFETY: the type belongs to the unit.
        Cursor(with(|f| unsafe { (f.clang_getTypeDeclaration)(self.0) }).unwrap_or(NULL))
    }

    /// The template argument at a position, if it is a type.
    pub(super) fn template_argument(self, at: u32) -> Option<Type> {
        // SAFETY: the type belongs to the unit.
        with(|f| unsafe { (f.clang_Type_getTemplateArgumentAsType)(self.0, at) }).filter(|t| t.kind != 0).map(Type)
    }

    predicate_methods! {
        is_variadic: clang_isFunctionTypeVariadic;
        is_volatile: clang_isVolatileQualifiedType;
        is_const: clang_isConstQualifiedType;
    }

    /// The non-static data members of a class, unnamed ones included.
    pub(super) fn fields(self) -> Vec<Cursor> {
        self.parts(|f| f.clang_Type_visitFields)
    }

    /// The bases of a class, also of a template's instantiation.
    pub(super) fn bases(self) -> Vec<Cursor> {
        self.parts(|f| f.clang_visitCXXBaseClasses)
    }

    /// The member functions of a class, with constructors and implicit members. The place of an implicit member is that of the class.
    pub(super) fn methods(self) -> Vec<Cursor> {
        self.parts(|f| f.clang_visitCXXMethods)
    }

    fn parts(self, visit: fn(&Functions) -> VisitParts) -> Vec<Cursor> {
        let mut list: Vec<Cursor> = Vec::new();
        // SAFETY: the type belongs to the unit; the list outlives the call, and nothing else uses it meanwhile.
        with(|f| unsafe { visit(f)(self.0, keep_part, (&raw mut list).cast()) });
        list
    }
}
