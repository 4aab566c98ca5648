//! Decides which types amp code may use: section 2.4.1 of the C++ AMP specification.

use super::libclang::{Cursor, Type, kind, ty};
use std::collections::HashMap;

/// For each class, by the hash of its declaration: the reason why amp code cannot use it, or `None`.
type Classes = HashMap<u32, Option<String>>;

/// Decides about types, and caches the results for classes.
#[derive(Default)]
pub(super) struct Types {
    classes: Classes,
}

/// The headers' classes that kernels cannot use as values.
const HOST_ONLY_CLASSES: [&str; 5] =
    ["accelerator", "accelerator_view", "completion_future", "runtime_exception", "out_of_memory"];

/// Classes of the C++ library that keep their elements in host memory.
const OWNERS: [&str; 17] = [
    "basic_string",
    "vector",
    "list",
    "forward_list",
    "deque",
    "map",
    "multimap",
    "set",
    "multiset",
    "unordered_map",
    "unordered_set",
    "stack",
    "queue",
    "function",
    "unique_ptr",
    "shared_ptr",
    "any",
];

/// The names of arrays and textures.
const ARRAYS_AND_TEXTURES: [&str; 2] = ["array", "texture"];

/// The names of textures and their views.
const TEXTURES: [&str; 3] = ["texture", "texture_view", "writeonly_texture_view"];

/// True for declarations of C++ AMP's headers, and for parts of them.
pub(super) fn is_of_amp(declaration: Cursor) -> bool {
    let mut at = declaration.semantic_parent();
    for _ in 0..32 {
        match at {
            Some(cursor) if !cursor.is_null() => {
                if cursor.kind() == kind::NAMESPACE && matches!(cursor.spelling().as_str(), "Concurrency" | "revamp") {
                    return declaration.is_in_system_header();
                }
                at = cursor.semantic_parent();
            }
            _ => return false,
        }
    }
    false
}

/// True for a class of the C++ library that keeps its elements in host memory.
pub(super) fn is_owner(class: Cursor) -> bool {
    let of_library = |parent: Cursor| parent.kind() == kind::NAMESPACE && parent.spelling() == "std";
    let mut parents = std::iter::successors(class.semantic_parent(), |p| p.semantic_parent().filter(|n| !n.is_null()));
    OWNERS.contains(&class.spelling().as_str())
        && class.is_in_system_header()
        && parents.by_ref().take(3).any(of_library)
}

/// For a class of the C++ library with elements in host memory, or a pointer or reference to one: why amp code cannot
/// have it, and what to write instead.
pub(super) fn owner_in(of: Type) -> Option<(String, &'static str)> {
    let of = of.canonical();
    let of = if of.kind() == ty::POINTER || is_reference(of) { of.pointee().canonical() } else { of };
    let class = of.declaration();
    let instead = match class.spelling().as_str() {
        _ if of.kind() != ty::RECORD || !is_owner(class) => return None,
        "function" => "capture the lambda or the functor itself, in a variable of type 'auto'",
        "vector" => "write array_view<T> view(size, vector) in cpu code, and capture the view by value",
        _ => "copy the elements into a vector, and capture an array_view over it by value",
    };
    let contents = if class.spelling() == "function" { "callable" } else { "elements" };
    Some((format!("a 'std::{}' keeps its {contents} in host memory", class.spelling()), instead))
}

/// True for `concurrency::array` or `texture`, with any qualifiers.
pub(super) fn is_array(of: Type) -> bool {
    is_array_class(of.canonical().declaration())
}

pub(super) fn is_array_class(class: Cursor) -> bool {
    ARRAYS_AND_TEXTURES.contains(&class.spelling().as_str()) && is_of_amp(class)
}

/// True for a template parameter or a type that depends on one. Only an instantiation knows the type.
pub(super) fn is_dependent(of: Type) -> bool {
    let of = of.canonical();
    let of = if is_reference(of) { of.pointee().canonical() } else { of };
    matches!(of.kind(), ty::UNEXPOSED | ty::AUTO) && of.declaration().is_null()
}

/// True for a texture or a view of one, with any qualifiers.
fn is_texture_or_view(of: Type) -> bool {
    let declaration = of.canonical().declaration();
    TEXTURES.contains(&declaration.spelling().as_str()) && is_of_amp(declaration)
}

