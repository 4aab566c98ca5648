//! Evaluates a trace: time by accelerator, bytes by view and by cause, expensive transfers, and overlap.

use crate::advice::{Advice, advice};
use crate::events::{Event, Trace};
use revamp_perfetto::queue_track;
use std::collections::{BTreeMap, HashMap};

/// How an accelerator spends its time. Times are in nanoseconds.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Accelerator {
    /// The name of the accelerator.
    pub name: String,
    /// Time in which a kernel ran; `None` if the trace has no device times (`REVAMP_TRACE_DEVICE=1`).
    pub kernels: Option<u64>,
    /// Time in which bytes moved to or from the accelerator.
    pub copies: u64,
    /// Time in which a thread waited for the accelerator and no bytes moved. Waits for a queue that only copies count only if the trace
    /// has device times.
    pub waits: u64,
    /// Time in which no kernel ran, no bytes moved and no thread waited.
    pub idle: u64,
    /// Time in which a kernel ran while bytes moved. A blocking copy does not count while it waits, because it may wait for the kernel.
    pub overlap: Option<u64>,
    /// The longest possible overlap: the time of kernels or of copies, whichever is shorter.
    pub possible_overlap: Option<u64>,
    /// Number of launches.
    pub launches: u64,
}

/// The bytes that moved for one view or array, or for one cause.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TransferTotals {
    /// The view, array or cause.
    pub name: String,
    /// Bytes of transfers that the program did not request.
    pub implicit: u64,
    /// Bytes of transfers that the program requested.
    pub explicit: u64,
    /// Number of transfers.
    pub count: u64,
    /// Total duration of the transfers in nanoseconds.
    pub time: u64,
}

/// One implicit transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// The begin of the transfer, in nanoseconds since the first event.
    pub at: u64,
    /// The duration in nanoseconds.
    pub time: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// The location that the bytes come from.
    pub from: String,
    /// The location that the bytes go to.
    pub to: String,
    /// The view or array.
    pub object: String,
    /// The launch or call that caused the transfer, and the rule of docs/spec.
    pub cause: String,
}

/// The report on a trace.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Report {
    /// Nanoseconds from the first event to the last.
    pub span: u64,
    /// Number of events.
    pub events: u64,
    /// Number of events that were lost because they came faster than they could be written.
    pub lost: u64,
    /// Times by accelerator.
    pub accelerators: Vec<Accelerator>,
    /// Bytes by view or array.
    pub objects: Vec<TransferTotals>,
    /// Bytes by the launch or call that caused the transfer: file and line of a kernel, or the name of the call.
    pub causes: Vec<TransferTotals>,
    /// The longest implicit transfers.
    pub expensive: Vec<Transfer>,
    /// Advice on the program.
    pub advice: Vec<Advice>,
}

/// The maximum number of expensive transfers in a report.
const EXPENSIVE: usize = 10;

/// Disjoint spans of time, in order.
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

    /// The parts of these spans that `others` does not contain.
    fn without(&self, others: &Self) -> Self {
        let mut left = Vec::new();
        for &(first, end) in &self.0 {
            let mut begin = first;
            let after = &others.0[others.0.partition_point(|other| other.1 <= first)..];
            for &(hole, hole_end) in after.iter().take_while(|other| other.0 < end) {
                left.extend((begin < hole).then_some((begin, hole)));
                begin = hole_end;
            }
            left.extend((begin < end).then_some((begin, end)));
        }
        Self(left)
    }

    /// The length of the time that both `self` and `other` contain.
    fn common(&self, other: &Self) -> u64 {
        self.length() + other.length() - self.with(other).length()
    }
}

/// Creates the report on a trace.
pub fn report(trace: &Trace) -> Report {
    let begin = trace.events.first().map_or(0, |e| e.begin);
    let end = trace.events.iter().map(|e| e.end).max().unwrap_or(begin);
    let of_category = |category: &'static str| trace.events.iter().filter(move |e| e.category == category);
    let by_id = trace.by_id();
    let transfers: Vec<&Event> = of_category("transfer").collect();
    let mut expensive: Vec<_> = transfers.iter().filter(|t| t.is_implicit()).collect();
    expensive.sort_by_key(|t| std::cmp::Reverse((t.duration(), t.number("bytes"))));
    let to_transfer = |t: &&&Event| Transfer {
        at: t.begin - begin,
        time: t.duration(),
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
        objects: sum_transfers(&transfers, |t| t.text("object").to_owned()),
        causes: sum_transfers(&transfers, |t| cause(t, &by_id)),
        expensive: expensive.iter().take(EXPENSIVE).map(to_transfer).collect(),
        advice: advice(trace),
    }
}

