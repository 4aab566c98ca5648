//! Strided boxes in memory ([`Layout`]), and copies between two of them ([`CopyPlan`]).
//!
//! A copy between any two boxes (host memory, arrays, sections, of any rank) is one [`CopyPlan`]: nested loops around
//! a contiguous run. Host loops and the device copy kernels both execute such plans. This module is pure arithmetic.

use super::region::Region;
use crate::error::{Error, Result};
use smallvec::SmallVec;
use std::ops::Range;

/// A box of elements in memory: the byte offset of its first element, and the count and byte stride of each dimension.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// Byte offset of element (0, ..., 0) from the start of the memory.
    pub offset: u64,
    /// Bytes of one element.
    pub element: u64,
    /// Count and byte stride of each dimension, most significant first.
    pub dims: SmallVec<[(u64, u64); 4]>,
}

impl Clone for Layout {
    // Faster than the derived implementation, which clones each element of `dims` separately.
    fn clone(&self) -> Self {
        Self { offset: self.offset, element: self.element, dims: SmallVec::from_slice(&self.dims) }
    }
}

impl Layout {
    /// A row-major box without gaps.
    pub fn packed(offset: u64, element: u64, extent: &[u64]) -> Self {
        let mut dims: SmallVec<[(u64, u64); 4]> = SmallVec::with_capacity(extent.len());
        let mut stride = element;
        for &count in extent.iter().rev() {
            dims.push((count, stride));
            stride = stride.saturating_mul(count);
        }
        dims.reverse();
        Self { offset, element, dims }
    }

    /// The section of this box at `origin` with `extent`. The caller has checked that the section lies inside the box.
    #[must_use]
    pub fn section(&self, origin: &[u64], extent: &[u64]) -> Self {
        let mut offset = self.offset;
        let mut dims = SmallVec::with_capacity(self.dims.len());
        for ((&(_, stride), &start), &count) in self.dims.iter().zip(origin).zip(extent) {
            offset += start * stride;
            dims.push((count, stride));
        }
        Self { offset, element: self.element, dims }
    }

    /// The bytes that the elements cover.
    pub fn region(&self) -> Region {
        Region::new(self.offset, self.element, &self.dims)
    }

    /// Number of elements.
    pub fn elements(&self) -> u64 {
        self.dims.iter().map(|d| d.0).product()
    }

    /// Bytes of all elements, without gaps.
    pub fn bytes(&self) -> u64 {
        self.elements() * self.element
    }

    /// The range from the first byte to the end of the last element, gaps included.
    pub fn hull(&self) -> Range<u64> {
        let span: u64 = self.dims.iter().map(|&(count, stride)| count.saturating_sub(1) * stride).sum();
        self.offset..self.offset + span + self.element
    }

    /// True if the elements are contiguous.
    pub fn is_packed(&self) -> bool {
        let hull = self.hull();
        hull.end - hull.start == self.bytes()
    }
}

/// One loop of a [`CopyPlan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyDim {
    /// Iterations.
    pub count: u64,
    /// Byte stride in the source.
    pub source: u64,
    /// Byte stride in the destination.
    pub destination: u64,
}

/// Nested loops (outermost first) around a contiguous run of bytes. Adjacent loops that form one run are merged.
///
/// A *packed position* is the number of bytes that the plan moves before a byte, in row-major order. Ranges of packed positions cut
/// a plan into pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyPlan {
    /// Byte offset of the first byte in the source.
    pub source: u64,
    /// Byte offset of the first byte in the destination.
    pub destination: u64,
    /// The loops.
    pub dims: SmallVec<[CopyDim; 4]>,
    /// Bytes of the contiguous run that each innermost iteration moves.
    pub run: u64,
}

impl CopyPlan {
    /// A plan that moves `bytes` contiguous bytes.
    pub fn linear(source: u64, destination: u64, bytes: u64) -> Self {
        Self { source, destination, dims: SmallVec::new(), run: bytes }
    }

