//! Parts of a data source.

use smallvec::SmallVec;
use std::ops::Range;

/// Bytes of a data source: nested loops (count, byte stride; outermost first) around a contiguous run. Strides of outer
/// loops step over all that the inner ones span, so that the runs are disjoint and come in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The first byte.
    pub start: u64,
    /// Contiguous bytes of each innermost iteration.
    pub run: u64,
    /// The loops.
    pub dims: SmallVec<[(u64, u64); 3]>,
}

impl Region {
    /// Contiguous bytes.
    pub fn linear(range: Range<u64>) -> Self {
        Self { start: range.start, run: range.end - range.start, dims: SmallVec::new() }
    }

    /// The bytes of a box of elements; loops that form one run are merged.
    pub fn new(offset: u64, element: u64, dims: &[(u64, u64)]) -> Self {
        let mut run = element;
        let mut merged: SmallVec<[(u64, u64); 3]> = SmallVec::new();
        for &(count, stride) in dims.iter().rev() {
            if count == 1 {
                continue;
            }
            match merged.last_mut() {
                None if stride == run => run *= count,
                Some(inner) if stride == inner.0 * inner.1 => inner.0 *= count,
                _ => merged.push((count, stride)),
            }
        }
        merged.reverse();
        Self { start: offset, run, dims: merged }
    }

    /// Number of bytes.
    pub fn bytes(&self) -> u64 {
        self.run * self.runs()
    }

    /// Number of contiguous runs.
    pub fn runs(&self) -> u64 {
        self.dims.iter().map(|d| d.0).product()
    }

    /// From the first byte to behind the last, gaps included.
    pub fn hull(&self) -> Range<u64> {
        let span: u64 = self.dims.iter().map(|&(count, stride)| (count - 1) * stride).sum();
        self.start..self.start + span + self.run
    }

    /// The contiguous runs, in ascending order.
    pub fn ranges(&self) -> Ranges<'_> {
        Ranges { region: self, index: SmallVec::from_elem(0, self.dims.len()), at: Some(self.start) }
    }

    /// True if the two have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.hull(), other.hull());
        if a.end <= b.start || b.end <= a.start {
            return false;
        }
        let (mut left, mut right) = (self.ranges(), other.ranges());
        let (mut x, mut y) = (left.next(), right.next());
        while let (Some(a), Some(b)) = (&x, &y) {
            if a.end <= b.start {
                x = left.next();
            } else if b.end <= a.start {
                y = right.next();
            } else {
                return true;
            }
        }
        false
    }
}

/// Iterator of [`Region::ranges`].
pub struct Ranges<'a> {
    region: &'a Region,
    index: SmallVec<[u64; 3]>,
    at: Option<u64>,
}

impl Iterator for Ranges<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        let start = self.at?;
        let mut next = start;
        self.at = None;
        for (i, &(count, stride)) in self.index.iter_mut().zip(&self.region.dims).rev() {
            *i += 1;
            next += stride;
            if *i < count {
                self.at = Some(next);
                break;
            }
            *i = 0;
            next -= stride * count;
        }
        Some(start..start + self.region.run)
    }
}
