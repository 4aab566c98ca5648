//! Data sources: where the bytes of array_views live, and how they get where they are needed.
//!
//! A [`Source`] is home memory (host memory, an array, or storage made at the first access), a coherence directory, and
//! copies elsewhere: one block for each device, one for the host. Whoever uses a source locks its [`State`] from the moment
//! it looks at the directory until what it does is recorded on the queues; several sources are locked in order of id.
//! Nobody waits for work of host threads under that lock, since it may need it: asynchronous operations are waited for before it
//! is taken, and where a kernel of host threads turns up the lock is given up and all is tried again ([`Source::attempt`]).

use crate::coherence::{Directory, Location, LossId, Step};
use crate::device::hazard::{Detour, Tracker, any_lost};
use crate::device::physical::Kind;
use crate::device::{Buffer, Placement, unique_id};
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::{CopyDim, CopyPlan, Layout, Region};
use crate::host::{HostBlock, HostSpan};
use crate::kernel::Access;
use crate::lock::{Mutex, MutexGuard, rank};
use crate::log;
use crate::runtime::AccessType;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::host_access::Words;
use crate::runtime::data::storage::{ArrayRequest, Storage};
use crate::runtime::data::transfer::{Memory, Tally, run};
use crate::runtime::data::users::Users;
use crate::trace::transfers::{Call, Counters, implicit};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Device blocks begin at a multiple of so many bytes of the source: the largest alignment a binding can ask for.
const BLOCK_ALIGN: u64 = 256;
/// A block that has grown so often grows ahead of its use, so that a walk over a source stays linear.
const GROWN_OFTEN: u32 = 2;

/// How long a driver may take to let go of memory after the work that used it.
const PATIENCE: Duration = Duration::from_millis(100);

/// The number of home's memory in a directory.
const HOME_MEMORY: u32 = 0;
/// The number of the host's copy.
const HOST_MEMORY: u32 = 1;
/// Number of the first device block.
const FIRST_BLOCK: u32 = 2;

/// Where a source lives.
enum Home {
    /// Nowhere yet: made at the first access (docs/spec/array-views.md#views-without-a-data-source).
    Open {
        /// Extent of the view it was made for.
        extent: Box<[i32]>,
        /// Bytes of its elements.
        element: usize,
    },
    /// Memory of the program.
    Host(HostSpan),
    /// Memory of ours, for a view without a data source that the host used first.
    Own(HostBlock),
    /// An array.
    Array(Arc<Storage>),
}

impl Home {
    /// The memory as the host addresses it, where it does.
    fn host(&self) -> Option<HostSpan> {
        match self {
            Self::Open { .. } => None,
            Self::Host(span) => Some(*span),
            Self::Own(block) => Some(block.span()),
            Self::Array(a) if a.shares_host() => a.buffer().host(),
            Self::Array(_) => None,
        }
    }
}

/// A device's copy of the part of a source that it used.
struct Block {
    view: Arc<AcceleratorView>,
    /// The memory and the source's byte it begins at.
    memory: Option<(Arc<dyn Buffer>, u64)>,
    grown: u32,
}

impl Block {
    fn range(&self) -> Range<u64> {
        self.memory.as_ref().map_or(0..0, |(buffer, base)| *base..base + buffer.size())
    }
}

/// A location as the runtime knows it.
pub(in crate::runtime) struct Place {
    /// The accelerator_view; `None`: the host.
    view: Option<Arc<AcceleratorView>>,
    /// Its name in the directory.
    pub location: Location,
    /// Which memory it uses.
    memory: u32,
    /// Home's memory as this device addresses it.
    alias: Option<Arc<dyn Buffer>>,
}

impl Place {
    /// True if it uses home's memory itself.
    pub fn shares_home(&self) -> bool {
        self.memory == HOME_MEMORY
    }
}

/// What is known of a source; locked by whoever uses it.
pub(in crate::runtime) struct State {
    pub directory: Directory,
    home: Home,
    places: Vec<Arc<Place>>,
    blocks: Vec<Block>,
    host_copy: Option<HostBlock>,
    /// Grows whenever a place or its memory changes.
    moves: u64,
    /// Why bytes are lost; a [`LossId`] counts from 1.
    losses: Vec<Error>,
    /// The last view is gone.
    is_closed: bool,
}

