//! The C++ AMP model: accelerators and defaults, arrays, copies, launches and their completion. Safe Rust over the device
//! traits.

pub mod accelerator;
pub mod accelerator_view;
pub mod access_type;
pub mod array;
pub mod array_view;
mod bridge;
mod capture;
mod compiled;
pub mod completion;
pub mod copy;
pub mod dispatch;
pub mod exit;
mod extents;
pub mod handle_cell;
pub mod host_dispatch;
pub mod instance;
pub mod kernel;
mod notifier;
mod order;
pub mod process;
mod race;
pub mod repeat;
pub mod selection;
pub mod source;
pub mod spirv_kernel;
pub mod storage;
mod sync;
mod transfer;
mod users;
pub mod words;

pub use access_type::AccessType;
pub use handle_cell::HandleCell;
pub use instance::{Runtime, runtime, uninitialize};