pub(super) fn is_reference(of: Type) -> bool {
    matches!(of.canonical().kind(), ty::LVALUE_REFERENCE | ty::RVALUE_REFERENCE)
}

pub(super) fn is_c_array(of: Type) -> bool {
    (ty::ARRAY..=ty::ARRAY_WITHOUT_LENGTH).contains(&of.kind())
}

/// The element type of an array of any dimension; other types are returned unchanged.
pub(super) fn innermost_element(of: Type) -> Type {
    let of = of.canonical();
    if is_c_array(of) { innermost_element(of.element()) } else { of }
}

/// A pointer or reference within a captured value: the path of members to it, and a description.
pub(super) fn address_in(of: Type, depth: u32) -> Option<(String, String)> {
    let of = of.canonical();
    match of.kind() {
        ty::POINTER => Some((String::new(), format!("a pointer ('{}')", of.spelling()))),
        ty::LVALUE_REFERENCE | ty::RVALUE_REFERENCE if !is_array(of.pointee()) => {
            Some((String::new(), format!("a reference ('{}')", of.spelling())))
        }
        ty::RECORD if depth < 8 && !is_of_amp(of.declaration()) => {
            let declaration = of.declaration();
            let bases = declaration.definition().map(Cursor::children).unwrap_or_default();
            let bases = bases.into_iter().filter(|c| c.kind() == kind::BASE).filter_map(|base| base.ty());
            bases.map(|base| (String::new(), base)).chain(members(of)).find_map(|(name, member)| {
                let (path, what) = address_in(member, depth + 1)?;
                Some((if name.is_empty() { path } else { format!(".{name}{path}") }, what))
            })
        }
        _ if is_c_array(of) => address_in(of.element(), depth + 1),
        _ => None,
    }
}

/// The path of members to an `array` or a texture that a class holds by value; empty for the value itself or a base.
pub(super) fn array_in(of: Type, depth: u32) -> Option<String> {
    member_path(of, depth, is_array)
}

/// The path of members to a texture or a view of one that a value holds; empty for the value itself or a base.
pub(super) fn texture_in(of: Type) -> Option<String> {
    member_path(of, 0, is_texture_or_view)
}

/// The path of members to a texture or a view of one in an element of an `array` or `array_view`. Elements cannot hold textures (TEX-30).
pub(super) fn texture_in_elements(of: Type) -> Option<String> {
    let of = of.canonical();
    let of = if is_reference(of) { of.pointee().canonical() } else { of };
    if has_elements(of) { texture_in(of.template_argument(0)?) } else { None }
}

/// The path of members to an array_view that a value holds; empty for the value itself or a base.
pub(super) fn view_in(of: Type) -> Option<String> {
    member_path(of, 0, |of| {
        let declaration = of.canonical().declaration();
        declaration.spelling() == "array_view" && is_of_amp(declaration)
    })
}

/// The path of members to a type that a value holds; empty for the value itself or a base.
fn member_path(of: Type, depth: u32, wanted: fn(Type) -> bool) -> Option<String> {
    let of = of.canonical();
    if is_c_array(of) {
        return member_path(of.element(), depth + 1, wanted);
    }
    if wanted(of) {
        return Some(String::new());
    }
    if of.kind() != ty::RECORD || depth > 8 || is_of_amp(of.declaration()) {
        return None;
    }
    let bases = of.declaration().definition().map(Cursor::children).unwrap_or_default();
    let bases = bases.into_iter().filter(|c| c.kind() == kind::BASE).filter_map(Cursor::ty);
    let mut parts = bases.map(|base| (String::new(), base)).chain(members(of));
    parts.find_map(|(name, member)| {
        let path = member_path(member, depth + 1, wanted)?;
        Some(if name.is_empty() { path } else { format!(".{name}{path}") })
    })
}

/// True for an `array` or `array_view`, or a reference to one.
pub(super) fn has_elements(of: Type) -> bool {
    let of = of.canonical();
    let of = if is_reference(of) { of.pointee().canonical() } else { of };
    let declaration = of.declaration();
    matches!(declaration.spelling().as_str(), "array" | "array_view") && is_of_amp(declaration)
}

