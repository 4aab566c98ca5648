//! The race check (`REVAMP_CHECK=1`, and where the reference accelerator is used): reports concurrent uses of common elements if one of them writes (AV-23, AV-24), with
//! both call sites.
//!
//! The use of a call lasts as long as the call, also that of a launch with a completion, which later uses come after. The use
//! of an asynchronous copy lasts until somebody has waited for it (AV-25, AV-27), since a program that does not wait is wrong
//! however fast the copy is; what has the copy in its wait list waits for it.

use crate::device::hazard::Point;
use crate::device::unique_id;
use crate::geometry::Region;
use crate::kernel::Access;
use crate::lock::{Mutex, rank};
use crate::trace::events::{Span, What};
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

/// True if uses are checked.
pub(super) fn is_on() -> bool {
    config::get().check || REFERENCE.load(Ordering::Relaxed)
}

/// Where a use was requested.
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
    /// The call, its thread, and the first frame of the program itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on thread {}", self.call.to_string_lossy(), self.thread)?;
        let trace = self.trace.to_string();
        let lines: Vec<_> = trace.lines().collect();
        let is_ours =
            |l: &str| l.contains("revamp::") || l.contains("revamp_") || l.contains("std::") || l.contains("core::");
        let frame = |l: &str| {
            l.trim_start().split_once(": ").filter(|(n, _)| n.parse::<u32>().is_ok()).map(|(_, name)| name.to_owned())
        };
        let last_of_ours = lines.iter().rposition(|l| frame(l).is_some() && l.contains("revamp_"));
        let after = last_of_ours.map_or(&[][..], |n| &lines[n + 1..]);
        let found = after.iter().enumerate().find(|(_, l)| frame(l).is_some() && !is_ours(l));
        if let Some((n, line)) = found {
            write!(f, ", called by {}", frame(line).unwrap_or_default())?;
            if let Some(place) = after.get(n + 1).and_then(|l| l.trim_start().strip_prefix("at ")) {
                write!(f, " at {place}")?;
            }
        }
        Ok(())
    }
}

/// Elements of an array or a data source.
pub(super) struct Elements {
    /// The id of the array or data source.
    pub key: u64,
    /// The bytes of the elements in it.
    pub region: Region,
}

struct OpenUse {
    id: u64,
    /// The id of the array or data source.
    key: u64,
    region: Region,
    access: Access,
    /// The call: uses of one call do not race with each other.
    group: u64,
    site: Arc<Site>,
    /// For an asynchronous operation: its completion, and the timelines on which it ends.
    operation: Option<(u64, SmallVec<[u64; 2]>)>,
}

static OPEN: Mutex<Vec<OpenUse>, { rank::RACES }> = Mutex::new(Vec::new());

/// The uses of one call. They end when this is dropped.
#[must_use]
pub(super) struct Using(SmallVec<[u64; 4]>);

impl Using {
    /// Makes the uses last until somebody waits for this completion, or for all of its timelines.
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

impl Drop for Using {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            OPEN.lock().retain(|u| !self.0.contains(&u.id));
        }
    }
}

/// To be called when somebody has waited for a completion.
pub(super) fn waited(completion: u64) {
    if is_on() {
        OPEN.lock().retain(|u| u.operation.as_ref().is_none_or(|o| o.0 != completion));
    }
}

/// To be called when somebody has waited for all work given to an accelerator_view.
pub(super) fn waited_for_view(points: &[Point]) {
    if is_on() {
        let is_done = |t: &u64| points.iter().any(|p| p.timeline.id() == *t);
        OPEN.lock().retain(|u| u.operation.as_ref().is_none_or(|o| !o.1.iter().all(is_done)));
    }
}

/// Begins the uses of a call, and reports those that conflict with others.
pub(super) fn uses(call: &'static CStr, elements: impl Iterator<Item = (Elements, Access)>) -> Using {
    uses_after(call, elements, |_| false)
}

/// [`uses`] of an operation that begins after the completions for which `is_before` is true.
pub(super) fn uses_after(
    call: &'static CStr,
    elements: impl Iterator<Item = (Elements, Access)>,
    is_before: impl Fn(u64) -> bool,
) -> Using {
    if !is_on() {
        return Using(SmallVec::new());
    }
    let site = Arc::new(Site::here(call));
    let group = unique_id();
    let mut open = OPEN.lock();
    let mut ids = SmallVec::new();
    let mut reports = Vec::new();
    for (Elements { key, region }, access) in elements {
        let is_beside = |o: &&OpenUse| {
            o.key == key
                && o.group != group
                && !o.operation.as_ref().is_some_and(|(completion, _)| is_before(*completion))
        };
        for other in open.iter().filter(is_beside) {
            if (access.writes() || other.access.writes()) && region.overlaps(&other.region) {
                let how = |a: Access| if a.writes() { "writes" } else { "reads" };
                reports.push(format!(
                    "race (rule AV-23): {site} {} elements that {} {}{}",
                    how(access),
                    other.site,
                    how(other.access),
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
        drop(Span::new(|| What::Race(Name::of(&report))));
    }
    Using(ids)
}
