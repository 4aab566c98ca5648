//! The events of a trace. An event describes work that the library did for the program, with the thread and the cause of the
//! work. Threads note events in memory, and [`super::recorder`] writes the events to a file.

use super::labels;
use super::names::Name;
use super::transfers::{Call, Rule};
use crate::lock::{Mutex, rank};
use smallvec::SmallVec;
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// The number of events that may wait to be written. Further events are lost, and counted.
const MAX_PENDING_EVENTS: usize = 1 << 21;
/// The number of events after which the writer is woken.
const WAKE_EVENTS: usize = 1 << 12;
/// The number of kinds of repeated events that are remembered.
pub(super) const KINDS: usize = 1 << u8::BITS;
/// The number of ids that a thread takes at once.
const IDS: u64 = 1 << 10;

static ON: AtomicBool = AtomicBool::new(false);
static TIMES_DEVICES: AtomicBool = AtomicBool::new(false);
static HAS_LINES: AtomicBool = AtomicBool::new(false);
/// The number of the trace that is recorded, or was recorded last. Each thread notes its name once in each trace.
static TRACE: AtomicU64 = AtomicU64::new(0);
static NEXT_ID: AtomicU64 = AtomicU64::new(1);
static NEXT_THREAD: AtomicU64 = AtomicU64::new(1);
static NOTED: Mutex<PendingEvents, { rank::TRACE }> = Mutex::new(PendingEvents::new());
/// The counter from which the times of events are read.
static CLOCK: OnceLock<fn() -> u64> = OnceLock::new();

thread_local! {
    static LOCAL: Local = const { Local::new() };
}

/// The state of a thread. It has no destructor, so it can be used until the thread ends.
struct Local {
    /// The number of spans that have ended on this thread.
    ended: Cell<u64>,
    /// The number of the last trace in which the thread noted its name (0: none), and the number of the thread.
    named: Cell<(u64, u64)>,
    /// The innermost span of a call that is under way.
    current: Cell<Current>,
    /// The next id of this thread, and the number of ids that the thread has left.
    ids: Cell<(u64, u64)>,
}

impl Local {
    const fn new() -> Self {
        let current = Cell::new(Current::NONE);
        Self { ended: Cell::new(0), named: Cell::new((0, 0)), current, ids: Cell::new((0, 0)) }
    }

    fn new_id(&self) -> u64 {
        let (next, left) = match self.ids.get() {
            (_, 0) => (NEXT_ID.fetch_add(IDS, Ordering::Relaxed), IDS),
            known => known,
        };
        self.ids.set((next + 1, left - 1));
        next
    }

    /// Counts a span that ends.
    fn end(&self) {
        self.ended.set(self.ended.get() + 1);
    }

    /// False in a conditional span, as long as no other span has ended within it.
    fn must_note(&self) -> bool {
        self.current.get().ended != Some(self.ended.get())
    }

    /// The current span, for a thread that continues its work. From here on a conditional span must be noted, because the
    /// events of that thread name it as their cause.
    fn hand_over(&self) -> Current {
        let noted = Current { ended: None, ..self.current.get() };
        self.current.set(noted);
        // On the other thread, a launch begins when that thread makes it.
        Current { begin: None, ..noted }
    }

    /// The number of this thread. At the first event of the thread in a trace, also notes its name.
    fn number(&self, noted: &mut PendingEvents) -> u64 {
        let trace = TRACE.load(Ordering::Relaxed);
        let (known, number) = self.named.get();
        if known == trace { number } else { self.name(trace, number, noted) }
    }

    #[cold]
    fn name(&self, trace: u64, number: u64, noted: &mut PendingEvents) -> u64 {
        let thread = if number > 0 { number } else { NEXT_THREAD.fetch_add(1, Ordering::Relaxed) };
        let is_noted = noted.push(Entry::Thread(thread, std::thread::current().name().map(Name::of)));
        self.named.set((if is_noted { trace } else { 0 }, thread));
        thread
    }
}

/// The innermost span of a call on a thread.
#[derive(Clone, Copy)]
struct Current {
    id: u64,
    call: Option<Call>,
    /// The time at which the span began; `None` without a span.
    begin: Option<u64>,
    /// For a conditional span ([`ConditionalCallSpan`]): the number of spans that had ended on the thread when it began.
    ended: Option<u64>,
}

impl Current {
    const NONE: Self = Self { id: 0, call: None, begin: None, ended: None };
}

