//! LLVM in process: modules, pipelines of passes (`pipeline`), queries (`value`) and changes (`edit`). This is the only code that calls
//! libLLVM. The library is loaded at run time, as libclang is. Therefore the compiler builds and starts without LLVM.
//!
//! A fatal error in LLVM ends the process, and LLVM's hidden options are global to the process. Therefore the driver never calls this
//! module itself. The driver starts a child process for the kernels of a source (`kernel_process`).
//!
//! Only a [`Module`] and its copies share an LLVM context, and they stay on one thread. Pipelines run one at a time in a process, because
//! each pipeline sets the hidden options that it needs.

mod attributes;
mod blocks;
mod build;
mod edit;
mod functions;
mod load;
mod metadata;
mod module;
pub mod number;
mod one_memory;
mod pipeline;
mod rebuild;
#[cfg(test)]
mod tests;
mod value;

pub use build::Builder;
pub use edit::Editor;
pub use load::Llvm;
pub use module::Module;
pub use pipeline::{Hidden, Pipeline};
pub use value::{Block, Form, Node, Type, Value};
