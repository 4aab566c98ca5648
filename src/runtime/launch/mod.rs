//! Launches: of SPIR-V kernels ([`spirv`]), and of functions of the program ([`function`]), which run on host threads or as the
//! kernels compiled of them ([`compiled`]).
//!
//! Three caches recognize a repeated launch, each one step closer to the device:
//!
//! | cache | whose | knows | holds as long as |
//! | --- | --- | --- | --- |
//! | [`cache`] | a thread's | which requests came again, by their handles and shapes | no handle of the request was freed |
//! | [`cached_launch`] | an entry of that | where the launch ran, its buffers and addresses | the stamps of its data sources stay |
//! | `device/vulkan/recording` | a queue's | command buffers, by the launches recorded in them | the queue lives |
//!
//! The first saves looking up handles, the second checking and making arguments valid (decision 14), the third recording
//! (decision 13).

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
