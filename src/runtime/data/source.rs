//! Data sources: where the bytes of array_views live, and how they get to where they are needed.
//!
//! A [`Source`] has a home (host memory, an array, or storage made at the first use), a coherence directory, and copies
//! elsewhere: one block for each device, one for the host. Whoever uses a source locks its [`SourceState`] from looking at
//! the directory until the commands are recorded on the queues; several sources are locked in order of id. Nobody waits for
//! work of host threads under that lock, since that work may need it: pending operations are waited for before it is taken,
//! and if a host kernel must be waited for, the lock is released and the operation begins again ([`Source::attempt`]).

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
use crate::trace::events::{CallOfOthers, Object, Span, What};
use crate::trace::names::Name;
use crate::trace::transfers::{Call, Counters, implicit};
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

/// Where an array keeps the data source of its array_views. Locked while the last view writes back.
pub type SourceSlot = Mutex<Weak<Source>, { rank::ARRAY_SOURCE }>;

/// A data source.
pub struct Source {
    id: u64,
    bytes: u64,
    /// True if there is neither memory of the program nor an array behind it.
    is_open: bool,
    /// The storage of the array behind it, and the array's slot for this source.
    array: Option<(Arc<Storage>, Arc<SourceSlot>)>,
    label: Box<str>,
    state: Mutex<SourceState, { rank::SOURCE }>,
    /// What the host may do with its views without a call.
    host_access: HostAccess,
    /// Counts the views.
    views: Users,
    /// Pending operations; those of an array are in its storage.
    pending: Tracker,
    counters: Counters,
}

/// Sources with live views, for the exit hook.
static LIVE: Mutex<BTreeMap<u64, Weak<Source>>, { rank::LIVE_SOURCES }> = Mutex::new(BTreeMap::new());

const RELEASE: Call = implicit(c"revamp_array_view_release");

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

    /// Memory of the program.
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
        // A source whose last view is being released still counts it until all is written back, and goes on with the new
        // view.
        let live = known.upgrade().filter(|s| s.views.are_there());
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
    /// Transfers of its bytes.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// True if it has storage made at the first use.
    pub fn is_open(&self) -> bool {
        self.is_open
    }
    /// The memory of the array behind it.
    pub fn array(&self) -> Option<&Arc<Storage>> {
        self.array.as_ref().map(|(storage, _)| storage)
    }
    /// Pending operations on its bytes.
    pub(in crate::runtime) fn pending(&self) -> &Tracker {
        self.array().map_or(&self.pending, |a| a.pending())
    }
    /// Takes the lock under which every use happens.
    pub(in crate::runtime) fn lock(&self) -> MutexGuard<'_, SourceState> {
        self.state.lock_as(self.id)
    }

    pub(in crate::runtime) fn tally(&self, call: Call) -> Tally<'_> {
        let accounts = [Some(&self.counters), None, None, None];
        Tally { call, source: self.id, object: Some(self), accounts }
    }

    /// What the host may do without a call.
    pub(in crate::runtime) fn host_access(&self) -> &HostAccess {
        &self.host_access
    }

    /// Counts a new view.
    pub(in crate::runtime) fn retain(&self) {
        self.views.join();
    }

    /// Counts a view less; the last one writes back (DST-1, DST-2).
    pub(in crate::runtime) fn release(&self) {
        self.views.leave(
            || self.write_back_last(),
            || self.array.as_ref().map(|(_, slot)| slot.lock()),
            |is_home| {
                // Views made meanwhile and calls of other threads may have left changes to write back.
                let mut state = self.lock();
                let is_done = state.is_unused() && (!is_home || self.is_open || state.is_home());
                if is_done {
                    LIVE.lock().remove(&self.id);
                    state.close(self.array());
                }
                is_done
            },
        );
    }

    /// Writes back before the last view goes. False if that failed, which is logged (DST-7).
    fn write_back_last(&self) -> bool {
        let done = self.write_back();
        if let Err(e) = &done {
            log!(
                Error,
                "data of an array_view ({}) could not be written back when the last view was released: {e}; call \
                 synchronize() before",
                self.label
            );
        }
        done.is_ok()
    }

    /// Runs `f` under the lock, again if it must wait for something (which is done with the lock released) or if bytes were
    /// lost that other holders may have.
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

    /// Prepares the use of home's memory through the array itself: changes elsewhere come first (COH-12).
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
        self.host_access().take_back(&region, access);
        if access != Access::Write {
            state.fetch(&region, &holder, self.tally(call))?;
        }
        // Uses through the array's own buffer are ordered by its queue.
        let own = self.array().map(|a| a.buffer().id());
        state.wait_home(&region.hull(), access, own)
    }

    /// [`Self::use_at_home`] for an access of the host, after which what is written is valid only at home.
    pub(in crate::runtime) fn bring_home(&self, layout: &Layout, access: Access, call: Call) -> Result<()> {
        self.attempt(|state| {
            self.use_at_home(state, layout, access, call)?;
            if access.writes() {
                state.written_at_home(&layout.region())?;
            }
            Ok(())
        })
    }

    /// Brings changes made elsewhere home, and waits until nobody uses memory of the program.
    fn write_back(&self) -> Result<()> {
        let object = || Object::of(Name::of(&self.label), self.id);
        let _span = CallOfOthers::new(RELEASE, &object);
        // A destructor swallows it.
        self.try_write_back().inspect_err(|e| drop(Span::new(|| What::Failure(Name::of(&e.to_string())))))
    }

    fn try_write_back(&self) -> Result<()> {
        let all = 0..self.bytes;
        // Their failures are for whoever waits for them.
        let _ = self.pending().wait_for_all(&all, Access::ReadWrite);
        let mut result = self.attempt(|state| {
            self.host_access.take_back(&Region::linear(all.clone()), Access::Write);
            // Nobody can see storage of the library's own any more.
            if self.is_open || state.is_home() {
                return Ok(());
            }
            state.fetch_home(self.tally(RELEASE))?;
            state.wait_home(&all, Access::Read, None)
        });
        loop {
            let state = self.lock();
            // Users of the array's own buffer keep it alive; others only borrow the memory.
            let free = state.wait_home(&all, Access::Write, state.own_buffer());
            let free = free.and_then(|()| state.wait_memory(MemoryId::HostCopy, &all, Access::Write, None));
            drop(state);
            let Err(e) = free else { return result };
            let Some(Detour::Wait(points)) = Detour::of(&e) else { return result.and(Err(e)) };
            // Whether it succeeds or fails.
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
                "data of an array_view ({}) could not be written back at exit: {e}; call synchronize() before",
                source.label
            );
        }
    }
}