/// Why kernels cannot use a type, even with revamp's extensions, and what to write instead.
pub(super) fn why_unusable(of: Type, depth: u32) -> Option<String> {
    let of = of.canonical();
    if is_c_array(of) {
        return why_unusable(of.element(), depth);
    }
    if let Some((why, instead)) = owner_in(of) {
        return Some(format!("{why}: {instead}"));
    }
    match of.kind() {
        ty::POINTER | ty::LVALUE_REFERENCE | ty::RVALUE_REFERENCE => {
            let target = of.pointee().canonical();
            let what = if of.kind() == ty::POINTER { "pointer" } else { "reference" };
            (target.kind() == ty::FUNCTION).then(|| {
                format!(
                    "'{}' is a {what} to a function, which amp code cannot keep: pass a lambda or a functor to a \
                     template",
                    of.spelling()
                )
            })
        }
        ty::MEMBER_POINTER => Some(format!(
            "'{}' is a pointer to a member, which amp code cannot keep: name the member in a lambda, and pass the \
             lambda to a template",
            of.spelling()
        )),
        ty::LONG_DOUBLE | ty::FLOAT_128 => {
            Some(format!("'{}' is not a number type of amp code: write double", of.spelling()))
        }
        ty::RECORD if depth < 8 && !is_of_amp(of.declaration()) && !of.declaration().is_in_system_header() => {
            let parts = of.declaration().definition().map(Cursor::children).unwrap_or_default();
            let class_error = |what: &str| {
                let name = of.spelling();
                Some(format!("'{name}' has {what}, which amp code cannot use: use a class that holds only the data"))
            };
            let found = parts.into_iter().find_map(|part| match part.kind() {
                kind::BASE if part.is_virtual_base() => class_error("a virtual base"),
                kind::METHOD | kind::DESTRUCTOR if part.is_virtual() => class_error("virtual functions"),
                kind::BASE => why_unusable(part.ty()?, depth + 1),
                _ => None,
            });
            found.or_else(|| members(of).find_map(|(_, member)| why_unusable(member, depth + 1)))
        }
        _ => None,
    }
}

/// Why only the host can use a value: its class has virtual functions or bases, or is a class of the headers that
/// kernels do not know.
pub(super) fn why_host_only(of: Type, depth: u32) -> Option<String> {
    let of = of.canonical();
    let declaration = of.declaration();
    if is_c_array(of) {
        return why_host_only(of.element(), depth);
    }
    if of.kind() != ty::RECORD || depth > 8 {
        return None;
    }
    if is_of_amp(declaration) {
        let is_host = HOST_ONLY_CLASSES.contains(&declaration.spelling().as_str());
        return is_host.then(|| format!("'{}' belongs to the host", of.spelling()));
    }
    let parts = declaration.definition().map(Cursor::children).unwrap_or_default();
    parts.into_iter().find_map(|part| match part.kind() {
        kind::BASE if part.is_virtual_base() => Some(format!("'{}' has a virtual base", of.spelling())),
        kind::METHOD | kind::DESTRUCTOR if part.is_virtual() => {
            Some(format!("'{}' has virtual functions", of.spelling()))
        }
        kind::BASE | kind::FIELD => why_host_only(part.ty()?, depth + 1),
        _ => None,
    })
}

/// The classes that make a value host-only: the class of the value, and the classes of its bases and members.
pub(super) fn host_classes_in(of: Type) -> Vec<Cursor> {
    let of = of.canonical();
    let is_address = of.kind() == ty::POINTER || is_reference(of);
    let mut classes = Vec::new();
    let mut worklist = vec![(if is_address { of.pointee().canonical() } else { of }, 0)];
    while let Some((of, depth)) = worklist.pop() {
        let class = of.declaration();
        if is_c_array(of) {
            worklist.push((of.element().canonical(), depth));
        } else if of.kind() != ty::RECORD || depth > 8 {
            continue;
        } else if is_owner(class) || is_of_amp(class) {
            let is_host = is_owner(class) || HOST_ONLY_CLASSES.contains(&class.spelling().as_str());
            classes.extend(is_host.then_some(class));
        } else {
            let parts = class.definition().map(Cursor::children).unwrap_or_default();
            let has_virtual = |c: &Cursor| c.is_virtual_base() || c.is_virtual();
            classes.extend(parts.iter().any(has_virtual).then_some(class));
            let inner = parts.into_iter().filter(|c| matches!(c.kind(), kind::BASE | kind::FIELD));
            worklist.extend(inner.filter_map(Cursor::ty).map(|part| (part.canonical(), depth + 1)));
        }
    }
    classes
}

