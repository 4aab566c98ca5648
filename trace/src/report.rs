//! What a trace tells: time by accelerator, bytes by view and by cause, expensive transfers, overlap.

use crate::advice::{Advice, advice};
use crate::events::{Event, Trace};
use std::collections::BTreeMap;

/// Time of an accelerator, in nanoseconds.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Accelerator {
    /// Its name.
    pub name: String,
    /// In which a kernel ran; `None` without the times of devices (`REVAMP_TRACE_DEVICE=1`).
    pub kernels: Option<u64>,
    /// In which bytes moved to or from it.
    pub copies: u64,
    /// In which a thread waited for it, without copying.
    pub waits: u64,
    /// In which no kernel ran, no bytes moved and nobody waited.
    pub idle: u64,
    /// In which a kernel ran while bytes moved.
    pub overlap: Option<u64>,
    /// The most that could overlap: the shorter of kernels and copies.
    pub possible: Option<u64>,
    /// Launches.
    pub launches: u64,
}

/// Bytes of a view or array, or of a cause.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Moved {
    /// What moved, or why.
    pub name: String,
    /// Bytes that the program did not ask for.
    pub implicit: u64,
    /// Bytes that it asked for.
    pub explicit: u64,
    /// Number of transfers.
    pub count: u64,
    /// Nanoseconds on the threads that moved them.
    pub time: u64,
}

/// One implicit transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// When it began, in nanoseconds from the first event on.
    pub at: u64,
    /// Nanoseconds.
    pub time: u64,
    /// Bytes.
    pub bytes: u64,
    /// From where.
    pub from: String,
    /// To where.
    pub to: String,
    /// The view or array.
    pub object: String,
    /// What caused it.
    pub cause: String,
}

/// The report on a trace.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Report {
    /// Nanoseconds from the first event to the last.
    pub span: u64,
    /// Number of events.
    pub events: u64,
    /// Events that were lost, since they came faster than they could be written.
    pub lost: u64,
    /// By accelerator.
    pub accelerators: Vec<Accelerator>,
    /// By view or array.
    pub objects: Vec<Moved>,
    /// By the launch or call that caused it: file and line of a kernel, or the name of the call.
    pub causes: Vec<Moved>,
    /// The implicit transfers that took longest.
    pub expensive: Vec<Transfer>,
    /// What to change.
    pub advice: Vec<Advice>,
}

/// How many expensive transfers a report has.
const EXPENSIVE: usize = 10;

/// Spans of time that do not overlap, in order.
#[derive(Default, Clone)]
struct Spans(Vec<(u64, u64)>);

impl Spans {
    fn of(mut all: Vec<(u64, u64)>) -> Self {
        all.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (begin, end) in all {
            match merged.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((begin, end)),
            }
        }
        Self(merged)
    }

    fn length(&self) -> u64 {
        self.0.iter().map(|(begin, end)| end - begin).sum()
    }

    fn with(&self, other: &Self) -> Self {
        Self::of(self.0.iter().chain(&other.0).copied().collect())
    }

    /// The length of what both have.
    fn common(&self, other: &Self) -> u64 {
        self.length() + other.length() - self.with(other).length()
    }
}

/// Makes the report.
pub fn report(trace: &Trace) -> Report {
    let begin = trace.events.first().map_or(0, |e| e.begin);
    let end = trace.events.iter().map(|e| e.end).max().unwrap_or(begin);
    let of_category = |category: &'static str| trace.events.iter().filter(move |e| e.category == category);
    let by_id: BTreeMap<u64, &Event> = trace.events.iter().map(|e| (e.number("id"), e)).collect();
    let transfers: Vec<&Event> = of_category("transfer").collect();
    let mut expensive: Vec<_> = transfers.iter().filter(|t| t.is_implicit()).collect();
    expensive.sort_by_key(|t| std::cmp::Reverse((t.took(), t.number("bytes"))));
    let listed = |t: &&&Event| Transfer {
        at: t.begin - begin,
        time: t.took(),
        bytes: t.number("bytes"),
        from: t.text("from").to_owned(),
        to: t.text("to").to_owned(),
        object: t.text("object").to_owned(),
        cause: cause(t, &by_id),
    };
    Report {
        span: end - begin,
        events: trace.events.len() as u64,
        lost: of_category("lost").map(|e| e.number("events")).sum(),
        accelerators: accelerators(trace, end - begin),
        objects: moved(&transfers, |t| t.text("object").to_owned()),
        causes: moved(&transfers, |t| cause(t, &by_id)),
        expensive: expensive.iter().take(EXPENSIVE).map(listed).collect(),
        advice: advice(trace),
    }
}

/// What caused a transfer: the kernel of a launch, with its line, or the call and its object.
fn cause(transfer: &Event, by_id: &BTreeMap<u64, &Event>) -> String {
    let call = transfer.text("call");
    let Some(cause) = by_id.get(&transfer.number("cause")) else { return call.to_owned() };
    let object = cause.text("object");
    match (is_launch(call), cause.text("line")) {
        (true, _) => format!("launch of {object}"),
        (false, "") => format!("{call} of {object}"),
        (false, line) => format!("{call} of {object} at {line}"),
    }
}

