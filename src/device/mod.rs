//! What the runtime needs from a place that holds memory and does work, and the two kinds of such places.
//!
//! A [`Device`] makes [`Buffer`]s and [`Queue`]s. A queue is a timeline: its work is numbered, and everything that must
//! be ordered after it waits for a number. Hazards between works are found per buffer range ([`hazard`]).

pub mod block;
pub mod hazard;
pub mod host;
pub mod physical;
pub mod vulkan;

use crate::error::Result;
use crate::geometry::CopyPlan;
use crate::host::HostSpan;
use crate::kernel::{Access, Module, SpecValues};
use block::Block;
use hazard::{Point, Timeline, Tracker};
use smallvec::SmallVec;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number no other object of this process has.
pub fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Where a buffer's memory shall lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Fast for the device; the host reaches it only where memory is shared.
    Device,
    /// Device memory the host can address too; fails where there is none.
    DeviceShared,
    /// Host memory the device can address (staging arrays): cached for the host.
    Staging,
}

/// A block of memory on one device.
pub trait Buffer: Send + Sync {
    /// Unique for the life of the process; also the order in which trackers are locked.
    fn id(&self) -> u64;
    /// Size in bytes.
    fn size(&self) -> u64;
    /// The memory as the host sees it, where it can.
    fn host(&self) -> Option<HostSpan>;
    /// The address kernels use, where there is one.
    fn device_address(&self) -> Option<u64>;
    /// Where byte 0 lies in what descriptors bind: their alignment counts from there. Not 0 only for imported memory.
    fn base(&self) -> u64 {
        0
    }
    /// Who uses which bytes.
    fn tracker(&self) -> &Tracker;
    /// The device's own type behind this.
    fn as_any(&self) -> &dyn Any;
}

/// Bytes of a buffer and how a command uses them.
#[derive(Clone)]
pub struct Use {
    /// The buffer.
    pub buffer: Arc<dyn Buffer>,
    /// Its bytes.
    pub range: Range<u64>,
    /// How they are used.
    pub access: Access,
}

/// A storage buffer bound to a descriptor.
#[derive(Clone)]
pub struct BoundBuffer {
    /// Descriptor set.
    pub set: u32,
    /// BoundBuffer in the set.
    pub binding: u32,
    /// What is bound, and how it is used.
    pub bound: Use,
}

/// One kernel launch.
pub struct Dispatch<'a> {
    /// The kernel, made by the same device.
    pub kernel: &'a dyn Kernel,
    /// Specialization constants.
    pub spec: &'a SpecValues,
    /// Storage buffers by descriptor.
    pub bindings: &'a [BoundBuffer],
    /// Buffers used through addresses.
    pub uses: &'a [Use],
    /// Bytes of the push-constant block.
    pub push: &'a [u8],
    /// Bytes put into device memory; their address becomes the one push constant (decision 19).
    pub block: Option<&'a Block>,
    /// Workgroups in x, y, z; may exceed the device's limit for one dispatch.
    pub groups: [u64; 3],
}

/// A kernel loaded on a device.
pub trait Kernel: Send + Sync {
    /// What reflection found.
    fn module(&self) -> &Arc<Module>;
    /// The device's own type behind this.
    fn as_any(&self) -> &dyn Any;
}

/// Work of the host-thread accelerator: runs once on some thread.
pub type HostJob = Box<dyn FnOnce() -> Result<()> + Send>;

/// Does work in order; its work is numbered.
pub trait Queue: Send + Sync {
    /// The numbers of its work.
    fn timeline(&self) -> &Arc<dyn Timeline>;
    /// Adds a launch. Returns when it is done: wait for the point.
    fn dispatch(&self, dispatch: &Dispatch<'_>) -> Result<Point>;
    /// Adds a function run on host threads; only where [`Device::runs_host_code`].
    fn run(&self, uses: &[Use], job: HostJob) -> Result<Point>;
    /// Adds a copy between two buffers that this device can address.
    fn copy(&self, source: &Arc<dyn Buffer>, destination: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<Point>;
    /// The point at which all work added so far is done; sees to it that all of it begins.
    fn marker(&self) -> Result<Point>;
    /// The device's own type behind this.
    fn as_any(&self) -> &dyn Any;
}

/// Which way a transfer between host memory and a buffer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Host memory to buffer.
    Upload,
    /// Buffer to host memory.
    Download,
}

/// What memory a device holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Bytes of buffers that are alive, staging apart.
    pub used: u64,
    /// Bytes taken from the driver or the system for them.
    pub held: u64,
    /// Bytes that may be held beside those in use and a tenth more.
    pub slack: u64,
    /// Bytes of host memory that transfers pass through.
    pub staging: u64,
    /// Most bytes there ever are of them.
    pub staging_limit: u64,
}

/// A place that holds memory and does work.
pub trait Device: Send + Sync {
    /// Unique for the life of the process.
    fn id(&self) -> u64;
    /// True if kernels are functions of the host.
    fn runs_host_code(&self) -> bool;
    /// True if the host addresses every buffer made with [`Placement::Device`].
    fn shares_memory(&self) -> bool;
    /// A new block of memory. `label` names it in messages and tools.
    fn allocate(&self, bytes: u64, placement: Placement, label: &str) -> Result<Arc<dyn Buffer>>;
    /// A buffer over memory of the host itself, where the device can use that as fast as its own and the driver takes
    /// it; `None` where not. The buffer's [`Buffer::host`] is the span.
    ///
    /// The span must live until the buffer and all work that uses it are gone: see [`Device::reclaim`]. Buffers over the same bytes are not ordered
    /// against each other; such as only share a page may be used at the same time.
    fn import(&self, span: HostSpan, label: &str) -> Result<Option<Arc<dyn Buffer>>>;
    /// A buffer over memory of the host that copies pass through, whether or not the device uses it as fast as its own;
    /// `None` where the driver does not take it. As for [`Device::import`], the span must outlive the buffer.
    fn import_staging(&self, span: HostSpan, label: &str) -> Result<Option<Arc<dyn Buffer>>>;
    /// A new queue; `immediate` submits each work at once.
    fn create_queue(&self, immediate: bool) -> Result<Arc<dyn Queue>>;
    /// Loads a module, checking that this device can run it. Messages call it `label`.
    fn load(&self, module: &Arc<Module>, label: &str) -> Result<Arc<dyn Kernel>>;
    /// Moves bytes between host memory and a buffer of this device, ordered behind what uses the buffer's bytes. When it
    /// returns a download is done; of an upload `host` is no longer needed, and the returned points tell when it is done.
    ///
    /// The plan's buffer side is relative to the buffer, its host side to `host`. `queue` is where small transfers go. Work of
    /// host threads is not waited for: [`hazard::Detour::Wait`] asks for that.
    fn transfer(
        &self,
        direction: Direction,
        host: HostSpan,
        buffer: &Arc<dyn Buffer>,
        plan: &CopyPlan,
        queue: &dyn Queue,
    ) -> Result<SmallVec<[Point; 2]>>;
    /// Lets go of what finished work still holds: queues keep the buffers of a batch until they look for finished ones.
    fn reclaim(&self);
    /// What memory it holds.
    fn memory(&self) -> MemoryUsage;
    /// The error the device died of, if it did.
    fn lost(&self) -> Option<crate::error::Error>;
    /// Waits for all work and writes what must outlive the process (pipeline cache).
    fn drain(&self);
    /// The device's own type behind this.
    fn as_any(&self) -> &dyn Any;
}
