//! The host-thread accelerator, and the memory of the cpu accelerator.
//!
//! A [`HostDevice`] allocates ordinary memory and makes [`HostQueue`]s; a queue runs functions of the host in order.
//! [`launch_host_kernel`] turns a kernel and its domain into one of these functions.

pub mod device;
pub mod domain;
pub mod fibre;
pub mod kernel;
pub mod native;
pub mod queue;
mod sanitizer;
#[cfg(test)]
mod tests;
mod timer;

pub use device::{HostDevice, HostPhysical};
pub use domain::Domain;
pub use kernel::{HostKernel, ThreadId, launch_host_kernel};
pub use native::{NativeForm, NativeKernel};
pub use queue::{HostKind, HostQueue, HostTimeline};
pub use timer::HostTimer;
