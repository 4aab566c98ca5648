//! The input of the remarks.

use crate::ir::{Function, Module};
use crate::lower::pointers::PointerAnalysis;

/// The code that becomes SPIR-V, and its pointer analysis.
pub(super) struct Kernel<'m> {
    pub(super) module: &'m Module,
    pub(super) function: &'m Function,
    pub(super) pointers: PointerAnalysis,
}
