//! Wait lists: the completions after which an operation begins.

use crate::device::TimerSlot;
use crate::device::hazard::Point;
use crate::error::{Error, Result};
use crate::grow::Grow;
use crate::runtime::operations::completion::Completion;
use crate::runtime::operations::host_operation::HostWork;
use crate::runtime::operations::order::HeldUp;
use smallvec::SmallVec;
use std::sync::Arc;

/// The context of the error if an operation fails before it begins.
const FAILED_BEFORE: &str = "an operation that this operation waits for failed";

/// The completions after which an operation begins.
#[derive(Clone, Default)]
pub struct After(SmallVec<[Arc<Completion>; 4]>);

/// The options of an asynchronous operation.
#[derive(Clone, Default)]
pub struct AsyncOptions {
    /// The completions after which the operation begins.
    pub after: After,
    /// The slot that receives the timer, if the operation is timed.
    pub timer: Option<Arc<TimerSlot>>,
}

impl After {
    /// Adds a completion.
    pub fn add(&mut self, completion: &Arc<Completion>) -> Result<()> {
        if self.0.len() == self.0.capacity() {
            self.0.make_room(1)?;
        }
        self.0.push(completion.awaited());
        Ok(())
    }

    /// The points for which a queue of this device can wait without the host. `None` if the host must wait, or if a completion
    /// failed.
    pub(in crate::runtime) fn on_device(&self, device: u64) -> Option<SmallVec<[Point; 4]>> {
        let mut unreached = SmallVec::new();
        self.iter().all(|c| c.is_awaited_by(device, &mut unreached)).then_some(unreached)
    }

    /// True if all completions are done, and none failed.
    pub fn is_done(&self) -> bool {
        // No device has the id 0, so `on_device` succeeds only if every point is reached.
        self.0.is_empty() || self.on_device(0).is_some()
    }

    /// Waits for all completions, and fails if one of them failed.
    pub(super) fn wait(&self) -> Result<()> {
        // In a chain of operations, the message gets this context only once.
        let add_context = |e: Error| if e.message.starts_with(FAILED_BEFORE) { e } else { e.context(FAILED_BEFORE) };
        self.iter().try_for_each(|c| c.get().map_err(add_context))
    }

    /// For the race check: the ids of the completions.
    pub(in crate::runtime) fn completions(&self) -> Vec<u64> {
        self.iter().map(|c| c.id()).collect()
    }

    /// Holds up `work` until the host operations of the completions are done.
    pub(super) fn hold_up(&self, work: &Arc<HeldUp<HostWork>>) {
        self.iter().for_each(|c| c.hold_up(work));
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Completion>> {
        self.0.iter()
    }
}
