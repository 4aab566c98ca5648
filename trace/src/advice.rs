//! Derives advice from a trace: by the guidelines of the posts on C++ AMP (docs/posts.md), and from events that the runtime records,
//! such as races.

mod captures;
mod index;
mod kinds;
mod replacement;

use crate::events::{Event, Trace};
use captures::{Capture, captures, uses_only, written_sources};
use index::{TraceIndex, is_launch};
use kinds::Sum;
pub use kinds::{Advice, Kind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The minimum number of rounds that counts as a pattern.
const MIN_ROUNDS: u64 = 3;
/// The minimum number of launches that write data for each access of the host, if data is mostly written on an accelerator.
const MIN_WRITES: u64 = 10;
/// The minimum number of launches whose cost is worth a change.
const MIN_LAUNCHES: u64 = 100;
/// The minimum size of a copy in bytes. Smaller copies cost hardly more than their call.
const LARGE_COPY_BYTES: u64 = 64 << 10;

fn is_host_access(call: &Event) -> bool {
    call.text("call") == "revamp_array_view_data"
}

/// The line of a call. If there is no debug information, the kernel of a launch, or the call and its object.
fn line_of(call: &Event) -> String {
    match (call.text("line"), is_launch(call)) {
        ("", true) => call.text("object").to_owned(),
        ("", false) => format!("{} of {}", call.text("call"), call.text("object")),
        (line, _) => line.to_owned(),
    }
}

/// All advice, the most expensive first.
pub fn advice(trace: &Trace) -> Vec<Advice> {
    let index = TraceIndex::of(trace);
    let mut all = Vec::new();
    all.extend(renewed_views(&index));
    all.extend(round_trips(&index));
    all.extend(write_backs(&index));
    all.extend(swallowed_failures(&index));
    all.extend(missing_discards(&index));
    all.extend(staged_copies(&index));
    all.extend(waiting_copies(&index));
    all.extend(small_kernels(&index));
    all.extend(races(&index));
    all.extend(captures::views_only_read(&index));
    // These conclude from the absence of events.
    if !trace.events.iter().any(|e| e.category == "lost") {
        all.extend(single_reads(&index));
        all.extend(unread_writes(&index));
        all.extend(captures::unused_parts(&index));
    }
    all.sort_by_key(|a| std::cmp::Reverse((a.time, a.bytes)));
    all
}

/// Caching, guideline B: a kernel repeatedly gets the same memory through new views.
fn renewed_views(index: &TraceIndex<'_>) -> Vec<Advice> {
    /// The uploads of the same bytes for a kernel.
    #[derive(Default)]
    struct Uploads<'a> {
        sources: BTreeSet<u64>,
        sum: Sum,
        /// The name of the latest view.
        object: &'a str,
        /// True if a launch writes the view, or if the trace does not say how launches use it.
        may_write: bool,
    }
    let mut all: BTreeMap<(&str, u64, u64), Uploads<'_>> = BTreeMap::new();
    for t in index.transfers().filter(|t| t.text("from") == "host" && t.number("address") > 0) {
        let Some(launch) = index.launch(t) else { continue };
        let source = t.number("source");
        let uploads = all.entry((launch.text("object"), t.number("address"), t.number("bytes"))).or_default();
        uploads.object = t.text("object");
        uploads.may_write |= !uses_only(launch, source, "r");
        if uploads.sources.insert(source) && uploads.sources.len() > 1 {
            uploads.sum.add(t);
        }
    }
    let repeated = all.into_iter().filter(|(_, uploads)| uploads.sources.len() as u64 >= MIN_ROUNDS);
    repeated
        .map(|((kernel, _, bytes), Uploads { sum, object, may_write, .. })| {
            let what = format!(
                "{} views of the same {bytes} bytes of memory are created one after the other, and each moves the bytes again",
                sum.count + 1
            );
            sum.advice(Kind::RenewedView, kernel, what, replacement::view_before_loop(object, !may_write))
        })
        .collect()
}

/// How many launches write each data source, if all of them are on one accelerator.
fn writing_launches(index: &TraceIndex<'_>) -> HashMap<u64, u64> {
    let mut all: HashMap<u64, (u64, BTreeSet<&str>)> = HashMap::new();
    for launch in index.trace.events.iter().filter(|e| e.category == "launch") {
        for source in index.with_captures(launch).map(written_sources).unwrap_or_default() {
            let (count, accelerators) = all.entry(source).or_default();
            *count += 1;
            accelerators.insert(launch.text("accelerator"));
        }
    }
    let on_one = all.into_iter().filter(|(_, (_, accelerators))| accelerators.len() == 1);
    on_one.map(|(source, (count, _))| (source, count)).collect()
}