/// A queue in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Track {
    /// The id of the queue's timeline.
    pub queue: u64,
    /// The name of the queue's accelerator.
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

/// The object that a call uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// The name of the view, array or kernel in messages.
    pub name: Name,
    /// The id of the view's data source; 0: none.
    pub source: u64,
    /// For a copy between two views: the id of the data source that the copy reads; otherwise 0.
    pub read_source: u64,
    /// The captures of a launch.
    pub captures: Captures,
}

/// How a kernel uses the data sources of its array_views, as far as the compiler knows.
pub type Captures = SmallVec<[Capture; 4]>;

/// The id of a data source, and how a kernel uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Capture {
    /// The id of the data source.
    pub source: u64,
    /// True if the kernel reads the data source.
    pub reads: bool,
    /// True if the kernel writes the data source.
    pub writes: bool,
    /// True if the kernel may write through the view: the view is not an `array_view<const T>`.
    pub may_write: bool,
    /// The maximum number of bytes that the launch accesses through the view; 0 if it is unknown.
    pub max_bytes: u64,
}

impl Object {
    /// An object with only a name.
    pub fn named(name: Name) -> Self {
        Self::of(name, 0)
    }
    /// A view, or an array, with the id of its data source.
    pub fn of(name: Name, source: u64) -> Self {
        Self { name, source, read_source: 0, captures: SmallVec::new() }
    }
}

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventContent {
    /// A call of the program that may move data or wait.
    Call(Object),
    /// A launch was given to a queue.
    Launch(Launch),
    /// Bytes moved.
    Transfer {
        /// The number of bytes.
        bytes: u64,
        /// The accelerator that the bytes came from; `None`: the host.
        from: Option<Name>,
        /// The accelerator that the bytes went to; `None`: the host.
        to: Option<Name>,
        /// The id of the view's data source; 0: none.
        source: u64,
        /// The name of the view or array in messages.
        object: Name,
        /// The address of the bytes in host memory; 0: none.
        address: usize,
        /// True if the bytes pass through staging memory of the library.
        is_staged: bool,
        /// The rule that caused the transfer, if the program did not request the transfer.
        rule: Option<Rule>,
    },
    /// A failure of a call. The program may have no way to see this failure.
    Failure(Name),
    /// Two concurrent uses of common elements, at least one of which writes.
    Race(Name),
    /// The thread waited for work of the queue whose timeline has this id.
    Wait(u64),
    /// A pipeline was built for this kernel.
    Pipeline(Name),
    /// A device worked for the event with this id.
    Device {
        /// The name of the kernel, view or array.
        name: Name,
        /// The queue.
        track: Track,
        /// The id of the event of the launch or transfer.
        of: u64,
    },
}

/// A launch of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The name of the kernel. For a lambda, its file and line.
    pub kernel: Name,
    /// The queue on which the kernel runs.
    pub track: Track,
    /// The captures of the launch, unless the event of the call has them.
    pub captures: Captures,
}

/// An entry in the list of noted events. Most entries are repeated events, so these entries are small.
#[derive(Debug)]
pub(super) enum Entry {
    /// The first event of a thread follows: the number of the thread, and its name if it has one.
    Thread(u64, Option<Name>),
    /// An event.
    Event(Box<Event>),
    /// From here on, repeated events with this number are of this kind.
    Kind(u8, Box<Kind>),
    /// An event of the kind with this number.
    Repeated { kind: u8, id: u64, cause: u64, times: (u64, u64) },
}

/// The common content of events that differ only in their ids and times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The number of the thread that noted the events.
    pub thread: u64,
    /// True if the events have a cause.
    pub has_cause: bool,
    /// The call that caused the events.
    pub call: Option<Call>,
    /// The content.
    pub content: EventContent,
}

/// The call that an event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Context {
    thread: u64,
    has_cause: bool,
    call: Option<Call>,
}

impl Kind {
    fn new(Context { thread, has_cause, call }: Context, content: EventContent) -> Self {
        Self { thread, has_cause, call, content }
    }

    fn is_in(&self, context: Context) -> bool {
        self.thread == context.thread && self.has_cause == context.has_cause && self.call == context.call
    }
}

impl EventContent {
    /// A key for the remembered kinds. `None` for content that few events have. The keys of launches come from their numbers.
    fn key(&self) -> Option<u64> {
        match self {
            Self::Call(object) => {
                let sources = object.captures.iter().map(|c| c.source);
                Some(joined(sources, u64::from(object.name.number()) << 20 ^ object.source))
            }
            Self::Wait(queue) => Some(queue << 22),
            _ => None,
        }
    }
}

