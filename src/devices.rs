//! All devices of the machine. Only this file names the kinds of devices.

use crate::config::Config;
use crate::device::host::{HostKind, HostPhysical};
use crate::device::physical::PhysicalDevice;
use crate::device::vulkan::instance;
use crate::device::vulkan::physical::physical_devices;
use crate::device::vulkan::{messages, printf};
use std::sync::Arc;

/// Vulkan devices in the loader's order, host threads, the cpu, host threads under their other names. Where Vulkan fails the others are
/// there, and `no_vulkan` says why.
pub fn all(config: &'static Config) -> Vec<Arc<dyn PhysicalDevice>> {
    instance::forget_failure();
    let mut all: Vec<Arc<dyn PhysicalDevice>> = Vec::new();
    if let Ok(instance) = instance::instance() {
        match physical_devices(instance, config) {
            Ok(found) => all.extend(found.into_iter().map(|p| Arc::new(p) as Arc<dyn PhysicalDevice>)),
            Err(e) => instance::remember_failure(e),
        }
    }
    for kind in [HostKind::Threads, HostKind::Cpu, HostKind::Warp, HostKind::Reference] {
        all.push(Arc::new(HostPhysical::new(kind, config)));
    }
    all
}

/// Why there are no Vulkan devices, if Vulkan itself cannot be used, as it was when `all` looked.
pub fn no_vulkan() -> Option<String> {
    instance::failure().map(|e| e.to_string())
}

/// The message of a kernel that called `direct3d_errorf` or `direct3d_abort` since the last call.
pub fn take_kernel_failure() -> Option<String> {
    printf::take_failure()
}

/// How many messages the validation layer has written so far.
pub fn validation_messages() -> u64 {
    messages::validation_messages()
}

/// The latest of these messages.
pub fn last_validation_message() -> Option<String> {
    messages::last_validation_message()
}
