//! The traits [`Device`] and [`PhysicalDevice`] for Vulkan devices.

use super::commands::ViewQueue;
use super::core::Core;
use super::device_copy::CopyKernels;
use super::image::{check_device, refusal};
use super::image_copy;
use super::instance::instance;
use super::memory::{AllocationRequest, Mapping, VulkanBuffer};
use super::physical::{ACCESS_READ_WRITE, Physical};
use super::pipeline::VulkanKernel;
use super::pool;
use super::queue::{Lane, VulkanQueue};
use super::timeline::Submitter;
use super::transfer::Transfers;
use crate::device::hazard::Point;
use crate::device::physical::{DeviceKind, Hardware, PhysicalDevice, Properties, c_text};
use crate::device::workgroups::FoundWorkgroups;
use crate::device::{Buffer, Device, Direction, Kernel, MemoryUsage, Placement, Queue};
use crate::error::{Error, Result};
use crate::geometry::{CopyPlan, TextureShape};
use crate::host::HostSpan;
use crate::kernel::{FloatModes, KernelForm, Module};
use crate::lock::{Mutex, rank};
use ash::vk::SubgroupFeatureFlags as Subgroup;
use smallvec::SmallVec;
use std::any::Any;
use std::sync::{Arc, Weak};

/// Allocations of at least this many bytes first release the memory that finished work still holds.
const RECLAIM: u64 = 1 << 20;

/// If all device memory is host-visible (resizable BAR), buffers of at most this many bytes are mapped, so that the host can
/// write them. Larger buffers would use up the address range of the BAR.
const MAX_WINDOW_BYTES: u64 = 1 << 30;

/// SPIR-V of the copy kernels, compiled by scripts/shaders. The numbers are the bytes that a thread copies at a time.
const COPY16: &[u8] = include_bytes!("shaders/copy16.spv");
const COPY4: &[u8] = include_bytes!("shaders/copy4.spv");

/// An open Vulkan device.
pub struct VulkanDevice {
    core: Arc<Core>,
    copies: Arc<CopyKernels>,
    transfers: Arc<Transfers>,
    queues: Mutex<Vec<Weak<VulkanQueue>>, { rank::QUEUES }>,
}

impl VulkanDevice {
    /// Opens `physical`.
    pub fn open(physical: &Physical) -> Result<Arc<Self>> {
        Self::wrap(Core::open(physical)?)
    }

    /// Wraps an open device.
    pub(super) fn wrap(core: Core) -> Result<Arc<Self>> {
        let core = Arc::new(core);
        let load = |spirv| VulkanKernel::new(&core, &Arc::new(Module::new(spirv, None)?), "").map(Arc::new);
        let copies = Arc::new(CopyKernels { wide: load(COPY16)?, narrow: load(COPY4)? });
        let transfers = Arc::new(Transfers::new(&core, &copies));
        Ok(Arc::new(Self { core, copies, transfers, queues: Mutex::new(Vec::new()) }))
    }

    #[cfg(test)]
    pub(super) fn transfers(&self) -> &Transfers {
        &self.transfers
    }

    /// The state that all objects of the device share.
    pub(super) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The queues that are alive, including those for transfers.
    fn live_queues(&self) -> Vec<Arc<VulkanQueue>> {
        let mut queues = self.queues.lock();
        queues.retain(|q| q.strong_count() > 0);
        queues.iter().filter_map(Weak::upgrade).chain(self.transfers.made()).collect()
    }
}

fn view_queue(queue: &dyn Queue) -> Result<&ViewQueue> {
    let found = queue.as_any().downcast_ref::<ViewQueue>();
    found.ok_or_else(|| Error::internal("a transfer got a queue of another kind of device"))
}