/// The members of a class: name and type.
fn members(of: Type) -> impl Iterator<Item = (String, Type)> {
    of.fields().into_iter().filter_map(|field| Some((field.spelling(), field.ty()?)))
}

pub(super) fn is_function(kind: i32) -> bool {
    matches!(
        kind,
        kind::FUNCTION
            | kind::METHOD
            | kind::CONSTRUCTOR
            | kind::DESTRUCTOR
            | kind::CONVERSION
            | kind::FUNCTION_TEMPLATE
    )
}

pub(super) fn is_class(kind: i32) -> bool {
    matches!(kind, kind::STRUCT | kind::UNION | kind::CLASS | kind::CLASS_TEMPLATE | kind::PARTIAL_SPECIALIZATION)
}

/// True if Clang lets amp code call the function: by its restriction, or because it is constexpr, implicit or a lambda.
pub(super) fn is_callable(function: Cursor) -> bool {
    let any = |cursor: Cursor| cursor.children().iter().any(|c| c.kind() == kind::DEVICE_ATTRIBUTE);
    any(function) || function.canonical().is_some_and(any)
}

/// True if only amp code may call the function.
pub(super) fn is_amp_only(function: Cursor) -> bool {
    let has = |wanted| {
        let any = |cursor: Cursor| cursor.children().iter().any(|c| c.kind() == wanted);
        any(function) || function.canonical().is_some_and(any)
    };
    has(kind::DEVICE_ATTRIBUTE) && !has(kind::HOST_ATTRIBUTE)
}

/// True for a function that amp code cannot call.
pub(super) fn is_host_function(at: Cursor) -> bool {
    is_function(at.kind()) && !is_callable(at)
}

/// True for the class of a lambda.
pub(super) fn is_lambda(of: Type) -> bool {
    let of = of.canonical();
    let of = if is_reference(of) { of.pointee().canonical() } else { of };
    of.kind() == ty::RECORD && of.spelling().contains("(lambda at ")
}

impl Types {
    /// Why a variable, parameter or result of amp code cannot be of this type.
    pub(super) fn value_error(&mut self, of: Type) -> Option<String> {
        let value_type = of.canonical();
        if value_type.is_volatile() {
            return Some(format!("'{}' is volatile, which amp code does not support", of.spelling()));
        }
        let name = of.spelling();
        if name.ends_with("int64_t") {
            return Some(format!("'{name}' is 'long long' in MSVC, which is not a number type of amp code"));
        }
        let target = value_type.pointee();
        let target_kind = target.canonical().kind();
        match value_type.kind() {
            ty::POINTER => match target_kind {
                ty::POINTER => Some(format!("'{}' is a pointer to a pointer", of.spelling())),
                ty::FUNCTION => Some(format!("'{}' is a pointer to a function", of.spelling())),
                _ if is_array(target) => None,
                _ => self.target_error(target),
            },
            ty::LVALUE_REFERENCE | ty::RVALUE_REFERENCE => match target_kind {
                ty::POINTER => self.value_error(target),
                ty::FUNCTION => Some(format!("'{}' is a reference to a function", of.spelling())),
                _ if is_array(target) => self.elements_error(target),
                _ => self.target_error(target),
            },
            ty::NULLPTR => None,
            _ => self.data_error(value_type),
        }
    }

    /// Why a pointer or reference cannot refer to this type, or to an array of it.
    fn target_error(&mut self, target: Type) -> Option<String> {
        let target = target.canonical();
        if is_c_array(target) { self.target_error(target.element()) } else { self.data_error(target) }
    }

    /// Why arrays and array_views cannot have these elements.
    pub(super) fn elements_error(&mut self, of: Type) -> Option<String> {
        let of = of.canonical();
        let of = if is_reference(of) { of.pointee().canonical() } else { of };
        let element = of.template_argument(0)?;
        let why = self.data_error(element)?;
        Some(format!("the elements of '{}': {why}", of.spelling()))
    }

