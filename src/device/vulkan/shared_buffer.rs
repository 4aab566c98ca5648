//! Buffers over memory that is shared with others by file descriptor.

#![allow(unsafe_code)]

use super::core::Core;
use super::descriptor;
use super::import::USAGE;
use super::memory::{VulkanBuffer, describe};
use super::shared::{MEMORY, SharedMemory, refusal};
use crate::error::{Error, Result};
use ash::vk;
use std::sync::Arc;

/// Fails if the device cannot do `wanted` with buffers.
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

/// Memory of its own for a buffer of `size` bytes that others can import, or, with `from`, such memory of others.
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
            "{size} bytes from byte {} on were requested, but the shared memory has {} bytes",
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
    let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(MEMORY).fd(from.map_or(-1, |f| f.fd));
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
    let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(raw);
    let info =
        vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(memory_type).push_next(&mut flags);
    let info = if from.is_none_or(|f| f.dedicated) { info.push_next(&mut dedicated) } else { info };
    let info = if from.is_some() { info.push_next(&mut import) } else { info.push_next(&mut export) };
    // SAFETY: the memory type is one that the buffer allows; the file descriptor is what the program says.
    let memory = unsafe { core.raw.allocate_memory(&info, None) }.map_err(|e| match e {
        vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => Error::invalid(format!(
            "{} does not accept file descriptor {} for memory; pass one that the same driver has exported and that was \
             not imported before",
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
