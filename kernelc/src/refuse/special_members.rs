//! Members that the compiler makes of a class.

use super::libclang::{Cursor, Type, kind, ty};
use super::types::{element_of_all, is_callable, is_reference};

/// A member that the compiler makes of a class where the program declares none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpecialMember {
    DefaultConstructor,
    CopyConstructor,
    Assignment,
}

impl SpecialMember {
    /// Why amp code cannot have this member of a class, where the compiler makes it: the cpu function of a member or base, or of a part
    /// of one, that it calls. `None` if it can.
    pub(super) fn lacks(self, class: Type) -> Option<String> {
        class.bases().into_iter().chain(class.fields()).find_map(|part| {
            let made = element_of_all(part.ty()?);
            if made.kind() != ty::RECORD {
                return None;
            }
            let members = self.declared(made);
            let why = if members.is_empty() {
                self.lacks(made)?
            } else {
                let is_host = |c: &&Cursor| match self {
                    // Any of them will do.
                    Self::DefaultConstructor => !members.iter().any(|o| is_callable(*o)),
                    // One without a version for amp code.
                    _ => !members.iter().any(|o| same_parameters(*o, **c) && is_callable(*o)),
                };
                format!("'{}' is a cpu function", members.iter().find(is_host)?.spelling())
            };
            let name = part.spelling();
            let part = if part.kind() == kind::BASE { "base" } else { "member" };
            Some(format!("its {part} '{name}': {why}"))
        })
    }

    /// Those of a class that the program declares, without those that it leaves to the compiler.
    fn declared(self, of: Type) -> Vec<Cursor> {
        let class = of.declaration();
        let is_one = |c: &Cursor| self.is(*c, class) && c.location() != class.location() && !c.is_defaulted();
        let mut members: Vec<Cursor> = of.methods().into_iter().filter(is_one).collect();
        if self == Self::DefaultConstructor {
            // No type has the templates among its members; the class has, or what it is made of.
            let pattern = class.specialized().filter(|template| !template.is_null()).unwrap_or(class);
            let is_one = |c: &Cursor| is_constructor_template(*c, class) && needs_nothing(*c);
            members.extend(pattern.children().into_iter().filter(is_one));
        }
        members
    }

    /// The function is this member of the class.
    fn is(self, function: Cursor, class: Cursor) -> bool {
        let own = |of: Type| {
            let of = of.canonical();
            let of = if is_reference(of) { of.pointee().canonical() } else { of };
            of.declaration().canonical() == class.canonical()
        };
        let takes_own = || {
            let first = function.arguments().first().and_then(|first| first.ty());
            first.is_some_and(own) && parameters(function).iter().skip(1).all(is_given)
        };
        match self {
            Self::DefaultConstructor => function.kind() == kind::CONSTRUCTOR && needs_nothing(function),
            Self::CopyConstructor => function.kind() == kind::CONSTRUCTOR && takes_own(),
            Self::Assignment => function.kind() == kind::METHOD && function.spelling() == "operator=" && takes_own(),
        }
    }
}

/// The member is a template of the class's constructors.
pub(super) fn is_constructor_template(member: Cursor, class: Cursor) -> bool {
    member.kind() == kind::FUNCTION_TEMPLATE && member.spelling().split('<').next() == Some(class.spelling().as_str())
}

/// It can be called without arguments.
pub(super) fn needs_nothing(function: Cursor) -> bool {
    parameters(function).iter().all(is_given)
}

/// The parameters as they are written: what is made of a template has no default arguments.
fn parameters(function: Cursor) -> Vec<Cursor> {
    let written = function.specialized().filter(|template| !template.is_null()).unwrap_or(function);
    written.children().into_iter().filter(|c| c.kind() == kind::PARAMETER).collect()
}

/// The parameter has a default argument, or takes any number of arguments.
fn is_given(parameter: &Cursor) -> bool {
    parameter.ty().is_some_and(|of| of.spelling().ends_with("...")) || initializer_of(*parameter).is_some()
}

/// The default argument of a parameter, or the initializer of a field. The declaration ends where the initializer ends; expressions
/// of the type, as in `index<1>`, `int[3]` and `decltype(x)`, end before.
pub(super) fn initializer_of(declaration: Cursor) -> Option<Cursor> {
    let end = |c: Cursor| c.extent().map(|extent| extent.end);
    let last = declaration.children().pop()?;
    let is_expression = (kind::FIRST_EXPRESSION..kind::LABEL).contains(&last.kind());
    (is_expression && end(last) == end(declaration)).then_some(last)
}

/// The two have one name, and parameters of the same types.
pub(super) fn same_parameters(a: Cursor, b: Cursor) -> bool {
    let types = |c: Cursor| -> Vec<String> {
        c.arguments().into_iter().filter_map(Cursor::ty).map(|of| of.canonical().spelling()).collect()
    };
    a.spelling() == b.spelling() && types(a) == types(b)
}
