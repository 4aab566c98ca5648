//! The events of a trace, read from Perfetto's packets.

use revamp_perfetto::{InternedData, TYPE_INSTANT, TYPE_SLICE_BEGIN, TYPE_SLICE_END, TrackEvent, packets};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The value of an annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A text.
    Text(Rc<str>),
}

/// An event of a trace: a slice or an instant.
#[derive(Debug, Clone, Default)]
pub struct Event {
    /// The id of the event's track.
    pub track: u64,
    /// `call`, `launch`, `transfer`, `wait`, `pipeline`, `device`, `submitted`, `race`, `failure` or `lost`.
    pub category: String,
    /// The name of the event.
    pub name: String,
    /// The begin in nanoseconds.
    pub begin: u64,
    /// The end in nanoseconds; equal to `begin` for an instant.
    pub end: u64,
    /// True for an instant, which has no duration.
    pub is_instant: bool,
    /// The annotations: names and values.
    pub values: Vec<(Rc<str>, Value)>,
    /// The ids of the flows (arrows) that begin or end at this event.
    pub flows: Vec<u64>,
}

impl Event {
    fn value(&self, key: &str) -> Option<&Value> {
        self.values.iter().find(|(name, _)| **name == *key).map(|(_, value)| value)
    }

    /// The duration in nanoseconds.
    pub fn duration(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// The numeric value of the annotation `key`, or 0 if the event has none.
    pub fn number(&self, key: &str) -> u64 {
        match self.value(key) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }

    /// The text of the annotation `key`, or an empty text if the event has none.
    pub fn text(&self, key: &str) -> &str {
        match self.value(key) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// True for a transfer that the program did not request.
    pub fn is_implicit(&self) -> bool {
        self.text("kind") == "implicit"
    }
}

/// A trace.
#[derive(Debug, Default)]
pub struct Trace {
    /// The names of the tracks, by track id.
    pub tracks: BTreeMap<u64, String>,
    /// The events, sorted by begin.
    pub events: Vec<Event>,
}

impl Trace {
    /// The events by id. Some events have none, such as lost events.
    pub fn by_id(&self) -> HashMap<u64, &Event> {
        self.events.iter().map(|e| (e.number("id"), e)).filter(|(id, _)| *id > 0).collect()
    }
}

/// The interned texts of a trace, by their numbers.
struct Texts {
    /// The annotation key `id`.
    id: Rc<str>,
    empty: Rc<str>,
    categories: HashMap<u64, Rc<str>>,
    names: HashMap<u64, Rc<str>>,
    keys: HashMap<u64, Rc<str>>,
    values: HashMap<u64, Rc<str>>,
}

impl Texts {
    fn new() -> Self {
        let (id, empty) = ("id".into(), "".into());
        let [categories, names, keys, values] = Default::default();
        Self { id, empty, categories, names, keys, values }
    }

    fn define(&mut self, new: InternedData) {
        let named = |all: Vec<revamp_perfetto::InternedName>| {
            all.into_iter().map(|t| (t.iid.unwrap_or_default(), t.name.unwrap_or_default().into()))
        };
        self.categories.extend(named(new.event_categories));
        self.names.extend(named(new.event_names));
        self.keys.extend(named(new.debug_annotation_names));
        self.values.extend(new.debug_annotation_string_values.into_iter().map(|t| {
            let text = t.str.unwrap_or_default();
            (t.iid.unwrap_or_default(), String::from_utf8_lossy(&text).into())
        }));
    }

    fn event(&self, time: u64, e: &TrackEvent) -> Event {
        let text = |all: &HashMap<u64, Rc<str>>, iid: Option<u64>| {
            iid.and_then(|iid| all.get(&iid)).unwrap_or(&self.empty).clone()
        };
        let values = e.debug_annotations.iter().map(|a| {
            let value = match (a.uint_value, &a.string_value) {
                (Some(number), _) => Value::Number(number),
                (None, Some(inline_text)) => Value::Text(inline_text.as_str().into()),
                (None, None) => Value::Text(text(&self.values, a.string_value_iid)),
            };
            (text(&self.keys, a.name_iid), value)
        });
        let mut values: Vec<_> = values.collect();
        let category = text(&self.categories, e.category_iids.first().copied());
        if let ("call" | "launch", Some(&id)) = (&*category, e.flow_ids.first()) {
            // The id of the event is the id of its first flow. The trace does not repeat the id, to stay small.
            values.push((self.id.clone(), Value::Number(id)));
        }
        Event {
            track: e.track_uuid.unwrap_or_default(),
            category: category.to_string(),
            name: text(&self.names, e.name_iid).to_string(),
            begin: time,
            end: time,
            is_instant: e.r#type == Some(TYPE_INSTANT),
            values,
            flows: e.flow_ids.clone(),
        }
    }
}

/// Reads a trace. One open slice per track is enough, because revamp writes the end of a slice directly after its begin.
pub fn read(bytes: &[u8]) -> Result<Trace, String> {
    let mut trace = Trace::default();
    let mut texts = Texts::new();
    let mut open: HashMap<u64, Event> = HashMap::new();
    for packet in packets(bytes) {
        let packet = packet?;
        if let Some(new) = packet.interned_data {
            texts.define(new);
        }
        if let Some(track) = packet.track_descriptor {
            let process = track.process.and_then(|p| p.process_name);
            trace.tracks.insert(track.uuid.unwrap_or_default(), track.name.or(process).unwrap_or_default());
        }
        let (Some(event), Some(time)) = (packet.track_event, packet.timestamp) else { continue };
        match event.r#type {
            Some(TYPE_SLICE_BEGIN) => {
                let event = texts.event(time, &event);
                open.insert(event.track, event);
            }
            Some(TYPE_SLICE_END) => {
                if let Some(open_slice) = open.remove(&event.track_uuid.unwrap_or_default()) {
                    trace.events.push(Event { end: time, ..open_slice });
                }
            }
            _ => trace.events.push(texts.event(time, &event)),
        }
    }
    // If several events begin together, the longest event comes first, because it contains the others.
    trace.events.sort_by_key(|e| (e.begin, std::cmp::Reverse(e.end)));
    Ok(trace)
}
