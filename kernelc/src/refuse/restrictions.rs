//! The restrictions that are written at functions and lambdas.

use super::libclang::{Cursor, kind};

/// The side for which a function is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Cpu,
    Amp,
    Both,
}

/// The restriction that is written at a declaration.
pub(super) fn written_restriction(children: &[Cursor]) -> Option<Side> {
    let has = |attribute| children.iter().any(|c| c.kind() == attribute && c.place().line > 0);
    match (has(kind::DEVICE_ATTRIBUTE), has(kind::HOST_ATTRIBUTE)) {
        (true, true) => Some(Side::Both),
        (true, false) => Some(Side::Amp),
        (false, true) => Some(Side::Cpu),
        (false, false) => None,
    }
}

/// The restriction that is written at a function or at its first declaration: a definition outside the class may omit it.
pub(super) fn restriction(function: Cursor) -> Option<Side> {
    let first_restriction = || {
        function.canonical().filter(|first| *first != function).and_then(|first| written_restriction(&first.children()))
    };
    written_restriction(&function.children()).or_else(first_restriction)
}

/// The restriction that is written at a lambda.
pub(super) fn lambda_restriction(lambda: Cursor) -> Option<Side> {
    call_operator_of(lambda).and_then(|operator| written_restriction(&operator.children()))
}

/// The `operator()` of a lambda.
pub(super) fn call_operator_of(lambda: Cursor) -> Option<Cursor> {
    let class = lambda.ty()?.declaration();
    class
        .children()
        .into_iter()
        .find(|c| matches!(c.kind(), kind::METHOD | kind::FUNCTION_TEMPLATE) && c.spelling() == "operator()")
}
