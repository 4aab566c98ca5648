//! A typed copy of LLVM IR: the part of the language that Clang and LLVM's passes write for C++ AMP kernels.
//!
//! `snapshot` copies a module of LLVM into a [`Module`], which does not depend on SPIR-V. An instruction that kernels cannot have becomes
//! [`Op::Other`] with the instruction's name. It is refused only if a kernel uses it; the error names the line in the user's source.

mod module;
mod operations;
mod snapshot;
#[cfg(test)]
pub(crate) mod tests;

pub use module::*;
pub(crate) use snapshot::{frames, snapshot};
