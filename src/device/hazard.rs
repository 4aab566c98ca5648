//! Trackers of the uses of a buffer's bytes, so that dependent work is ordered and independent work overlaps.
//!
//! A [`Timeline`] numbers the work of one queue. A [`Tracker`] keeps, for each byte range of a buffer, the last write
//! and the reads since. A queue locks the trackers of all buffers of a command together (in order of buffer id), looks
//! for conflicts, and records the command. Two queues can therefore never order their commands differently on two buffers.
//!
//! Accepted work may be lost before it runs: memory runs out, or the device is lost. The bytes that the work was to write are
//! then *lost* in that buffer, and every use of them fails with a [`Detour::Lost`] until they are written again.

use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Access;
use crate::lock::{Mutex, MutexGuard, rank};
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
    /// The device whose queues can wait for this timeline without the host, if any.
    fn device(&self) -> Option<u64>;
    /// True if everything up to `value` is done. Does not block.
    fn reached(&self, value: u64) -> bool;
    /// True if everything up to `value` is known to be done. Does not ask the device.
    fn seen(&self, value: u64) -> bool {
        self.reached(value)
    }
    /// Why the accepted work at a point was lost; `None` if it was not lost. Called only after [`set_any_lost`].
    fn lost(&self, _point: &Point) -> Option<Error> {
        None
    }
    /// The first unreported loss among the work up to `value`, which must be done. The loss counts as reported afterwards.
    fn unreported(&self, _value: u64) -> Option<Error> {
        None
    }
    /// True if the work numbered `value`, which must be done, has a failure that was not yet reported.
    fn has_failed(&self, _value: u64) -> bool {
        false
    }
    /// Keeps the failure of the work at `value`, if it failed, until [`Self::let_go`] has been called as often as `keep`.
    fn keep(&self, _value: u64) {}
    /// Undoes one call of [`Self::keep`].
    fn let_go(&self, _value: u64) {}
    /// True if the work numbered `value`, which must be done, failed before it began, so that it changed nothing.
    fn failed_before_start(&self, _value: u64) -> bool {
        false
    }
    /// True if other queues of the device can wait for `value`: its work was handed to the device, which will signal the value.
    fn is_signalled(&self, value: u64) -> bool;
    /// Hands everything up to `value` to the device. Does not wait.
    fn flush(&self, value: u64) -> Result<()>;
    /// Lets other queues of the device wait for `value`, whose work was handed to the device. An error does not mean that this work failed.
    fn signal(&self, _value: u64) -> Result<()> {
        Ok(())
    }
    /// Flushes, then waits until everything up to `value` is done: `false` if `timeout` passed first; `None` waits without
    /// end. An error says that the work up to `value` failed.
    fn wait(&self, value: u64, timeout: Option<Duration>) -> Result<bool>;
    /// For downcasts to the concrete type.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// A number on a timeline.
#[derive(Clone)]
pub struct Point {
    /// The timeline.
    pub timeline: Arc<dyn Timeline>,
    /// The number to be reached.
    pub value: u64,
    /// Number of the command among all commands of the timeline; orders commands that share a value.
    pub sequence: u64,
}

impl Point {
    /// True if the point is on this timeline.
    #[inline]
    pub fn is_on(&self, timeline: &Arc<dyn Timeline>) -> bool {
        Arc::ptr_eq(&self.timeline, timeline)
    }

    /// Sets this point to `other`; cheap if both are on the same timeline.
    fn set(&mut self, other: &Self) {
        if self.is_on(&other.timeline) {
            (self.value, self.sequence) = (other.value, other.sequence);
        } else {
            *self = other.clone();
        }
    }
    /// True if the point has been reached.
    pub fn reached(&self) -> bool {
        self.timeline.reached(self.value)
    }
    /// See [`Timeline::wait`]. Also fails if the work was lost.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<bool> {
        let done = self.timeline.wait(self.value, timeout)?;
        if done && any_lost() { self.lost().map_or(Ok(true), Err) } else { Ok(done) }
    }
    /// Why the work was lost; `None` if it was not lost. Nothing is lost while [`any_lost`] is false.
    #[cold]
    fn lost(&self) -> Option<Error> {
        self.timeline.lost(self)
    }
}

impl std::fmt::Debug for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}.{}", self.timeline.id(), self.value, self.sequence)
    }
}

/// Set for good by the first loss of this process. While it is false, no timeline need be asked for losses.
static ANY_LOST: AtomicBool = AtomicBool::new(false);

/// Notes that [`Timeline::lost`] may have something to report.
pub fn set_any_lost() {
    ANY_LOST.store(true, Ordering::SeqCst);
}

