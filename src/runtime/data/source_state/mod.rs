//! The state of a data source, protected by the source's lock: home (the source's own storage), copies in other memory, and transfers
//! between them.

mod losses;
mod moves;

use crate::coherence::{Directory, Location, MemoryId};
use crate::device::Buffer;
use crate::device::physical::DeviceKind;
use crate::error::{Error, ErrorKind, Result};
use crate::geometry::Region;
use crate::host::{HostBlock, HostSpan};
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::access_type::AccessType;
use crate::runtime::data::storage::{ArrayRequest, Storage};
use crate::trace::labels;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A device block begins at an offset in the source that is a multiple of this number of bytes, the largest alignment
/// that a binding can need.
const BLOCK_ALIGN: u64 = 256;
/// A block that has grown this often grows by more than is needed, so that a pass over a source in pieces takes linear time.
const GROWN_OFTEN: u32 = 2;

/// How long a driver may take to release memory after the work that used it.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(100);

/// The storage of a source.
pub(in crate::runtime) enum Home {
    /// No storage yet; the first use makes it (docs/spec/array-views.md#views-without-a-data-source).
    Open {
        /// Extent of the view for which the source was made.
        extent: Box<[i32]>,
        /// Bytes of an element.
        element: usize,
    },
    /// Memory of the program.
    Host(HostSpan),
    /// Memory of the library, for a view without a data source that the host used first.
    Library(HostBlock),
    /// An array.
    Array(Arc<Storage>),
}

impl Home {
    /// The memory of home as the host addresses it; `None` if the host cannot.
    pub fn host(&self) -> Option<HostSpan> {
        match self {
            Self::Open { .. } => None,
            Self::Host(span) => Some(*span),
            Self::Library(block) => Some(block.span()),
            Self::Array(a) if a.shares_host() => a.buffer().host(),
            Self::Array(_) => None,
        }
    }
}

/// A device's copy of the part of a source that was used there.
struct DeviceBlock {
    view: Arc<AcceleratorView>,
    /// The memory, and the offset in the source at which it begins.
    memory: Option<(Arc<dyn Buffer>, u64)>,
    /// The number of times that the block has grown.
    grown: u32,
}

impl DeviceBlock {
    fn range(&self) -> Range<u64> {
        self.memory.as_ref().map_or(0..0, |(buffer, base)| *base..base + buffer.size())
    }
}

/// A location of the coherence directory (an accelerator_view or the host), with the memory that it uses.
pub(in crate::runtime) struct Holder {
    /// The accelerator_view; `None`: the host.
    view: Option<Arc<AcceleratorView>>,
    /// The number of the location in the directory.
    pub location: Location,
    /// The memory that the location uses.
    memory: MemoryId,
    /// If `memory` is home's memory or the host copy: this memory as a buffer of the view's device.
    alias: Option<Arc<dyn Buffer>>,
}

impl Holder {
    /// True if it uses home's memory itself.
    pub fn shares_home(&self) -> bool {
        self.memory == MemoryId::Home
    }
}

/// The state of a source. Every use of the source locks it.
pub(in crate::runtime) struct SourceState {
    pub directory: Directory,
    home: Home,
    holders: Vec<Arc<Holder>>,
    blocks: Vec<DeviceBlock>,
    host_copy: Option<HostBlock>,
    /// A counter that increases whenever a holder or its memory changes.
    moves: u64,
    /// The reasons of losses. The [`LossId`] n means the n-th reason, counted from 1.
    losses: Vec<Error>,
    /// The latest label of an array_view of the source.
    label: Option<Arc<str>>,
    /// True once the last view is gone.
    is_closed: bool,
}

/// A stamp that changes with every fact about a source that a cached launch relies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::runtime) struct Stamp {
    epoch: u64,
    moves: u64,
}

impl Holder {
    /// The holder of home's memory, without a view or an alias.
    fn home() -> Self {
        Self { view: None, location: Location::HOME, memory: MemoryId::Home, alias: None }
    }
}

#[cold]
fn released_meanwhile() -> Error {
    Error::new(
        ErrorKind::InvalidHandle,
        "another thread released the array_view while this call was about to use it; release the array_view only after \
         the call",
    )
}

impl SourceState {
    pub fn new(directory: Directory, home: Home) -> Self {
        Self {
            directory,
            home,
            holders: Vec::new(),
            blocks: Vec::new(),
            host_copy: None,
            moves: 0,
            losses: Vec::new(),
            label: None,
            is_closed: false,
        }
    }

    /// Names the source's buffers, and those that are made later, for tools that show the device's objects.
    pub fn set_label(&mut self, label: Arc<str>) {
        self.label = Some(label);
        self.buffers().for_each(|(_, _, _, buffer)| self.name(buffer));
    }

