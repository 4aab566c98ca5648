//! Operations that run on the host. Each operation is a timeline that goes from 0 to 1, and may hold up other operations.

use crate::device::hazard::{Point, Timeline};
use crate::device::unique_id;
use crate::error::{Error, Result};
use crate::host::Workers;
use crate::host::threads::caught;
use crate::lock::{Condvar, Mutex, rank};
use crate::runtime::operations::order::{Gate, HeldUp};
use crate::trace::events::Span;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// An operation of the host: a timeline that goes from 0 to 1.
pub struct HostOperation {
    id: u64,
    result: Mutex<Option<Result<()>>, { rank::OPERATION }>,
    done: Condvar,
    /// True once a completion has returned the failure of the operation to the program.
    pub(super) reported: AtomicBool,
    /// True if the operation never began, because an operation in its wait list failed.
    pub(super) dependency_failed: AtomicBool,
    /// Holds up other operations until this operation is done.
    pub(super) gate: Gate<HostWork>,
}

impl HostOperation {
    /// A new operation, which is not done.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            id: unique_id(),
            result: Mutex::new(None),
            done: Condvar::new(),
            reported: AtomicBool::new(false),
            dependency_failed: AtomicBool::new(false),
            gate: Gate::default(),
        })
    }

    /// The point that is reached when the operation is done.
    pub fn point(self: &Arc<Self>) -> Point {
        Point { timeline: self.clone(), value: 1, sequence: 1 }
    }

    /// Marks the operation as done, and returns the work that nothing holds up any more.
    fn finish(&self, result: Result<()>) -> Vec<Arc<HeldUp<HostWork>>> {
        *self.result.lock() = Some(result);
        self.done.notify_all();
        self.gate.open()
    }

    /// Called when the program completes the operation. Marks the operation as done, and begins the operations that
    /// waited for it. Does nothing and returns false if the operation was done already.
    pub(super) fn settle(&self, result: Result<()>) -> bool {
        {
            let mut stored = self.result.lock();
            if stored.is_some() {
                return false;
            }
            *stored = Some(result);
        }
        self.done.notify_all();
        self.gate.open().into_iter().for_each(start);
        true
    }
}

impl Timeline for HostOperation {
    fn id(&self) -> u64 {
        self.id
    }
    fn device(&self) -> Option<u64> {
        None
    }
    fn reached(&self, value: u64) -> bool {
        value == 0 || self.result.lock().is_some()
    }
    fn failed_before_start(&self, _: u64) -> bool {
        self.dependency_failed.load(Ordering::Acquire)
    }
    fn is_signalled(&self, _: u64) -> bool {
        true
    }
    fn flush(&self, _: u64) -> Result<()> {
        Ok(())
    }
    fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<bool> {
        if value == 0 {
            return Ok(true);
        }
        let end = timeout.map(|t| Instant::now() + t);
        let mut result = self.result.lock();
        let mut span = None;
        loop {
            if let Some(r) = result.as_ref() {
                return r.clone().map(|()| true);
            }
            span.get_or_insert_with(|| Span::wait(self.id, timeout));
            match end {
                None => self.done.wait(&mut result, rank::NONE),
                Some(end) => {
                    if self.done.wait_until(&mut result, rank::NONE, end) && result.is_none() {
                        return Ok(false);
                    }
                }
            }
        }
    }
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// True if the point failed and a completion has returned the failure to the program.
pub(in crate::runtime) fn was_reported(point: &Point) -> bool {
    let operation = point.timeline.as_any().downcast_ref::<HostOperation>();
    operation.is_some_and(|o| o.reported.load(Ordering::Relaxed))
}

pub(super) type OperationTask = Box<dyn FnOnce() -> Result<()> + Send>;

/// The work of an operation of the host.
pub(super) struct HostWork {
    operation: Arc<HostOperation>,
    task: Mutex<Option<OperationTask>, { rank::TASK }>,
}

impl HostWork {
    /// New work, which the caller holds up.
    pub fn new(operation: &Arc<HostOperation>, task: OperationTask) -> Arc<HeldUp<Self>> {
        HeldUp::new(Self { operation: operation.clone(), task: Mutex::new(Some(task)) })
    }

    /// Runs the task, and returns the work that nothing holds up any more.
    fn perform(&self) -> Vec<Arc<HeldUp<Self>>> {
        let task = self.task.lock().take();
        let text = "an asynchronous operation panicked";
        let result = task.map_or(Ok(()), |task| caught(task).unwrap_or_else(|_| Err(Error::internal(text))));
        self.operation.finish(result)
    }
}

/// Begins work that nothing holds up. It runs on a thread of the library, or on this thread if no thread can be created.
pub(super) fn start(work: Arc<HeldUp<HostWork>>) {
    Workers::shared().tasks.spawn(move || run(work));
}

/// Runs `first`, and then the work that `first` held up. One piece of that work runs on this thread. The others run on further
/// threads if the system can create them.
fn run(first: Arc<HeldUp<HostWork>>) {
    let mut ready = vec![first];
    while let Some(work) = ready.pop() {
        let mut freed = work.payload.perform().into_iter();
        ready.extend(freed.next());
        for work in freed {
            let other = work.clone();
            if Workers::shared().tasks.try_spawn(Box::new(move || run(other))).is_err() {
                ready.push(work);
            }
        }
    }
}
