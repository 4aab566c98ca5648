//! Vulkan devices: the only room that names ash or gpu-allocator.
//!
//! [`instance`], [`physical`], [`features`], [`memory_types`], [`capability`] describe what there is; [`opened`] and `core`
//! open it; `pool`, `memory`, `image`, `samplers`, `import`, `timeline`, `queue`, `recording`, `pipeline`, `commands` do the
//! work; `overruns` finds launches whose loops the driver stopped,
//! by their `stop_flags`; `device_copy`, `image_copy`, `staging` and `transfer` move bytes; [`messages`] and [`printf`] receive what the
//! validation layer writes; [`interop`], `shared`, `descriptor` and `program_signals` share
//! objects with programs that use Vulkan; [`device`] is what the
//! runtime uses.

mod batch;
mod burst;
pub mod cache_file;
pub mod capability;
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