/// True if anything was ever lost in this process.
#[inline]
pub fn any_lost() -> bool {
    ANY_LOST.load(Ordering::Relaxed)
}

/// The reason for the failure of an operation that may be retried. Before the retry, the caller must act on the reason
/// while it holds no lock. An [`Error`] carries the detour.
#[derive(Debug)]
pub enum Detour {
    /// Work of host threads must end first. This work may need any lock, so the caller must hold none while it waits.
    Wait(SmallVec<[Point; 4]>),
    /// Bytes of a buffer are lost; other holders may have these bytes.
    Lost,
}

impl Detour {
    /// The detour that an error asks for.
    pub fn of(error: &Error) -> Option<&Self> {
        error.detour.as_ref()?.downcast_ref()
    }

    /// An error that asks for a wait. It never reaches the program.
    pub fn wait(points: SmallVec<[Point; 4]>) -> Error {
        Error {
            detour: Some(Arc::new(Self::Wait(points))),
            ..Error::new(ErrorKind::Internal, "the operation did not wait for work of host threads")
        }
    }

    /// Marks `error` as [`Detour::Lost`].
    pub fn lost(error: Error) -> Error {
        Error { detour: Some(Arc::new(Self::Lost)), ..error }
    }
}

/// A range of bytes with the same uses. Its first byte is its key in the map of [`Segments`].
#[derive(Clone, Debug)]
struct Segment {
    end: u64,
    write: Option<Point>,
    /// True if the write was lost and the loss is noted. The write still orders later work after earlier work.
    is_lost: bool,
    reads: SmallVec<[Point; 2]>,
}

/// The uses of one buffer's bytes.
#[derive(Default)]
pub struct Tracker {
    segments: Mutex<Segments, { rank::TRACKER }>,
    /// True if there may be uses. Locking the tracker sets this flag. While it is false, a wait needs no lock.
    has_uses: AtomicBool,
}

/// The locked state of a [`Tracker`]: disjoint segments by their first byte.
#[derive(Default)]
pub struct Segments {
    /// The segment, if there is only one: most buffers are always used as a whole.
    one: Option<(u64, Segment)>,
    map: BTreeMap<u64, Segment>,
    /// Bytes that are lost, and why.
    lost: Vec<(Range<u64>, Error)>,
    /// The timeline and number of the work last known to keep the buffer alive.
    pub kept: (u64, u64),
}

impl Segment {
    /// Forgets finished uses, and calls `found` for each unfinished use that `access` must come after. True if no use
    /// is left. If the write was lost, `lost` gets the reason, once.
    fn conflicts(
        &mut self,
        access: Access,
        done: impl Fn(&Point) -> bool,
        mut found: impl FnMut(&Point),
        lost: impl FnOnce(Error),
    ) -> bool {
        if let Some(write) = &self.write {
            // `done` is called before `lost`, because work that ends with the loss of its device is itself lost.
            let is_done = done(write);
            if any_lost() && !self.is_lost {
                let reason = write.lost();
                self.is_lost = reason.is_some();
                if let Some(reason) = reason {
                    lost(reason);
                }
            }
            if is_done {
                self.write = None;
            }
        }
        if !self.reads.is_empty() {
            self.reads.retain(|p| !done(p));
        }
        if let Some(write) = &self.write {
            found(write);
        }
        if access.writes() {
            self.reads.iter().for_each(&mut found);
        }
        self.write.is_none() && self.reads.is_empty()
    }

    /// Notes a use of the whole segment.
    fn record(&mut self, access: Access, point: &Point) {
        if access.writes() {
            self.is_lost = false;
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
    /// A tracker without uses.
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks the tracker.
    pub fn lock(&self) -> MutexGuard<'_, Segments> {
        self.lock_as(0)
    }

    /// Locks one of several trackers, which must be locked in the order of their ids.
    pub fn lock_as(&self, id: u64) -> MutexGuard<'_, Segments> {
        let segments = self.segments.lock_as(id);
        self.has_uses.store(true, Ordering::Release);
        segments
    }

    /// True if there are no uses.
    pub fn is_idle(&self) -> bool {
        !self.has_uses.load(Ordering::Acquire)
    }

    /// Waits on the host for every use of `range` that conflicts with `access`. Fails if one of these uses failed, even if it
    /// ended before, or if bytes to be read are lost. Does not wait for work of host threads, but fails with a
    /// [`Detour::Wait`].
    #[inline]
    pub fn wait(&self, range: &Range<u64>, access: Access) -> Result<()> {
        if self.is_idle() { Ok(()) } else { self.wait_for_uses(range, access) }
    }

