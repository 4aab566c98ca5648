//! Launches of SPIR-V kernels ([`spirv`]) and of functions of the program ([`function`]). The functions run on host threads, or
//! on Vulkan devices as the kernels compiled from them ([`compiled`]).
//!
//! Three caches make a repeated launch cheaper:
//!
//! | cache | owner | contents | valid while |
//! | --- | --- | --- | --- |
//! | [`cache`] | a thread | repeated requests, by their handles and shapes | no handle of the request was freed |
//! | [`cached_launch`] | an entry of [`cache`] | the view, buffers and addresses of the launch | the stamps of its data sources are unchanged |
//! | `device/vulkan/recording` | a queue | command buffers, by the launches recorded in them | the queue lives |
//!
//! [`cache`] saves the lookups of handles. [`cached_launch`] saves the checks of arguments and making them valid (decision 14).
//! `device/vulkan/recording` saves the recording of commands (decision 13).

pub mod arguments;
mod bounds;
pub mod cache;
pub mod cached_launch;
pub mod choose;
pub mod compiled;
pub mod domain;
pub mod function;
pub mod images;
pub mod kept;
mod later;
mod mirrors;
pub mod request;
mod searched;
mod shadows;
mod shared;
pub mod spirv;
pub mod submit;
mod uses;
mod workgroup;
