//! Advice that a trace proves: by the guidelines of the posts on C++ AMP (docs/posts.md), and by what the runtime knows.

use crate::events::{Event, Trace};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One thing to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// File and line of the call or kernel; what is known of it without debug information.
    pub line: String,
    /// What happens there.
    pub what: String,
    /// How often.
    pub count: u64,
    /// Bytes that it moves.
    pub bytes: u64,
    /// Nanoseconds that it takes.
    pub time: u64,
    /// What to write instead.
    pub instead: String,
}

/// From so many rounds on, a repetition is a pattern.
const ROUNDS: u64 = 3;
/// From so many launches on, their cost is worth a change.
const LAUNCHES: u64 = 100;
/// Copies of fewer bytes cost hardly more than their call.
const LARGE: u64 = 64 << 10;

/// Costs of a thing that happens repeatedly.
#[derive(Default, Clone, Copy)]
struct Sum {
    count: u64,
    bytes: u64,
    time: u64,
}

impl Sum {
    fn add(&mut self, transfer: &Event) {
        self.count += 1;
        self.bytes += transfer.number("bytes");
        self.time += transfer.took();
    }

    fn advice(self, line: &str, what: String, instead: &str) -> Advice {
        let Self { count, bytes, time } = self;
        Advice { line: line.to_owned(), what, count, bytes, time, instead: instead.to_owned() }
    }
}

/// The events, and the launches that use each data source.
struct Known<'a> {
    trace: &'a Trace,
    by_id: HashMap<u64, &'a Event>,
}

impl<'a> Known<'a> {
    fn transfers(&self) -> impl Iterator<Item = &'a Event> {
        self.trace.events.iter().filter(|e| e.category == "transfer")
    }

    fn cause(&self, event: &Event) -> Option<&'a Event> {
        self.by_id.get(&event.number("cause")).copied()
    }

    /// The launch that caused a transfer.
    fn launch(&self, transfer: &Event) -> Option<&'a Event> {
        self.cause(transfer).filter(|call| is_launch(call))
    }
}

fn is_launch(call: &Event) -> bool {
    matches!(call.text("call"), "revamp_parallel_for_each" | "revamp_dispatch")
}

fn is_host_access(call: &Event) -> bool {
    call.text("call") == "revamp_array_view_data"
}

/// How a launch uses a data source: `r`, `w` or `rw`; `None` if it does not, or if nothing is known.
fn use_of(launch: &Event, source: u64) -> Option<&str> {
    let captures = launch.text("captures").split(' ').filter_map(|c| c.split_once(':'));
    captures.filter(|(id, _)| id.parse() == Ok(source)).map(|(_, how)| how).next()
}

/// The line of a call, or what it is.
fn line_of(call: &Event) -> String {
    match (call.text("line"), is_launch(call)) {
        ("", true) => call.text("object").to_owned(),
        ("", false) => format!("{} of {}", call.text("call"), call.text("object")),
        (line, _) => line.to_owned(),
    }
}

/// All advice, the most expensive first.
pub fn advice(trace: &Trace) -> Vec<Advice> {
    let known = Known { trace, by_id: trace.events.iter().map(|e| (e.number("id"), e)).collect() };
    let mut all = Vec::new();
    all.extend(renewed_views(&known));
    all.extend(round_trips(&known));
    all.extend(write_backs(&known));
    all.extend(swallowed_failures(&known));
    all.extend(missing_discards(&known));
    all.extend(single_reads(&known));
    all.extend(staged_copies(&known));
    all.extend(waiting_copies(&known));
    all.extend(unread_writes(&known));
    all.extend(small_kernels(&known));
    all.extend(races(&known));
    all.sort_by_key(|a| std::cmp::Reverse((a.time, a.bytes)));
    all
}

