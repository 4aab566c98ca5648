//! Vulkan devices.

pub mod capability;
pub mod display;
pub mod features;
pub mod instance;
pub mod memory_types;
pub mod messages;
pub mod opened;
pub mod physical;