/// What changes whenever anything does that a launch finds out about a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::runtime) struct Stamp {
    epoch: u64,
    moves: u64,
}

/// Where an array keeps the data source of its array_views. Locked while the last view writes back.
pub type Slot = Mutex<Weak<Source>, { rank::ARRAY_SOURCE }>;

/// A data source.
pub struct Source {
    id: u64,
    bytes: u64,
    /// Without memory of the program or an array behind it.
    is_open: bool,
    /// The memory of the array behind it, and where that array keeps the source.
    array: Option<(Arc<Storage>, Arc<Slot>)>,
    label: Box<str>,
    state: Mutex<State, { rank::SOURCE }>,
    /// What the host may do without a call.
    words: Words,
    /// Views that are alive.
    views: Users,
    /// Asynchronous host operations that are not done; an array keeps its own.
    pending: Tracker,
    counters: Counters,
}

/// Sources with live views, for the exit hook.
static LIVE: Mutex<BTreeMap<u64, Weak<Source>>, { rank::LIVE_SOURCES }> = Mutex::new(BTreeMap::new());

const RELEASE: Call = implicit(c"revamp_array_view_release");

impl Source {
    fn new(bytes: u64, home: Home, array: Option<(Arc<Storage>, Arc<Slot>)>, label: &str) -> Arc<Self> {
        let is_host = home.host().is_some();
        let is_open = matches!(home, Home::Open { .. });
        let directory = if is_open { Directory::unwritten(bytes, true) } else { Directory::new(bytes, is_host) };
        let state = State::new(directory, home);
        let source = Arc::new(Self {
            id: unique_id(),
            bytes,
            is_open,
            array,
            label: label.into(),
            state: Mutex::new(state),
            words: Words::default(),
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

    /// Storage made at the first access.
    pub fn open(bytes: u64, extent: &[i32], element: usize, label: &str) -> Arc<Self> {
        Self::new(bytes, Home::Open { extent: extent.into(), element }, None, label)
    }

    /// The source of an array: one for all its views. Counts a view that the caller makes.
    pub fn over_array(storage: &Arc<Storage>, slot: &Arc<Slot>) -> Arc<Self> {
        let mut known = slot.lock();
        // One whose last view is being released counts that until all is home, and goes on with the new one.
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
    /// True for storage made at the first access.
    pub fn is_open(&self) -> bool {
        self.is_open
    }
    /// The memory of the array behind it.
    pub fn array(&self) -> Option<&Arc<Storage>> {
        self.array.as_ref().map(|(storage, _)| storage)
    }
    /// Asynchronous host operations on its bytes.
    pub(in crate::runtime) fn pending(&self) -> &Tracker {
        self.array().map_or(&self.pending, |a| a.pending())
    }
    /// Takes the lock that every use needs.
    pub(in crate::runtime) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock_as(self.id)
    }

    pub(in crate::runtime) fn tally(&self, call: Call) -> Tally<'_> {
        Tally { call, source: self.id, accounts: [Some(&self.counters), None, None, None] }
    }

    /// What the host may do without a call.
    pub(in crate::runtime) fn words(&self) -> &Words {
        &self.words
    }

    /// One more view.
    pub(in crate::runtime) fn retain(&self) {
        self.views.join();
    }

    /// One view less; the last one writes back (DST-1, DST-2).
    pub(in crate::runtime) fn release(&self) {
        self.views.leave(
            || self.write_back_last(),
            || self.array.as_ref().map(|(_, slot)| slot.lock()),
            |is_home| {
                // Views that came and went, and calls of other threads, may have left something.
                let mut state = self.lock();
                let is_done = state.is_unused() && (!is_home || self.is_open || state.is_home());
                if is_done {
                    LIVE.lock().remove(&self.id);
                    self.close(&mut state);
                }
                is_done
            },
        );
    }

    /// Writes back before the last view goes: false if that failed, which the log tells (DST-7).
    fn write_back_last(&self) -> bool {
        let done = self.write_back();
        if let Err(e) = &done {
            log!(
                Error,
                "data of an array_view ({}) could not be written back when the last view was released: {e}",
                self.label
            );
        }
        done.is_ok()
    }

    /// Runs `f` under the lock. What `f` may not wait for there is waited for without it, and for lost bytes the other holders
    /// are asked; then `f` runs again.
    pub(in crate::runtime) fn attempt<T>(&self, mut f: impl FnMut(&mut State) -> Result<T>) -> Result<T> {
        let mut rounds = 0;
        loop {
            let mut state = self.lock();
            state.check_open()?;
            let error = match f(&mut state) {
                Err(e) => e,
                done => return done,
            };
            if looks_again(&error, &mut rounds, || state.absorb_losses()) {
                continue;
            }
            drop(state);
            take_detour(error)?;
        }
    }

    /// Home's memory is used through the array itself: changes elsewhere come first (COH-12).
    pub(in crate::runtime) fn use_at_home(
        &self,
        state: &mut State,
        layout: &Layout,
        access: Access,
        call: Call,
    ) -> Result<()> {
        let region = layout.region();
        let place = state.home_place(None)?;
        state.directory.make_room(&region)?;
        self.words().take_back(&region, access);
        if access != Access::Write {
            state.fetch(&region, &place, self.tally(call))?;
        }
        // Its own queue orders what goes through the array's own buffer.
        let own = self.array().map(|a| a.buffer().id());
        state.settle_home(&region.hull(), access, own)
    }

    /// The same for an access of the host, after which home alone has what is written.
    pub(in crate::runtime) fn bring_home(&self, layout: &Layout, access: Access, call: Call) -> Result<()> {
        self.attempt(|state| {
            self.use_at_home(state, layout, access, call)?;
            if access.writes() {
                state.written_at_home(&layout.region())?;
            }
            Ok(())
        })
    }

    /// Brings home what was changed elsewhere, and waits until nobody uses memory of the program.
    fn write_back(&self) -> Result<()> {
        let all = 0..self.bytes;
        // What failed there is for whoever waits for it.
        let _ = self.pending().wait_for_all(&all, Access::ReadWrite);
        let mut result = self.attempt(|state| {
            self.words.take_back(&Region::linear(all.clone()), Access::Write);
            // Storage of ours nobody can see any more.
            if self.is_open || state.is_home() {
                return Ok(());
            }
            state.fetch_home(self.tally(RELEASE))?;
            state.settle_home(&all, Access::Read, None)
        });
        loop {
            let state = self.lock();
            // Who uses an array through its own buffer keeps it alive; others only borrow the memory.
            let settled = state.settle_home(&all, Access::Write, state.own_buffer());
            let settled = settled.and_then(|()| state.settle_memory(HOST_MEMORY, &all, Access::Write, None));
            drop(state);
            let Err(e) = settled else { return result };
            let Some(Detour::Wait(points)) = Detour::of(&e) else { return result.and(Err(e)) };
            // However it ends.
            for point in points {
                result = result.and(point.wait(None).map(drop));
            }
        }
    }

    /// Gives up the copies on devices, what finished work still holds of them, and the ways to memory of the program.
    fn close(&self, state: &mut State) {
        state.is_closed = true;
        let own = state.own_buffer();
        state.let_go(own);
        for block in &mut state.blocks {
            block.memory = None;
            block.view.device().reclaim();
        }
        if let Some(array) = self.array() {
            // Whoever uses the array by itself is told too.
            for (range, id) in state.directory.losses() {
                array.buffer().tracker().lose(range, state.reason(id));
            }
            array.device().reclaim();
        }
    }
}

/// How often an operation is tried again with other holders.
const ROUNDS: usize = 4;

/// True if an operation is to be tried again: the error says that bytes cannot be had from where they were looked for, and
/// `absorb` found out that others may hold them.
pub(in crate::runtime) fn looks_again(error: &Error, rounds: &mut usize, absorb: impl FnOnce() -> bool) -> bool {
    let may_be_held =
        matches!(Detour::of(error), Some(Detour::Lost)) || error.kind == ErrorKind::AcceleratorViewRemoved;
    if !may_be_held || *rounds == ROUNDS {
        return false;
    }
    *rounds += 1;
    absorb()
}

/// Waits for what the error asks for, or returns it. No lock may be held.
pub(in crate::runtime) fn take_detour(error: Error) -> Result<()> {
    match Detour::of(&error) {
        Some(Detour::Wait(points)) => points.iter().try_for_each(|p| p.wait(None).map(drop)),
        _ => Err(error),
    }
}

/// Writes back the data of all views that are alive (decision 27).
pub(in crate::runtime) fn write_back_all() {
    let live: Vec<_> = LIVE.lock().values().filter_map(Weak::upgrade).collect();
    for source in live {
        if let Err(e) = source.write_back() {
            log!(Error, "data of an array_view ({}) could not be written back at exit: {e}", source.label);
        }
    }
}

impl Place {
    /// Home by itself, whoever addresses it.
    fn home() -> Self {
        Self { view: None, location: Location::HOME, memory: HOME_MEMORY, alias: None }
    }
}

impl State {
    fn new(directory: Directory, home: Home) -> Self {
        Self {
            directory,
            home,
            places: Vec::new(),
            blocks: Vec::new(),
            host_copy: None,
            moves: 0,
            losses: Vec::new(),
            is_closed: false,
        }
    }

    /// True if the last view is gone: nobody may use the memory any more.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Fails if the last view is gone.
    pub fn check_open(&self) -> Result<()> {
        if self.is_closed {
            return Err(Error::new(
                ErrorKind::InvalidHandle,
                "the array_view was released by another thread while this call was about to use it",
            ));
        }
        Ok(())
    }

    /// True if nothing is to be written back.
    fn is_home(&self) -> bool {
        self.directory.is_valid(&Region::linear(0..self.directory.bytes()), Location::HOME)
    }

    /// True if nothing under way uses memory of the program.
    fn is_unused(&self) -> bool {
        let (all, own) = (0..self.directory.bytes(), self.own_buffer());
        let borrowed = self.buffers().filter(|(memory, _, _, b)| *memory < FIRST_BLOCK && Some(b.id()) != own);
        borrowed.map(|(_, _, _, buffer)| buffer).all(|buffer| buffer.tracker().is_free(&all))
    }

    /// See [`Stamp`].
    pub fn stamp(&self) -> Stamp {
        Stamp { epoch: self.directory.epoch(), moves: self.moves }
    }

    /// True if a place's memory is used through its own buffer alone, so that nothing else is to be waited for.
    pub fn has_one_way(&self, place: &Place) -> bool {
        let own = |p: &Arc<Place>| match (&p.alias, &place.alias) {
            (Some(a), Some(b)) => a.id() == b.id(),
            (None, _) => true,
            _ => false,
        };
        let home = match &self.home {
            Home::Array(a) if place.shares_home() => place.alias.as_ref().is_some_and(|b| b.id() == a.buffer().id()),
            _ => true,
        };
        place.memory >= FIRST_BLOCK || home && self.places.iter().filter(|p| p.memory == place.memory).all(own)
    }

    /// Home's location; storage not made yet is made where `first` is, `None` being the host.
    fn settle_open(&mut self, first: Option<&Arc<AcceleratorView>>) -> Result<()> {
        let Home::Open { extent, element } = &self.home else { return Ok(()) };
        let bytes = self.directory.bytes();
        self.home = match first.filter(|v| v.accelerator().kind() != Kind::Cpu) {
            None => Home::Own(HostBlock::new(bytes)?),
            Some(view) => Home::Array(Storage::create(ArrayRequest {
                view: view.clone(),
                extent,
                element_size: *element,
                cpu_access: AccessType::Auto,
                associated: None,
                label: Some("array_view without a data source"),
            })?),
        };
        self.directory = Directory::unwritten(bytes, self.home.host().is_some());
        self.moves += 1;
        Ok(())
    }

    /// The place of an accelerator_view, or of the host (`None`).
    pub fn place(&mut self, view: Option<&Arc<AcceleratorView>>) -> Result<Arc<Place>> {
        let view = view.filter(|v| v.accelerator().kind() != Kind::Cpu);
        let id = view.map(|v| v.id());
        if let Some(known) = self.places.iter().find(|p| p.view.as_ref().map(|v| v.id()) == id) {
            return Ok(known.clone());
        }
        self.settle_open(view)?;
        let place = Arc::new(match view {
            None => self.host_place(),
            Some(view) => self.device_place(view)?,
        });
        self.places.push(place.clone());
        self.moves += 1;
        Ok(place)
    }

    fn host_place(&mut self) -> Place {
        match &self.home {
            Home::Array(a) if a.view().accelerator().kind() == Kind::Cpu => Place::home(),
            Home::Array(a) => {
                let memory = if a.shares_host() { HOME_MEMORY } else { HOST_MEMORY };
                Place { location: self.directory.add(memory, true), memory, ..Place::home() }
            }
            _ => Place::home(),
        }
    }

    fn device_place(&mut self, view: &Arc<AcceleratorView>) -> Result<Place> {
        let view = view.actual();
        let is_host = self.home.host().is_some();
        if let Home::Array(a) = &self.home
            && a.view().id() == view.id()
        {
            return Ok(Place { view: Some(view), alias: Some(a.buffer().clone()), ..Place::home() });
        }
        if let Some(alias) = self.alias(&view)? {
            let location = self.directory.add(HOME_MEMORY, is_host);
            return Ok(Place { view: Some(view), location, memory: HOME_MEMORY, alias: Some(alias) });
        }
        if view.accelerator().is_host_memory() {
            // Host threads use the host's copy.
            let span = self.host_copy()?;
            let known = self.alias_of(HOST_MEMORY, &view);
            let alias = match known {
                Some(known) => known.alias.clone(),
                None => view.device().import(span, "array_view")?,
            };
            if alias.is_some() {
                let location = self.directory.add(HOST_MEMORY, true);
                return Ok(Place { view: Some(view), location, memory: HOST_MEMORY, alias });
            }
        }
        let known = self.blocks.iter().position(|b| b.view.device().id() == view.device().id());
        let number = known.unwrap_or_else(|| {
            self.blocks.push(Block { view: view.clone(), memory: None, grown: 0 });
            self.blocks.len() - 1
        });
        let memory = FIRST_BLOCK + number as u32;
        Ok(Place { location: self.directory.add(memory, false), view: Some(view), memory, alias: None })
    }

    /// A place of the view's device that addresses this memory.
    fn alias_of(&self, memory: u32, view: &AcceleratorView) -> Option<&Arc<Place>> {
        let same = |p: &&Arc<Place>| p.view.as_ref().is_some_and(|v| v.device().id() == view.device().id());
        self.places.iter().filter(|p| p.memory == memory).find(same)
    }

    /// Home's memory as the view's device addresses it, where it can use that as fast as its own.
    fn alias(&self, view: &Arc<AcceleratorView>) -> Result<Option<Arc<dyn Buffer>>> {
        let device = view.device();
        if let Some(known) = self.alias_of(HOME_MEMORY, view) {
            return Ok(known.alias.clone());
        }
        if self.blocks.iter().any(|b| b.view.device().id() == device.id()) {
            return Ok(None);
        }
        if let Home::Array(a) = &self.home
            && a.device().id() == device.id()
        {
            let reaches = !a.is_staging() || device.shares_memory();
            return Ok(reaches.then(|| a.buffer().clone()));
        }
        match self.home.host() {
            // Bindings count from the span's start, as they do in a block of the device.
            Some(span) if span.address() % view.accelerator().properties().min_storage_buffer_alignment.max(1) == 0 => {
                device.import(span, "array_view")
            }
            _ => Ok(None),
        }
    }

    /// Gives up the ways in which devices address home's memory: their drivers must have let go of memory of the program
    /// when it gets it back.
    fn let_go(&mut self, own: Option<u64>) {
        self.moves += 1;
        let places = std::mem::take(&mut self.places);
        self.places = places.iter().filter(|p| p.alias.as_ref().is_none_or(|b| Some(b.id()) == own)).cloned().collect();
        let mut borrowed: Vec<_> = places.iter().filter_map(|p| Some((p.alias.clone()?, p.view.clone()?))).collect();
        drop(places);
        borrowed.retain(|(buffer, _)| Some(buffer.id()) != own);
        borrowed.sort_unstable_by_key(|(buffer, _)| buffer.id());
        borrowed.dedup_by_key(|(buffer, _)| buffer.id());
        let patience = Instant::now() + PATIENCE;
        for (buffer, view) in borrowed {
            while Arc::strong_count(&buffer) > 1 && Instant::now() < patience {
                view.device().reclaim();
                std::thread::yield_now();
            }
        }
    }

    /// Waits for what uses a memory of the host's, home's or the copy's, through another way than `except`.
    pub fn settle_memory(&self, memory: u32, range: &Range<u64>, access: Access, except: Option<u64>) -> Result<()> {
        let own = match &self.home {
            Home::Array(a) if memory == HOME_MEMORY => Some(a.buffer()),
            _ => None,
        };
        let aliases = self.places.iter().filter(|p| p.memory == memory).filter_map(|p| p.alias.as_ref());
        let mut seen: Option<u64> = None;
        for buffer in own.into_iter().chain(aliases) {
            // Views of one device share a buffer and mostly stand side by side.
            if except != Some(buffer.id()) && seen != Some(buffer.id()) {
                buffer.tracker().wait(range, access)?;
                seen = Some(buffer.id());
            }
        }
        Ok(())
    }

    /// [`Self::settle_memory`] of home's.
    pub fn settle_home(&self, range: &Range<u64>, access: Access, except: Option<u64>) -> Result<()> {
        self.settle_memory(HOME_MEMORY, range, access, except)
    }

    /// The memory of a location and the source's byte it begins at.
    fn memory(&mut self, location: Location) -> Result<(Memory, u64)> {
        let place = self.known(location);
        match place.memory {
            HOME_MEMORY => Ok((
                match (&self.home, self.home.host()) {
                    (Home::Array(a), _) => Memory::of(a),
                    (_, Some(span)) => Memory::Host(span),
                    _ => return Err(Error::internal("a data source without memory was read")),
                },
                0,
            )),
            HOST_MEMORY => Ok((Memory::Host(self.host_copy()?), 0)),
            n => {
                let block = &self.blocks[(n - FIRST_BLOCK) as usize];
                let (buffer, base) =
                    block.memory.clone().ok_or_else(|| Error::internal("a device block without memory was read"))?;
                let view = place.view.as_ref().unwrap_or(&block.view).clone();
                let (device, accelerator) = (view.device().clone(), view.accelerator().clone());
                Ok((Memory::Device { buffer, device, view, accelerator }, base))
            }
        }
    }

    /// The host's copy of a source that lives elsewhere. It never moves; pages nobody touches cost nothing.
    fn host_copy(&mut self) -> Result<HostSpan> {
        if self.host_copy.is_none() {
            self.host_copy = Some(HostBlock::new(self.directory.bytes())?);
        }
        Ok(self.host_copy.as_ref().map_or(HostSpan::empty(), HostBlock::span))
    }

    /// Sees to it that the place has memory for these bytes. May move a device's block: addresses are taken after.
    pub fn reserve(&mut self, place: &Place, hull: &Range<u64>) -> Result<()> {
        if place.memory < FIRST_BLOCK {
            return Ok(());
        }
        let all = self.directory.bytes();
        let block = &mut self.blocks[(place.memory - FIRST_BLOCK) as usize];
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
            let view = place.view.as_ref().unwrap_or(&block.view);
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

    /// Makes the region valid at `place`, moving what is missing.
    pub fn fetch(&mut self, region: &Region, place: &Place, tally: Tally<'_>) -> Result<()> {
        self.check(region)?;
        self.directory.make_room(region)?;
        for step in self.directory.missing(region, place.location)? {
            self.carry(&step, tally)?;
            self.directory.holds(&step.region, step.to);
            self.renewed(&step.region, &self.known(step.to));
            if self.known(step.from).shares_home() {
                self.directory.holds(&step.region, Location::HOME);
            }
        }
        // Who reads at home's memory finds the changes of those who share it there: they went home (COH-12).
        if place.shares_home() {
            self.directory.holds(region, Location::HOME);
        }
        self.directory.holds(region, place.location);
        Ok(())
    }

    /// Makes all that is not lost valid at home, then tells of what is.
    fn fetch_home(&mut self, tally: Tally<'_>) -> Result<()> {
        let mut from = 0;
        let lost: Vec<_> = self.directory.losses().collect();
        for (range, _) in &lost {
            if from < range.start {
                self.fetch(&Region::linear(from..range.start), &Place::home(), tally)?;
            }
            from = range.end;
        }
        let all = self.directory.bytes();
        if from < all {
            self.fetch(&Region::linear(from..all), &Place::home(), tally)?;
        }
        self.check(&Region::linear(0..all))
    }

    /// Fails if bytes of the region are lost.
    pub fn check(&self, region: &Region) -> Result<()> {
        match self.directory.loss(region) {
            Some((range, id)) => Err(self.reason(id).context(format_args!(
                "bytes {} to {} of the data are lost until a copy, a write of the host or discard_data replaces them",
                range.start, range.end
            ))),
            None => Ok(()),
        }
    }

    fn reason(&self, id: LossId) -> Error {
        let known = self.losses.get(id.0.get() as usize - 1);
        known.cloned().unwrap_or_else(|| Error::internal("data were lost for no known reason"))
    }

    /// Bytes of a place were written anew: what was lost of them there no longer matters.
    pub fn renewed(&self, region: &Region, place: &Place) {
        if !any_lost() {
            return;
        }
        for (memory, _, base, buffer) in self.buffers() {
            if memory == place.memory {
                buffer.tracker().renewed(region.ranges().map(|r| r.start - base..r.end - base));
            }
        }
    }

    /// All buffers, with their memories and a location there, and the source's byte at which they begin.
    fn buffers(&self) -> impl Iterator<Item = (u32, Location, u64, &Arc<dyn Buffer>)> {
        let own = match &self.home {
            Home::Array(a) => Some((HOME_MEMORY, Location::HOME, 0, a.buffer())),
            _ => None,
        };
        let places = self.places.iter().filter_map(|p| match p.memory {
            n if n >= FIRST_BLOCK => {
                let block = self.blocks[(n - FIRST_BLOCK) as usize].memory.as_ref();
                block.map(|(buffer, base)| (n, p.location, *base, buffer))
            }
            n => p.alias.as_ref().map(|alias| (n, p.location, 0, alias)),
        });
        own.into_iter().chain(places)
    }

    /// Takes over what buffers say is lost, and what lay on devices that are lost. True if there was anything new: what others
    /// hold is then to be had from them.
    pub fn absorb_losses(&mut self) -> bool {
        let mut found: Vec<(Range<u64>, Location, Error)> = Vec::new();
        for (_, location, base, buffer) in self.buffers() {
            let lost = buffer.tracker().take_lost().into_iter();
            found.extend(lost.map(|(r, reason)| (r.start + base..r.end + base, location, reason)));
        }
        // What the host can address outlives the device.
        let all = self.directory.bytes();
        let gone = |view: &Arc<AcceleratorView>, location, buffer: Option<&Arc<dyn Buffer>>| {
            let lost = view.device().lost().filter(|_| buffer.is_none_or(|b| b.host().is_none()));
            lost.map(|reason| (0..all, location, reason))
        };
        if let Home::Array(a) = &self.home {
            found.extend(gone(a.copy_view(), Location::HOME, Some(a.buffer())));
        }
        for place in self.places.iter().filter(|p| p.memory >= FIRST_BLOCK) {
            found.extend(place.view.as_ref().and_then(|view| gone(view, place.location, None)));
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

    /// The bytes were written where the source lives.
    pub fn written_at_home(&mut self, region: &Region) -> Result<()> {
        let home = self.home_place(None)?;
        self.directory.written(region, home.location);
        Ok(())
    }

    /// The id of the buffer of the array it is over.
    fn own_buffer(&self) -> Option<u64> {
        match &self.home {
            Home::Array(a) => Some(a.buffer().id()),
            _ => None,
        }
    }

    fn carry(&mut self, step: &Step, tally: Tally<'_>) -> Result<()> {
        let hull = step.region.hull();
        let ((from, from_base), (to, to_base)) = (self.memory(step.from)?, self.memory(step.to)?);
        for (memory, location, access) in [(&from, step.from, Access::Read), (&to, step.to, Access::Write)] {
            self.settle_memory(self.known(location).memory, &hull, access, memory.buffer())?;
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
        run(&from, &to, &plan, tally).map(drop)
    }

    /// The memory of a place as kernels and copies use it, with the source's byte it begins at, and everything done that
    /// other ways to the same memory have under way.
    pub fn device_memory(
        &mut self,
        place: &Place,
        hull: &Range<u64>,
        access: Access,
    ) -> Result<(Arc<dyn Buffer>, u64)> {
        match (&place.alias, place.memory) {
            (Some(alias), memory) => {
                self.settle_memory(memory, hull, access, Some(alias.id()))?;
                Ok((alias.clone(), 0))
            }
            (None, n) if n >= FIRST_BLOCK => {
                let memory = self.blocks[(n - FIRST_BLOCK) as usize].memory.clone();
                memory.ok_or_else(|| Error::internal("a device block was used before it was made"))
            }
            _ => Err(Error::internal("memory of the host was asked for as a device's")),
        }
    }

    /// The memory of a place for a copy, likewise.
    pub fn copy_memory(&mut self, place: &Place, hull: &Range<u64>, access: Access) -> Result<(Memory, u64)> {
        let found = self.memory(place.location)?;
        self.settle_memory(place.memory, hull, access, found.0.buffer())?;
        Ok(found)
    }

    /// The source's first byte as the host addresses it, once nothing that conflicts is under way.
    pub fn host_memory(&mut self, place: &Place, hull: &Range<u64>, access: Access) -> Result<HostSpan> {
        self.settle_memory(place.memory, hull, access, None)?;
        match (place.memory, self.home.host()) {
            (HOME_MEMORY, Some(span)) => Ok(span),
            _ => self.host_copy(),
        }
    }

    /// The place where the source lives; storage not made yet is made where `first` is.
    pub fn home_place(&mut self, first: Option<&Arc<AcceleratorView>>) -> Result<Arc<Place>> {
        self.settle_open(first)?;
        match &self.home {
            Home::Array(a) if a.view().accelerator().kind() != Kind::Cpu => {
                let view = a.view().clone();
                self.place(Some(&view))
            }
            _ => self.place(None),
        }
    }

    /// The accelerator_view it lives on; `None`: the host, or nowhere yet.
    pub fn home_view(&self) -> Option<Arc<AcceleratorView>> {
        match &self.home {
            Home::Array(a) => Some(a.view().clone()),
            _ => None,
        }
    }

    /// The place of a location.
    pub fn known(&self, location: Location) -> Arc<Place> {
        self.places.iter().find(|p| p.location == location).cloned().unwrap_or_else(|| Arc::new(Place::home()))
    }

    /// True if the storage is not made yet.
    pub fn is_open(&self) -> bool {
        matches!(self.home, Home::Open { .. })
    }

    /// Waits until nothing that conflicts is under way at a place.
    pub fn settle(&self, place: &Place, hull: &Range<u64>, access: Access) -> Result<()> {
        match place.memory {
            HOME_MEMORY | HOST_MEMORY => self.settle_memory(place.memory, hull, access, None),
            n => match &self.blocks[(n - FIRST_BLOCK) as usize].memory {
                Some((buffer, base)) => buffer.tracker().wait(&(hull.start - base..hull.end - base), access),
                None => Ok(()),
            },
        }
    }

    /// The accelerator_views that are locations.
    pub fn views(&self) -> impl Iterator<Item = &Arc<AcceleratorView>> {
        self.places.iter().filter_map(|p| p.view.as_ref())
    }

    /// Bytes held for the source on the accelerator of a place, beside home.
    pub fn allocated(&self, place: &Place) -> u64 {
        match place.memory {
            HOME_MEMORY => 0,
            HOST_MEMORY => self.host_copy.as_ref().map_or(0, HostBlock::len),
            n => {
                let range = self.blocks[(n - FIRST_BLOCK) as usize].range();
                range.end - range.start
            }
        }
    }
}