/// Caching, guideline C: in each round, data that a kernel writes comes to the host and goes back. One round is enough if launches write
/// the data much more often than the host can have written it.
fn round_trips(index: &TraceIndex<'_>) -> Vec<Advice> {
    /// The round trips of a data source.
    #[derive(Default)]
    struct RoundTrips {
        /// The line of the last transfer to the host, until a launch moves the data back.
        access: Option<String>,
        /// The number of transfers to the host for its accesses.
        accesses: u64,
        /// The rounds, costs and object of each line.
        sums: BTreeMap<String, (u64, Sum, String)>,
    }
    let mut all: BTreeMap<u64, RoundTrips> = BTreeMap::new();
    for t in index.transfers().filter(|t| t.is_implicit() && t.number("source") > 0) {
        let Some(call) = index.cause(t) else { continue };
        let trips = all.entry(t.number("source")).or_default();
        if t.text("to") == "host" && is_host_access(call) {
            let line = line_of(call);
            let (_, sum, object) = trips.sums.entry(line.clone()).or_default();
            sum.add(t);
            t.text("object").clone_into(object);
            trips.access = Some(line);
            trips.accesses += 1;
        } else if t.text("from") == "host" && is_launch(call) {
            if let Some((rounds, sum, _)) = trips.access.take().and_then(|line| trips.sums.get_mut(&line)) {
                *rounds += 1;
                sum.bytes += t.number("bytes");
                sum.time += t.duration();
            }
        }
    }
    let writes = writing_launches(index);
    let lines = all.into_iter().flat_map(|(source, trips)| {
        let writes = writes.get(&source).copied().filter(|writes| *writes >= MIN_WRITES * trips.accesses);
        trips.sums.into_iter().map(move |(line, sum)| (line, sum, writes))
    });
    lines
        .filter(|(_, (rounds, ..), writes)| *rounds >= MIN_ROUNDS || *rounds > 0 && writes.is_some())
        .map(|(line, (rounds, sum, object), writes)| {
            let times = if rounds == 1 { "once".to_owned() } else { format!("{rounds} times") };
            let mut what =
                format!("{object} moves to the host and back to the accelerator for the next launch, {times}");
            if let Some(writes) = writes {
                what += &format!("; {writes} launches on the accelerator write it");
            }
            sum.advice(Kind::RoundTrip, &line, what, replacement::section_or_array(&object))
        })
        .collect()
}

/// Destruction, guideline B: a destructor writes changes back.
fn write_backs(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut writers: HashMap<u64, &str> = HashMap::new();
    let mut sums: BTreeMap<(String, &str), (Sum, &Event)> = BTreeMap::new();
    for e in &index.trace.events {
        if e.category == "call" && is_launch(e) {
            writers.extend(written_sources(e).into_iter().map(|source| (source, e.text("object"))));
        }
        if e.category != "transfer" || e.text("call") != "revamp_array_view_release" {
            continue;
        }
        let line = index.cause(e).map_or("", |call| call.text("line"));
        let writer = writers.get(&e.number("source")).copied().unwrap_or_default();
        let line = if line.is_empty() { writer } else { line };
        sums.entry((line.to_owned(), e.text("object"))).or_insert((Sum::default(), e)).0.add(e);
    }
    sums.into_iter()
        .map(|((line, object), (sum, transfer))| {
            let label = index.view_label(transfer);
            let view = label.unwrap_or(object);
            let what = format!(
                "the destructor of the last view of {view} writes back changes; the destructor would swallow an error"
            );
            let code = replacement::synchronize_before_destructor(label);
            sum.advice(Kind::DestructorWriteBack, &line, what, code)
        })
        .collect()
}

/// Destructors whose write-back failed.
fn swallowed_failures(index: &TraceIndex<'_>) -> Vec<Advice> {
    let failures = index.trace.events.iter().filter(|e| e.category == "failure");
    failures
        .map(|failure| {
            let call = index.cause(failure);
            let label = call.and_then(|call| index.view_label(call));
            let view = label.or_else(|| Some(call?.text("object"))).unwrap_or("an array_view");
            let what =
                format!("the destructor of the last view of {view} swallows this error: {}", failure.text("object"));
            let code = replacement::synchronize_before_destructor(label);
            let line = call.map(line_of).unwrap_or_default();
            Sum { count: 1, ..Default::default() }.advice(Kind::SwallowedError, &line, what, code)
        })
        .collect()
}

