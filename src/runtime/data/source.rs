//! Data sources: the storage under array_views, and its coherence.
//!
//! A [`Source`] has a *home*, its own storage: host memory, an array, or storage made at the first use. It also has copies of its
//! bytes in other memory: one block for each device, and one for the host. Its coherence *directory* records which of them hold valid
//! bytes. Every use of a source locks its [`SourceState`] from the lookup in the directory until the commands are recorded on the
//! queues. Several sources are locked in order of id. No thread waits for work of host threads under that lock, because that work
//! may need the lock. Operations wait for pending operations before they take the lock. If they must wait for a host kernel, they
//! release the lock and begin again ([`Source::attempt`]).

use crate::coherence::{Directory, MemoryId};
use crate::device::hazard::{Detour, Tracker};
use crate::device::unique_id;
use crate::error::Result;
use crate::geometry::{Layout, Region};
use crate::host::HostSpan;
use crate::kernel::Access;
use crate::lock::{Mutex, MutexGuard, rank};
use crate::log;
use crate::runtime::data::host_access::HostAccess;
use crate::runtime::data::retry::{should_retry, wait_detour};
use crate::runtime::data::source_state::{Home, SourceState};
use crate::runtime::data::storage::Storage;
use crate::runtime::data::transfer::{Named, Tally};
use crate::runtime::data::users::Users;
use crate::trace::events::{ConditionalCallSpan, EventContent, Object, Span};
use crate::trace::names::Name;
use crate::trace::transfers::{Call, Counters, Rule, implicit};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// An array's reference to the data source of its array_views. Locked while the last view writes back.
pub type SourceSlot = Mutex<Weak<Source>, { rank::ARRAY_SOURCE }>;

/// A data source.
pub struct Source {
    id: u64,
    bytes: u64,
    /// True if the source has no memory of the program and no array.
    is_open: bool,
    /// The storage of the source's array, and the array's slot for this source.
    array: Option<(Arc<Storage>, Arc<SourceSlot>)>,
    label: Box<str>,
    state: Mutex<SourceState, { rank::SOURCE }>,
    /// The state words of the source's views.
    host_access: HostAccess,
    /// Counts the array_views of the source.
    views: Users,
    /// Pending operations. The storage of an array has a tracker of its own for them.
    pending: Tracker,
    counters: Counters,
}

/// Sources with live views, for the exit hook.
static LIVE: Mutex<BTreeMap<u64, Weak<Source>>, { rank::LIVE_SOURCES }> = Mutex::new(BTreeMap::new());

const RELEASE: Call = implicit(c"revamp_array_view_release", Rule::Dst1);

impl Named for Source {
    fn name(&self) -> String {
        self.label.to_string()
    }
}

impl Source {
    fn new(bytes: u64, home: Home, array: Option<(Arc<Storage>, Arc<SourceSlot>)>, label: &str) -> Arc<Self> {
        let is_host = home.host().is_some();
        let is_open = matches!(home, Home::Open { .. });
        let directory = if is_open { Directory::unwritten(bytes, true) } else { Directory::new(bytes, is_host) };
        let state = SourceState::new(directory, home);
        let source = Arc::new(Self {
            id: unique_id(),
            bytes,
            is_open,
            array,
            label: label.into(),
            state: Mutex::new(state),
            host_access: HostAccess::default(),
            views: Users::default(),
            pending: Tracker::new(),
            counters: Counters::new(),
        });
        LIVE.lock().insert(source.id, Arc::downgrade(&source));
        source
    }

    /// A source over memory of the program.
    pub fn over_host(span: HostSpan, label: &str) -> Arc<Self> {
        Self::new(span.len(), Home::Host(span), None, label)
    }

    /// A source whose storage is made at the first use.
    pub fn open(bytes: u64, extent: &[i32], element: usize, label: &str) -> Arc<Self> {
        Self::new(bytes, Home::Open { extent: extent.into(), element }, None, label)
    }

    /// The source of an array, shared by all its views. Counts the view that the caller makes.
    pub fn over_array(storage: &Arc<Storage>, slot: &Arc<SourceSlot>) -> Arc<Self> {
        let mut known = slot.lock();
        // A source counts its last view until the write-back is complete. If a new view arrives meanwhile, the source stays
        // alive.
        let live = known.upgrade().filter(|s| s.views.has_users());
        let source = live.unwrap_or_else(|| {
            let array = Some((storage.clone(), slot.clone()));
            let made = Self::new(storage.layout().bytes(), Home::Array(storage.clone()), array, "array");
            *known = Arc::downgrade(&made);
            made
        });
        source.retain();
        source
    }

