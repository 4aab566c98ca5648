//! Events as packets of Perfetto's trace format.

use super::events::{Capture, Captures, Entry, Event, LAUNCHES, Launch, Launches, Times, Track, What};
use super::lines;
use super::names::Name;
use super::transfers::Call;
use revamp_perfetto::{
    InternedData, InternedName, InternedString, ProcessDescriptor, SEQ_INCREMENTAL_STATE_CLEARED,
    SEQ_NEEDS_INCREMENTAL_STATE, TYPE_INSTANT, TYPE_SLICE_BEGIN, TYPE_SLICE_END, TracePacket, TrackDescriptor, append,
    fields,
};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

const PROCESS: u64 = 1;

/// The track of a thread. Small numbers take few bytes.
fn thread_track(thread: u64) -> u64 {
    2 * thread
}

/// The track of a queue.
fn queue_track(queue: u64) -> u64 {
    2 * queue + PROCESS
}

/// All packets are of one sequence.
const SEQUENCE: u32 = 1;
/// The flag on packets that belong to the sequence.
const FLAGS: u32 = SEQ_NEEDS_INCREMENTAL_STATE;

macro_rules! names {
    ($(#[$doc:meta])* $name:ident, $all:ident: $($variant:ident $text:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        enum $name { $($variant),* }
        /// Their texts, in order.
        const $all: &[&str] = &[$($text),*];
    };
}

names! {
    /// The categories of events. Their numbers in a trace begin at 1.
    Category, CATEGORIES:
    Call "call",
    Launch "launch",
    Transfer "transfer",
    Wait "wait",
    Pipeline "pipeline",
    Device "device",
    Submitted "submitted",
    Race "race",
    Failure "failure",
    Thread "thread",
    Lost "lost",
}
names! {
    /// The names of annotations. Their numbers in a trace begin at 1.
    Key, KEYS:
    Events "events",
    Id "id",
    Cause "cause",
    Call "call",
    Line "line",
    Object "object",
    Source "source",
    Captures "captures",
    Kernel "kernel",
    Queue "queue",
    Accelerator "accelerator",
    Bytes "bytes",
    From "from",
    To "to",
    Address "address",
    Kind "kind",
    Staged "staged",
    Of "of",
}

/// Names that a trace has brought already.
#[derive(Default)]
struct Known(Vec<bool>);

impl Known {
    /// True if the name is new.
    fn add(&mut self, name: Name) -> bool {
        let number = name.number() as usize;
        if self.0.len() <= number {
            self.0.resize(number + 1, false);
        }
        !std::mem::replace(&mut self.0[number], true)
    }
}

/// The packets of a launch without its times and id: the mark on the queue's track, and the slice on the thread's.
#[derive(Default)]
struct Pattern {
    bytes: Vec<u8>,
    /// Where the times of the mark, of the begin and of the end are.
    times: [usize; 3],
    /// Where the ids of the mark's and of the slice's arrows are.
    flows: [usize; 2],
}

/// Makes packets of events. Those of events are written field by field, since there are many of them.
pub(super) struct Encoder {
    /// A time of this process's clock, and the same time in nanoseconds.
    base: (Instant, u64),
    /// The texts that were brought as names of events, and as values of annotations.
    names: Known,
    values: Known,
    /// The names of calls, by where their texts are.
    calls: HashMap<usize, Name>,
    /// The launches of each slot.
    launches: Vec<Pattern>,
    /// The queues that have a track.
    queues: HashSet<u64>,
    /// Texts that the next packet brings along.
    new: InternedData,
    has_new: bool,
    /// The annotations of the next event, and all of it.
    annotations: Vec<u8>,
    event: Vec<u8>,
    bytes: Vec<u8>,
}

impl Encoder {
    /// An encoder, and the packets at the beginning of a trace.
    pub fn new(base: (Instant, u64)) -> Self {
        let mut made = Self {
            base,
            names: Known::default(),
            values: Known::default(),
            calls: HashMap::new(),
            launches: (0..LAUNCHES).map(|_| Pattern::default()).collect(),
            queues: HashSet::new(),
            new: InternedData::default(),
            has_new: true,
            annotations: Vec::new(),
            event: Vec::new(),
            bytes: Vec::new(),
        };
        made.new.event_categories = numbered(CATEGORIES);
        made.new.debug_annotation_names = numbered(KEYS);
        let program = std::env::current_exe().ok().and_then(|p| Some(p.file_name()?.to_string_lossy().into_owned()));
        let pid = i32::try_from(std::process::id()).ok();
        let process = Some(ProcessDescriptor { pid, process_name: program });
        let descriptor = TrackDescriptor { uuid: Some(PROCESS), process, ..Default::default() };
        made.texts(Some(descriptor), SEQ_INCREMENTAL_STATE_CLEARED);
        made
    }

    /// The packets made since this was last emptied.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Adds a packet that brings the new texts, and describes a track.
    fn texts(&mut self, track_descriptor: Option<TrackDescriptor>, flags: u32) {
        let packet = TracePacket {
            interned_data: self.new_texts(),
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(flags),
            track_descriptor,
            ..Default::default()
        };
        append(&packet, &mut self.bytes);
    }

    /// Texts that no packet has brought yet.
    fn new_texts(&mut self) -> Option<InternedData> {
        std::mem::take(&mut self.has_new).then(|| std::mem::take(&mut self.new))
    }

    fn child(&mut self, uuid: u64, name: String) {
        let descriptor =
            TrackDescriptor { uuid: Some(uuid), parent_uuid: Some(PROCESS), name: Some(name), ..Default::default() };
        self.texts(Some(descriptor), FLAGS);
    }

    fn queue(&mut self, track: Track) -> u64 {
        let uuid = queue_track(track.queue);
        if self.queues.insert(track.queue) {
            self.child(uuid, track.name());
        }
        uuid
    }

    fn text(&mut self, key: Key, name: Name) {
        if self.values.add(name) {
            let str = Some(name.text().as_bytes().to_vec());
            self.new.debug_annotation_string_values.push(InternedString { iid: Some(u64::from(name.number())), str });
            self.has_new = true;
        }
        fields::text_annotation(key as u64 + 1, u64::from(name.number()), &mut self.annotations);
    }

    fn number(&mut self, key: Key, value: u64) {
        fields::number_annotation(key as u64 + 1, value, &mut self.annotations);
    }

    fn nanoseconds(&self, time: Instant) -> u64 {
        let (base, ns) = self.base;
        match time.checked_duration_since(base) {
            Some(later) => ns.saturating_add(later.as_nanos() as u64),
            None => ns.saturating_sub((base - time).as_nanos() as u64),
        }
    }

    /// Has the next packet bring this name of events, if it is new.
    fn name(&mut self, name: Name) {
        if self.names.add(name) {
            self.new.event_names.push(interned(u64::from(name.number()), &name.text()));
            self.has_new = true;
        }
    }

    /// Adds a packet with an event of this type, with the annotations that were made for it. Returns where its time is.
    fn packet(
        &mut self,
        kind: i32,
        track: u64,
        time: u64,
        named: Option<(Category, Name)>,
        flow: Option<u64>,
    ) -> usize {
        self.event.clear();
        fields::event(kind, track, &mut self.event);
        if let Some((category, name)) = named {
            self.name(name);
            fields::named(category as u64 + 1, u64::from(name.number()), &mut self.event);
        }
        self.event.append(&mut self.annotations);
        if let Some(flow) = flow {
            fields::flow(flow, &mut self.event);
        }
        let new = self.new_texts();
        fields::packet(time, SEQUENCE, FLAGS, &self.event, new.as_ref(), &mut self.bytes)
    }

    /// Tells that events were lost.
    pub fn lost(&mut self, events: u64) {
        let now = self.nanoseconds(Instant::now());
        self.number(Key::Events, events);
        self.packet(TYPE_INSTANT, PROCESS, now, Some((Category::Lost, Name::of("lost events"))), None);
    }

    /// Adds what was noted.
    pub fn note(&mut self, entry: &Entry) {
        match *entry {
            Entry::Event(ref event) => self.add(event),
            Entry::Launches(slot, ref launches) => self.launches[slot] = self.pattern(launches),
            Entry::Launch { slot, id, begin, end } => {
                let (begin, end) = (self.nanoseconds(begin), self.nanoseconds(end));
                let made = self.bytes.len();
                let Pattern { bytes, times, flows } = &self.launches[slot];
                self.bytes.extend_from_slice(bytes);
                for (place, time) in times.iter().zip([end, begin, end.max(begin)]) {
                    fields::set_time(made + place, time, &mut self.bytes);
                }
                for place in flows {
                    fields::set_flow(made + place, id, &mut self.bytes);
                }
            }
        }
    }

    fn pattern(&mut self, launches: &Launches) -> Pattern {
        let Launches { launch: Launch { kernel, track, ref captures }, thread, cause, call } = *launches;
        let queue = self.queue(track);
        if cause > 0 {
            self.number(Key::Cause, cause);
        }
        if call.is_some() {
            let name = self.call_name(call);
            self.text(Key::Call, name);
        }
        self.text(Key::Kernel, kernel);
        self.text(Key::Accelerator, track.accelerator);
        self.number(Key::Queue, track.queue);
        self.captures(captures);
        self.name(kernel);
        if self.has_new {
            self.texts(None, FLAGS);
        }
        let (before, annotations) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.annotations));
        let mark = self.packet(TYPE_INSTANT, queue, 0, Some((Category::Submitted, kernel)), Some(0));
        let mark_flow = self.bytes.len() - fields::FLOW;
        self.annotations = annotations;
        let begin = self.packet(TYPE_SLICE_BEGIN, thread_track(thread), 0, Some((Category::Launch, kernel)), Some(0));
        let begin_flow = self.bytes.len() - fields::FLOW;
        let end = self.packet(TYPE_SLICE_END, thread_track(thread), 0, None, None);
        let bytes = std::mem::replace(&mut self.bytes, before);
        Pattern { bytes, times: [mark, begin, end], flows: [mark_flow, begin_flow] }
    }

    /// Adds an event.
    pub fn add(&mut self, event: &Event) {
        let (begin, end) = match event.times {
            Times::Host(begin, end) => (self.nanoseconds(begin), self.nanoseconds(end)),
            Times::Device(begin, end) => (begin, end),
        };
        if let What::Thread(name) = event.what {
            let name =
                name.map_or_else(|| format!("thread {}", event.thread), |n| format!("{} ({})", n.text(), event.thread));
            return self.child(thread_track(event.thread), name);
        }
        let track = match event.what {
            What::Device { track, .. } => self.queue(track),
            _ => thread_track(event.thread),
        };
        let flow = match event.what {
            What::Call(_) => Some(event.id),
            What::Transfer { .. } | What::Device { .. } => Some(event.cause).filter(|&cause| cause > 0),
            _ => None,
        };
        self.describe(event);
        let named = self.described(event);
        self.packet(TYPE_SLICE_BEGIN, track, begin, Some(named), flow);
        self.packet(TYPE_SLICE_END, track, end.max(begin), None, None);
    }

    /// The category and name of an event.
    fn described(&mut self, event: &Event) -> (Category, Name) {
        let transfer = |name| (Category::Transfer, Name::of(name));
        match event.what {
            What::Thread(name) => (Category::Thread, name.unwrap_or_else(|| Name::of(""))),
            What::Race(_) => (Category::Race, Name::of("race")),
            What::Failure(_) => (Category::Failure, Name::of("failure")),
            What::Call(_) => (Category::Call, self.call_name(event.call)),
            What::Transfer { from: None, to: Some(_), .. } => transfer("upload"),
            What::Transfer { from: Some(_), to: None, .. } => transfer("download"),
            What::Transfer { .. } => transfer("copy"),
            What::Wait(_) => (Category::Wait, Name::of("wait")),
            What::Pipeline(kernel) => (Category::Pipeline, kernel),
            What::Device { name, .. } => (Category::Device, name),
        }
    }

    /// The name of a call.
    fn call_name(&mut self, call: Option<Call>) -> Name {
        let Some(call) = call else { return Name::of("") };
        *self.calls.entry(call.name.as_ptr().addr()).or_insert_with(|| Name::of(&call.name.to_string_lossy()))
    }

    /// Makes the annotations of an event.
    fn describe(&mut self, event: &Event) {
        self.number(Key::Id, event.id);
        if event.cause > 0 {
            self.number(Key::Cause, event.cause);
        }
        if event.call.is_some() {
            let name = self.call_name(event.call);
            self.text(Key::Call, name);
        }
        if let Some(line) = event.caller.as_ref().and_then(|caller| lines::of_program(caller)) {
            self.text(Key::Line, Name::of(&line));
        }
        match &event.what {
            What::Thread(_) => {}
            What::Call(object) => {
                self.text(Key::Object, object.name);
                if object.source > 0 {
                    self.number(Key::Source, object.source);
                }
                self.captures(&object.captures);
            }
            What::Race(text) | What::Failure(text) => self.text(Key::Object, *text),
            What::Pipeline(kernel) => self.text(Key::Kernel, *kernel),
            What::Wait(queue) => self.number(Key::Queue, *queue),
            What::Transfer { bytes, from, to, source, object, address, is_staged } => {
                let place = |name: Option<Name>| name.unwrap_or_else(|| Name::of("host"));
                self.number(Key::Bytes, *bytes);
                self.text(Key::From, place(*from));
                self.text(Key::To, place(*to));
                self.text(Key::Object, *object);
                self.number(Key::Source, *source);
                if *address > 0 {
                    self.number(Key::Address, *address as u64);
                }
                if *is_staged {
                    self.number(Key::Staged, 1);
                }
                let is_implicit = event.call.is_some_and(|call| call.is_implicit);
                self.text(Key::Kind, Name::of(if is_implicit { "implicit" } else { "explicit" }));
            }
            What::Device { track, of, .. } => {
                self.text(Key::Accelerator, track.accelerator);
                self.number(Key::Of, *of);
            }
        }
    }

    /// The captures of a launch: for each data source its id and `r`, `w` or `rw`.
    fn captures(&mut self, captures: &Captures) {
        if captures.is_empty() {
            return;
        }
        let text =
            |c: &Capture| format!("{}:{}{}", c.source, if c.reads { "r" } else { "" }, if c.writes { "w" } else { "" });
        let all = captures.iter().map(text).collect::<Vec<_>>().join(" ");
        fields::own_text_annotation(Key::Captures as u64 + 1, &all, &mut self.annotations);
    }
}

fn numbered(all: &[&str]) -> Vec<InternedName> {
    (1..).zip(all).map(|(iid, text)| interned(iid, text)).collect()
}

fn interned(iid: u64, text: &str) -> InternedName {
    InternedName { iid: Some(iid), name: Some(text.to_owned()) }
}
