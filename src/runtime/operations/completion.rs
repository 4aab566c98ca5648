//! Completions: operations under way, and their results (completion_future in docs/spec/copies.md#completion_future).

use crate::device::hazard::{Point, any_lost};
use crate::device::{TimerSlot, Times, unique_id};
use crate::error::{Error, Result};
use crate::host::Workers;
use crate::host::threads::caught;
use crate::lock::{rank, waits};
use crate::log;
use crate::runtime::operations::host_operation::{HostOperation, HostWork};
use crate::runtime::operations::notifier::Notifier;
use crate::runtime::operations::order::HeldUp;
use crate::runtime::operations::promise::Promise;
use crate::runtime::race;
use crate::trace::events::{Object, Span};
use crate::trace::names::Name;
use crate::trace::transfers::{Call, explicit};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

const WAIT: Call = explicit(c"revamp_completion_wait");

/// Called with the result of an operation.
pub type Callback = Box<dyn FnOnce(&Result<()>) + Send>;

/// An operation under way. The operation is done when all its points are reached.
pub struct Completion {
    id: u64,
    points: Vec<Point>,
    /// Only for a marker: the error of earlier work that was lost, if no call has reported the error yet. Set when the program
    /// first asks for the result of the marker.
    unreported: Option<OnceLock<Option<Error>>>,
    /// Only for a completion that the program completes: the promise, and the same completion without the promise.
    promise: Option<(Promise, Arc<Self>)>,
    /// The slot that receives the timer, if the operation is timed.
    timer: Option<Arc<TimerSlot>>,
}

impl Completion {
    /// A completion that is done when `points` are reached.
    pub fn of(points: Vec<Point>) -> Arc<Self> {
        Self::timed(points, None)
    }

    /// [`Self::of`] for an operation whose timer is in `timer`.
    pub fn timed(points: Vec<Point>, timer: Option<Arc<TimerSlot>>) -> Arc<Self> {
        Self::with_parts(points, None, None, timer)
    }

    /// A marker: a completion that is done when all work up to `points` is done. If some of that work was lost and no call has
    /// reported the loss, the marker fails.
    pub(in crate::runtime) fn marker(points: Vec<Point>) -> Arc<Self> {
        let made = Self::with_parts(points, Some(OnceLock::new()), None, None);
        race::marked(made.id, &made.points);
        made
    }

    fn with_parts(
        points: Vec<Point>,
        unreported: Option<OnceLock<Option<Error>>>,
        promise: Option<(Promise, Arc<Self>)>,
        timer: Option<Arc<TimerSlot>>,
    ) -> Arc<Self> {
        // Keeps the failures of the points until the completion is dropped.
        points.iter().for_each(|p| p.timeline.keep(p.value));
        Arc::new(Self { id: unique_id(), points, unreported, promise, timer })
    }

    /// The id of the completion. It is unique in the process.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// A completion that the program completes. It fails if the last reference is dropped before the program has completed it.
    pub fn user() -> Result<Arc<Self>> {
        let operation = HostOperation::new();
        let awaited = Self::of(vec![operation.point()]);
        let promise = Some((Promise::new(operation)?, awaited));
        Ok(Self::with_parts(Vec::new(), None, promise, None))
    }

    /// Completes this completion with `result`. Fails if it was completed before, or if it was not made by [`Self::user`].
    pub fn set(&self, result: Result<()>) -> Result<()> {
        let Some((promise, _)) = &self.promise else {
            return Err(Error::runtime(
                "the completion belongs to an operation of the library; only completions made by \
                 revamp_completion_create() can be set",
            ));
        };
        if promise.settle(result) {
            Ok(())
        } else {
            Err(Error::runtime("the completion is already set; set it only once"))
        }
    }

    /// The completion that waiters hold. For a completion made by [`Self::user`], this is the completion without the promise.
    /// Waiters then do not keep the promise alive: if the program drops its last reference, the completion fails.
    pub fn awaited(self: &Arc<Self>) -> Arc<Self> {
        self.promise.as_ref().map_or(self, |(_, awaited)| awaited).clone()
    }