    /// Why amp code cannot hold values of this type.
    pub(super) fn data_error(&mut self, of: Type) -> Option<String> {
        let of = of.canonical();
        if of.is_volatile() {
            return Some(format!("'{}' is volatile, which amp code does not support", of.spelling()));
        }
        match of.kind() {
            ty::VOID | ty::BOOL | ty::INT | ty::UNSIGNED | ty::LONG | ty::UNSIGNED_LONG | ty::FLOAT | ty::DOUBLE => {
                None
            }
            ty::FIRST_NUMBER..=ty::LAST_INTEGER | ty::LONG_DOUBLE | ty::FLOAT_128..=ty::BFLOAT_16 | ty::COMPLEX => {
                let name = of.spelling();
                Some(format!("'{}' is not a number type of amp code", name.trim_start_matches("const ")))
            }
            ty::POINTER => Some(format!("'{}' is a pointer", of.spelling())),
            ty::LVALUE_REFERENCE | ty::RVALUE_REFERENCE => Some(format!("'{}' is a reference", of.spelling())),
            ty::NULLPTR => Some("'std::nullptr_t' is a pointer".into()),
            ty::ENUM => {
                let underlying = of.declaration().enum_type()?.canonical();
                let allowed_kinds = [ty::INT, ty::UNSIGNED, ty::LONG, ty::UNSIGNED_LONG];
                let known = allowed_kinds.contains(&underlying.kind()) || underlying.kind() <= ty::UNEXPOSED;
                (!known)
                    .then(|| format!("the enumeration '{}' is stored as '{}'", of.spelling(), underlying.spelling()))
            }
            ty::MEMBER_POINTER => {
                let function = of.pointee().canonical().kind() == ty::FUNCTION;
                let what = if function { "member function" } else { "member" };
                Some(format!("'{}' is a pointer to a {what}", of.spelling()))
            }
            ty::RECORD => self.class_error(of),
            _ if is_c_array(of) => {
                let element = of.element().canonical();
                if element.kind() == ty::BOOL {
                    return Some(format!("the elements of '{}' are not aligned to four bytes", of.spelling()));
                }
                self.data_error(element)
            }
            _ => None,
        }
    }

    /// [`Self::data_error`] for a class.
    pub(super) fn class_error(&mut self, of: Type) -> Option<String> {
        let declaration = of.declaration();
        let name = of.spelling();
        if is_of_amp(declaration) {
            let word = declaration.spelling();
            if is_array(of) {
                return Some(format!("'{name}' is used by value: refer to it by '&'"));
            }
            if has_elements(of) {
                return self.elements_error(of);
            }
            return HOST_ONLY_CLASSES.contains(&word.as_str()).then(|| format!("'{name}' belongs to the host"));
        }
        let key = declaration.canonical().and_then(Cursor::hash)?;
        if let Some(known) = self.classes.get(&key) {
            return known.clone();
        }
        // Ends the recursion for a class that refers to itself, such as by an array_view with elements of this class.
        self.classes.insert(key, None);
        let found = self.parts_error(of).map(|why| format!("'{name}': {why}"));
        // An instantiation's declaration has no children, so `parts_error` does not see its bases.
        let found = found.or_else(|| owner_in(of).map(|(why, _)| why));
        self.classes.insert(key, found.clone());
        found
    }

    fn parts_error(&mut self, of: Type) -> Option<String> {
        for part in of.declaration().definition().map(Cursor::children).unwrap_or_default() {
            match part.kind() {
                kind::BASE if part.is_virtual_base() => return Some("it has a virtual base".into()),
                kind::BASE => {
                    let why = part.ty().and_then(|base| self.data_error(base));
                    if why.is_some() {
                        return why;
                    }
                }
                kind::METHOD | kind::DESTRUCTOR if part.is_virtual() => {
                    return Some("it has virtual functions".into());
                }
                _ => {}
            }
        }
        of.fields().into_iter().find_map(|field| {
            let name = field.spelling();
            let member = field.ty()?;
            if field.is_bit_field() {
                return Some(format!("its member '{name}' is a bit-field"));
            }
            if is_reference(member) && is_array(member.canonical().pointee()) {
                return None;
            }
            if let Some(why) = self.data_error(member) {
                return Some(format!("its member '{name}': {why}"));
            }
            let bits = field.offset_of_field().unwrap_or(0);
            (bits > 0 && bits % 32 != 0).then(|| format!("its member '{name}' is not aligned to four bytes"))
        })
    }
}
