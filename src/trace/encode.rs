//! Events as packets of Perfetto's trace format.

use super::events::{Capture, Captures, Event, Times, Track, What};
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
/// The tracks of threads, from here on.
const THREADS: u64 = 1 << 32;
/// The tracks of queues, from here on.
const QUEUES: u64 = 1 << 33;
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

/// Makes packets of events. Those of events are written field by field, since there are many of them.
pub(super) struct Encoder {
    /// A time of this process's clock, and the same time in nanoseconds.
    base: (Instant, u64),
    /// The texts that were brought as names of events, and as values of annotations.
    names: Known,
    values: Known,
    /// The names of calls, by where their texts are.
    calls: HashMap<usize, Name>,
    /// The texts of what launches capture.
    captured: HashMap<Captures, Name>,
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
            captured: HashMap::new(),
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
        made.track(
            TrackDescriptor { uuid: Some(PROCESS), process, ..Default::default() },
            SEQ_INCREMENTAL_STATE_CLEARED,
        );
        made
    }

    /// The packets made since the last call; `bytes` is empty, and its memory is used from here on.
    pub fn take(&mut self, bytes: &mut Vec<u8>) {
        std::mem::swap(&mut self.bytes, bytes);
    }

    fn track(&mut self, descriptor: TrackDescriptor, flags: u32) {
        let packet = TracePacket {
            interned_data: self.new_texts(),
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(flags),
            track_descriptor: Some(descriptor),
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
        self.track(descriptor, FLAGS);
    }

    fn queue(&mut self, track: Track) -> u64 {
        let uuid = QUEUES + track.queue;
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

    /// Adds a packet with an event of this type, with the annotations that were made for it.
    fn packet(&mut self, kind: i32, track: u64, time: u64, named: Option<(Category, Name)>, flow: Option<u64>) {
        self.event.clear();
        fields::event(kind, track, &mut self.event);
        if let Some((category, name)) = named {
            if self.names.add(name) {
                self.new.event_names.push(interned(u64::from(name.number()), &name.text()));
                self.has_new = true;
            }
            fields::named(category as u64 + 1, u64::from(name.number()), &mut self.event);
        }
        self.event.append(&mut self.annotations);
        if let Some(flow) = flow {
            fields::flow(flow, &mut self.event);
        }
        let new = self.new_texts();
        fields::packet(time, SEQUENCE, FLAGS, &self.event, new.as_ref(), &mut self.bytes);
    }

    /// Tells that events were lost.
    pub fn lost(&mut self, events: u64) {
        let now = self.nanoseconds(Instant::now());
        self.number(Key::Events, events);
        self.packet(TYPE_INSTANT, PROCESS, now, Some((Category::Lost, Name::of("lost events"))), None);
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
            return self.child(THREADS + event.thread, name);
        }
        if let What::Launch { track, kernel, .. } = event.what {
            // A mark on the track of the queue.
            let queue = self.queue(track);
            self.packet(TYPE_INSTANT, queue, end, Some((Category::Submitted, kernel)), Some(event.id));
        }
        let track = match event.what {
            What::Device { track, .. } => self.queue(track),
            _ => THREADS + event.thread,
        };
        let flow = match event.what {
            What::Call(_) | What::Launch { .. } => Some(event.id),
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
            What::Launch { kernel, .. } => (Category::Launch, kernel),
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
            What::Launch { kernel, track, captures } => {
                self.text(Key::Kernel, *kernel);
                self.text(Key::Accelerator, track.accelerator);
                self.number(Key::Queue, track.queue);
                self.captures(captures);
            }
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
        let all = || Name::of(&captures.iter().map(text).collect::<Vec<_>>().join(" "));
        let name = match self.captured.get(captures) {
            Some(&name) => name,
            None => *self.captured.entry(captures.clone()).or_insert_with(all),
        };
        self.text(Key::Captures, name);
    }
}

fn numbered(all: &[&str]) -> Vec<InternedName> {
    (1..).zip(all).map(|(iid, text)| interned(iid, text)).collect()
}

fn interned(iid: u64, text: &str) -> InternedName {
    InternedName { iid: Some(iid), name: Some(text.to_owned()) }
}
