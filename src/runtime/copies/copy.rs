//! `copy` and `copy_async` (docs/spec/copies.md) between host memory, arrays, sections and array_views, on one accelerator or
//! between two.

use crate::device::TimerSlot;
use crate::device::hazard::{Point, Tracker, any_lost};
use crate::device::host::HostTimer;
use crate::error::Result;
use crate::geometry::CopyPlan;
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::copies::check::plan;
use crate::runtime::copies::memory::{find_destination, find_source};
use crate::runtime::data::locked::{LockedSources, Sources};
use crate::runtime::data::operand::Operand;
use crate::runtime::data::transfer::{CallerNext, Named, Tally, run};
use crate::runtime::operations::after::{After, AsyncOptions};
use crate::runtime::operations::begin::begin;
use crate::runtime::operations::completion::Completion;
use crate::runtime::race::{self, CallUses};
use crate::trace::events::{Object, Span, cause, caused_by};
use crate::trace::names::Name;
use crate::trace::transfers::Call;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Uploads of at most this many bytes read host memory during the call of `copy_async`.
const AT_ONCE_BYTES: u64 = 256 << 10;

fn uses_of(source: &Operand, destination: &Operand, call: Call, after: &After) -> CallUses {
    let both = [(source, Access::Read), (destination, Access::Write)].into_iter();
    let elements = both.filter_map(|(side, access)| Some((side.elements()?, access)));
    race::uses_after(call.name, elements, || after.completions())
}

/// Copies, and returns when the copy is done. `call`: the call of the program that requested the copy.
pub fn copy(source: Operand, destination: Operand, call: Call) -> Result<()> {
    let plan = plan(&source, &destination)?;
    let _span = Span::call(call, || traced(&source, &destination));
    let using = uses_of(&source, &destination, call, &After::default());
    source.wait_pending(Access::Read)?;
    destination.wait_pending(Access::Write)?;
    for point in perform(&source, &destination, plan, call, CallerNext::Wait, None)? {
        point.wait(None)?;
    }
    using.end_earlier();
    Ok(())
}

/// Begins a copy, which starts after the completions of `options`. Later uses of the arrays and views wait for the copy.
pub fn copy_async(source: Operand, destination: Operand, options: AsyncOptions, call: Call) -> Result<Arc<Completion>> {
    let plan = plan(&source, &destination)?;
    let _span = Span::call(call, || traced(&source, &destination));
    let using = uses_of(&source, &destination, call, &options.after);
    let is_timed = options.timer.is_some();
    if !is_timed && options.after.is_done() && completes_in_call(&source, &destination, plan.bytes())? {
        let made = Completion::of(perform(&source, &destination, plan, call, CallerNext::Other, None)?.into_vec());
        made.uses(using);
        return Ok(made);
    }
    source.revoke(Access::Read);
    destination.revoke(Access::Write);
    let (from, to) = (source.clone(), destination.clone());
    let views: SmallVec<[Arc<AcceleratorView>; 2]> =
        [&from, &to].into_iter().filter_map(|s| s.view().cloned()).collect();
    let claims: SmallVec<[(&Tracker, Range<u64>, Access); 2]> = [(&from, Access::Read), (&to, Access::Write)]
        .into_iter()
        .filter_map(|(side, access)| side.claim().map(|(tracker, range)| (tracker, range, access)))
        .collect();
    let timer = options.timer.clone();
    let cause = cause();
    let task = move || {
        let run = || {
            caused_by(cause, || {
                let points = perform(&source, &destination, plan, call, CallerNext::Other, timer.as_deref())?;
                points.into_iter().try_for_each(|p| p.wait(None).map(drop))
            })
        };
        let Some(slot) = &timer else { return run() };
        // `slot.set` has no effect if the device has timed the copy.
        let host_timer = Arc::new(HostTimer::default());
        host_timer.measure(run)?;
        let _ = slot.set(host_timer);
        Ok(())
    };
    let made = begin(&claims, options, AcceleratorView::attach_to(&views), task);
    made.uses(using);
    Ok(made)
}

/// The side of a copy that a trace names: an array_view rather than an array, and an array rather than host memory. If both sides are
/// of the same kind, the destination.
fn object<'a>(source: &'a Operand, destination: &'a Operand) -> &'a Operand {
    match (source, destination) {
        (Operand::View(_), Operand::Array(..)) | (_, Operand::Host(..)) => source,
        _ => destination,
    }
}

