//! What a kernel cannot be compiled for, where, and how it got there.

use crate::ir::{Frame, LocationId, Module};

/// An error in the user's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    /// What is wrong, as a compiler says it.
    pub message: String,
    /// Where, innermost first; then where each function was called. Empty: not known.
    pub frames: Vec<Frame>,
}

impl KernelError {
    pub(super) fn new(message: String) -> Self {
        KernelError { message, frames: Vec::new() }
    }

    pub(super) fn at(module: &Module, location: Option<LocationId>, message: String) -> Self {
        KernelError { message, frames: location.map(|l| module.frames(l)).unwrap_or_default() }
    }

    /// The same with a place, if it has none.
    pub(super) fn with_location(self, module: &Module, location: Option<LocationId>) -> Self {
        if self.frames.is_empty() { Self::at(module, location, self.message) } else { self }
    }
}
