//! What an array_view covers of its data source, and where that is known to be valid.

use crate::device::unique_id;
use crate::error::{Error, Result};
use crate::geometry::{Layout, Region};
use crate::grow::Grow;
use crate::kernel::Access;
use crate::runtime::data::host_access::Words;
use crate::runtime::data::source::Source;
use crate::runtime::data::source_state::{Holder, SourceState};
use crate::runtime::data::transfer::{Named, Tally};
use crate::runtime::race::Elements;
use crate::trace::labels;
use crate::trace::transfers::{Call, Counters};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The part of a data source that a view covers. Operations under way hold this and not the view, so that they do not keep
/// the view alive.
pub struct Part {
    pub(in crate::runtime::data) id: u64,
    pub(in crate::runtime::data) source: Arc<Source>,
    pub(in crate::runtime::data) extent: SmallVec<[i32; 4]>,
    pub(in crate::runtime::data) strides: SmallVec<[u64; 4]>,
    pub(in crate::runtime::data) layout: Layout,
    pub(in crate::runtime::data) region: Region,
    pub(in crate::runtime::data) read_only: bool,
    pub(in crate::runtime::data) label: Option<Arc<str>>,
    /// The state word: what the host may do without a call. C programs read it.
    pub(in crate::runtime::data) word: Arc<Words>,
    /// The words of its slices, once the host used one.
    slices: Slices,
    /// Where the directory last found it valid. Only used under the source's lock.
    known: ValidAt,
    pub(in crate::runtime::data) counters: Counters,
}

/// The words of slices: first of those that one index names.
type Slices = OnceLock<Box<[OnceLock<Arc<Words>>]>>;

/// The number of segments of the directory that are looked at to find out whether the host may use all of a view.
const HULL_SEGMENTS: usize = 8;

/// What was true of a part at an epoch of the directory, so that an unchanged source costs one compare. The atomics need no
/// order: they are used under the source's lock.
struct ValidAt {
    epoch: AtomicU64,
    /// Twice the number of the location, plus one if it is valid nowhere else.
    at: AtomicU64,
}

impl ValidAt {
    /// True if at this epoch it was found valid at `holder`, or, if `alone`, only there.
    fn is(&self, epoch: u64, holder: &Holder, alone: bool) -> bool {
        let at = self.at.load(Ordering::Relaxed);
        let same = at >> 1 == holder.location.index() as u64 && self.epoch.load(Ordering::Relaxed) == epoch;
        same && (at & 1 == 1 || !alone)
    }

    fn set(&self, epoch: u64, holder: &Holder, alone: bool) {
        self.epoch.store(epoch, Ordering::Relaxed);
        self.at.store((holder.location.index() as u64) << 1 | u64::from(alone), Ordering::Relaxed);
    }
}

impl Named for Part {
    fn name(&self) -> String {
        self.name()
    }
}

impl Part {
    /// The part of `source` with this layout.
    pub(in crate::runtime) fn new(
        source: Arc<Source>,
        extent: &[i32],
        layout: Layout,
        read_only: bool,
        label: Option<Arc<str>>,
    ) -> Self {
        let region = layout.region();
        Self {
            id: unique_id(),
            source,
            extent: extent.into(),
            strides: layout.dims.iter().map(|d| d.1).collect(),
            layout,
            region,
            read_only,
            label,
            word: Arc::new(SmallVec::from_buf([AtomicU32::new(0)])),
            slices: Slices::default(),
            known: ValidAt { epoch: AtomicU64::new(0), at: AtomicU64::new(0) },
            counters: Counters::new(),
        }
    }

    /// Its data source.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }
    /// Extents, most significant first.
    pub fn extent(&self) -> &[i32] {
        &self.extent
    }
    /// Byte strides.
    pub fn strides(&self) -> &[u64] {
        &self.strides
    }
    /// Where its elements lie in the source.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The bytes it covers.
    pub fn region(&self) -> &Region {
        &self.region
    }
    /// `array_view<const T>`.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }
    /// Transfers that uses of the view caused.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// What the host may do without a call: [`HOST_MAY_READ`], [`HOST_MAY_WRITE`].
    pub fn word(&self) -> &AtomicU32 {
        &self.word[0]
    }

    /// The state words of all slices that `depth` indices name, in the order of the slices. `depth` is 1 or more, and less
    /// than the rank.
    pub(in crate::runtime::data) fn slices(&self, depth: usize) -> Result<&Arc<Words>> {
        let rank = self.extent.len();
        let all = self.slices.get_or_init(|| (1..rank).map(|_| OnceLock::new()).collect());
        let words = &all[depth - 1];
        if let Some(made) = words.get() {
            return Ok(made);
        }
        let count = self.extent[..depth].iter().map(|&n| n as usize).product();
        let mut made = Vec::new();
        made.make_room(count)?;
        made.resize_with(count, AtomicU32::default);
        Ok(words.get_or_init(|| Arc::new(made.into())))
    }