    /// Gives the source's label to a buffer, except to the buffer of an array that has a label of its own.
    fn name(&self, buffer: &Arc<dyn Buffer>) {
        if let Some(label) = self.label.as_ref().filter(|_| labels::of(buffer.id()).is_none()) {
            buffer.set_label(label);
        }
    }

    /// True if the last view is gone, so that no operation may use the memory any more.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Fails if the last view is gone.
    #[inline]
    pub fn check_open(&self) -> Result<()> {
        if self.is_closed { Err(released_meanwhile()) } else { Ok(()) }
    }

    /// True if all bytes are valid at home, so that there is nothing to write back.
    pub fn is_written_back(&self) -> bool {
        self.directory.is_valid(&Region::linear(0..self.directory.bytes()), Location::HOME)
    }

    /// True if no unfinished work uses home's memory or the host copy, except through the array's own buffer.
    pub fn is_unused(&self) -> bool {
        let (all, own) = (0..self.directory.bytes(), self.home_buffer());
        let borrowed =
            self.buffers().filter(|(memory, _, _, b)| !matches!(memory, MemoryId::Block(_)) && Some(b.id()) != own);
        borrowed.map(|(_, _, _, buffer)| buffer).all(|buffer| buffer.tracker().is_free(&all, Access::Write))
    }

    /// See [`Stamp`].
    pub fn stamp(&self) -> Stamp {
        Stamp { epoch: self.directory.epoch(), moves: self.moves }
    }

    /// True if all uses of a holder's memory go through the same buffer, so that no use has to wait for uses through
    /// other buffers.
    pub fn uses_one_buffer(&self, holder: &Holder) -> bool {
        let own = |p: &Arc<Holder>| match (&p.alias, &holder.alias) {
            (Some(a), Some(b)) => a.id() == b.id(),
            (None, _) => true,
            _ => false,
        };
        let home = match &self.home {
            Home::Array(a) if holder.shares_home() => holder.alias.as_ref().is_some_and(|b| b.id() == a.buffer().id()),
            _ => true,
        };
        matches!(holder.memory, MemoryId::Block(_))
            || home && self.holders.iter().filter(|p| p.memory == holder.memory).all(own)
    }

    /// Makes the storage of an open source on `first` (`None`: on the host). Does nothing if the source has storage.
    fn make_storage(&mut self, first: Option<&Arc<AcceleratorView>>) -> Result<()> {
        let Home::Open { extent, element } = &self.home else { return Ok(()) };
        let bytes = self.directory.bytes();
        self.home = match first.filter(|v| v.accelerator().kind() != DeviceKind::Cpu) {
            None => Home::Library(HostBlock::new(bytes)?),
            Some(view) => Home::Array(Storage::create(ArrayRequest {
                view: view.clone(),
                extent,
                element_size: *element,
                cpu_access: AccessType::Auto,
                associated: None,
                label: Some("array_view without a data source"),
                texture: None,
                memory: None,
            })?),
        };
        self.directory = Directory::unwritten(bytes, self.home.host().is_some());
        self.moves += 1;
        Ok(())
    }

    /// The holder of an accelerator_view, or of the host (`None`).
    pub fn holder(&mut self, view: Option<&Arc<AcceleratorView>>) -> Result<Arc<Holder>> {
        let view = view.filter(|v| v.accelerator().kind() != DeviceKind::Cpu);
        let id = view.map(|v| v.id());
        if let Some(known) = self.holders.iter().find(|p| p.view.as_ref().map(|v| v.id()) == id) {
            return Ok(known.clone());
        }
        self.make_storage(view)?;
        let holder = Arc::new(match view {
            None => self.host_holder(),
            Some(view) => self.device_holder(view)?,
        });
        holder.alias.iter().for_each(|alias| self.name(alias));
        self.holders.push(holder.clone());
        self.moves += 1;
        Ok(holder)
    }

    fn host_holder(&mut self) -> Holder {
        match &self.home {
            Home::Array(a) if a.view().accelerator().kind() == DeviceKind::Cpu => Holder::home(),
            Home::Array(a) => {
                let memory = if a.shares_host() { MemoryId::Home } else { MemoryId::HostCopy };
                Holder { location: self.directory.add_host(memory), memory, ..Holder::home() }
            }
            _ => Holder::home(),
        }
    }