    /// Adds the points that are not reached to `unreached`, if a queue of this device can wait for all of them. False if the host must
    /// wait, or if the completion failed.
    pub(super) fn is_awaited_by(&self, device: u64, unreached: &mut SmallVec<[Point; 4]>) -> bool {
        if self.unreported.is_some() && any_lost() {
            return false;
        }
        self.points.iter().all(|p| {
            let on_device = p.timeline.device() == Some(device);
            if p.reached() {
                return on_device && !any_lost() || matches!(p.wait(Some(Duration::ZERO)), Ok(true));
            }
            if on_device {
                unreached.push(p.clone());
            }
            on_device
        })
    }

    /// Holds up `work` until the host operations of this completion are done.
    pub(super) fn hold_up(&self, work: &Arc<HeldUp<HostWork>>) {
        for p in &self.points {
            if let Some(operation) = p.timeline.as_any().downcast_ref::<HostOperation>() {
                operation.gate.hold_up(work);
            }
        }
    }

    /// For the race check: extends the uses of the operation until a thread waits for this completion.
    pub(in crate::runtime) fn uses(&self, using: race::CallUses) {
        using.until_waited(self.id, &self.points);
    }

    /// For the race check: notes the operations after which the operation begins. Its own uses end with `using`.
    pub(in crate::runtime) fn begins_after(&self, using: &race::CallUses) {
        using.belong_to(self.id, &self.points);
    }

    /// Waits until the operation is done or has failed. `false` if `timeout` passed first.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool> {
        let _span = Span::call(WAIT, || Object::named(Name::of("completion")));
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
            // A failed point counts as reached.
            if let Ok(false) = point.wait(left) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until the operation is done, and returns its result.
    pub fn get(&self) -> Result<()> {
        self.wait(None)?;
        self.failure().map_or(Ok(()), Err)
    }

    /// The error, if the operation is done and failed.
    pub fn failure(&self) -> Option<Error> {
        let has_failed = |p: &&Point| p.wait(Some(Duration::ZERO)).is_err();
        let Some(failed) = self.points.iter().find(has_failed) else {
            let unreported = || self.points.iter().find_map(|p| p.timeline.unreported(p.value));
            return self.unreported.as_ref()?.get_or_init(unreported).clone();
        };
        if let Some(operation) = failed.timeline.as_any().downcast_ref::<HostOperation>() {
            operation.reported.store(true, Ordering::Relaxed);
        }
        failed.wait(Some(Duration::ZERO)).err()
    }

    /// Waits until the operation is done, and returns its times. Fails if the operation failed or is not timed.
    pub fn times(&self) -> Result<Times> {
        let Some(slot) = &self.timer else {
            return Err(Error::runtime("the operation is not timed; set `is_timed` in its revamp_async_options"));
        };
        self.get()?;
        slot.get().ok_or_else(|| Error::internal("timed work has no timer"))?.times()
    }

    /// Calls `callback` with the result when the operation is done, on a thread of the library. Fails if the system cannot
    /// create a thread.
    pub fn then(self: &Arc<Self>, callback: Callback) -> Result<()> {
        let waiting = Waiting { completion: self.clone(), callbacks: vec![callback] };
        NOTIFIER.add(waiting, Waiting::join, || {
            Workers::shared().tasks.try_spawn(Box::new(notify)).map_err(|_| {
                Error::runtime(
                    "the callback was not added, because no thread could be created to wait for the operation; end \
                     other threads, or wait for the operation instead",
                )
            })
        })
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.points.iter().for_each(|p| p.timeline.let_go(p.value));
    }
}

/// The callbacks of a completion that is not done.
struct Waiting {
    completion: Arc<Completion>,
    callbacks: Vec<Callback>,
}

impl Waiting {
    /// Moves the callbacks of `new` to the entry of the same completion in `all`. Returns `new` if there is no such entry.
    fn join(all: &mut [Self], new: Self) -> Option<Self> {
        match all.iter_mut().find(|w| Arc::ptr_eq(&w.completion, &new.completion)) {
            Some(entry) => entry.callbacks.extend(new.callbacks),
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

/// The time for which the notifier waits for one completion before it checks the others.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

fn notify() {
    let is_done = |w: &Waiting| matches!(w.completion.wait_for(Some(Duration::ZERO)), Ok(true));
    // Callbacks may call the library and take long, so they run on other threads. They run on this thread only if no other thread
    // can be created.
    let deliver = |w: Waiting| Workers::shared().callbacks.spawn(|| w.call());
    NOTIFIER.serve(is_done, deliver, |w| {
        // A failure is ignored here, because the callbacks get it.
        let _ = w.completion.wait_for(Some(POLL_INTERVAL));
    });
}
