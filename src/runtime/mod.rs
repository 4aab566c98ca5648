//! The C++ AMP model: accelerators and defaults, arrays, copies, launches and their completion. Safe Rust over the device
//! traits.

pub mod accelerators;
pub mod access_type;
pub mod copies;
pub mod data;
pub mod exit;
pub mod handle_cell;
pub mod instance;
pub mod launch;
pub mod operations;
pub mod process;
mod race;
mod sync;
pub mod tracing;
pub mod user;

pub use access_type::AccessType;
pub use handle_cell::HandleCell;
pub use instance::{Runtime, runtime, uninitialize};
