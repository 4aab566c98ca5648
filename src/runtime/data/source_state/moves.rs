//! How bytes of a data source get from one holder to another.

use super::{BLOCK_ALIGN, GROWN_OFTEN, Holder, Home, SourceState};
use crate::coherence::{Location, MemoryId, Move};
use crate::device::{Buffer, Placement};
use crate::error::{Error, Result};
use crate::geometry::{CopyDim, CopyPlan, Region};
use crate::host::{HostBlock, HostSpan};
use crate::kernel::Access;
use crate::runtime::data::transfer::{Endpoint, Tally, Then, run};
use std::ops::Range;
use std::sync::Arc;

/// A region of more rows than this is told as a whole where that is as good.
const MANY_ROWS: u64 = 256;

impl SourceState {
    /// The memory of a location, and the source's byte at which it begins.
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

    /// The host's copy of a source that lives elsewhere. It never moves; pages that nobody touches take no memory.
    pub(super) fn host_copy(&mut self) -> Result<HostSpan> {
        if self.host_copy.is_none() {
            self.host_copy = Some(HostBlock::new(self.directory.bytes())?);
        }
        Ok(self.host_copy.as_ref().map_or(HostSpan::empty(), HostBlock::span))
    }

    /// Makes sure that the holder has memory for these bytes. May move a device's block, so take addresses afterwards.
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
        Ok(())
    }

    /// Makes the region valid at `holder`, moving what is missing.
    pub fn fetch(&mut self, region: &Region, holder: &Holder, tally: Tally<'_>) -> Result<()> {
        self.check(region)?;
        self.directory.make_room(region)?;
        let was_valid = self.directory.is_valid(region, holder.location);
        for step in self.directory.missing(region, holder.location)? {
            self.carry(&step, tally)?;
            self.directory.holds(&step.region, step.to);
            self.renewed(&step.region, &self.holder_at(step.to));
            if self.holder_at(step.from).shares_home() {
                self.directory.holds(&step.region, Location::HOME);
            }
        }
        // What was dirty elsewhere in home's memory is home now (COH-12). What was valid here stays as it is (COH-8).
        if holder.shares_home() && !was_valid {
            self.directory.holds(region, Location::HOME);
        }
        self.is_held(region, holder);
        Ok(())
    }

    /// Records that the region is at the holder. Of a long column the host holds what lies between its rows too, where it is
    /// the same memory: else the map gets a segment for each row. Launches choose no host by what it holds.
    pub fn is_held(&mut self, region: &Region, holder: &Holder) {
        let whole = Region::linear(region.hull());
        let is_long = holder.view.is_none() && region.runs() > MANY_ROWS;
        let all = is_long && self.directory.is_in_memory_of(&whole, holder.location);
        self.directory.holds(if all { &whole } else { region }, holder.location);
    }

    pub(super) fn carry(&mut self, step: &Move, tally: Tally<'_>) -> Result<()> {
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
        run(&from, &to, &plan, tally, Then::Wait, None).map(drop)
    }

    /// The memory of a holder for kernels and copies, with the source's byte at which it begins. Waits until uses of the
    /// same memory through other buffers are done.
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
            _ => Err(Error::internal("memory of the host was asked for as a device's")),
        }
    }

    /// [`Self::device_memory`] as an endpoint of a copy.
    pub fn copy_memory(&mut self, holder: &Holder, hull: &Range<u64>, access: Access) -> Result<(Endpoint, u64)> {
        let found = self.memory(holder.location)?;
        self.wait_memory(holder.memory, hull, access, found.0.buffer())?;
        Ok(found)
    }

    /// The address on the host of the source's first byte, after everything that conflicts is done.
    pub fn host_memory(&mut self, holder: &Holder, hull: &Range<u64>, access: Access) -> Result<HostSpan> {
        self.wait_memory(holder.memory, hull, access, None)?;
        match (holder.memory, self.home.host()) {
            (MemoryId::Home, Some(span)) => Ok(span),
            _ => self.host_copy(),
        }
    }
}
