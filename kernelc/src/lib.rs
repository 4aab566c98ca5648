//! The kernel compiler of revamp: C++ AMP lambdas, as they stand, become SPIR-V for Vulkan at build time.
//!
//! docs/kernel-compiler.md has the picture of the pipeline. Rooms, each importing only from those above it:
//!
//! - [`ir`]: LLVM IR as text, read into a tree;
//! - `lower`: a kernel of that tree becomes a SPIR-V module, or a list of refusals with the user's lines;
//! - `image`: the kernels of a translation unit as the bytes that its object file carries;
//! - `inline`: marks all functions for inlining;
//! - `flags`, `response`: a compiler's command line; `clang`: how Clang's passes and `opt` are called; `diagnostics`: what Clang says;
//!   `rewrite`: what Clang's grammar lacks; `files`: temporary files and processes;
//! - [`driver`]: what `revamp-kernelc` and `revamp-c++` do.

mod always_inline;
mod clang;
mod demangle;
mod diagnostics;
pub mod driver;
mod files;
mod flags;
pub mod image;
pub mod ir;
pub mod lower;
mod response_files;
mod source_rewrite;

pub use files::catch_signals;
