//! Events of a trace: what the library does for the program, on which thread, and why. Threads note events in memory;
//! [`super::recorder`] writes them to a file.

use super::labels;
use super::names::Name;
use super::transfers::Call;
use crate::lock::{Mutex, rank};
use smallvec::SmallVec;
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How many events may wait to be written. Further ones are lost, and counted.
const MOST: usize = 1 << 21;
/// After how many events the writer is woken.
const WAKE: usize = 1 << 13;

static ON: AtomicBool = AtomicBool::new(false);
static TIMES_DEVICES: AtomicBool = AtomicBool::new(false);
static HAS_LINES: AtomicBool = AtomicBool::new(false);
/// Number of the trace, so that each thread names itself in each.
static TRACE: AtomicU64 = AtomicU64::new(0);
static NEXT_ID: AtomicU64 = AtomicU64::new(1);
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);
static NOTED: Mutex<Noted, { rank::TRACE }> = Mutex::new(Noted::new());

thread_local! {
    /// How many spans ended on the thread.
    static ENDED: Cell<u64> = const { Cell::new(0) };
    /// The last trace in which the thread named itself, and its number.
    static THREAD: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    /// The span under way.
    static CURRENT: Cell<Current> = const { Cell::new(Current { id: 0, call: None, begin: None }) };
}

/// The innermost span of a call on a thread.
#[derive(Clone, Copy)]
struct Current {
    id: u64,
    call: Option<Call>,
    begin: Option<Instant>,
}

/// A queue, as the trace names it.
#[derive(Debug, Clone, Copy)]
pub struct Track {
    /// The id of its timeline.
    pub queue: u64,
    /// Its accelerator.
    pub accelerator: Name,
}

impl Track {
    /// The name of the queue's track.
    pub fn name(&self) -> String {
        match labels::of(self.queue) {
            Some(label) => format!("{label} ({})", self.accelerator.text()),
            None => format!("{} queue {}", self.accelerator.text(), self.queue),
        }
    }
}

/// What a call is about.
#[derive(Debug)]
pub struct Object {
    /// What messages call its view, array or kernel.
    pub name: Name,
    /// The id of the view's data source; 0: none.
    pub source: u64,
    /// What a launch captures.
    pub captures: Captures,
}

/// How a kernel uses the data sources of its array_views, as far as the compiler knows.
pub type Captures = SmallVec<[Capture; 4]>;

/// The id of a data source, and how a kernel uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Capture {
    /// The id of the data source.
    pub source: u64,
    /// The kernel reads it.
    pub reads: bool,
    /// The kernel writes it.
    pub writes: bool,
}

impl Object {
    /// A name alone.
    pub fn named(name: Name) -> Self {
        Self::of(name, 0)
    }
    /// A view or an array behind it.
    pub fn of(name: Name, source: u64) -> Self {
        Self { name, source, captures: SmallVec::new() }
    }
}

/// What happened.
#[derive(Debug)]
pub enum What {
    /// A thread notes its first event: its name, if it has one.
    Thread(Option<Name>),
    /// A call of the program that may move data or wait.
    Call(Object),
    /// A launch was given to a queue.
    Launch {
        /// The kernel's name; file and line of a lambda.
        kernel: Name,
        /// Where it runs.
        track: Track,
        /// What it captures, unless its call says so.
        captures: Captures,
    },
    /// Bytes moved.
    Transfer {
        /// How many.
        bytes: u64,
        /// From which accelerator; `None`: from the host.
        from: Option<Name>,
        /// To which accelerator; `None`: to the host.
        to: Option<Name>,
        /// The id of the view's data source; 0: none.
        source: u64,
        /// What messages call the view or array.
        object: Name,
        /// Where it lies in the host's memory; 0: nowhere.
        address: usize,
        /// They pass through staging memory of the library.
        is_staged: bool,
    },
    /// What a call could not do, where the program may not see its failure.
    Failure(Name),
    /// Two uses of common elements, of which one writes, at the same time.
    Race(Name),
    /// The thread waited for work of the queue whose timeline has this id.
    Wait(u64),
    /// A pipeline was built for this kernel.
    Pipeline(Name),
    /// A device worked for the event with this id.
    Device {
        /// The kernel, or the view or array.
        name: Name,
        /// Where.
        track: Track,
        /// The launch or transfer.
        of: u64,
    },
}

/// When something began and ended.
#[derive(Debug, Clone, Copy)]
pub enum Times {
    /// By the clock of this process.
    Host(Instant, Instant),
    /// By a device's timestamps, in nanoseconds on the host's clock.
    Device(u64, u64),
}

