//! Which types amp code may use: section 2.4.1 of the C++ AMP specification.

use super::libclang::{Cursor, Type, kind, ty};
use std::collections::HashMap;

/// Whether a class, by the hash of its declaration, may be used, and if not why.
type Classes = HashMap<u32, Option<String>>;

/// Decides about types, and remembers what it found of classes.
#[derive(Default)]
pub(super) struct Types {
    classes: Classes,
}

/// The headers' classes that are no values of kernels.
const OF_THE_HOST: [&str; 5] =
    ["accelerator", "accelerator_view", "completion_future", "runtime_exception", "out_of_memory"];

/// Classes of the C++ library that keep what they hold in the host's memory.
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

/// What an array or a texture is called.
const REFERRED: [&str; 2] = ["array", "texture"];

/// What a texture and its views are called.
const TEXTURES: [&str; 3] = ["texture", "texture_view", "writeonly_texture_view"];

/// Declared by the headers of C++ AMP, or a part of what is.
pub(super) fn is_of_amp(declaration: Cursor) -> bool {
    let mut at = declaration.semantic_parent();
    for _ in 0..32 {
        match at {
            Some(cursor) if !cursor.is_null() => {
                if cursor.kind() == kind::NAMESPACE && matches!(cursor.spelling().as_str(), "Concurrency" | "revamp") {
                    return declaration.is_of_system();
                }
                at = cursor.semantic_parent();
            }
            _ => return false,
        }
    }
    false
}

/// A class of the C++ library that keeps what it holds in the host's memory.
pub(super) fn is_owner(class: Cursor) -> bool {
    let of_library = |parent: Cursor| parent.kind() == kind::NAMESPACE && parent.spelling() == "std";
    let mut parents = std::iter::successors(class.semantic_parent(), |p| p.semantic_parent().filter(|n| !n.is_null()));
    OWNERS.contains(&class.spelling().as_str()) && class.is_of_system() && parents.by_ref().take(3).any(of_library)
}

/// Why amp code cannot have a value of such a class, or a reference to one; and what to write instead.
pub(super) fn owner_in(of: Type) -> Option<(String, &'static str)> {
    let of = of.canonical();
    let of = if of.kind() == ty::POINTER || is_reference(of) { of.pointee().canonical() } else { of };
    let class = of.declaration();
    let instead = match class.spelling().as_str() {
        _ if of.kind() != ty::RECORD || !is_owner(class) => return None,
        "function" => "capture the lambda or the functor itself, in a variable that is 'auto'",
        "vector" => "write array_view<T> view(size, vector) in cpu code, and capture the view by value",
        _ => "copy the elements into a vector, and capture an array_view over it by value",
    };
    Some((format!("a 'std::{}' keeps its elements in host memory", class.spelling()), instead))
}

/// `concurrency::array` or `texture`, with any qualifiers.
pub(super) fn is_array(of: Type) -> bool {
    is_array_class(of.canonical().declaration())
}

pub(super) fn is_array_class(class: Cursor) -> bool {
    REFERRED.contains(&class.spelling().as_str()) && is_of_amp(class)
}

/// A template's parameter, or what depends on one: it is known where something is made of the template.
pub(super) fn is_dependent(of: Type) -> bool {
    let of = of.canonical();
    let of = if is_reference(of) { of.pointee().canonical() } else { of };
    matches!(of.kind(), ty::UNEXPOSED | ty::AUTO) && of.declaration().is_null()
}

/// A texture or a view of one, with any qualifiers.
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

/// What an array holds, and what its elements hold if they are arrays; another type is itself.
pub(super) fn element_of_all(of: Type) -> Type {
    let of = of.canonical();
    if is_c_array(of) { element_of_all(of.element()) } else { of }
}

/// A pointer or a reference within what is captured: the path of members to it, and what it is.
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
    found_in(of, depth, is_array)
}

/// The path of members to a texture or a view of one that a value holds; empty for the value itself or a base.
pub(super) fn texture_in(of: Type) -> Option<String> {
    found_in(of, 0, is_texture_or_view)
}

/// The same within the elements of an `array` or `array_view`, which hold none (TEX-30).
pub(super) fn texture_in_elements(of: Type) -> Option<String> {
    let of = of.canonical();
    let of = if is_reference(of) { of.pointee().canonical() } else { of };
    if has_elements(of) { texture_in(of.template_argument(0)?) } else { None }
}

/// The path of members to an array_view that a value holds; empty for the value itself or a base.
pub(super) fn view_in(of: Type) -> Option<String> {
    found_in(of, 0, |of| {
        let declaration = of.canonical().declaration();
        declaration.spelling() == "array_view" && is_of_amp(declaration)
    })
}

/// The path of members to a type that a value holds; empty for the value itself or a base.
fn found_in(of: Type, depth: u32, wanted: fn(Type) -> bool) -> Option<String> {
    let of = of.canonical();
    if is_c_array(of) {
        return found_in(of.element(), depth + 1, wanted);
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
        let path = found_in(member, depth + 1, wanted)?;
        Some(if name.is_empty() { path } else { format!(".{name}{path}") })
    })
}

