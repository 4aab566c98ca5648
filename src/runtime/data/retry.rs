//! Retries of operations: after a wait during which no lock may be held, or from other holders if bytes were lost.

use crate::device::hazard::Detour;
use crate::error::{Error, ErrorKind, Result};

/// How often an operation is retried with other holders.
const ROUNDS: usize = 4;

/// True if an operation should be retried: the error says that bytes are lost where they were looked for, and `absorb` found
/// new losses, so that other holders will be asked.
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