impl Physical {
    fn hardware(&self) -> Hardware {
        let f = &self.features;
        let has = |operation| self.limits.subgroup_operations.contains(operation);
        // In the order of the C API's REVAMP_FEATURE_ bits.
        let features = [
            f.storage_buffer_8bit_access,
            f.storage_buffer_16bit_access,
            f.uniform_and_storage_buffer_8bit_access,
            f.uniform_and_storage_buffer_16bit_access,
            f.storage_push_constant8,
            f.storage_push_constant16,
            f.shader_int8,
            f.shader_int16,
            f.shader_int64,
            f.shader_float16,
            f.shader_float64,
            f.shader_buffer_int64_atomics,
            f.shader_shared_int64_atomics,
            f.shader_buffer_float32_atomics,
            f.shader_buffer_float32_atomic_add,
            f.shader_buffer_float64_atomics,
            f.shader_buffer_float64_atomic_add,
            f.shader_shared_float32_atomics,
            f.shader_shared_float32_atomic_add,
            f.shader_shared_float64_atomics,
            f.shader_shared_float64_atomic_add,
            f.scalar_block_layout,
            f.vulkan_memory_model,
            f.variable_pointers,
            f.shader_integer_dot_product,
            has(Subgroup::VOTE),
            has(Subgroup::ARITHMETIC),
            has(Subgroup::BALLOT),
            has(Subgroup::SHUFFLE),
            has(Subgroup::SHUFFLE_RELATIVE),
            has(Subgroup::CLUSTERED),
            has(Subgroup::QUAD),
        ];
        let set = |bits, (n, &has): (usize, &bool)| bits | u64::from(has) << n;
        Hardware {
            vendor_id: self.vendor_id,
            device_id: self.device_id,
            device_type: self.device_type,
            driver_id: self.driver_id.as_raw() as u32,
            driver_version: self.driver_version,
            api_version: self.api_version,
            uuid: self.uuid,
            subgroup_size: self.limits.subgroup_size,
            min_subgroup_size: self.limits.subgroup_sizes[0],
            max_subgroup_size: self.limits.subgroup_sizes[1],
            max_workgroup_count: self.limits.max_groups,
            features: features.iter().enumerate().fold(0, set),
        }
    }
}

impl PhysicalDevice for Physical {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Vulkan
    }

    fn properties(&self) -> Properties {
        let (a, l) = (&self.properties, &self.limits);
        let instance = instance();
        Properties {
            device_path: c_text(&self.device_path),
            description: c_text(&self.name),
            unusable: self.usable.as_ref().err().map(|why| c_text(why)),
            compiles_only: self.compiles_only,
            driver: c_text(&self.driver),
            version: a.version,
            dedicated_memory_kb: usize::try_from(a.dedicated_memory).unwrap_or(usize::MAX),
            has_display: instance.as_ref().is_ok_and(|i| self.has_display(i)),
            is_debug: instance.as_ref().is_ok_and(|i| i.validation),
            is_emulated: a.is_emulated,
            double_precision: a.supports_double_precision,
            limited_double_precision: a.supports_double_precision,
            cpu_shared_memory: a.supports_cpu_shared_memory,
            max_workgroup_invocations: l.max_workgroup_invocations,
            max_workgroup_size: l.max_workgroup_size,
            max_workgroup_memory: l.shared_memory,
            max_push_constants: l.push_constants,
            max_storage_buffer_range: l.storage_buffer_range,
            min_storage_buffer_alignment: l.storage_buffer_offset_alignment,
            max_uniform_buffer_range: l.uniform_buffer_range,
            min_uniform_buffer_alignment: l.uniform_buffer_offset_alignment,
            shared_by_default: a.default_cpu_access_type == ACCESS_READ_WRITE,
            hardware: self.hardware(),
        }
    }

    fn uuid(&self) -> Option<[u8; 16]> {
        Some(self.uuid)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn open(&self) -> Result<Arc<dyn Device>> {
        VulkanDevice::open(self).map(|d| d as Arc<dyn Device>)
    }
}

impl Device for VulkanDevice {
    fn id(&self) -> u64 {
        self.core.id
    }

    fn runs_host_code(&self) -> bool {
        false
    }

    fn shares_memory(&self) -> bool {
        self.core.physical.memory_types.unified
    }

    fn float_modes(&self) -> FloatModes {
        self.core.physical.limits.float_modes
    }

    fn kernel_form(&self) -> KernelForm {
        self.core.physical.kernel_form()
    }

