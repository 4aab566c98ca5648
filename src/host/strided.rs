//! Copies of strided boxes within host memory: the loops of a [`CopyPlan`], on one thread or several.
//!
//! The *sides* of a copy are its source and its destination. The *hull* of a side is the range from the first to the last byte that
//! the copy accesses there. The hulls are checked against the memory spans first, so a wrong plan is an error and never an access
//! outside the spans. A *packed position* counts the bytes of a plan in the order of its loops.
#![allow(unsafe_code)]

use super::memory::{HostBlock, HostSpan};
use super::pool::ThreadPool;
use super::stream;
use crate::error::{Error, Result};
use crate::geometry::CopyPlan;
use crate::lock::{Mutex, rank};
use smallvec::SmallVec;
use std::ops::Range;

/// Copies up to this size run on one thread, because waking other threads costs more than they save.
pub const PARALLEL_BYTES: u64 = 1 << 20;
/// Linear copies of this size and more bypass the caches.
const STREAM_BYTES: u64 = 32 << 20;
/// The smallest piece of a split copy, in bytes.
const PIECE_BYTES: u64 = 256 << 10;

/// One loop of a plan: count, source stride, destination stride.
#[derive(Clone, Copy)]
struct Loop {
    count: u64,
    source: u64,
    destination: u64,
}

/// A plan with the addresses of its source and destination. The hulls have been checked.
struct AddressedPlan {
    /// The outermost loop first.
    loops: SmallVec<[Loop; 4]>,
    run: u64,
    source: *const u8,
    destination: *mut u8,
}

/// The hull of one side; `None` if it exceeds 64 bits.
fn hull(offset: u64, run: u64, loops: impl Iterator<Item = (u64, u64)>) -> Option<Range<u64>> {
    let mut end = offset.checked_add(run)?;
    for (count, stride) in loops {
        end = end.checked_add(count.checked_sub(1)?.checked_mul(stride)?)?;
    }
    Some(offset..end)
}

fn check(side: &str, hull: Option<Range<u64>>, span: HostSpan) -> Result<Range<u64>> {
    match hull {
        Some(hull) if hull.end <= span.len() => Ok(hull),
        Some(hull) => Err(Error::invalid(format!(
            "the {side} of a copy covers bytes {} to {}, but its memory has {} bytes; pass a smaller extent or more \
             memory",
            hull.start,
            hull.end,
            span.len()
        ))),
        None => Err(Error::invalid(format!("a copy's {side} is larger than 64 bits can count"))),
    }
}

/// Bytes the plan moves; 0 if a loop has no iterations.
fn bytes_of(plan: &CopyPlan) -> Result<u64> {
    let product = plan.dims.iter().try_fold(plan.run, |a, d| a.checked_mul(d.count));
    product.ok_or_else(|| Error::invalid("a copy moves more bytes than 64 bits can count"))
}

fn source_hull(plan: &CopyPlan, span: HostSpan) -> Result<Range<u64>> {
    check("source", hull(plan.source, plan.run, plan.dims.iter().map(|d| (d.count, d.source))), span)
}

fn destination_hull(plan: &CopyPlan, span: HostSpan) -> Result<Range<u64>> {
    check("destination", hull(plan.destination, plan.run, plan.dims.iter().map(|d| (d.count, d.destination))), span)
}

/// The hulls of the source and of the destination. Fails if a hull exceeds its span.
pub fn check_plan(plan: &CopyPlan, source: HostSpan, destination: HostSpan) -> Result<(Range<u64>, Range<u64>)> {
    if bytes_of(plan)? == 0 {
        return Ok((0..0, 0..0));
    }
    Ok((source_hull(plan, source)?, destination_hull(plan, destination)?))
}

/// True if the hulls overlap.
fn overlap(plan: &CopyPlan, source: HostSpan, destination: HostSpan) -> Result<bool> {
    let s = source_hull(plan, source)?;
    let d = destination_hull(plan, destination)?;
    let s = source.address() + s.start..source.address() + s.end;
    let d = destination.address() + d.start..destination.address() + d.end;
    Ok(s.start < d.end && d.start < s.end)
}