/// Caching, guideline B: a kernel gets the same memory again and again by new views.
fn renewed_views(known: &Known<'_>) -> Vec<Advice> {
    let mut uploads: BTreeMap<(&str, u64, u64), (BTreeSet<u64>, Sum)> = BTreeMap::new();
    for t in known.transfers().filter(|t| t.text("from") == "host" && t.number("address") > 0) {
        let Some(launch) = known.launch(t) else { continue };
        let (sources, sum) =
            uploads.entry((launch.text("object"), t.number("address"), t.number("bytes"))).or_default();
        if sources.insert(t.number("source")) && sources.len() > 1 {
            sum.add(t);
        }
    }
    let repeated = uploads.into_iter().filter(|(_, (sources, _))| sources.len() as u64 >= ROUNDS);
    repeated
        .map(|((kernel, _, bytes), (_, sum))| {
            let what = format!("each of {} views of the same {bytes} bytes of memory moves them anew", sum.count + 1);
            sum.advice(
                kernel,
                what,
                "make the array_view once, before the loop; call refresh() where the host changes its memory",
            )
        })
        .collect()
}

/// Caching, guideline C: what a kernel writes comes to the host, and goes back, in each round.
fn round_trips(known: &Known<'_>) -> Vec<Advice> {
    /// What is known of a data source: the line of the last access that brought bytes to the host, and the sums by line.
    #[derive(Default)]
    struct Of {
        access: Option<String>,
        sums: BTreeMap<String, (u64, Sum, String)>,
    }
    let mut all: BTreeMap<u64, Of> = BTreeMap::new();
    for t in known.transfers().filter(|t| t.is_implicit() && t.number("source") > 0) {
        let Some(call) = known.cause(t) else { continue };
        let of = all.entry(t.number("source")).or_default();
        if t.text("to") == "host" && is_host_access(call) {
            let line = line_of(call);
            let (_, sum, object) = of.sums.entry(line.clone()).or_default();
            sum.add(t);
            t.text("object").clone_into(object);
            of.access = Some(line);
        } else if t.text("from") == "host" && is_launch(call) {
            if let Some((rounds, sum, _)) = of.access.take().and_then(|line| of.sums.get_mut(&line)) {
                *rounds += 1;
                sum.bytes += t.number("bytes");
                sum.time += t.took();
            }
        }
    }
    let lines = all.into_values().flat_map(|of| of.sums);
    lines
        .filter(|(_, (rounds, ..))| *rounds >= ROUNDS)
        .map(|(line, (rounds, sum, object))| {
            let what = format!("{object} comes to the host and goes back for the next launch, {rounds} times");
            sum.advice(
                &line,
                what,
                "read a section of the elements that the host needs, through array_view<const T>; or give the view an array of the accelerator as its data source",
            )
        })
        .collect()
}

/// Destruction, guideline B: a destructor writes back.
fn write_backs(known: &Known<'_>) -> Vec<Advice> {
    let mut writers: HashMap<u64, &str> = HashMap::new();
    let mut sums: BTreeMap<(String, String), Sum> = BTreeMap::new();
    for e in &known.trace.events {
        if e.category == "call" && is_launch(e) {
            for (source, how) in e.text("captures").split(' ').filter_map(|c| c.split_once(':')) {
                if let (Ok(source), true) = (source.parse(), how.contains('w')) {
                    writers.insert(source, e.text("object"));
                }
            }
        }
        if e.category != "transfer" || e.text("call") != "revamp_array_view_release" {
            continue;
        }
        let line = known.cause(e).map_or("", |call| call.text("line"));
        let writer = writers.get(&e.number("source")).copied().unwrap_or_default();
        let line = if line.is_empty() { writer } else { line };
        sums.entry((line.to_owned(), e.text("object").to_owned())).or_default().add(e);
    }
    sums.into_iter()
        .map(|((line, object), sum)| {
            let what = format!("the destructor of the last view of {object} writes back its changes; an error there would be swallowed");
            sum.advice(&line, what, "call synchronize() on the view before it ends, which reports errors; or discard_data() if nobody needs them")
        })
        .collect()
}