    /// A plan that copies the elements of one box to another box of the same extent.
    pub fn new(source: &Layout, destination: &Layout) -> Result<Self> {
        if source.element != destination.element {
            return Err(Error::runtime(format!(
                "the element sizes differ: elements of the source have {} bytes, those of the destination {}; both \
                 must be equal",
                source.element, destination.element
            )));
        }
        let counts = |l: &Layout| l.dims.iter().map(|d| d.0).collect::<Vec<_>>();
        let differ = |(a, b): (&(u64, u64), &(u64, u64))| a.0 != b.0;
        if source.dims.len() != destination.dims.len() || source.dims.iter().zip(&destination.dims).any(differ) {
            return Err(Error::runtime(format!(
                "the extents differ: the source is {:?}, the destination {:?}; both must be equal",
                counts(source),
                counts(destination)
            )));
        }
        let dims = source.dims.iter().zip(&destination.dims);
        let dims = dims.map(|(&(count, source), &(_, destination))| CopyDim { count, source, destination });
        Ok(Self::merged(source.offset, destination.offset, dims, source.element))
    }

    /// A plan with these loops (outermost first) around a run. Merges loops that form one run.
    fn merged(source: u64, destination: u64, loops: impl DoubleEndedIterator<Item = CopyDim>, mut run: u64) -> Self {
        let mut dims: SmallVec<[CopyDim; 4]> = SmallVec::new();
        for dim in loops.rev().filter(|d| d.count != 1) {
            match dims.last_mut() {
                None if dim.source == run && dim.destination == run => run *= dim.count,
                Some(inner)
                    if dim.source == inner.source * inner.count
                        && dim.destination == inner.destination * inner.count =>
                {
                    inner.count *= dim.count;
                }
                _ => dims.push(dim),
            }
        }
        dims.reverse();
        Self { source, destination, dims, run }
    }

    /// Bytes moved.
    pub fn bytes(&self) -> u64 {
        self.run * self.dims.iter().map(|d| d.count).product::<u64>()
    }

    /// Number of contiguous runs.
    pub fn runs(&self) -> u64 {
        self.dims.iter().map(|d| d.count).product()
    }

    /// True if both sides are one contiguous run.
    pub fn is_linear(&self) -> bool {
        self.dims.is_empty()
    }

    /// The byte range touched in the source, including gaps.
    pub fn source_hull(&self) -> Range<u64> {
        self.source..self.source + self.run + self.dims.iter().map(|d| (d.count - 1) * d.source).sum::<u64>()
    }

    /// The byte range touched in the destination, including gaps.
    pub fn destination_hull(&self) -> Range<u64> {
        let span = self.dims.iter().map(|d| (d.count - 1) * d.destination).sum::<u64>();
        self.destination..self.destination + self.run + span
    }

    /// Cuts the plan along its outer loops into plans of about `most` bytes; a single run may be larger.
    pub fn pieces(&self, most: u64) -> Vec<Self> {
        let Some(outer) = self.dims.first() else {
            let most = most.max(16) & !15;
            return (0..self.run)
                .step_by(most as usize)
                .map(|at| Self::linear(self.source + at, self.destination + at, most.min(self.run - at)))
                .collect();
        };
        let slice = self.bytes() / outer.count;
        let inner: SmallVec<[CopyDim; 4]> = self.dims.iter().skip(1).copied().collect();
        let many = (most / slice.max(1)).min(outer.count);
        let mut pieces = Vec::new();
        for at in (0..outer.count).step_by(many.max(1) as usize) {
            let mut piece = Self {
                source: self.source + at * outer.source,
                destination: self.destination + at * outer.destination,
                dims: inner.clone(),
                run: self.run,
            };
            if many == 0 {
                pieces.append(&mut piece.pieces(most));
            } else {
                let count = many.min(outer.count - at);
                if count > 1 {
                    piece.dims.insert(0, CopyDim { count, ..*outer });
                }
                pieces.push(piece);
            }
        }
        pieces
    }

    /// Splits the plan into two plans over packed memory of the plan's size: one from the source to the packed memory, one from the
    /// packed memory to the destination. Each of them becomes one run if its other side is packed too.
    pub fn through_packed(&self) -> (Self, Self) {
        if self.is_linear() {
            return (Self::linear(self.source, 0, self.run), Self::linear(0, self.destination, self.run));
        }
        let (mut down, mut up) = (self.dims.clone(), self.dims.clone());
        let mut stride = self.run;
        for (down, up) in down.iter_mut().zip(&mut up).rev() {
            (down.destination, up.source) = (stride, stride);
            stride *= down.count;
        }
        let down = Self::merged(self.source, 0, down.into_iter(), self.run);
        (down, Self::merged(0, self.destination, up.into_iter(), self.run))
    }

