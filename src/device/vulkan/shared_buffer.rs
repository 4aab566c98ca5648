//! Buffers over memory that is shared by file descriptor.

#![allow(unsafe_code)]

use super::core::Core;
use super::descriptor;
use super::import::USAGE;
use super::memory::{VulkanBuffer, describe};
use super::shared::{MEMORY, SharedMemory, refusal};
use crate::error::{Error, Result};
use ash::vk;
use std::sync::Arc;

/// Fails if the device does not support the feature `wanted` (export or import) for buffers.
fn check_buffers(core: &Core, wanted: vk::ExternalMemoryFeatureFlags) -> Result<()> {
    let mut found = vk::ExternalBufferProperties::default();
    let info = vk::PhysicalDeviceExternalBufferInfo::default().usage(USAGE).handle_type(MEMORY);
    if core.physical.extensions.external_memory_fd {
        // SAFETY: the handle is of this instance; the usage is not empty.
        unsafe {
            let handle = core.physical.handle;
            core.instance.get_physical_device_external_buffer_properties(handle, &info, &mut found);
        }
    }
    let able = found.external_memory_properties.external_memory_features.contains(wanted);
    if able { Ok(()) } else { Err(refusal(core, "memory of buffers", "VK_KHR_external_memory_fd")) }
}

/// A buffer of `size` bytes. Without `from`, it has new, exportable memory. With `from`, its memory is imported.
/// The driver takes over a duplicate of the file descriptor, because the import of the array may still fail after that.
pub(super) fn buffer(
    core: &Arc<Core>,
    size: u64,
    from: Option<&SharedMemory>,
    label: &str,
) -> Result<Arc<VulkanBuffer>> {
    use vk::ExternalMemoryFeatureFlags as F;
    core.check_alive()?;
    from.map_or(Ok(()), |f| descriptor::check(f.fd, "memory"))?;
    check_buffers(core, if from.is_some() { F::IMPORTABLE } else { F::EXPORTABLE })?;
    let whole = from.map_or(size, |f| f.offset.saturating_add(size));
    if let Some(f) = from.filter(|f| whole > f.allocation_size) {
        return Err(Error::runtime(format!(
            "{size} bytes from byte {} on were requested, but the shared memory has only {} bytes",
            f.offset, f.allocation_size
        )));
    }
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(MEMORY);
    // SAFETY: the device is alive and can share such buffers.
    let raw = unsafe { core.raw.create_buffer(&describe(core, whole).push_next(&mut external), None) }
        .map_err(|e| core.failed("vkCreateBuffer", e))?;
    // SAFETY: the buffer is alive.
    let needs = unsafe { core.raw.get_buffer_memory_requirements(raw) };
    let memory_type = match from {
        Some(f) => Some(f.memory_type).filter(|t| *t < 32),
        None => Some(core.physical.memory_types.device),
    };
    let fits = |t: &u32| needs.memory_type_bits & 1 << t != 0;
    let allocated = match memory_type.filter(fits) {
        Some(memory_type) => allocate(core, raw, needs.size, memory_type, from),
        None => Err(Error::unsupported(format!(
            "{} cannot share this memory: its memory type {memory_type:?} does not support buffers",
            core.physical.name
        ))),
    };
    let (memory, shared) = allocated.inspect_err(|_| {
        // SAFETY: the buffer was never used.
        unsafe { core.raw.destroy_buffer(raw, None) };
    })?;
    let made = VulkanBuffer::over_memory(core, raw, memory, size, shared);
    made.map_err(|e| e.context(label))
}

fn allocate(
    core: &Core,
    raw: vk::Buffer,
    needed: u64,
    memory_type: u32,
    from: Option<&SharedMemory>,
) -> Result<(vk::DeviceMemory, SharedMemory)> {
    let size = from.map_or(needed, |f| f.allocation_size);
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(MEMORY);
    let imported = from.map(|f| descriptor::duplicate(f.fd)).transpose()?;
    let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(MEMORY).fd(imported.unwrap_or(-1));
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(raw);
    let info =
        vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(memory_type).push_next(&mut flags);
    let info = if from.is_none_or(|f| f.dedicated) { info.push_next(&mut dedicated) } else { info };
    let info = if from.is_some() { info.push_next(&mut import) } else { info.push_next(&mut export) };
    // SAFETY: the buffer supports the memory type. The program vouches for the file descriptor.
    let allocated = unsafe { core.raw.allocate_memory(&info, None) };
    if let Some(fd) = imported.filter(|_| allocated.is_err()) {
        // SAFETY: the descriptor is new, and the driver has not taken it over.
        unsafe { descriptor::close(fd) };
    }
    let memory = allocated.map_err(|e| match e {
        vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => Error::invalid(format!(
            "{} does not accept file descriptor {} for memory; pass a file descriptor that the same driver has \
             exported and that was not imported before",
            core.physical.name,
            from.map_or(-1, |f| f.fd)
        )),
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => Error::out_of_memory(format!(
            "{size} bytes of shared memory could not be allocated on {}; free arrays or use smaller ones",
            core.physical.name
        )),
        e => core.failed("vkAllocateMemory", e),
    })?;
    let shared = SharedMemory {
        fd: -1,
        allocation_size: size,
        offset: from.map_or(0, |f| f.offset),
        size: 0,
        memory_type,
        dedicated: from.is_none_or(|f| f.dedicated),
    };
    Ok((memory, shared))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::super::device::VulkanDevice;
    use super::super::instance::instance;
    use super::super::physical::physical_devices;
    use super::*;
    use crate::config;

    /// The import of the array may still fail. The program then closes its descriptor.
    #[test]
    fn an_imported_buffer_leaves_the_descriptor_to_the_program() {
        let Ok(instance) = instance() else { return println!("SKIPPED: no Vulkan here") };
        for physical in physical_devices(instance, config::get()).unwrap().iter().filter(|p| p.usable.is_ok()) {
            let device = VulkanDevice::open(physical).unwrap();
            let Ok(exported) = buffer(device.core(), 64, None, "test") else {
                println!("SKIPPED: {} cannot share memory", physical.name);
                continue;
            };
            let memory = exported.export().unwrap();
            drop(buffer(device.core(), 64, Some(&memory), "test").unwrap());
            // SAFETY: the call fails for numbers that are no descriptors, and nothing else uses the exported one.
            assert_eq!(unsafe { libc::close(memory.fd) }, 0, "{}", physical.name);
        }
    }
}