/// One event.
#[derive(Debug)]
pub struct Event {
    /// Unique within the process.
    pub id: u64,
    /// The event that caused it, or 0.
    pub cause: u64,
    /// The call that caused it.
    pub call: Option<Call>,
    /// The number of its thread.
    pub thread: u64,
    /// When it happened.
    pub times: Times,
    /// What happened.
    pub what: What,
    /// Who called, if lines are recorded.
    pub caller: Option<Box<Backtrace>>,
}

/// Gives the times of work on a device, once it is done.
pub type DeviceTimes = Box<dyn FnMut() -> Progress + Send>;

/// What is known of work on a device.
pub enum Progress {
    /// It is not done.
    Open,
    /// It began and ended then.
    Done(u64, u64),
    /// Nothing will be known of it.
    Lost,
}

/// Events that are not yet written.
pub(super) struct Noted {
    pub events: Vec<Event>,
    /// Work on devices whose times are not known yet, with events that lack them.
    pub open: Vec<(Event, DeviceTimes)>,
    /// How many events were lost.
    pub lost: u64,
    writer: Option<Thread>,
}

impl Noted {
    const fn new() -> Self {
        Self { events: Vec::new(), open: Vec::new(), lost: 0, writer: None }
    }

    fn add(&mut self, event: Event) {
        if self.events.len() >= MOST || self.events.try_reserve(1).is_err() {
            self.lost += 1;
            return;
        }
        self.events.push(event);
        if self.events.len() % WAKE == 0 {
            self.writer.iter().for_each(Thread::unpark);
        }
    }
}

/// True while a trace is recorded.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// True while a trace is recorded with the times of devices.
#[inline]
pub fn times_devices() -> bool {
    TIMES_DEVICES.load(Ordering::Relaxed)
}

/// What a trace has besides the host's events.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// When devices worked.
    pub times_devices: bool,
    /// The lines of the program's calls.
    pub lines: bool,
}

/// Begins to note events.
pub(super) fn begin(extent: Extent) {
    let mut noted = NOTED.lock();
    let earlier = std::mem::replace(&mut *noted, Noted::new());
    TRACE.fetch_add(1, Ordering::Relaxed);
    TIMES_DEVICES.store(extent.times_devices, Ordering::Relaxed);
    HAS_LINES.store(extent.lines, Ordering::Relaxed);
    ON.store(true, Ordering::Release);
    drop(noted);
    // Timers may be the last to hold a device.
    drop(earlier);
}

/// The number of the trace that is recorded, if one is.
pub fn trace() -> Option<u64> {
    is_on().then(|| TRACE.load(Ordering::Relaxed))
}

/// Has this thread woken when there are many events.
pub fn wake(writer: Thread) {
    NOTED.lock().writer = Some(writer);
}

/// Notes no more events.
pub(super) fn end() {
    ON.store(false, Ordering::Release);
    TIMES_DEVICES.store(false, Ordering::Relaxed);
}

/// Takes what is noted: events into `events`, which is empty and whose memory is used from here on. The work that is open on
/// devices comes back by [`give_back`].
pub(super) fn take(events: &mut Vec<Event>) -> (Vec<(Event, DeviceTimes)>, u64) {
    let mut noted = NOTED.lock();
    let noted = &mut *noted;
    std::mem::swap(&mut noted.events, events);
    (std::mem::take(&mut noted.open), std::mem::take(&mut noted.lost))
}

/// Keeps work that is still open on devices.
pub(super) fn give_back(mut open: Vec<(Event, DeviceTimes)>) {
    let mut noted = NOTED.lock();
    open.append(&mut noted.open);
    noted.open = open;
}

/// The number of this thread. It names itself at its first event.
fn thread(noted: &mut Noted) -> u64 {
    let trace = TRACE.load(Ordering::Relaxed);
    let (known, number) = THREAD.try_with(Cell::get).unwrap_or_default();
    if known == trace {
        return number;
    }
    let number = if number > 0 { number } else { NEXT_THREAD.fetch_add(1, Ordering::Relaxed) };
    let _ = THREAD.try_with(|t| t.set((trace, number)));
    let name = std::thread::current().name().map(Name::of);
    let now = Instant::now();
    let what = What::Thread(name);
    noted.add(Event { id: 0, cause: 0, call: None, thread: number, times: Times::Host(now, now), what, caller: None });
    number
}

fn new_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

fn current() -> Current {
    CURRENT.try_with(Cell::get).unwrap_or(Current { id: 0, call: None, begin: None })
}

/// Something that takes time on this thread. It is noted when this is dropped.
#[must_use]
pub struct Span(Option<Open>);

struct Open {
    id: u64,
    caller: Option<Box<Backtrace>>,
    begin: Instant,
    /// The span around it.
    outer: Current,
    call: Option<Call>,
    what: What,
    /// How many spans had ended on the thread if this one counts only if others end within.
    ended: Option<u64>,
    /// The call around it does not count because of it.
    is_alone: bool,
}

