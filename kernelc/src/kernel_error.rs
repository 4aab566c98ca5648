//! Errors in kernels: why a kernel cannot be compiled, and where.

use crate::ir::{Frame, LocationId, Module};

/// A transformation by which the compiler may remove the cause of an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remedy {
    /// No transformation: the user's code must change.
    #[default]
    None,
    /// Separate the accesses through pointers that may point to several kinds of memory (`phi_loads`,
    /// `separate_memories`).
    SeparateMemories,
}

/// An error in the user's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    /// The message.
    pub message: String,
    /// The location, then the calls through which it was inlined, innermost first. Empty if the location is unknown.
    pub frames: Vec<Frame>,
    /// A transformation after which the kernel may compile.
    pub remedy: Remedy,
}

impl KernelError {
    pub fn new(message: String) -> Self {
        KernelError { message, frames: Vec::new(), remedy: Remedy::None }
    }

    pub fn at(module: &Module, location: Option<LocationId>, message: String) -> Self {
        KernelError { frames: location.map(|l| module.frames(l)).unwrap_or_default(), ..Self::new(message) }
    }

    /// Marks the error as caused by a pointer that may point to several kinds of memory.
    pub fn needs_separate_memories(self) -> Self {
        KernelError { remedy: Remedy::SeparateMemories, ..self }
    }

    /// Adds the location, if the error has none.
    pub fn with_location(self, module: &Module, location: Option<LocationId>) -> Self {
        if self.frames.is_empty() {
            KernelError { remedy: self.remedy, ..Self::at(module, location, self.message) }
        } else {
            self
        }
    }
}
