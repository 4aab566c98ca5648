//! Chooses the memory that each side of a copy uses (SEL-20 to SEL-24).

use crate::coherence::Location;
use crate::coherence::selection::copy_source;
use crate::error::Result;
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::locked::LockedSources;
use crate::runtime::data::operand::Operand;
use crate::runtime::data::part::Part;
use crate::runtime::data::source_state::SourceState;
use crate::runtime::data::transfer::{Endpoint, Tally};
use crate::trace::transfers::Call;
use std::sync::Arc;

/// The memory of a side, and the offset of the memory's first byte in the side's object.
pub(in crate::runtime) type Found = (Endpoint, u64);

/// The memory that a copy writes (SEL-20, SEL-21).
pub(in crate::runtime) fn find_destination(
    source: &Operand,
    destination: &Operand,
    held: &mut LockedSources<'_>,
    call: Call,
) -> Result<Found> {
    match destination {
        Operand::Host(span, _) => Ok((Endpoint::Host(*span), 0)),
        Operand::Array(array, layout) => {
            held.use_array(array, layout, Access::Write, call)?;
            Ok((Endpoint::of(array), 0))
        }
        Operand::View(part) => {
            let first = home_view_of(source, held)?;
            let state = held.state(part)?;
            let holder = state.home_holder(first.as_ref())?;
            state.directory.make_room(part.region())?;
            state.copy_memory(&holder, &part.region().hull(), Access::Write)
        }
    }
}

/// The accelerator_view on which a side of a copy has its home, that is, the storage of its array or data source. `None`: home is on
/// the host, or not made yet.
fn home_view_of(side: &Operand, held: &mut LockedSources<'_>) -> Result<Option<Arc<AcceleratorView>>> {
    Ok(match side {
        Operand::Host(..) => None,
        Operand::Array(array, _) => Some(array.view().clone()),
        Operand::View(part) => held.state(part)?.home_view().cloned(),
    })
}

/// The memory that a copy reads (SEL-22 to SEL-24).
pub(in crate::runtime) fn find_source(
    source: &Operand,
    destination: &Operand,
    held: &mut LockedSources<'_>,
    tally: Tally<'_>,
) -> Result<Found> {
    let part = match source {
        Operand::Host(span, _) => return Ok((Endpoint::Host(*span), 0)),
        Operand::Array(array, layout) => {
            held.use_array(array, layout, Access::Read, tally.call)?;
            return Ok((Endpoint::of(array), 0));
        }
        Operand::View(part) => part,
    };
    let destination_view = home_view_of(destination, held)?;
    let state = held.state(part)?;
    let hull = part.region().hull();
    let home = state.home_holder(destination_view.as_ref())?;
    let valid_at = state.directory.valid_at(part.region());
    // `None`: all bytes are worthless (discarded or never written), so they may be read anywhere. Home has memory.
    let Some(valid_at) = valid_at else { return state.copy_memory(&home, &hull, Access::Read) };
    let destination = reachable(state, part, destination_view.as_ref())?;
    let host = reachable(state, part, None)?;
    let holder = match copy_source(Some(&valid_at), destination, host) {
        Some(location) => state.holder_at(location),
        None => home,
    };
    state.reserve(&holder, &hull)?;
    state.fetch(part.region(), &holder, tally)?;
    state.copy_memory(&holder, &hull, Access::Read)
}

/// The location of an accelerator_view or the host, if the part can be read there without a transfer.
fn reachable(state: &mut SourceState, part: &Part, view: Option<&Arc<AcceleratorView>>) -> Result<Option<Location>> {
    let holder = state.holder(view)?;
    let is_free = state.directory.missing(part.region(), holder.location)?.is_empty();
    if is_free {
        state.directory.make_room(part.region())?;
        state.record_held(part.region(), &holder);
    }
    Ok(is_free.then_some(holder.location))
}
