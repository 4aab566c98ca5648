//! What remarks are made from.

use crate::ir::{Function, Module};
use crate::lower::pointers::PointerAnalysis;

/// The code that becomes SPIR-V, and what its pointers point to.
pub(super) struct Kernel<'m> {
    pub(super) module: &'m Module,
    pub(super) function: &'m Function,
    pub(super) pointers: PointerAnalysis,
}
