//! All devices of the machine. This is the only module that names the kinds of devices.

use crate::config::Config;
use crate::device::host::{HostKind, HostPhysical};
use crate::device::physical::PhysicalDevice;
use crate::device::vulkan::instance;
use crate::device::vulkan::physical::physical_devices;
use crate::device::vulkan::{messages, printf};
use std::sync::Arc;

/// All devices: the Vulkan devices in the loader's order, host threads, the cpu accelerator, and host threads under their other names (WARP
/// and REF). If Vulkan fails, the list has only the other devices, and [`no_vulkan`] returns the reason.
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

/// The reason why the last call of [`all`] found no Vulkan devices, if Vulkan failed.
pub fn no_vulkan() -> Option<String> {
    instance::failure().map(|e| e.to_string())
}

/// The message of the first kernel that has called `direct3d_errorf` or `direct3d_abort` since the last call.
pub fn take_kernel_failure() -> Option<String> {
    printf::take_failure()
}

/// The number of errors and warnings of the validation layer so far.
pub fn validation_messages() -> u64 {
    messages::validation_messages()
}

/// The text of the latest error or warning of the validation layer.
pub fn last_validation_message() -> Option<String> {
    messages::last_validation_message()
}