/// One number for several numbers.
fn joined(numbers: impl Iterator<Item = u64>, first: u64) -> u64 {
    numbers.fold(first, |sum, number| sum.rotate_left(7) ^ number)
}

/// The number of the kind with this key among the remembered kinds.
fn kind_number(key: u64, thread: u64) -> u8 {
    // The multiplication spreads the key over the highest bits.
    ((key ^ thread << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - u8::BITS)) as u8
}

/// A remembered kind of repeated events.
#[derive(Debug, Clone)]
struct RememberedKind {
    kind: Kind,
    /// The numbers that determine a launch ([`LaunchSpan`]); otherwise empty.
    determined_by: Vec<u64>,
}

/// One event.
#[derive(Debug)]
pub struct Event {
    /// The id of the event. It is unique within the process.
    pub id: u64,
    /// The id of the event that caused this event, or 0.
    pub cause: u64,
    /// The times at which the event began and ended. For work on a device: nanoseconds of the host's clock. Otherwise: counts of
    /// the counter.
    pub times: (u64, u64),
    /// The rest of the event.
    pub kind: Kind,
    /// The backtrace of the call, if lines are recorded.
    pub caller: Option<Box<Backtrace>>,
}

/// Returns the times of work on a device, once the work is done.
pub type DeviceTimes = Box<dyn FnMut() -> Progress + Send>;

/// The progress of work on a device.
pub enum Progress {
    /// The work is not done.
    Open,
    /// The times at which the work began and ended.
    Done(u64, u64),
    /// The times will never be known.
    Lost,
}

/// Events that are not yet written.
struct PendingEvents {
    entries: Vec<Entry>,
    /// The kinds of repeated events. The number of a kind is the index.
    kinds: Vec<Option<RememberedKind>>,
    /// Events of work on devices. The times of these events are not known yet.
    unfinished: Vec<(Event, DeviceTimes)>,
    /// The number of lost events.
    lost: u64,
    writer: Option<Thread>,
}

impl PendingEvents {
    const fn new() -> Self {
        Self { entries: Vec::new(), kinds: Vec::new(), unfinished: Vec::new(), lost: 0, writer: None }
    }

    /// Adds the entry of an event. Without room for the entry, the event is lost.
    fn add(&mut self, entry: Entry) {
        if !self.push(entry) {
            self.lost += 1;
        }
    }

    /// Adds an entry. False if there is no room for the entry.
    fn push(&mut self, entry: Entry) -> bool {
        if self.entries.len() >= MAX_PENDING_EVENTS || self.entries.try_reserve(1).is_err() {
            return false;
        }
        self.entries.push(entry);
        if self.entries.len() % WAKE_EVENTS == 0 {
            self.writer.iter().for_each(Thread::unpark);
        }
        true
    }

    /// Notes an event if it is of a kind that is often repeated. Returns false for other events, which the caller must note.
    fn repeat(&mut self, context: Context, content: &EventContent, (id, cause): (u64, u64), times: (u64, u64)) -> bool {
        let Some(key) = content.key() else { return false };
        let number = kind_number(key, context.thread);
        let is_known = |known: &RememberedKind| known.kind.is_in(context) && known.kind.content == *content;
        let make = || RememberedKind { kind: Kind::new(context, content.clone()), determined_by: Vec::new() };
        if self.assign_number(number, is_known, make) {
            self.add(Entry::Repeated { kind: number, id, cause, times });
        }
        true
    }

    /// Assigns this number to a kind, unless the kind has the number already: then `is_known` is true of the kind with the number.
    /// Otherwise `make` makes the kind. Without room for the entry that notes the assignment, returns false, and the event is lost.
    #[inline]
    fn assign_number(
        &mut self,
        number: u8,
        is_known: impl FnOnce(&RememberedKind) -> bool,
        make: impl FnOnce() -> RememberedKind,
    ) -> bool {
        match self.kinds.get(usize::from(number)) {
            Some(Some(known)) if is_known(known) => true,
            Some(_) => self.assign_new(number, make()),
            // No trace has begun.
            None => {
                self.lost += 1;
                false
            }
        }
    }

