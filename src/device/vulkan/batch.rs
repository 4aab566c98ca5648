//! Batches: commands that are submitted together.

use super::core::Core;
use super::losses::Names;
use super::overruns::CommandId;
use super::pipeline::Pipeline;
use super::recording::{LaunchCommand, Recording};
use super::timeline::VulkanTimeline;
use super::timer::LaunchTimer;
use crate::device::Buffer;
use crate::device::hazard::{Point, Timeline};
use ash::vk;
use smallvec::SmallVec;
use std::sync::Arc;

/// A command that a queue is to record.
pub(super) enum Command<'a> {
    /// A kernel launch.
    Dispatch(LaunchCommand<'a>),
    /// A timed kernel launch.
    Timed(LaunchCommand<'a>, &'a Arc<LaunchTimer>),
    /// No command: a use of memory by the program. The batch waits for the program's semaphore before, or signals it afterwards.
    Foreign {
        /// The semaphore and value to wait for.
        wait: Option<(vk::Semaphore, u64)>,
        /// The semaphore and value to signal.
        signal: Option<(vk::Semaphore, u64)>,
    },
    /// Any other command: the function records it into the command buffer. The command may be timed.
    Other(&'a mut dyn FnMut(vk::CommandBuffer), Option<&'a Arc<LaunchTimer>>),
}

impl<'a> Command<'a> {
    /// A kernel launch, timed if there is a timer. Inlined, so that a launch without a timer does not test for it.
    #[inline(always)]
    pub fn launch(launch: LaunchCommand<'a>, timer: Option<&'a Arc<LaunchTimer>>) -> Self {
        match timer {
            None => Command::Dispatch(launch),
            Some(timer) => Command::Timed(launch, timer),
        }
    }

    /// Work that must be done first, whatever memory it uses.
    pub fn after(&self) -> &[Point] {
        match self {
            Command::Dispatch(launch) | Command::Timed(launch, _) => launch.after,
            Command::Foreign { .. } | Command::Other(..) => &[],
        }
    }
}

/// Commands that are submitted together, and the objects that they need until they are done.
#[derive(Default)]
pub(super) struct Batch {
    /// The number that the timeline reaches when the batch is done.
    pub value: u64,
    pub recordings: SmallVec<[Box<Recording>; 4]>,
    pub buffers: Vec<Arc<dyn Buffer>>,
    /// The pipelines of the batch's launches, each with the sequence number of its first use; `None` for other commands.
    pub pipelines: Vec<(u64, Option<Arc<Pipeline>>)>,
    /// Other timelines of the device, each with the value for which the batch waits.
    pub waits: SmallVec<[(Arc<VulkanTimeline>, u64); 4]>,
    /// Semaphores of the program for which the batch waits.
    pub foreign_waits: Vec<(vk::Semaphore, u64)>,
    /// Semaphores of the program that the batch signals.
    pub foreign_signals: Vec<(vk::Semaphore, u64)>,
    /// The number of commands.
    pub count: u32,
    /// Pairs of a command of the batch, by its sequence number, and an earlier command whose results it may use. Empty
    /// unless the driver may stop loops.
    pub after: Vec<(u64, CommandId)>,
    /// True if the batch writes memory that the host addresses.
    pub for_host: bool,
}

impl Batch {
    /// Empties all lists but `recordings`, and keeps the lists' memory.
    pub fn clear(&mut self) {
        self.buffers.clear();
        self.pipelines.clear();
        self.waits.clear();
        self.foreign_waits.clear();
        self.foreign_signals.clear();
        self.after.clear();
        self.count = 0;
        self.for_host = false;
    }

    /// Destroys the recordings. Call it only if the device is done with the batch, never got it, or is lost.
    pub fn destroy(&mut self, core: &Core) {
        self.recordings.drain(..).for_each(|mut recording| recording.destroy(core));
        self.clear();
    }

    /// True if the batch waits for this point of another queue already.
    pub fn waits_for(&self, point: &Point) -> bool {
        self.waits.iter().any(|(t, value)| t.id() == point.timeline.id() && *value >= point.value)
    }

    /// Makes the whole batch wait for a point of another queue of the device.
    pub fn wait_for(&mut self, point: &Point) {
        let timeline = point.timeline.as_any().downcast_ref::<VulkanTimeline>();
        // The point holds the timeline, so it is alive.
        let Some(timeline) = timeline.and_then(|t| t.weak_self.upgrade()) else { return };
        let needed = timeline.signal_of(point.value);
        match self.waits.iter_mut().find(|(t, _)| t.id() == timeline.id()) {
            Some((_, value)) => *value = (*value).max(needed),
            None => self.waits.push((timeline, needed)),
        }
    }

    /// Notes a command: keeps the pipeline of a launch until the batch is done, and collects the semaphores of the program.
    pub fn keep(&mut self, sequence: u64, work: &Command<'_>) {
        let last = self.pipelines.last().map(|(_, p)| p.as_ref());
        match work {
            Command::Dispatch(launch) | Command::Timed(launch, _)
                if !last.flatten().is_some_and(|p| Arc::ptr_eq(p, launch.pipeline)) =>
            {
                self.pipelines.push((sequence, Some(launch.pipeline.clone())));
            }
            Command::Foreign { wait, signal } => {
                self.foreign_waits.extend(*wait);
                self.foreign_signals.extend(*signal);
            }
            Command::Other(..) if !matches!(last, Some(None)) => self.pipelines.push((sequence, None)),
            _ => {}
        }
    }

    /// The names of the batch's commands, for messages.
    pub fn names(&self) -> Names {
        let kernel = |p: &Option<Arc<Pipeline>>| p.as_ref().map(|p| p.kernel.clone()).filter(|name| !name.is_empty());
        self.pipelines.iter().map(|(first, p)| (*first, kernel(p))).collect()
    }
}
