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
use smallvec::SmallVec;
use std::sync::Arc;

/// An accelerator_view's queue.
pub(super) struct ViewQueue {
    /// The queue on which it records.
    pub queue: Arc<VulkanQueue>,
    /// The copy kernels.
    pub copies: Arc<CopyKernels>,
    /// The device's copy lanes.
    pub transfers: Arc<Transfers>,
}

/// The descriptors of images and samplers; their uses are added to `uses`. By itself, since most launches have none.
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
        "binding {} of set {}, a uniform buffer, is given an array over a VkBuffer that was made without the usage UNIFORM_BUFFER",
        b.binding, b.set
    ))
}

/// A use as the queue takes it.
fn use_of(u: &Use) -> BufferUse<'_> {
    BufferUse { buffer: &u.buffer, range: u.range.clone(), access: u.access, renewed: false }
}

impl ViewQueue {
    /// Records a launch. Inlined, so that one without a timer need not ask for it.
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
            if b.bound_as == BoundAs::Uniform && !buffer.uniform {
                return Err(not_uniform(b));
            }
            uses.push(use_of(&b.bound));
        }
        for u in d.uses {
            VulkanBuffer::of(&u.buffer, core)?;
            uses.push(use_of(u));
        }
        let images = if d.images.is_empty() { Vec::new() } else { descriptors(d.images, core, &mut uses)? };
        // The address of the block is the one push constant.
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
        let command = match timer {
            None => Command::Dispatch(launch),
            Some(timer) => Command::Timed(launch, timer),
        };
        self.queue.record(&uses, command)
    }

    /// A copy between two buffers of the device. `lane` chooses the queue of one over the bus; `None`: the view's own.
    fn copy_between(
        &self,
        source: &Arc<dyn Buffer>,
        destination: &Arc<dyn Buffer>,
        plan: &CopyPlan,
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
        copy(queue, &self.copies, (source, destination), (0, 0), plan, 0..plan.bytes())
    }

    /// A transfer queue for a copy over the bus, if one of these should do it. `later`: see [`Transfers::bus_lane`].
    fn transfer_lane(
        &self,
        (source, destination): (&Arc<dyn Buffer>, &Arc<dyn Buffer>),
        plan: &CopyPlan,
        direction: Direction,
        later: bool,
    ) -> Result<Option<Arc<VulkanQueue>>> {
        let used = match direction {
            Direction::Upload => (destination, &plan.destination_hull(), Access::Write),
            Direction::Download => (source, &plan.source_hull(), Access::Read),
        };
        self.transfers.bus_lane(direction, used, &self.queue, plan, later)
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
        let timer = LaunchTimer::new(&self.queue.core)?;
        Ok((self.launch(d, Some(&timer))?, timer))
    }

    fn run(&self, _: &[Use], _: HostJob) -> Result<Point> {
        Err(Error::unsupported(
            "a Vulkan accelerator cannot run functions of the program, only SPIR-V; use host threads",
        ))
    }

    fn copy(&self, source: &Arc<dyn Buffer>, destination: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<Point> {
        self.copy_between(source, destination, plan, |direction| {
            self.transfer_lane((source, destination), plan, direction, false)
        })
    }

    #[cold]
    fn copy_timed(
        &self,
        source: &Arc<dyn Buffer>,
        destination: &Arc<dyn Buffer>,
        plan: &CopyPlan,
        timer: &TimerSlot,
    ) -> Result<Point> {
        if self.queue.core.physical.limits.timestamp_bits == 0 {
            return self.copy(source, destination, plan);
        }
        let own = LaunchTimer::new(&self.queue.core)?;
        let stamp = |first, access| {
            let (read, written) = plan.hulls(&(0..plan.bytes()));
            let of = |buffer, range, access, renewed| BufferUse { buffer, range, access, renewed };
            // The copy comes after the one and before the other because of what they use.
            let uses = [of(source, read, Access::Read, false), of(destination, written, access, true)];
            self.queue.record(&uses, Command::Stamp(&own, first))
        };
        stamp(true, Access::Write)?;
        // On the view's own queue.
        self.copy_between(source, destination, plan, |_| Ok(None))?;
        let point = stamp(false, Access::Read)?;
        let _ = timer.set(own.clone());
        Ok(point)
    }

    fn copy_beside(&self, source: &Arc<dyn Buffer>, destination: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<Point> {
        let point = self.copy_between(source, destination, plan, |direction| {
            let lane = self.transfer_lane((source, destination), plan, direction, true)?;
            // A strided one waits for work of the view on a compute queue, and not before copies that wait for nothing.
            let others = lane.is_none() && self.queue.core.compute.len() > 1;
            if others { self.transfers.lane(direction, true).map(Some) } else { Ok(lane) }
        })?;
        // On the view's own queue it must not be done only when later kernels are, which would be gathered with it.
        point.timeline.flush(point.value)?;
        Ok(point)
    }

    fn marker(&self) -> Result<Point> {
        // This comes first: the caller is about to wait, and the rest can be done while the device works.
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
