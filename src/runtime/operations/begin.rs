//! Beginning an operation of the host, after those that it must come after.

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

/// Held while an operation claims its bytes, so that two operations come in the same order everywhere.
static CLAIMING: Mutex<(), { rank::CLAIMING }> = Mutex::new(());

/// Begins an operation of the host: `task` runs on a thread of the library after the operations that claimed the same bytes
/// earlier; later ones wait for it. If one of what it is to begin after fails, `task` does not run, and the operation fails. `attach` must make the
/// `wait` of its views cover it.
///
/// It takes no thread until other operations of the host are done: otherwise waiting operations could take the threads from those
/// they wait for.
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
    // Two claims on one tracker find each other.
    before.retain(|p| p.timeline.id() != point.timeline.id());
    attach(&point);
    let AsyncOptions { after, timer } = options;
    let awaited = after.clone();
    let own = operation.clone();
    let task = move || {
        awaited.wait().inspect_err(|_| own.left_out.store(true, Ordering::Release))?;
        task()
    };
    let work = HostWork::new(&operation, Box::new(task));
    after.hold_up(&work);
    for p in before {
        // A failure is for whoever waits for that operation; this one goes on.
        if let Some(operation) = p.timeline.as_any().downcast_ref::<HostOperation>() {
            operation.gate.hold_up(&work);
        }
    }
    if work.let_go() {
        start(work);
    }
    Completion::timed(vec![point], timer)
}
