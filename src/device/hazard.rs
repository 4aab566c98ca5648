//! Who uses which bytes of a buffer, so that dependent work is ordered and independent work overlaps.
//!
//! A [`Timeline`] numbers the work of one queue. A [`Tracker`] keeps, for each byte range of a buffer, the last write
//! and the reads since. A queue locks the trackers of all buffers of a command together (in order of buffer id), looks
//! for conflicts, and records the command, so that two queues can never order two buffers differently.

use super::Access;
use crate::error::Result;
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The numbered work of a queue, or one asynchronous host operation.
pub trait Timeline: Send + Sync {
    /// Unique for the life of the process.
    fn id(&self) -> u64;
    /// The device whose queues can wait for this without the host, if any.
    fn device(&self) -> Option<u64>;
    /// True if everything up to `value` is done. Does not block.
    fn reached(&self, value: u64) -> bool;
    /// True if everything up to `value` is known to be done, without a look at the device.
    fn seen(&self, value: u64) -> bool {
        self.reached(value)
    }
    /// True if the work numbered `value`, which is done, failed, and nobody has been told yet.
    fn has_failed(&self, _value: u64) -> bool {
        false
    }
    /// True if other queues of the device may wait for `value` there: it was handed over, and will be signalled.
    fn is_signalled(&self, value: u64) -> bool;
    /// Hands everything up to `value` to the device. Does not wait.
    fn flush(&self, value: u64) -> Result<()>;
    /// Lets other queues of the device wait for the value, which was handed over. An error says nothing of the work itself.
    fn signal(&self, _value: u64) -> Result<()> {
        Ok(())
    }
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
    /// Becomes `other`; cheaply if it is of the same timeline.
    fn set(&mut self, other: &Self) {
        if self.timeline.id() == other.timeline.id() {
            (self.value, self.sequence) = (other.value, other.sequence);
        } else {
            *self = other.clone();
        }
    }
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
    end: u64,
    write: Option<Point>,
    reads: SmallVec<[Point; 2]>,
}

/// The uses of one buffer's bytes.
#[derive(Default)]
pub struct Tracker {
    segments: Mutex<Segments>,
    /// There may be uses. Set by whoever takes the lock, so that who only waits need not where there are none.
    used: AtomicBool,
}

/// The locked state of a [`Tracker`]: disjoint segments by their first byte.
#[derive(Default)]
pub struct Segments {
    /// The only segment, as long as there is no other: most buffers are always used as a whole.
    one: Option<(u64, Segment)>,
    map: BTreeMap<u64, Segment>,
    /// The timeline and number of the work that was last seen to keep the buffer alive, for whoever sees to that.
    pub kept: (u64, u64),
}

impl Segment {
    /// Forgets finished uses and calls `found` for the others that `access` must come after. True if none is left.
    fn conflicts(&mut self, access: Access, done: impl Fn(&Point) -> bool, mut found: impl FnMut(&Point)) -> bool {
        if self.write.as_ref().is_some_and(&done) {
            self.write = None;
        }
        self.reads.retain(|p| !done(p));
        if let Some(write) = &self.write {
            found(write);
        }
        if access.writes() {
            self.reads.iter().for_each(&mut found);
        }
        self.write.is_none() && self.reads.is_empty()
    }

    /// Notes a use of all of it.
    fn record(&mut self, access: Access, point: &Point) {
        if access.writes() {
            match &mut self.write {
                Some(old) => old.set(point),
                None => self.write = Some(point.clone()),
            }
            self.reads.clear();
        } else {
            add_read(&mut self.reads, point);
        }
    }
}

