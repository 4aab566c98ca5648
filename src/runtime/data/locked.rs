//! The data sources of an operation, locked together in order of id.

use crate::device::hazard::any_lost;
use crate::error::{Error, Result};
use crate::geometry::Layout;
use crate::kernel::Access;
use crate::lock::MutexGuard;
use crate::runtime::data::array::Array;
use crate::runtime::data::operand::Operand;
use crate::runtime::data::part::Part;
use crate::runtime::data::retry::{should_retry, wait_detour};
use crate::runtime::data::source::Source;
use crate::runtime::data::source_state::SourceState;
use crate::trace::transfers::Call;
use smallvec::SmallVec;
use std::sync::Arc;

/// The data sources that an operation uses.
pub(in crate::runtime) struct Sources<'a> {
    views: SmallVec<[&'a Arc<Source>; 16]>,
    arrays: SmallVec<[Arc<Source>; 4]>,
}

impl<'a> Sources<'a> {
    /// The data sources of these operands.
    pub fn of(sides: impl Iterator<Item = &'a Operand>) -> Self {
        let mut found = Self { views: SmallVec::new(), arrays: SmallVec::new() };
        for side in sides {
            match side {
                Operand::Host(..) => {}
                Operand::Array(array, _) => found.arrays.extend(array.source()),
                Operand::View(part) => found.views.push(part.source()),
            }
        }
        found
    }

    /// Runs `f` under all locks, with the retries of [`Source::attempt`].
    pub fn attempt<T>(&self, mut f: impl FnMut(&mut LockedSources<'_>) -> Result<T>) -> Result<T> {
        let mut rounds = 0;
        loop {
            let mut held = LockedSources(SmallVec::new());
            self.lock(&mut held)?;
            let error = match f(&mut held) {
                Err(e) => e,
                done => return done,
            };
            // `fold` instead of `any`: every source must absorb its losses.
            let absorb = || held.0.iter_mut().fold(false, |any, (_, state)| state.absorb_losses() || any);
            if should_retry(&error, &mut rounds, absorb) {
                continue;
            }
            drop(held);
            wait_detour(error)?;
        }
    }

    /// Locks the data sources in order of id, each once.
    fn lock<'s>(&'s self, held: &mut LockedSources<'s>) -> Result<()> {
        // Fast path: sources are usually in order.
        if !self.arrays.is_empty() || !self.views.is_sorted_by(|a, b| a.id() < b.id()) {
            return self.lock_sorted(held);
        }
        for &source in &self.views {
            let state = source.lock();
            state.check_open()?;
            held.0.push((&**source, state));
        }
        Ok(())
    }

    /// [`Self::lock`] for sources in any order. Omits the source of an array if its last view has been dropped meanwhile.
    fn lock_sorted<'s>(&'s self, held: &mut LockedSources<'s>) -> Result<()> {
        let mut all: SmallVec<[&Arc<Source>; 16]> = self.views.iter().copied().chain(&self.arrays).collect();
        all.sort_unstable_by_key(|s| s.id());
        all.dedup_by_key(|s| s.id());
        for source in all {
            let state = source.lock();
            if !state.is_closed() {
                held.0.push((&**source, state));
            } else if self.views.iter().any(|v| v.id() == source.id()) {
                state.check_open()?;
            }
        }
        Ok(())
    }
}

/// Locked data sources.
pub(in crate::runtime) struct LockedSources<'a>(
    pub(in crate::runtime) SmallVec<[(&'a Source, MutexGuard<'a, SourceState>); 16]>,
);

impl<'a> LockedSources<'a> {
    /// The state of a view's source.
    pub fn state(&mut self, part: &Part) -> Result<&mut SourceState> {
        self.of(part.source())
    }

    /// The state of a source.
    pub fn of(&mut self, source: &Source) -> Result<&mut SourceState> {
        let id = source.id();
        let found = self.0.iter_mut().find(|(s, _)| s.id() == id);
        found.map(|(_, state)| &mut **state).ok_or_else(|| Error::internal("a data source was used without its lock"))
    }

    /// The source of an array that has views, and its state.
    pub fn of_array(&mut self, array: &Arc<Array>) -> Option<(&'a Source, &mut SourceState)> {
        let is = |s: &Source| s.array().is_some_and(|a| Arc::ptr_eq(a, array.storage()));
        self.0.iter_mut().find(|(s, _)| is(s)).map(|(s, state)| (*s, &mut **state))
    }

    /// Fails if bytes of an array are known to be lost. Must be called even for kernels that only write, because they
    /// may skip elements.
    pub fn check_array(&mut self, array: &Arc<Array>, layout: &Layout) -> Result<()> {
        match self.of_array(array).filter(|_| any_lost()) {
            Some((_, state)) => state.check(&layout.region()),
            None => Ok(()),
        }
    }

    /// Prepares a use of an array's own memory: transfers to it the changes that were made in other memory (COH-12).
    /// After a write, call [`Self::wrote_array`].
    pub fn use_array(&mut self, array: &Arc<Array>, layout: &Layout, access: Access, call: Call) -> Result<()> {
        match self.of_array(array) {
            Some((source, state)) => source.use_at_home(state, layout, access, call),
            None => Ok(()),
        }
    }

    /// Records a write to an array's own memory, which now has the only valid copy of these bytes.
    pub fn wrote_array(&mut self, array: &Arc<Array>, layout: &Layout) -> Result<()> {
        if let Some(mirror) = array.mirror() {
            mirror.written(&layout.hull());
        }
        match self.of_array(array) {
            Some((_, state)) => state.written_at_home(&layout.region()),
            None => Ok(()),
        }
    }
}
