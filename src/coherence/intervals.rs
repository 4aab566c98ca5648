//! A map from every byte of a range to a value. Neighbouring bytes with the same value form one segment.

use crate::error::Result;
use crate::grow::Grow;
use smallvec::SmallVec;
use std::ops::Range;

/// Maximum number of segments in a chunk, which also bounds the segments that an insertion moves.
const CHUNK: usize = 256;

/// Changes of up to this many segments need no reserved room. For larger changes, [`Intervals::make_room`] reserves
/// this many in addition.
const SPARE_SEGMENTS: usize = 64;
/// Before a small change, [`Intervals::make_room`] frees the reserved room if it exceeds this many segments.
const KEPT_SEGMENTS: usize = 16 << 10;

/// A segment's first byte and its value. It ends where the next one begins.
type Segment<S> = (u64, S);

/// A value for each of the bytes `0..len`.
#[derive(Debug, Clone)]
pub(super) struct Intervals<S> {
    /// The segments in order, in chunks that are not empty. Thus a change of many segments at once costs no more than copying them.
    /// Neighbouring segments have different values.
    chunks: Vec<Vec<Segment<S>>>,
    len: u64,
    /// Always empty; has room for the segments that the next change makes.
    room: Vec<Segment<S>>,
}

/// The index of a chunk, and of a segment in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor(usize, usize);