impl Tracker {
    /// A tracker of a buffer nobody uses yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks it.
    pub fn lock(&self) -> MutexGuard<'_, Segments> {
        let segments = self.segments.lock();
        self.used.store(true, Ordering::Release);
        segments
    }

    /// True if there are no uses.
    pub fn is_idle(&self) -> bool {
        !self.used.load(Ordering::Acquire)
    }

    /// Waits on the host for every use of `range` that conflicts with `access`, and tells of one that failed, also if it ended
    /// before.
    pub fn wait(&self, range: &Range<u64>, access: Access) -> Result<()> {
        loop {
            if self.is_idle() {
                return Ok(());
            }
            let mut open: SmallVec<[Point; 4]> = SmallVec::new();
            let mut segments = self.segments.lock();
            let done = |p: &Point| p.reached() && !p.timeline.has_failed(p.value);
            segments.conflicts_by(done, range, access, |p| open.push(p.clone()));
            self.used.store(!segments.is_empty(), Ordering::Release);
            drop(segments);
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
    fn is_empty(&self) -> bool {
        self.one.is_none() && self.map.is_empty()
    }

    /// Where the search for segments that overlap `range` begins: the one before may reach into it.
    fn first(&self, range: &Range<u64>) -> u64 {
        match self.map.range(..=range.start).next_back() {
            Some((&start, segment)) if segment.end > range.start => start,
            _ => range.start,
        }
    }

    /// Calls `found` for each unfinished use of `range` that `access` must come after. Finished ones are forgotten.
    pub fn conflicts(&mut self, range: &Range<u64>, access: Access, found: impl FnMut(&Point)) {
        self.conflicts_of(0, range, access, found);
    }

    /// The same for work of the timeline `own` (0: none): its own earlier work is in order anyway, so that it is not worth
    /// a look at the device whether that is done.
    pub fn conflicts_of(&mut self, own: u64, range: &Range<u64>, access: Access, found: impl FnMut(&Point)) {
        let done = |p: &Point| if p.timeline.id() == own { p.timeline.seen(p.value) } else { p.reached() };
        self.conflicts_by(done, range, access, found);
    }

    /// The same, with what counts as finished.
    fn conflicts_by(
        &mut self,
        done: impl Fn(&Point) -> bool + Copy,
        range: &Range<u64>,
        access: Access,
        mut found: impl FnMut(&Point),
    ) {
        if range.is_empty() {
            return;
        }
        if let Some((start, segment)) = &mut self.one {
            if *start < range.end && range.start < segment.end && segment.conflicts(access, done, found) {
                self.one = None;
            }
            return;
        }
        if self.map.is_empty() {
            return;
        }
        let first = self.first(range);
        let mut emptied: SmallVec<[u64; 8]> = SmallVec::new();
        for (&start, segment) in self.map.range_mut(first..range.end) {
            if segment.conflicts(access, done, &mut found) {
                emptied.push(start);
            }
        }
        for start in emptied {
            self.map.remove(&start);
        }
    }

    /// Notes that `range` is used at `point`.
    pub fn record(&mut self, range: &Range<u64>, access: Access, point: &Point) {
        if range.is_empty() {
            return;
        }
        // The common case: the same bytes as before.
        let same = match &mut self.one {
            Some((start, segment)) => (*start == range.start).then_some(segment),
            None if self.map.is_empty() => {
                let mut segment = Segment { end: range.end, write: None, reads: SmallVec::new() };
                segment.record(access, point);
                self.one = Some((range.start, segment));
                return;
            }
            None => self.map.get_mut(&range.start),
        };
        if let Some(segment) = same.filter(|s| s.end == range.end) {
            segment.record(access, point);
            return;
        }
        self.map.extend(self.one.take());
        self.split(range.start);
        self.split(range.end);
        if access.writes() {
            let inside: SmallVec<[u64; 8]> = self.map.range(range.clone()).map(|(&start, _)| start).collect();
            for start in inside {
                self.map.remove(&start);
            }
            let segment = Segment { end: range.end, write: Some(point.clone()), reads: SmallVec::new() };
            self.map.insert(range.start, segment);
            return;
        }
        let mut gaps: SmallVec<[Range<u64>; 8]> = SmallVec::new();
        let mut from = range.start;
        for (&start, segment) in self.map.range_mut(range.clone()) {
            if start > from {
                gaps.push(from..start);
            }
            add_read(&mut segment.reads, point);
            from = segment.end;
        }
        if from < range.end {
            gaps.push(from..range.end);
        }
        for gap in gaps {
            let segment = Segment { end: gap.end, write: None, reads: SmallVec::from_iter([point.clone()]) };
            self.map.insert(gap.start, segment);
        }
    }

    /// Cuts the segment that crosses `at`.
    fn split(&mut self, at: u64) {
        if let Some((_, segment)) = self.map.range_mut(..at).next_back()
            && segment.end > at
        {
            let tail = segment.clone();
            segment.end = at;
            self.map.insert(at, tail);
        }
    }
}

/// Adds a read; a later read on the same timeline stands for the earlier ones.
fn add_read(reads: &mut SmallVec<[Point; 2]>, point: &Point) {
    match reads.iter_mut().find(|p| p.timeline.id() == point.timeline.id()) {
        Some(old) if old.sequence <= point.sequence => old.set(point),
        Some(_) => {}
        None => reads.push(point.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::unique_id;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicU64;

    struct Clock {
        id: u64,
        done: AtomicU64,
    }

    impl Timeline for Clock {
        fn id(&self) -> u64 {
            self.id
        }
        fn device(&self) -> Option<u64> {
            None
        }
        fn reached(&self, value: u64) -> bool {
            value <= self.done.load(Ordering::Relaxed)
        }
        fn is_signalled(&self, _: u64) -> bool {
            true
        }
        fn flush(&self, _: u64) -> Result<()> {
            Ok(())
        }
        fn wait(&self, value: u64, _: Option<Duration>) -> Result<bool> {
            Ok(self.reached(value))
        }
        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }

    fn clock() -> Arc<Clock> {
        Arc::new(Clock { id: unique_id(), done: AtomicU64::new(0) })
    }

    proptest! {
        /// Against a model that keeps, for every byte, its last write and the reads since on each of two timelines.
        #[test]
        fn conflicts_are_those_of_single_bytes(
            steps in proptest::collection::vec((0u64..40, 1u64..20, 0usize..3, 0usize..2, any::<bool>()), 1..60)
        ) {
            let clocks = [clock(), clock()];
            let mut segments = Segments::default();
            type Byte = (Option<(usize, u64)>, [Option<u64>; 2]);
            let mut bytes: Vec<Byte> = vec![(None, [None; 2]); 64];
            for (n, (start, length, access, on, finish)) in steps.into_iter().enumerate() {
                let value = n as u64 + 1;
                let access = [Access::Read, Access::Write, Access::ReadWrite][access];
                let range = start..start + length;
                if finish {
                    clocks[on].done.store(value / 2, Ordering::Relaxed);
                }
                let open = |c: usize, v: u64| v > clocks[c].done.load(Ordering::Relaxed);
                let mut expected = std::collections::BTreeSet::new();
                for b in &bytes[start as usize..(start + length) as usize] {
                    if let Some((c, v)) = b.0 { if open(c, v) { expected.insert((c, v)); } }
                    if access.writes() {
                        for c in 0..2 { if let Some(v) = b.1[c] { if open(c, v) { expected.insert((c, v)); } } }
                    }
                }
                let mut found = std::collections::BTreeSet::new();
                segments.conflicts(&range, access, |p| {
                    found.insert((usize::from(p.timeline.id() == clocks[1].id), p.value));
                });
                prop_assert_eq!(found, expected);
                let point = Point { timeline: clocks[on].clone(), value, sequence: value };
                segments.record(&range, access, &point);
                for b in &mut bytes[start as usize..(start + length) as usize] {
                    if access.writes() { *b = (Some((on, value)), [None; 2]); } else { b.1[on] = Some(value); }
                }
            }
        }
    }
}