fn is_launch(call: &str) -> bool {
    matches!(call, "revamp_parallel_for_each" | "revamp_dispatch")
}

fn moved(transfers: &[&Event], name: impl Fn(&Event) -> String) -> Vec<Moved> {
    let mut all: BTreeMap<String, Moved> = BTreeMap::new();
    for t in transfers {
        let name = name(t);
        let sum = all.entry(name.clone()).or_insert_with(|| Moved { name, ..Default::default() });
        *(if t.is_implicit() { &mut sum.implicit } else { &mut sum.explicit }) += t.number("bytes");
        sum.count += 1;
        sum.time += t.took();
    }
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_by_key(|m| std::cmp::Reverse(m.implicit + m.explicit));
    all
}

fn accelerators(trace: &Trace, span: u64) -> Vec<Accelerator> {
    #[derive(Default)]
    struct Of {
        kernels: Vec<(u64, u64)>,
        copies: Vec<(u64, u64)>,
        waits: Vec<(u64, u64)>,
        launches: u64,
        is_timed: bool,
    }
    let launch_queues: BTreeMap<u64, &str> = trace
        .events
        .iter()
        .filter(|e| e.category == "launch")
        .map(|e| (e.number("queue"), e.text("accelerator")))
        .collect();
    let launches: std::collections::BTreeSet<u64> =
        trace.events.iter().filter(|e| e.category == "launch").map(|e| e.number("id")).collect();
    let mut all: BTreeMap<&str, Of> = BTreeMap::new();
    for e in &trace.events {
        let span = (e.begin, e.end);
        match e.category.as_str() {
            "launch" => all.entry(e.text("accelerator")).or_default().launches += 1,
            "device" => {
                let of = all.entry(e.text("accelerator")).or_default();
                if launches.contains(&e.number("of")) {
                    of.kernels.push(span);
                    of.is_timed = true;
                } else {
                    of.copies.push(span);
                }
            }
            "transfer" => {
                for place in [e.text("from"), e.text("to")].into_iter().filter(|&place| place != "host") {
                    all.entry(place).or_default().copies.push(span);
                }
            }
            "wait" => {
                if let Some(accelerator) = launch_queues.get(&e.number("queue")) {
                    all.entry(accelerator).or_default().waits.push(span);
                }
            }
            _ => {}
        }
    }
    let made = all.into_iter().map(|(name, of)| {
        let (kernels, copies, waits) = (Spans::of(of.kernels), Spans::of(of.copies), Spans::of(of.waits));
        let busy = kernels.with(&copies);
        let timed = |time: u64| of.is_timed.then_some(time);
        Accelerator {
            name: name.to_owned(),
            kernels: timed(kernels.length()),
            copies: copies.length(),
            waits: waits.length() - waits.common(&copies),
            idle: span.saturating_sub(busy.with(&waits).length()),
            overlap: timed(kernels.common(&copies)),
            possible: timed(kernels.length().min(copies.length())),
            launches: of.launches,
        }
    });
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Value;

    fn event(category: &str, begin: u64, end: u64, values: &[(&str, Value)]) -> Event {
        Event {
            category: category.to_owned(),
            begin,
            end,
            values: values.iter().map(|(key, value)| ((*key).into(), value.clone())).collect(),
            ..Default::default()
        }
    }
    fn text(value: &str) -> Value {
        Value::Text(value.into())
    }

    #[test]
    fn spans_are_counted_once() {
        let a = Spans::of(vec![(10, 20), (15, 30), (40, 50)]);
        assert_eq!(a.length(), 30);
        assert_eq!(a.common(&Spans::of(vec![(25, 45)])), 10);
    }

    #[test]
    fn times_and_bytes_go_to_their_accelerator_view_and_cause() {
        let upload = |begin, end, bytes, kind: &str| {
            let values = [
                ("from", text("host")),
                ("to", text("gpu")),
                ("bytes", Value::Number(bytes)),
                ("object", text("array_view a")),
                ("kind", text(kind)),
                ("call", text("revamp_parallel_for_each")),
                ("cause", Value::Number(1)),
            ];
            event("transfer", begin, end, &values)
        };
        let number = |n| Value::Number(n);
        let trace = Trace {
            events: vec![
                event("call", 0, 100, &[("id", number(1)), ("object", text("a.cpp:7"))]),
                upload(0, 30, 1000, "implicit"),
                upload(40, 80, 500, "explicit"),
                event("launch", 30, 35, &[("id", number(2)), ("accelerator", text("gpu")), ("queue", number(9))]),
                event("device", 50, 90, &[("of", number(2)), ("accelerator", text("gpu"))]),
                event("wait", 75, 95, &[("queue", number(9))]),
            ],
            ..Default::default()
        };
        let report = report(&trace);
        let gpu = &report.accelerators[0];
        assert_eq!((gpu.kernels, gpu.copies, gpu.waits), (Some(40), 70, 15));
        assert_eq!((gpu.overlap, gpu.possible, gpu.idle), (Some(30), Some(40), 15));
        assert_eq!((report.objects[0].implicit, report.objects[0].explicit), (1000, 500));
        assert_eq!(report.causes[0].name, "launch of a.cpp:7");
        assert_eq!(report.expensive.len(), 1);
        assert_eq!(report.expensive[0].time, 30);
    }
}