/// The host repeatedly fetches a few elements, although no launch or copy changes the data in between.
fn single_reads(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut unchanged: BTreeSet<(u64, String)> = BTreeSet::new();
    let mut sums: BTreeMap<(String, u64), (Sum, String)> = BTreeMap::new();
    for e in &index.trace.events {
        let access = if e.category == "transfer" && e.is_implicit() && e.text("to") == "host" {
            index.cause(e).filter(|call| is_host_access(call))
        } else {
            None
        };
        match (access, e.category.as_str()) {
            (Some(call), _) => {
                let (line, source) = (line_of(call), e.number("source"));
                if unchanged.insert((source, line.clone())) {
                    continue;
                }
                let (sum, object) = sums.entry((line, source)).or_default();
                sum.add(e);
                e.text("object").clone_into(object);
            }
            (None, "launch" | "transfer") => unchanged.clear(),
            _ => {}
        }
    }
    let repeated = sums.into_iter().filter(|(_, (sum, _))| sum.count >= MIN_ROUNDS - 1);
    repeated
        .map(|((line, _), (sum, object))| {
            let what = format!("{} accesses wait for elements of {object} one after the other", sum.count + 1);
            sum.advice(Kind::SingleRead, &line, what, replacement::synchronize_before_loop(&object))
        })
        .collect()
}

/// Repeated copies of the same memory, which is not a staging array, pass through staging memory.
fn staged_copies(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut sums: BTreeMap<(String, u64, u64), (Sum, &Event)> = BTreeMap::new();
    for t in index.transfers().filter(|t| t.number("staged") == 1 && t.number("bytes") >= LARGE_COPY_BYTES) {
        let Some(call) = index.cause(t).filter(|call| call.text("call").starts_with("revamp_copy")) else { continue };
        let bytes = t.number("bytes");
        sums.entry((line_of(call), t.number("address"), bytes)).or_insert((Sum::default(), t)).0.add(t);
    }
    let repeated = sums.into_iter().filter(|(_, (sum, _))| sum.count >= MIN_ROUNDS);
    repeated
        .map(|((line, ..), (sum, transfer))| {
            let what = format!("{} copies of the same memory pass through staging memory of the library", sum.count);
            let code = replacement::staging_array(transfer.text("object"), transfer.text("from") == "host");
            sum.advice(Kind::StagedCopy, &line, what, code)
        })
        .collect()
}

/// The host waits for copies between arrays that are not in host memory. A copy that finished before its call could wait has no wait; it
/// counts with those of its line that have one.
fn waiting_copies(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut waits: HashMap<u64, u64> = HashMap::new();
    for wait in index.trace.events.iter().filter(|e| e.category == "wait") {
        *waits.entry(wait.number("cause")).or_default() += wait.duration();
    }
    let mut sums: BTreeMap<String, (Sum, &str)> = BTreeMap::new();
    for t in index.transfers().filter(|t| t.text("from") != "host" && t.text("to") != "host" && !t.is_implicit()) {
        let Some(call) = index.cause(t) else { continue };
        let time = waits.get(&t.number("cause")).unwrap_or(&0);
        if call.category == "call" && !call.text("call").ends_with("_async") {
            let (sum, object) = sums.entry(line_of(call)).or_default();
            *sum = Sum { count: sum.count + 1, bytes: sum.bytes + t.number("bytes"), time: sum.time + time };
            *object = t.text("object");
        }
    }
    let repeated = sums.into_iter().filter(|(_, (sum, _))| sum.count >= MIN_ROUNDS && sum.time > 0);
    repeated
        .map(|(line, (sum, object))| {
            let what = format!("{} copies between arrays on accelerators let the host wait", sum.count);
            sum.advice(Kind::WaitingCopy, &line, what, replacement::asynchronous_copy(object))
        })
        .collect()
}

/// Data is moved for a kernel that never reads it.
fn missing_discards(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut sums: BTreeMap<(&str, &str), Sum> = BTreeMap::new();
    for t in index.transfers().filter(|t| t.text("from") == "host") {
        let Some(launch) = index.launch(t) else { continue };
        if uses_only(launch, t.number("source"), "w") {
            sums.entry((launch.text("object"), t.text("object"))).or_default().add(t);
        }
    }
    sums.into_iter()
        .map(|((kernel, object), sum)| {
            let what = format!("{object} moves to the accelerator, and the kernel never reads it");
            sum.advice(Kind::MissingDiscard, kernel, what, replacement::discard_before_launch(object))
        })
        .collect()
}

