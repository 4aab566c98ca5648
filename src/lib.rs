//! revamp: C++ AMP revived over Vulkan.
//!
//! The modules are layers, called *rooms* in ARCHITECTURE.md. Each imports only from modules that follow it in this list:
//! [`capi`] (the C API), [`runtime`] (the C++ AMP model), [`coherence`] (which locations hold which bytes), [`devices`] and
//! [`device`] (Vulkan devices and host threads), [`kernel`] (SPIR-V modules), [`host`], [`geometry`], [`config`], [`trace`],
//! [`lock`], [`privilege`], [`grow`] and [`error`].

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
