//! The arguments of a launch, made valid where it runs.

use crate::device::Use;
use crate::error::{Error, Result};
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::locked::LockedSources;
use crate::runtime::data::operand::Operand;
use crate::runtime::data::source_state::Holder;
use crate::trace::transfers::Call;
use smallvec::SmallVec;
use std::sync::Arc;

/// One argument of a launch.
pub(in crate::runtime) struct Captured<'a> {
    /// The argument itself.
    pub operand: &'a Operand,
    /// How the kernel uses it.
    pub access: Access,
    /// What of it must be valid first: a kernel that is only known to write may leave elements out.
    pub needs: Access,
}

/// The bytes of buffers that the arguments are, and the holders of the array_views. Filled in place, since it is large to
/// move.
#[derive(Default)]
pub(in crate::runtime) struct ResolvedArguments {
    /// One for each argument.
    pub uses: SmallVec<[Use; 8]>,
    holders: SmallVec<[Option<Arc<Holder>>; 16]>,
    changed: bool,
}

impl ResolvedArguments {
    /// Makes arguments valid on the view where a launch runs. Call [`Self::written`] once the launch is recorded.
    pub fn make_valid(
        &mut self,
        captured: &[Captured<'_>],
        view: &Arc<AcceleratorView>,
        held: &mut LockedSources<'_>,
        call: Call,
    ) -> Result<()> {
        // Blocks grow before any address is taken, since aliases share them (docs/spec/array-views.md#parts-and-shapes).
        for c in captured {
            self.holders.push(match c.operand {
                Operand::View(part) => {
                    let state = held.state(part)?;
                    let holder = state.holder(Some(view))?;
                    state.reserve(&holder, &part.region().hull())?;
                    Some(holder)
                }
                _ => None,
            });
        }
        for (c, holder) in captured.iter().zip(&self.holders) {
            self.uses.push(match (c.operand, holder) {
                (Operand::Array(array, layout), _) => {
                    held.check_array(array, layout)?;
                    held.use_array(array, layout, c.needs, call)?;
                    Use { buffer: array.buffer().clone(), range: layout.hull(), access: c.access }
                }
                (Operand::View(part), Some(holder)) => {
                    let state = held.state(part)?;
                    let host_access = part.source().host_access();
                    if !part.is_known_valid(state, holder, c.needs) || host_access.any() {
                        self.changed = true;
                        state.check(part.region())?;
                        part.make_valid(state, holder, c.needs, call)?;
                        host_access.take_back(part.region(), c.needs);
                    }
                    let hull = part.region().hull();
                    let (buffer, base) = state.device_memory(holder, &hull, c.access)?;
                    Use { buffer, range: hull.start - base..hull.end - base, access: c.access }
                }
                _ => return Err(Error::internal("host memory where an array was needed")),
            });
        }
        Ok(())
    }

    /// The holders of the array_views, one for each argument.
    pub fn holders(&self) -> &[Option<Arc<Holder>>] {
        &self.holders
    }

    /// True if anything had to be done to make them valid.
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// Records what the launch writes.
    pub fn written(&self, captured: &[Captured<'_>], held: &mut LockedSources<'_>) -> Result<()> {
        for (c, holder) in captured.iter().zip(&self.holders).filter(|(c, _)| c.needs.writes()) {
            match (c.operand, holder) {
                (Operand::View(part), Some(holder)) => part.written(held.state(part)?, holder),
                (Operand::Array(array, layout), _) => held.wrote_array(array, layout)?,
                _ => {}
            }
        }
        Ok(())
    }
}
