//! completion_future (digest section 6.1): operations under way and how they ended.

use super::accelerator_view::AcceleratorView;
use super::race;
use crate::device::hazard::{Point, Timeline, Tracker};
use crate::device::host::Workers;
use crate::device::{Access, unique_id};
use crate::error::{Error, Result};
use parking_lot::{Condvar, Mutex};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Called with the result of an operation.
pub type Callback = Box<dyn FnOnce(&Result<()>) + Send>;

/// One operation of the host: a timeline that goes from 0 to 1.
pub struct HostOperation {
    id: u64,
    result: Mutex<Option<Result<()>>>,
    done: Condvar,
    /// Somebody has asked a completion how it ended.
    told: AtomicBool,
}

impl HostOperation {
    /// An operation that is not done.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { id: unique_id(), result: Mutex::new(None), done: Condvar::new(), told: AtomicBool::new(false) })
    }

    /// The point at which it is done.
    pub fn point(self: &Arc<Self>) -> Point {
        Point { timeline: self.clone(), value: 1, sequence: 1 }
    }

    /// Says that it is done.
    pub fn finish(&self, result: Result<()>) {
        *self.result.lock() = Some(result);
        self.done.notify_all();
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
                None => self.done.wait(&mut result),
                Some(end) => {
                    if self.done.wait_until(&mut result, end).timed_out() && result.is_none() {
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
pub(super) fn was_told(point: &Point) -> bool {
    let operation = point.timeline.as_any().downcast_ref::<HostOperation>();
    operation.is_some_and(|o| o.told.load(Ordering::Relaxed))
}

/// An operation under way: done when all its points are reached.
pub struct Completion {
    id: u64,
    points: Vec<Point>,
    /// Of a marker: what was lost of the work before it and nobody was told of, once it was asked.
    untold: Option<OnceLock<Option<Error>>>,
}

impl Completion {
    /// Done when `points` are reached.
    pub fn of(points: Vec<Point>) -> Arc<Self> {
        Arc::new(Self { id: unique_id(), points, untold: None })
    }

    /// Done when all work up to `points` is; tells of what was lost of it and nobody knows.
    pub(super) fn marker(points: Vec<Point>) -> Arc<Self> {
        Arc::new(Self { id: unique_id(), points, untold: Some(OnceLock::new()) })
    }

    /// The operation's uses, for the race check.
    pub(super) fn uses(&self, using: race::Using) {
        using.until_waited(self.id, self.points.iter().map(|p| p.timeline.id()));
    }

    /// Waits until it is done, failed or not: `false` if `timeout` passed first.
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
            // A failed point is done.
            if let Ok(false) = point.wait(left) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until it is done and returns how it ended.
    pub fn get(&self) -> Result<()> {
        self.wait(None)?;
        self.failure().map_or(Ok(()), Err)
    }

    /// What failed, if it is done and failed.
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

    /// Calls `callback` with the result when it is done, on a thread of the library.
    pub fn then(self: &Arc<Self>, callback: Callback) {
        let mut notifier = NOTIFIER.lock();
        match notifier.waiting.iter_mut().find(|w| Arc::ptr_eq(&w.completion, self)) {
            Some(w) => w.callbacks.push(callback),
            None => notifier.waiting.push(Waiting { completion: self.clone(), callbacks: vec![callback] }),
        }
        if !notifier.running {
            notifier.running = true;
            Workers::shared().tasks.spawn(notify);
        }
    }
}

/// Begins an operation of the host: `task` runs on a thread of the library, behind the operations that claimed the same
/// bytes before it; later ones wait for it. The views' `wait` covers it.
pub(super) fn begin(
    claims: &[(&Tracker, Range<u64>, Access)],
    views: &[Arc<AcceleratorView>],
    task: impl FnOnce() -> Result<()> + Send + 'static,
) -> Arc<Completion> {
    let operation = HostOperation::new();
    let point = operation.point();
    let mut before: SmallVec<[Point; 4]> = SmallVec::new();
    for (tracker, range, access) in claims {
        let mut pending = tracker.lock();
        pending.conflicts(range, *access, |p| before.push(p.clone()));
        pending.record(range, *access, &point);
    }
    // Two claims on one tracker meet each other.
    before.retain(|p| p.timeline.id() != operation.id);
    for view in views {
        view.attach([point.clone()]);
    }
    Workers::shared().tasks.spawn(move || {
        let done = Finisher(Some(operation));
        for p in before {
            // That it failed is for whoever waits for it; this one goes on.
            let _ = p.wait(None);
        }
        done.finish(task());
    });
    Completion::of(vec![point])
}

/// Ends an operation also when its task panics.
struct Finisher(Option<Arc<HostOperation>>);

impl Finisher {
    fn finish(mut self, result: Result<()>) {
        if let Some(operation) = self.0.take() {
            operation.finish(result);
        }
    }
}

impl Drop for Finisher {
    fn drop(&mut self) {
        if let Some(operation) = self.0.take() {
            operation.finish(Err(Error::internal("an asynchronous operation panicked; please report it")));
        }
    }
}

/// Callbacks whose completion is not done.
struct Waiting {
    completion: Arc<Completion>,
    callbacks: Vec<Callback>,
}

/// One task waits for all completions that have callbacks, however many there are.
struct Notifier {
    waiting: Vec<Waiting>,
    running: bool,
}

static NOTIFIER: Mutex<Notifier> = Mutex::new(Notifier { waiting: Vec::new(), running: false });

/// How long the notifier waits for one completion before it looks at the others.
const LOOK: Duration = Duration::from_millis(1);

fn notify() {
    loop {
        let next = {
            let mut notifier = NOTIFIER.lock();
            let (done, waiting) = std::mem::take(&mut notifier.waiting)
                .into_iter()
                .partition::<Vec<_>, _>(|w| matches!(w.completion.wait_for(Some(Duration::ZERO)), Ok(true)));
            notifier.waiting = waiting;
            for w in done {
                // They may call the library and take their time.
                Workers::shared().tasks.spawn(move || {
                    let result = w.completion.get();
                    w.callbacks.into_iter().for_each(|callback| callback(&result));
                });
            }
            match notifier.waiting.first() {
                Some(w) => w.completion.clone(),
                None => {
                    notifier.running = false;
                    return;
                }
            }
        };
        // Errors are for the callbacks.
        let _ = next.wait_for(Some(LOOK));
    }
}