    fn wait_for_uses(&self, range: &Range<u64>, access: Access) -> Result<()> {
        loop {
            let unfinished = self.unfinished(range, access)?;
            if unfinished.is_empty() {
                return Ok(());
            }
            if unfinished.iter().any(|p| p.timeline.device().is_none()) {
                return Err(Detour::wait(unfinished));
            }
            for point in unfinished {
                // The next round reports a loss if it concerns this access.
                let done = point.wait(None);
                if !point.reached() {
                    done?;
                }
            }
        }
    }

    /// Waits for every use of `range` that conflicts with `access`, including work of host threads. Failures of that work are
    /// ignored if `access` is `Write`, because the access then replaces all bytes. The caller must hold no lock.
    #[inline]
    pub fn wait_for_all(&self, range: &Range<u64>, access: Access) -> Result<()> {
        if self.is_idle() { Ok(()) } else { self.wait_for_all_uses(range, access) }
    }

    fn wait_for_all_uses(&self, range: &Range<u64>, access: Access) -> Result<()> {
        loop {
            let error = match self.wait(range, access) {
                Err(e) => e,
                done => return done,
            };
            let Some(Detour::Wait(points)) = Detour::of(&error) else { return Err(error) };
            for point in points {
                let done = point.wait(None);
                if access != Access::Write && !point.timeline.failed_before_start(point.value) {
                    done?;
                }
            }
        }
    }

    /// The uses of `range` that `access` must come after and that are unfinished or have an unreported failure.
    fn unfinished(&self, range: &Range<u64>, access: Access) -> Result<SmallVec<[Point; 4]>> {
        let mut unfinished: SmallVec<[Point; 4]> = SmallVec::new();
        let mut segments = self.segments.lock();
        let done = |p: &Point| p.reached() && !p.timeline.has_failed(p.value);
        segments.conflicts_by(done, range, access, |p| unfinished.push(p.clone()));
        let lost = if access == Access::Write { Ok(()) } else { segments.check(range) };
        self.has_uses.store(!segments.is_empty(), Ordering::Release);
        lost.map(|()| unfinished)
    }

    /// True if `access` to `range` need not wait for any use.
    pub fn is_free(&self, range: &Range<u64>, access: Access) -> bool {
        let mut busy = false;
        if !self.is_idle() {
            let mut segments = self.segments.lock();
            segments.conflicts(range, access, |_| busy = true);
            self.has_uses.store(!segments.is_empty(), Ordering::Release);
        }
        !busy
    }

    /// Notes that bytes were written again, so that they are no longer lost.
    pub fn renewed(&self, ranges: impl Iterator<Item = Range<u64>>) {
        if any_lost() && !self.is_idle() {
            let mut segments = self.segments.lock();
            ranges.for_each(|range| segments.renewed(&range));
        }
    }

    /// Removes all lost bytes from the tracker and returns them, with the reasons.
    pub fn take_lost(&self) -> Vec<(Range<u64>, Error)> {
        if !any_lost() || self.is_idle() {
            return Vec::new();
        }
        let mut segments = self.segments.lock();
        // The search for conflicts finds losses.
        segments.conflicts(&(0..u64::MAX), Access::Read, |_| {});
        std::mem::take(&mut segments.lost)
    }

    /// Notes that bytes are lost.
    pub fn lose(&self, range: Range<u64>, reason: Error) {
        set_any_lost();
        self.lock().lost.push((range, reason));
    }
}

impl Segments {
    fn is_empty(&self) -> bool {
        self.one.is_none() && self.map.is_empty() && self.lost.is_empty()
    }

    /// Fails if bytes of `range` are lost.
    #[inline]
    pub fn check(&self, range: &Range<u64>) -> Result<()> {
        if self.lost.is_empty() { Ok(()) } else { self.check_lost(range) }
    }

    #[cold]
    fn check_lost(&self, range: &Range<u64>) -> Result<()> {
        let touched = |(r, _): &&(Range<u64>, Error)| r.start < range.end && range.start < r.end;
        self.lost.iter().find(touched).map_or(Ok(()), |(_, reason)| {
            let error = reason.clone().context("the data are lost; write them again by a copy or by the host");
            Err(Detour::lost(error))
        })
    }

    /// Notes that bytes were written again, so that they are no longer lost.
    fn renewed(&mut self, range: &Range<u64>) {
        let old = std::mem::take(&mut self.lost);
        for (r, reason) in old {
            let (before, after) = (r.start..r.end.min(range.start), r.start.max(range.end)..r.end);
            let rest = [before, after].into_iter().filter(|r| !r.is_empty());
            self.lost.extend(rest.map(|r| (r, reason.clone())));
        }
    }

