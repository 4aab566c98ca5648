//! LLVM in process: modules, pipelines of passes over them, questions (`value`) and changes (`edit`). This is the only code that calls
//! libLLVM. The library is loaded at run time, as libclang is, so the compiler builds and starts without LLVM.
//!
//! A fatal error in LLVM ends the process, and LLVM's hidden options are global to the process. So the driver never calls this
//! module itself: it starts a child process for the kernels of a source (`kernel_process`).
//!
//! A [`Module`] shares its LLVM context with its copies alone and stays on its thread. Pipelines run one at a time in a process, because each
//! sets the hidden options that it needs (`pipeline`).

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
