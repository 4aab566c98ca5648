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
/// How many different launches are remembered.
pub(super) const LAUNCHES: usize = 256;

static ON: AtomicBool = AtomicBool::new(false);
static TIMES_DEVICES: AtomicBool = AtomicBool::new(false);
static HAS_LINES: AtomicBool = AtomicBool::new(false);
/// Number of the trace, so that each thread names itself in each.
static TRACE: AtomicU64 = AtomicU64::new(0);
static NEXT_ID: AtomicU64 = AtomicU64::new(1);
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);
static NOTED: Mutex<Noted, { rank::TRACE }> = Mutex::new(Noted::new());

thread_local! {
    static LOCAL: Local = const { Local { ended: Cell::new(0), named: Cell::new((0, 0)), current: Cell::new(Current::NONE) } };
}

/// What is known of a thread. Without a destructor, so that it is there until the thread ends.
struct Local {
    /// How many spans ended.
    ended: Cell<u64>,
    /// The last trace in which the thread named itself, and its number.
    named: Cell<(u64, u64)>,
    /// The span under way.
    current: Cell<Current>,
}

/// The innermost span of a call on a thread.
#[derive(Clone, Copy)]
struct Current {
    id: u64,
    call: Option<Call>,
    begin: Option<Instant>,
    /// How many spans had ended on the thread if this one counts only if others end within.
    ended: Option<u64>,
}

impl Current {
    const NONE: Self = Self { id: 0, call: None, begin: None, ended: None };
}

/// A queue, as the trace names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// What launches that differ only in their times have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The kernel's name; file and line of a lambda.
    pub kernel: Name,
    /// Where it runs.
    pub track: Track,
    /// What it captures, unless its call says so.
    pub captures: Captures,
}

impl Launch {
    /// Its place among those that are remembered.
    fn slot(&self, thread: u64) -> usize {
        let begin = u64::from(self.kernel.number()) + 31 * thread;
        let mixed = self.captures.iter().fold(begin, |sum, c| sum.wrapping_mul(31).wrapping_add(c.source));
        (mixed % LAUNCHES as u64) as usize
    }
}

/// One noted thing. Launches are many, so theirs are small.
#[derive(Debug)]
pub(super) enum Entry {
    /// An event.
    Event(Box<Event>),
    /// From here on, launches of this slot are these.
    Launches(usize, Box<Launches>),
    /// A launch was given to a queue.
    Launch { slot: usize, id: u64, begin: Instant, end: Instant },
}

/// Launches of a thread by the same call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launches {
    pub launch: Launch,
    pub thread: u64,
    pub cause: u64,
    pub call: Option<Call>,
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
struct Noted {
    entries: Vec<Entry>,
    /// The latest launches of each slot.
    launches: Vec<Option<Launches>>,
    /// Work on devices whose times are not known yet, with events that lack them.
    open: Vec<(Event, DeviceTimes)>,
    /// How many events were lost.
    lost: u64,
    writer: Option<Thread>,
}

impl Noted {
    const fn new() -> Self {
        Self { entries: Vec::new(), launches: Vec::new(), open: Vec::new(), lost: 0, writer: None }
    }

    /// False if the entry is lost.
    fn add(&mut self, entry: Entry) -> bool {
        if self.entries.len() >= MOST || self.entries.try_reserve(1).is_err() {
            self.lost += 1;
            return false;
        }
        self.entries.push(entry);
        if self.entries.len() % WAKE == 0 {
            self.writer.iter().for_each(Thread::unpark);
        }
        true
    }

    /// The slot of launches like this; `None` if there is no room to describe them.
    fn slot(&mut self, launch: &Launch, thread: u64, cause: u64, call: Option<Call>) -> Option<usize> {
        let slot = launch.slot(thread);
        let is_known = |l: &Launches| l.thread == thread && l.cause == cause && l.launch == *launch && l.call == call;
        if !self.launches.get(slot)?.as_ref().is_some_and(is_known) {
            let launches = Launches { launch: launch.clone(), thread, cause, call };
            let is_noted = self.add(Entry::Launches(slot, Box::new(launches.clone())));
            self.launches[slot] = is_noted.then_some(launches);
        }
        self.launches[slot].is_some().then_some(slot)
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
    let earlier = std::mem::replace(&mut *noted, Noted { launches: vec![None; LAUNCHES], ..Noted::new() });
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

/// Takes what is noted: entries into `entries`, which is empty and whose memory is used from here on. The work that is open on
/// devices comes back by [`give_back`].
pub(super) fn take(entries: &mut Vec<Entry>) -> (Vec<(Event, DeviceTimes)>, u64) {
    let mut noted = NOTED.lock();
    let noted = &mut *noted;
    std::mem::swap(&mut noted.entries, entries);
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
    let (known, number) = LOCAL.with(|local| local.named.get());
    if known == trace {
        return number;
    }
    let number = if number > 0 { number } else { NEXT_THREAD.fetch_add(1, Ordering::Relaxed) };
    LOCAL.with(|local| local.named.set((trace, number)));
    let name = std::thread::current().name().map(Name::of);
    let now = Instant::now();
    let what = What::Thread(name);
    let times = Times::Host(now, now);
    noted.add(Entry::Event(Box::new(Event { id: 0, cause: 0, call: None, thread: number, times, what, caller: None })));
    number
}

fn new_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

fn current() -> Current {
    LOCAL.with(|local| local.current.get())
}

fn set_current(current: Current) {
    LOCAL.with(|local| local.current.set(current));
}

/// False in a span that counts only if others end within, while none has.
fn counts() -> bool {
    LOCAL.with(|local| local.current.get().ended != Some(local.ended.get()))
}

/// Something that takes time on this thread. It is noted when this is dropped.
#[must_use]
pub struct Span(Option<(Begun, What)>);

/// The span of a call that is noted only if something else is noted within.
#[must_use]
pub struct CallOfOthers<'a>(Option<(Begun, &'a dyn Fn() -> Object)>);

