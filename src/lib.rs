//! revamp: C++ AMP revived over Vulkan.
pub mod config;
pub mod device;
pub mod error;
pub mod kernel;
pub mod runtime;
pub mod trace;
pub mod capi;
pub mod runtime;