/// The same, where it failed.
fn swallowed_failures(known: &Known<'_>) -> Vec<Advice> {
    let failures = known.trace.events.iter().filter(|e| e.category == "failure");
    failures
        .map(|failure| {
            let call = known.cause(failure);
            let object = call.map_or("an array_view", |call| call.text("object"));
            let what =
                format!("the destructor of the last view of {object} swallows this error: {}", failure.text("object"));
            Sum { count: 1, ..Default::default() }.advice(
                &call.map(line_of).unwrap_or_default(),
                what,
                "call synchronize() on the view before it ends, which throws it",
            )
        })
        .collect()
}

/// Accesses of the host each bring a few elements that no launch or copy changes in between.
fn single_reads(known: &Known<'_>) -> Vec<Advice> {
    let mut unchanged: BTreeSet<(u64, String)> = BTreeSet::new();
    let mut sums: BTreeMap<(String, u64), (Sum, String)> = BTreeMap::new();
    for e in &known.trace.events {
        let access = if e.category == "transfer" && e.is_implicit() && e.text("to") == "host" {
            known.cause(e).filter(|call| is_host_access(call))
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
    let repeated = sums.into_iter().filter(|(_, (sum, _))| sum.count >= ROUNDS - 1);
    repeated
        .map(|((line, _), (sum, object))| {
            let what = format!("{} accesses wait for elements of {object} one after the other", sum.count + 1);
            sum.advice(
                &line,
                what,
                "call synchronize() on the whole view before the loop: one transfer brings all of them",
            )
        })
        .collect()
}

/// Copies of the same ordinary memory pass through staging memory.
fn staged_copies(known: &Known<'_>) -> Vec<Advice> {
    let mut sums: BTreeMap<(String, u64, u64), Sum> = BTreeMap::new();
    for t in known.transfers().filter(|t| t.number("staged") == 1 && t.number("bytes") >= LARGE) {
        let Some(call) = known.cause(t).filter(|call| call.text("call").starts_with("revamp_copy")) else { continue };
        sums.entry((line_of(call), t.number("address"), t.number("bytes"))).or_default().add(t);
    }
    let repeated = sums.into_iter().filter(|(_, sum)| sum.count >= ROUNDS);
    repeated
        .map(|((line, ..), sum)| {
            let what = format!("{} copies of the same memory pass through staging memory of the library", sum.count);
            sum.advice(
                &line,
                what,
                "keep the elements in a staging array, array<T, N>(extent, accelerator(accelerator::cpu_accelerator).default_view, view), which the device copies without the host",
            )
        })
        .collect()
}

/// The host waits for copies between arrays, though it has no part in them.
fn waiting_copies(known: &Known<'_>) -> Vec<Advice> {
    let mut waits: HashMap<u64, u64> = HashMap::new();
    for wait in known.trace.events.iter().filter(|e| e.category == "wait") {
        *waits.entry(wait.number("cause")).or_default() += wait.took();
    }
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for t in known.transfers().filter(|t| t.text("from") != "host" && t.text("to") != "host" && !t.is_implicit()) {
        let (Some(call), Some(time)) = (known.cause(t), waits.get(&t.number("cause"))) else { continue };
        if call.category == "call" && !call.text("call").ends_with("_async") {
            let sum = sums.entry(line_of(call)).or_default();
            *sum = Sum { count: sum.count + 1, bytes: sum.bytes + t.number("bytes"), time: sum.time + time };
        }
    }
    let repeated = sums.into_iter().filter(|(_, sum)| sum.count >= ROUNDS);
    repeated
        .map(|(line, sum)| {
            let what = format!("the host waits for {} copies between arrays on accelerators", sum.count);
            sum.advice(
                &line,
                what,
                "call copy_async(): later launches and copies of the arrays come after it without a wait of the host",
            )
        })
        .collect()
}

/// A kernel never reads what was moved for it.
fn missing_discards(known: &Known<'_>) -> Vec<Advice> {
    let mut sums: BTreeMap<(&str, &str), Sum> = BTreeMap::new();
    for t in known.transfers().filter(|t| t.text("from") == "host") {
        let Some(launch) = known.launch(t) else { continue };
        if use_of(launch, t.number("source")) == Some("w") {
            sums.entry((launch.text("object"), t.text("object"))).or_default().add(t);
        }
    }
    sums.into_iter()
        .map(|((kernel, object), sum)| {
            let what = format!("{object} moves to the accelerator, and the kernel never reads it");
            sum.advice(
                kernel,
                what,
                "call discard_data() on the view before the launch, if the kernel writes all its elements",
            )
        })
        .collect()
}

/// What a kernel wrote is discarded before anybody has read it.
fn unread_writes(known: &Known<'_>) -> Vec<Advice> {
    let mut unread: HashMap<u64, &str> = HashMap::new();
    let mut sums: BTreeMap<(&str, &str), Sum> = BTreeMap::new();
    let mut captures: HashMap<&str, &Event> = HashMap::new();
    for e in &known.trace.events {
        match e.category.as_str() {
            "call" if is_launch(e) => {
                captures.insert(e.text("object"), e);
            }
            "launch" => {
                let of_call = captures.get(e.text("kernel")).map_or("", |call| call.text("captures"));
                let captured = if e.text("captures").is_empty() { of_call } else { e.text("captures") };
                if captured.is_empty() {
                    // It may read anything.
                    unread.clear();
                }
                for (source, how) in captured.split(' ').filter_map(|c| c.split_once(':')) {
                    let Ok(source) = source.parse() else { continue };
                    if how.contains('r') {
                        unread.remove(&source);
                    } else {
                        unread.insert(source, e.text("kernel"));
                    }
                }
            }
            "transfer" => {
                unread.remove(&e.number("source"));
            }
            "call" if e.text("call") == "revamp_array_view_discard_data" => {
                if let Some(kernel) = unread.remove(&e.number("source")) {
                    sums.entry((kernel, e.text("object"))).or_default().count += 1;
                }
            }
            // The host, or a copy within one memory, may read it.
            "call" => {
                unread.remove(&e.number("source"));
            }
            _ => {}
        }
    }
    let repeated = sums.into_iter().filter(|(_, sum)| sum.count >= ROUNDS);
    repeated
        .map(|((kernel, object), sum)| {
            let what = format!("{object}, which the kernel writes, is discarded before anybody reads it");
            sum.advice(kernel, what, "leave the launch out, or the call of discard_data()")
        })
        .collect()
}

/// Launches take longer than what they launch.
fn small_kernels(known: &Known<'_>) -> Vec<Advice> {
    let mut kernels: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for device in known.trace.events.iter().filter(|e| e.category == "device") {
        let Some(launch) = known.by_id.get(&device.number("of")).filter(|e| e.category == "launch") else { continue };
        let (count, launching, running) = kernels.entry(launch.text("kernel")).or_default();
        *count += 1;
        // The call, unless it repeated an earlier launch.
        *launching += known.launch(launch).unwrap_or(launch).took();
        *running += device.took();
    }
    kernels
        .into_iter()
        .filter(|(_, (count, launching, running))| *count >= LAUNCHES && launching > running)
        .map(|(kernel, (count, launching, running))| {
            let what = format!("{count} launches take {launching} ns, and their kernels only {running} ns");
            Sum { count, bytes: 0, time: launching }.advice(
                kernel,
                what,
                "launch fewer kernels that do more: larger domains, or several steps in one kernel",
            )
        })
        .collect()
}

/// What `REVAMP_CHECK=1` reported.
fn races(known: &Known<'_>) -> Vec<Advice> {
    let mut all: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for race in known.trace.events.iter().filter(|e| e.category == "race") {
        *all.entry((race.text("line"), race.text("object"))).or_default() += 1;
    }
    all.into_iter()
        .map(|((line, what), count)| {
            Sum { count, ..Default::default() }.advice(
                line,
                what.to_owned(),
                "wait for the first use before the second one begins",
            )
        })
        .collect()
}
