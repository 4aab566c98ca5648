//! Events as packets of Perfetto's trace format.

use super::events::{Event, Times, Track, What};
use super::lines;
use revamp_perfetto::{
    DebugAnnotation, InternedData, InternedName, InternedString, ProcessDescriptor, SEQ_INCREMENTAL_STATE_CLEARED,
    SEQ_NEEDS_INCREMENTAL_STATE, TYPE_INSTANT, TYPE_SLICE_BEGIN, TYPE_SLICE_END, TracePacket, TrackDescriptor,
    TrackEvent, append,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
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
    Of "of",
}

/// Texts and their numbers in the trace.
#[derive(Default)]
struct Interned(HashMap<Arc<str>, u64>);

impl Interned {
    /// The number of a text; the flag says that it is new.
    fn number(&mut self, text: &str) -> (u64, bool) {
        if let Some(&number) = self.0.get(text) {
            return (number, false);
        }
        let number = self.0.len() as u64 + 1;
        self.0.insert(text.into(), number);
        (number, true)
    }
}

/// Makes packets of events.
pub(super) struct Encoder {
    /// A time of this process's clock, and the same time in nanoseconds.
    base: (Instant, u64),
    names: Interned,
    values: Interned,
    /// The queues that have a track.
    queues: HashSet<u64>,
    /// Texts that the next packet brings along.
    new: InternedData,
    bytes: Vec<u8>,
}

