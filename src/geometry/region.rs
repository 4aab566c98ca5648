//! Regions: sets of bytes of a data source.

use smallvec::SmallVec;
use std::ops::Range;

/// A set of bytes of a data source: nested loops (count, byte stride; outermost first) around a contiguous run. The stride of a
/// loop exceeds the span of the inner loops, so the runs are disjoint and in ascending order.
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
    /// A region of contiguous bytes.
    pub fn linear(range: Range<u64>) -> Self {
        Self { start: range.start, run: range.end - range.start, dims: SmallVec::new() }
    }

    /// The bytes of a box of elements. Merges loops that form one run.
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

    /// The range from the first byte to the last, including gaps.
    pub fn hull(&self) -> Range<u64> {
        let span: u64 = self.dims.iter().map(|&(count, stride)| (count - 1) * stride).sum();
        self.start..self.start + span + self.run
    }

    /// The contiguous runs, in ascending order.
    pub fn ranges(&self) -> Ranges<'_> {
        Ranges { region: self, index: SmallVec::from_elem(0, self.dims.len()), at: Some(self.start) }
    }

    /// True if the two regions have a byte in common. Needs no iteration over runs if one region is contiguous, or if both have the
    /// same strides, as sections of one matrix have.
    pub fn overlaps(&self, other: &Self) -> bool {
        let alike = self.dims.len() == other.dims.len() && self.dims.iter().zip(&other.dims).all(|(a, b)| a.1 == b.1);
        if alike {
            return meet(self, other, 0, i128::from(other.start) - i128::from(self.start));
        }
        let (a, b) = (self.hull(), other.hull());
        if a.end <= b.start || b.end <= a.start {
            return false;
        }
        if other.dims.is_empty() {
            return self.meets_range(0, self.start, &b);
        }
        if self.dims.is_empty() {
            return other.meets_range(0, other.start, &a);
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

    /// The number of bytes from the first to the last byte of the loops from `depth` on.
    fn span(&self, depth: usize) -> u64 {
        self.run + self.dims[depth..].iter().map(|&(count, stride)| (count - 1) * stride).sum::<u64>()
    }

    /// True if the loops from `depth` on, beginning at `start`, touch `range`.
    fn meets_range(&self, depth: usize, start: u64, range: &Range<u64>) -> bool {
        let Some(&(count, stride)) = self.dims.get(depth) else {
            return start < range.end && range.start < start + self.run;
        };
        let inner = self.span(depth + 1);
        // Iterations `first..end` are those that end after the range's start and begin before its end.
        let first = (range.start + 1).saturating_sub(start + inner).div_ceil(stride);
        let end = range.end.saturating_sub(start).div_ceil(stride).min(count);
        // If there are three or more such iterations, those in the middle lie completely inside the range.
        end > first && (end - first > 2 || (first..end).any(|n| self.meets_range(depth + 1, start + n * stride, range)))
    }
}

/// True if two regions with the same strides have a byte in common, counting only the loops from `depth` on. `b` begins `distance`
/// bytes after `a`.
fn meet(a: &Region, b: &Region, depth: usize, distance: i128) -> bool {
    let (Some(&(count_a, stride)), Some(&(count_b, _))) = (a.dims.get(depth), b.dims.get(depth)) else {
        return -i128::from(b.run) < distance && distance < i128::from(a.run);
    };
    let stride = i128::from(stride);
    let (span_a, span_b) = (i128::from(a.span(depth + 1)), i128::from(b.span(depth + 1)));
    // Iteration n of a meets iteration m of b only if `n - m = k` with `-span_b < distance - k * stride < span_a`.
    let least = (distance - span_a).div_euclid(stride) + 1;
    let most = -(-(distance + span_b)).div_euclid(stride) - 1;
    let (least, most) = (least.max(1 - i128::from(count_b)), most.min(i128::from(count_a) - 1));
    (least..=most).any(|k| meet(a, b, depth + 1, distance - k * stride))
}

/// The iterator of [`Region::ranges`].
#[derive(Clone)]
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
