//! The commands of a view's queue: kernel launches and copies between buffers.

#![allow(unsafe_code)]

use super::batch::Command;
use super::core::Core;
use super::device_copy::{CopyKernels, copy};
use super::image::{ImageDescriptor, is_image};
use super::memory::VulkanBuffer;
use super::pipeline::{Pipeline, VulkanKernel};
use super::queue::{BufferUse, VulkanQueue};
use super::recording::LaunchCommand;
use super::timer::LaunchTimer;
use super::transfer::Transfers;
use crate::config;
use crate::device::hazard::{Point, Timeline};
use crate::device::{
    BoundAs, BoundBuffer, BoundImage, Buffer, Direction, Dispatch, HostJob, Queue, Timer, TimerSlot, Use,
};
use crate::error::{Error, Result};
use crate::geometry::CopyPlan;
use crate::kernel::Access;
use ash::vk;
use smallvec::SmallVec;
use std::sync::Arc;

/// The queue of an accelerator_view.
pub(super) struct ViewQueue {
    /// The queue that records the commands.
    pub queue: Arc<VulkanQueue>,
    /// The device's copy kernels.
    pub copies: Arc<CopyKernels>,
    /// The device's copy lanes.
    pub transfers: Arc<Transfers>,
}

/// The descriptors of images and samplers. Adds the uses of images to `uses`. Out of line, because most launches have no images.
#[cold]
fn descriptors<'a>(
    images: &'a [BoundImage],
    core: &Core,
    uses: &mut SmallVec<[BufferUse<'a>; 16]>,
) -> Result<Vec<ImageDescriptor>> {
    let mut made = Vec::new();
    for i in images {
        made.push(ImageDescriptor::new(i, core)?);
        if let Some((u, _)) = &i.image {
            uses.push(use_of(u));
        }
    }
    Ok(made)
}

#[cold]
fn not_uniform(b: &BoundBuffer) -> Error {
    Error::runtime(format!(
        "binding {} of set {} is a uniform buffer, but the VkBuffer of the array was created without the usage \
         UNIFORM_BUFFER; create the VkBuffer with this usage",
        b.binding, b.set
    ))
}

/// Converts a [`Use`] to a [`BufferUse`].
fn use_of(u: &Use) -> BufferUse<'_> {
    BufferUse { buffer: &u.buffer, range: u.range.clone(), access: u.access, overwritten: false }
}