    /// Unique for the life of the process.
    pub fn id(&self) -> u64 {
        self.id
    }
    /// The size of the source in bytes.
    pub(in crate::runtime) fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Counters of transfers of the source's bytes.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// True if the storage is made at the first use.
    pub fn is_open(&self) -> bool {
        self.is_open
    }
    /// The storage of the source's array.
    pub fn array(&self) -> Option<&Arc<Storage>> {
        self.array.as_ref().map(|(storage, _)| storage)
    }
    /// Pending operations on the source's bytes.
    pub(in crate::runtime) fn pending(&self) -> &Tracker {
        self.array().map_or(&self.pending, |a| a.pending())
    }
    /// Locks the state of the source. Every use of the source needs this lock.
    pub(in crate::runtime) fn lock(&self) -> MutexGuard<'_, SourceState> {
        self.state.lock_as(self.id)
    }

    pub(in crate::runtime) fn tally(&self, call: Call) -> Tally<'_> {
        let accounts = [Some(&self.counters), None, None, None];
        Tally { call, source: self.id, object: Some(self), accounts }
    }

    /// The state words of its views.
    pub(in crate::runtime) fn host_access(&self) -> &HostAccess {
        &self.host_access
    }

    /// Counts a new view.
    pub(in crate::runtime) fn retain(&self) {
        self.views.join();
    }

    /// Stops counting a view; the last view writes back (DST-1, DST-2).
    pub(in crate::runtime) fn release(&self) {
        self.views.leave(
            || self.write_back_last(),
            || self.array.as_ref().map(|(_, slot)| slot.lock()),
            |is_written_back| {
                // Views that were made meanwhile, or calls of other threads, may have made new changes to write back.
                let mut state = self.lock();
                let is_done = state.is_unused() && (!is_written_back || self.is_open || state.is_written_back());
                if is_done {
                    LIVE.lock().remove(&self.id);
                    state.close(self.array());
                }
                is_done
            },
        );
    }

    /// Writes back before the last view is dropped. Logs a failure and returns false (DST-7).
    fn write_back_last(&self) -> bool {
        let done = self.write_back();
        if let Err(e) = &done {
            log!(
                Error,
                "data of an array_view ({}) could not be written back when the last view was released: {e}; call \
                 synchronize() before the last view is released",
                self.label
            );
        }
        done.is_ok()
    }

    /// Runs `f` under the lock. If `f` asks for a wait, waits with the lock released and then runs `f` again. Also runs `f` again if
    /// bytes were lost that other holders may have.
    pub(in crate::runtime) fn attempt<T>(&self, mut f: impl FnMut(&mut SourceState) -> Result<T>) -> Result<T> {
        let mut rounds = 0;
        loop {
            let mut state = self.lock();
            state.check_open()?;
            let error = match f(&mut state) {
                Err(e) => e,
                done => return done,
            };
            if should_retry(&error, &mut rounds, || state.absorb_losses()) {
                continue;
            }
            drop(state);
            wait_detour(error)?;
        }
    }

    /// Prepares a use of home's memory through the array itself: transfers to home the changes made in other memory
    /// (COH-12).
    pub(in crate::runtime) fn use_at_home(
        &self,
        state: &mut SourceState,
        layout: &Layout,
        access: Access,
        call: Call,
    ) -> Result<()> {
        let region = layout.region();
        let holder = state.home_holder(None)?;
        state.directory.make_room(&region)?;
        self.host_access().revoke(&region, access);
        if access != Access::Write {
            state.fetch(&region, &holder, self.tally(call.with_rule(|_| Rule::Coh12)))?;
        }
        // The queue orders uses through the array's own buffer.
        let array_buffer = self.array().map(|a| a.buffer().id());
        state.wait_home(&region.hull(), access, array_buffer)
    }

    /// [`Self::use_at_home`] for an access of the host. Written bytes are then valid only at home.
    pub(in crate::runtime) fn bring_home(&self, layout: &Layout, access: Access, call: Call) -> Result<()> {
        self.attempt(|state| {
            self.use_at_home(state, layout, access, call)?;
            if access.writes() {
                state.written_at_home(&layout.region())?;
            }
            Ok(())
        })
    }

    /// Transfers to home the changes that were made in other memory. Then waits until no work uses memory of the
    /// program.
    fn write_back(&self) -> Result<()> {
        let object = || Object::of(Name::of(&self.label), self.id);
        let _span = ConditionalCallSpan::new(RELEASE, &object);
        // The callers only log a failure and do not return it, so the trace records it too.
        self.try_write_back().inspect_err(|e| drop(Span::new(|| EventContent::Failure(Name::of(&e.to_string())))))
    }

    fn try_write_back(&self) -> Result<()> {
        let all = 0..self.bytes;
        // Ignores failures: waits for these operations themselves report them.
        let _ = self.pending().wait_for_all(&all, Access::ReadWrite);
        let mut result = self.attempt(|state| {
            self.host_access.revoke(&Region::linear(all.clone()), Access::Write);
            // The storage of an open source belongs to the library. Nobody can read it any more, so it needs no
            // write-back.
            if self.is_open || state.is_written_back() {
                return Ok(());
            }
            state.fetch_home(self.tally(RELEASE))?;
            state.wait_home(&all, Access::Read, None)
        });
        loop {
            let state = self.lock();
            // Waits only for uses through other buffers, which borrow the memory. Uses through the array's own buffer keep the buffer alive.
            let free = state.wait_home(&all, Access::Write, state.home_buffer());
            let free = free.and_then(|()| state.wait_memory(MemoryId::HostCopy, &all, Access::Write, None));
            drop(state);
            let Err(e) = free else { return result };
            let Some(Detour::Wait(points)) = Detour::of(&e) else { return result.and(Err(e)) };
            // Waits for all points, even after a failure.
            for point in points {
                result = result.and(point.wait(None).map(drop));
            }
        }
    }
}

/// Writes back the data of all live views (decision 27).
pub(in crate::runtime) fn write_back_all() {
    let live: Vec<_> = LIVE.lock().values().filter_map(Weak::upgrade).collect();
    for source in live {
        if let Err(e) = source.write_back() {
            log!(
                Error,
                "data of an array_view ({}) could not be written back at exit: {e}; call synchronize() before the \
                 process exits",
                source.label
            );
        }
    }
}