    /// True if a word may be set.
    pub(in crate::runtime::data) fn may_be_published(&self) -> bool {
        self.word().load(Ordering::Relaxed) != 0 || self.slices.get().is_some()
    }

    /// Slice `number` of those that `depth` indices name, as a part of its own.
    pub(in crate::runtime::data) fn slice(&self, depth: usize, number: u64) -> Result<Self> {
        let rank = self.extent.len();
        if depth == 0 || depth >= rank {
            return Err(Error::invalid(format!(
                "{depth} indices cannot select a slice of the {} of rank {rank}; pass at least 1 and fewer than its \
                 rank",
                self.name()
            )));
        }
        let mut layout = self.layout.clone();
        let mut rest = number;
        for &(count, stride) in self.layout.dims[..depth].iter().rev() {
            layout.offset += rest % count * stride;
            rest /= count;
        }
        if rest > 0 {
            return Err(Error::runtime(format!(
                "slice {number} of the {} is out of range: {depth} indices select one of {} slices",
                self.name(),
                self.layout.dims[..depth].iter().map(|d| d.0).product::<u64>()
            )));
        }
        layout.dims.drain(..depth);
        Ok(Self::new(self.source.clone(), &self.extent[depth..], layout, self.read_only, self.label.clone()))
    }

    /// Its elements, for the race check.
    pub(in crate::runtime) fn elements(&self) -> Elements {
        let key = self.source.array().map_or(self.source.id(), |a| a.buffer().id());
        Elements { key, region: self.region.clone() }
    }

    pub(in crate::runtime) fn tally(&self, call: Call) -> Tally<'_> {
        let accounts = [Some(&self.counters), Some(self.source.counters()), None, None];
        Tally { call, source: self.source.id(), object: Some(self), accounts }
    }

    /// What messages call it.
    pub(in crate::runtime) fn name(&self) -> String {
        let label = labels::of(self.id).or_else(|| self.label.clone());
        label.map_or_else(|| format!("array_view {:?}", self.extent), |l| format!("array_view {l}"))
    }

    /// An error if the view must not be written.
    pub(in crate::runtime) fn check(&self, access: Access) -> Result<()> {
        if self.read_only && access.writes() {
            return Err(Error::invalid(format!(
                "access {access:?} was requested for the {}, which is read-only; make an array_view of non-const \
                 elements",
                self.name()
            )));
        }
        Ok(())
    }

    /// Waits for pending operations that conflict. To be called before the source is locked.
    pub(in crate::runtime) fn wait_pending(&self, access: Access) -> Result<()> {
        self.source.pending().wait_for_all(&self.region.hull(), access)
    }

    /// Makes it valid at `holder` for `access`; what is only written need not be moved. `state` must be that of its source.
    pub(in crate::runtime) fn make_valid(
        &self,
        state: &mut SourceState,
        holder: &Holder,
        access: Access,
        call: Call,
    ) -> Result<()> {
        if self.is_known_valid(state, holder, access) {
            return Ok(());
        }
        state.directory.make_room(&self.region)?;
        state.reserve(holder, &self.region.hull())?;
        if access != Access::Write {
            state.fetch(&self.region, holder, self.tally(call))?;
            self.known.set(state.directory.epoch(), holder, false);
        }
        Ok(())
    }

    /// True if it is known to be valid at `holder`, and, for a write access, only there.
    pub(in crate::runtime) fn is_known_valid(&self, state: &SourceState, holder: &Holder, access: Access) -> bool {
        self.known.is(state.directory.epoch(), holder, access.writes())
    }

    /// True if the host, at `holder`, may use all of it at once: nothing moves, nothing is waited for, and the directory stays
    /// as it is.
    pub(in crate::runtime) fn is_usable_on_host(&self, state: &SourceState, holder: &Holder, access: Access) -> bool {
        let directory = &state.directory;
        if directory.segments() > HULL_SEGMENTS {
            return false;
        }
        let is_there = if access.writes() {
            directory.is_exclusive(&self.region, holder.location)
        } else {
            directory.is_valid(&self.region, holder.location) && directory.loss(&self.region).is_none()
        };
        let hull = self.region.hull();
        is_there && self.source.pending().is_free(&hull, access) && state.wait_conflicts(holder, &hull, access).is_ok()
    }

    /// Records that it was written at `holder` by the host or by a copy; with [`Access::Write`], all of it was.
    pub(in crate::runtime) fn renewed(&self, state: &mut SourceState, holder: &Holder, access: Access) {
        if access == Access::Write {
            state.renewed(&self.region, holder);
        }
        self.written(state, holder);
    }

    /// Records that it was written at `holder`.
    pub(in crate::runtime) fn written(&self, state: &mut SourceState, holder: &Holder) {
        if !self.is_known_valid(state, holder, Access::Write) {
            state.directory.written(&self.region, holder.location);
            self.known.set(state.directory.epoch(), holder, true);
        }
    }
}