/// The cause of a transfer: the kernel of a launch with its line, or the call and its object. The rule follows, unless the
/// program requested the transfer.
fn cause(transfer: &Event, by_id: &HashMap<u64, &Event>) -> String {
    let call = caller(transfer, by_id);
    match transfer.text("rule") {
        "" => call,
        rule => format!("{call} ({rule})"),
    }
}

fn caller(transfer: &Event, by_id: &HashMap<u64, &Event>) -> String {
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

fn sum_transfers(transfers: &[&Event], name: impl Fn(&Event) -> String) -> Vec<TransferTotals> {
    let mut all: BTreeMap<String, TransferTotals> = BTreeMap::new();
    for t in transfers {
        let name = name(t);
        let sum = all.entry(name.clone()).or_insert_with(|| TransferTotals { name, ..Default::default() });
        *(if t.is_implicit() { &mut sum.implicit } else { &mut sum.explicit }) += t.number("bytes");
        sum.count += 1;
        sum.time += t.duration();
    }
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_by_key(|m| std::cmp::Reverse(m.implicit + m.explicit));
    all
}

fn accelerators(trace: &Trace, span: u64) -> Vec<Accelerator> {
    #[derive(Default)]
    struct Activity {
        kernels: Vec<(u64, u64)>,
        copies: Vec<(u64, u64)>,
        /// The copies that the device timed.
        timed_copies: Vec<(u64, u64)>,
        waits: Vec<(u64, u64)>,
        /// The waits for queues that only copy.
        copy_waits: Vec<(u64, u64)>,
        launches: u64,
        is_timed: bool,
    }
    let launch_queues: BTreeMap<u64, &str> = trace
        .events
        .iter()
        .filter(|e| e.category == "launch")
        .map(|e| (e.number("queue"), e.text("accelerator")))
        .collect();
    // Only the times of a device tell which accelerator a queue without launches belongs to.
    let timed_tracks: BTreeMap<u64, &str> =
        trace.events.iter().filter(|e| e.category == "device").map(|e| (e.track, e.text("accelerator"))).collect();
    let launches: std::collections::BTreeSet<u64> =
        trace.events.iter().filter(|e| e.category == "launch").map(|e| e.number("id")).collect();
    // If the device timed a transfer, the report uses the time on the device instead of the time of the call.
    let timed: std::collections::BTreeSet<u64> =
        trace.events.iter().filter(|e| e.category == "device").map(|e| e.number("of")).collect();
    let mut all: BTreeMap<&str, Activity> = BTreeMap::new();
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
                    of.timed_copies.push(span);
                }
            }
            "transfer" if !timed.contains(&e.number("id")) => {
                for endpoint in [e.text("from"), e.text("to")].into_iter().filter(|&endpoint| endpoint != "host") {
                    all.entry(endpoint).or_default().copies.push(span);
                }
            }
            "wait" => {
                let queue = e.number("queue");
                if let Some(accelerator) = launch_queues.get(&queue) {
                    all.entry(accelerator).or_default().waits.push(span);
                } else if let Some(accelerator) = timed_tracks.get(&queue_track(queue)) {
                    all.entry(accelerator).or_default().copy_waits.push(span);
                }
            }
            _ => {}
        }
    }
    let summaries = all.into_iter().map(|(name, of)| {
        let (kernels, kernel_waits) = (Spans::of(of.kernels), Spans::of(of.waits));
        let (timed_copies, by_call) = (Spans::of(of.timed_copies), Spans::of(of.copies));
        let waits = kernel_waits.with(&Spans::of(of.copy_waits));
        // A blocking copy may wait for kernels before it moves bytes, so waits do not count as moving.
        let moving = timed_copies.with(&by_call.without(&kernel_waits));
        let copies = timed_copies.with(&by_call);
        let busy = kernels.with(&copies);
        let timed = |time: u64| of.is_timed.then_some(time);
        Accelerator {
            name: name.to_owned(),
            kernels: timed(kernels.length()),
            copies: copies.length(),
            waits: waits.length() - waits.common(&copies),
            idle: span.saturating_sub(busy.with(&waits).length()),
            overlap: timed(kernels.common(&moving)),
            possible_overlap: timed(kernels.length().min(moving.length())),
            launches: of.launches,
        }
    });
    summaries.collect()
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
        let holes = Spans::of(vec![(0, 12), (14, 16), (28, 42), (60, 70)]);
        assert_eq!(a.without(&holes).0, [(12, 14), (16, 28), (42, 50)]);
    }

    /// An asynchronous copy runs concurrently with the kernel, and the call of the copy returns at once.
    #[test]
    fn device_times_of_copies_replace_call_times() {
        let number = |n| Value::Number(n);
        let to_gpu = |id| [("id", number(id)), ("from", text("host")), ("to", text("gpu")), ("bytes", number(64))];
        let on_gpu = |of| [("of", number(of)), ("accelerator", text("gpu"))];
        let events = vec![
            event("launch", 0, 5, &[("id", number(1)), ("accelerator", text("gpu")), ("queue", number(9))]),
            event("transfer", 5, 10, &to_gpu(2)),
            event("device", 20, 60, &on_gpu(1)),
            event("device", 40, 70, &on_gpu(2)),
        ];
        let report = report(&Trace { events, ..Default::default() });
        let gpu = &report.accelerators[0];
        assert_eq!((gpu.kernels, gpu.copies), (Some(40), 30));
        assert_eq!((gpu.overlap, gpu.possible_overlap), (Some(20), Some(30)));
    }

    /// The device times of a copy tell which accelerator its queue belongs to.
    #[test]
    fn waits_for_queues_that_only_copy_count_for_their_accelerator() {
        let number = |n| Value::Number(n);
        let copied = event("device", 40, 70, &[("of", number(2)), ("accelerator", text("gpu"))]);
        let events = vec![
            event("transfer", 5, 10, &[("id", number(2)), ("from", text("gpu")), ("to", text("gpu"))]),
            event("wait", 20, 75, &[("queue", number(8))]),
            event("wait", 80, 90, &[("queue", number(9))]),
            Event { track: queue_track(8), ..copied },
        ];
        let report = report(&Trace { events, ..Default::default() });
        assert_eq!((report.accelerators[0].copies, report.accelerators[0].waits), (30, 25));
    }

    /// Marks and lost events have no id, and an event without a cause has not been caused by them.
    #[test]
    fn events_without_an_id_cause_nothing() {
        let number = |n| Value::Number(n);
        let values = [
            ("id", number(2)),
            ("kind", text("implicit")),
            ("call", text("revamp_parallel_for_each")),
            ("from", text("host")),
        ];
        let mark = [("object", text("a.cpp:7")), ("call", text("revamp_dispatch")), ("captures", text("0:w"))];
        let events =
            vec![event("submitted", 0, 0, &mark), event("transfer", 0, 30, &values), event("lost", 50, 50, &mark)];
        let report = report(&Trace { events, ..Default::default() });
        assert_eq!(report.causes[0].name, "revamp_parallel_for_each");
        assert!(report.advice.is_empty(), "{:?}", report.advice);
    }

    #[test]
    fn times_and_bytes_count_for_their_accelerator_and_cause() {
        let upload = |begin, end, bytes, kind: &str| {
            let values = [
                ("from", text("host")),
                ("to", text("gpu")),
                ("bytes", Value::Number(bytes)),
                ("object", text("array_view a")),
                ("kind", text(kind)),
                ("rule", text(if kind == "implicit" { "AV-2" } else { "" })),
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
        // The second copy waits from 75 on, so it overlaps the kernel only from 50 to 75.
        assert_eq!((gpu.overlap, gpu.possible_overlap, gpu.idle), (Some(25), Some(40), 15));
        assert_eq!((report.objects[0].implicit, report.objects[0].explicit), (1000, 500));
        assert_eq!(report.causes[0].name, "launch of a.cpp:7 (AV-2)");
        assert_eq!(report.causes[1].name, "launch of a.cpp:7");
        assert_eq!(report.expensive.len(), 1);
        assert_eq!(report.expensive[0].time, 30);
    }
}