/// Data that a kernel wrote is discarded before anything has read it.
fn unread_writes(index: &TraceIndex<'_>) -> Vec<Advice> {
    let device_times: HashMap<u64, u64> =
        index.trace.events.iter().filter(|e| e.category == "device").map(|e| (e.number("of"), e.duration())).collect();
    // The kernel, and the time of the launch and, if the trace has it, of the kernel.
    let mut unread: HashMap<u64, (&str, u64)> = HashMap::new();
    let mut sums: BTreeMap<(&str, &str), Sum> = BTreeMap::new();
    for e in &index.trace.events {
        match e.category.as_str() {
            "launch" => {
                let Some(with_captures) = index.with_captures(e) else {
                    // A launch with unknown captures may read anything.
                    unread.clear();
                    continue;
                };
                for Capture { source, .. } in captures(with_captures) {
                    if uses_only(with_captures, source, "w") {
                        let running = device_times.get(&e.number("id")).copied().unwrap_or_default();
                        unread.insert(source, (e.text("kernel"), e.duration() + running));
                    } else {
                        unread.remove(&source);
                    }
                }
            }
            "call" if is_launch(e) => {}
            "call" if e.text("call") == "revamp_array_view_discard_data" => {
                if let Some((kernel, time)) = unread.remove(&e.number("source")) {
                    let sum = sums.entry((kernel, e.text("object"))).or_default();
                    *sum = Sum { count: sum.count + 1, bytes: 0, time: sum.time + time };
                }
            }
            // An access of the host, or a copy within one memory, may read the source.
            "call" | "transfer" => {
                for source in index.sources(e) {
                    unread.remove(&source);
                }
            }
            _ => {}
        }
    }
    let repeated = sums.into_iter().filter(|(_, sum)| sum.count >= MIN_ROUNDS);
    repeated
        .map(|((kernel, object), sum)| {
            let what = format!("{object}, which the kernel writes, is discarded before anybody reads it");
            sum.advice(Kind::UnreadResult, kernel, what, replacement::synchronize_for_discard(object))
        })
        .collect()
}

/// The times at which calls transfer data, wait, or build pipelines, by the id of the call.
fn other_work<'a>(index: &TraceIndex<'a>) -> HashMap<u64, Vec<&'a Event>> {
    let mut all: HashMap<u64, Vec<&Event>> = HashMap::new();
    for e in &index.trace.events {
        if matches!(&*e.category, "transfer" | "wait" | "pipeline") {
            all.entry(e.number("cause")).or_default().push(e);
        }
    }
    all
}

/// The duration of `call` without the time of `others`, which may overlap.
fn own_duration(call: &Event, others: &mut [&Event]) -> u64 {
    others.sort_by_key(|e| e.begin);
    let (mut own, mut at) = (0, call.begin);
    for other in others {
        own += other.begin.min(call.end).saturating_sub(at);
        at = at.max(other.end);
    }
    own + call.end.saturating_sub(at)
}

/// Launches take longer than the kernels that they launch. The time for which a launch waits or transfers data does not count.
fn small_kernels(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut kernels: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    let mut other_work = other_work(index);
    for device in index.trace.events.iter().filter(|e| e.category == "device") {
        let Some(launch) = index.by_id.get(&device.number("of")).filter(|e| e.category == "launch") else { continue };
        let (count, launching, running) = kernels.entry(launch.text("kernel")).or_default();
        *count += 1;
        // `launching` has the time of the call that caused the launch. A repeated launch has no such call, so the time of the launch
        // itself is used.
        let call = index.launch(launch).unwrap_or(launch);
        *launching += own_duration(call, other_work.entry(call.number("id")).or_default());
        *running += device.duration();
    }
    kernels
        .into_iter()
        .filter(|(_, (count, launching, running))| *count >= MIN_LAUNCHES && launching > running)
        .map(|(kernel, (count, launching, running))| {
            let what = format!("{count} launches take {launching} ns, but their kernels take only {running} ns");
            let sum = Sum { count, bytes: 0, time: launching };
            sum.advice(Kind::SmallKernel, kernel, what, replacement::steps_in_kernel())
        })
        .collect()
}

/// Races that `REVAMP_CHECK=1` reported.
fn races(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut all: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for race in index.trace.events.iter().filter(|e| e.category == "race") {
        *all.entry((race.text("line"), race.text("object"))).or_default() += 1;
    }
    all.into_iter()
        .map(|((line, what), count)| {
            let sum = Sum { count, ..Default::default() };
            sum.advice(Kind::Race, line, what.to_owned(), replacement::wait_for_first_use(what))
        })
        .collect()
}

#[cfg(test)]
mod tests;