    #[cold]
    fn assign_new(&mut self, number: u8, new: RememberedKind) -> bool {
        let is_noted = self.push(Entry::Kind(number, Box::new(new.kind.clone())));
        self.kinds[usize::from(number)] = is_noted.then_some(new);
        self.lost += u64::from(!is_noted);
        is_noted
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

/// What a trace contains in addition to the events of the host.
#[derive(Debug, Clone, Copy)]
pub struct TraceOptions {
    /// True for the times of work on devices.
    pub times_devices: bool,
    /// True for the source lines of the program's calls.
    pub lines: bool,
}

/// Begins to note events, and returns the number of the trace. `clock`: the counter from which the times of events are read.
pub(super) fn begin(options: TraceOptions, clock: fn() -> u64) -> u64 {
    CLOCK.get_or_init(|| clock);
    let mut noted = NOTED.lock();
    let entries = Vec::with_capacity(2 * WAKE_EVENTS);
    let earlier =
        std::mem::replace(&mut *noted, PendingEvents { entries, kinds: vec![None; KINDS], ..PendingEvents::new() });
    let trace = TRACE.fetch_add(1, Ordering::Relaxed) + 1;
    TIMES_DEVICES.store(options.times_devices, Ordering::Relaxed);
    HAS_LINES.store(options.lines, Ordering::Relaxed);
    ON.store(true, Ordering::Release);
    drop(noted);
    // Dropped without the lock, because timers may hold the last references to a device.
    drop(earlier);
    trace
}

/// The number of the trace that is being recorded, if any.
pub fn trace() -> Option<u64> {
    is_on().then(|| TRACE.load(Ordering::Relaxed))
}

/// Sets the thread that is woken when there are many events of the trace with this number. Has no effect if the trace has ended.
pub fn wake(number: u64, writer: Thread) {
    let mut noted = NOTED.lock();
    if trace() == Some(number) {
        noted.writer = Some(writer);
    }
}

/// Stops noting events.
pub(super) fn end() {
    ON.store(false, Ordering::Release);
    TIMES_DEVICES.store(false, Ordering::Relaxed);
}

/// Takes the noted events. `entries`, which must be empty, gets the entries; its memory is used for later entries. Returns the
/// events of work on devices, and the number of lost events. The caller gives events of unfinished work to [`give_back`].
pub(super) fn take(entries: &mut Vec<Entry>) -> (Vec<(Event, DeviceTimes)>, u64) {
    let mut noted = NOTED.lock();
    let noted = &mut *noted;
    std::mem::swap(&mut noted.entries, entries);
    (std::mem::take(&mut noted.unfinished), std::mem::take(&mut noted.lost))
}

/// Takes back events of work that devices have not finished.
pub(super) fn give_back(mut unfinished: Vec<(Event, DeviceTimes)>) {
    let mut noted = NOTED.lock();
    unfinished.append(&mut noted.unfinished);
    noted.unfinished = unfinished;
}

/// The current count.
pub(super) fn now() -> u64 {
    CLOCK.get().map_or(0, |clock| clock())
}

fn set_current(current: Current) {
    LOCAL.with(|local| local.current.set(current));
}

/// An activity of this thread, which is noted as an event when the span is dropped.
#[must_use]
pub struct Span(Option<(Begun, EventContent)>);

/// The span of a call that is noted only if another event is noted within it.
#[must_use]
pub struct ConditionalCallSpan<'a>(Option<(Begun, &'a dyn Fn() -> Object)>);

/// The span of a launch. `N` returns numbers that determine the launch, and `L` returns the launch. A launch with the numbers of an
/// earlier launch is not made again.
#[must_use]
pub struct LaunchSpan<N: Numbers, L: Fn() -> Launch> {
    id: u64,
    begin: u64,
    numbers: N,
    launch: L,
    /// True if the launch is the only work of its call. A conditional span of the call is then not noted.
    is_alone: bool,
}

/// Returns the numbers that determine a launch, without memory for them.
pub trait Numbers {
    /// The numbers.
    fn numbers(&self) -> impl Iterator<Item = u64>;
}

impl<I: Iterator<Item = u64>, F: Fn() -> I> Numbers for F {
    fn numbers(&self) -> impl Iterator<Item = u64> {
        self()
    }
}

/// The beginning of a span.
struct Begun {
    id: u64,
    begin: u64,
    call: Option<Call>,
    /// The enclosing span.
    outer: Current,
}

