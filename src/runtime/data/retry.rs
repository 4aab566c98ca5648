//! Retries of operations. An operation is retried after a wait during which no lock may be held. It is also retried if bytes were lost
//! and other memory may hold a copy of them.

use crate::device::hazard::Detour;
use crate::error::{Error, ErrorKind, Result};

/// The limit of retries with other holders.
const MAX_RETRIES: usize = 4;

/// True if an operation should be retried: the error says that a holder lost bytes, and `absorb` found new losses, so that the
/// retry uses other holders.
pub(in crate::runtime) fn should_retry(error: &Error, rounds: &mut usize, absorb: impl FnOnce() -> bool) -> bool {
    let is_loss = matches!(Detour::of(error), Some(Detour::Lost)) || error.kind == ErrorKind::AcceleratorViewRemoved;
    if !is_loss || *rounds == MAX_RETRIES {
        return false;
    }
    *rounds += 1;
    absorb()
}

/// If the error asks for a wait, waits. Otherwise returns the error. No lock may be held.
pub(in crate::runtime) fn wait_detour(error: Error) -> Result<()> {
    match Detour::of(&error) {
        Some(Detour::Wait(points)) => points.iter().try_for_each(|p| p.wait(None).map(drop)),
        _ => Err(error),
    }
}
