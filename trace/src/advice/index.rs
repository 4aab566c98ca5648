//! The events of a trace by their ids, kernels and data sources.

use super::replacement::label;
use crate::events::{Event, Trace};
use std::collections::HashMap;

/// The trace, and its events by id.
pub struct TraceIndex<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The events by their ids.
    pub by_id: HashMap<u64, &'a Event>,
    /// A call of each kernel; `None` if the captures of its calls differ.
    calls: HashMap<&'a str, Option<&'a Event>>,
    /// The first name and the first label of the views of each data source.
    names: HashMap<u64, (&'a str, Option<&'a str>)>,
}

impl<'a> TraceIndex<'a> {
    /// The index of a trace.
    pub fn of(trace: &'a Trace) -> Self {
        let mut calls: HashMap<&str, Option<&Event>> = HashMap::new();
        let mut names: HashMap<u64, (&str, Option<&str>)> = HashMap::new();
        for e in &trace.events {
            let (source, object) = (e.number("source"), e.text("object"));
            if e.category == "call" && is_launch(e) {
                let has_same_captures = |known: &&Event| known.text("captures") == e.text("captures");
                calls.entry(object).and_modify(|call| *call = call.filter(has_same_captures)).or_insert(Some(e));
            }
            if source > 0 && !object.is_empty() {
                let (_, first_label) = names.entry(source).or_insert((object, None));
                *first_label = first_label.or_else(|| label(object));
            }
        }
        Self { trace, by_id: trace.by_id(), calls, names }
    }

    /// The transfers, in order.
    pub fn transfers(&self) -> impl Iterator<Item = &'a Event> {
        self.trace.events.iter().filter(|e| e.category == "transfer")
    }

    /// The event that caused an event.
    pub fn cause(&self, event: &Event) -> Option<&'a Event> {
        self.by_id.get(&event.number("cause")).copied()
    }

    /// The call of a launch that caused an event.
    pub fn launch(&self, event: &Event) -> Option<&'a Event> {
        self.cause(event).filter(|call| is_launch(call))
    }

    /// The event with the captures of a launch: the launch or its call. `None` if the captures are unknown. A repeated launch has neither
    /// captures nor a call of its own. Its captures are known if all calls of the kernel have the same captures.
    pub fn with_captures(&self, launch: &'a Event) -> Option<&'a Event> {
        let has_captures = |event: &&Event| !event.text("captures").is_empty();
        let call = || self.launch(launch).or_else(|| self.calls.get(launch.text("kernel")).copied().flatten());
        Some(launch).filter(has_captures).or_else(|| call().filter(has_captures))
    }

    /// The name of a view of a data source.
    pub fn view_name(&self, source: u64) -> Option<&'a str> {
        self.names.get(&source).map(|(name, _)| *name)
    }

    /// The label of a view of a data source.
    pub fn source_label(&self, source: u64) -> Option<&'a str> {
        self.names.get(&source).and_then(|(_, label)| *label)
    }

    /// The label of a view. A destructor's event has the name of the data source, so the label of a view of the same data source is used.
    pub fn view_label(&self, event: &'a Event) -> Option<&'a str> {
        label(event.text("object")).or_else(|| self.source_label(event.number("source")))
    }

    /// The data sources that a call or a transfer uses. A copy between array_views has a second data source, which only the event of its
    /// call has.
    pub fn sources(&self, event: &Event) -> [u64; 3] {
        let read_source = self.cause(event).map_or(0, |call| call.number("read_source"));
        [event.number("source"), event.number("read_source"), read_source]
    }
}

/// True for the call of a launch.
pub fn is_launch(call: &Event) -> bool {
    matches!(call.text("call"), "revamp_parallel_for_each" | "revamp_dispatch")
}
