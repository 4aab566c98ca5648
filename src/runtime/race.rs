//! The race check: reports two concurrent uses of common elements if one of the uses writes (AV-23, AV-24), with both call
//! sites. The check is on with `REVAMP_CHECK=1`, and once the reference accelerator is used.
//!
//! The uses of a call end when the call returns. This holds even for a launch with a completion, because later uses are ordered
//! after the launch. The uses of an asynchronous copy last until a thread has waited for the copy (AV-25, AV-27), because a
//! program that does not wait is wrong even if the copy is fast. An operation with the copy in its wait list also waits for it, and
//! so do operations that come after that operation.
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
use std::collections::{BTreeMap, BTreeSet, HashSet};
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

/// A use that has not ended.
struct OpenUse {
    id: u64,
    elements: Elements,
    access: Access,
    site: Arc<Site>,
    /// The completion of the asynchronous operation to which the use belongs.
    operation: Option<u64>,
}

impl OpenUse {
    /// True if the library runs a later use of the same elements by `thread` after this use, and the program need not wait.
    fn is_ordered_before(&self, through: UsedThrough, thread: ThreadId) -> bool {
        match (self.elements.through, through) {
            _ if self.operation.is_none() => false,
            (UsedThrough::View, _) | (_, UsedThrough::View) => false,
            (UsedThrough::StagingArray, _) | (_, UsedThrough::StagingArray) => self.site.thread_id == thread,
            (UsedThrough::Array, UsedThrough::Array) => true,
        }
    }

