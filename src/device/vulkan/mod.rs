//! Vulkan devices.

pub mod cache_file;
pub mod capability;
pub mod display;
pub mod features;
pub mod instance;
pub mod memory_types;
pub mod messages;
pub mod opened;
pub mod physical;