    /// The start of the first segment that may overlap `range`: a segment that begins before `range` may reach into it.
    fn first(map: &BTreeMap<u64, Segment>, range: &Range<u64>) -> u64 {
        match map.range(..=range.start).next_back() {
            Some((&start, segment)) if segment.end > range.start => start,
            _ => range.start,
        }
    }

    /// Calls `found` for each unfinished use of `range` that `access` must come after. Forgets finished uses.
    pub fn conflicts(&mut self, range: &Range<u64>, access: Access, found: impl FnMut(&Point)) {
        self.conflicts_by(Point::reached, range, access, found);
    }

    /// [`Self::conflicts`] for work of the timeline `own_timeline`. Earlier work of this timeline is in order anyway, so this
    /// function does not query the device whether that work is done.
    pub fn conflicts_of(
        &mut self,
        own_timeline: &Arc<dyn Timeline>,
        range: &Range<u64>,
        access: Access,
        found: impl FnMut(&Point),
    ) {
        let done = |p: &Point| if p.is_on(own_timeline) { p.timeline.seen(p.value) } else { p.reached() };
        self.conflicts_by(done, range, access, found);
    }

    /// [`Self::conflicts`] with `done` as the test whether a use is finished.
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
        let all_lost = &mut self.lost;
        if let Some((start, segment)) = &mut self.one {
            let whole = *start..segment.end;
            let mut lost = |e: Error| all_lost.push((whole.clone(), e));
            if *start < range.end && range.start < segment.end && segment.conflicts(access, done, found, &mut lost) {
                self.one = None;
            }
            return;
        }
        if self.map.is_empty() {
            return;
        }
        let first = Self::first(&self.map, range);
        let mut emptied: SmallVec<[u64; 8]> = SmallVec::new();
        for (&start, segment) in self.map.range_mut(first..range.end) {
            let whole = start..segment.end;
            if segment.conflicts(access, done, &mut found, |e| all_lost.push((whole, e))) {
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
                let mut segment = Segment { end: range.end, write: None, is_lost: false, reads: SmallVec::new() };
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
            let write = Some(point.clone());
            let segment = Segment { end: range.end, write, is_lost: false, reads: SmallVec::new() };
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
            let reads = SmallVec::from_iter([point.clone()]);
            let segment = Segment { end: gap.end, write: None, is_lost: false, reads };
            self.map.insert(gap.start, segment);
        }
    }

    /// Cuts the segment that crosses `at`.
    fn split(&mut self, at: u64) {
        if let Some((_, segment)) = self.map.range_mut(..at).next_back() {
            if segment.end > at {
                let tail = segment.clone();
                segment.end = at;
                self.map.insert(at, tail);
            }
        }
    }
}