    /// The byte ranges that packed positions `part` (not empty) touch in the source and in the destination, including gaps. If a side
    /// has an outer loop whose stride is less than the span of its inner loops, the range of this side is that of the whole plan.
    pub fn hulls(&self, part: &Range<u64>) -> (Range<u64>, Range<u64>) {
        if self.is_linear() {
            let side = |start: u64| start + part.start..start + part.end;
            return (side(self.source), side(self.destination));
        }
        let side = |start: u64, whole: Range<u64>, stride: fn(&CopyDim) -> u64| {
            let mut span = self.run;
            let ascends = self.dims.iter().rev().all(|d| {
                let exceeds_span = stride(d) >= span;
                span += (d.count - 1) * stride(d);
                exceeds_span
            });
            let at = |position: u64| {
                let mut rest = position / self.run;
                let mut at = start + position % self.run;
                for d in self.dims.iter().rev() {
                    at += rest % d.count * stride(d);
                    rest /= d.count;
                }
                at
            };
            if ascends { at(part.start)..at(part.end - 1) + 1 } else { whole }
        };
        (
            side(self.source, self.source_hull(), |d| d.source),
            side(self.destination, self.destination_hull(), |d| d.destination),
        )
    }

    /// The largest power of two that divides every offset, stride and run, up to 16.
    pub fn unit(&self) -> u64 {
        let all = self.dims.iter().fold(self.source | self.destination | self.run, |a, d| a | d.source | d.destination);
        1 << all.trailing_zeros().min(4)
    }

