//! Buffers: each a `VkBuffer` with an address, in pooled memory of a type chosen by its purpose.

#![allow(unsafe_code)]

use super::core::Core;
use crate::device::hazard::Tracker;
use crate::device::{Buffer, HostSpan, unique_id};
use crate::error::{Error, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;

/// Every use a buffer can be put to.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// A buffer of a Vulkan device.
pub(super) struct VulkanBuffer {
    id: u64,
    /// The device it belongs to.
    pub core: Arc<Core>,
    /// Vulkan's handle.
    pub raw: vk::Buffer,
    /// Its device address.
    pub address: u64,
    size: u64,
    host: Option<HostSpan>,
    /// Device memory the host writes fast and reads very slowly: for small uploads.
    pub window: Option<HostSpan>,
    /// True if it lies in the host's memory.
    pub staging: bool,
    tracker: Tracker,
    allocation: Mutex<Option<Allocation>>,
}

/// How the host addresses a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mapping {
    /// Not at all.
    None,
    /// As ordinary memory.
    Host,
    /// Only to write small pieces.
    Window,
}

/// What memory a buffer wants.
pub(super) struct Wanted {
    /// Index of the memory type.
    pub memory_type: u32,
    /// How the host addresses it.
    pub mapped: Mapping,
    /// True if it lies in the host's memory.
    pub staging: bool,
}

impl VulkanBuffer {
    /// A new buffer of `size` bytes.
    pub fn new(core: &Arc<Core>, size: u64, wanted: &Wanted, label: &str) -> Result<Arc<Self>> {
        core.check_alive()?;
        let name = &core.physical.name;
        let memory = || {
            Error::out_of_memory(format!(
                "{label}: {size} bytes could not be allocated on {name}, which has {} MiB of memory; free arrays or \
                 use smaller ones",
                core.physical.properties.dedicated_memory / 1024
            ))
        };
        if let Some(most) = core.physical.limits.max_buffer
            && size > most
        {
            return Err(Error::out_of_memory(format!(
                "{label}: {size} bytes are more than a buffer of {name} may have, {most}"
            )));
        }
        if core.count_allocation() {
            return Err(memory().context("REVAMP_TEST=fail-alloc"));
        }
        let info = vk::BufferCreateInfo::default().size(size).usage(USAGE);
        let info = if core.families.len() > 1 {
            info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&core.families)
        } else {
            info
        };
        // SAFETY: the device is alive; the families are its own.
        let raw = unsafe { core.raw.create_buffer(&info, None) }.map_err(|e| match e {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => memory(),
            e => core.failed("vkCreateBuffer", e),
        })?;
        // SAFETY: the buffer is alive.
        let mut requirements = unsafe { core.raw.get_buffer_memory_requirements(raw) };
        requirements.memory_type_bits &= 1 << wanted.memory_type;
        let allocation = core.allocator.lock().allocate(&AllocationCreateDesc {
            name: label,
            requirements,
            // The one type left in the mask decides.
            location: MemoryLocation::Unknown,
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        });
        let allocation = match allocation {
            Ok(a) => a,
            Err(e) => {
                // SAFETY: the buffer was never used.
                unsafe { core.raw.destroy_buffer(raw, None) };
                crate::log!(Info, "{label}: {size} bytes of memory type {}: {e}", wanted.memory_type);
                return Err(memory());
            }
        };
        // SAFETY: the allocation is for this buffer, of a type it allows, and bound once.
        let bound = unsafe { core.raw.bind_buffer_memory(raw, allocation.memory(), allocation.offset()) };
        // SAFETY: the mapping covers the allocation, which lives as long as the buffer.
        let span = allocation.mapped_ptr().map(|p| unsafe { HostSpan::new(p.as_ptr().cast(), size) });
        let mut buffer = Self {
            id: unique_id(),
            core: core.clone(),
            raw,
            address: 0,
            size,
            host: span.filter(|_| wanted.mapped == Mapping::Host),
            window: span.filter(|_| wanted.mapped == Mapping::Window),
            staging: wanted.staging,
            tracker: Tracker::new(),
            allocation: Mutex::new(Some(allocation)),
        };
        // From here on dropping the buffer frees all.
        bound.map_err(|e| core.failed("vkBindBufferMemory", e))?;
        if wanted.mapped == Mapping::Host && buffer.host.is_none() {
            return Err(Error::internal(format!("memory type {} of {name} is not mapped", wanted.memory_type)));
        }
        // SAFETY: the buffer was made with SHADER_DEVICE_ADDRESS and is bound.
        buffer.address =
            unsafe { core.raw.get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(raw)) };
        Ok(Arc::new(buffer))
    }

    /// The Vulkan buffer behind `buffer`, if it is one of `core`.
    pub fn of<'a>(buffer: &'a Arc<dyn Buffer>, core: &Core) -> Result<&'a Self> {
        match buffer.as_any().downcast_ref::<Self>() {
            Some(b) if b.core.id == core.id => Ok(b),
            _ => Err(Error::internal("a buffer of another device reached a queue")),
        }
    }
}

impl Buffer for VulkanBuffer {
    fn id(&self) -> u64 {
        self.id
    }
    fn size(&self) -> u64 {
        self.size
    }
    fn host(&self) -> Option<HostSpan> {
        self.host
    }
    fn device_address(&self) -> Option<u64> {
        Some(self.address)
    }
    fn tracker(&self) -> &Tracker {
        &self.tracker
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for VulkanBuffer {
    fn drop(&mut self) {
        // SAFETY: queues hold the buffers of unfinished work, so none uses this one.
        unsafe { self.core.raw.destroy_buffer(self.raw, None) };
        if let Some(allocation) = self.allocation.lock().take()
            && let Err(e) = self.core.allocator.lock().free(allocation)
        {
            crate::log!(Error, "memory could not be freed: {e}");
        }
    }
}
