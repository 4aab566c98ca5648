//! The memory of a device. Small buffers share blocks, because vkAllocateMemory is slow. Large buffers have dedicated memory, which is
//! freed with the buffer. Up to [`SPARE`] bytes of freed dedicated memory are kept for the next buffers of the same size.

#![allow(unsafe_code)]

use super::instance::Instance;
use super::physical::Physical;
use ash::vk;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationError, AllocationSizes, AllocatorDebugSettings, MemoryLocation};
use std::collections::VecDeque;

/// Bytes of the first block of a memory type. Further blocks are larger.
const FIRST_BLOCK: u64 = 16 << 20;
/// Bytes of the largest block.
const LARGEST_BLOCK: u64 = 32 << 20;
/// Buffers of at least this many bytes have dedicated memory. In a shared block, their memory would stay allocated as long as a
/// small buffer uses the block.
const DEDICATED_BYTES: u64 = 1 << 20;
/// The alignment of the start and the end of buffers in shared blocks, so that two buffers never share a cache line. Otherwise a
/// counter to which all threads add would slow down reads of the neighbouring buffer.
const LINE: u64 = 256;
/// The maximum number of bytes of freed memory that is kept for the next buffers of the same size.
const SPARE: u64 = 16 << 20;
/// The memory that is allocated from the driver is at most 1.1 times the memory in use plus this many bytes. These
/// bytes are for the blocks that stay allocated (one for each memory type that small buffers use) and for the spare
/// memory.
pub(super) const SLACK: u64 = LARGEST_BLOCK + FIRST_BLOCK + SPARE;

/// A buffer and the memory to which it is bound.
pub(super) struct BoundMemory {
    /// Vulkan's handle.
    pub raw: vk::Buffer,
    pub allocation: Allocation,
    memory_type: u32,
    size: u64,
}

/// The memory of a device.
pub(super) struct MemoryPool {
    device: ash::Device,
    allocator: Allocator,
    /// Freed buffers with dedicated memory, oldest first.
    spare: VecDeque<BoundMemory>,
    used: u64,
    /// The number of dedicated allocations.
    own: u32,
    /// The maximum number of dedicated allocations. Drivers limit the number of all allocations.
    max_dedicated: u32,
}

