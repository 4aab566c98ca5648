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
    /// One that is timed.
    Timed(LaunchCommand<'a>, &'a Arc<LaunchTimer>),
    /// Nothing: for a use of memory by the program, whose semaphore is waited for before, or signalled after.
    Foreign {
        /// The semaphore and value to wait for.
        wait: Option<(vk::Semaphore, u64)>,
        /// The semaphore and value to signal.
        signal: Option<(vk::Semaphore, u64)>,
    },
    /// A timestamp before (true) or behind copies.
    Stamp(&'a Arc<LaunchTimer>, bool),
    /// Anything else: the function writes it into the command buffer.
    Other(&'a mut dyn FnMut(vk::CommandBuffer)),
}

impl Command<'_> {
    /// Work that comes first, whatever it uses.
    pub fn after(&self) -> &[Point] {
        match self {
            Command::Dispatch(launch) | Command::Timed(launch, _) => launch.after,
            Command::Foreign { .. } | Command::Stamp(..) | Command::Other(_) => &[],
        }
    }
}

/// Commands that are submitted together, and what they need until they are done.
#[derive(Default)]
pub(super) struct Batch {
    /// The number the timeline reaches when it is done.
    pub value: u64,
    pub recordings: SmallVec<[Box<Recording>; 4]>,
    pub buffers: Vec<Arc<dyn Buffer>>,
    /// The pipelines of its launches, each with the sequence number from which on it is used; `None` for other commands.
    pub pipelines: Vec<(u64, Option<Arc<Pipeline>>)>,
    pub waits: SmallVec<[(Arc<VulkanTimeline>, u64); 4]>,
    /// Semaphores of the program that it waits for.
    pub foreign_waits: Vec<(vk::Semaphore, u64)>,
    /// Semaphores of the program that it signals.
    pub foreign_signals: Vec<(vk::Semaphore, u64)>,
    pub count: u32,
    /// If the driver may stop loops: its commands that may use the results of others, and these.
    pub after: Vec<(u64, CommandId)>,
    /// True if memory that the host addresses is written.
    pub for_host: bool,
}

impl Batch {
    /// Releases everything except the memory of its lists.
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

    /// The device must be done with the batch, have never got it, or be lost.
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
        let Some(timeline) = timeline.and_then(|t| t.me.upgrade()) else { return };
        let needed = timeline.signal_of(point.value);
        match self.waits.iter_mut().find(|(t, _)| t.id() == timeline.id()) {
            Some((_, value)) => *value = (*value).max(needed),
            None => self.waits.push((timeline, needed)),
        }
    }

    /// Keeps the pipeline of a launch until the batch is done.
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
            Command::Stamp(..) | Command::Other(_) if !matches!(last, Some(None)) => {
                self.pipelines.push((sequence, None))
            }
            _ => {}
        }
    }

    /// The names of its commands, for messages.
    pub fn names(&self) -> Names {
        let kernel = |p: &Option<Arc<Pipeline>>| p.as_ref().map(|p| p.kernel.clone()).filter(|name| !name.is_empty());
        self.pipelines.iter().map(|(first, p)| (*first, kernel(p))).collect()
    }
}
