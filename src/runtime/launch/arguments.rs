//! Makes the arguments of a launch valid on the accelerator_view where the launch runs.

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
    /// How the kernel uses the argument.
    pub access: Access,
    /// The access for which the argument is made valid. Includes reading if a kernel that only writes may leave elements
    /// unwritten.
    pub needs: Access,
}

/// The buffers and byte ranges of the arguments, and the [`Holder`] of each array_view. Filled in place, because moving
/// the struct is expensive.
#[derive(Default)]
pub(in crate::runtime) struct ResolvedArguments {
    /// The buffer and byte range of each argument.
    pub uses: SmallVec<[Use; 8]>,
    holders: SmallVec<[Option<Arc<Holder>>; 16]>,
    changed: bool,
}

impl ResolvedArguments {
    /// Makes arguments valid on `view`, where the launch runs. Call [`Self::written`] once the launch is recorded.
    pub fn make_valid(
        &mut self,
        captured: &[Captured<'_>],
        view: &Arc<AcceleratorView>,
        held: &mut LockedSources<'_>,
        call: Call,
    ) -> Result<()> {
        // Reserves all memory before any address is taken: arguments may share a block of memory, which moves when it grows
        // (docs/spec/array-views.md#parts-and-shapes).
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
                        host_access.revoke(part.region(), c.needs);
                    }
                    let hull = part.region().hull();
                    let (buffer, base) = state.device_memory(holder, &hull, c.access)?;
                    Use { buffer, range: hull.start - base..hull.end - base, access: c.access }
                }
                _ => return Err(Error::internal("an argument is host memory, but must be an array")),
            });
        }
        Ok(())
    }

    /// One entry for each argument: the holder for an array_view, `None` for an array.
    pub fn holders(&self) -> &[Option<Arc<Holder>>] {
        &self.holders
    }

    /// True if [`Self::make_valid`] had to make an array_view valid, or had to revoke access of the host.
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// Records the writes of the launch in the arrays and data sources.
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
