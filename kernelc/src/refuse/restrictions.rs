//! The restrictions that functions and lambdas are written with.

use super::libclang::{Cursor, kind};

/// For whom a function is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Cpu,
    Amp,
    Both,
}

/// The restriction that a declaration is written with.
pub(super) fn written(children: &[Cursor]) -> Option<Side> {
    let has = |wanted| children.iter().any(|c| c.kind() == wanted && c.place().line > 0);
    match (has(kind::DEVICE_ATTRIBUTE), has(kind::HOST_ATTRIBUTE)) {
        (true, true) => Some(Side::Both),
        (true, false) => Some(Side::Amp),
        (false, true) => Some(Side::Cpu),
        (false, false) => None,
    }
}

/// The restriction that a function or its first declaration is written with: a definition outside of its class may leave it out.
pub(super) fn restriction(function: Cursor) -> Option<Side> {
    let of_first =
        || function.canonical().filter(|first| *first != function).and_then(|first| written(&first.children()));
    written(&function.children()).or_else(of_first)
}

/// The restriction that a lambda is written with.
pub(super) fn lambda_restriction(lambda: Cursor) -> Option<Side> {
    operator_of(lambda).and_then(|operator| written(&operator.children()))
}

/// The operator of a lambda.
pub(super) fn operator_of(lambda: Cursor) -> Option<Cursor> {
    let class = lambda.ty()?.declaration();
    class
        .children()
        .into_iter()
        .find(|c| matches!(c.kind(), kind::METHOD | kind::FUNCTION_TEMPLATE) && c.spelling() == "operator()")
}