/// Moves the packed positions `from..to` of `plan`. If one call moves the whole plan, the sides may overlap, as for `memmove`.
/// A hull outside its span is an error. `to` may exceed the plan's end.
pub fn copy(plan: &CopyPlan, source: HostSpan, destination: HostSpan, from: u64, to: u64) -> Result<()> {
    let to = to.min(bytes_of(plan)?);
    if from >= to {
        return Ok(());
    }
    let overlaps = overlap(plan, source, destination)?;
    if plan.is_linear() && plan.run >= STREAM_BYTES && !overlaps {
        let (s, d) = ((plan.source + from) as usize, (plan.destination + from) as usize);
        // SAFETY: `overlap` checked both hulls against the spans, whose creators promised valid memory.
        unsafe { stream::copy(source.as_ptr().add(s), destination.as_ptr().add(d), (to - from) as usize) };
        return Ok(());
    }
    if overlaps && !plan.is_linear() {
        // An early write may overwrite a run that is read later, so the bytes go through a temporary block.
        let block = HostBlock::new(to - from)?;
        gather(plan, source, block.span(), from, to)?;
        return scatter(plan, block.span(), destination, from, to);
    }
    let addressed_plan = AddressedPlan {
        loops: plan
            .dims
            .iter()
            .map(|d| Loop { count: d.count, source: d.source, destination: d.destination })
            .collect(),
        run: plan.run,
        source: source.as_ptr().wrapping_add(plan.source as usize),
        destination: destination.as_ptr().wrapping_add(plan.destination as usize),
    };
    // SAFETY: `overlap` checked both hulls against the spans, whose creators promised valid memory. The sides overlap
    // only if the plan is linear.
    unsafe { addressed_plan.run(from, to) };
    Ok(())
}

/// Packs the positions `from..to` of the plan's source into `staging`, starting at byte 0 of `staging`.
pub fn gather(plan: &CopyPlan, source: HostSpan, staging: HostSpan, from: u64, to: u64) -> Result<()> {
    let to = to.min(bytes_of(plan)?);
    if from >= to {
        return Ok(());
    }
    source_hull(plan, source)?;
    fits_staging(staging, from, to)?;
    let mut addressed_plan = AddressedPlan {
        loops: plan.dims.iter().map(|d| Loop { count: d.count, source: d.source, destination: 0 }).collect(),
        run: plan.run,
        source: source.as_ptr().wrapping_add(plan.source as usize),
        // Packed position p lies at staging byte p - from.
        destination: staging.as_ptr().wrapping_sub(from as usize),
    };
    let mut stride = plan.run;
    for l in addressed_plan.loops.iter_mut().rev() {
        l.destination = stride;
        stride *= l.count;
    }
    // SAFETY: the source hull was checked. Only packed positions from..to are accessed, and `fits_staging` found them
    // inside the staging span. Staging memory belongs to the caller and overlaps no source.
    unsafe { addressed_plan.run(from, to) };
    Ok(())
}

/// Unpacks `staging`, starting at byte 0 of `staging`, to the positions `from..to` of the plan's destination.
pub fn scatter(plan: &CopyPlan, staging: HostSpan, destination: HostSpan, from: u64, to: u64) -> Result<()> {
    let to = to.min(bytes_of(plan)?);
    if from >= to {
        return Ok(());
    }
    destination_hull(plan, destination)?;
    fits_staging(staging, from, to)?;
    let mut addressed_plan = AddressedPlan {
        loops: plan.dims.iter().map(|d| Loop { count: d.count, source: 0, destination: d.destination }).collect(),
        run: plan.run,
        source: staging.as_ptr().wrapping_sub(from as usize),
        destination: destination.as_ptr().wrapping_add(plan.destination as usize),
    };
    let mut stride = plan.run;
    for l in addressed_plan.loops.iter_mut().rev() {
        l.source = stride;
        stride *= l.count;
    }
    // SAFETY: the destination hull was checked. Only packed positions from..to are accessed, and `fits_staging` found
    // them inside the staging span. Staging memory belongs to the caller and overlaps no destination.
    unsafe { addressed_plan.run(from, to) };
    Ok(())
}

