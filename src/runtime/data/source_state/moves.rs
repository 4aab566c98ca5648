//! Transfers of a data source's bytes between holders.

use super::{BLOCK_ALIGN, GROWN_OFTEN, Holder, Home, SourceState};
use crate::coherence::{Location, MemoryId, Move};
use crate::device::{Buffer, Placement};
use crate::error::{Error, Result};
use crate::geometry::{CopyDim, CopyPlan, Region};
use crate::host::{HostBlock, HostSpan};
use crate::kernel::Access;
use crate::runtime::data::transfer::{CallerNext, Endpoint, Tally, run};
use crate::trace::transfers::Rule;
use std::ops::Range;
use std::sync::Arc;

/// The directory may record the hull of a region that has more rows than this.
const MANY_ROWS: u64 = 256;

impl SourceState {
    /// The memory of a location, and the offset in the source at which it begins.
    pub(super) fn memory(&mut self, location: Location) -> Result<(Endpoint, u64)> {
        let holder = self.holder_at(location);
        match holder.memory {
            MemoryId::Home => Ok((
                match (&self.home, self.home.host()) {
                    (Home::Array(a), _) => Endpoint::of(a),
                    (_, Some(span)) => Endpoint::Host(span),
                    _ => return Err(Error::internal("a data source without memory was read")),
                },
                0,
            )),
            MemoryId::HostCopy => Ok((Endpoint::Host(self.host_copy()?), 0)),
            MemoryId::Block(n) => {
                let block = &self.blocks[n as usize];
                let (buffer, base) =
                    block.memory.clone().ok_or_else(|| Error::internal("a device block without memory was read"))?;
                let view = holder.view.as_ref().unwrap_or(&block.view).clone();
                let (device, accelerator) = (view.device().clone(), view.accelerator().clone());
                Ok((Endpoint::Device { buffer, device, view, accelerator }, base))
            }
        }
    }

    /// The host copy: memory on the host with a copy of the source's bytes, for locations that cannot use home's memory. It is never
    /// reallocated. Pages that are never accessed take no memory.
    pub(super) fn host_copy(&mut self) -> Result<HostSpan> {
        if self.host_copy.is_none() {
            self.host_copy = Some(HostBlock::new(self.directory.bytes())?);
        }
        Ok(self.host_copy.as_ref().map_or(HostSpan::empty(), HostBlock::span))
    }

    /// Makes sure that the holder has memory for these bytes. May reallocate a device's block, so take addresses afterwards.
    pub fn reserve(&mut self, holder: &Holder, hull: &Range<u64>) -> Result<()> {
        let MemoryId::Block(number) = holder.memory else { return Ok(()) };
        let all = self.directory.bytes();
        let block = &mut self.blocks[number as usize];
        let old = block.range();
        if old.start <= hull.start && hull.end <= old.end {
            return Ok(());
        }
        self.moves += 1;
        let mut new = hull.start / BLOCK_ALIGN * BLOCK_ALIGN..hull.end;
        if let Some((old_buffer, base)) = &block.memory {
            new = new.start.min(old.start)..new.end.max(old.end);
            if block.grown >= GROWN_OFTEN {
                let ahead = (old.end - old.start) / 2;
                if new.end > old.end {
                    new.end = new.end.saturating_add(ahead).min(all);
                } else {
                    new.start = new.start.saturating_sub(ahead) / BLOCK_ALIGN * BLOCK_ALIGN;
                }
            }
            let view = holder.view.as_ref().unwrap_or(&block.view);
            let buffer = view.device().allocate(new.end - new.start, Placement::Device, "array_view")?;
            let plan = CopyPlan::linear(0, base - new.start, old_buffer.size());
            view.queue().copy(old_buffer, &buffer, &plan)?;
            block.memory = Some((buffer, new.start));
            block.grown += 1;
        } else {
            let device = block.view.device();
            block.memory = Some((device.allocate(new.end - new.start, Placement::Device, "array_view")?, new.start));
        }
        let made = &self.blocks[number as usize].memory;
        made.iter().for_each(|(buffer, _)| self.name(buffer));
        Ok(())
    }

