//! What the lock of a data source protects: home, copies elsewhere, and how bytes get from one to the other.

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
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Device blocks begin at a multiple of this many bytes of the source: the largest alignment that a binding can need.
const BLOCK_ALIGN: u64 = 256;
/// A block that has grown this often grows ahead of its use, so that a walk over a source takes linear time.
const GROWN_OFTEN: u32 = 2;

/// How long a driver may take to release memory after the work that used it.
const PATIENCE: Duration = Duration::from_millis(100);

/// Where a source lives.
pub(in crate::runtime) enum Home {
    /// Nowhere yet: made at the first use (docs/spec/array-views.md#views-without-a-data-source).
    Open {
        /// Extent of the view it was made for.
        extent: Box<[i32]>,
        /// Bytes of its elements.
        element: usize,
    },
    /// Memory of the program.
    Host(HostSpan),
    /// Memory of the library, for a view without a data source that the host used first.
    Own(HostBlock),
    /// An array.
    Array(Arc<Storage>),
}

impl Home {
    /// The address of its memory on the host, if it has one.
    pub fn host(&self) -> Option<HostSpan> {
        match self {
            Self::Open { .. } => None,
            Self::Host(span) => Some(*span),
            Self::Own(block) => Some(block.span()),
            Self::Array(a) if a.shares_host() => a.buffer().host(),
            Self::Array(_) => None,
        }
    }
}

/// A device's copy of the part of a source that was used there.
struct DeviceBlock {
    view: Arc<AcceleratorView>,
    /// The memory, and the source's byte at which it begins.
    memory: Option<(Arc<dyn Buffer>, u64)>,
    grown: u32,
}

impl DeviceBlock {
    fn range(&self) -> Range<u64> {
        self.memory.as_ref().map_or(0..0, |(buffer, base)| *base..base + buffer.size())
    }
}

/// A location with its memory, as the runtime knows it.
pub(in crate::runtime) struct Holder {
    /// The accelerator_view; `None`: the host.
    view: Option<Arc<AcceleratorView>>,
    /// Its number in the directory.
    pub location: Location,
    /// Which memory it uses.
    memory: MemoryId,
    /// Home's memory as this device addresses it.
    alias: Option<Arc<dyn Buffer>>,
}

impl Holder {
    /// True if it uses home's memory itself.
    pub fn shares_home(&self) -> bool {
        self.memory == MemoryId::Home
    }
}

/// The state of a source. Whoever uses the source locks it.
pub(in crate::runtime) struct SourceState {
    pub directory: Directory,
    home: Home,
    holders: Vec<Arc<Holder>>,
    blocks: Vec<DeviceBlock>,
    host_copy: Option<HostBlock>,
    /// Grows whenever a holder or its memory changes.
    moves: u64,
    /// Why bytes are lost; a [`LossId`] counts from 1.
    losses: Vec<Error>,
    /// True once the last view is gone.
    is_closed: bool,
}

/// Changes whenever something changes that a launch has found out about a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::runtime) struct Stamp {
    epoch: u64,
    moves: u64,
}

impl Holder {
    /// Home's own memory, whoever addresses it.
    fn home() -> Self {
        Self { view: None, location: Location::HOME, memory: MemoryId::Home, alias: None }
    }
}