    /// Calls `each(source offset, destination offset, length)` for the contiguous pieces of packed positions
    /// `from..to`.
    pub fn for_each_run(&self, from: u64, to: u64, mut each: impl FnMut(u64, u64, u64)) {
        let to = to.min(self.bytes());
        if from >= to {
            return;
        }
        let mut at = from;
        let mut index: SmallVec<[u64; 4]> = SmallVec::from_elem(0, self.dims.len());
        let (mut source, mut destination) = (self.source, self.destination);
        let mut rest = from / self.run;
        for (i, dim) in index.iter_mut().zip(&self.dims).rev() {
            *i = rest % dim.count;
            rest /= dim.count;
            source += *i * dim.source;
            destination += *i * dim.destination;
        }
        let mut within = from % self.run;
        while at < to {
            let length = (self.run - within).min(to - at);
            each(source + within, destination + within, length);
            at += length;
            within = 0;
            for (i, dim) in index.iter_mut().zip(&self.dims).rev() {
                *i += 1;
                source += dim.source;
                destination += dim.destination;
                if *i < dim.count {
                    break;
                }
                *i = 0;
                source -= dim.source * dim.count;
                destination -= dim.destination * dim.count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packed_boxes_become_one_run() {
        let a = Layout::packed(8, 4, &[3, 5, 7]);
        let plan = CopyPlan::new(&a, &Layout::packed(0, 4, &[3, 5, 7])).unwrap();
        assert_eq!(plan, CopyPlan::linear(8, 0, 3 * 5 * 7 * 4));
        assert!(a.is_packed());
    }

    #[test]
    fn a_column_block_keeps_its_rows() {
        let whole = Layout::packed(0, 4, &[8, 16]);
        let block = whole.section(&[1, 4], &[6, 3]);
        assert_eq!(block.hull(), (16 + 4) * 4..(6 * 16 + 7) * 4);
        assert!(!block.is_packed());
        let plan = CopyPlan::new(&block, &Layout::packed(0, 4, &[6, 3])).unwrap();
        assert_eq!((plan.run, plan.runs(), plan.bytes()), (12, 6, 72));
    }

    #[test]
    fn errors_name_differing_extents_and_element_sizes() {
        let a = Layout::packed(0, 4, &[2, 3]);
        let e = CopyPlan::new(&a, &Layout::packed(0, 4, &[3, 2])).unwrap_err();
        assert!(e.message.contains("[2, 3]") && e.message.contains("[3, 2]"), "{e}");
        let e = CopyPlan::new(&a, &Layout::packed(0, 8, &[2, 3])).unwrap_err();
        assert!(e.message.contains('4') && e.message.contains('8'), "{e}");
    }

    #[test]
    fn units_follow_alignment() {
        assert_eq!(CopyPlan::linear(16, 32, 64).unit(), 16);
        assert_eq!(CopyPlan::linear(8, 32, 64).unit(), 8);
        assert_eq!(CopyPlan::linear(4, 32, 68).unit(), 4);
    }

    fn boxes() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, Vec<u64>)> {
        proptest::collection::vec((1u64..6).prop_flat_map(|n| (Just(n), 1..=n)), 1..5).prop_flat_map(|dims| {
            let whole: Vec<u64> = dims.iter().map(|d| d.0).collect();
            let part: Vec<u64> = dims.iter().map(|d| d.1).collect();
            let origin: Vec<_> = dims.iter().map(|&(n, e)| 0..=(n - e)).collect();
            (Just(whole), Just(part), origin)
        })
    }

    proptest! {
        /// The pieces of a plan, and its two plans through packed memory, visit the same bytes in the same order as the plan.
        #[test]
        fn pieces_and_plans_through_packed_memory_visit_the_same_bytes((whole, part, origin) in boxes(), most in 1u64..200) {
            let section = Layout::packed(8, 4, &whole).section(&origin, &part);
            let plan = CopyPlan::new(&section, &Layout::packed(4, 4, &part)).unwrap();
            let visited = |p: &CopyPlan| {
                let mut seen = Vec::new();
                p.for_each_run(0, p.bytes(), |s, d, n| (0..n).step_by(4).for_each(|k| seen.push((s + k, d + k))));
                seen
            };
            let direct = visited(&plan);
            prop_assert_eq!(&plan.pieces(most * 4).iter().flat_map(visited).collect::<Vec<_>>(), &direct);
            let (down, up) = plan.through_packed();
            prop_assert_eq!(up.is_linear(), true);
            let hop: Vec<_> = visited(&down).into_iter().zip(visited(&up)).map(|((s, k), (l, d))| { assert_eq!(k, l); (s, d) }).collect();
            prop_assert_eq!(&hop, &direct);
        }

        /// The hulls of a piece begin with its first run and end with its last run.
        #[test]
        fn hulls_of_a_piece_end_where_its_runs_do((whole, part, origin) in boxes(), from in 0u64..100, bytes in 1u64..100) {
            let section = Layout::packed(8, 4, &whole).section(&origin, &part);
            let plan = CopyPlan::new(&section, &Layout::packed(4, 4, &part)).unwrap();
            let from = from * 4 % plan.bytes();
            let to = (from + bytes * 4).min(plan.bytes());
            let mut runs = Vec::new();
            plan.for_each_run(from, to, |s, d, n| runs.push((s..s + n, d..d + n)));
            let (first, last) = (runs[0].clone(), runs[runs.len() - 1].clone());
            let (source, destination) = (first.0.start..last.0.end, first.1.start..last.1.end);
            prop_assert_eq!(plan.hulls(&(from..to)), (source, destination));
        }

        /// The pieces of a plan, cut at any distance, visit exactly the elements of the copied section, in row-major
        /// order.
        #[test]
        fn cuts_visit_every_element_once((whole, part, origin) in boxes(), cut in 1u64..40) {
            let outer = Layout::packed(4, 4, &whole);
            let section = outer.section(&origin, &part);
            let plan = CopyPlan::new(&section, &Layout::packed(0, 4, &part)).unwrap();
            prop_assert_eq!(plan.bytes(), section.bytes());
            prop_assert_eq!(plan.source_hull(), section.hull());
            let mut seen = Vec::new();
            let mut at = 0;
            while at < plan.bytes() {
                plan.for_each_run(at, at + cut * 4, |s, d, n| {
                    for k in (0..n).step_by(4) { seen.push((s + k, d + k)); }
                });
                at += cut * 4;
            }
            let mut expected = Vec::new();
            let mut index = vec![0u64; part.len()];
            for e in 0..section.elements() {
                let mut rest = e;
                for d in (0..part.len()).rev() { index[d] = rest % part[d]; rest /= part[d]; }
                let at: u64 = outer.dims.iter().zip(index.iter().zip(&origin)).map(|(d, (i, o))| d.1 * (i + o)).sum();
                expected.push((4 + at, e * 4));
            }
            prop_assert_eq!(seen, expected);
        }
    }
}