/// An `array` or `array_view`, or a reference to one.
pub(super) fn has_elements(of: Type) -> bool {
    let of = of.canonical();
    let of = if is_reference(of) { of.pointee().canonical() } else { of };
    let declaration = of.declaration();
    matches!(declaration.spelling().as_str(), "array" | "array_view") && is_of_amp(declaration)
}

/// What no kernel can use, nor any extension: why, and what to write instead.
pub(super) fn of_no_use(of: Type, depth: u32) -> Option<String> {
    let of = of.canonical();
    if is_c_array(of) {
        return of_no_use(of.element(), depth);
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
                    "'{}' is a {what} to a function, which amp code cannot keep: give a lambda or a functor to a template",
                    of.spelling()
                )
            })
        }
        ty::MEMBER_POINTER => Some(format!(
            "'{}' is a pointer to a member, which amp code cannot keep: name the member in a lambda, and give that to a template",
            of.spelling()
        )),
        ty::LONG_DOUBLE | ty::FLOAT_128 => {
            Some(format!("'{}' is not a number type of amp code: write double", of.spelling()))
        }
        ty::RECORD if depth < 8 && !is_of_amp(of.declaration()) && !of.declaration().is_of_system() => {
            let parts = of.declaration().definition().map(Cursor::children).unwrap_or_default();
            let of_class = |what: &str| {
                let name = of.spelling();
                Some(format!("'{name}' has {what}, which amp code cannot use: use a class that holds only the data"))
            };
            let found = parts.into_iter().find_map(|part| match part.kind() {
                kind::BASE if part.is_virtual_base() => of_class("a virtual base"),
                kind::METHOD | kind::DESTRUCTOR if part.is_virtual() => of_class("virtual functions"),
                kind::BASE => of_no_use(part.ty()?, depth + 1),
                _ => None,
            });
            found.or_else(|| members(of).find_map(|(_, member)| of_no_use(member, depth + 1)))
        }
        _ => None,
    }
}

/// What makes a value one of the host alone: virtual functions and bases, or a class of the headers that kernels do not know.
pub(super) fn of_the_host_in(of: Type, depth: u32) -> Option<String> {
    let of = of.canonical();
    let declaration = of.declaration();
    if is_c_array(of) {
        return of_the_host_in(of.element(), depth);
    }
    if of.kind() != ty::RECORD || depth > 8 {
        return None;
    }
    if is_of_amp(declaration) {
        let is_host = OF_THE_HOST.contains(&declaration.spelling().as_str());
        return is_host.then(|| format!("'{}' belongs to the host", of.spelling()));
    }
    let parts = declaration.definition().map(Cursor::children).unwrap_or_default();
    parts.into_iter().find_map(|part| match part.kind() {
        kind::BASE if part.is_virtual_base() => Some(format!("'{}' has a virtual base", of.spelling())),
        kind::METHOD | kind::DESTRUCTOR if part.is_virtual() => {
            Some(format!("'{}' has virtual functions", of.spelling()))
        }
        kind::BASE | kind::FIELD => of_the_host_in(part.ty()?, depth + 1),
        _ => None,
    })
}