impl Span {
    /// A span, if a trace is recorded.
    #[inline]
    pub fn new(what: impl FnOnce() -> What) -> Self {
        if is_on() { Self::begin(None, what()) } else { Self(None) }
    }

    /// The span of a call, if a trace is recorded. What happens within has it as its cause.
    #[inline]
    pub fn call(call: Call, object: impl FnOnce() -> Object) -> Self {
        if is_on() { Self::begin(Some(call), What::Call(object())) } else { Self(None) }
    }

    /// The span of a call that is noted only if something else is noted within.
    #[inline]
    pub fn call_of_others(call: Call, object: impl FnOnce() -> Object) -> Self {
        let mut span = Self::call(call, object);
        if let Some(open) = &mut span.0 {
            open.ended = ENDED.try_with(Cell::get).ok();
        }
        span
    }

    /// A launch that is all that its call does: it begins with the call, and the call is not noted because of it.
    #[cold]
    pub fn launch_of_call(what: What) -> Self {
        let (id, outer) = (new_id(), current());
        let begin = outer.begin.unwrap_or_else(Instant::now);
        Self(Some(Open { id, caller: None, begin, outer, call: None, what, ended: None, is_alone: true }))
    }

    /// A wait for work of the queue whose timeline has this id; a look without waiting is none.
    #[inline]
    pub fn wait(queue: u64, timeout: Option<Duration>) -> Self {
        if is_on() && timeout != Some(Duration::ZERO) { Self::begin(None, What::Wait(queue)) } else { Self(None) }
    }

    #[cold]
    fn begin(call: Option<Call>, what: What) -> Self {
        let (id, outer, begin) = (new_id(), current(), Instant::now());
        if call.is_some() {
            let _ = CURRENT.try_with(|current| current.set(Current { id, call, begin: Some(begin) }));
        }
        let has_line = (call.is_some() || matches!(what, What::Race(_))) && HAS_LINES.load(Ordering::Relaxed);
        let caller = has_line.then(|| Box::new(Backtrace::force_capture()));
        Self(Some(Open { id, caller, begin, outer, call, what, ended: None, is_alone: false }))
    }

    /// Forgets it if `result` is a failure: what was begun will be tried again, or is reported otherwise.
    pub fn unless_failed<T, E>(mut self, result: &std::result::Result<T, E>) {
        if result.is_err() {
            self.0 = None;
        }
    }

    /// Its id; 0 if no trace is recorded.
    pub fn id(&self) -> u64 {
        self.0.as_ref().map_or(0, |open| open.id)
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            open.end();
        }
    }
}

impl Open {
    #[cold]
    fn end(self) {
        if self.call.is_some() {
            let _ = CURRENT.try_with(|current| current.set(self.outer));
        }
        let ended = ENDED.try_with(Cell::get).ok();
        if self.ended.is_some() && self.ended == ended {
            return;
        }
        let _ = ENDED.try_with(|ended| ended.set(ended.get() + u64::from(!self.is_alone)));
        let end = Instant::now();
        let call = self.call.or(self.outer.call);
        let mut noted = NOTED.lock();
        let thread = thread(&mut noted);
        let times = Times::Host(self.begin, end);
        noted.add(Event {
            id: self.id,
            cause: self.outer.id,
            call,
            thread,
            times,
            what: self.what,
            caller: self.caller,
        });
    }
}

/// Runs `work`, which a thread of the library does for a call, with that call as its cause.
pub fn caused_by<T>(cause: Cause, work: impl FnOnce() -> T) -> T {
    let Some(inner) = cause.0 else { return work() };
    let outer = CURRENT.try_with(|current| current.replace(inner)).ok();
    let done = work();
    if let Some(outer) = outer {
        let _ = CURRENT.try_with(|current| current.set(outer));
    }
    done
}

/// The call under way on a thread.
#[derive(Clone, Copy)]
pub struct Cause(Option<Current>);

/// The call under way on this thread, if a trace is recorded.
pub fn cause() -> Cause {
    Cause(is_on().then(current))
}

/// Notes that a device works for the event `of`; `times` is asked until it knows when.
pub fn on_device(name: Name, track: Track, of: u64, times: DeviceTimes) {
    let (id, call) = (new_id(), current().call);
    let what = What::Device { name, track, of };
    let event = Event { id, cause: of, call, thread: 0, times: Times::Device(0, 0), what, caller: None };
    let mut noted = NOTED.lock();
    if !is_on() {
        // It would hold the device until the next trace.
        return;
    }
    if noted.open.len() < MOST && noted.open.try_reserve(1).is_ok() {
        noted.open.push((event, times));
    } else {
        noted.lost += 1;
    }
}
