//! The kernel compiler of revamp: C++ AMP lambdas, as they stand, become SPIR-V for Vulkan at build time.
//!
//! docs/kernel-compiler-design.md has the steps and processes. ARCHITECTURE.md lists the modules: each imports only those of lower rows
//! (`scripts/imports`).

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