/// The classes that make a value one of the host alone: its own, its bases' and its members'.
pub(super) fn host_classes_in(of: Type) -> Vec<Cursor> {
    let of = of.canonical();
    let is_address = of.kind() == ty::POINTER || is_reference(of);
    let mut classes = Vec::new();
    let mut left = vec![(if is_address { of.pointee().canonical() } else { of }, 0)];
    while let Some((of, depth)) = left.pop() {
        let class = of.declaration();
        if is_c_array(of) {
            left.push((of.element().canonical(), depth));
        } else if of.kind() != ty::RECORD || depth > 8 {
            continue;
        } else if is_owner(class) || is_of_amp(class) {
            let is_host = is_owner(class) || OF_THE_HOST.contains(&class.spelling().as_str());
            classes.extend(is_host.then_some(class));
        } else {
            let parts = class.definition().map(Cursor::children).unwrap_or_default();
            let has_virtual = |c: &Cursor| c.is_virtual_base() || c.is_virtual();
            classes.extend(parts.iter().any(has_virtual).then_some(class));
            let inner = parts.into_iter().filter(|c| matches!(c.kind(), kind::BASE | kind::FIELD));
            left.extend(inner.filter_map(Cursor::ty).map(|part| (part.canonical(), depth + 1)));
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

/// Clang lets amp code call it: by its restriction, or since it is constexpr, implicit or a lambda.
pub(super) fn is_callable(function: Cursor) -> bool {
    let any = |cursor: Cursor| cursor.children().iter().any(|c| c.kind() == kind::DEVICE_ATTRIBUTE);
    any(function) || function.canonical().is_some_and(any)
}

/// Only amp code may call it.
pub(super) fn is_amp_only(function: Cursor) -> bool {
    let has = |wanted| {
        let any = |cursor: Cursor| cursor.children().iter().any(|c| c.kind() == wanted);
        any(function) || function.canonical().is_some_and(any)
    };
    has(kind::DEVICE_ATTRIBUTE) && !has(kind::HOST_ATTRIBUTE)
}

/// A function that amp code cannot call.
pub(super) fn is_host_function(at: Cursor) -> bool {
    is_function(at.kind()) && !is_callable(at)
}

/// The class of a lambda.
pub(super) fn is_lambda(of: Type) -> bool {
    let of = of.canonical();
    let of = if is_reference(of) { of.pointee().canonical() } else { of };
    of.kind() == ty::RECORD && of.spelling().contains("(lambda at ")
}

impl Types {
    /// Why a variable, parameter or result of amp code cannot be of this type.
    pub(super) fn of_value(&mut self, of: Type) -> Option<String> {
        let whole = of.canonical();
        if whole.is_volatile() {
            return Some(format!("'{}' is volatile, which amp code does not support", of.spelling()));
        }
        let name = of.spelling();
        if name.ends_with("int64_t") {
            return Some(format!("'{name}' is 'long long' to MSVC, which is not a number type of amp code"));
        }
        let target = whole.pointee();
        let target_kind = target.canonical().kind();
        match whole.kind() {
            ty::POINTER => match target_kind {
                ty::POINTER => Some(format!("'{}' is a pointer to a pointer", of.spelling())),
                ty::FUNCTION => Some(format!("'{}' is a pointer to a function", of.spelling())),
                _ if is_array(target) => None,
                _ => self.of_target(target),
            },
            ty::LVALUE_REFERENCE | ty::RVALUE_REFERENCE => match target_kind {
                ty::POINTER => self.of_value(target),
                ty::FUNCTION => Some(format!("'{}' is a reference to a function", of.spelling())),
                _ if is_array(target) => self.of_elements(target),
                _ => self.of_target(target),
            },
            ty::NULLPTR => None,
            _ => self.of_data(whole),
        }
    }

    /// What a pointer or reference may refer to; elements of arrays too.
    fn of_target(&mut self, target: Type) -> Option<String> {
        let target = target.canonical();
        if is_c_array(target) { self.of_target(target.element()) } else { self.of_data(target) }
    }

    /// Why arrays and array_views cannot have such elements.
    pub(super) fn of_elements(&mut self, of: Type) -> Option<String> {
        let of = of.canonical();
        let of = if is_reference(of) { of.pointee().canonical() } else { of };
        let element = of.template_argument(0)?;
        let why = self.of_data(element)?;
        Some(format!("the elements of '{}': {why}", of.spelling()))
    }

    /// Why values of this type cannot be held in amp code.
    pub(super) fn of_data(&mut self, of: Type) -> Option<String> {
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
                let under = of.declaration().enum_type()?.canonical();
                let wide = [ty::INT, ty::UNSIGNED, ty::LONG, ty::UNSIGNED_LONG];
                let known = wide.contains(&under.kind()) || under.kind() <= ty::UNEXPOSED;
                (!known).then(|| format!("the enumeration '{}' is stored as '{}'", of.spelling(), under.spelling()))
            }
            ty::MEMBER_POINTER => {
                let function = of.pointee().canonical().kind() == ty::FUNCTION;
                let what = if function { "member function" } else { "member" };
                Some(format!("'{}' is a pointer to a {what}", of.spelling()))
            }
            ty::RECORD => self.of_class(of),
            _ if is_c_array(of) => {
                let element = of.element().canonical();
                if element.kind() == ty::BOOL {
                    return Some(format!("the elements of '{}' are not aligned to four bytes", of.spelling()));
                }
                self.of_data(element)
            }
            _ => None,
        }
    }

    /// Of a class, `of_data`.
    pub(super) fn of_class(&mut self, of: Type) -> Option<String> {
        let declaration = of.declaration();
        let name = of.spelling();
        if is_of_amp(declaration) {
            let word = declaration.spelling();
            if is_array(of) {
                return Some(format!("'{name}' by value: refer to it by '&'"));
            }
            if has_elements(of) {
                return self.of_elements(of);
            }
            return OF_THE_HOST.contains(&word.as_str()).then(|| format!("'{name}' belongs to the host"));
        }
        let key = declaration.canonical().and_then(Cursor::hash)?;
        if let Some(known) = self.classes.get(&key) {
            return known.clone();
        }
        // A class that holds itself by a pointer ends here.
        self.classes.insert(key, None);
        let found = self.of_parts(of).map(|why| format!("'{name}': {why}"));
        // libclang does not give the bases of what is made of a template.
        let found = found.or_else(|| owner_in(of).map(|(why, _)| why));
        self.classes.insert(key, found.clone());
        found
    }

    fn of_parts(&mut self, of: Type) -> Option<String> {
        for part in of.declaration().definition().map(Cursor::children).unwrap_or_default() {
            match part.kind() {
                kind::BASE if part.is_virtual_base() => return Some("it has a virtual base".into()),
                kind::BASE => {
                    let why = part.ty().and_then(|base| self.of_data(base));
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
            if let Some(why) = self.of_data(member) {
                return Some(format!("its member '{name}': {why}"));
            }
            let bits = field.offset_of_field().unwrap_or(0);
            (bits > 0 && bits % 32 != 0).then(|| format!("its member '{name}' is not aligned to four bytes"))
        })
    }
}
