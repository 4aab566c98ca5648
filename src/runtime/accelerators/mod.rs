//! Accelerators, their views and the kernels loaded there.

pub mod accelerator;
pub mod accelerator_view;
pub mod bridge;
pub mod defaults;
pub mod driver_code;
mod lent_device;
pub mod loaded_kernel;
pub mod reports;
pub mod search;
pub mod spirv_kernel;
