//! Why a kernel cannot be compiled, and where.

use crate::ir::{Frame, LocationId, Module};

/// An error in the user's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    /// The message.
    pub message: String,
    /// The location, then the call of each function that was inlined, innermost first. Empty: not known.
    pub frames: Vec<Frame>,
}

impl KernelError {
    pub(super) fn new(message: String) -> Self {
        KernelError { message, frames: Vec::new() }
    }

    pub(super) fn at(module: &Module, location: Option<LocationId>, message: String) -> Self {
        KernelError { message, frames: location.map(|l| module.frames(l)).unwrap_or_default() }
    }

    /// With a location, if it has none.
    pub(super) fn with_location(self, module: &Module, location: Option<LocationId>) -> Self {
        if self.frames.is_empty() { Self::at(module, location, self.message) } else { self }
    }
}