impl ViewQueue {
    /// Records a launch. Inlined, so that `dispatch` does not test for a timer.
    #[inline(always)]
    fn launch(&self, d: &Dispatch<'_>, timer: Option<&Arc<LaunchTimer>>) -> Result<Point> {
        let kernel = d.kernel.as_any().downcast_ref::<VulkanKernel>();
        let kernel = kernel.ok_or_else(|| Error::internal("a kernel of another kind of device reached a queue"))?;
        let core = &self.queue.core;
        kernel.check_device(core)?;
        let split = kernel.is_split(d.groups);
        let made: Arc<Pipeline>;
        let pipeline = match kernel.plain(d.spec, split) {
            Some(plain) => plain,
            None => {
                made = kernel.pipeline(d.spec, split)?;
                &made
            }
        };
        let mut uses: SmallVec<[BufferUse<'_>; 16]> = SmallVec::new();
        for b in d.bindings {
            let buffer = VulkanBuffer::of(&b.bound.buffer, core)?;
            if b.bound_as == BoundAs::Uniform && !buffer.usage.contains(vk::BufferUsageFlags::UNIFORM_BUFFER) {
                return Err(not_uniform(b));
            }
            uses.push(use_of(&b.bound));
        }
        for u in d.uses {
            VulkanBuffer::of(&u.buffer, core)?;
            uses.push(use_of(u));
        }
        let images = if d.images.is_empty() { Vec::new() } else { descriptors(d.images, core, &mut uses)? };
        // With an argument block, the only push constant is the address of the block.
        let address = [0; size_of::<u64>()];
        let launch = LaunchCommand {
            pipeline,
            groups: d.groups,
            bindings: d.bindings,
            images: &images,
            push: if d.block.is_some() { &address } else { d.push },
            block: d.block.map(|block| (0, block)),
            after: d.after,
        };
        self.queue.record(&uses, Command::launch(launch, timer))
    }

    /// Records a copy between two buffers of the device. If one of them is staging memory, `lane` chooses the queue of the copy, where
    /// `None` means the view's own queue. If the chosen queue has timestamps, `timer` gets the copy's timer.
    fn copy_between(
        &self,
        (source, destination): (&Arc<dyn Buffer>, &Arc<dyn Buffer>),
        plan: &CopyPlan,
        timer: Option<&TimerSlot>,
        lane: impl FnOnce(Direction) -> Result<Option<Arc<VulkanQueue>>>,
    ) -> Result<Point> {
        let core = &self.queue.core;
        let image = is_image(source) || is_image(destination);
        let staging =
            |side| if is_image(side) { Ok(false) } else { VulkanBuffer::of(side, core).map(|buffer| buffer.staging) };
        let (from, to) = (staging(source)?, staging(destination)?);
        let direction = if to { Direction::Download } else { Direction::Upload };
        let lane = if config::get().test.copy.as_deref() == Some("lane") {
            Some(self.transfers.lane(direction, image || !plan.is_linear())?)
        } else if image || from == to {
            None
        } else {
            lane(direction)?
        };
        let queue = lane.as_ref().unwrap_or(&self.queue);
        let timer = timer.filter(|_| queue.timestamp_bits() > 0);
        let copy_timer = timer.map(|_| queue.timer()).transpose()?;
        let sides = (source, destination);
        let point = copy(queue, &self.copies, sides, (0, 0), plan, 0..plan.bytes(), copy_timer.as_ref())?;
        if let (Some(slot), Some(copy_timer)) = (timer, copy_timer) {
            let _ = slot.set(copy_timer);
        }
        Ok(point)
    }

    /// Implements [`Queue::copy`], [`Queue::copy_unordered`] (`unordered` is true) and [`Queue::copy_timed`] (`timer` is given).
    fn copy_any(
        &self,
        sides: (&Arc<dyn Buffer>, &Arc<dyn Buffer>),
        plan: &CopyPlan,
        unordered: bool,
        timer: Option<&TimerSlot>,
    ) -> Result<Point> {
        let point = self.copy_between(sides, plan, timer, |direction| {
            if timer.is_some() && !self.times_lanes() {
                return Ok(None);
            }
            let lane = self.transfer_lane(sides, plan, direction, unordered)?;
            // An unordered copy without a transfer queue (a strided copy, for example) uses a compute queue for copies.
            // On that queue, it does not delay copies that need not wait for the view.
            let uses_compute_lane = unordered && lane.is_none() && self.queue.core.compute.len() > 1;
            if uses_compute_lane { self.transfers.lane(direction, true).map(Some) } else { Ok(lane) }
        })?;
        if unordered {
            // Submits the copy's batch at once. Otherwise, on the view's own queue, later kernels would join the batch, and the copy
            // would count as done only when these kernels are done.
            point.timeline.flush(point.value)?;
        }
        Ok(point)
    }

    /// The transfer queue for a copy over the bus; `None` if the view's own queue should do it. `keeps_queue_free`: see [`Transfers::bus_lane`].
    fn transfer_lane(
        &self,
        (source, destination): (&Arc<dyn Buffer>, &Arc<dyn Buffer>),
        plan: &CopyPlan,
        direction: Direction,
        keeps_queue_free: bool,
    ) -> Result<Option<Arc<VulkanQueue>>> {
        let device_side = match direction {
            Direction::Upload => (destination, &plan.destination_hull(), Access::Write),
            Direction::Download => (source, &plan.source_hull(), Access::Read),
        };
        self.transfers.bus_lane(direction, device_side, &self.queue, plan, keeps_queue_free)
    }
}

impl Queue for ViewQueue {
    fn timeline(&self) -> &Arc<dyn Timeline> {
        self.queue.timeline()
    }

    fn dispatch(&self, d: &Dispatch<'_>) -> Result<Point> {
        self.launch(d, None)
    }

    #[cold]
    fn dispatch_timed(&self, d: &Dispatch<'_>) -> Result<(Point, Arc<dyn Timer>)> {
        let timer = self.queue.timer()?;
        Ok((self.launch(d, Some(&timer))?, timer))
    }

    fn run(&self, _: &[Use], _: HostJob) -> Result<Point> {
        Err(Error::unsupported(
            "a Vulkan accelerator cannot run functions of the program, only SPIR-V; use host threads",
        ))
    }

    fn copy(&self, source: &Arc<dyn Buffer>, destination: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<Point> {
        self.copy_any((source, destination), plan, false, None)
    }

    fn copy_unordered(
        &self,
        source: &Arc<dyn Buffer>,
        destination: &Arc<dyn Buffer>,
        plan: &CopyPlan,
    ) -> Result<Point> {
        self.copy_any((source, destination), plan, true, None)
    }

    #[cold]
    fn copy_timed(
        &self,
        source: &Arc<dyn Buffer>,
        destination: &Arc<dyn Buffer>,
        plan: &CopyPlan,
        unordered: bool,
        timer: &TimerSlot,
    ) -> Result<Point> {
        self.copy_any((source, destination), plan, unordered, Some(timer))
    }

    fn set_label(&self, label: &str) {
        let core = &self.queue.core;
        if core.names.is_none() {
            return;
        }
        let _submitting = core.submitting();
        // SAFETY: the queue belongs to the device, and no other thread submits now.
        #[allow(unsafe_code)]
        unsafe {
            core.set_name(self.queue.hardware().0, label);
        }
    }

    fn times_lanes(&self) -> bool {
        self.queue.core.transfer.is_empty() || self.queue.core.physical.limits.transfer_timestamp_bits > 0
    }

    fn marker(&self) -> Result<Point> {
        // The marker comes first, because the caller is about to wait for it. The device works while the staging memory is trimmed.
        let point = self.queue.marker();
        self.transfers.trim();
        point
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
