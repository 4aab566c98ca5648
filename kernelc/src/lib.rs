//! The kernel compiler of revamp: compiles unmodified C++ AMP lambdas to SPIR-V for Vulkan at build time.
//!
//! docs/kernel-compiler-design.md describes the steps and the processes. ARCHITECTURE.md has a table of the modules. A
//! module imports only modules of lower rows of this table (`scripts/imports` checks this).

mod amp_warnings;
mod analysis;
mod bounds_option;
mod children;
mod clang;
mod demangle;
mod device_abi;
mod diagnostics;
pub mod driver;
mod files;
mod flags;
mod folded_constants;
mod host_pass;
mod image;
pub mod ir;
mod kernel_error;
mod kernel_process;
mod kernel_report;
mod kernels;
mod library;
mod llvm;
mod lower;
mod native;
mod overloads;
mod own_sources;
mod parts;
mod pass_print;
mod passes;
mod pipelines;
mod refuse;
mod report;
mod response_files;
mod source_rewrite;
mod system;

pub use children::run as run_child;
pub use system::catch_signals;