/// The named side of the copy, for traces. For a copy between two array_views, also the data source that the copy reads.
fn traced(source: &Operand, destination: &Operand) -> Object {
    let side = object(source, destination);
    let id = |side: &Operand| if let Operand::View(part) = side { part.source().id() } else { 0 };
    let read_source = if matches!(destination, Operand::View(_)) { id(source) } else { 0 };
    Object { read_source, ..Object::of(Name::of(&side.name()), id(side)) }
}

/// True if the copy is done, or recorded as device commands, when the call returns, so that no thread has to wait. False if operations
/// are pending, since they may begin only after completions that the caller sets later.
fn completes_in_call(source: &Operand, destination: &Operand, bytes: u64) -> Result<bool> {
    let device = |side: &Operand| match side {
        Operand::Host(..) => None,
        Operand::Array(array, _) => Some(array.device().id()),
        Operand::View(part) => part.source().array().map(|a| a.device().id()),
    };
    if source.is_pending(Access::Read) || destination.is_pending(Access::Write) {
        return Ok(false);
    }
    match (source, destination) {
        (Operand::Array(a, _), Operand::Array(b, _)) => Ok(a.device().id() == b.device().id()),
        // A small upload, which reads host memory during the call.
        (Operand::Host(..), Operand::Array(b, _)) => Ok(b.buffer().host().is_none() && bytes <= AT_ONCE_BYTES),
        (Operand::Host(..), _) | (_, Operand::Host(..)) => Ok(false),
        _ if device(source).is_none() || device(source) != device(destination) => Ok(false),
        // For array_views over arrays of one device: true if only home, not the host copy, has all bytes of the source.
        _ => match source {
            Operand::View(part) => part.source().lock().is_only_at_home(part.region()),
            _ => Ok(true),
        },
    }
}

/// Does or begins the copy. It is done when all returned points are reached.
fn perform(
    source: &Operand,
    destination: &Operand,
    mut plan: CopyPlan,
    call: Call,
    then: CallerNext,
    timer: Option<&TimerSlot>,
) -> Result<SmallVec<[Point; 2]>> {
    let sources = Sources::of([source, destination].into_iter());
    let begin = (plan.source, plan.destination);
    sources.attempt(|held| {
        (plan.source, plan.destination) = begin;
        perform_with(held, source, destination, &mut plan, call, then, timer)
    })
}

fn perform_with(
    held: &mut LockedSources<'_>,
    source: &Operand,
    destination: &Operand,
    plan: &mut CopyPlan,
    call: Call,
    then: CallerNext,
    timer: Option<&TimerSlot>,
) -> Result<SmallVec<[Point; 2]>> {
    for (side, access) in [(source, Access::Read), (destination, Access::Write)] {
        if let Operand::View(part) = side {
            part.source().host_access().revoke(part.region(), access);
        }
    }
    let mut tally = Tally::of(call);
    tally.object = Some(object(source, destination));
    for (n, side) in [source, destination].into_iter().enumerate() {
        if let Operand::View(part) = side {
            tally.source = part.source().id();
            tally.accounts[n] = Some(part.counters());
            // If both sides share a data source, its counters are used once.
            let both = matches!(source, Operand::View(other) if n == 1 && other.source().id() == part.source().id());
            tally.accounts[2 + n] = Some(part.source().counters()).filter(|_| !both);
        }
    }
    // A data source without storage gets its storage where the other side of the copy is.
    let (to, to_base) = find_destination(source, destination, held, call)?;
    let (from, from_base) = find_source(source, destination, held, tally)?;
    plan.source -= from_base;
    plan.destination -= to_base;
    let points = run(&from, &to, plan, tally, then, timer).inspect_err(|_| {
        // A part may have been copied before the failure.
        if let Operand::Array(array, l) = destination {
            array.mirror().iter().for_each(|mirror| mirror.written(&l.hull()));
        }
    })?;
    match destination {
        Operand::View(part) => {
            let state = held.state(part)?;
            let holder = state.home_holder(None)?;
            part.renewed(state, &holder, Access::Write);
        }
        Operand::Array(array, l) => {
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
