//! Encodes events as packets of Perfetto's trace format.

use super::events::{self, Capture, Captures, Entry, Event, EventContent, KINDS, Kind, Launch, Track};
use super::lines::{self, LibraryOf};
use super::names::Name;
use super::pace::ClockConversion;
use super::transfers::Call;
use revamp_perfetto::{
    InternedData, InternedName, InternedString, PROCESS_TRACK, ProcessDescriptor, SEQ_INCREMENTAL_STATE_CLEARED,
    SEQ_NEEDS_INCREMENTAL_STATE, TYPE_INSTANT, TYPE_SLICE_BEGIN, TYPE_SLICE_END, TracePacket, TrackDescriptor, append,
    fields, queue_track, thread_track,
};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// The number of bytes that are written to the file at once. They fit into a processor's cache.
pub(super) const PIECE: usize = 1 << 18;

/// The id of the only packet sequence.
const SEQUENCE: u32 = 1;
/// The flag on packets that belong to the sequence.
const FLAGS: u32 = SEQ_NEEDS_INCREMENTAL_STATE;

macro_rules! names {
    ($(#[$doc:meta])* $name:ident, $all:ident: $($variant:ident $text:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        enum $name { $($variant),* }
        /// The text of each value of the enum, in order.
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
    Rule "rule",
    ReadSource "read_source",
}

/// The names that packets of the trace have defined already.
#[derive(Default)]
struct DefinedNames(Vec<bool>);

impl DefinedNames {
    /// Marks the name as defined. True if it was not defined before.
    fn add(&mut self, name: Name) -> bool {
        let number = name.number() as usize;
        if self.0.len() <= number {
            self.0.resize(number + 1, false);
        }
        !std::mem::replace(&mut self.0[number], true)
    }
}

/// A field in the packets of a [`Pattern`] that is filled in for each event.
#[derive(Clone, Copy)]
enum OpenField {
    Begin,
    End,
    /// The id of the event, as the value of an annotation.
    Id,
    Cause,
    /// The id of the arrow that begins at this event.
    FromHere,
    ToHere,
}

/// The packets of each event of one kind: a slice. For a launch, a mark on the track of the queue comes first.
#[derive(Default)]
struct Pattern {
    bytes: Vec<u8>,
    /// The offsets of the fields to be filled in.
    open: Vec<(usize, OpenField)>,
}

impl Pattern {
    /// The packets of an event, with all fields filled in.
    fn of(&mut self, id: u64, cause: u64, (begin, end): (u64, u64)) -> &[u8] {
        let (begin, end) = (fields::padded_varint(begin), fields::padded_varint(end.max(begin)));
        for &(at, open) in &self.open {
            match open {
                OpenField::Begin => fields::set(at, &begin, &mut self.bytes),
                OpenField::End => fields::set(at, &end, &mut self.bytes),
                OpenField::Id => fields::set(at, &fields::padded_varint(id), &mut self.bytes),
                OpenField::Cause => fields::set(at, &fields::padded_varint(cause), &mut self.bytes),
                OpenField::FromHere => fields::set(at, &id.to_le_bytes(), &mut self.bytes),
                OpenField::ToHere => fields::set(at, &cause.to_le_bytes(), &mut self.bytes),
            }
        }
        &self.bytes
    }
}

/// Makes packets from events. Packets are written field by field, because this is fast and a trace has many events.
pub(super) struct Encoder {
    pace: ClockConversion,
    library_of: LibraryOf,
    /// The texts that the trace has defined as names of events.
    names: DefinedNames,
    /// The texts that the trace has defined as values of annotations.
    values: DefinedNames,
    /// The names of calls, by the addresses of their texts.
    calls: HashMap<usize, Name>,
    /// The packets of repeated events. The number of a kind is the index.
    patterns: Vec<Pattern>,
    /// The queues that have a track.
    queues: HashSet<u64>,
    /// Texts that the next packet defines.
    new: InternedData,
    has_new: bool,
    /// The annotations of the next event.
    annotations: Vec<u8>,
    /// The offsets of open fields in `annotations`.
    open: Vec<(usize, OpenField)>,
    /// The next event.
    event: Vec<u8>,
    bytes: Vec<u8>,
}

impl Encoder {
    /// An encoder. Its bytes are the packets at the beginning of a trace.
    pub fn new(pace: ClockConversion, library_of: LibraryOf) -> Self {
        let mut encoder = Self {
            pace,
            library_of,
            names: DefinedNames::default(),
            values: DefinedNames::default(),
            calls: HashMap::new(),
            patterns: (0..KINDS).map(|_| Pattern::default()).collect(),
            queues: HashSet::new(),
            new: InternedData::default(),
            has_new: true,
            annotations: Vec::new(),
            open: Vec::new(),
            event: Vec::new(),
            bytes: Vec::with_capacity(2 * PIECE),
        };
        encoder.new.event_categories = numbered(CATEGORIES);
        encoder.new.debug_annotation_names = numbered(KEYS);
        let program = std::env::current_exe().ok().and_then(|p| Some(p.file_name()?.to_string_lossy().into_owned()));
        let pid = i32::try_from(std::process::id()).ok();
        let process = Some(ProcessDescriptor { pid, process_name: program });
        let descriptor = TrackDescriptor { uuid: Some(PROCESS_TRACK), process, ..Default::default() };
        encoder.define_texts(Some(descriptor), SEQ_INCREMENTAL_STATE_CLEARED);
        encoder
    }

    /// Compares the clocks. To be called before events are added.
    pub fn compare_clocks(&mut self) {
        self.pace.compare();
    }

    fn times(&self, (begin, end): (u64, u64)) -> (u64, u64) {
        (self.pace.time(begin), self.pace.time(end))
    }

    /// The packets made since the caller last cleared this vector.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Adds a packet that defines the new texts, and describes a track if one is given.
    fn define_texts(&mut self, track_descriptor: Option<TrackDescriptor>, flags: u32) {
        let packet = TracePacket {
            interned_data: std::mem::take(&mut self.has_new).then(|| std::mem::take(&mut self.new)),
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(flags),
            track_descriptor,
            ..Default::default()
        };
        append(&packet, &mut self.bytes);
    }

    fn describe_track(&mut self, uuid: u64, name: String) {
        let descriptor = TrackDescriptor {
            uuid: Some(uuid),
            parent_uuid: Some(PROCESS_TRACK),
            name: Some(name),
            ..Default::default()
        };
        self.define_texts(Some(descriptor), FLAGS);
    }

    fn queue(&mut self, track: Track) -> u64 {
        let uuid = queue_track(track.queue);
        if self.queues.insert(track.queue) {
            self.describe_track(uuid, track.name());
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

    /// Makes the next packet define this name of an event, if no packet has defined it.
    fn name(&mut self, name: Name) {
        if self.names.add(name) {
            self.new.event_names.push(interned(u64::from(name.number()), &name.text()));
            self.has_new = true;
        }
    }

    /// Adds an annotation to the next event. The value of the annotation is filled in later.
    fn open(&mut self, key: Key, open: OpenField) {
        let at = fields::open_annotation(key as u64 + 1, &mut self.annotations);
        self.open.push((at, open));
    }

    /// Adds a packet to a pattern. The packet is an event of this type, with the annotations made since the last packet.
    fn packet(
        &mut self,
        pattern: &mut Pattern,
        (kind, track, time): (i32, u64, OpenField),
        named: Option<(Category, Name)>,
        arrows: &[OpenField],
    ) {
        self.event.clear();
        fields::event(kind, track, &mut self.event);
        if let Some((category, name)) = named {
            self.name(name);
            fields::named(category as u64 + 1, u64::from(name.number()), &mut self.event);
        }
        let annotations = self.event.len();
        self.event.append(&mut self.annotations);
        let mut open: SmallVec<[_; 4]> = self.open.drain(..).map(|(at, open)| (annotations + at, open)).collect();
        open.extend(arrows.iter().map(|&arrow| (fields::arrow(&mut self.event), arrow)));
        let at = fields::packet(SEQUENCE, FLAGS, &self.event, &mut pattern.bytes);
        pattern.open.push((at, time));
        let event = pattern.bytes.len() - self.event.len();
        pattern.open.extend(open.into_iter().map(|(at, open)| (event + at, open)));
    }

    /// Adds an event that says how many events were lost.
    pub fn lost(&mut self, lost: u64) {
        let (now, mut pattern) = (self.pace.time(events::now()), Pattern::default());
        self.number(Key::Events, lost);
        let named = Some((Category::Lost, Name::of("lost events")));
        self.packet(&mut pattern, (TYPE_INSTANT, PROCESS_TRACK, OpenField::Begin), named, &[]);
        self.define_new_texts();
        self.bytes.extend_from_slice(pattern.of(0, 0, (now, now)));
    }

    /// Encodes an entry.
    pub fn add_entry(&mut self, entry: &Entry) {
        match *entry {
            Entry::Thread(number, name) => {
                let name = name.map_or_else(|| format!("thread {number}"), |n| format!("{} ({number})", n.text()));
                self.describe_track(thread_track(number), name);
            }
            Entry::Event(ref event) => self.add(event, self.times(event.times)),
            Entry::Kind(number, ref kind) => self.patterns[usize::from(number)] = self.pattern(kind, None),
            Entry::Repeated { kind, id, cause, times } => {
                let times = self.times(times);
                self.bytes.extend_from_slice(self.patterns[usize::from(kind)].of(id, cause, times));
            }
        }
    }

    /// Encodes an event. `times`: its begin and end in nanoseconds.
    pub fn add(&mut self, event: &Event, times: (u64, u64)) {
        let line = event.caller.as_ref().and_then(|caller| lines::of_program(caller, self.library_of));
        let mut pattern = self.pattern(&event.kind, line.as_deref());
        self.bytes.extend_from_slice(pattern.of(event.id, event.cause, times));
    }

    /// The packets of events of a kind.
    fn pattern(&mut self, kind: &Kind, line: Option<&str>) -> Pattern {
        let mut pattern = Pattern::default();
        let arrows: &[_] = match kind.content {
            EventContent::Call(_) | EventContent::Launch(_) => &[OpenField::FromHere],
            // A transfer is the cause of the work that a device does for it.
            EventContent::Transfer { .. } if kind.has_cause => &[OpenField::ToHere, OpenField::FromHere],
            EventContent::Transfer { .. } => &[OpenField::FromHere],
            EventContent::Device { .. } if kind.has_cause => &[OpenField::ToHere],
            _ => &[],
        };
        let track = match kind.content {
            EventContent::Device { track, .. } => self.queue(track),
            EventContent::Launch(Launch { track, kernel, .. }) => {
                let mark = (TYPE_INSTANT, self.queue(track), OpenField::End);
                self.packet(&mut pattern, mark, Some((Category::Submitted, kernel)), arrows);
                thread_track(kind.thread)
            }
            _ => thread_track(kind.thread),
        };
        // The only arrow of a call or launch has the id of the event, so these events need no annotation with the id.
        if !matches!(kind.content, EventContent::Call(_) | EventContent::Launch(_)) {
            self.open(Key::Id, OpenField::Id);
        }
        self.describe(kind, line);
        let named = self.category_and_name(kind);
        self.packet(&mut pattern, (TYPE_SLICE_BEGIN, track, OpenField::Begin), Some(named), arrows);
        self.packet(&mut pattern, (TYPE_SLICE_END, track, OpenField::End), None, &[]);
        self.define_new_texts();
        pattern
    }

    /// Adds a packet that defines the new texts, if there are any.
    fn define_new_texts(&mut self) {
        if self.has_new {
            self.define_texts(None, FLAGS);
        }
    }

    /// The category and name of an event.
    fn category_and_name(&mut self, kind: &Kind) -> (Category, Name) {
        let transfer = |name| (Category::Transfer, Name::of(name));
        match kind.content {
            EventContent::Launch(Launch { kernel, .. }) => (Category::Launch, kernel),
            EventContent::Race(_) => (Category::Race, Name::of("race")),
            EventContent::Failure(_) => (Category::Failure, Name::of("failure")),
            EventContent::Call(_) => (Category::Call, self.call_name(kind.call)),
            EventContent::Transfer { from: None, to: Some(_), .. } => transfer("upload"),
            EventContent::Transfer { from: Some(_), to: None, .. } => transfer("download"),
            EventContent::Transfer { .. } => transfer("copy"),
            EventContent::Wait(_) => (Category::Wait, Name::of("wait")),
            EventContent::Pipeline(kernel) => (Category::Pipeline, kernel),
            EventContent::Device { name, .. } => (Category::Device, name),
        }
    }

    /// The name of a call.
    fn call_name(&mut self, call: Option<Call>) -> Name {
        let Some(call) = call else { return Name::of("") };
        *self.calls.entry(call.name.as_ptr().addr()).or_insert_with(|| Name::of(&call.name.to_string_lossy()))
    }

    /// Makes the annotations of an event.
    fn describe(&mut self, kind: &Kind, line: Option<&str>) {
        if kind.has_cause {
            self.open(Key::Cause, OpenField::Cause);
        }
        if kind.call.is_some() {
            let name = self.call_name(kind.call);
            self.text(Key::Call, name);
        }
        if let Some(line) = line {
            self.text(Key::Line, Name::of(line));
        }
        match &kind.content {
            EventContent::Launch(launch) => {
                self.text(Key::Kernel, launch.kernel);
                self.text(Key::Accelerator, launch.track.accelerator);
                self.number(Key::Queue, launch.track.queue);
                self.captures(&launch.captures);
            }
            EventContent::Call(object) => {
                self.text(Key::Object, object.name);
                if object.source > 0 {
                    self.number(Key::Source, object.source);
                }
                if object.read_source > 0 {
                    self.number(Key::ReadSource, object.read_source);
                }
                self.captures(&object.captures);
            }
            EventContent::Race(text) | EventContent::Failure(text) => self.text(Key::Object, *text),
            EventContent::Pipeline(kernel) => self.text(Key::Kernel, *kernel),
            EventContent::Wait(queue) => self.number(Key::Queue, *queue),
            EventContent::Transfer { bytes, from, to, source, object, address, is_staged, rule } => {
                let accelerator_or_host = |name: Option<Name>| name.unwrap_or_else(|| Name::of("host"));
                self.number(Key::Bytes, *bytes);
                self.text(Key::From, accelerator_or_host(*from));
                self.text(Key::To, accelerator_or_host(*to));
                self.text(Key::Object, *object);
                self.number(Key::Source, *source);
                if *address > 0 {
                    self.number(Key::Address, *address as u64);
                }
                if *is_staged {
                    self.number(Key::Staged, 1);
                }
                self.text(Key::Kind, Name::of(if rule.is_some() { "implicit" } else { "explicit" }));
                if let Some(rule) = rule {
                    self.text(Key::Rule, Name::of(rule.id()));
                }
            }
            EventContent::Device { track, of, .. } => {
                self.text(Key::Accelerator, track.accelerator);
                self.number(Key::Of, *of);
            }
        }
    }

    /// Adds an annotation with the captures of a launch. For each view: the id of its data source; how the kernel uses the view
    /// (`r`, `w` or `rw`); how the kernel may use the view (`r` or `rw`); and, if it is known, the maximum number of bytes that
    /// the launch accesses through the view.
    fn captures(&mut self, captures: &Captures) {
        if captures.is_empty() {
            return;
        }
        let text = |c: &Capture| {
            let (reads, writes) = (if c.reads { "r" } else { "" }, if c.writes { "w" } else { "" });
            let allowed = if c.may_write { "rw" } else { "r" };
            let max_bytes = if c.max_bytes > 0 { format!(":{}", c.max_bytes) } else { String::new() };
            format!("{}:{reads}{writes}:{allowed}{max_bytes}", c.source)
        };
        let all = captures.iter().map(text).collect::<Vec<_>>().join(" ");
        fields::inline_text_annotation(Key::Captures as u64 + 1, &all, &mut self.annotations);
    }
}

fn numbered(all: &[&str]) -> Vec<InternedName> {
    (1..).zip(all).map(|(iid, text)| interned(iid, text)).collect()
}

fn interned(iid: u64, text: &str) -> InternedName {
    InternedName { iid: Some(iid), name: Some(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::super::pace::Clocks;
    use super::super::transfers::explicit;
    use super::*;
    use events::Object;
    use revamp_perfetto::{TrackEvent, packets};

    #[derive(Clone, Copy)]
    enum Id {
        Call = 1,
        Transfer,
        Copy,
        Launch,
        Kernel,
        TransferWithoutCall,
        CopyWithoutCall,
    }

    fn transfer() -> EventContent {
        EventContent::Transfer {
            bytes: 4,
            from: None,
            to: None,
            source: 0,
            object: Name::of("array"),
            address: 0,
            is_staged: false,
            rule: None,
        }
    }

    #[test]
    fn each_arrow_begins_at_its_cause() -> Result<(), String> {
        let mut encoder = Encoder::new(ClockConversion::new(Clocks { now: || 0, counter: || 0 }), |_| None);
        let name = Name::of("a name");
        let track = Track { queue: 1, accelerator: name };
        let device = |of| EventContent::Device { name, track, of: of as u64 };
        let launch = Launch { kernel: name, track, captures: Captures::new() };
        let events = [
            (Id::Call, 0, EventContent::Call(Object::named(name))),
            (Id::Transfer, Id::Call as u64, transfer()),
            (Id::Copy, Id::Transfer as u64, device(Id::Transfer)),
            (Id::Launch, 0, EventContent::Launch(launch)),
            (Id::Kernel, Id::Launch as u64, device(Id::Launch)),
            (Id::TransferWithoutCall, 0, transfer()),
            (Id::CopyWithoutCall, Id::TransferWithoutCall as u64, device(Id::TransferWithoutCall)),
        ];
        for (id, cause, content) in events {
            let kind = Kind { thread: 1, has_cause: cause > 0, call: Some(explicit(c"call")), content };
            let time = id as u64;
            let event = Event { id: id as u64, cause, times: (time, time), kind, caller: None };
            encoder.add(&event, event.times);
        }
        let bytes = std::mem::take(encoder.bytes());
        let packets = packets(&bytes).collect::<Result<Vec<_>, _>>()?;
        let begins = |e: &TrackEvent| e.r#type == Some(TYPE_SLICE_BEGIN);
        let flows = packets.into_iter().filter_map(|p| p.track_event).filter(begins).map(|e| e.flow_ids);
        let of = |ids: &[Id]| ids.iter().map(|&id| id as u64).collect::<Vec<_>>();
        let expected = [
            of(&[Id::Call]),
            of(&[Id::Call, Id::Transfer]),
            of(&[Id::Transfer]),
            of(&[Id::Launch]),
            of(&[Id::Launch]),
            of(&[Id::TransferWithoutCall]),
            of(&[Id::TransferWithoutCall]),
        ];
        assert_eq!(flows.collect::<Vec<_>>(), expected);
        Ok(())
    }
}
