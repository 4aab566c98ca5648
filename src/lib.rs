//! revamp: C++ AMP revived over Vulkan.
//!
//! The rooms, each importing only from those named after it (ARCHITECTURE.md): [`capi`] (the C API), [`runtime`] (the C++
//! AMP model), [`coherence`] (who holds which bytes), [`devices`] and [`device`] (Vulkan and host threads), [`kernel`]
//! (SPIR-V modules), [`host`], [`geometry`], [`config`], [`trace`], [`lock`], [`privilege`], [`grow`] and [`error`].

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