impl<S: Clone + Eq> Intervals<S> {
    /// A map in which all bytes have this value.
    pub fn new(len: u64, value: S) -> Self {
        Self { chunks: vec![vec![(0, value)]], len, room: Vec::new() }
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reserves room for changes of bytes in `range` (not empty, inside the map) that add at most `more` segments. A lack of
    /// memory is an error here, so that the changes themselves cannot fail.
    pub fn make_room(&mut self, range: Range<u64>, more: u64) -> Result<()> {
        let (Cursor(first, from), Cursor(last, to)) = (self.find(range.start), self.find(range.end - 1));
        let between: usize = self.chunks[first..last].iter().map(Vec::len).sum();
        let all = (between + to + 1 - from).saturating_add(usize::try_from(more).unwrap_or(usize::MAX));
        if all > SPARE_SEGMENTS {
            return self.room.make_room(all.saturating_add(SPARE_SEGMENTS));
        }
        if self.room.capacity() > KEPT_SEGMENTS {
            self.room = Vec::new();
        }
        Ok(())
    }

    /// The segment of a byte.
    fn find(&self, at: u64) -> Cursor {
        let chunk = self.chunks.partition_point(|c| c[0].0 <= at) - 1;
        Cursor(chunk, self.chunks[chunk].partition_point(|s| s.0 <= at) - 1)
    }

    /// The segments from this cursor on.
    fn from(&self, Cursor(chunk, first): Cursor) -> impl Iterator<Item = &Segment<S>> {
        self.chunks[chunk][first..].iter().chain(self.chunks[chunk + 1..].iter().flatten())
    }

    /// The segments that `range` (not empty, inside the map) touches, cut to it.
    pub fn iter(&self, range: Range<u64>) -> impl Iterator<Item = (Range<u64>, &S)> {
        let mut all = self.from(self.find(range.start));
        let mut next = all.next();
        std::iter::from_fn(move || {
            let (start, value) = next.filter(|s| s.0 < range.end)?;
            next = all.next();
            let end = next.map_or(range.end, |n| n.0.min(range.end));
            Some(((*start).max(range.start)..end, value))
        })
    }

    /// Applies `f` to the value of each byte of `ranges` (not empty, ascending and disjoint), in one pass. True if any value
    /// changed.
    pub fn update(&mut self, mut ranges: impl Iterator<Item = Range<u64>>, f: impl Fn(&S) -> S) -> bool {
        let mut range = ranges.next();
        let Some(touched) = range.as_ref().map(|r| self.find(r.start)) else { return false };
        // The segment before the first one that changes may merge with it.
        let first = self.before(touched).unwrap_or(touched);
        let mut new: SmallVec<[Segment<S>; 4]> = SmallVec::from_vec(std::mem::take(&mut self.room));
        let mut put = |start: u64, value: &S| {
            if new.last().is_none_or(|(_, v)| v != value) {
                new.push((start, value.clone()));
            }
        };
        let (mut old, mut changed) = (0, false);
        let mut all = self.from(first).peekable();
        while let Some((start, value)) = all.next() {
            old += 1;
            let end = all.peek().map_or(self.len, |next| next.0);
            let mut at = *start;
            while let Some(r) = range.as_ref().filter(|r| r.start < end) {
                let updated = f(value);
                changed |= updated != *value;
                if r.start > at {
                    put(at, value);
                }
                put(at.max(r.start), &updated);
                at = r.end.min(end);
                if r.end > end {
                    break;
                }
                range = ranges.next();
            }
            let is_after_ranges = range.is_none() && at == *start;
            if at < end {
                put(at, value);
            }
            // The segment after the last one that changes may merge with it.
            if is_after_ranges {
                break;
            }
        }
        drop(all);
        if changed {
            self.replace(first, old, &mut new);
        }
        if new.spilled() {
            new.clear();
            self.room = new.into_vec();
        }
        changed
    }

    /// The cursor before this one.
    fn before(&self, Cursor(chunk, at): Cursor) -> Option<Cursor> {
        match (chunk, at) {
            (0, 0) => None,
            (_, 0) => Some(Cursor(chunk - 1, self.chunks[chunk - 1].len() - 1)),
            _ => Some(Cursor(chunk, at - 1)),
        }
    }

    /// Replaces `old` segments from `first` on by `new`.
    fn replace(&mut self, Cursor(chunk, at): Cursor, old: usize, new: &mut SmallVec<[Segment<S>; 4]>) {
        let one = &mut self.chunks[chunk];
        if at + old <= one.len() && one.len() - old + new.len() <= CHUNK {
            one.splice(at..at + old, new.drain(..));
            return;
        }
        // Finds the last chunk with replaced segments, and how many of its segments are replaced.
        let (mut last, mut rest) = (chunk, at + old);
        while rest > self.chunks[last].len() {
            rest -= self.chunks[last].len();
            last += 1;
        }
        let tail = self.chunks[last].split_off(rest);
        let mut head = std::mem::take(&mut self.chunks[chunk]);
        head.truncate(at);
        let mut all = head.into_iter().chain(new.drain(..)).chain(tail).peekable();
        let mut made = Vec::new();
        while all.peek().is_some() {
            // New chunks are half full, so that there is room for insertions.
            made.push(all.by_ref().take(CHUNK / 2).collect());
        }
        self.chunks.splice(chunk..=last, made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// The map equals an array with a value for each byte, over many chunks, and never has equal neighbours.
        #[test]
        fn map_equals_an_array_with_a_value_per_byte(
            steps in proptest::collection::vec((0u64..3000, 1u64..20, 0u64..12, 1u64..900, 0u8..3), 1..12)
        ) {
            const LEN: u64 = 4000;
            let mut map = Intervals::new(LEN, 0u8);
            let mut array = vec![0u8; LEN as usize];
            for (start, run, gap, count, value) in steps {
                let ranges: Vec<_> = (0..count)
                    .map(|i| start + i * (run + gap))
                    .take_while(|&s| s + run <= LEN)
                    .map(|s| s..s + run)
                    .collect();
                let f = |&old: &u8| if old == 7 { 7 } else { value + old / 2 };
                let before = array.clone();
                for b in ranges.iter().cloned().flatten() {
                    array[b as usize] = f(&array[b as usize]);
                }
                let hull = ranges.first().zip(ranges.last()).map(|(a, b)| a.start..b.end);
                if let Some(hull) = hull {
                    map.make_room(hull, 2 * ranges.len() as u64).unwrap();
                }
                let room = map.room.capacity();
                prop_assert_eq!(map.update(ranges.into_iter(), f), before != array);
                // The reserved room is enough. Small changes may grow without a reservation.
                prop_assert!(room < 2 * SPARE_SEGMENTS || map.room.capacity() == room);
                let all: Vec<_> = map.iter(0..LEN).map(|(r, v)| (r, *v)).collect();
                let flat: Vec<u8> = all.iter().flat_map(|(r, v)| vec![*v; (r.end - r.start) as usize]).collect();
                prop_assert_eq!(&flat, &array);
                prop_assert_eq!(map.segments(), all.len());
                prop_assert!(all.windows(2).all(|w| w[0].1 != w[1].1));
                prop_assert!(map.chunks.iter().all(|c| !c.is_empty() && c.len() <= CHUNK));
                let part = start..start + run;
                let cut: Vec<u8> = map.iter(part.clone()).flat_map(|(r, v)| vec![*v; (r.end - r.start) as usize]).collect();
                prop_assert_eq!(&cut[..], &array[part.start as usize..part.end as usize]);
            }
        }
    }
}
