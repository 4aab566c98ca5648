//! copy and copy_async (docs/spec/copies.md): between host memory, arrays, sections and array_views, on and across
//! accelerators.

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
use crate::runtime::data::transfer::{Named, Tally, Then, run};
use crate::runtime::operations::after::{After, AsyncOptions};
use crate::runtime::operations::begin::begin;
use crate::runtime::operations::completion::Completion;
use crate::runtime::race::{self, Using};
use crate::trace::events::{Object, Span, cause, caused_by};
use crate::trace::names::Name;
use crate::trace::transfers::Call;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Uploads of at most this many bytes are taken over during the call of copy_async.
const AT_ONCE: u64 = 256 << 10;

fn uses_of(source: &Operand, destination: &Operand, call: Call, after: &After) -> Using {
    let both = [(source, Access::Read), (destination, Access::Write)].into_iter();
    let elements = both.filter_map(|(side, access)| Some((side.elements()?, access)));
    race::uses_after(call.name, elements, |completion| after.contains(completion))
}

/// Copies, and returns when that is done. `call` requested it.
pub fn copy(source: Operand, destination: Operand, call: Call) -> Result<()> {
    let plan = plan(&source, &destination)?;
    let _span = Span::call(call, || traced(&source, &destination));
    let _using = uses_of(&source, &destination, call, &After::default());
    source.wait_pending(Access::Read)?;
    destination.wait_pending(Access::Write)?;
    for point in perform(&source, &destination, plan, call, Then::Wait, None)? {
        point.wait(None)?;
    }
    Ok(())
}

/// Begins a copy, which starts after the completions of `options`. Later uses of the arrays and views are ordered behind it.
pub fn copy_async(source: Operand, destination: Operand, options: AsyncOptions, call: Call) -> Result<Arc<Completion>> {
    let plan = plan(&source, &destination)?;
    let _span = Span::call(call, || traced(&source, &destination));
    let using = uses_of(&source, &destination, call, &options.after);
    let is_timed = options.timer.is_some();
    if !is_timed && options.after.is_done() && is_at_once(&source, &destination, plan.bytes())? {
        let made = Completion::of(perform(&source, &destination, plan, call, Then::Other, None)?.into_vec());
        made.uses(using);
        return Ok(made);
    }
    source.take_back(Access::Read);
    destination.take_back(Access::Write);
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
                let points = perform(&source, &destination, plan, call, Then::Other, timer.as_deref())?;
                points.into_iter().try_for_each(|p| p.wait(None).map(drop))
            })
        };
        let Some(slot) = &timer else { return run() };
        // Has no effect if the device has timed it.
        let own = Arc::new(HostTimer::default());
        own.measure(run)?;
        let _ = slot.set(own);
        Ok(())
    };
    let made = begin(&claims, options, AcceleratorView::attach_to(&views), task);
    made.uses(using);
    Ok(made)
}

/// The side of a copy that a trace names: an array_view, or the destination.
fn object<'a>(source: &'a Operand, destination: &'a Operand) -> &'a Operand {
    match (source, destination) {
        (Operand::View(_), Operand::Array(..)) | (_, Operand::Host(..)) => source,
        _ => destination,
    }
}

/// The copy in a trace.
fn traced(source: &Operand, destination: &Operand) -> Object {
    let side = object(source, destination);
    let id = if let Operand::View(part) = side { part.source().id() } else { 0 };
    Object::of(Name::of(&side.name()), id)
}

/// True if the copy is over, or commands for the device, when the call returns: no thread has to wait for anything. Pending
/// operations may begin only after completions that the caller sets later.
fn is_at_once(source: &Operand, destination: &Operand, bytes: u64) -> Result<bool> {
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
        // Host memory that is taken over during the call.
        (Operand::Host(..), Operand::Array(b, _)) => Ok(b.buffer().host().is_none() && bytes <= AT_ONCE),
        (Operand::Host(..), _) | (_, Operand::Host(..)) => Ok(false),
        _ if device(source).is_none() || device(source) != device(destination) => Ok(false),
        // Array_views over arrays of one device, without changes elsewhere.
        _ => match source {
            Operand::View(part) => part.source().lock().is_only_at_home(part.region()),
            _ => Ok(true),
        },
    }
}

/// Does or begins the copy, which is done when the points are reached.
fn perform(
    source: &Operand,
    destination: &Operand,
    mut plan: CopyPlan,
    call: Call,
    then: Then,
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
    then: Then,
    timer: Option<&TimerSlot>,
) -> Result<SmallVec<[Point; 2]>> {
    for (side, access) in [(source, Access::Read), (destination, Access::Write)] {
        if let Operand::View(part) = side {
            part.source().host_access().take_back(part.region(), access);
        }
    }
    let mut tally = Tally::of(call);
    tally.object = Some(object(source, destination));
    for (n, side) in [source, destination].into_iter().enumerate() {
        if let Operand::View(part) = side {
            tally.source = part.source().id();
            tally.accounts[n] = Some(part.counters());
            // Two views of one source have one account there.
            let both = matches!(source, Operand::View(other) if n == 1 && other.source().id() == part.source().id());
            tally.accounts[2 + n] = Some(part.source().counters()).filter(|_| !both);
        }
    }
    // The storage of an open source is made where the other side is.
    let (to, to_base) = find_destination(source, destination, held, call)?;
    let (from, from_base) = find_source(source, destination, held, tally)?;
    plan.source -= from_base;
    plan.destination -= to_base;
    let points = run(&from, &to, plan, tally, then, timer).inspect_err(|_| {
        // Some of it may have been copied.
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
