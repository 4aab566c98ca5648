//! Checks of the operands of a copy.

use crate::error::{Error, Result};
use crate::geometry::{CopyPlan, Layout};
use crate::kernel::Access;
use crate::runtime::data::operand::Operand;
use smallvec::SmallVec;
use std::sync::Arc;

/// True if two sections of one array have an element in common.
fn overlap(a: &Layout, b: &Layout, whole: &Layout) -> bool {
    let start = |l: &Layout| {
        let mut rest = l.offset;
        whole.dims.iter().map(move |&(_, stride)| {
            let at = rest / stride;
            rest %= stride;
            at
        })
    };
    start(a).zip(&a.dims).zip(start(b).zip(&b.dims)).all(|((x, (nx, _)), (y, (ny, _)))| x < y + ny && y < x + nx)
}

/// Checks the operands and plans the loops of the copy.
pub(in crate::runtime) fn plan(source: &Operand, destination: &Operand) -> Result<CopyPlan> {
    let overlaps = match (source, destination) {
        (Operand::Array(a, l), Operand::Array(b, m)) => Arc::ptr_eq(a, b) && overlap(l, m, a.layout()),
        (Operand::View(a), Operand::View(b)) => a.source().id() == b.source().id() && a.region().overlaps(b.region()),
        (Operand::View(v), Operand::Array(a, l)) | (Operand::Array(a, l), Operand::View(v)) => {
            let region = l.region();
            v.source().array().is_some_and(|source_array| Arc::ptr_eq(source_array, a.storage()))
                && v.region().overlaps(&region)
        }
        _ => false,
    };
    if overlaps {
        return Err(Error::runtime("source and destination of the copy overlap; copy through another array"));
    }
    if let Operand::View(part) = destination {
        part.check(Access::Write).map_err(|e| e.context("the destination"))?;
    }
    if let Operand::Host(_, layout) = destination {
        if !are_disjoint(layout) {
            return Err(Error::runtime(format!(
                "the strides {:?} of the destination in host memory make elements overlap; pass larger strides",
                layout.dims.iter().map(|d| d.1).collect::<Vec<_>>()
            )));
        }
    }
    CopyPlan::new(source.layout(), destination.layout())
}

/// True if no two elements share a byte: the stride of each dimension is at least the span of the dimensions with smaller strides.
fn are_disjoint(layout: &Layout) -> bool {
    let mut dims: SmallVec<[(u64, u64); 4]> = layout.dims.iter().filter(|d| d.0 > 1).copied().collect();
    dims.sort_unstable_by_key(|d| d.1);
    let mut span = layout.element;
    dims.iter().all(|&(count, stride)| {
        let are_disjoint = stride >= span;
        span += (count - 1) * stride;
        are_disjoint
    })
}
