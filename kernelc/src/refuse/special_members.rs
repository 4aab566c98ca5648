//! Implicit members of classes.

use super::libclang::{Cursor, Type, kind, ty};
use super::types::{innermost_element, is_callable, is_reference};

/// A member that the compiler generates if the program declares none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpecialMember {
    DefaultConstructor,
    CopyConstructor,
    Assignment,
}

impl SpecialMember {
    /// Why amp code cannot have the implicit member of a class: the text names the cpu function of a base or member that
    /// the implicit member calls. `None` if amp code can have the implicit member.
    pub(super) fn why_unavailable(self, class: Type) -> Option<String> {
        class.bases().into_iter().chain(class.fields()).find_map(|part| {
            let part_type = innermost_element(part.ty()?);
            if part_type.kind() != ty::RECORD {
                return None;
            }
            let members = self.declared_members(part_type);
            let why = if members.is_empty() {
                self.why_unavailable(part_type)?
            } else {
                let is_host = |c: &&Cursor| match self {
                    // One callable constructor is enough.
                    Self::DefaultConstructor => !members.iter().any(|o| is_callable(*o)),
                    // A cpu function without an overload for amp code.
                    _ => !members.iter().any(|o| same_parameters(*o, **c) && is_callable(*o)),
                };
                format!("'{}' is a cpu function", members.iter().find(is_host)?.spelling())
            };
            let name = part.spelling();
            let part = if part.kind() == kind::BASE { "base" } else { "member" };
            Some(format!("its {part} '{name}': {why}"))
        })
    }

    /// The members of this kind that the program declares, except defaulted members.
    fn declared_members(self, of: Type) -> Vec<Cursor> {
        let class = of.declaration();
        let is_match = |c: &Cursor| self.is(*c, class) && c.location() != class.location() && !c.is_defaulted();
        let mut members: Vec<Cursor> = of.methods().into_iter().filter(is_match).collect();
        if self == Self::DefaultConstructor {
            // A type does not list its constructor templates. The class or its template does.
            let pattern = class.specialized().filter(|template| !template.is_null()).unwrap_or(class);
            let is_match = |c: &Cursor| is_constructor_template(*c, class) && callable_without_arguments(*c);
            members.extend(pattern.children().into_iter().filter(is_match));
        }
        members
    }

    /// True if the function is a special member of this kind in the class.
    fn is(self, function: Cursor, class: Cursor) -> bool {
        let is_this_class = |of: Type| {
            let of = of.canonical();
            let of = if is_reference(of) { of.pointee().canonical() } else { of };
            of.declaration().canonical() == class.canonical()
        };
        let takes_this_class = || {
            let first = function.arguments().first().and_then(|first| first.ty());
            first.is_some_and(is_this_class) && parameters(function).iter().skip(1).all(is_optional)
        };
        match self {
            Self::DefaultConstructor => function.kind() == kind::CONSTRUCTOR && callable_without_arguments(function),
            Self::CopyConstructor => function.kind() == kind::CONSTRUCTOR && takes_this_class(),
            Self::Assignment => {
                function.kind() == kind::METHOD && function.spelling() == "operator=" && takes_this_class()
            }
        }
    }
}

/// True if the member is a constructor template of the class.
pub(super) fn is_constructor_template(member: Cursor, class: Cursor) -> bool {
    member.kind() == kind::FUNCTION_TEMPLATE && member.spelling().split('<').next() == Some(class.spelling().as_str())
}

/// True if the function can be called without arguments.
pub(super) fn callable_without_arguments(function: Cursor) -> bool {
    parameters(function).iter().all(is_optional)
}

/// The parameters of a function. For an instantiation, these are the parameters of the template, because those of the
/// instantiation lack default arguments.
fn parameters(function: Cursor) -> Vec<Cursor> {
    let written = function.specialized().filter(|template| !template.is_null()).unwrap_or(function);
    written.children().into_iter().filter(|c| c.kind() == kind::PARAMETER).collect()
}

/// True if the parameter has a default argument or takes any number of arguments.
fn is_optional(parameter: &Cursor) -> bool {
    parameter.ty().is_some_and(|of| of.spelling().ends_with("...")) || initializer_of(*parameter).is_some()
}

/// The default argument of a parameter, or the initializer of a field: the expression that ends where the declaration
/// ends. Expressions in the type, as in `index<1>`, `int[3]` and `decltype(x)`, end earlier.
pub(super) fn initializer_of(declaration: Cursor) -> Option<Cursor> {
    let end = |c: Cursor| c.extent().map(|extent| extent.end);
    let last = declaration.children().pop()?;
    let is_expression = (kind::FIRST_EXPRESSION..kind::LABEL).contains(&last.kind());
    (is_expression && end(last) == end(declaration)).then_some(last)
}

/// True if both functions have the same name and the same parameter types.
pub(super) fn same_parameters(a: Cursor, b: Cursor) -> bool {
    let types = |c: Cursor| -> Vec<String> {
        c.arguments().into_iter().filter_map(Cursor::ty).map(|of| of.canonical().spelling()).collect()
    };
    a.spelling() == b.spelling() && types(a) == types(b)
}
