//! SPIR-V modules: checked, reflected, and described for the runtime. Knows no device.
//!
//! [`Module`] is the door. Behind it, each with one job: `check` (bytes to whole instructions), `code` (their index),
//! `grammar` (facts of opcodes), `reach` (entry point and call graph), `values` (constants), `layout` (sizes), `access`
//! (reads and writes), `reflect` (bindings, push and specialization constants), `size` (workgroup size), `renumber` (the
//! module with dense numbers of descriptors), `split` (the
//! rewrite for domains beyond the device's limit), `strip` (the module without what prints). [`registry`] holds the kernels compiled into programs by name,
//! [`compiled`] those that the kernel compiler made of lambdas, whose bytes [`image`] reads.

mod access;
mod check;
mod code;
pub mod compiled;
mod emit;
mod grammar;
pub mod image;
mod layout;
mod module;
mod reach;
mod reflect;
pub mod registry;
mod renumber;
mod size;
mod split;
mod strip;
#[cfg(test)]
pub(crate) mod tests;
mod usage;
mod values;

pub use module::{Binding, BindingKind, Module, PushBlock, PushMember, SpecConstant, SpecKind, SplitModule};
pub use renumber::dense;
pub use usage::{Access, SpecValues};