fn fits_staging(staging: HostSpan, from: u64, to: u64) -> Result<()> {
    if to - from > staging.len() {
        return Err(Error::invalid(format!(
            "{} packed bytes do not fit into a staging block of {} bytes",
            to - from,
            staging.len()
        )));
    }
    Ok(())
}

/// The size of the pieces into which a copy of `bytes` packed bytes is split for the pool.
fn piece(plan: &CopyPlan, bytes: u64, threads: u64) -> u64 {
    let piece = bytes.div_ceil(threads * 4).max(PIECE_BYTES).next_multiple_of(4096);
    // If runs are short, pieces consist of whole runs, so that `words` can copy them.
    if plan.run < piece { piece - piece % plan.run } else { piece }
}

/// Runs `part(from, to)` on the pool for each piece of the plan, or once for the whole plan if it is small.
fn in_pieces(pool: &ThreadPool, plan: &CopyPlan, part: &(dyn Fn(u64, u64) -> Result<()> + Sync)) -> Result<()> {
    let bytes = bytes_of(plan)?;
    let threads = pool.threads() as u64;
    if bytes <= PARALLEL_BYTES || threads == 1 {
        return part(0, bytes);
    }
    let size = piece(plan, bytes, threads);
    let failure: Mutex<_, { rank::FAILURE }> = Mutex::new(None);
    pool.parallel(bytes.div_ceil(size), &|i| {
        if let Err(e) = part(i * size, ((i + 1) * size).min(bytes)) {
            failure.lock().get_or_insert(e);
        }
    })?;
    failure.into_inner().map_or(Ok(()), Err)
}

/// Copies all of `plan`, on the pool if it is larger than [`PARALLEL_BYTES`].
pub fn copy_parallel(pool: &ThreadPool, plan: &CopyPlan, source: HostSpan, destination: HostSpan) -> Result<()> {
    if bytes_of(plan)? == 0 {
        return Ok(());
    }
    if overlap(plan, source, destination)? {
        return copy(plan, source, destination, 0, u64::MAX);
    }
    in_pieces(pool, plan, &|from, to| copy(plan, source, destination, from, to))
}

/// [`gather`] of the whole plan, on the pool if it is large.
pub fn gather_parallel(pool: &ThreadPool, plan: &CopyPlan, source: HostSpan, staging: HostSpan) -> Result<()> {
    in_pieces(pool, plan, &|from, to| gather(plan, source, staging.sub(from..to)?, from, to))
}

/// [`scatter`] of the whole plan, on the pool if it is large.
pub fn scatter_parallel(pool: &ThreadPool, plan: &CopyPlan, staging: HostSpan, destination: HostSpan) -> Result<()> {
    in_pieces(pool, plan, &|from, to| scatter(plan, staging.sub(from..to)?, destination, from, to))
}

impl AddressedPlan {
    /// Moves packed positions `from..to`.
    ///
    /// # Safety
    /// `from < to`, and `to` is at most the bytes of the plan. Positions `from..to` are valid on both sides. The sides may
    /// overlap only if there are no loops.
    unsafe fn run(&self, from: u64, to: u64) {
        let (mut first, within) = (from / self.run, from % self.run);
        let (last, tail) = (to / self.run, to % self.run);
        if first == last {
            // SAFETY: the caller's promise, as for the pieces below.
            return unsafe { self.piece(first, within, tail) };
        }
        if within > 0 {
            // SAFETY: positions of run `first` from `from` on.
            unsafe { self.piece(first, within, self.run) };
            first += 1;
        }
        match self.loops.last() {
            None if first < last => {
                // SAFETY: without loops there is one run, and the caller asked for all of it.
                unsafe { self.piece(0, 0, self.run) }
            }
            None => {}
            // SAFETY: whole runs between `from` and `to`.
            Some(&inner) => unsafe { self.rows(first, last, inner) },
        }
        if tail > 0 {
            // SAFETY: positions of run `last` before `to`.
            unsafe { self.piece(last, 0, tail) };
        }
    }

