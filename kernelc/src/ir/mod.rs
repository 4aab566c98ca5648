//! LLVM IR as the kernel compiler sees it: the part of the language that Clang and `opt` write for C++ AMP kernels.
//!
//! [`read`] parses the text of an `.ll` file into a [`Module`]. Nothing here knows of SPIR-V. What kernels cannot have
//! ([`Op::Other`]) is kept by name, so that it is refused only where a kernel uses it, with the user's line.

mod lexer;
mod module;
mod reader;
mod snapshot;
#[cfg(test)]
pub(crate) mod tests;

pub use module::*;
pub use reader::{ReadError, read};
pub(crate) use snapshot::snapshot;