    fn device_holder(&mut self, view: &Arc<AcceleratorView>) -> Result<Holder> {
        let view = view.actual();
        let is_host = self.home.host().is_some();
        if let Home::Array(a) = &self.home {
            if a.view().id() == view.id() {
                return Ok(Holder { view: Some(view), alias: Some(a.buffer().clone()), ..Holder::home() });
            }
        }
        if let Some(alias) = self.alias(&view)? {
            let location = self.directory.add(MemoryId::Home, is_host);
            return Ok(Holder { view: Some(view), location, memory: MemoryId::Home, alias: Some(alias) });
        }
        if view.accelerator().is_host_memory() {
            // Host threads use the host's copy.
            let span = self.host_copy()?;
            let known = self.alias_of(MemoryId::HostCopy, &view);
            let alias = match known {
                Some(known) => known.alias.clone(),
                None => view.device().import(span, "array_view")?,
            };
            if alias.is_some() {
                let location = self.directory.add(MemoryId::HostCopy, true);
                return Ok(Holder { view: Some(view), location, memory: MemoryId::HostCopy, alias });
            }
        }
        let known = self.blocks.iter().position(|b| b.view.device().id() == view.device().id());
        let number = known.unwrap_or_else(|| {
            self.blocks.push(DeviceBlock { view: view.clone(), memory: None, grown: 0 });
            self.blocks.len() - 1
        });
        let memory = MemoryId::Block(number as u32);
        Ok(Holder { location: self.directory.add(memory, false), view: Some(view), memory, alias: None })
    }

    /// A holder on the view's device that addresses this memory.
    fn alias_of(&self, memory: MemoryId, view: &AcceleratorView) -> Option<&Arc<Holder>> {
        let same = |p: &&Arc<Holder>| p.view.as_ref().is_some_and(|v| v.device().id() == view.device().id());
        self.holders.iter().filter(|p| p.memory == memory).find(same)
    }

    /// Home's memory as a buffer of the view's device, if the device can use this memory as fast as its own.
    fn alias(&self, view: &Arc<AcceleratorView>) -> Result<Option<Arc<dyn Buffer>>> {
        let device = view.device();
        if let Some(known) = self.alias_of(MemoryId::Home, view) {
            return Ok(known.alias.clone());
        }
        if self.blocks.iter().any(|b| b.view.device().id() == device.id()) {
            return Ok(None);
        }
        if let Home::Array(a) = &self.home {
            if a.device().id() == device.id() {
                let can_use_buffer = !a.is_staging() || device.shares_memory();
                return Ok(can_use_buffer.then(|| a.buffer().clone()));
            }
        }
        match self.home.host() {
            // Offsets of bindings count from the start of the span, as in device blocks, so the start must be aligned.
            Some(span) if span.address() % view.accelerator().properties().min_storage_buffer_alignment.max(1) == 0 => {
                device.import(span, "array_view")
            }
            _ => Ok(None),
        }
    }

    /// Waits for conflicting uses of home's memory or of the host copy through buffers other than `except`.
    pub fn wait_memory(&self, memory: MemoryId, range: &Range<u64>, access: Access, except: Option<u64>) -> Result<()> {
        let mut seen = None;
        let mut wait = |buffer: &Arc<dyn Buffer>| {
            let id = Some(buffer.id());
            // Views of one device share a buffer and are usually neighbours.
            if id == except || id == seen {
                return Ok(());
            }
            seen = id;
            buffer.tracker().wait(range, access)
        };
        if let (Home::Array(a), MemoryId::Home) = (&self.home, memory) {
            wait(a.buffer())?;
        }
        for holder in &self.holders {
            if let Some(alias) = holder.alias.as_ref().filter(|_| holder.memory == memory) {
                wait(alias)?;
            }
        }
        Ok(())
    }

    /// [`Self::wait_memory`] for home's memory.
    pub fn wait_home(&self, range: &Range<u64>, access: Access, except: Option<u64>) -> Result<()> {
        self.wait_memory(MemoryId::Home, range, access, except)
    }

    /// All buffers, each with the id of its memory, a location that uses this memory, and the offset in the source at which the buffer begins.
    fn buffers(&self) -> impl Iterator<Item = (MemoryId, Location, u64, &Arc<dyn Buffer>)> {
        let own = match &self.home {
            Home::Array(a) => Some((MemoryId::Home, Location::HOME, 0, a.buffer())),
            _ => None,
        };
        let holders = self.holders.iter().filter_map(|p| match p.memory {
            MemoryId::Block(n) => {
                let block = self.blocks[n as usize].memory.as_ref();
                block.map(|(buffer, base)| (p.memory, p.location, *base, buffer))
            }
            n => p.alias.as_ref().map(|alias| (n, p.location, 0, alias)),
        });
        own.into_iter().chain(holders)
    }

    /// Records that bytes were written at home.
    pub fn written_at_home(&mut self, region: &Region) -> Result<()> {
        let home = self.home_holder(None)?;
        self.directory.written(region, home.location);
        Ok(())
    }

