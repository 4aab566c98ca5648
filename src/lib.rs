//! revamp: C++ AMP revived over Vulkan.
//!
//! Rooms, each importing only from those below it: [`capi`] (the C boundary), [`runtime`] (the C++ AMP model),
//! [`coherence`] (who holds which bytes), [`kernel`] (SPIR-V modules), [`device`] (Vulkan and host threads), then [`trace`],
//! [`config`], [`privilege`], [`grow`], [`lock`] and [`error`].

pub mod capi;
pub mod coherence;
pub mod config;
pub mod device;
pub mod devices;
pub mod error;
pub mod geometry;
pub mod grow;
pub mod host;
pub mod kernel;
pub mod lock;
pub mod privilege;
pub mod runtime;
pub mod trace;
