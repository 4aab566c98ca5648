//! Members that the compiler makes of a class.

use super::libclang::{Cursor, Type, kind, ty};
use super::types::{element_of_all, is_callable};

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
            let class = made.declaration();
            let is_declared = |c: &Cursor| self.is(*c, class) && c.location() != class.location() && !c.is_defaulted();
            let members: Vec<Cursor> = made.methods().into_iter().filter(is_declared).collect();
            let why = if members.is_empty() {
                self.lacks(made)?
            } else {
                // One without a version for amp code.
                let is_host = |c: &&Cursor| !members.iter().any(|o| same_parameters(*o, **c) && is_callable(*o));
                format!("'{}' is a cpu function", members.iter().find(is_host)?.spelling())
            };
            let name = part.spelling();
            let part = if part.kind() == kind::BASE { "base" } else { "member" };
            Some(format!("its {part} '{name}': {why}"))
        })
    }

    /// The function is this member of the class.
    fn is(self, function: Cursor, class: Cursor) -> bool {
        let own = |of: Type| of.canonical().pointee().declaration().canonical() == class.canonical();
        let arguments = function.arguments();
        let takes_own = || arguments.len() == 1 && arguments[0].ty().is_some_and(own);
        match self {
            Self::DefaultConstructor => function.kind() == kind::CONSTRUCTOR && arguments.is_empty(),
            Self::CopyConstructor => function.kind() == kind::CONSTRUCTOR && takes_own(),
            Self::Assignment => function.kind() == kind::METHOD && function.spelling() == "operator=" && takes_own(),
        }
    }
}

/// The two have one name, and parameters of the same types.
pub(super) fn same_parameters(a: Cursor, b: Cursor) -> bool {
    let types = |c: Cursor| -> Vec<String> {
        c.arguments().into_iter().filter_map(Cursor::ty).map(|of| of.canonical().spelling()).collect()
    };
    a.spelling() == b.spelling() && types(a) == types(b)
}
