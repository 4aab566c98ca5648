//! Data sources: where the bytes of array_views live, and how they get where they are needed.
//!
//! A [`Source`] is home memory (host memory, an array, or storage made at the first access), a coherence directory, and
//! copies elsewhere: one block for each device, one for the host. Whoever uses a source locks its [`State`] from the moment
//! it looks at the directory until what it does is recorded on the queues; several sources are locked in order of id.
//! Asynchronous host operations are waited for before the lock is taken: their tasks take it themselves.

use super::AccessType;
use super::accelerator::Kind;
use super::accelerator_view::AcceleratorView;
use super::array::{Array, ArrayRequest};
use super::transfer::{Memory, Tally, run};
use super::words::Words;
use crate::coherence::{Directory, Location, Region, Step};
use crate::device::hazard::Tracker;
use crate::device::host::HostBlock;
use crate::device::layout::{CopyDim, CopyPlan};
use crate::device::{Access, Buffer, HostSpan, Placement, unique_id};
use crate::error::{Error, Result};
use crate::log;
use crate::trace::transfers::{Call, Counters, implicit};
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    /// Nowhere yet: made at the first access (digest 2.5).
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
    Array(Arc<Array>),
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
pub(super) struct Place {
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
pub(super) struct State {
    pub directory: Directory,
    home: Home,
    places: Vec<Arc<Place>>,
    blocks: Vec<Block>,
    host_copy: Option<HostBlock>,
    /// Grows whenever a place or its memory changes.
    moves: u64,
}

/// What changes whenever anything does that a launch finds out about a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    epoch: u64,
    moves: u64,
}

/// A data source.
pub struct Source {
    id: u64,
    bytes: u64,
    /// Without memory of the program or an array behind it.
    is_open: bool,
    array: Option<Arc<Array>>,
    label: Box<str>,
    state: Mutex<State>,
    /// What the host may do without a call.
    words: Words,
    /// Views that are alive.
    views: AtomicUsize,
    /// Asynchronous host operations that are not done; an array keeps its own.
    pending: Tracker,
    counters: Counters,
}

/// Sources with live views, for the exit hook.
static LIVE: Mutex<BTreeMap<u64, Weak<Source>>> = Mutex::new(BTreeMap::new());

const RELEASE: Call = implicit(c"revamp_array_view_release");

impl Source {
    fn new(bytes: u64, home: Home, label: &str) -> Arc<Self> {
        let is_host = home.host().is_some();
        let is_open = matches!(home, Home::Open { .. });
        let array = match &home {
            Home::Array(a) => Some(a.clone()),
            _ => None,
        };
        let directory = if is_open { Directory::unwritten(bytes, true) } else { Directory::new(bytes, is_host) };
        let state = State { directory, home, places: Vec::new(), blocks: Vec::new(), host_copy: None, moves: 0 };
        let source = Arc::new(Self {
            id: unique_id(),
            bytes,
            is_open,
            array,
            label: label.into(),
            state: Mutex::new(state),
            words: Words::default(),
            views: AtomicUsize::new(0),
            pending: Tracker::new(),
            counters: Counters::new(),
        });
        LIVE.lock().insert(source.id, Arc::downgrade(&source));
        source
    }

    /// Memory of the program.
    pub fn over_host(span: HostSpan, label: &str) -> Arc<Self> {
        Self::new(span.len(), Home::Host(span), label)
    }

    /// Storage made at the first access.
    pub fn open(bytes: u64, extent: &[i32], element: usize, label: &str) -> Arc<Self> {
        Self::new(bytes, Home::Open { extent: extent.into(), element }, label)
    }

    /// The source of an array: one for all its views. Counts a view that the caller makes.
    pub fn over_array(array: &Arc<Array>) -> Arc<Self> {
        let mut slot = array.source().lock();
        // A source whose last view is gone was written back under this lock.
        let live = slot.upgrade().filter(|s| s.views.load(Ordering::Relaxed) > 0);
        let source = live.unwrap_or_else(|| {
            let made = Self::new(array.layout().bytes(), Home::Array(array.clone()), "array");
            *slot = Arc::downgrade(&made);
            made
        });
        source.retain();
        source
    }

    /// The source of an array that has views.
    pub fn of_array(array: &Array) -> Option<Arc<Self>> {
        array.source().lock().upgrade()
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
    /// The array behind it.
    pub fn array(&self) -> Option<&Arc<Array>> {
        self.array.as_ref()
    }
    /// Asynchronous host operations on its bytes.
    pub(super) fn pending(&self) -> &Tracker {
        self.array.as_ref().map_or(&self.pending, |a| a.pending())
    }
    /// Takes the lock that every use needs.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(super) fn tally(&self, call: Call) -> Tally<'_> {
        Tally { call, source: self.id, accounts: [Some(&self.counters), None, None, None] }
    }

    /// What the host may do without a call.
    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// One more view.
    pub(super) fn retain(&self) {
        self.views.fetch_add(1, Ordering::Relaxed);
    }

    /// One view less; the last one writes back (DST-1, DST-2).
    pub(super) fn release(&self) {
        // Nobody makes a new view of the array meanwhile.
        let _slot = self.array.as_ref().map(|a| a.source().lock());
        if self.views.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        LIVE.lock().remove(&self.id);
        if let Err(e) = self.write_back() {
            log!(
                Error,
                "data of an array_view ({}) could not be written back when the last view was released: {e}",
                self.label
            );
        }
        self.free_copies();
    }

    /// Brings home what was changed elsewhere, and waits until nobody uses memory of the program.
    fn write_back(&self) -> Result<()> {
        let all = Region::linear(0..self.bytes);
        // What failed there is for whoever waits for it.
        let _ = self.pending().wait(&(0..self.bytes), Access::ReadWrite);
        let mut state = self.lock();
        self.words.take_back(&all, Access::Write);
        // Storage of ours nobody can see any more.
        let is_away = !self.is_open && !state.directory.is_valid(&all, Location::HOME);
        let mut moved = Ok(());
        if is_away {
            moved = state.fetch(&all, &Place::home(), self.tally(RELEASE));
            moved = moved.and(state.settle_home(&(0..self.bytes), Access::Read, None));
        }
        // Who uses an array through its own buffer keeps it alive; others only borrow the memory.
        let own = match &state.home {
            Home::Array(a) => Some(a.buffer().id()),
            _ => None,
        };
        let settled = state.settle_home(&(0..self.bytes), Access::Write, own);
        let settled = settled.and(state.settle_memory(HOST_MEMORY, &(0..self.bytes), Access::Write, None));
        state.let_go(own);
        moved.and(settled)
    }

    /// Frees the copies on devices, and what finished work still holds of them.
    fn free_copies(&self) {
        let mut state = self.lock();
        state.moves += 1;
        for block in &mut state.blocks {
            block.memory = None;
            block.view.device().reclaim();
        }
        if let Some(array) = &self.array {
            array.device().reclaim();
        }
    }
}

/// Writes back the data of all views that are alive (architecture decision 9).
pub(super) fn write_back_all() {
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
            Some(view) => Home::Array(Array::create(ArrayRequest {
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
        for step in self.directory.missing(region, place.location) {
            self.carry(&step, tally)?;
            self.directory.holds(&step.region, step.to);
            if self.known(step.from).shares_home() {
                self.directory.holds(&step.region, Location::HOME);
            }
        }
        // Who reads at home's memory finds the changes of those who share it there (digest 2.1: they went home).
        if place.shares_home() {
            self.directory.holds(region, Location::HOME);
        }
        self.directory.holds(region, place.location);
        Ok(())
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
