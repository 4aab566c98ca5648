//! The arguments of a launch, made valid where it runs.

use crate::device::Use;
use crate::error::{Error, Result};
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::locked::Held;
use crate::runtime::data::operand::Side;
use crate::runtime::data::source_state::Place;
use crate::trace::transfers::Call;
use smallvec::SmallVec;
use std::sync::Arc;

/// One argument of a launch.
pub(in crate::runtime) struct Captured<'a> {
    /// It.
    pub side: &'a Side,
    /// How the kernel uses it.
    pub access: Access,
    /// What of it must be valid: a kernel that only says it writes may leave elements out.
    pub needs: Access,
}

/// Which bytes of which buffers the arguments are, and the places of the array_views. Filled in place: it is large to move.
#[derive(Default)]
pub(in crate::runtime) struct Brought {
    /// One for each argument.
    pub uses: SmallVec<[Use; 8]>,
    places: SmallVec<[Option<Arc<Place>>; 16]>,
    changed: bool,
}

impl Brought {
    /// Makes arguments valid on the view a launch runs on. Call [`Self::written`] once the launch is recorded.
    pub fn bring(
        &mut self,
        captured: &[Captured<'_>],
        view: &Arc<AcceleratorView>,
        held: &mut Held<'_>,
        call: Call,
    ) -> Result<()> {
        // Blocks grow before any address is taken: aliases share one (docs/spec/array-views.md#parts-and-shapes).
        for c in captured {
            self.places.push(match c.side {
                Side::View(part) => {
                    let state = held.state(part)?;
                    let place = state.place(Some(view))?;
                    state.reserve(&place, &part.region().hull())?;
                    Some(place)
                }
                _ => None,
            });
        }
        for (c, place) in captured.iter().zip(&self.places) {
            self.uses.push(match (c.side, place) {
                (Side::Array(array, layout), _) => {
                    held.check_array(array, layout)?;
                    held.use_array(array, layout, c.needs, call)?;
                    Use { buffer: array.buffer().clone(), range: layout.hull(), access: c.access }
                }
                (Side::View(part), Some(place)) => {
                    let state = held.state(part)?;
                    let words = part.source().words();
                    if !part.is_settled(state, place, c.needs) || words.any() {
                        self.changed = true;
                        state.check(part.region())?;
                        part.make_valid(state, place, c.needs, call)?;
                        words.take_back(part.region(), c.needs);
                    }
                    let hull = part.region().hull();
                    let (buffer, base) = state.device_memory(place, &hull, c.access)?;
                    Use { buffer, range: hull.start - base..hull.end - base, access: c.access }
                }
                _ => return Err(Error::internal("host memory where an array was needed")),
            });
        }
        Ok(())
    }

    /// The places of the array_views: one for each argument.
    pub fn places(&self) -> &[Option<Arc<Place>>] {
        &self.places
    }

    /// True if something was to be done before all was valid.
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// Records what the launch writes.
    pub fn written(&self, captured: &[Captured<'_>], held: &mut Held<'_>) -> Result<()> {
        for (c, place) in captured.iter().zip(&self.places).filter(|(c, _)| c.needs.writes()) {
            match (c.side, place) {
                (Side::View(part), Some(place)) => part.written(held.state(part)?, place),
                (Side::Array(array, layout), _) => held.wrote_array(array, layout)?,
                _ => {}
            }
        }
        Ok(())
    }
}