/// Adds a read, which replaces earlier ones of the same timeline.
fn add_read(reads: &mut SmallVec<[Point; 2]>, point: &Point) {
    match reads.iter_mut().find(|p| p.is_on(&point.timeline)) {
        Some(old) if old.sequence <= point.sequence => {
            (old.value, old.sequence) = (point.value, point.sequence);
        }
        Some(_) => {}
        None => reads.push(point.clone()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::device::unique_id;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicU64;

    /// A timeline whose progress the test sets.
    struct Clock {
        id: u64,
        done: AtomicU64,
        /// The number whose work was lost; 0: none.
        lost: AtomicU64,
    }

    impl Timeline for Clock {
        fn id(&self) -> u64 {
            self.id
        }
        fn device(&self) -> Option<u64> {
            Some(self.id)
        }
        fn lost(&self, point: &Point) -> Option<Error> {
            (point.value == self.lost.load(Ordering::Relaxed)).then(|| Error::out_of_memory("lost"))
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

    /// A point that is reached.
    pub(crate) fn done() -> Point {
        Point { timeline: clock(), value: 0, sequence: 0 }
    }

    fn clock() -> Arc<Clock> {
        Arc::new(Clock { id: unique_id(), done: AtomicU64::new(0), lost: AtomicU64::new(0) })
    }

    proptest! {
        /// Compares with a model that keeps, for every byte, its last write and the reads since on each of two timelines.
        #[test]
        fn conflicts_equal_those_of_a_byte_by_byte_model(
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
                let unfinished = |c: usize, v: u64| v > clocks[c].done.load(Ordering::Relaxed);
                let mut expected = std::collections::BTreeSet::new();
                for b in &bytes[start as usize..(start + length) as usize] {
                    if let Some((c, v)) = b.0 { if unfinished(c, v) { expected.insert((c, v)); } }
                    if access.writes() {
                        for c in 0..2 { if let Some(v) = b.1[c] { if unfinished(c, v) { expected.insert((c, v)); } } }
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

    /// Reads of lost bytes fail until the bytes are written again. The lost work still orders later work.
    #[test]
    fn lost_writes_are_reported_and_still_order_later_work() {
        let (clock, tracker) = (clock(), Tracker::new());
        let point = |value| Point { timeline: clock.clone(), value, sequence: value };
        tracker.lock().record(&(0..100), Access::Write, &point(1));
        tracker.lock().record(&(0..10), Access::ReadWrite, &point(2));
        clock.lost.store(2, Ordering::Relaxed);
        set_any_lost();
        // The lost write is not reached yet: later reads and writes wait for it.
        for access in [Access::Read, Access::Write] {
            let mut found = Vec::new();
            tracker.lock().conflicts(&(0..10), access, |p| found.push(p.value));
            assert_eq!(found, [2]);
            assert!(!tracker.is_free(&(0..10), Access::Write));
        }
        clock.done.store(2, Ordering::Relaxed);
        let is_lost = |range: Range<u64>, access| {
            tracker.wait(&range, access).is_err_and(|e| matches!(Detour::of(&e), Some(Detour::Lost)))
        };
        assert!(
            is_lost(5..20, Access::Read)
                && is_lost(9..10, Access::ReadWrite)
                && tracker.is_free(&(0..100), Access::Write)
        );
        assert!(!is_lost(5..20, Access::Write) && !is_lost(10..100, Access::Read));
        tracker.renewed([2..4, 6..8].into_iter());
        let lost: Vec<u64> = (0..12).filter(|&b| is_lost(b..b + 1, Access::Read)).collect();
        assert_eq!(lost, [0, 1, 4, 5, 8, 9]);
        let taken = tracker.take_lost().into_iter().map(|(range, _)| range);
        assert_eq!(taken.collect::<Vec<_>>(), [0..2, 4..6, 8..10]);
        assert!(!is_lost(0..12, Access::Read));
        tracker.lose(3..5, Error::out_of_memory("lost"));
        assert!(is_lost(0..12, Access::Read));
    }

    /// [`Tracker::is_free`] also finds out that nothing uses the buffer any more. Cached launches rely on this.
    #[test]
    fn is_free_makes_a_tracker_without_unfinished_work_idle() {
        let (clock, tracker) = (clock(), Tracker::new());
        tracker.lock().record(&(0..10), Access::Write, &Point { timeline: clock.clone(), value: 1, sequence: 1 });
        assert!(!tracker.is_free(&(0..10), Access::Read) && !tracker.is_idle());
        clock.done.store(1, Ordering::Relaxed);
        assert!(tracker.is_free(&(0..10), Access::Read) && tracker.is_idle());
    }

    /// `Tracker::wait` does not wait for work of host threads, because its caller may hold locks.
    #[test]
    fn wait_returns_a_detour_for_work_of_host_threads() {
        struct Host(Clock);
        impl Timeline for Host {
            fn id(&self) -> u64 {
                self.0.id
            }
            fn device(&self) -> Option<u64> {
                None
            }
            fn reached(&self, value: u64) -> bool {
                self.0.reached(value)
            }
            fn is_signalled(&self, _: u64) -> bool {
                true
            }
            fn flush(&self, _: u64) -> Result<()> {
                Ok(())
            }
            fn wait(&self, value: u64, _: Option<Duration>) -> Result<bool> {
                self.0.done.fetch_max(value, Ordering::Relaxed);
                Ok(true)
            }
            fn as_any(&self) -> &dyn std::any::Any {
                self
            }
        }
        let host = Arc::new(Host(Clock { id: unique_id(), done: AtomicU64::new(0), lost: AtomicU64::new(0) }));
        let tracker = Tracker::new();
        tracker.lock().record(&(0..10), Access::Write, &Point { timeline: host.clone(), value: 1, sequence: 1 });
        let error = tracker.wait(&(0..10), Access::Read).unwrap_err();
        assert!(matches!(Detour::of(&error), Some(Detour::Wait(points)) if points.len() == 1));
        assert!(!host.reached(1));
        tracker.wait_for_all(&(0..10), Access::Read).unwrap();
        assert!(host.reached(1) && tracker.wait(&(0..10), Access::ReadWrite).is_ok());
    }
}
