//! Import of host memory as device memory (`VK_EXT_external_memory_host`): checks whether a device supports it, and finds the
//! pages to import. `memory` creates the buffers.

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

/// The usage flags of every buffer.
pub(super) const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        // For programs that draw computed data.
        | vk::BufferUsageFlags::VERTEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw(),
);

/// The alignment of imported addresses. Copy kernels and the smallest elements need it.
const WORD: u64 = 4;

/// Imports host memory on a device.
pub(super) struct Importer {
    functions: external_memory_host::Device,
    /// True if imported memory must be dedicated to one buffer.
    pub dedicated: bool,
    alignment: u64,
    page: u64,
    live: AtomicU32,
}

/// The range of whole pages that contains a span.
pub(super) struct Pages {
    /// The first byte.
    pub start: *mut u8,
    /// Number of bytes.
    pub size: u64,
    /// The offset of the span in this range.
    pub base: u64,
}

impl Importer {
    /// `None` if the driver cannot import host memory.
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

    /// The pages to import for `span`; fails if `span` cannot be imported.
    pub fn range(&self, span: HostSpan, limits: &Limits) -> Result<Pages> {
        // At most half of the driver's allocations are imports; the rest is for device memory.
        if self.live.load(Ordering::Relaxed) >= limits.max_allocations / 2 {
            return Err(Error::unsupported("the limit of imported allocations of the device is reached"));
        }
        let (base, size) = aligned_range(span.address(), span.len(), self.alignment, self.page)?;
        if size > limits.max_allocation || limits.max_buffer.is_some_and(|most| size > most) {
            return Err(Error::unsupported("the memory is larger than the device's largest buffer"));
        }
        Ok(Pages { start: span.as_ptr().wrapping_sub(base as usize), size, base })
    }

    /// The memory types (a bit mask) that memory at `start` can have when it is imported.
    ///
    /// # Safety
    /// `start` points into memory of this process and has the alignment that the device requires.
    pub unsafe fn memory_types(&self, start: *mut u8) -> ash::prelude::VkResult<u32> {
        let mut properties = vk::MemoryHostPointerPropertiesEXT::default();
        let query = self.functions.fp().get_memory_host_pointer_properties_ext;
        // SAFETY: the device is alive and the extension enabled; the caller vouches for the pointer.
        let answer = unsafe { query(self.functions.device(), HOST_ALLOCATION, start.cast(), &mut properties) };
        match answer {
            vk::Result::SUCCESS => Ok(properties.memory_type_bits),
            e => Err(e),
        }
    }

    /// Adds an import to the count of live imports (`made` is true), or removes one.
    pub fn count(&self, made: bool) {
        if made {
            self.live.fetch_add(1, Ordering::Relaxed);
        } else {
            self.live.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Finds the smallest aligned range that contains the `len` bytes at `address`. Returns the offset of the bytes in the range, and the
/// size of the range. The range includes only pages that these bytes touch, because other pages may not be mapped.
fn aligned_range(address: u64, len: u64, alignment: u64, page: u64) -> Result<(u64, u64)> {
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
