//! The kernel compiler of revamp: C++ AMP lambdas, as they stand, become SPIR-V for Vulkan at build time.
//!
//! docs/kernel-compiler.md has the picture of the pipeline. Each module imports only those listed above it:
//!
//! - `system`: what differs between systems; `llvm`: LLVM in process;
//! - [`ir`]: a module of LLVM, copied into a tree;
//! - `demangle`: names of functions as the user wrote them; `device_abi`: the functions and classes of the headers that the compiler knows;
//! - `lower`: from that tree to a SPIR-V module for each kernel, or to errors with the user's lines;
//! - `image`: the kernels of a translation unit as the image that its object file carries;
//! - `always_inline`: marks functions for inlining, and finds kernels that become large by it;
//! - `integer_division`: gives divisions by zero and the like a result; `folded_constants`: refuses those of constants;
//! - `pipelines`: which of LLVM's passes kernels go through;
//! - `flags`, `response_files`: a compiler's command line; `clang`: the calls of Clang and `opt`; `diagnostics`: the errors of
//!   Clang that C++ AMP does not have; `files`: temporary files and child processes; `host_pass`: Clang's pass for the host; `refuse`: what C++ AMP forbids and Clang
//!   does not;
//! - `own_sources`: the texts that a program brings; `tokens`: their words and restrictions; `source_rewrite`: what C++ AMP
//!   allows and Clang does not parse; `overloads`: whether functions differ by restriction; `wide_formats`: formats that MSVC reads otherwise;
//! - `locks`, `spins`, `choices`: forms of code that LLVM or SPIR-V cannot take as they are; `lock_order`: what locks order;
//!   `large_loops`: which loops LLVM would leave;
//! - `native`: kernels as functions of the host's processor;
//! - `kernels`: from the device's code to the kernels of a source; `kernel_process`: the process that does it;
//! - `children`: the child processes of this program;
//! - [`driver`]: `revamp-kernelc` and `revamp-c++`; [`port`]: `revamp-port`.

mod always_inline;
mod children;
mod choices;
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
mod integer_division;
pub mod ir;
mod kernel_process;
mod kernels;
mod large_loops;
mod library;
mod llvm;
mod lock_order;
mod locks;
mod lower;
mod native;
mod overloads;
mod own_sources;
mod pipelines;
pub mod port;
mod refuse;
mod response_files;
mod source_rewrite;
mod spins;
mod system;
mod tokens;
mod ways;
mod wide_formats;

pub use children::run as run_child;
pub use system::catch_signals;
