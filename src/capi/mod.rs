//! The C API: the only `extern "C"` functions of the crate, one file for each kind of object. It
//! checks handles and pointers and turns panics and errors into status codes; it has no other
//! logic. `types` has the declarations of the header, `guard` the boundary of every call, and
//! `handle` the table behind the opaque handles.
//!
//! The `unsafe` code here dereferences pointers that a C caller passed. The comment of each function
//! has the contract of its pointers. Each pointer is checked for null before its use.

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