impl MemoryPool {
    /// An empty pool.
    pub fn new(instance: &Instance, device: &ash::Device, physical: &Physical) -> Result<Self, AllocationError> {
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw.clone(),
            device: device.clone(),
            physical_device: physical.handle,
            debug_settings: AllocatorDebugSettings::default(),
            buffer_device_address: true,
            allocation_sizes: AllocationSizes::new(FIRST_BLOCK, FIRST_BLOCK)
                .with_max_device_memblock_size(LARGEST_BLOCK)
                .with_max_host_memblock_size(LARGEST_BLOCK),
        })?;
        // Half of the driver's limit is left for imports, and a quarter for shared blocks.
        let max_dedicated = physical.limits.max_allocations / 4;
        Ok(Self { device: device.clone(), allocator, spare: VecDeque::new(), used: 0, own: 0, max_dedicated })
    }

    /// Bytes in use, and bytes allocated from the driver.
    pub fn bytes(&self) -> (u64, u64) {
        (self.used, self.allocator.capacity())
    }

    /// A freed buffer with exactly this memory type and size.
    pub fn reuse(&mut self, memory_type: u32, size: u64) -> Option<BoundMemory> {
        let at = self.spare.iter().position(|s| s.memory_type == memory_type && s.size == size)?;
        let found = self.spare.remove(at)?;
        self.used += found.allocation.size();
        Some(found)
    }

    /// Memory for the new buffer `raw` of `size` bytes. The caller binds the memory.
    pub fn allocate(
        &mut self,
        raw: vk::Buffer,
        memory_type: u32,
        size: u64,
        label: &str,
    ) -> Result<BoundMemory, AllocationError> {
        // SAFETY: the buffer is alive, by the caller.
        let mut requirements = unsafe { self.device.get_buffer_memory_requirements(raw) };
        requirements.memory_type_bits &= 1 << memory_type;
        if requirements.size < DEDICATED_BYTES {
            requirements.alignment = requirements.alignment.max(LINE);
            requirements.size = requirements.size.next_multiple_of(LINE);
        }
        let allocation = self.allocate_for(requirements, AllocationScheme::DedicatedBuffer(raw), label)?;
        Ok(BoundMemory { raw, allocation, memory_type, size })
    }

    /// Memory with these requirements: dedicated if it is large, else a part of a block.
    fn allocate_for(
        &mut self,
        requirements: vk::MemoryRequirements,
        dedicated: AllocationScheme,
        label: &str,
    ) -> Result<Allocation, AllocationError> {
        let linear = !matches!(dedicated, AllocationScheme::DedicatedImage(_));
        let own = requirements.size >= DEDICATED_BYTES && self.own < self.max_dedicated;
        let description = AllocationCreateDesc {
            name: label,
            requirements,
            // Unused: the mask in `requirements` selects the type.
            location: MemoryLocation::Unknown,
            linear,
            allocation_scheme: if own { dedicated } else { AllocationScheme::GpuAllocatorManaged },
        };
        let mut made = self.allocator.allocate(&description);
        if made.is_err() && !self.spare.is_empty() {
            self.drop_spare();
            made = self.allocator.allocate(&description);
        }
        let allocation = made?;
        self.used += allocation.size();
        self.own += u32::from(allocation.is_dedicated());
        Ok(allocation)
    }

    /// Memory for the new image `raw`, of the type `wanted` if the image supports it. The caller binds the memory.
    pub fn allocate_image(
        &mut self,
        raw: vk::Image,
        types: &vk::PhysicalDeviceMemoryProperties,
        wanted: u32,
        label: &str,
    ) -> Result<Allocation, AllocationError> {
        // SAFETY: the image is alive, by the caller.
        let mut requirements = unsafe { self.device.get_image_memory_requirements(raw) };
        let allowed = |i: &u32| requirements.memory_type_bits & 1 << i != 0;
        let local = |i: &u32| {
            let found = types.memory_types_as_slice().get(*i as usize);
            found.is_some_and(|t| t.property_flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL))
        };
        let one = Some(wanted).filter(allowed).or_else(|| (0..types.memory_type_count).filter(allowed).find(local));
        if let Some(one) = one {
            requirements.memory_type_bits = 1 << one;
        }
        self.allocate_for(requirements, AllocationScheme::DedicatedImage(raw), label)
    }

    /// Frees the memory of a destroyed image.
    pub fn free_image(&mut self, allocation: Allocation) {
        self.used -= allocation.size();
        self.own -= u32::from(allocation.is_dedicated());
        if let Err(e) = self.allocator.free(allocation) {
            crate::log!(Error, "memory could not be freed: {e}");
        }
    }

    /// Frees a buffer that nobody uses any more, or keeps it as spare memory.
    pub fn free(&mut self, bound: BoundMemory) {
        self.used -= bound.allocation.size();
        if !bound.allocation.is_dedicated() || bound.size > SPARE {
            return self.destroy(bound);
        }
        self.spare.push_back(bound);
        while self.spare.iter().map(|s| s.allocation.size()).sum::<u64>() > SPARE {
            if let Some(oldest) = self.spare.pop_front() {
                self.destroy(oldest);
            }
        }
    }

    /// Destroys a buffer that could not be bound.
    pub fn discard(&mut self, bound: BoundMemory) {
        self.used -= bound.allocation.size();
        self.destroy(bound);
    }

    /// Frees the spare memory.
    pub fn drop_spare(&mut self) {
        while let Some(bound) = self.spare.pop_front() {
            self.destroy(bound);
        }
    }

    fn destroy(&mut self, bound: BoundMemory) {
        // SAFETY: the caller that freed the buffer promised that nobody uses it.
        unsafe { self.device.destroy_buffer(bound.raw, None) };
        self.own -= u32::from(bound.allocation.is_dedicated());
        if let Err(e) = self.allocator.free(bound.allocation) {
            crate::log!(Error, "memory could not be freed: {e}");
        }
    }
}

impl Drop for MemoryPool {
    fn drop(&mut self) {
        self.drop_spare();
    }
}

#[cfg(test)]
mod tests {
    use super::super::device::VulkanDevice;
    use super::super::instance::instance;
    use super::super::physical::physical_devices;
    use super::*;
    use crate::device::{Device, Placement};

    #[test]
    fn no_two_buffers_share_a_line() {
        let Ok(instance) = instance() else {
            eprintln!("SKIPPED: no Vulkan");
            return;
        };
        for physical in physical_devices(instance, crate::config::get()).unwrap() {
            if physical.usable.is_err() {
                continue;
            }
            let device = VulkanDevice::open(&physical).unwrap();
            let buffers: Vec<_> = [4, 32, 260, 4, DEDICATED_BYTES - 4, 64, DEDICATED_BYTES, 4]
                .map(|bytes| (bytes, device.allocate(bytes, Placement::Device, "line").unwrap()))
                .into();
            let lines = |(bytes, buffer): &(u64, std::sync::Arc<dyn crate::device::Buffer>)| {
                let at = buffer.device_address().unwrap();
                (at / LINE, (at + bytes - 1) / LINE)
            };
            let mut used: Vec<(u64, u64)> = buffers.iter().map(lines).collect();
            used.sort_unstable();
            assert!(used.windows(2).all(|pair| pair[0].1 < pair[1].0), "{used:?}");
        }
    }
}
