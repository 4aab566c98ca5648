//! The C++ AMP model: accelerators and defaults, data, copies, launches and completions. Uses devices only through the traits of
//! `device`, without unsafe code.

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
