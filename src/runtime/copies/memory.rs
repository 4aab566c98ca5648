//! The memory that the sides of a copy stand for (SEL-20 to SEL-24).

use crate::coherence::Location;
use crate::coherence::selection::copy_source;
use crate::error::Result;
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::locked::Held;
use crate::runtime::data::operand::Side;
use crate::runtime::data::part::Part;
use crate::runtime::data::source_state::State;
use crate::runtime::data::transfer::{Memory, Tally};
use crate::trace::transfers::Call;
use std::sync::Arc;

/// A side as memory: the first byte of what it stands for lies so many bytes before the memory's.
pub(in crate::runtime) type Found = (Memory, u64);

/// SEL-20, SEL-21.
pub(in crate::runtime) fn find_destination(
    source: &Side,
    destination: &Side,
    held: &mut Held<'_>,
    call: Call,
) -> Result<Found> {
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
pub(in crate::runtime) fn find_source(
    source: &Side,
    destination: &Side,
    held: &mut Held<'_>,
    tally: Tally<'_>,
) -> Result<Found> {
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
