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
