//! Why a kernel cannot be compiled, and where.

use crate::ir::{Frame, LocationId, Module};

/// What can be done about an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: the user's code must change.
    #[default]
    None,
    /// A pointer may point to several kinds of memory: the kernel may compile once its accesses are separated by kind (`phi_loads`,
    /// `separate_memories`).
    SeparateMemories,
}

/// An error in the user's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelError {
    /// The message.
    pub message: String,
    /// The location, then the call of each function that was inlined, innermost first. Empty: not known.
    pub frames: Vec<Frame>,
    /// What the compiler can do about it.
    pub remedy: Remedy,
}

impl KernelError {
    pub fn new(message: String) -> Self {
        KernelError { message, frames: Vec::new(), remedy: Remedy::None }
    }

    pub fn at(module: &Module, location: Option<LocationId>, message: String) -> Self {
        KernelError { frames: location.map(|l| module.frames(l)).unwrap_or_default(), ..Self::new(message) }
    }

    /// The same error, of a pointer to several kinds of memory.
    pub fn of_memories(self) -> Self {
        KernelError { remedy: Remedy::SeparateMemories, ..self }
    }

    /// With a location, if it has none.
    pub fn with_location(self, module: &Module, location: Option<LocationId>) -> Self {
        if self.frames.is_empty() {
            KernelError { remedy: self.remedy, ..Self::at(module, location, self.message) }
        } else {
            self
        }
    }
}