    /// True if the whole region is valid at home, and part of it is not valid in the host copy.
    pub fn is_only_at_home(&self, region: &Region) -> Result<bool> {
        let is_at = |at| Ok(self.directory.missing(region, at)?.is_empty());
        for copy in self.holders.iter().filter(|p| p.memory == MemoryId::HostCopy) {
            if is_at(copy.location)? {
                return Ok(false);
            }
        }
        is_at(Location::HOME)
    }

    /// The id of the array's buffer, if home is an array.
    pub fn home_buffer(&self) -> Option<u64> {
        match &self.home {
            Home::Array(a) => Some(a.buffer().id()),
            _ => None,
        }
    }

    /// The holder of home. If the storage is not made yet, it is made on `first`.
    pub fn home_holder(&mut self, first: Option<&Arc<AcceleratorView>>) -> Result<Arc<Holder>> {
        self.make_storage(first)?;
        match &self.home {
            Home::Array(a) if a.view().accelerator().kind() != DeviceKind::Cpu => {
                let view = a.view().clone();
                self.holder(Some(&view))
            }
            _ => self.holder(None),
        }
    }

    /// The accelerator_view of home; `None`: home is on the host, or not made yet.
    pub fn home_view(&self) -> Option<&Arc<AcceleratorView>> {
        match &self.home {
            Home::Array(a) => Some(a.view()),
            _ => None,
        }
    }

    /// The holder of a location.
    pub fn holder_at(&self, location: Location) -> Arc<Holder> {
        self.holders.iter().find(|p| p.location == location).cloned().unwrap_or_else(|| Arc::new(Holder::home()))
    }

    /// True if the storage is not yet made.
    pub fn is_open(&self) -> bool {
        matches!(self.home, Home::Open { .. })
    }

    /// Waits until no conflicting work is in progress at a holder.
    pub fn wait_conflicts(&self, holder: &Holder, hull: &Range<u64>, access: Access) -> Result<()> {
        match holder.memory {
            MemoryId::Home | MemoryId::HostCopy => self.wait_memory(holder.memory, hull, access, None),
            MemoryId::Block(n) => match &self.blocks[n as usize].memory {
                Some((buffer, base)) => buffer.tracker().wait(&(hull.start - base..hull.end - base), access),
                None => Ok(()),
            },
        }
    }

    /// The accelerator_views that are locations.
    pub fn views(&self) -> impl Iterator<Item = &Arc<AcceleratorView>> {
        self.holders.iter().filter_map(|p| p.view.as_ref())
    }

    /// Bytes allocated for the source at a holder, not counting home.
    pub fn allocated(&self, holder: &Holder) -> u64 {
        match holder.memory {
            MemoryId::Home => 0,
            MemoryId::HostCopy => self.host_copy.as_ref().map_or(0, HostBlock::len),
            MemoryId::Block(n) => {
                let range = self.blocks[n as usize].range();
                range.end - range.start
            }
        }
    }

    /// Releases the copies on devices, the references of finished work to them, and the aliases of holders.
    pub fn close(&mut self, array: Option<&Arc<Storage>>) {
        self.is_closed = true;
        self.release_aliases(self.home_buffer());
        for block in &mut self.blocks {
            block.memory = None;
            block.view.device().reclaim();
        }
        if let Some(array) = array {
            // Later uses of the array without views must report these losses too.
            for (range, id) in self.directory.losses() {
                array.buffer().tracker().lose(range, self.reason(id));
            }
            array.device().reclaim();
        }
    }

    /// Releases the aliases of holders, except buffer `own`. Waits up to [`RELEASE_TIMEOUT`] until drivers have released the
    /// memory, because the program may free its memory afterwards.
    fn release_aliases(&mut self, own: Option<u64>) {
        self.moves += 1;
        let holders = std::mem::take(&mut self.holders);
        self.holders =
            holders.iter().filter(|p| p.alias.as_ref().is_none_or(|b| Some(b.id()) == own)).cloned().collect();
        let mut borrowed: Vec<_> = holders.iter().filter_map(|p| Some((p.alias.clone()?, p.view.clone()?))).collect();
        drop(holders);
        borrowed.retain(|(buffer, _)| Some(buffer.id()) != own);
        borrowed.sort_unstable_by_key(|(buffer, _)| buffer.id());
        borrowed.dedup_by_key(|(buffer, _)| buffer.id());
        let deadline = Instant::now() + RELEASE_TIMEOUT;
        for (buffer, view) in borrowed {
            while Arc::strong_count(&buffer) > 1 && Instant::now() < deadline {
                view.device().reclaim();
                std::thread::yield_now();
            }
        }
    }
}