    fn allocate(&self, bytes: u64, placement: Placement, label: &str) -> Result<Arc<dyn Buffer>> {
        let types = &self.core.physical.memory_types;
        let mut window = None;
        let wanted = match placement {
            Placement::Device if types.unified => {
                AllocationRequest { memory_type: types.device, mapped: Mapping::Host, staging: false }
            }
            Placement::Device => {
                // Mapped memory is as fast for the device as other device memory, and small uploads into it need no staging.
                window = types.shared.filter(|_| bytes <= MAX_WINDOW_BYTES).map(|shared| AllocationRequest {
                    memory_type: shared,
                    mapped: Mapping::Window,
                    staging: false,
                });
                AllocationRequest { memory_type: types.device, mapped: Mapping::None, staging: false }
            }
            Placement::DeviceShared => {
                let shared = types.shared.ok_or_else(|| {
                    Error::runtime(format!("{} has no memory shared with the host", self.core.physical.name))
                })?;
                AllocationRequest { memory_type: shared, mapped: Mapping::Host, staging: false }
            }
            Placement::Staging => {
                AllocationRequest { memory_type: types.readback, mapped: Mapping::Host, staging: true }
            }
        };
        if bytes >= RECLAIM {
            self.reclaim();
            self.transfers.trim();
        }
        // If mapped memory is not available, unmapped memory may still be available.
        if let Some(made) = window.and_then(|window| VulkanBuffer::new(&self.core, bytes, &window, label).ok()) {
            return Ok(made);
        }
        let made = VulkanBuffer::new(&self.core, bytes, &wanted, label)?;
        Ok(made)
    }

    fn image_refusal(&self, shape: &TextureShape) -> Option<Error> {
        refusal(&self.core, shape)
    }

    fn allocate_image(&self, shape: &TextureShape, queue: &dyn Queue, label: &str) -> Result<Arc<dyn Buffer>> {
        if shape.bytes() >= RECLAIM {
            self.reclaim();
            self.transfers.trim();
        }
        image_copy::create(&self.core, shape, &view_queue(queue)?.queue, label)
    }

    fn import(&self, span: HostSpan, label: &str) -> Result<Option<Arc<dyn Buffer>>> {
        if !self.shares_memory() {
            return Ok(None);
        }
        // Releases earlier imports that only finished work holds, because the number of imports is limited.
        self.reclaim();
        Ok(VulkanBuffer::import(&self.core, span, false, label)?.map(|b| b as Arc<dyn Buffer>))
    }

    fn import_staging(&self, span: HostSpan, label: &str) -> Result<Option<Arc<dyn Buffer>>> {
        Ok(VulkanBuffer::import(&self.core, span, true, label)?.map(|b| b as Arc<dyn Buffer>))
    }

    fn create_queue(&self, immediate: bool) -> Result<Arc<dyn Queue>> {
        let queue = VulkanQueue::new(&self.core, Lane::Compute(self.core.take_compute()), immediate)?;
        self.queues.lock().push(Arc::downgrade(&queue));
        Ok(Arc::new(ViewQueue { queue, copies: self.copies.clone(), transfers: self.transfers.clone() }))
    }

    fn load(&self, module: &Arc<Module>, label: &str) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(VulkanKernel::new(&self.core, module, label)?))
    }

    fn transfer(
        &self,
        direction: Direction,
        host: HostSpan,
        buffer: &Arc<dyn Buffer>,
        plan: &CopyPlan,
        queue: &dyn Queue,
    ) -> Result<SmallVec<[Point; 2]>> {
        let queue = view_queue(queue)?;
        check_device(buffer, &self.core)?;
        self.transfers.transfer(direction, host, buffer, plan, &queue.queue)
    }

    fn workgroups(&self) -> Option<&FoundWorkgroups> {
        self.core.workgroups.as_ref()
    }

    fn reclaim(&self) {
        for queue in self.live_queues() {
            queue.release_finished();
        }
    }

    fn memory(&self) -> MemoryUsage {
        // On queues with a completion word, finished work holds its buffers until the semaphore is signalled. `reclaim` signals it.
        self.reclaim();
        let (used, held) = self.core.pool.lock().bytes();
        let (staging, staging_limit) = self.transfers.staging();
        let slack = pool::SLACK;
        // The pool's numbers include the staging chunks, which are reported separately.
        MemoryUsage {
            used: used.saturating_sub(staging),
            held: held.saturating_sub(staging),
            slack,
            staging,
            staging_limit,
        }
    }

    fn lost(&self) -> Option<Error> {
        self.core.lost()
    }

    fn drain(&self) {
        for queue in self.live_queues() {
            if let Err(e) = queue.submit_open() {
                crate::log!(Error, "work could not be submitted while draining: {e}");
            }
        }
        if self.core.lost().is_none() {
            self.core.wait_idle();
        }
        self.core.save_caches();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
