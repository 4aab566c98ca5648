//! The place where an object keeps the handle that the C API gave it.

use crate::error::Result;
use crate::lock::{Mutex, rank};

/// Remembers the handle the C API gave an object.
#[derive(Default)]
pub struct HandleCell(Mutex<Option<u64>, { rank::HANDLE_CELL }>);

impl HandleCell {
    /// Returns the handle; makes one at the first call, and again when `alive` says that the last one was released.
    pub fn get_or_make(&self, alive: impl FnOnce(u64) -> bool, make: impl FnOnce() -> Result<u64>) -> Result<u64> {
        let mut slot = self.0.lock();
        match *slot {
            Some(h) if alive(h) => Ok(h),
            _ => make().inspect(|h| *slot = Some(*h)),
        }
    }
}
