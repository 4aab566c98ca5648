//! A map from every byte of a range to a value, with neighbouring bytes of one value kept as one segment.

use std::collections::BTreeMap;
use std::ops::Range;

/// Values of the bytes `0..len`.
#[derive(Debug, Clone)]
pub(super) struct Intervals<S> {
    /// First byte of each segment; it reaches to the next one's. Neighbours differ.
    segments: BTreeMap<u64, S>,
    len: u64,
}

impl<S: Clone + Eq> Intervals<S> {
    /// All bytes have this value.
    pub fn new(len: u64, value: S) -> Self {
        Self { segments: BTreeMap::from([(0, value)]), len }
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The segments that `range` (not empty, inside) touches, cut to it.
    pub fn iter(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, &S)> {
        let first = self.segments.range(..=range.start).next_back().map_or(0, |(&start, _)| start);
        let mut inside = self.segments.range(first..range.end).peekable();
        std::iter::from_fn(move || {
            let (&start, value) = inside.next()?;
            let end = inside.peek().map_or(range.end, |(next, _)| **next);
            Some((start.max(range.start)..end, value))
        })
    }

    /// Replaces the value of each byte of `range` by `f` of it. True if any differs.
    pub fn update(&mut self, range: Range<u64>, f: impl Fn(&S) -> S) -> bool {
        if self.iter(range.clone()).all(|(_, value)| f(value) == *value) {
            return false;
        }
        self.split(range.start);
        self.split(range.end);
        for (_, value) in self.segments.range_mut(range.clone()) {
            *value = f(value);
        }
        self.join(range);
        true
    }

    /// [`Self::update`] for many ranges, ascending and disjoint, in one pass.
    pub fn update_all(&mut self, ranges: impl Iterator<Item = Range<u64>> + Clone, f: impl Fn(&S) -> S) -> bool {
        let (Some(first), Some(last)) = (ranges.clone().next(), ranges.clone().last()) else { return false };
        let hull = first.start..last.end;
        let mut changed = false;
        let mut new: Vec<(u64, S)> = Vec::new();
        let mut put = |start: u64, value: S| {
            if new.last().is_none_or(|(_, v)| *v != value) {
                new.push((start, value));
            }
        };
        let mut ranges = ranges.peekable();
        for (segment, value) in self.iter(hull.clone()) {
            let updated = f(value);
            changed |= updated != *value && ranges.peek().is_some_and(|r| r.start < segment.end);
            let mut at = segment.start;
            while let Some(range) = ranges.peek().filter(|r| r.start < segment.end) {
                if range.start > at {
                    put(at, value.clone());
                }
                put(at.max(range.start), updated.clone());
                at = range.end.min(segment.end);
                if range.end > segment.end {
                    break;
                }
                ranges.next();
            }
            if at < segment.end {
                put(at, value.clone());
            }
        }
        if !changed {
            return false;
        }
        self.split(hull.start);
        self.split(hull.end);
        let mut tail = self.segments.split_off(&hull.end);
        self.segments.split_off(&hull.start);
        self.segments.append(&mut BTreeMap::from_iter(new));
        self.segments.append(&mut tail);
        self.join(hull.start..hull.start);
        self.join(hull.end..hull.end);
        true
    }

    /// Makes a segment begin at `at`.
    fn split(&mut self, at: u64) {
        if at < self.len
            && let Some((&start, value)) = self.segments.range(..=at).next_back()
            && start != at
        {
            let value = value.clone();
            self.segments.insert(at, value);
        }
    }

    /// Joins neighbours of one value in `range` and at its ends.
    fn join(&mut self, range: Range<u64>) {
        let mut before = self.segments.range(..range.start).next_back().map(|(_, v)| v.clone());
        let mut same = Vec::new();
        for (&start, value) in self.segments.range(range.start..=range.end) {
            if before.as_ref() == Some(value) {
                same.push(start);
            } else {
                before = Some(value.clone());
            }
        }
        for start in same {
            self.segments.remove(&start);
        }
    }
}
