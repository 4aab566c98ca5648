//! copy and copy_async (digest section 6.2): between host memory, arrays and sections, on and across accelerators.

use super::accelerator_view::AcceleratorView;
use super::array::{Array, checked_bytes, checked_extent};
use super::completion::{Completion, HostOperation};
use crate::device::hazard::Point;
use crate::device::host::{HostBlock, Workers, memory};
use crate::device::layout::{CopyPlan, Layout};
use crate::device::{Access, Direction, HostSpan};
use crate::error::{Error, Result};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that pass through the host at once between two devices.
const HOP: u64 = 32 << 20;
/// Uploads of at most so many bytes are taken over during the call of copy_async.
const AT_ONCE: u64 = 256 << 10;

/// The shape of host memory.
pub struct HostBox {
    layout: Layout,
}

impl HostBox {
    /// A box of `extent` elements of `element` bytes with these byte strides, or without gaps.
    pub fn new(extent: &[i32], element: u64, strides: Option<&[i64]>) -> Result<Self> {
        let sizes = checked_extent(extent, "host memory")?;
        if element == 0 {
            return Err(Error::runtime("the element size of the host memory is 0"));
        }
        checked_bytes(&sizes, element)?;
        let mut layout = Layout::packed(0, element, &sizes);
        if let Some(strides) = strides {
            let mut span = element;
            for ((dim, &stride), &size) in layout.dims.iter_mut().zip(strides).zip(&sizes) {
                dim.1 = u64::try_from(stride)
                    .map_err(|_| Error::runtime(format!("the host strides {strides:?} are not all positive")))?;
                span = (size - 1)
                    .checked_mul(dim.1)
                    .and_then(|s| s.checked_add(span))
                    .filter(|&s| s <= i64::MAX as u64)
                    .ok_or_else(|| Error::runtime(format!("the host strides {strides:?} span more than 2^63 bytes")))?;
            }
        }
        Ok(Self { layout })
    }

    /// Memory without gaps for the elements of `array`.
    pub fn packed_like(array: &Array) -> Self {
        Self { layout: array.layout().clone() }
    }

    /// Where the elements lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// One side of a copy, or a section bound to a kernel.
#[derive(Clone)]
pub enum Side {
    /// Host memory.
    Host(HostSpan, Layout),
    /// An array or a section of it.
    Array(Arc<Array>, Layout),
}

impl Side {
    /// Host memory of a shape.
    pub fn host(span: HostSpan, shape: HostBox) -> Self {
        Self::Host(span, shape.layout)
    }

    /// All of an array.
    pub fn whole(array: Arc<Array>) -> Self {
        let layout = array.layout().clone();
        Self::Array(array, layout)
    }

    /// A section: `origin` defaults to zeros, `extent` to the rest of the array.
    pub fn section(array: Arc<Array>, origin: Option<&[i32]>, extent: Option<&[i32]>) -> Result<Self> {
        if origin.is_none() && extent.is_none() {
            return Ok(Self::whole(array));
        }
        let rank = array.extent().len();
        let mut from: SmallVec<[u64; 4]> = SmallVec::with_capacity(rank);
        let mut size: SmallVec<[u64; 4]> = SmallVec::with_capacity(rank);
        for (d, &all) in array.extent().iter().enumerate() {
            let start = origin.map_or(0, |o| o[d]);
            let count = extent.map_or(all.saturating_sub(start), |e| e[d]);
            if start < 0 || count <= 0 || i64::from(start) + i64::from(count) > i64::from(all) {
                return Err(Error::runtime(format!(
                    "the section does not lie in the array: in dimension {d} it begins at {start} and has {count} \
                     elements; the array has {all} there, and a section needs at least 1"
                )));
            }
            from.push(start as u64);
            size.push(count as u64);
        }
        let layout = array.layout().section(&from, &size);
        Ok(Self::Array(array, layout))
    }

    fn layout(&self) -> &Layout {
        match self {
            Self::Host(_, l) | Self::Array(_, l) => l,
        }
    }

    /// Waits until no asynchronous copy of the host conflicts.
    pub(super) fn settle(&self, access: Access) -> Result<()> {
        match self {
            Self::Host(..) => Ok(()),
            Self::Array(a, l) => a.pending().wait(&l.hull(), access),
        }
    }

