//! copy and copy_async (docs/spec/copies.md): between host memory, arrays, sections and array_views, on and across
//! accelerators.

use crate::coherence::Location;
use crate::coherence::selection::copy_source;
use crate::device::hazard::{Point, Tracker, any_lost};
use crate::error::{Error, Result};
use crate::geometry::{CopyPlan, Layout, Region};
use crate::host::HostSpan;
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::array_view::Part;
use crate::runtime::data::extents::{checked_bytes, checked_extent, section_of};
use crate::runtime::data::source::{Source, State};
use crate::runtime::data::transfer::{Memory, Tally, run};
use crate::runtime::launch::arguments::{Held, Sources, settle};
use crate::runtime::operations::completion::{Completion, begin};
use crate::runtime::race::{self, Elements, Using};
use crate::trace::transfers::Call;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

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

/// One side of a copy, or an argument of a launch.
#[derive(Clone)]
pub enum Side {
    /// Host memory.
    Host(HostSpan, Layout),
    /// An array or a section of it.
    Array(Arc<Array>, Layout),
    /// An array_view.
    View(Arc<Part>),
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
        let (from, size) = section_of(array.extent(), origin, extent, || "array".to_owned())?;
        let layout = array.layout().section(&from, &size);
        Ok(Self::Array(array, layout))
    }

    /// Where the elements lie in the memory, the array or the data source.
    pub(in crate::runtime) fn layout(&self) -> &Layout {
        match self {
            Self::Host(_, l) | Self::Array(_, l) => l,
            Self::View(part) => part.layout(),
        }
    }

    /// Its elements, for the race check; none of host memory.
    pub(in crate::runtime) fn elements(&self) -> Option<Elements> {
        match self {
            Self::Host(..) => None,
            Self::Array(a, l) => Some(Elements { key: a.buffer().id(), region: l.region() }),
            Self::View(p) => Some(p.elements()),
        }
    }

    /// The operations of the host that are under way on it, and its bytes there.
    fn claim(&self) -> Option<(&Tracker, Range<u64>)> {
        match self {
            Self::Host(..) => None,
            Self::Array(a, l) => Some((a.pending(), l.hull())),
            Self::View(part) => Some((part.source().pending(), part.region().hull())),
        }
    }

    /// The accelerator_view whose `wait` covers copies of it.
    fn view(&self) -> Option<&Arc<AcceleratorView>> {
        match self {
            Self::Host(..) => None,
            Self::Array(a, _) => Some(a.copy_view()),
            Self::View(part) => part.source().array().map(|a| a.copy_view()),
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
    let overlaps = match (source, destination) {
        (Side::Array(a, l), Side::Array(b, m)) => Arc::ptr_eq(a, b) && overlap(l, m, a.layout()),
        (Side::View(a), Side::View(b)) => a.source().id() == b.source().id() && a.region().overlaps(b.region()),
        (Side::View(v), Side::Array(a, l)) | (Side::Array(a, l), Side::View(v)) => {
            let region = l.region();
            v.source().array().is_some_and(|own| Arc::ptr_eq(own, a.storage())) && v.region().overlaps(&region)
        }
        _ => false,
    };
    if overlaps {
        return Err(Error::runtime("source and destination of the copy overlap: they have elements in common"));
    }
    if let Side::View(part) = destination {
        part.check(Access::Write).map_err(|e| e.context("the destination"))?;
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

fn uses_of(source: &Side, destination: &Side, call: Call) -> Using {
    let both = [(source, Access::Read), (destination, Access::Write)].into_iter();
    race::uses(call.name, both.filter_map(|(side, access)| Some((side.elements()?, access))))
}

/// Copies, and returns when it is done. `call` asked for it.
pub fn copy(source: Side, destination: Side, call: Call) -> Result<()> {
    let plan = plan(&source, &destination)?;
    let _using = uses_of(&source, &destination, call);
    settle(&source, Access::Read)?;
    settle(&destination, Access::Write)?;
    for point in perform(&source, &destination, plan, call)? {
        point.wait(None)?;
    }
    Ok(())
}

/// Begins a copy. Later uses of the arrays and views are ordered behind it.
pub fn copy_async(source: Side, destination: Side, call: Call) -> Result<Arc<Completion>> {
    let plan = plan(&source, &destination)?;
    let using = uses_of(&source, &destination, call);
    let within = match (&source, &destination) {
        // Nothing but commands for the device.
        (Side::Array(a, _), Side::Array(b, _)) => a.device().id() == b.device().id(),
        // Host memory that is taken over at once.
        (Side::Host(..), Side::Array(b, _)) => b.buffer().host().is_none() && plan.bytes() <= AT_ONCE,
        _ => false,
    };
    if within {
        settle(&source, Access::Read)?;
        settle(&destination, Access::Write)?;
        let made = Completion::of(perform(&source, &destination, plan, call)?.into_vec());
        made.uses(using);
        return Ok(made);
    }
    take_back(&source, &destination);
    let (from, to) = (source.clone(), destination.clone());
    let views: SmallVec<[Arc<AcceleratorView>; 2]> =
        [&from, &to].into_iter().filter_map(|s| s.view().cloned()).collect();
    let claims: SmallVec<[(&Tracker, Range<u64>, Access); 2]> = [(&from, Access::Read), (&to, Access::Write)]
        .into_iter()
        .filter_map(|(side, access)| side.claim().map(|(tracker, range)| (tracker, range, access)))
        .collect();
    let task = move || {
        let points = perform(&source, &destination, plan, call)?;
        points.into_iter().try_for_each(|p| p.wait(None).map(drop))
    };
    let made = begin(&claims, |point| views.iter().for_each(|v| v.attach([point.clone()])), task);
    made.uses(using);
    Ok(made)
}

/// The host may no longer use the destination, nor write the source, without asking. No lock may be held.
fn take_back(source: &Side, destination: &Side) {
    for (side, access) in [(source, Access::Read), (destination, Access::Write)] {
        match side {
            Side::Host(..) => {}
            Side::Array(array, l) => {
                if let Some(views) = array.source() {
                    views.words().take_back(&l.region(), access);
                }
            }
            Side::View(part) => part.source().words().take_back(part.region(), access),
        }
    }
}

/// A side as memory: the first byte of what it stands for lies so many bytes before the memory's.
type Found = (Memory, u64);

/// Does or begins the copy; it is done when the points are reached.
fn perform(source: &Side, destination: &Side, mut plan: CopyPlan, call: Call) -> Result<SmallVec<[Point; 2]>> {
    let sources = Sources::of([source, destination].into_iter());
    let begin = (plan.source, plan.destination);
    sources.attempt(|held| {
        (plan.source, plan.destination) = begin;
        perform_with(held, source, destination, &mut plan, call)
    })
}

fn perform_with(
    held: &mut Held<'_>,
    source: &Side,
    destination: &Side,
    plan: &mut CopyPlan,
    call: Call,
) -> Result<SmallVec<[Point; 2]>> {
    for (side, access) in [(source, Access::Read), (destination, Access::Write)] {
        if let Side::View(part) = side {
            part.source().words().take_back(part.region(), access);
        }
    }
    let mut tally = Tally::of(call);
    for (n, side) in [source, destination].into_iter().enumerate() {
        if let Side::View(part) = side {
            tally.source = part.source().id();
            tally.accounts[n] = Some(part.counters());
            // Two views of one source are one account there.
            let both = matches!(source, Side::View(other) if n == 1 && other.source().id() == part.source().id());
            tally.accounts[2 + n] = Some(part.source().counters()).filter(|_| !both);
        }
    }
    // Storage that is made now is made where the other side is.
    let (to, to_base) = find_destination(source, destination, held, call)?;
    let (from, from_base) = find_source(source, destination, held, tally)?;
    plan.source -= from_base;
    plan.destination -= to_base;
    let points = run(&from, &to, plan, tally)?;
    match destination {
        Side::View(part) => {
            let state = held.state(part)?;
            let place = state.home_place(None)?;
            part.renewed(state, &place, Access::Write);
        }
        Side::Array(array, l) => {
            held.wrote_array(array, l)?;
            if !any_lost() {
                return Ok(points);
            }
            array.buffer().tracker().renewed(l.region().ranges());
        }
        _ => {}
    }
    Ok(points)
}

/// SEL-20, SEL-21.
fn find_destination(source: &Side, destination: &Side, held: &mut Held<'_>, call: Call) -> Result<Found> {
    match destination {
        Side::Host(span, _) => Ok((Memory::Host(*span), 0)),
        Side::Array(array, layout) => {
            held.use_array(array, layout, Access::Write, call)?;
            Ok((Memory::of(array), 0))
        }
        Side::View(part) => {
            let first = lives(source, held)?;
            let state = held.state(part)?;
            let place = state.home_place(first.as_ref())?;
            state.directory.make_room(part.region())?;
            state.copy_memory(&place, &part.region().hull(), Access::Write)
        }
    }
}

/// The accelerator_view a side lives on; `None`: the host, or nowhere yet.
fn lives(side: &Side, held: &mut Held<'_>) -> Result<Option<Arc<AcceleratorView>>> {
    Ok(match side {
        Side::Host(..) => None,
        Side::Array(array, _) => Some(array.view().clone()),
        Side::View(part) => held.state(part)?.home_view(),
    })
}

/// SEL-22 to SEL-24.
fn find_source(source: &Side, destination: &Side, held: &mut Held<'_>, tally: Tally<'_>) -> Result<Found> {
    let part = match source {
        Side::Host(span, _) => return Ok((Memory::Host(*span), 0)),
        Side::Array(array, layout) => {
            held.use_array(array, layout, Access::Read, tally.call)?;
            return Ok((Memory::of(array), 0));
        }
        Side::View(part) => part,
    };
    let there = lives(destination, held)?;
    let state = held.state(part)?;
    let hull = part.region().hull();
    let home = state.home_place(there.as_ref())?;
    let valid_at = state.directory.valid_at(part.region());
    // What is worthless everywhere may lie anywhere: home has memory.
    let Some(valid_at) = valid_at else { return state.copy_memory(&home, &hull, Access::Read) };
    let destination = reachable(state, part, there.as_ref())?;
    let host = reachable(state, part, None)?;
    let place = match copy_source(Some(&valid_at), destination, host) {
        Some(location) => state.known(location),
        None => home,
    };
    state.reserve(&place, &hull)?;
    state.fetch(part.region(), &place, tally)?;
    state.copy_memory(&place, &hull, Access::Read)
}

/// The location of an accelerator_view or the host, if the part can be read there without a transfer.
fn reachable(state: &mut State, part: &Part, view: Option<&Arc<AcceleratorView>>) -> Result<Option<Location>> {
    let place = state.place(view)?;
    let is_free = state.directory.missing(part.region(), place.location)?.is_empty();
    if is_free {
        state.directory.make_room(part.region())?;
        state.directory.holds(part.region(), place.location);
    }
    Ok(is_free.then_some(place.location))
}
