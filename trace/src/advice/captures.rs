//! The captures of launches, and the advice on them: whole views of which kernels use a part, and views that kernels only read.

use super::index::TraceIndex;
use super::kinds::{Advice, Kind, Sum};
use super::replacement;
use crate::events::Event;
use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// The captures in an event of a launch or of its call. Empty if the captures are unknown. A repeated launch has no captures of its own.
pub fn captures(event: &Event) -> impl Iterator<Item = Capture<'_>> {
    event.text("captures").split(' ').filter_map(Capture::parse)
}

/// True if a launch uses a data source, and all its array_views of the data source are used as `how`: `r`, `w` or `rw`. False if the
/// event has no captures.
pub fn uses_only(event: &Event, source: u64, how: &str) -> bool {
    let mut uses = captures(event).filter(|capture| capture.source == source).peekable();
    uses.peek().is_some() && uses.all(|capture| capture.how == how)
}

/// The data sources that a launch writes.
pub fn written_sources(event: &Event) -> BTreeSet<u64> {
    captures(event).filter(|capture| capture.how.contains('w')).map(|capture| capture.source).collect()
}

/// The minimum number of bytes whose transfer is worth a change.
const MIN_UNUSED_BYTES: u64 = 4 << 10;

/// The costs of the launches that moved bytes of a data source to an accelerator, by kernel and view.
type Moved<'a> = BTreeMap<(&'a str, &'a str), Sum>;

/// Caching, guideline A: a launch moves a whole view, of which the launches in the trace use only a part.
pub fn unused_parts(index: &TraceIndex<'_>) -> Vec<Advice> {
    let mut all: BTreeMap<u64, Moved<'_>> = BTreeMap::new();
    // The maximum number of bytes of each data source that launches use; `None` if it is unknown.
    let mut used: HashMap<u64, Option<u64>> = HashMap::new();
    for e in &index.trace.events {
        let is_transfer = e.category == "transfer";
        let launch = index.launch(e).filter(|_| is_transfer && e.text("from") == "host" && e.is_implicit());
        if e.category == "launch" {
            // A launch with unknown captures may use anything.
            let Some(with_captures) = index.with_captures(e) else { return Vec::new() };
            for capture in captures(with_captures) {
                // The kernel never reads the elements that it writes: `missing_discards` is about them.
                let bytes = Some(capture.max_bytes).filter(|&bytes| bytes > 0 && capture.how != "w");
                let sum = used.entry(capture.source).or_insert(Some(0));
                *sum = sum.zip(bytes).map(|(sum, bytes)| sum.saturating_add(bytes));
            }
        } else if let Some(launch) = launch {
            let moved = all.entry(e.number("source")).or_default();
            moved.entry((launch.text("object"), e.text("object"))).or_default().add(e);
        } else if is_transfer && e.text("to") != "host" || e.text("call").starts_with("revamp_copy") {
            // The bytes move on to another accelerator, or a copy uses them.
            used.extend(index.sources(e).map(|source| (source, None)));
        }
    }
    let known = all.into_iter().filter_map(|(source, moved)| Some((moved, used.get(&source).copied().flatten()?)));
    known.filter_map(|(moved, used)| unused_part(&moved, used)).collect()
}

/// The advice for a data source, if launches use at most half of the bytes that moved.
fn unused_part(moved: &Moved<'_>, used: u64) -> Option<Advice> {
    let sum = |of: fn(&Sum) -> u64| moved.values().map(of).sum::<u64>();
    let (total, time) = (sum(|one| one.bytes), sum(|one| one.time));
    let unused = total.checked_sub(used).filter(|&unused| unused >= used && unused >= MIN_UNUSED_BYTES)?;
    let ((kernel, object), _) = moved.iter().max_by_key(|(_, sum)| sum.bytes)?;
    let what =
        format!("{total} bytes of {object} move to the accelerator, but the launches use at most {used} of them");
    let time = (u128::from(time) * u128::from(unused) / u128::from(total)) as u64;
    let cost = Sum { count: sum(|one| one.count), bytes: unused, time };
    Some(cost.advice(Kind::UnusedPart, kernel, what, replacement::section_for_kernel(object)))
}

/// Destruction, guideline A: a kernel only reads a view that allows writes.
pub fn views_only_read(index: &TraceIndex<'_>) -> Vec<Advice> {
    // The views of a kernel that have the same name in the trace are counted together.
    let mut sums: BTreeMap<(&str, &str), (Sum, Option<&str>)> = BTreeMap::new();
    for launch in index.trace.events.iter().filter(|e| e.category == "launch") {
        let Some(with_captures) = index.with_captures(launch) else { continue };
        let only_read = captures(with_captures).filter(|one| one.how == "r" && one.allowed == "rw");
        for source in only_read.map(|capture| capture.source).collect::<BTreeSet<_>>() {
            let object = index.view_name(source).unwrap_or("an array_view");
            let (sum, label) = sums.entry((launch.text("kernel"), object)).or_default();
            sum.count += 1;
            *label = index.source_label(source);
        }
    }
    sums.into_iter()
        .map(|((kernel, object), (sum, label))| {
            let what = format!("the kernel only reads {object}, although the view allows writes");
            sum.advice(Kind::ViewOnlyRead, kernel, what, replacement::view_of_constants(label))
        })
        .collect()
}
