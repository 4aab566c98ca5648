//! The events of a trace by their ids.

use crate::events::{Event, Trace};
use std::collections::HashMap;

/// The trace, and its events by id.
pub struct TraceIndex<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The events by their ids.
    pub by_id: HashMap<u64, &'a Event>,
}

impl<'a> TraceIndex<'a> {
    /// The transfers, in order.
    pub fn transfers(&self) -> impl Iterator<Item = &'a Event> {
        self.trace.events.iter().filter(|e| e.category == "transfer")
    }

    /// The event that caused an event.
    pub fn cause(&self, event: &Event) -> Option<&'a Event> {
        self.by_id.get(&event.number("cause")).copied()
    }

    /// The launch that caused a transfer.
    pub fn launch(&self, transfer: &Event) -> Option<&'a Event> {
        self.cause(transfer).filter(|call| is_launch(call))
    }
}

/// True for the call of a launch.
pub fn is_launch(call: &Event) -> bool {
    matches!(call.text("call"), "revamp_parallel_for_each" | "revamp_dispatch")
}
