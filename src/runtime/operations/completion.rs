//! completion_future (docs/spec/copies.md#completion_future): operations under way, and their results.

use crate::device::hazard::{Point, Timeline, Tracker};
use crate::device::unique_id;
use crate::error::{Error, Result};
use crate::host::Workers;
use crate::host::threads::caught;
use crate::kernel::Access;
use crate::lock::{Condvar, Mutex, rank, waits};
use crate::log;
use crate::runtime::operations::notifier::Notifier;
use crate::runtime::operations::order::{Gate, HeldUp};
use crate::runtime::race;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// Called with the result of an operation.
pub type Callback = Box<dyn FnOnce(&Result<()>) + Send>;

/// An operation of the host: a timeline that goes from 0 to 1.
pub struct HostOperation {
    id: u64,
    result: Mutex<Option<Result<()>>, { rank::OPERATION }>,
    done: Condvar,
    /// True once somebody has asked a completion for its result.
    told: AtomicBool,
    /// Opens when it is done, for the operations that wait for it.
    gate: Gate<HostWork>,
}

impl HostOperation {
    /// An operation that is not done.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            id: unique_id(),
            result: Mutex::new(None),
            done: Condvar::new(),
            told: AtomicBool::new(false),
            gate: Gate::default(),
        })
    }

    /// The point that is reached when it is done.
    pub fn point(self: &Arc<Self>) -> Point {
        Point { timeline: self.clone(), value: 1, sequence: 1 }
    }

    /// Marks it as done, and returns the operations that may begin now.
    fn finish(&self, result: Result<()>) -> Vec<Arc<HeldUp<HostWork>>> {
        *self.result.lock() = Some(result);
        self.done.notify_all();
        self.gate.open()
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
        loop {
            if let Some(r) = result.as_ref() {
                return r.clone().map(|()| true);
            }
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

/// True if the point failed and somebody asked its completion about it.
pub(in crate::runtime) fn was_told(point: &Point) -> bool {
    let operation = point.timeline.as_any().downcast_ref::<HostOperation>();
    operation.is_some_and(|o| o.told.load(Ordering::Relaxed))
}

/// An operation under way. It is done when all its points are reached.
pub struct Completion {
    id: u64,
    points: Vec<Point>,
    /// Only for a marker, once its result was asked for: a loss of earlier work that was not yet reported.
    untold: Option<OnceLock<Option<Error>>>,
}

impl Completion {
    /// Done when `points` are reached.
    pub fn of(points: Vec<Point>) -> Arc<Self> {
        Arc::new(Self { id: unique_id(), points, untold: None })
    }

    /// A completion that is done when all work up to `points` is, and reports losses of it that were not yet reported.
    pub(in crate::runtime) fn marker(points: Vec<Point>) -> Arc<Self> {
        Arc::new(Self { id: unique_id(), points, untold: Some(OnceLock::new()) })
    }

    /// Takes over the operation's uses, for the race check.
    pub(in crate::runtime) fn uses(&self, using: race::Using) {
        using.until_waited(self.id, self.points.iter().map(|p| p.timeline.id()));
    }

    /// Waits until it is done, even if it failed; `false` if `timeout` passed first.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool> {
        let done = self.wait_for(timeout)?;
        if done {
            race::waited(self.id);
        }
        Ok(done)
    }

    fn wait_for(&self, timeout: Option<Duration>) -> Result<bool> {
        let end = timeout.and_then(|t| Instant::now().checked_add(t));
        for point in &self.points {
            let left = end.map(|e| e.saturating_duration_since(Instant::now()));
            // A point that failed is reached too.
            if let Ok(false) = point.wait(left) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until it is done and returns its result.
    pub fn get(&self) -> Result<()> {
        self.wait(None)?;
        self.failure().map_or(Ok(()), Err)
    }

    /// The failure, if it is done and failed.
    pub fn failure(&self) -> Option<Error> {
        let has_failed = |p: &&Point| p.wait(Some(Duration::ZERO)).is_err();
        let Some(failed) = self.points.iter().find(has_failed) else {
            let untold = || self.points.iter().find_map(|p| p.timeline.untold(p.value));
            return self.untold.as_ref()?.get_or_init(untold).clone();
        };
        if let Some(operation) = failed.timeline.as_any().downcast_ref::<HostOperation>() {
            operation.told.store(true, Ordering::Relaxed);
        }
        failed.wait(Some(Duration::ZERO)).err()
    }

    /// Calls `callback` with the result when it is done, on a thread of the library. Fails if the system cannot create one.
    pub fn then(self: &Arc<Self>, callback: Callback) -> Result<()> {
        let waiting = Waiting { completion: self.clone(), callbacks: vec![callback] };
        NOTIFIER.add(waiting, Waiting::join, || {
            Workers::shared().tasks.try_spawn(Box::new(notify)).map_err(|_| {
                Error::runtime(
                    "the callback was not added: the system gives no thread to wait for the operation; end threads of the \
                     process, or wait for the operation instead",
                )
            })
        })
    }
}

/// Held while an operation claims its bytes, so that two operations come in the same order everywhere.
static CLAIMING: Mutex<(), { rank::CLAIMING }> = Mutex::new(());

/// Begins an operation of the host: `task` runs on a thread of the library after the operations that claimed the same bytes
/// earlier; later ones wait for it. `attach` must make the `wait` of its views cover it.
///
/// It takes no thread until those are done: otherwise waiting operations could take the threads from those they wait for.
pub(in crate::runtime) fn begin(
    claims: &[(&Tracker, Range<u64>, Access)],
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
    before.retain(|p| p.timeline.id() != operation.id);
    attach(&point);
    let work = HeldUp::new(HostWork { operation, task: Mutex::new(Some(Box::new(task))) });
    for p in before {
        // A failure is for whoever waits for that operation; this one goes on.
        if let Some(operation) = p.timeline.as_any().downcast_ref::<HostOperation>() {
            operation.gate.hold_up(&work);
        }
    }
    if work.let_go() {
        // If there is no thread, it runs on this one.
        Workers::shared().tasks.spawn(move || run(work));
    }
    Completion::of(vec![point])
}

type OperationTask = Box<dyn FnOnce() -> Result<()> + Send>;

/// The work of an operation of the host.
struct HostWork {
    operation: Arc<HostOperation>,
    task: Mutex<Option<OperationTask>, { rank::TASK }>,
}

impl HostWork {
    /// Runs the task, and returns the operations that may begin now.
    fn run(&self) -> Vec<Arc<HeldUp<Self>>> {
        let task = self.task.lock().take();
        let text = "an asynchronous operation panicked; please report it";
        let result = task.map_or(Ok(()), |task| caught(task).unwrap_or_else(|_| Err(Error::internal(text))));
        self.operation.finish(result)
    }
}

/// Runs `first` and then what it held up: one operation on this thread, the others on further ones if the system can create
/// them.
fn run(first: Arc<HeldUp<HostWork>>) {
    let mut ready = vec![first];
    while let Some(work) = ready.pop() {
        let mut freed = work.what.run().into_iter();
        ready.extend(freed.next());
        for work in freed {
            let other = work.clone();
            if Workers::shared().tasks.try_spawn(Box::new(move || run(other))).is_err() {
                ready.push(work);
            }
        }
    }
}

/// The callbacks of a completion that is not done.
struct Waiting {
    completion: Arc<Completion>,
    callbacks: Vec<Callback>,
}

impl Waiting {
    /// Adds the callbacks to others of the same completion, if there are any.
    fn join(all: &mut [Self], new: Self) -> Option<Self> {
        match all.iter_mut().find(|w| Arc::ptr_eq(&w.completion, &new.completion)) {
            Some(known) => known.callbacks.extend(new.callbacks),
            None => return Some(new),
        }
        None
    }

    fn call(self) {
        let result = self.completion.get();
        for callback in self.callbacks {
            waits(rank::NONE);
            if let Err(text) = caught(|| callback(&result)) {
                log!(Error, "a callback panicked: {text}");
            }
        }
    }
}

static NOTIFIER: LazyLock<Notifier<Waiting>> = LazyLock::new(Notifier::default);

/// How long the notifier waits for one completion before it looks at the others.
const LOOK: Duration = Duration::from_millis(1);

fn notify() {
    let is_done = |w: &Waiting| matches!(w.completion.wait_for(Some(Duration::ZERO)), Ok(true));
    // Callbacks may call the library and take long. If there is no thread for them, this one runs them.
    let deliver = |w: Waiting| Workers::shared().callbacks.spawn(|| w.call());
    NOTIFIER.serve(is_done, deliver, |w| {
        // Failures are for the callbacks.
        let _ = w.completion.wait_for(Some(LOOK));
    });
}