impl Encoder {
    /// An encoder, and the packets at the beginning of a trace.
    pub fn new(base: (Instant, u64)) -> Self {
        let mut made = Self {
            base,
            names: Interned::default(),
            values: Interned::default(),
            queues: HashSet::new(),
            new: InternedData::default(),
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

    /// The packets made since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
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
        let new = std::mem::take(&mut self.new);
        (new != InternedData::default()).then_some(new)
    }

    fn child(&mut self, uuid: u64, name: String) {
        let descriptor =
            TrackDescriptor { uuid: Some(uuid), parent_uuid: Some(PROCESS), name: Some(name), ..Default::default() };
        self.track(descriptor, FLAGS);
    }

    fn queue(&mut self, track: &Track) -> u64 {
        let uuid = QUEUES + track.queue;
        if self.queues.insert(track.queue) {
            self.child(uuid, track.name());
        }
        uuid
    }

    fn name(&mut self, text: &str) -> u64 {
        let (iid, is_new) = self.names.number(text);
        if is_new {
            self.new.event_names.push(interned(iid, text));
        }
        iid
    }

    fn text(&mut self, key: Key, text: &str) -> DebugAnnotation {
        let name_iid = Some(key as u64 + 1);
        let (iid, is_new) = self.values.number(text);
        if is_new {
            let str = Some(text.as_bytes().to_vec());
            self.new.debug_annotation_string_values.push(InternedString { iid: Some(iid), str });
        }
        DebugAnnotation { name_iid, string_value_iid: Some(iid), ..Default::default() }
    }

    fn number(&self, key: Key, value: u64) -> DebugAnnotation {
        DebugAnnotation { name_iid: Some(key as u64 + 1), uint_value: Some(value), ..Default::default() }
    }

    fn nanoseconds(&self, time: Instant) -> u64 {
        let (base, ns) = self.base;
        match time.checked_duration_since(base) {
            Some(later) => ns.saturating_add(later.as_nanos() as u64),
            None => ns.saturating_sub((base - time).as_nanos() as u64),
        }
    }

    fn event(&mut self, time: u64, event: TrackEvent) {
        let packet = TracePacket {
            timestamp: Some(time),
            trusted_packet_sequence_id: Some(SEQUENCE),
            track_event: Some(event),
            interned_data: self.new_texts(),
            sequence_flags: Some(FLAGS),
            ..Default::default()
        };
        append(&packet, &mut self.bytes);
    }

    fn slice(&mut self, track: u64, (begin, end): (u64, u64), event: TrackEvent) {
        let first = TrackEvent { r#type: Some(TYPE_SLICE_BEGIN), track_uuid: Some(track), ..event };
        self.event(begin, first);
        let last = TrackEvent { r#type: Some(TYPE_SLICE_END), track_uuid: Some(track), ..Default::default() };
        self.event(end.max(begin), last);
    }

    /// Tells that events were lost.
    pub fn lost(&mut self, events: u64) {
        let now = self.nanoseconds(Instant::now());
        let event = TrackEvent {
            category_iids: vec![Category::Lost as u64 + 1],
            name_iid: Some(self.name("lost events")),
            debug_annotations: vec![self.number(Key::Events, events)],
            r#type: Some(TYPE_INSTANT),
            track_uuid: Some(PROCESS),
            ..Default::default()
        };
        self.event(now, event);
    }

    /// Adds an event.
    pub fn add(&mut self, event: &Event) {
        let times = match event.times {
            Times::Host(begin, end) => (self.nanoseconds(begin), self.nanoseconds(end)),
            Times::Device(begin, end) => (begin, end),
        };
        if let What::Thread(name) = &event.what {
            let name =
                name.as_ref().map_or_else(|| format!("thread {}", event.thread), |n| format!("{n} ({})", event.thread));
            return self.child(THREADS + event.thread, name);
        }
        let (category, name) = described(event);
        let mut all = vec![self.number(Key::Id, event.id)];
        if event.cause > 0 {
            all.push(self.number(Key::Cause, event.cause));
        }
        if let Some(call) = event.call {
            all.push(self.text(Key::Call, &call.name.to_string_lossy()));
        }
        if let Some(line) = event.caller.as_ref().and_then(|caller| lines::of_program(caller)) {
            all.push(self.text(Key::Line, &line));
        }
        let track = self.describe(event, &mut all);
        let flows = match event.what {
            What::Call(_) | What::Launch { .. } => vec![event.id],
            What::Transfer { .. } | What::Device { .. } if event.cause > 0 => vec![event.cause],
            _ => Vec::new(),
        };
        let made = TrackEvent {
            category_iids: vec![category as u64 + 1],
            name_iid: Some(self.name(name)),
            debug_annotations: all,
            flow_ids: flows,
            ..Default::default()
        };
        if let What::Launch { track, kernel } = &event.what {
            self.submitted(kernel, track, times.1, event.id);
        }
        self.slice(track, times, made);
    }

    /// The annotations of an event; returns its track.
    fn describe(&mut self, event: &Event, all: &mut Vec<DebugAnnotation>) -> u64 {
        let thread = THREADS + event.thread;
        match &event.what {
            What::Thread(_) => {}
            What::Call(object) => {
                all.push(self.text(Key::Object, &object.name));
                if object.source > 0 {
                    all.push(self.number(Key::Source, object.source));
                }
                if !object.captures.is_empty() {
                    let captures = object.captures.iter().map(|(source, how)| format!("{source}:{how}"));
                    all.push(self.text(Key::Captures, &captures.collect::<Vec<_>>().join(" ")));
                }
            }
            What::Race(text) => all.push(self.text(Key::Object, text)),
            What::Pipeline(kernel) => all.push(self.text(Key::Kernel, kernel)),
            What::Wait(queue) => all.push(self.number(Key::Queue, *queue)),
            What::Launch { kernel, track } => {
                all.push(self.text(Key::Kernel, kernel));
                all.push(self.text(Key::Accelerator, &track.accelerator));
                all.push(self.number(Key::Queue, track.queue));
            }
            What::Transfer { bytes, from, to, source, object, address } => {
                let place = |track: &Option<Arc<Track>>| {
                    track.as_ref().map_or_else(|| "host".into(), |t| t.accelerator.clone())
                };
                all.push(self.number(Key::Bytes, *bytes));
                all.push(self.text(Key::From, &place(from)));
                all.push(self.text(Key::To, &place(to)));
                all.push(self.text(Key::Object, object));
                all.push(self.number(Key::Source, *source));
                if *address > 0 {
                    all.push(self.number(Key::Address, *address as u64));
                }
                let is_implicit = event.call.is_some_and(|call| call.is_implicit);
                all.push(self.text(Key::Kind, if is_implicit { "implicit" } else { "explicit" }));
            }
            What::Device { track, of, .. } => {
                all.push(self.text(Key::Accelerator, &track.accelerator));
                all.push(self.number(Key::Of, *of));
                return self.queue(track);
            }
        }
        thread
    }

    /// Marks on the track of a queue that it got a launch.
    fn submitted(&mut self, kernel: &str, track: &Track, time: u64, id: u64) {
        let uuid = self.queue(track);
        let event = TrackEvent {
            category_iids: vec![Category::Submitted as u64 + 1],
            name_iid: Some(self.name(kernel)),
            flow_ids: vec![id],
            r#type: Some(TYPE_INSTANT),
            track_uuid: Some(uuid),
            ..Default::default()
        };
        self.event(time, event);
    }
}

fn numbered(all: &[&str]) -> Vec<InternedName> {
    (1..).zip(all).map(|(iid, text)| interned(iid, text)).collect()
}

fn interned(iid: u64, text: &str) -> InternedName {
    InternedName { iid: Some(iid), name: Some(text.to_owned()) }
}

/// The category and name of an event.
fn described(event: &Event) -> (Category, &str) {
    match &event.what {
        What::Thread(_) => (Category::Thread, ""),
        What::Race(_) => (Category::Race, "race"),
        What::Call(_) => (Category::Call, event.call.map_or("", |call| call.name.to_str().unwrap_or_default())),
        What::Launch { kernel, .. } => (Category::Launch, kernel),
        What::Transfer { from: None, to: Some(_), .. } => (Category::Transfer, "upload"),
        What::Transfer { from: Some(_), to: None, .. } => (Category::Transfer, "download"),
        What::Transfer { .. } => (Category::Transfer, "copy"),
        What::Wait(_) => (Category::Wait, "wait"),
        What::Pipeline(kernel) => (Category::Pipeline, kernel),
        What::Device { name, .. } => (Category::Device, name),
    }
}
