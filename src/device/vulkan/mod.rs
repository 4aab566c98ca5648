//! Vulkan devices. This is the only module that uses the crates ash and gpu-allocator.
//!
//! - [`device`] is the interface to the runtime.
//! - [`instance`], [`physical`], [`features`], [`memory_types`] and [`capability`] describe the available devices; [`opened`] and
//!   `core` open a device.
//! - `pool`, `memory`, `image`, `samplers` and `import` manage memory and the objects in it.
//! - `timeline`, `queue`, `recording`, `pipeline` and `commands` record and run commands.
//! - `overruns` uses `stop_flags` to find launches whose loops the driver stopped.
//! - `device_copy`, `image_copy`, `staging` and `transfer` copy data.
//! - [`messages`] and [`printf`] receive the output of the validation layer.
//! - [`interop`], `shared`, `descriptor` and `program_signals` share objects with programs that use Vulkan.

mod batch;
mod burst;
pub mod cache_file;
pub mod capability;
mod clocks;
mod code_forms;
mod command_pool;
mod commands;
mod core;
mod descriptor;
pub mod device;
mod device_copy;
pub mod device_type;
pub mod display;
pub mod features;
mod free_recordings;
mod image;
mod image_copy;
mod import;
pub mod instance;
pub mod interop;
mod losses;
mod memory;
pub mod memory_types;
pub mod messages;
pub mod opened;
mod overruns;
pub mod physical;
mod pipeline;
mod pool;
pub mod printf;
mod program_signals;
mod queue;
mod recording;
mod samplers;
mod shared;
mod shared_buffer;
mod staging;
mod statistics;
mod stop_flags;
mod submission;
mod timeline;
mod timer;
mod transfer;
mod trusted;
