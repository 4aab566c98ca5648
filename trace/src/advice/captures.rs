//! The captures of launches, and the advice on them: whole views of which kernels use a part, and views that kernels only read.

use super::index::{TraceIndex, is_launch};
use super::kinds::{Advice, Kind, Sum};
use super::replacement;
use crate::events::Event;
use std::collections::{BTreeMap, HashMap};

/// How a launch uses an array_view.
pub struct Capture<'a> {
    /// The id of the view's data source.
    pub source: u64,
    /// What the kernel does with the elements: `r`, `w` or `rw`.
    pub how: &'a str,
    /// What the view allows: `r` for an `array_view<const T>`, otherwise `rw`. Empty if the trace does not say it.
    pub allowed: &'a str,
    /// The maximum number of bytes that the launch accesses through the view; 0 if it is unknown.
    pub max_bytes: u64,
}

impl<'a> Capture<'a> {
    /// A capture from its text: these fields, with colons between them.
    fn parse(text: &'a str) -> Option<Self> {
        let mut fields = text.split(':');
        let (source, how) = (fields.next()?.parse().ok()?, fields.next()?);
        let allowed = fields.next().unwrap_or_default();
        Some(Self { source, how, allowed, max_bytes: fields.next().and_then(|n| n.parse().ok()).unwrap_or(0) })
    }
}

/// The captures in an event of a launch or of its call. None if the compiler could not tell them.
pub fn captures(event: &Event) -> impl Iterator<Item = Capture<'_>> {
    event.text("captures").split(' ').filter_map(Capture::parse)
}

/// Finds the events with the captures of launches. If launches are repeated, only the call of the first may have them.
#[derive(Default)]
pub struct CaptureEvents<'a>(HashMap<&'a str, &'a Event>);

impl<'a> CaptureEvents<'a> {
    /// Must be given all events in order. For an event of a launch, returns the event with its captures.
    pub fn next(&mut self, event: &'a Event) -> Option<&'a Event> {
        if event.category == "call" && is_launch(event) {
            self.0.insert(event.text("object"), event);
        }
        if event.category != "launch" {
            return None;
        }
        Some(if event.text("captures").is_empty() {
            self.0.get(event.text("kernel")).copied().unwrap_or(event)
        } else {
            event
        })
    }
}

/// The minimum number of bytes whose transfer is worth a change.
const MIN_UNUSED_BYTES: u64 = 4 << 10;

/// The transfers and uses of a data source.
#[derive(Default)]
struct Moved<'a> {
    /// The kernel and the view of each launch that moved bytes of the data source to an accelerator.
    sums: BTreeMap<(&'a str, &'a str), Sum>,
    /// The maximum number of bytes that launches used; `None` if it is unknown.
    used: Option<u64>,
}

/// Caching, guideline A: a launch moves a whole view, of which the launches of the program use only a part.
pub fn unused_parts(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut all: BTreeMap<u64, Moved<'_>> = BTreeMap::new();
    let mut uses_are_known = true;
    let mut events = CaptureEvents::default();
    let mut used: HashMap<u64, Option<u64>> = HashMap::new();
    for e in &index.trace.events {
        let source = e.number("source");
        if let Some(with_captures) = events.next(e) {
            // Without captures in the trace, the launch may use anything.
            uses_are_known &= !with_captures.text("captures").is_empty();
            for capture in captures(with_captures) {
                // The kernel never reads the elements that it writes: `missing_discards` is about them.
                let bytes = Some(capture.max_bytes).filter(|&bytes| bytes > 0 && capture.how != "w");
                let sum = used.entry(capture.source).or_insert(Some(0));
                *sum = sum.zip(bytes).map(|(sum, bytes)| sum.saturating_add(bytes));
            }
        } else if e.category == "transfer" && e.text("from") == "host" && e.is_implicit() && index.launch(e).is_some() {
            let kernel = index.launch(e).map_or("", |launch| launch.text("object"));
            all.entry(source).or_default().sums.entry((kernel, e.text("object"))).or_default().add(e);
        } else if e.category == "transfer" && e.text("to") != "host" || e.text("call").starts_with("revamp_copy") {
            // The bytes move on to another accelerator, or a copy uses them.
            used.insert(source, None);
        }
    }
    for (source, moved) in &mut all {
        moved.used = used.get(source).copied().flatten().filter(|_| uses_are_known);
    }
    all.into_values().filter_map(Moved::advice).collect()
}

impl Moved<'_> {
    fn advice(self) -> Option<Advice> {
        let used = self.used?;
        let total: u64 = self.sums.values().map(|sum| sum.bytes).sum();
        let unused = total.checked_sub(used).filter(|&unused| unused >= used && unused >= MIN_UNUSED_BYTES)?;
        let ((kernel, object), _) = self.sums.iter().max_by_key(|(_, sum)| sum.bytes)?;
        let count = self.sums.values().map(|sum| sum.count).sum();
        let time: u64 = self.sums.values().map(|sum| sum.time).sum();
        let time = (u128::from(time) * u128::from(unused) / u128::from(total)) as u64;
        let what =
            format!("{total} bytes of {object} move to the accelerator, but the launches use at most {used} of them");
        let sum = Sum { count, bytes: unused, time };
        Some(sum.advice(Kind::UnusedPart, kernel, what, replacement::section_for_kernel(object)))
    }
}

/// Destruction, guideline A: a kernel only reads a view that allows writes.
pub fn views_only_read(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut counts: BTreeMap<(&str, u64), u64> = BTreeMap::new();
    let mut events = CaptureEvents::default();
    for launch in &index.trace.events {
        let Some(with_captures) = events.next(launch) else { continue };
        for capture in captures(with_captures).filter(|one| one.how == "r" && one.allowed == "rw") {
            *counts.entry((launch.text("kernel"), capture.source)).or_default() += 1;
        }
    }
    // The views of a kernel that have the same name in the trace are counted together.
    let mut sums: BTreeMap<(&str, &str), (Sum, Option<&str>)> = BTreeMap::new();
    for ((kernel, source), count) in counts {
        let view = index.trace.events.iter().find(|e| e.number("source") == source && !e.text("object").is_empty());
        let object = view.map_or("an array_view", |e| e.text("object"));
        let (sum, label) = sums.entry((kernel, object)).or_default();
        sum.count += count;
        *label = view.and_then(|e| replacement::view_label(index, e));
    }
    sums.into_iter()
        .map(|((kernel, object), (sum, label))| {
            let what = format!("the kernel only reads {object}, although the view allows writes");
            sum.advice(Kind::ViewOnlyRead, kernel, what, replacement::view_of_constants(label))
        })
        .collect()
}