    /// Byte offsets of a run on both sides.
    fn locate(&self, run: u64) -> (u64, u64) {
        let (mut rest, mut source, mut destination) = (run, 0, 0);
        for l in self.loops.iter().rev() {
            let i = rest % l.count;
            rest /= l.count;
            source += i * l.source;
            destination += i * l.destination;
        }
        (source, destination)
    }

    /// Moves bytes `from..to` of one run.
    ///
    /// # Safety
    /// As for [`AddressedPlan::run`].
    unsafe fn piece(&self, run: u64, from: u64, to: u64) {
        let (s, d) = self.locate(run);
        let source = self.source.wrapping_add((s + from) as usize);
        let destination = self.destination.wrapping_add((d + from) as usize);
        // SAFETY: the caller's promise. The sides of a linear plan may overlap, so `copy_nonoverlapping` would be wrong.
        unsafe { std::ptr::copy(source, destination, (to - from) as usize) }
    }

    /// Moves the runs `first..last`, each as a whole. `inner` is the innermost loop.
    ///
    /// # Safety
    /// As for [`AddressedPlan::run`]; the sides do not overlap.
    unsafe fn rows(&self, mut first: u64, last: u64, inner: Loop) {
        let outer = &self.loops[..self.loops.len() - 1];
        let mut index: SmallVec<[u64; 4]> = SmallVec::from_elem(0, outer.len());
        let mut rest = first / inner.count;
        let (mut s, mut d) = (0, 0);
        for (i, l) in index.iter_mut().zip(outer).rev() {
            *i = rest % l.count;
            rest /= l.count;
            s += *i * l.source;
            d += *i * l.destination;
        }
        let mut skip = first % inner.count;
        while first < last {
            let count = (inner.count - skip).min(last - first);
            let source = self.source.wrapping_add((s + skip * inner.source) as usize);
            let destination = self.destination.wrapping_add((d + skip * inner.destination) as usize);
            // SAFETY: runs skip..skip + count of this row are among the runs `first..last`.
            unsafe { row(source, destination, count, inner, self.run) };
            first += count;
            skip = 0;
            for (i, l) in index.iter_mut().zip(outer).rev() {
                *i += 1;
                s += l.source;
                d += l.destination;
                if *i < l.count {
                    break;
                }
                *i = 0;
                s -= l.source * l.count;
                d -= l.destination * l.count;
            }
        }
    }
}

/// Moves `count` runs of `run` bytes with the strides of `inner`.
///
/// # Safety
/// All runs are valid on both sides and the sides do not overlap.
unsafe fn row(source: *const u8, destination: *mut u8, count: u64, inner: Loop, run: u64) {
    // SAFETY: the caller's promise, for each width.
    unsafe {
        match run {
            1 => words::<1>(source, destination, count, inner),
            2 => words::<2>(source, destination, count, inner),
            4 => words::<4>(source, destination, count, inner),
            8 => words::<8>(source, destination, count, inner),
            12 => words::<12>(source, destination, count, inner),
            16 => words::<16>(source, destination, count, inner),
            32 => words::<32>(source, destination, count, inner),
            64 => words::<64>(source, destination, count, inner),
            _ => {
                let (mut s, mut d) = (source, destination);
                for _ in 0..count {
                    std::ptr::copy_nonoverlapping(s, d, run as usize);
                    s = s.wrapping_add(inner.source as usize);
                    d = d.wrapping_add(inner.destination as usize);
                }
            }
        }
    }
}

/// Moves `count` runs of N bytes. The constant width lets the compiler use register moves.
///
/// # Safety
/// As for [`row`].
unsafe fn words<const N: usize>(source: *const u8, destination: *mut u8, count: u64, inner: Loop) {
    let (mut s, mut d) = (source, destination);
    for _ in 0..count {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(s, d, N) };
        s = s.wrapping_add(inner.source as usize);
        d = d.wrapping_add(inner.destination as usize);
    }
}

#[cfg(test)]
#[path = "strided_tests.rs"]
mod tests;
