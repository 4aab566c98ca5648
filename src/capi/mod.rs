//! The C API: the only `extern "C"` of the crate, one file a noun. Checks handles and pointers,
//! turns panics and errors into status codes; no logic. `types` is what the header declares;
//! `guard` is the one boundary; `handle` the table behind the opaque handles.
//!
//! `unsafe` here dereferences pointers a C caller passed. The contract of each is in the
//! function's comment, and every one is checked for null before.

#![allow(unsafe_code, clippy::missing_safety_doc)]

pub mod accelerator;
pub mod accelerator_view;
pub mod array;
pub mod array_view;
pub mod completion;
pub mod copy;
pub mod driver_code;
pub mod error;
mod guard;
mod handle;
pub mod host_kernel;
pub mod image;
pub mod kernel;
mod launch_request;
pub mod library;
mod lifecycle;
mod loaded;
mod pointer;
mod sizes;
pub mod texture;
mod trace;
mod transfers;
pub mod types;
pub mod vulkan;
mod vulkan_handles;
pub mod vulkan_types;
