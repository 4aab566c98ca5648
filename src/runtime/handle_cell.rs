//! Stores the handle that the C API has assigned to an object.

use crate::error::Result;
use crate::lock::{Mutex, rank};

/// The handle that the C API has assigned to an object, if any.
#[derive(Default)]
pub struct HandleCell(Mutex<Option<u64>, { rank::HANDLE_CELL }>);

impl HandleCell {
    /// Returns the handle. Calls `make` for a handle if there is none yet, or if `alive` is false for the stored handle.
    pub fn get_or_make(&self, alive: impl FnOnce(u64) -> bool, make: impl FnOnce() -> Result<u64>) -> Result<u64> {
        let mut slot = self.0.lock();
        match *slot {
            Some(h) if alive(h) => Ok(h),
            _ => make().inspect(|h| *slot = Some(*h)),
        }
    }
}