impl Begun {
    /// Begins a span. If it is the span of a call, it is the cause of events that begin before it ends.
    #[cold]
    fn new(call: Option<Call>, must_note: bool) -> Self {
        LOCAL.with(|local| {
            let (id, begin, outer) = (local.new_id(), now(), local.current.get());
            if call.is_some() {
                let ended = (!must_note).then(|| local.ended.get());
                local.current.set(Current { id, call, begin: Some(begin), ended });
            }
            Self { id, begin, call, outer }
        })
    }

    #[cold]
    fn end(&self, content: &EventContent) {
        let has_line =
            (self.call.is_some() || matches!(content, EventContent::Race(_))) && HAS_LINES.load(Ordering::Relaxed);
        let caller = has_line.then(|| Box::new(Backtrace::force_capture()));
        let times = (self.begin, now());
        let (id, cause, call) = (self.id, self.outer.id, self.call.or(self.outer.call));
        let mut noted = NOTED.lock();
        let thread = LOCAL.with(|local| {
            local.end();
            local.number(&mut noted)
        });
        let context = Context { thread, has_cause: cause > 0, call };
        if caller.is_some() || !noted.repeat(context, content, (id, cause), times) {
            let kind = Kind::new(context, content.clone());
            noted.add(Entry::Event(Box::new(Event { id, cause, times, kind, caller })));
        }
    }
}

impl Span {
    /// A span, if a trace is recorded.
    #[inline]
    pub fn new(content: impl FnOnce() -> EventContent) -> Self {
        Self(is_on().then(|| (Begun::new(None, true), content())))
    }

    /// The span of a call, if a trace is recorded. It is the cause of events within it.
    #[inline]
    pub fn call(call: Call, object: impl FnOnce() -> Object) -> Self {
        Self(is_on().then(|| (Begun::new(Some(call), true), EventContent::Call(object()))))
    }

    /// The span of a wait for work of the queue whose timeline has this id. Polling (a timeout of zero) has no span.
    #[inline]
    pub fn wait(queue: u64, timeout: Option<Duration>) -> Self {
        if timeout == Some(Duration::ZERO) { Self(None) } else { Self::new(|| EventContent::Wait(queue)) }
    }

    /// Drops the span without noting it if `result` is a failure. The activity is retried, or its failure is reported elsewhere.
    pub fn unless_failed<T, E>(mut self, result: &std::result::Result<T, E>) {
        if result.is_err() {
            self.0 = None;
        }
    }

    /// The id of the event; 0 if no trace is recorded.
    pub fn id(&self) -> u64 {
        self.0.as_ref().map_or(0, |(begun, _)| begun.id)
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if let Some((begun, content)) = &self.0 {
            if begun.call.is_some() {
                set_current(begun.outer);
            }
            begun.end(content);
        }
    }
}

impl<'a> ConditionalCallSpan<'a> {
    /// The span, if a trace is recorded.
    #[inline]
    pub fn new(call: Call, object: &'a dyn Fn() -> Object) -> Self {
        Self(is_on().then(|| (Begun::new(Some(call), false), object)))
    }
}

impl Drop for ConditionalCallSpan<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some((begun, object)) = &self.0 {
            let must_note = LOCAL.with(|local| {
                let must_note = local.must_note();
                local.current.set(begun.outer);
                must_note
            });
            if must_note {
                begun.end(&EventContent::Call(object()));
            }
        }
    }
}

impl<N: Numbers, L: Fn() -> Launch> LaunchSpan<N, L> {
    /// The span of a launch. To be called only while a trace is recorded.
    #[cold]
    pub fn new(numbers: N, launch: L) -> Self {
        Self { id: LOCAL.with(Local::new_id), begin: now(), numbers, launch, is_alone: false }
    }

    /// The span of a launch that is the only work of its call. It begins when the call began. This span alone does not
    /// cause a conditional span of the call to be noted.
    #[inline]
    pub fn of_call(numbers: N, launch: L) -> Self {
        let (id, begin) = LOCAL.with(|local| (local.new_id(), local.current.get().begin));
        Self { id, begin: begin.unwrap_or_else(now), numbers, launch, is_alone: true }
    }

    /// The id of the event.
    pub fn id(&self) -> u64 {
        self.id
    }
}

