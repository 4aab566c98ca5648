//! Memory of the host as device memory (`VK_EXT_external_memory_host`): whether a device accepts it, and which range of
//! pages must be imported. `memory` makes the buffers.

#![allow(unsafe_code)]

use super::instance::Instance;
use super::physical::{Limits, Physical};
use crate::error::{Error, Result};
use crate::host::HostSpan;
use crate::host::system::page_size;
use ash::ext::external_memory_host;
use ash::vk;
use std::sync::atomic::{AtomicU32, Ordering};

/// The handle type of host memory.
pub(super) const HOST_ALLOCATION: vk::ExternalMemoryHandleTypeFlags =
    vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

/// Every usage that a buffer may have.
pub(super) const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        // For programs that draw what was computed.
        | vk::BufferUsageFlags::VERTEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw(),
);

/// Alignment that copy kernels and the smallest elements need of addresses.
const WORD: u64 = 4;

/// What a device needs to import memory of the host.
pub(super) struct Importer {
    functions: external_memory_host::Device,
    /// True if imported memory must be dedicated to one buffer.
    pub dedicated: bool,
    alignment: u64,
    page: u64,
    live: AtomicU32,
}

/// Whole pages around a span.
pub(super) struct Pages {
    /// The first byte.
    pub start: *mut u8,
    /// Number of bytes.
    pub size: u64,
    /// The span's offset in them.
    pub base: u64,
}

impl Importer {
    /// `None` if the driver imports no host memory.
    pub fn new(instance: &Instance, physical: &Physical, device: &ash::Device) -> Option<Self> {
        let alignment = physical.limits.import_alignment;
        if !physical.extensions.external_memory_host || !alignment.is_power_of_two() {
            return None;
        }
        let info = vk::PhysicalDeviceExternalBufferInfo::default().usage(USAGE).handle_type(HOST_ALLOCATION);
        let mut properties = vk::ExternalBufferProperties::default();
        // SAFETY: the handle is of this instance; the usage is not empty.
        unsafe {
            let raw = &instance.raw;
            raw.get_physical_device_external_buffer_properties(physical.handle, &info, &mut properties);
        }
        let features = properties.external_memory_properties.external_memory_features;
        if !features.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE) {
            crate::log!(Debug, "{} cannot import host memory for buffers ({features:?})", physical.name);
            return None;
        }
        let functions = external_memory_host::Device::new(&instance.raw, device);
        let dedicated = features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY);
        Some(Self { functions, dedicated, alignment, page: page_size(), live: AtomicU32::new(0) })
    }

    /// The pages to import for `span`; fails if it cannot be imported.
    pub fn range(&self, span: HostSpan, limits: &Limits) -> Result<Pages> {
        // The driver may refuse more, or fail; the other half is left for the device's own memory.
        if self.live.load(Ordering::Relaxed) >= limits.max_allocations / 2 {
            return Err(Error::unsupported("the limit of imported allocations of the device is reached"));
        }
        let (base, size) = around(span.address(), span.len(), self.alignment, self.page)?;
        if size > limits.max_allocation || limits.max_buffer.is_some_and(|most| size > most) {
            return Err(Error::unsupported("the memory is larger than the device's largest buffer"));
        }
        Ok(Pages { start: span.as_ptr().wrapping_sub(base as usize), size, base })
    }

    /// The memory types, as bits, with which memory at `start` can be imported.
    ///
    /// # Safety
    /// `start` is aligned as the device asks, in memory of this process.
    pub unsafe fn memory_types(&self, start: *mut u8) -> ash::prelude::VkResult<u32> {
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        let ask = self.functions.fp().get_memory_host_pointer_properties_ext;
        // SAFETY: the device is alive and the extension enabled; the pointer is as the caller promised.
        let answer = unsafe { ask(self.functions.device(), HOST_ALLOCATION, start.cast(), &mut properties) };
        match answer {
            vk::Result::SUCCESS => Ok(properties.memory_type_bits),
            e => Err(e),
        }
    }

    /// Counts an import that was made or released.
    pub fn count(&self, made: bool) {
        if made {
            self.live.fetch_add(1, Ordering::Relaxed);
        } else {
            self.live.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The offset of the `len` bytes at `address` in the smallest aligned range around them, and its size. The range never goes
/// beyond the pages they touch: memory there may not be mapped.
fn around(address: u64, len: u64, alignment: u64, page: u64) -> Result<(u64, u64)> {
    if len == 0 || address == 0 || address % WORD != 0 {
        return Err(Error::unsupported("the memory is empty or not aligned to 4 bytes"));
    }
    let base = address % alignment;
    let size = base.checked_add(len).and_then(|n| n.checked_next_multiple_of(alignment));
    let size = size.filter(|n| (address - base).checked_add(*n).is_some());
    let size = size.ok_or_else(|| Error::unsupported("the memory ends beyond the address space"))?;
    if alignment > page && (base, size) != (0, len) {
        return Err(Error::unsupported(format!(
            "the memory is not aligned to {alignment} bytes, which is more than a page"
        )));
    }
    Ok((base, size))
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