    fn view(&self) -> Option<&Arc<AcceleratorView>> {
        match self {
            Self::Host(..) => None,
            Self::Array(a, _) => Some(a.copy_view()),
        }
    }
}

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

/// Checks the pair and plans its loops.
fn plan(source: &Side, destination: &Side) -> Result<CopyPlan> {
    if let (Side::Array(a, l), Side::Array(b, m)) = (source, destination)
        && Arc::ptr_eq(a, b)
        && overlap(l, m, a.layout())
    {
        return Err(Error::runtime("source and destination of the copy are overlapping sections of one array"));
    }
    if let Side::Host(_, layout) = destination
        && !apart(layout)
    {
        return Err(Error::runtime(format!(
            "the strides {:?} of the destination in host memory make elements overlap",
            layout.dims.iter().map(|d| d.1).collect::<Vec<_>>()
        )));
    }
    CopyPlan::new(source.layout(), destination.layout())
}

/// True if no two elements share a byte: each dimension steps over all that the finer ones span.
fn apart(layout: &Layout) -> bool {
    let mut dims: SmallVec<[(u64, u64); 4]> = layout.dims.iter().filter(|d| d.0 > 1).copied().collect();
    dims.sort_unstable_by_key(|d| d.1);
    let mut span = layout.element;
    dims.iter().all(|&(count, stride)| {
        let apart = stride >= span;
        span += (count - 1) * stride;
        apart
    })
}

/// Copies, and returns when it is done.
pub fn copy(source: Side, destination: Side) -> Result<()> {
    let plan = plan(&source, &destination)?;
    source.settle(Access::Read)?;
    destination.settle(Access::Write)?;
    for point in run(&source, &destination, &plan)? {
        point.wait(None)?;
    }
    Ok(())
}

/// Begins a copy. Later uses of the arrays are ordered behind it.
pub fn copy_async(source: Side, destination: Side) -> Result<Arc<Completion>> {
    let plan = plan(&source, &destination)?;
    let within = match (&source, &destination) {
        // Nothing but commands for the device.
        (Side::Array(a, _), Side::Array(b, _)) => a.device().id() == b.device().id(),
        // Host memory that is taken over at once.
        (Side::Host(..), Side::Array(b, _)) => b.buffer().host().is_none() && plan.bytes() <= AT_ONCE,
        _ => false,
    };
    let views: SmallVec<[Arc<AcceleratorView>; 2]> =
        [&source, &destination].into_iter().filter_map(|s| s.view().cloned()).collect();
    if within {
        source.settle(Access::Read)?;
        destination.settle(Access::Write)?;
        let points = run(&source, &destination, &plan)?;
        return Ok(Completion::of(points.into_vec()));
    }
    let operation = HostOperation::new();
    let point = operation.point();
    // Behind what is under way, before what comes later.
    let mut before: SmallVec<[Point; 4]> = SmallVec::new();
    for (side, access) in [(&source, Access::Read), (&destination, Access::Write)] {
        if let Side::Array(a, l) = side {
            let mut pending = a.pending().lock();
            pending.conflicts(&l.hull(), access, |p| before.push(p.clone()));
            pending.record(&l.hull(), access, &point);
        }
    }
    for view in &views {
        view.attach([point.clone()]);
    }
    Workers::shared().tasks.spawn(move || {
        let done = Finisher(Some(operation));
        for p in before {
            // That it failed is for whoever waits for it; this copy goes on.
            let _ = p.wait(None);
        }
        let result = run(&source, &destination, &plan)
            .and_then(|points| points.into_iter().try_for_each(|p| p.wait(None).map(drop)));
        done.finish(result);
    });
    Ok(Completion::of(vec![point]))
}

/// Ends an operation also when its task panics.
struct Finisher(Option<Arc<HostOperation>>);

impl Finisher {
    fn finish(mut self, result: Result<()>) {
        if let Some(operation) = self.0.take() {
            operation.finish(result);
        }
    }
}

impl Drop for Finisher {
    fn drop(&mut self) {
        if let Some(operation) = self.0.take() {
            operation.finish(Err(Error::internal("an asynchronous copy panicked; please report it")));
        }
    }
}

/// Does or begins the copy; it is done when the points are reached.
fn run(source: &Side, destination: &Side, plan: &CopyPlan) -> Result<SmallVec<[Point; 2]>> {
    match (source, destination) {
        (Side::Host(from, _), Side::Host(to, _)) => {
            memory::copy_parallel(&Workers::shared().pool, plan, *from, *to)?;
            Ok(SmallVec::new())
        }
        (Side::Host(from, _), Side::Array(array, _)) => transfer(Direction::Upload, *from, array, plan),
        (Side::Array(array, _), Side::Host(to, _)) => transfer(Direction::Download, *to, array, plan),
        (Side::Array(a, _), Side::Array(b, _)) => between(a, b, plan),
    }
}

fn transfer(direction: Direction, host: HostSpan, array: &Array, plan: &CopyPlan) -> Result<SmallVec<[Point; 2]>> {
    let view = array.copy_view();
    let points = array.device().transfer(direction, host, array.buffer(), plan, &**view.queue())?;
    view.attach(points.iter().cloned());
    Ok(points)
}

fn between(a: &Arc<Array>, b: &Arc<Array>, plan: &CopyPlan) -> Result<SmallVec<[Point; 2]>> {
    if a.device().id() == b.device().id() {
        // The queue of the side that really lives on the device.
        let view = if b.is_staging() && !a.is_staging() { a.copy_view() } else { b.copy_view() };
        let point = view.queue().copy(a.buffer(), b.buffer(), plan)?;
        a.copy_view().attach([point.clone()]);
        b.copy_view().attach([point.clone()]);
        return Ok(SmallVec::from_iter([point]));
    }
    // A side the host addresses is host memory to the other's device.
    if let Some(from) = a.buffer().host() {
        a.buffer().tracker().wait(&plan.source_hull(), Access::Read)?;
        return transfer(Direction::Upload, from, b, plan);
    }
    if let Some(to) = b.buffer().host() {
        b.buffer().tracker().wait(&plan.destination_hull(), Access::Write)?;
        return transfer(Direction::Download, to, a, plan);
    }
    let mut points = SmallVec::new();
    for piece in plan.pieces(HOP) {
        let bytes = piece.bytes();
        let block = HostBlock::new(bytes)?;
        let (down, up) = piece.through_packed();
        transfer(Direction::Download, block.span(), a, &down)?;
        points = transfer(Direction::Upload, block.span(), b, &up)?;
    }
    Ok(points)
}

/// The bytes a section spans in its buffer, and its array.
pub(super) fn hull(side: &Side) -> Result<(&Arc<Array>, Range<u64>)> {
    match side {
        Side::Array(array, layout) => Ok((array, layout.hull())),
        Side::Host(..) => Err(Error::internal("host memory where an array was needed")),
    }
}
