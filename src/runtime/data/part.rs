//! The part of a data source that an array_view covers, and where the part is known to be valid.

use crate::device::unique_id;
use crate::error::{Error, Result};
use crate::geometry::{Layout, Region};
use crate::grow::Grow;
use crate::kernel::Access;
use crate::runtime::data::host_access::Words;
use crate::runtime::data::source::Source;
use crate::runtime::data::source_state::{Holder, SourceState};
use crate::runtime::data::transfer::{Named, Tally};
use crate::runtime::race::{Elements, UsedThrough};
use crate::trace::labels;
use crate::trace::transfers::{Call, Counters};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The part of a data source that a view covers. Operations in progress hold the part instead of the view, so that they do not
/// keep the view alive.
pub struct Part {
    pub(in crate::runtime::data) id: u64,
    pub(in crate::runtime::data) source: Arc<Source>,
    pub(in crate::runtime::data) extent: SmallVec<[i32; 4]>,
    pub(in crate::runtime::data) strides: SmallVec<[u64; 4]>,
    pub(in crate::runtime::data) layout: Layout,
    pub(in crate::runtime::data) region: Region,
    pub(in crate::runtime::data) read_only: bool,
    pub(in crate::runtime::data) label: Option<Arc<str>>,
    /// The state word, which says what the host may do without calling the library. C programs read it.
    pub(in crate::runtime::data) word: Arc<Words>,
    /// The state words of slices of the part, once the host has used a slice.
    slices: Slices,
    /// The location at which the directory last found this part valid. Only used under the source's lock.
    known: ValidAt,
    pub(in crate::runtime::data) counters: Counters,
}

/// The state words of slices, by depth: the first entry is for slices that one index selects.
type Slices = OnceLock<Box<[OnceLock<Arc<Words>>]>>;

/// If the directory has more segments than this, it is not searched to find whether the host may use a whole view.
const HULL_SEGMENTS: usize = 8;

/// Where a part was valid at an epoch of the directory, so that an unchanged source costs one comparison. The atomics need no
/// ordering, because they are used under the source's lock.
struct ValidAt {
    epoch: AtomicU64,
    /// Twice the index of the location, plus 1 if the part is valid nowhere else.
    at: AtomicU64,
}

impl ValidAt {
    /// True if the part was valid at `holder` at this epoch, and, if `exclusive`, only there.
    fn is(&self, epoch: u64, holder: &Holder, exclusive: bool) -> bool {
        let at = self.at.load(Ordering::Relaxed);
        let same = at >> 1 == holder.location.index() as u64 && self.epoch.load(Ordering::Relaxed) == epoch;
        same && (at & 1 == 1 || !exclusive)
    }

    fn set(&self, epoch: u64, holder: &Holder, exclusive: bool) {
        self.epoch.store(epoch, Ordering::Relaxed);
        self.at.store((holder.location.index() as u64) << 1 | u64::from(exclusive), Ordering::Relaxed);
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

    /// The data source of the part.
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
    /// The layout of its elements in the source.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The bytes it covers.
    pub fn region(&self) -> &Region {
        &self.region
    }
    /// True for `array_view<const T>`.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }
    /// Counters of transfers that uses of the view caused.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// The state word, which says what the host may do without calling the library: [`HOST_MAY_READ`], [`HOST_MAY_WRITE`].
    pub fn word(&self) -> &AtomicU32 {
        &self.word[0]
    }

    /// The state words of all slices that fix the first `depth` indices, in row-major order. `depth` is at least 1 and less than
    /// the rank.
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

    /// True if a state word may be set.
    pub(in crate::runtime::data) fn may_be_published(&self) -> bool {
        self.word().load(Ordering::Relaxed) != 0 || self.slices.get().is_some()
    }

    /// A slice as a separate part: slice `number`, in row-major order, among the slices that fix the first `depth` indices.
    pub(in crate::runtime::data) fn slice(&self, depth: usize, number: u64) -> Result<Self> {
        let rank = self.extent.len();
        if depth == 0 || depth >= rank {
            return Err(Error::invalid(format!(
                "{depth} indices cannot select a slice of the {} of rank {rank}; pass at least 1 index, and fewer than \
                 the rank",
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

    /// The elements of the part, for the race check.
    pub(in crate::runtime) fn elements(&self) -> Elements {
        let key = self.source.array().map_or(self.source.id(), |a| a.buffer().id());
        Elements { key, region: self.region.clone(), through: UsedThrough::View }
    }

    pub(in crate::runtime) fn tally(&self, call: Call) -> Tally<'_> {
        let accounts = [Some(&self.counters), Some(self.source.counters()), None, None];
        Tally { call, source: self.source.id(), object: Some(self), accounts }
    }

    /// The name in messages.
    pub(in crate::runtime) fn name(&self) -> String {
        let label = labels::of(self.id).or_else(|| self.label.clone());
        label.map_or_else(|| format!("array_view {:?}", self.extent), |l| format!("array_view {l}"))
    }

    /// Fails if `access` writes and the view is read-only.
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

    /// Waits for pending operations that conflict with `access`. Must be called before the source is locked.
    pub(in crate::runtime) fn wait_pending(&self, access: Access) -> Result<()> {
        self.source.pending().wait_for_all(&self.region.hull(), access)
    }

    /// Makes the part valid at `holder` for `access`. Moves no bytes if `access` only writes. `state` must be the state of the part's source.
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

    /// True if the part is known to be valid at `holder`. For a write access, it must also be known to be valid nowhere else.
    pub(in crate::runtime) fn is_known_valid(&self, state: &SourceState, holder: &Holder, access: Access) -> bool {
        self.known.is(state.directory.epoch(), holder, access.writes())
    }

    /// True if the host, at `holder`, may use the whole part immediately: without a transfer, a wait or a change of the directory.
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

    /// Records a write at `holder` by the host or a copy. [`Access::Write`] means that the whole part was written.
    pub(in crate::runtime) fn renewed(&self, state: &mut SourceState, holder: &Holder, access: Access) {
        if access == Access::Write {
            state.renewed(&self.region, holder);
        }
        self.written(state, holder);
    }

    /// Records that the part was written at `holder`.
    pub(in crate::runtime) fn written(&self, state: &mut SourceState, holder: &Holder) {
        if !self.is_known_valid(state, holder, Access::Write) {
            state.directory.written(&self.region, holder.location);
            self.known.set(state.directory.epoch(), holder, true);
        }
    }
}