    /// True if every use that conflicts with `earlier` also conflicts with this use.
    fn covers(&self, earlier: &Self) -> bool {
        self.elements.key == earlier.elements.key
            && self.elements.region == earlier.elements.region
            && (self.access.writes() || !earlier.access.writes())
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

/// An asynchronous operation for which no thread has waited.
struct Operation {
    /// The points at which the operation ends: the id of the timeline, and the value.
    ends: SmallVec<[(u64, u64); 2]>,
    /// The completions of the operations after which this operation begins, without the operations that precede those.
    before: SmallVec<[u64; 2]>,
    /// The number of open uses of the operation.
    uses: usize,
}

impl Operation {
    /// True if the operation is done when `points` are reached.
    fn ends_before(&self, points: &[Point]) -> bool {
        self.ends.iter().all(|&(id, value)| points.iter().any(|p| p.timeline.id() == id && p.value >= value))
    }
}

/// Operations by completion. The ids of completions grow, so an operation has a greater id than the operations in its list.
struct Operations(BTreeMap<u64, Operation>);

impl Operations {
    /// True if the operation has open uses, or comes after an operation in this map. Other operations do not order anything.
    fn is_relevant(&self, operation: &Operation) -> bool {
        operation.uses > 0 || operation.before.iter().any(|b| self.0.contains_key(b))
    }

    /// Removes an operation if it is no longer relevant.
    fn remove_irrelevant(&mut self, completion: u64) {
        if self.0.get(&completion).is_some_and(|o| !self.is_relevant(o)) {
            self.0.remove(&completion);
        }
    }
}

/// The operations in some lists, and the operations that precede them. A search follows the lists from the latest operation to
/// earlier ones, and only as far as it must.
struct Preceding {
    found: HashSet<u64>,
    /// Operations whose lists were not followed yet.
    next: BTreeSet<u64>,
}

impl Preceding {
    fn of(before: &[u64]) -> Self {
        Self { found: HashSet::new(), next: before.iter().copied().collect() }
    }

    fn contains(&mut self, completion: u64, operations: &Operations) -> bool {
        while let Some(latest) = self.next.pop_last() {
            if latest < completion {
                self.next.insert(latest);
                break;
            }
            self.found.insert(latest);
            self.next.extend(operations.0.get(&latest).into_iter().flat_map(|o| &o.before));
        }
        self.found.contains(&completion)
    }
}

/// The uses that have not ended, and their operations.
struct Open {
    uses: Vec<OpenUse>,
    operations: Operations,
}

static OPEN: Mutex<Open, { rank::RACES }> =
    Mutex::new(Open { uses: Vec::new(), operations: Operations(BTreeMap::new()) });

impl Open {
    /// Adds an asynchronous operation with these open uses.
    fn add(&mut self, completion: u64, points: &[Point], ids: &[u64], before: &[u64]) {
        debug_assert!(before.iter().all(|earlier| *earlier < completion));
        let ends = points.iter().map(|p| (p.timeline.id(), p.value)).collect();
        let operation = Operation { ends, before: before.into(), uses: ids.len() };
        if !self.operations.is_relevant(&operation) {
            return;
        }
        self.operations.0.insert(completion, operation);
        let first = self.uses.iter().position(|u| ids.contains(&u.id)).unwrap_or(self.uses.len());
        let (mut new, others): (Vec<_>, Vec<_>) = self.uses.drain(first..).partition(|u| ids.contains(&u.id));
        self.uses.extend(others);
        // A use that comes after an earlier use and covers it replaces it. A chain of operations on the same elements then has few open
        // uses, so that later calls find conflicts fast.
        let mut preceding = Preceding::of(before);
        self.uses.retain(|earlier| {
            let Some(operation) = earlier.operation.filter(|_| new.iter().any(|u| u.covers(earlier))) else {
                return true;
            };
            if !preceding.contains(operation, &self.operations) {
                return true;
            }
            self.operations.0.get_mut(&operation).into_iter().for_each(|o| o.uses -= 1);
            self.operations.remove_irrelevant(operation);
            false
        });
        new.iter_mut().for_each(|u| u.operation = Some(completion));
        self.uses.append(&mut new);
    }

    /// Ends the uses of these operations, and of the operations that precede them.
    fn end(&mut self, completions: impl Iterator<Item = u64>) {
        let mut next: BTreeSet<u64> = completions.collect();
        let mut ended = HashSet::new();
        while let Some(completion) = next.pop_last() {
            if let Some(operation) = self.operations.0.remove(&completion) {
                next.extend(operation.before);
                ended.insert(completion);
            }
        }
        if ended.is_empty() {
            return;
        }
        self.uses.retain(|u| !u.operation.is_some_and(|o| ended.contains(&o)));
        // From the earliest to the latest, because an operation may become irrelevant with one that precedes it.
        let without_uses: Vec<_> = self.operations.0.iter().filter(|(_, o)| o.uses == 0).map(|(&id, _)| id).collect();
        without_uses.into_iter().for_each(|completion| self.operations.remove_irrelevant(completion));
    }

    /// The completions of the operations that are done when `points` are reached.
    fn done_at(&self, points: &[Point]) -> SmallVec<[u64; 2]> {
        self.operations.0.iter().filter(|(_, o)| o.ends_before(points)).map(|(&id, _)| id).collect()
    }
}

/// The ids of the uses of a call, and the completions of the operations after which the call's operation begins.
struct Uses {
    ids: SmallVec<[u64; 4]>,
    before: SmallVec<[u64; 2]>,
}

/// The uses of one call. They end when this object is dropped. `None` if the check is off.
#[must_use]
pub(super) struct CallUses(Option<Box<Uses>>);

impl CallUses {
    /// Extends the uses until a thread waits for this completion, or for all of `points`, at which the operation ends.
    pub fn until_waited(mut self, completion: u64, points: &[Point]) {
        if let Some(uses) = self.0.take() {
            OPEN.lock().add(completion, points, &uses.ids, &uses.before);
        }
    }

    /// Records the operation of these uses, because later operations may come after it. Its uses still end with this object. `points`:
    /// where the operation ends.
    pub fn belong_to(&self, completion: u64, points: &[Point]) {
        if let Some(uses) = self.0.as_ref().filter(|u| !u.before.is_empty()) {
            OPEN.lock().add(completion, points, &[], &uses.before);
        }
    }

    /// Ends the uses, and those of the operations after which the operation of these uses began. To be called when the operation
    /// is done.
    pub fn end_earlier(self) {
        if let Some(uses) = self.0.as_ref().filter(|u| !u.before.is_empty()) {
            OPEN.lock().end(uses.before.iter().copied());
        }
    }
}

impl Drop for CallUses {
    fn drop(&mut self) {
        if let Some(uses) = &self.0 {
            OPEN.lock().uses.retain(|u| !uses.ids.contains(&u.id));
        }
    }
}

/// Ends the uses of a completion, and of the operations that precede its operation. To be called when a thread has waited for the
/// completion.
pub(super) fn waited(completion: u64) {
    if is_on() {
        OPEN.lock().end(std::iter::once(completion));
    }
}

/// Ends the uses of operations that are done when `points` are reached. To be called when a thread has waited for all work given
/// to an accelerator_view.
pub(super) fn waited_for_view(points: &[Point]) {
    if is_on() {
        let mut open = OPEN.lock();
        let done = open.done_at(points);
        open.end(done.into_iter());
    }
}

/// Adds a marker: the operations that are done when `points` are reached precede it.
pub(super) fn marked(completion: u64, points: &[Point]) {
    if is_on() {
        let mut open = OPEN.lock();
        let mut before = open.done_at(points);
        before.retain(|id| *id < completion);
        open.add(completion, points, &[], &before);
    }
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
    let new: SmallVec<[(Elements, Access); 4]> = elements.collect();
    let mut before = before();
    let mut lock = OPEN.lock();
    let open = &mut *lock;
    // An operation that is not in the map is irrelevant, because a thread has waited for it.
    before.retain(|completion| open.operations.0.contains_key(completion));
    let mut conflicts = Vec::new();
    for (elements, access) in &new {
        for other in open.uses.iter().filter(|other| elements.conflicts(*access, other)) {
            match other.operation {
                Some(earlier) if other.is_ordered_before(elements.through, site.thread_id) => before.push(earlier),
                _ => conflicts.push((elements.through, *access, other)),
            }
        }
    }
    before.sort_unstable();
    before.dedup();
    let mut preceding = Preceding::of(&before);
    // A call can be ordered by one of its uses and conflict by another, so this comes after the loop over the uses.
    conflicts.retain(|(.., other)| !other.operation.is_some_and(|o| preceding.contains(o, &open.operations)));
    let reports: Vec<_> =
        conflicts.into_iter().map(|(through, access, other)| other.report(through, access, &site)).collect();
    let ids: SmallVec<[u64; 4]> = new.iter().map(|_| unique_id()).collect();
    let used = new.into_iter().zip(&ids);
    open.uses.extend(used.map(|((elements, access), &id)| OpenUse {
        id,
        elements,
        access,
        site: site.clone(),
        operation: None,
    }));
    drop(lock);
    for report in reports {
        log!(Error, "{report}");
        drop(Span::new(|| EventContent::Race(Name::of(&report))));
    }
    CallUses(Some(Box::new(Uses { ids, before: before.into() })))
}
