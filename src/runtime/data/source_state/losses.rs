//! Lost bytes of a data source, and the errors that report them (decision 17).

use super::{Holder, Home, SourceState};
use crate::coherence::{Location, LossId, MemoryId};
use crate::device::Buffer;
use crate::device::hazard::any_lost;
use crate::error::{Error, Result};
use crate::geometry::Region;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::transfer::Tally;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

impl SourceState {
    /// Makes all bytes that are not lost valid at home, then fails if some are lost.
    pub fn fetch_home(&mut self, tally: Tally<'_>) -> Result<()> {
        let mut from = 0;
        let lost: Vec<_> = self.directory.losses().collect();
        for (range, _) in &lost {
            if from < range.start {
                self.fetch(&Region::linear(from..range.start), &Holder::home(), tally)?;
            }
            from = range.end;
        }
        let all = self.directory.bytes();
        if from < all {
            self.fetch(&Region::linear(from..all), &Holder::home(), tally)?;
        }
        self.check(&Region::linear(0..all))
    }

    /// Fails if bytes of the region are lost.
    pub fn check(&self, region: &Region) -> Result<()> {
        match self.directory.loss(region) {
            Some((range, id)) => Err(self.reason(id).context(format_args!(
                "bytes {} to {} of the data are lost; overwrite these bytes by a copy or on the host, or call \
                 discard_data",
                range.start, range.end
            ))),
            None => Ok(()),
        }
    }

    pub(super) fn reason(&self, id: LossId) -> Error {
        let known = self.losses.get(id.0.get() as usize - 1);
        known.cloned().unwrap_or_else(|| Error::internal("data were lost for an unknown reason"))
    }

    /// Records that bytes of a holder were overwritten, so that earlier losses there no longer matter.
    pub fn renewed(&self, region: &Region, holder: &Holder) {
        if !any_lost() {
            return;
        }
        for (memory, _, base, buffer) in self.buffers() {
            if memory == holder.memory {
                buffer.tracker().renewed(region.ranges().map(|r| r.start - base..r.end - base));
            }
        }
    }

    /// Enters losses into the directory: the losses that trackers of buffers note, and all bytes on lost devices. True if a loss was
    /// new. A retry may then use the copies of other holders.
    pub fn absorb_losses(&mut self) -> bool {
        let mut found: Vec<(Range<u64>, Location, Error)> = Vec::new();
        for (_, location, base, buffer) in self.buffers() {
            let lost = buffer.tracker().take_lost().into_iter();
            found.extend(lost.map(|(r, reason)| (r.start + base..r.end + base, location, reason)));
        }
        // Memory that the host can address outlives the device, so it is not lost.
        let all = self.directory.bytes();
        let lost_with_device = |view: &Arc<AcceleratorView>, location, buffer: Option<&Arc<dyn Buffer>>| {
            let lost = view.device().lost().filter(|_| buffer.is_none_or(|b| b.host().is_none()));
            lost.map(|reason| (0..all, location, reason))
        };
        if let Home::Array(a) = &self.home {
            found.extend(lost_with_device(a.copy_view(), Location::HOME, Some(a.buffer())));
        }
        for holder in self.holders.iter().filter(|p| matches!(p.memory, MemoryId::Block(_))) {
            found.extend(holder.view.as_ref().and_then(|view| lost_with_device(view, holder.location, None)));
        }
        let mut is_new = false;
        for (range, location, reason) in found {
            let range = range.start..range.end.min(all);
            let id = u32::try_from(self.losses.len() + 1).ok().and_then(NonZeroU32::new);
            let Some(id) = id.filter(|_| !range.is_empty()).map(LossId) else { continue };
            if self.directory.lose(&Region::linear(range), location, id) {
                self.losses.push(reason);
                is_new = true;
            }
        }
        is_new
    }
}
