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

/// Why an operation failed before it began.
const FAILED_BEFORE: &str = "an operation that it waits for failed";

/// The completions after which an operation begins.
#[derive(Clone, Default)]
pub struct After(SmallVec<[Arc<Completion>; 4]>);

/// How asynchronous work is done.
#[derive(Clone, Default)]
pub struct AsyncOptions {
    /// What it begins after.
    pub after: After,
    /// Where its timer goes, if it is to be timed.
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

    /// The points for which a queue of this device waits without the host; `None` if the host must wait, or if a completion failed.
    pub(in crate::runtime) fn on_device(&self, device: u64) -> Option<SmallVec<[Point; 4]>> {
        let mut open = SmallVec::new();
        self.iter().all(|c| c.is_awaited_by(device, &mut open)).then_some(open)
    }

    /// True if all are done, and none failed.
    pub fn is_done(&self) -> bool {
        // No device has the number 0, so that no point is left open.
        self.0.is_empty() || self.on_device(0).is_some()
    }

    /// Waits for all, and fails if one failed.
    pub(super) fn wait(&self) -> Result<()> {
        // In a chain of operations it is said once.
        let tell = |e: Error| if e.message.starts_with(FAILED_BEFORE) { e } else { e.context(FAILED_BEFORE) };
        self.iter().try_for_each(|c| c.get().map_err(tell))
    }

    /// True if this completion is among them.
    pub(in crate::runtime) fn contains(&self, completion: u64) -> bool {
        self.iter().any(|c| c.id() == completion)
    }

    /// Holds work up until the operations of the host among them are done.
    pub(super) fn hold_up(&self, work: &Arc<HeldUp<HostWork>>) {
        self.iter().for_each(|c| c.hold_up(work));
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Completion>> {
        self.0.iter()
    }
}
