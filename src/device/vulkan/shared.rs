//! Memory and semaphores that are shared by file descriptor (`VK_KHR_external_memory_fd`,
//! `VK_KHR_external_semaphore_fd`). The module `shared_buffer` creates buffers over shared memory.

#![allow(unsafe_code)]

use super::core::Core;
use super::descriptor;
use crate::error::{Error, Result};
use ash::{khr, vk};

/// The only supported handle type: opaque file descriptors.
pub(super) const MEMORY: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
const SEMAPHORE: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;

/// Memory with a file descriptor, and the properties that are needed to import it.
#[derive(Debug, Clone, Copy, Default)]
pub struct SharedMemory {
    /// The file descriptor.
    pub fd: i32,
    /// The size of the allocation in bytes.
    pub allocation_size: u64,
    /// The offset of the elements in the memory.
    pub offset: u64,
    /// The size of the elements in bytes.
    pub size: u64,
    /// The index of its memory type.
    pub memory_type: u32,
    /// True if it was allocated for one buffer.
    pub dedicated: bool,
}

/// The error for a device that cannot share memory or semaphores by file descriptor.
pub(super) fn refusal(core: &Core, what: &str, extension: &str) -> Error {
    Error::unsupported(format!(
        "{} cannot share {what} by file descriptor: {}",
        core.physical.name,
        if core.lent.is_some() {
            format!("the VkDevice was created without {extension}, or its driver does not support this use")
        } else {
            format!("its driver lacks {extension}, or does not support this use; copy through the host")
        }
    ))
}

/// A new file descriptor for memory.
pub(super) fn memory_fd(core: &Core, memory: vk::DeviceMemory) -> Result<i32> {
    let functions = khr::external_memory_fd::Device::new(&core.instance, &core.raw);
    let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(MEMORY);
    // SAFETY: the memory was allocated as exportable.
    unsafe { functions.get_memory_fd(&info) }.map_err(|e| core.failed("vkGetMemoryFdKHR", e))
}

/// Fails if the device does not support the feature `wanted` (export or import) for timeline semaphores.
fn check_semaphores(core: &Core, wanted: vk::ExternalSemaphoreFeatureFlags) -> Result<()> {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(SEMAPHORE).push_next(&mut kind);
    let mut found = vk::ExternalSemaphoreProperties::default();
    if core.physical.extensions.external_semaphore_fd {
        // SAFETY: the handle is of this instance.
        unsafe {
            let handle = core.physical.handle;
            core.instance.get_physical_device_external_semaphore_properties(handle, &info, &mut found);
        }
    }
    let able = found.external_semaphore_features.contains(wanted);
    if able { Ok(()) } else { Err(refusal(core, "timeline semaphores", "VK_KHR_external_semaphore_fd")) }
}

/// A new timeline semaphore. `shared`: true if it can be exported.
pub(super) fn semaphore(core: &Core, shared: bool) -> Result<vk::Semaphore> {
    core.check_alive()?;
    if shared {
        check_semaphores(core, vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
    }
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(SEMAPHORE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    let info = if shared { info.push_next(&mut export) } else { info };
    // SAFETY: the device is alive and has timeline semaphores. If `shared`, it can export them.
    unsafe { core.raw.create_semaphore(&info, None) }.map_err(|e| core.failed("vkCreateSemaphore", e))
}

/// Imports a timeline semaphore. If this succeeds, the driver owns the file descriptor.
pub(super) fn import_semaphore(core: &Core, fd: i32) -> Result<vk::Semaphore> {
    descriptor::check(fd, "a semaphore")?;
    check_semaphores(core, vk::ExternalSemaphoreFeatureFlags::IMPORTABLE)?;
    let made = semaphore(core, false)?;
    let functions = khr::external_semaphore_fd::Device::new(&core.instance, &core.raw);
    let info = vk::ImportSemaphoreFdInfoKHR::default().semaphore(made).handle_type(SEMAPHORE).fd(fd);
    // SAFETY: the semaphore is new. The program vouches for the file descriptor.
    unsafe { functions.import_semaphore_fd(&info) }.map_err(|e| {
        // SAFETY: the semaphore was never used.
        unsafe { core.raw.destroy_semaphore(made, None) };
        Error::invalid(format!(
            "{} does not accept file descriptor {fd} for a timeline semaphore (Vulkan returned {e:?}); pass a file \
             descriptor that the same driver has exported",
            core.physical.name
        ))
    })?;
    Ok(made)
}

/// A new file descriptor for a semaphore.
pub(super) fn semaphore_fd(core: &Core, semaphore: vk::Semaphore) -> Result<i32> {
    check_semaphores(core, vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
    let functions = khr::external_semaphore_fd::Device::new(&core.instance, &core.raw);
    let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore).handle_type(SEMAPHORE);
    // SAFETY: the program promises that the semaphore was created as exportable.
    unsafe { functions.get_semaphore_fd(&info) }.map_err(|e| core.failed("vkGetSemaphoreFdKHR", e))
}
