//! The race check: reports two concurrent uses of common elements if one of the uses writes (AV-23, AV-24), with both call
//! sites. The check is on with `REVAMP_CHECK=1`, and once the reference accelerator is used.
//!
//! The uses of a call end when the call returns. This holds even for a launch with a completion, because later uses are ordered
//! after the launch. The uses of an asynchronous copy last until a thread has waited for the copy (AV-25, AV-27), because a
//! program that does not wait is wrong even if the copy is fast. An operation with the copy in its wait list also waits for it.
//!
//! AV-23 is a rule for array_views. Uses of an array itself run in the order of the calls (docs/spec/accelerators.md#order-of-work),
//! so an asynchronous copy of an array does not race with later uses of the array. Two kinds of uses still race with the copy:
//! uses of array_views of the array, and uses of a staging array by other threads (STG-14).

use crate::device::hazard::Point;
use crate::device::unique_id;
use crate::geometry::Region;
use crate::kernel::Access;
use crate::lock::{Mutex, rank};
use crate::trace::events::{EventContent, Span};
use crate::trace::names::Name;
use crate::{config, log};
use smallvec::SmallVec;
use std::backtrace::Backtrace;
use std::ffi::CStr;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

/// True once the reference accelerator was used.
static REFERENCE: AtomicBool = AtomicBool::new(false);

/// Turns the check on, for the rest of the process.
pub(super) fn check_from_now_on() {
    REFERENCE.store(true, Ordering::Relaxed);
}

/// True if the race check is on.
pub(super) fn is_on() -> bool {
    config::get().check || REFERENCE.load(Ordering::Relaxed)
}

/// The call site that requested a use.
struct Site {
    call: &'static CStr,
    thread_id: ThreadId,
    thread: String,
    trace: Backtrace,
}

impl Site {
    fn here(call: &'static CStr) -> Self {
        let thread = std::thread::current();
        let thread_id = thread.id();
        let thread = thread.name().map_or_else(|| format!("{:?}", thread.id()), |n| format!("{n:?}"));
        Self { call, thread_id, thread, trace: Backtrace::force_capture() }
    }
}

impl fmt::Display for Site {
    /// Writes the call, its thread, and the innermost stack frame of the program itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on thread {}", self.call.to_string_lossy(), self.thread)?;
        let trace = self.trace.to_string();
        let lines: Vec<_> = trace.lines().collect();
        let is_library_frame =
            |l: &str| l.contains("revamp::") || l.contains("revamp_") || l.contains("std::") || l.contains("core::");
        let frame = |l: &str| {
            l.trim_start().split_once(": ").filter(|(n, _)| n.parse::<u32>().is_ok()).map(|(_, name)| name.to_owned())
        };
        let last_library_line = lines.iter().rposition(|l| frame(l).is_some() && l.contains("revamp_"));
        let after = last_library_line.map_or(&[][..], |n| &lines[n + 1..]);
        let found = after.iter().enumerate().find(|(_, l)| frame(l).is_some() && !is_library_frame(l));
        if let Some((n, line)) = found {
            write!(f, ", called by {}", frame(line).unwrap_or_default())?;
            if let Some(source_line) = after.get(n + 1).and_then(|l| l.trim_start().strip_prefix("at ")) {
                write!(f, " at {source_line}")?;
            }
        }
        Ok(())
    }
}

/// The object through which a call uses elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UsedThrough {
    /// An array_view.
    View,
    /// An array or texture.
    Array,
    /// A staging array or staging texture.
    StagingArray,
}

/// Elements of an array or a data source.
pub(super) struct Elements {
    /// The id of the array or data source.
    pub key: u64,
    /// The bytes of the elements in the array or data source.
    pub region: Region,
    /// The object through which the call uses the elements.
    pub through: UsedThrough,
}

impl Elements {
    /// True if the two uses have common elements and one of them writes.
    fn conflicts(&self, access: Access, other: &OpenUse) -> bool {
        self.key == other.elements.key
            && (access.writes() || other.access.writes())
            && self.region.overlaps(&other.elements.region)
    }
}

struct OpenUse {
    id: u64,
    elements: Elements,
    access: Access,
    /// The number of the call. Uses of one call do not race with each other.
    group: u64,
    site: Arc<Site>,
    /// The asynchronous operation to which the use belongs.
    operation: Option<Operation>,
}

/// An asynchronous operation for which no thread has waited.
struct Operation {
    /// The id of the completion.
    completion: u64,
    /// The points at which the operation ends: the id of the timeline, and the value.
    ends: SmallVec<[(u64, u64); 2]>,
}

impl Operation {
    /// True if the operation is done when `points` are reached.
    fn ends_before(&self, points: &[Point]) -> bool {
        self.ends.iter().all(|&(id, value)| points.iter().any(|p| p.timeline.id() == id && p.value >= value))
    }
}

impl OpenUse {
    /// The completion of the asynchronous operation to which the use belongs.
    fn completion(&self) -> Option<u64> {
        self.operation.as_ref().map(|o| o.completion)
    }

    /// True if the library runs a later use of the same elements by `thread` after this use, and the program need not wait.
    fn is_ordered_before(&self, through: UsedThrough, thread: ThreadId) -> bool {
        match (self.elements.through, through) {
            _ if self.operation.is_none() => false,
            (UsedThrough::View, _) | (_, UsedThrough::View) => false,
            (UsedThrough::StagingArray, _) | (_, UsedThrough::StagingArray) => self.site.thread_id == thread,
            (UsedThrough::Array, UsedThrough::Array) => true,
        }
    }

    /// True if this use is ordered before `later`, which is a use of a done operation: then the operation of this use is done, too.
    fn is_done_before(&self, later: &Self) -> bool {
        self.id < later.id
            && later.elements.conflicts(later.access, self)
            && self.is_ordered_before(later.elements.through, later.site.thread_id)
    }