impl<N: Numbers, L: Fn() -> Launch> Drop for LaunchSpan<N, L> {
    #[inline]
    fn drop(&mut self) {
        let times = (self.begin, now());
        LOCAL.with(|local| {
            if !self.is_alone {
                local.end();
            }
            let outer = local.current.get();
            let cause = if local.must_note() { outer.id } else { 0 };
            let mut noted = NOTED.lock();
            let context = Context { thread: local.number(&mut noted), has_cause: cause > 0, call: outer.call };
            let is_known = |known: &RememberedKind| {
                known.kind.is_in(context) && self.numbers.numbers().eq(known.determined_by.iter().copied())
            };
            let make = || RememberedKind {
                kind: Kind::new(context, EventContent::Launch((self.launch)())),
                determined_by: self.numbers.numbers().collect(),
            };
            let number = kind_number(joined(self.numbers.numbers(), 1), context.thread);
            if noted.assign_number(number, is_known, make) {
                noted.add(Entry::Repeated { kind: number, id: self.id, cause, times });
            }
        });
    }
}

/// Runs `work`, which a thread of the library does for a call. The call is then the cause of the events in `work`.
pub fn caused_by<T>(cause: Cause, work: impl FnOnce() -> T) -> T {
    /// Sets the current span of the thread when dropped, so also if `work` panics.
    struct Restore(Current);
    impl Drop for Restore {
        fn drop(&mut self) {
            set_current(self.0);
        }
    }
    let Some(inner) = cause.0 else { return work() };
    let _restore = Restore(LOCAL.with(|local| local.current.replace(inner)));
    work()
}

/// The call under way on a thread.
#[derive(Clone, Copy)]
pub struct Cause(Option<Current>);

/// The call under way on this thread, if a trace is recorded. The call is then noted.
pub fn cause() -> Cause {
    Cause(is_on().then(|| LOCAL.with(Local::hand_over)))
}

/// Notes that a device works for the event with the id `of`. `times` is called until it no longer returns
/// [`Progress::Open`].
pub fn on_device(name: Name, track: Track, of: u64, times: DeviceTimes) {
    let (id, call) = LOCAL.with(|local| (local.new_id(), local.current.get().call));
    let content = EventContent::Device { name, track, of };
    let kind = Kind { thread: 0, has_cause: true, call, content };
    let event = Event { id, cause: of, times: (0, 0), kind, caller: None };
    let mut noted = NOTED.lock();
    if !is_on() {
        // `times` would keep the device alive until the next trace.
        return;
    }
    if noted.unfinished.len() < MAX_PENDING_EVENTS && noted.unfinished.try_reserve(1).is_ok() {
        noted.unfinished.push((event, times));
    } else {
        noted.lost += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{catch_unwind, resume_unwind};

    #[test]
    fn a_thread_notes_its_name_once_there_is_room() {
        const TRACE_NUMBER: u64 = 7;
        let (local, mut noted) = (Local::new(), PendingEvents::new());
        noted.entries = (0..MAX_PENDING_EVENTS).map(|_| Entry::Thread(0, None)).collect();
        let thread = local.name(TRACE_NUMBER, 0, &mut noted);
        assert_eq!(local.named.get(), (0, thread));
        // Only events count as lost.
        assert_eq!(noted.lost, 0);
        noted.add(Entry::Repeated { kind: 0, id: 1, cause: 0, times: (0, 0) });
        assert_eq!(noted.lost, 1);
        noted.entries.clear();
        assert_eq!(local.name(TRACE_NUMBER, thread, &mut noted), thread);
        assert_eq!(local.named.get(), (TRACE_NUMBER, thread));
        assert!(matches!(noted.entries[..], [Entry::Thread(number, _)] if number == thread));
    }

    #[test]
    fn a_call_that_another_thread_continues_is_noted() {
        let local = Local::new();
        local.current.set(Current { id: 7, call: None, begin: Some(1), ended: Some(0) });
        assert!(!local.must_note());
        let (elsewhere, cause) = (Local::new(), local.hand_over());
        assert!(local.must_note());
        elsewhere.current.set(cause);
        assert!(elsewhere.must_note());
        assert_eq!((cause.id, cause.begin), (7, None));
    }

    #[test]
    fn a_panic_ends_the_cause() {
        let current = || LOCAL.with(|local| local.current.get());
        let cause = Cause(Some(Current { id: 7, ..Current::NONE }));
        let panicked = catch_unwind(|| {
            caused_by(cause, || {
                assert_eq!(current().id, 7);
                resume_unwind(Box::new(()))
            })
        });
        assert!(panicked.is_err());
        assert_eq!(current().id, 0);
    }
}