    /// Makes the region valid at `holder` by moving the missing bytes.
    pub fn fetch(&mut self, region: &Region, holder: &Holder, tally: Tally<'_>) -> Result<()> {
        self.check(region)?;
        self.directory.make_room(region)?;
        let was_valid = self.directory.is_valid(region, holder.location);
        for step in self.directory.missing(region, holder.location)? {
            let call = tally.call.with_rule(|rule| self.rule(rule, &step, holder.location));
            self.perform_move(&step, Tally { call, ..tally })?;
            self.directory.holds(&step.region, step.to);
            self.renewed(&step.region, &self.holder_at(step.to));
            if self.holder_at(step.from).shares_home() {
                self.directory.holds(&step.region, Location::HOME);
            }
        }
        // Bytes that were dirty at another location of home's memory are now valid at home (COH-12). If the region was valid at this
        // holder before, its state stays unchanged (COH-8).
        if holder.shares_home() && !was_valid {
            self.directory.holds(region, Location::HOME);
        }
        self.record_held(region, holder);
        Ok(())
    }

    /// The rule of the specification that requires a step of a transfer to `target`. Starts from the rule of the call.
    fn rule(&self, call_rule: Rule, step: &Move, target: Location) -> Rule {
        if step.to != target {
            return Rule::Coh19;
        }
        match (call_rule, &self.home) {
            (Rule::Av2, Home::Array(array)) if array.is_staging() => Rule::Stg11,
            (Rule::Av4, Home::Array(array)) if array.is_staging() => Rule::Stg12,
            (Rule::Dst1, Home::Array(_)) => Rule::Dst4,
            _ => call_rule,
        }
    }

    /// Records that the region is valid at the holder. If the holder is the host and the region has many rows, the
    /// bytes between the rows are recorded too, provided that they are in the memory of the holder: one large segment
    /// is cheaper than a segment for each row. The additional bytes do not affect launches, because launches never
    /// choose the host for the bytes that it holds.
    pub fn record_held(&mut self, region: &Region, holder: &Holder) {
        let whole = Region::linear(region.hull());
        let is_host_with_many_rows = holder.view.is_none() && region.runs() > MANY_ROWS;
        let all = is_host_with_many_rows && self.directory.is_in_memory_of(&whole, holder.location);
        self.directory.holds(if all { &whole } else { region }, holder.location);
    }

    pub(super) fn perform_move(&mut self, step: &Move, tally: Tally<'_>) -> Result<()> {
        let hull = step.region.hull();
        let ((from, from_base), (to, to_base)) = (self.memory(step.from)?, self.memory(step.to)?);
        for (memory, location, access) in [(&from, step.from, Access::Read), (&to, step.to, Access::Write)] {
            self.wait_memory(self.holder_at(location).memory, &hull, access, memory.buffer())?;
        }
        let plan = CopyPlan {
            source: step.region.start - from_base,
            destination: step.region.start - to_base,
            dims: step
                .region
                .dims
                .iter()
                .map(|&(count, stride)| CopyDim { count, source: stride, destination: stride })
                .collect(),
            run: step.region.run,
        };
        run(&from, &to, &plan, tally, CallerNext::Wait, None).map(drop)
    }

    /// The memory of a holder for kernels and copies, and the offset in the source at which it begins. Waits for conflicting uses of
    /// the same memory through other buffers.
    #[inline(always)]
    pub fn device_memory(
        &mut self,
        holder: &Holder,
        hull: &Range<u64>,
        access: Access,
    ) -> Result<(Arc<dyn Buffer>, u64)> {
        if let Some(alias) = &holder.alias {
            self.wait_memory(holder.memory, hull, access, Some(alias.id()))?;
        }
        self.memory_of(holder)
    }

    /// [`Self::device_memory`], without waiting.
    #[inline]
    pub fn memory_of(&self, holder: &Holder) -> Result<(Arc<dyn Buffer>, u64)> {
        match (&holder.alias, holder.memory) {
            (Some(alias), _) => Ok((alias.clone(), 0)),
            (None, MemoryId::Block(n)) => {
                let memory = self.blocks[n as usize].memory.clone();
                memory.ok_or_else(|| Error::internal("a device block was used before it was made"))
            }
            _ => Err(Error::internal("host memory was requested as device memory")),
        }
    }

    /// [`Self::device_memory`] as an endpoint of a copy.
    pub fn copy_memory(&mut self, holder: &Holder, hull: &Range<u64>, access: Access) -> Result<(Endpoint, u64)> {
        let found = self.memory(holder.location)?;
        self.wait_memory(holder.memory, hull, access, found.0.buffer())?;
        Ok(found)
    }

    /// Waits for conflicting work, and returns the source's memory on the host, from its first byte on.
    pub fn host_memory(&mut self, holder: &Holder, hull: &Range<u64>, access: Access) -> Result<HostSpan> {
        self.wait_memory(holder.memory, hull, access, None)?;
        match (holder.memory, self.home.host()) {
            (MemoryId::Home, Some(span)) => Ok(span),
            _ => self.host_copy(),
        }
    }
}
