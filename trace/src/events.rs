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

/// A slice or an instant.
#[derive(Debug, Clone, Default)]
pub struct Event {
    /// Its track.
    pub track: u64,
    /// `call`, `launch`, `transfer`, `wait`, `pipeline`, `device`, `submitted` or `lost`.
    pub category: String,
    /// Its name.
    pub name: String,
    /// Nanoseconds.
    pub begin: u64,
    /// Nanoseconds; the same as `begin` for an instant.
    pub end: u64,
    /// True for a moment without duration.
    pub is_instant: bool,
    /// What is known of it.
    pub values: Vec<(Rc<str>, Value)>,
    /// The arrows that touch it.
    pub flows: Vec<u64>,
}

impl Event {
    fn value(&self, key: &str) -> Option<&Value> {
        self.values.iter().find(|(name, _)| **name == *key).map(|(_, value)| value)
    }

    /// Nanoseconds that it took.
    pub fn took(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// A number that is known of it, or 0.
    pub fn number(&self, key: &str) -> u64 {
        match self.value(key) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }

    /// A text that is known of it, or an empty one.
    pub fn text(&self, key: &str) -> &str {
        match self.value(key) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// True if the program did not ask for it.
    pub fn is_implicit(&self) -> bool {
        self.text("kind") == "implicit"
    }
}

/// A trace.
#[derive(Debug, Default)]
pub struct Trace {
    /// The names of its tracks.
    pub tracks: BTreeMap<u64, String>,
    /// Its events, by begin.
    pub events: Vec<Event>,
}

/// Texts by their numbers.
#[derive(Default)]
struct Texts {
    categories: HashMap<u64, Rc<str>>,
    names: HashMap<u64, Rc<str>>,
    keys: HashMap<u64, Rc<str>>,
    values: HashMap<u64, Rc<str>>,
}

impl Texts {
    fn learn(&mut self, new: InternedData) {
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
            iid.and_then(|iid| all.get(&iid)).cloned().unwrap_or_else(|| "".into())
        };
        let values = e.debug_annotations.iter().map(|a| {
            let value = match (a.uint_value, &a.string_value) {
                (Some(number), _) => Value::Number(number),
                (None, Some(own)) => Value::Text(own.as_str().into()),
                (None, None) => Value::Text(text(&self.values, a.string_value_iid)),
            };
            (text(&self.keys, a.name_iid), value)
        });
        let mut values: Vec<_> = values.collect();
        let category = text(&self.categories, e.category_iids.first().copied());
        if let ("launch", Some(&id)) = (&*category, e.flow_ids.first()) {
            // It is that of its arrow, to keep traces small.
            values.push(("id".into(), Value::Number(id)));
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

/// Reads a trace. revamp writes the end of a slice directly behind its begin.
pub fn read(bytes: &[u8]) -> Result<Trace, String> {
    let mut trace = Trace::default();
    let mut texts = Texts::default();
    let mut open: HashMap<u64, Event> = HashMap::new();
    for packet in packets(bytes) {
        let packet = packet?;
        if let Some(new) = packet.interned_data {
            texts.learn(new);
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
                if let Some(begun) = open.remove(&event.track_uuid.unwrap_or_default()) {
                    trace.events.push(Event { end: time, ..begun });
                }
            }
            _ => trace.events.push(texts.event(time, &event)),
        }
    }
    // Of those that begin together, the one around the others first.
    trace.events.sort_by_key(|e| (e.begin, std::cmp::Reverse(e.end)));
    Ok(trace)
}
