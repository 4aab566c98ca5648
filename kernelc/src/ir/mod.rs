//! LLVM IR as the kernel compiler sees it: the part of the language that Clang and LLVM's passes write for C++ AMP kernels.
//!
//! `snapshot` copies a module of LLVM into a [`Module`]. Nothing here knows of SPIR-V. What kernels cannot have ([`Op::Other`]) is
//! kept by name, so that it is refused only where a kernel uses it, with the user's line.

mod module;
mod operations;
mod snapshot;
#[cfg(test)]
pub(crate) mod tests;

pub use module::*;
pub(crate) use snapshot::{frames, snapshot};
