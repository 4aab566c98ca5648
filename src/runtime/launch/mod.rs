//! Launches: of SPIR-V kernels, and of functions of the program.

pub mod arguments;
pub mod cached_launch;
pub mod compiled;
pub mod host;
pub mod spirv;