    fn report(&self, through: UsedThrough, access: Access, site: &Site) -> String {
        let verb = |a: Access| if a.writes() { "writes" } else { "reads" };
        let is_staging = self.elements.through == UsedThrough::StagingArray && through == UsedThrough::StagingArray;
        format!(
            "race (rule {}): {site} {} elements that {} {}{}",
            if is_staging { "STG-14" } else { "AV-23" },
            verb(access),
            self.site,
            verb(self.access),
            if self.operation.is_some() { "; wait for its completion first" } else { " at the same time" }
        )
    }
}

static OPEN: Mutex<Vec<OpenUse>, { rank::RACES }> = Mutex::new(Vec::new());

/// The ids of the uses of a call, and the completions after which the call's operation begins.
struct Uses {
    ids: SmallVec<[u64; 4]>,
    before: Vec<u64>,
}

/// The uses of one call. They end when this object is dropped. `None` if the check is off.
#[must_use]
pub(super) struct CallUses(Option<Box<Uses>>);

impl CallUses {
    /// Extends the uses until a thread waits for this completion, or for all of `points`, at which the operation ends.
    pub fn until_waited(mut self, completion: u64, points: &[Point]) {
        let Some(uses) = self.0.take() else { return };
        let ends: SmallVec<[(u64, u64); 2]> = points.iter().map(|p| (p.timeline.id(), p.value)).collect();
        for u in OPEN.lock().iter_mut().filter(|u| uses.ids.contains(&u.id)) {
            u.operation = Some(Operation { completion, ends: ends.clone() });
        }
    }

    /// Ends the uses, and those of the operations of arrays that the library ran before them. To be called when the operation of
    /// these uses is done.
    pub fn end_earlier(mut self) {
        if let Some(uses) = self.0.take() {
            end(|u| uses.ids.contains(&u.id));
        }
    }

    /// The completions after which the operation of these uses begins.
    pub fn before(&self) -> &[u64] {
        self.0.as_ref().map_or(&[], |uses| &uses.before)
    }
}

impl Drop for CallUses {
    fn drop(&mut self) {
        if let Some(uses) = &self.0 {
            OPEN.lock().retain(|u| !uses.ids.contains(&u.id));
        }
    }
}

/// Ends the uses for which `is_done` is true, and the uses of the operations of arrays that the library ran before them.
fn end(is_done: impl Fn(&OpenUse) -> bool) {
    let mut open = OPEN.lock();
    let (mut done, mut left): (Vec<_>, Vec<_>) = std::mem::take(&mut *open).into_iter().partition(is_done);
    while let Some(later) = done.pop() {
        let before: SmallVec<[u64; 4]> =
            left.iter().filter(|u| u.is_done_before(&later)).filter_map(OpenUse::completion).collect();
        if !before.is_empty() {
            let is_before = |u: &OpenUse| u.completion().is_some_and(|c| before.contains(&c));
            let (more, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(is_before);
            done.extend(more);
            left = rest;
        }
    }
    *open = left;
}

/// Ends the uses of a completion, and of the completions in `before`, after which it began. To be called when a thread has waited
/// for the completion.
pub(super) fn waited(completion: u64, before: &[u64]) {
    if is_on() {
        end(|u| u.completion().is_some_and(|c| c == completion || before.contains(&c)));
    }
}

/// Ends the uses of operations that are done when `points` are reached. To be called when a thread has waited for all work given
/// to an accelerator_view.
pub(super) fn waited_for_view(points: &[Point]) {
    if is_on() {
        end(|u| u.operation.as_ref().is_some_and(|o| o.ends_before(points)));
    }
}

/// The completions of the operations that are done when `points` are reached.
pub(super) fn done_at(points: &[Point]) -> Box<[u64]> {
    if !is_on() {
        return Box::default();
    }
    let open = OPEN.lock();
    open.iter().filter_map(|u| u.operation.as_ref()).filter(|o| o.ends_before(points)).map(|o| o.completion).collect()
}

/// Begins the uses of a call, and reports those that conflict with uses of other calls.
pub(super) fn uses(call: &'static CStr, elements: impl Iterator<Item = (Elements, Access)>) -> CallUses {
    uses_after(call, elements, Vec::new)
}

/// [`uses`] for an operation that begins after other completions. `before`: the ids of these completions.
pub(super) fn uses_after(
    call: &'static CStr,
    elements: impl Iterator<Item = (Elements, Access)>,
    before: impl FnOnce() -> Vec<u64>,
) -> CallUses {
    if !is_on() {
        return CallUses(None);
    }
    let site = Arc::new(Site::here(call));
    let group = unique_id();
    let mut before = before();
    let mut open = OPEN.lock();
    // A completion without open uses is irrelevant, because a thread has waited for it.
    before.retain(|c| open.iter().any(|u| u.completion() == Some(*c)));
    let mut ids = SmallVec::new();
    let mut reports = Vec::new();
    for (elements, access) in elements {
        let is_concurrent = |other: &&OpenUse| {
            other.group != group
                && elements.conflicts(access, other)
                && !other.is_ordered_before(elements.through, site.thread_id)
                && !other.completion().is_some_and(|c| before.contains(&c))
        };
        reports.extend(open.iter().filter(is_concurrent).map(|other| other.report(elements.through, access, &site)));
        let id = unique_id();
        ids.push(id);
        open.push(OpenUse { id, elements, access, group, site: site.clone(), operation: None });
    }
    drop(open);
    for report in reports {
        log!(Error, "{report}");
        drop(Span::new(|| EventContent::Race(Name::of(&report))));
    }
    CallUses(Some(Box::new(Uses { ids, before })))
}
