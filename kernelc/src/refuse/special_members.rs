//! Members that the compiler makes of a class.

use super::libclang::{Cursor, Type, kind};
use super::types::is_callable;

/// A member that the compiler makes of a class where the program declares none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpecialMember {
    DefaultConstructor,
    CopyConstructor,
    Assignment,
}

impl SpecialMember {
    /// Why amp code cannot have this member of a class: the cpu function of a member or base that it calls. `None` if it can.
    pub(super) fn lacks(self, class: Cursor) -> Option<String> {
        if class.kind() == kind::CLASS_TEMPLATE {
            return None;
        }
        let parts = class.children().into_iter().filter(|c| matches!(c.kind(), kind::BASE | kind::FIELD));
        parts.filter_map(|part| Some((part, part.ty()?.canonical().declaration()))).find_map(|(part, made)| {
            let members = made.definition().map(Cursor::children).unwrap_or_default();
            // One without a version for amp code.
            let host = |c: &&Cursor| {
                let is_version = |o: &&Cursor| self.is(**o, made) && same_parameters(**o, **c);
                self.is(**c, made) && !members.iter().filter(is_version).any(|o| is_callable(*o))
            };
            let found = members.iter().find(host)?;
            let name = part.spelling();
            let part = if part.kind() == kind::BASE { "base" } else { "member" };
            Some(format!("its {part} '{name}': '{}' is a cpu function", found.spelling()))
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