#[cold]
fn released_meanwhile() -> Error {
    Error::new(
        ErrorKind::InvalidHandle,
        "another thread released the array_view while this call was about to use it; release it after the call",
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
            is_closed: false,
        }
    }

    /// True if the last view is gone: nobody may use the memory any more.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Fails if the last view is gone.
    #[inline]
    pub fn check_open(&self) -> Result<()> {
        if self.is_closed { Err(released_meanwhile()) } else { Ok(()) }
    }

    /// True if there is nothing to write back.
    pub fn is_home(&self) -> bool {
        self.directory.is_valid(&Region::linear(0..self.directory.bytes()), Location::HOME)
    }

    /// True if nothing under way uses memory of the program.
    pub fn is_unused(&self) -> bool {
        let (all, own) = (0..self.directory.bytes(), self.own_buffer());
        let borrowed =
            self.buffers().filter(|(memory, _, _, b)| !matches!(memory, MemoryId::Block(_)) && Some(b.id()) != own);
        borrowed.map(|(_, _, _, buffer)| buffer).all(|buffer| buffer.tracker().is_free(&all, Access::Write))
    }

    /// See [`Stamp`].
    pub fn stamp(&self) -> Stamp {
        Stamp { epoch: self.directory.epoch(), moves: self.moves }
    }

    /// True if a holder's memory is used only through its own buffer, so that no other use has to be waited for.
    pub fn has_one_way(&self, holder: &Holder) -> bool {
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

    /// Makes the storage of an open source where `first` is (`None`: on the host), and returns home's location.
    fn make_storage(&mut self, first: Option<&Arc<AcceleratorView>>) -> Result<()> {
        let Home::Open { extent, element } = &self.home else { return Ok(()) };
        let bytes = self.directory.bytes();
        self.home = match first.filter(|v| v.accelerator().kind() != DeviceKind::Cpu) {
            None => Home::Own(HostBlock::new(bytes)?),
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

    /// Home's memory as a buffer of the view's device, if the device can use it as fast as its own.
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
                let reaches = !a.is_staging() || device.shares_memory();
                return Ok(reaches.then(|| a.buffer().clone()));
            }
        }
        match self.home.host() {
            // Bindings count from the span's start, as they do in device blocks.
            Some(span) if span.address() % view.accelerator().properties().min_storage_buffer_alignment.max(1) == 0 => {
                device.import(span, "array_view")
            }
            _ => Ok(None),
        }
    }

    /// Waits for uses of memory of the host (home's or the copy's) through other buffers than `except`.
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

    /// All buffers, with their memory, a location that has it, and the source's byte at which they begin.
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

    /// True if the region is valid at home and not in a copy on the host.
    pub fn is_only_at_home(&self, region: &Region) -> Result<bool> {
        let is_at = |at| Ok(self.directory.missing(region, at)?.is_empty());
        for copy in self.holders.iter().filter(|p| p.memory == MemoryId::HostCopy) {
            if is_at(copy.location)? {
                return Ok(false);
            }
        }
        is_at(Location::HOME)
    }

    /// The id of the buffer of the array it is over.
    pub fn own_buffer(&self) -> Option<u64> {
        match &self.home {
            Home::Array(a) => Some(a.buffer().id()),
            _ => None,
        }
    }

    /// The holder where the source lives; storage not made yet is made where `first` is.
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

    /// The accelerator_view it lives on; `None`: the host, or nowhere yet.
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

    /// Waits until nothing that conflicts is under way at a holder.
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

    /// Bytes held for the source on the accelerator of a holder, beside home.
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

    /// Gives up the copies on devices, what finished work still holds of them, and the ways to memory of the program.
    pub fn close(&mut self, array: Option<&Arc<Storage>>) {
        self.is_closed = true;
        self.let_go(self.own_buffer());
        for block in &mut self.blocks {
            block.memory = None;
            block.view.device().reclaim();
        }
        if let Some(array) = array {
            // Whoever uses the array by itself is told too.
            for (range, id) in self.directory.losses() {
                array.buffer().tracker().lose(range, self.reason(id));
            }
            array.device().reclaim();
        }
    }

    /// Gives up the ways in which devices address home's memory: their drivers must have let go of memory of the program
    /// when it gets it back.
    fn let_go(&mut self, own: Option<u64>) {
        self.moves += 1;
        let holders = std::mem::take(&mut self.holders);
        self.holders =
            holders.iter().filter(|p| p.alias.as_ref().is_none_or(|b| Some(b.id()) == own)).cloned().collect();
        let mut borrowed: Vec<_> = holders.iter().filter_map(|p| Some((p.alias.clone()?, p.view.clone()?))).collect();
        drop(holders);
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
}
