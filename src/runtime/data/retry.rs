//! Operations that are tried again: after a wait that no lock may be held over, or with other holders of lost bytes.

use crate::device::hazard::Detour;
use crate::error::{Error, ErrorKind, Result};

/// How often an operation is tried again with other holders.
const ROUNDS: usize = 4;

/// True if an operation is to be tried again: the error says that bytes cannot be had from where they were looked for, and
/// `absorb` found out that others may hold them.
pub(in crate::runtime) fn should_retry(error: &Error, rounds: &mut usize, absorb: impl FnOnce() -> bool) -> bool {
    let may_be_held =
        matches!(Detour::of(error), Some(Detour::Lost)) || error.kind == ErrorKind::AcceleratorViewRemoved;
    if !may_be_held || *rounds == ROUNDS {
        return false;
    }
    *rounds += 1;
    absorb()
}

/// Waits for what the error asks for, or returns it. No lock may be held.
pub(in crate::runtime) fn wait_detour(error: Error) -> Result<()> {
    match Detour::of(&error) {
        Some(Detour::Wait(points)) => points.iter().try_for_each(|p| p.wait(None).map(drop)),
        _ => Err(error),
    }
}
