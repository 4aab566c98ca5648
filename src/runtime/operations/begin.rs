//! Begins an operation that runs on the host after the operations on which it depends.

use crate::device::hazard::{Point, Tracker};
use crate::error::Result;
use crate::kernel::Access;
use crate::lock::{Mutex, rank};
use crate::runtime::operations::after::AsyncOptions;
use crate::runtime::operations::completion::Completion;
use crate::runtime::operations::host_operation::{HostOperation, HostWork, start};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Held while an operation claims the bytes that it uses, so that two operations have the same order in all trackers.
static CLAIMING: Mutex<(), { rank::CLAIMING }> = Mutex::new(());

/// Begins an operation of the host. `task` runs on a thread of the library after the operations that claimed the same bytes
/// earlier. Operations that claim the bytes later wait for this operation. If a completion in `options.after` fails, `task`
/// does not run, and the operation fails. `attach` must make `wait` of the accelerator_views concerned cover the operation.
///
/// The operation takes a thread only when the host operations for which it waits are done. Otherwise waiting operations could
/// take all threads, and the operations for which they wait could not run.
pub(in crate::runtime) fn begin(
    claims: &[(&Tracker, Range<u64>, Access)],
    options: AsyncOptions,
    attach: impl FnOnce(&Point),
    task: impl FnOnce() -> Result<()> + Send + 'static,
) -> Arc<Completion> {
    let operation = HostOperation::new();
    let point = operation.point();
    let mut before: SmallVec<[Point; 4]> = SmallVec::new();
    let claiming = CLAIMING.lock();
    for (tracker, range, access) in claims {
        let mut pending = tracker.lock();
        pending.conflicts(range, *access, |p| before.push(p.clone()));
        pending.record(range, *access, &point);
    }
    drop(claiming);
    // Removes the point of this operation, because two of its claims on one tracker may conflict with each other.
    before.retain(|p| p.timeline.id() != point.timeline.id());
    attach(&point);
    let AsyncOptions { after, timer } = options;
    let awaited = after.clone();
    let this_operation = operation.clone();
    let task = move || {
        awaited.wait().inspect_err(|_| this_operation.dependency_failed.store(true, Ordering::Release))?;
        task()
    };
    let work = HostWork::new(&operation, Box::new(task));
    after.hold_up(&work);
    for p in before {
        // If the earlier operation fails, its own waiters get the error. This operation runs nevertheless.
        if let Some(operation) = p.timeline.as_any().downcast_ref::<HostOperation>() {
            operation.gate.hold_up(&work);
        }
    }
    if work.let_go() {
        start(work);
    }
    Completion::timed(vec![point], timer)
}
