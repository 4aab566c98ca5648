//! The race check: reports two concurrent uses of common elements if one of the uses writes (AV-23, AV-24), with both call
//! sites. The check is on with `REVAMP_CHECK=1`, and once the reference accelerator is used.
//!
//! The uses of a call end when the call returns. This holds even for a launch with a completion, because later uses are ordered
//! after the launch. The uses of an asynchronous copy last until a thread has waited for the copy (AV-25, AV-27), because a
//! program that does not wait is wrong even if the copy is fast. An operation with the copy in its wait list also waits for it.

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
    thread: String,
    trace: Backtrace,
}

impl Site {
    fn here(call: &'static CStr) -> Self {
        let thread = std::thread::current();
        let thread = thread.name().map_or_else(|| format!("{:?}", thread.id()), |n| format!("{n:?}"));
        Self { call, thread, trace: Backtrace::force_capture() }
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

/// Elements of an array or a data source.
pub(super) struct Elements {
    /// The id of the array or data source.
    pub key: u64,
    /// The bytes of the elements in the array or data source.
    pub region: Region,
}

struct OpenUse {
    id: u64,
    /// The id of the array or data source.
    key: u64,
    region: Region,
    access: Access,
    /// The number of the call. Uses of one call do not race with each other.
    group: u64,
    site: Arc<Site>,
    /// For an asynchronous operation: the id of its completion, and the ids of the timelines on which it ends.
    operation: Option<(u64, SmallVec<[u64; 2]>)>,
}

static OPEN: Mutex<Vec<OpenUse>, { rank::RACES }> = Mutex::new(Vec::new());

/// The uses of one call. They end when this object is dropped.
#[must_use]
pub(super) struct CallUses(SmallVec<[u64; 4]>);

impl CallUses {
    /// Extends the uses until a thread waits for this completion, or for all of `timelines`, on which the operation ends.
    pub fn until_waited(mut self, completion: u64, timelines: impl Iterator<Item = u64> + Clone) {
        let ids = std::mem::take(&mut self.0);
        if ids.is_empty() {
            return;
        }
        for u in OPEN.lock().iter_mut().filter(|u| ids.contains(&u.id)) {
            u.operation = Some((completion, timelines.clone().collect()));
        }
    }
}

impl Drop for CallUses {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            OPEN.lock().retain(|u| !self.0.contains(&u.id));
        }
    }
}

/// Ends the uses of a completion. To be called when a thread has waited for the completion.
pub(super) fn waited(completion: u64) {
    if is_on() {
        OPEN.lock().retain(|u| u.operation.as_ref().is_none_or(|o| o.0 != completion));
    }
}

/// Ends the uses of operations that end on the timelines of `points`. To be called when a thread has waited for all work given
/// to an accelerator_view.
pub(super) fn waited_for_view(points: &[Point]) {
    if is_on() {
        let is_done = |t: &u64| points.iter().any(|p| p.timeline.id() == *t);
        OPEN.lock().retain(|u| u.operation.as_ref().is_none_or(|o| !o.1.iter().all(is_done)));
    }
}

/// Begins the uses of a call, and reports those that conflict with uses of other calls.
pub(super) fn uses(call: &'static CStr, elements: impl Iterator<Item = (Elements, Access)>) -> CallUses {
    uses_after(call, elements, |_| false)
}

/// [`uses`] for an operation that begins after the completions for which `is_before` is true.
pub(super) fn uses_after(
    call: &'static CStr,
    elements: impl Iterator<Item = (Elements, Access)>,
    is_before: impl Fn(u64) -> bool,
) -> CallUses {
    if !is_on() {
        return CallUses(SmallVec::new());
    }
    let site = Arc::new(Site::here(call));
    let group = unique_id();
    let mut open = OPEN.lock();
    let mut ids = SmallVec::new();
    let mut reports = Vec::new();
    for (Elements { key, region }, access) in elements {
        let is_concurrent = |o: &&OpenUse| {
            o.key == key
                && o.group != group
                && !o.operation.as_ref().is_some_and(|(completion, _)| is_before(*completion))
        };
        for other in open.iter().filter(is_concurrent) {
            if (access.writes() || other.access.writes()) && region.overlaps(&other.region) {
                let verb = |a: Access| if a.writes() { "writes" } else { "reads" };
                reports.push(format!(
                    "race (rule AV-23): {site} {} elements that {} {}{}",
                    verb(access),
                    other.site,
                    verb(other.access),
                    if other.operation.is_some() { "; wait for its completion first" } else { " at the same time" }
                ));
            }
        }
        let id = unique_id();
        ids.push(id);
        open.push(OpenUse { id, key, region, access, group, site: site.clone(), operation: None });
    }
    drop(open);
    for report in reports {
        log!(Error, "{report}");
        drop(Span::new(|| EventContent::Race(Name::of(&report))));
    }
    CallUses(ids)
}
