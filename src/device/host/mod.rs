//! The host-thread accelerator.
pub mod memory;
