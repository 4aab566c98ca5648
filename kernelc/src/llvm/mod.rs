//! LLVM in process: modules, and pipelines of passes over them. With `load`, `module`, `pipeline` and `value`, this is the only
//! code that calls libLLVM. The library is loaded at run time, as libclang is, so the compiler builds and starts without LLVM.
//!
//! A fatal error in LLVM ends the process, and LLVM's hidden options are global to the process. So the driver never calls this
//! module itself: it starts a child process for the kernels of a source (`kernel_process`).
//!
//! A [`Module`] has an LLVM context of its own and stays on its thread. Pipelines run one at a time in a process, because each
//! sets the hidden options that it needs (`pipeline`).

mod load;
mod module;
mod pipeline;
#[cfg(test)]
mod tests;
mod value;

pub use load::Llvm;
pub use module::Module;
pub use pipeline::{Hidden, Pipeline};
pub use value::{Block, Form, Node, Type, Value, number};
