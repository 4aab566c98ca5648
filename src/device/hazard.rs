//! Who uses which bytes of a buffer, so that dependent work is ordered and independent work overlaps.
//!
//! A [`Timeline`] numbers the work of one queue. A [`Tracker`] keeps, for each byte range of a buffer, the last write
//! and the reads since. A queue locks the trackers of all buffers of a command together (in order of buffer id), looks
//! for conflicts, and records the command, so that two queues can never order two buffers differently.

use super::Access;
use crate::error::Result;
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// The numbered work of a queue, or one asynchronous host operation.
pub trait Timeline: Send + Sync {
    /// Unique for the life of the process.
    fn id(&self) -> u64;
    /// The device whose queues can wait for this without the host, if any.
    fn device(&self) -> Option<u64>;
    /// True if everything up to `value` is done. Does not block.
    fn reached(&self, value: u64) -> bool;
    /// True if everything up to `value` was handed to the device, so that others may wait for it there.
    fn submitted(&self, value: u64) -> bool;
    /// Hands everything up to `value` to the device. Does not wait.
    fn flush(&self, value: u64) -> Result<()>;
    /// Flushes, then waits until everything up to `value` is done: `false` if `timeout` passed first. `None` waits
    /// without end. An error says that the work up to `value` failed.
    fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<bool>;
    /// The device's own type behind this.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// A place on a timeline.
#[derive(Clone)]
pub struct Point {
    /// The timeline.
    pub timeline: Arc<dyn Timeline>,
    /// The number to be reached.
    pub value: u64,
    /// Position of the command among all commands of the timeline; orders commands that share a number.
    pub sequence: u64,
}

impl Point {
    /// True if the point has been reached.
    pub fn reached(&self) -> bool {
        self.timeline.reached(self.value)
    }
    /// See [`Timeline::wait`].
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool> {
        self.timeline.wait(self.value, timeout)
    }
}

impl std::fmt::Debug for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}.{}", self.timeline.id(), self.value, self.sequence)
    }
}

#[derive(Clone, Debug)]
struct Segment {
    range: Range<u64>,
    write: Option<Point>,
    reads: SmallVec<[Point; 2]>,
}

/// The uses of one buffer's bytes.
#[derive(Default)]
pub struct Tracker {
    segments: Mutex<Segments>,
}

/// The locked state of a [`Tracker`]: disjoint, sorted segments.
#[derive(Default)]
pub struct Segments {
    list: Vec<Segment>,
}

impl Tracker {
    /// A tracker of a buffer nobody uses yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks it.
    pub fn lock(&self) -> MutexGuard<'_, Segments> {
        self.segments.lock()
    }

    /// Waits on the host for every use of `range` that conflicts with `access`.
    pub fn wait(&self, range: &Range<u64>, access: Access) -> Result<()> {
        loop {
            let mut open: SmallVec<[Point; 4]> = SmallVec::new();
            self.lock().conflicts(range, access, |p| open.push(p.clone()));
            if open.is_empty() {
                return Ok(());
            }
            for point in open {
                point.wait(None)?;
            }
        }
    }
}

impl Segments {
    /// Calls `found` for each unfinished use of `range` that `access` must come after. Finished ones are forgotten.
    pub fn conflicts(&mut self, range: &Range<u64>, access: Access, mut found: impl FnMut(&Point)) {
        let mut emptied = false;
        for segment in self.list.iter_mut().filter(|s| s.range.start < range.end && range.start < s.range.end) {
            if segment.write.as_ref().is_some_and(Point::reached) {
                segment.write = None;
            }
            segment.reads.retain(|p| !p.reached());
            if let Some(write) = &segment.write {
                found(write);
            }
            if access.writes() {
                segment.reads.iter().for_each(&mut found);
            }
            emptied |= segment.write.is_none() && segment.reads.is_empty();
        }
        if emptied {
            self.list.retain(|s| s.write.is_some() || !s.reads.is_empty());
        }
    }

    /// Notes that `range` is used at `point`.
    pub fn record(&mut self, range: &Range<u64>, access: Access, point: &Point) {
        if range.is_empty() {
            return;
        }
        if access.writes() {
            self.split(range);
            self.list.retain(|s| !(s.range.start >= range.start && s.range.end <= range.end));
            let at = self.list.partition_point(|s| s.range.start < range.start);
            self.list.insert(at, Segment { range: range.clone(), write: Some(point.clone()), reads: SmallVec::new() });
            return;
        }
        // The common case: the same bytes as before.
        if let Ok(at) = self.list.binary_search_by_key(&range.start, |s| s.range.start)
            && self.list[at].range == *range
        {
            add_read(&mut self.list[at].reads, point);
            return;
        }
        self.split(range);
        let mut at = self.list.partition_point(|s| s.range.end <= range.start);
        let mut from = range.start;
        while from < range.end {
            match self.list.get_mut(at) {
                Some(segment) if segment.range.start == from => {
                    add_read(&mut segment.reads, point);
                    from = segment.range.end;
                }
                next => {
                    let end = next.map_or(range.end, |s| s.range.start.min(range.end));
                    let reads = SmallVec::from_iter([point.clone()]);
                    self.list.insert(at, Segment { range: from..end, write: None, reads });
                    from = end;
                }
            }
            at += 1;
        }
    }

    /// Cuts segments so that none crosses an end of `range`.
    fn split(&mut self, range: &Range<u64>) {
        for cut in [range.start, range.end] {
            let at = self.list.partition_point(|s| s.range.end <= cut);
            if let Some(segment) = self.list.get_mut(at)
                && segment.range.start < cut
            {
                let mut tail = segment.clone();
                segment.range.end = cut;
                tail.range.start = cut;
                self.list.insert(at + 1, tail);
            }
        }
    }

    /// True if nothing unfinished uses the buffer.
    pub fn is_idle(&mut self) -> bool {
        let mut idle = true;
        self.conflicts(&(0..u64::MAX), Access::Write, |_| idle = false);
        idle
    }
}

/// Adds a read; a later read on the same timeline stands for the earlier ones.
fn add_read(reads: &mut SmallVec<[Point; 2]>, point: &Point) {
    match reads.iter_mut().find(|p| p.timeline.id() == point.timeline.id()) {
        Some(old) if old.sequence <= point.sequence => *old = point.clone(),
        Some(_) => {}
        None => reads.push(point.clone()),
    }
}