/// The span of a launch.
#[must_use]
pub struct LaunchSpan<'a> {
    begun: Begun,
    launch: &'a Launch,
    /// Its call is not noted because of it.
    is_alone: bool,
}

/// The beginning of a span.
struct Begun {
    id: u64,
    begin: Instant,
    call: Option<Call>,
    /// The span around it.
    outer: Current,
}

impl Begun {
    #[cold]
    fn new(call: Option<Call>) -> Self {
        Self { id: new_id(), begin: Instant::now(), call, outer: current() }
    }

    /// What happens from here on has it as its cause.
    fn enter(&self, ended: Option<u64>) {
        set_current(Current { id: self.id, call: self.call, begin: Some(self.begin), ended });
    }

    #[cold]
    fn end(self, what: What) {
        let has_line = (self.call.is_some() || matches!(what, What::Race(_))) && HAS_LINES.load(Ordering::Relaxed);
        let caller = has_line.then(|| Box::new(Backtrace::force_capture()));
        let times = Times::Host(self.begin, ended());
        let (id, cause, call) = (self.id, self.outer.id, self.call.or(self.outer.call));
        let mut event = Box::new(Event { id, cause, call, thread: 0, times, what, caller });
        let mut noted = NOTED.lock();
        event.thread = thread(&mut noted);
        noted.add(Entry::Event(event));
    }
}

/// A span ends on this thread now.
fn ended() -> Instant {
    LOCAL.with(|local| local.ended.set(local.ended.get() + 1));
    Instant::now()
}

impl Span {
    /// A span, if a trace is recorded.
    #[inline]
    pub fn new(what: impl FnOnce() -> What) -> Self {
        Self(is_on().then(|| (Begun::new(None), what())))
    }

    /// The span of a call, if a trace is recorded. What happens within has it as its cause.
    #[inline]
    pub fn call(call: Call, object: impl FnOnce() -> Object) -> Self {
        let begin = || {
            let begun = Begun::new(Some(call));
            begun.enter(None);
            (begun, What::Call(object()))
        };
        Self(is_on().then(begin))
    }

    /// A wait for work of the queue whose timeline has this id; a look without waiting is none.
    #[inline]
    pub fn wait(queue: u64, timeout: Option<Duration>) -> Self {
        if timeout == Some(Duration::ZERO) { Self(None) } else { Self::new(|| What::Wait(queue)) }
    }

    /// Forgets it if `result` is a failure: what was begun will be tried again, or is reported otherwise.
    pub fn unless_failed<T, E>(mut self, result: &std::result::Result<T, E>) {
        if result.is_err() {
            self.0 = None;
        }
    }

    /// Its id; 0 if no trace is recorded.
    pub fn id(&self) -> u64 {
        self.0.as_ref().map_or(0, |(begun, _)| begun.id)
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if let Some((begun, what)) = self.0.take() {
            if begun.call.is_some() {
                set_current(begun.outer);
            }
            begun.end(what);
        }
    }
}

impl<'a> CallOfOthers<'a> {
    /// The span, if a trace is recorded.
    #[inline]
    pub fn new(call: Call, object: &'a dyn Fn() -> Object) -> Self {
        let begin = || {
            let begun = Begun::new(Some(call));
            begun.enter(Some(LOCAL.with(|local| local.ended.get())));
            (begun, object)
        };
        Self(is_on().then(begin))
    }
}

impl Drop for CallOfOthers<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some((begun, object)) = self.0.take() {
            let counts = counts();
            set_current(begun.outer);
            if counts {
                begun.end(What::Call(object()));
            }
        }
    }
}

impl<'a> LaunchSpan<'a> {
    /// A launch, while a trace is recorded.
    #[cold]
    pub fn new(launch: &'a Launch) -> Self {
        Self { begun: Begun::new(None), launch, is_alone: false }
    }

    /// A launch that is all that its call does: it begins with the call, and the call is not noted because of it.
    #[cold]
    pub fn of_call(launch: &'a Launch) -> Self {
        let outer = current();
        let begin = outer.begin.unwrap_or_else(Instant::now);
        Self { begun: Begun { id: new_id(), begin, call: None, outer }, launch, is_alone: true }
    }

    /// Its id.
    pub fn id(&self) -> u64 {
        self.begun.id
    }
}

impl Drop for LaunchSpan<'_> {
    #[cold]
    fn drop(&mut self) {
        let Begun { id, begin, ref outer, .. } = self.begun;
        let end = if self.is_alone { Instant::now() } else { ended() };
        let cause = if counts() { outer.id } else { 0 };
        let mut noted = NOTED.lock();
        let thread = thread(&mut noted);
        match noted.slot(self.launch, thread, cause, outer.call) {
            Some(slot) => drop(noted.add(Entry::Launch { slot, id, begin, end })),
            None => noted.lost += 1,
        }
    }
}

/// Runs `work`, which a thread of the library does for a call, with that call as its cause.
pub fn caused_by<T>(cause: Cause, work: impl FnOnce() -> T) -> T {
    let Some(inner) = cause.0 else { return work() };
    let outer = LOCAL.with(|local| local.current.replace(inner));
    let done = work();
    set_current(outer);
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
