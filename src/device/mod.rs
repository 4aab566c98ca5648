//! Devices, which hold memory and do work: the traits that the runtime uses, and the two kinds of devices.
//!
//! A [`Device`] makes [`Buffer`]s and [`Queue`]s. A queue is a timeline: its work is numbered, and everything that must
//! be ordered after it waits for a number. Hazards are tracked for each byte range of a buffer ([`hazard`]).

pub mod block;
pub mod hazard;
pub mod host;
pub mod physical;
pub mod vulkan;
pub mod workgroups;

use crate::error::{Error, Result};
use crate::geometry::{CopyPlan, TextureShape};
use crate::host::HostSpan;
use crate::kernel::{Access, FloatModes, KernelForm, Module, SpecValues};
use block::Block;
use hazard::{Point, Timeline, Tracker};
use smallvec::SmallVec;
use std::any::Any;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use workgroups::FoundWorkgroups;

/// A number that no other object of this process has.
pub fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Maximum bytes that the host writes into a window of device memory. Larger uploads are faster through staging memory.
pub const WINDOW_BYTES: u64 = 16 << 20;

/// The kind of memory for a new buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Fast for the device. The host addresses it only if memory is shared.
    Device,
    /// Device memory that the host addresses too; fails if there is none.
    DeviceShared,
    /// Host memory that the device addresses (staging arrays), cached for the host.
    Staging,
}

/// A block of memory on one device.
pub trait Buffer: Send + Sync {
    /// Unique for the life of the process. Trackers are locked in the order of these ids.
    fn id(&self) -> u64;
    /// Size in bytes.
    fn size(&self) -> u64;
    /// The memory as the host addresses it; `None` if the host does not address it.
    fn host(&self) -> Option<HostSpan>;
    /// Device memory that the host writes fast and reads very slowly, for small uploads.
    fn window(&self) -> Option<HostSpan> {
        None
    }
    /// The address that kernels use, if there is one.
    fn device_address(&self) -> Option<u64>;
    /// The offset of byte 0 in the object that descriptors bind. The alignment of descriptors counts from the start of that object. 0 except for
    /// imported memory.
    fn base(&self) -> u64 {
        0
    }
    /// The abilities of the image, if the buffer is an image.
    fn image(&self) -> Option<&ImageAbilities> {
        None
    }
    /// The tracker of the uses of its bytes.
    fn tracker(&self) -> &Tracker;
    /// Sets its name for tools that show the device's objects.
    fn set_label(&self, _label: &str) {}
    /// For downcasts to the concrete type.
    fn as_any(&self) -> &dyn Any;
}

/// The operations of kernels that an image supports.
#[derive(Debug, Clone)]
pub struct ImageAbilities {
    /// The texels and levels of the image.
    pub shape: TextureShape,
    /// True if the image can be a storage image.
    pub storage: bool,
    /// True if the image can be filtered.
    pub linear_filter: bool,
    /// True if reads outside of the image give 0.
    pub robust: bool,
}

/// The result of sampling outside an image.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AddressMode {
    /// The texel at the edge.
    Clamp,
    /// The image is repeated.
    Wrap,
    /// The image is repeated, each time reflected.
    Mirror,
    /// This colour.
    Border([f32; 4]),
}

/// The state of a sampler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// True to interpolate between texels and between levels.
    pub linear_filter: bool,
    /// The result outside the image.
    pub address: AddressMode,
}

/// An image, a sampler or both, bound to a descriptor.
#[derive(Clone)]
pub struct BoundImage {
    /// Descriptor set number.
    pub set: u32,
    /// Binding number in the set.
    pub binding: u32,
    /// Number in an array of descriptors.
    pub element: u32,
    /// The image's bytes, how they are used, and the levels.
    pub image: Option<(Use, Range<u32>)>,
    /// True for a storage image.
    pub storage: bool,
    /// The sampler.
    pub sampler: Option<Sampler>,
}

/// Bytes of a buffer, and how a command uses them.
#[derive(Clone)]
pub struct Use {
    /// The buffer.
    pub buffer: Arc<dyn Buffer>,
    /// The bytes.
    pub range: Range<u64>,
    /// How they are used.
    pub access: Access,
}

/// The kind of descriptor to which a buffer is bound.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BoundAs {
    /// A storage buffer.
    Storage,
    /// A uniform buffer.
    Uniform,
    /// A uniform buffer that the host alone has written, before the launch.
    HostWrittenUniform,
}

/// A buffer bound to a descriptor.
#[derive(Clone)]
pub struct BoundBuffer {
    /// Descriptor set number.
    pub set: u32,
    /// Binding number in the set.
    pub binding: u32,
    /// Number in an array of descriptors.
    pub element: u32,
    /// The kind of descriptor.
    pub bound_as: BoundAs,
    /// The bytes bound, and how they are used.
    pub bound: Use,
}

/// One kernel launch.
pub struct Dispatch<'a> {
    /// The kernel, made by the same device.
    pub kernel: &'a dyn Kernel,
    /// Specialization constants.
    pub spec: &'a SpecValues,
    /// Buffers by descriptor.
    pub bindings: &'a [BoundBuffer],
    /// Images and samplers by descriptor.
    pub images: &'a [BoundImage],
    /// Buffers used through addresses.
    pub uses: &'a [Use],
    /// Bytes of the push-constant block.
    pub push: &'a [u8],
    /// The argument block, which is copied to device memory. Its address there becomes the only push constant (decision 19).
    pub block: Option<&'a Block>,
    /// Workgroups in x, y, z; may exceed the device's limit for one dispatch.
    pub groups: [u64; 3],
    /// Work of the device's queues that must be done first, whatever memory it uses.
    pub after: &'a [Point],
}

/// A driver's report on the code of a kernel (`VK_KHR_pipeline_executable_properties`).
#[derive(Debug, Clone, PartialEq)]
pub struct Executable {
    /// The driver's name for the code.
    pub name: String,
    /// Threads of a subgroup.
    pub subgroup_size: u32,
    /// Statistics, each with the driver's name for it.
    pub statistics: Vec<(String, f64)>,
}

/// A kernel loaded on a device.
pub trait Kernel: Send + Sync {
    /// The module, with the results of reflection.
    fn module(&self) -> &Arc<Module>;
    /// Creates the objects that launches of this many workgroups need, so that the first launch need not create them.
    fn prepare(&self, groups: [u64; 3]) -> Result<()>;
    /// Lets the driver compile the kernel now. Returns the driver's reports on the code; empty if the driver gives none.
    fn executables(&self) -> Result<Vec<Executable>>;
    /// For downcasts to the concrete type.
    fn as_any(&self) -> &dyn Any;
}

/// The begin and end of work, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The time at which it began.
    pub begin: u64,
    /// The time at which it ended.
    pub end: u64,
    /// The maximum deviation of both times from [`crate::host::system::now`]; `None` if the times come from the device's clock.
    pub deviation: Option<u64>,
}

/// The timer of timed work.
pub trait Timer: Send + Sync {
    /// The duration of a launch in nanoseconds, once the launch is done.
    fn nanoseconds(&self) -> Result<Option<f64>>;
    /// The begin and end of the work, which must be done and must not have failed.
    fn times(&self) -> Result<Times>;
}

/// The slot that gets the timer of timed work.
pub type TimerSlot = OnceLock<Arc<dyn Timer>>;

/// Work of a host queue: runs once, on some thread.
pub type HostJob = Box<dyn FnOnce() -> Result<()> + Send>;

/// A queue of a device, whose work is numbered by a timeline.
pub trait Queue: Send + Sync {
    /// The timeline of its work.
    fn timeline(&self) -> &Arc<dyn Timeline>;
    /// Adds a launch. Returns the point at which the launch is done.
    fn dispatch(&self, dispatch: &Dispatch<'_>) -> Result<Point>;
    /// Adds a timed launch: no other work of the queue runs at the same time.
    fn dispatch_timed(&self, dispatch: &Dispatch<'_>) -> Result<(Point, Arc<dyn Timer>)>;
    /// Adds a function that runs on host threads. Only if [`Device::runs_host_code`].
    fn run(&self, uses: &[Use], job: HostJob) -> Result<Point>;
    /// Adds a copy between two buffers that this device can address.
    fn copy(&self, source: &Arc<dyn Buffer>, destination: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<Point>;
    /// Like [`Self::copy`], but later work of the queue need not wait for the copy, and the copy's point is reached
    /// without later work.
    fn copy_unordered(
        &self,
        source: &Arc<dyn Buffer>,
        destination: &Arc<dyn Buffer>,
        plan: &CopyPlan,
    ) -> Result<Point> {
        self.copy(source, destination, plan)
    }
    /// Like [`Self::copy`] or, if `unordered`, [`Self::copy_unordered`], but the device times the copy if it can. The timer then goes to
    /// `timer`. If [`Self::times_lanes`] is false, the copy waits for the queue's kernels.
    fn copy_timed(
        &self,
        source: &Arc<dyn Buffer>,
        destination: &Arc<dyn Buffer>,
        plan: &CopyPlan,
        unordered: bool,
        _timer: &TimerSlot,
    ) -> Result<Point> {
        if unordered { self.copy_unordered(source, destination, plan) } else { self.copy(source, destination, plan) }
    }
    /// True if the device can time copies over the bus that run concurrently with kernels.
    fn times_lanes(&self) -> bool {
        false
    }
    /// Sets its name for tools that show the device's objects.
    fn set_label(&self, _label: &str) {}
    /// The point at which all work added so far is done. Makes sure that all of it begins.
    fn marker(&self) -> Result<Point>;
    /// For downcasts to the concrete type.
    fn as_any(&self) -> &dyn Any;
}

/// The direction of a transfer between host memory and a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From host memory to a buffer.
    Upload,
    /// From a buffer to host memory.
    Download,
}

/// The memory that a device holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Bytes of live buffers, without staging.
    pub used: u64,
    /// Bytes allocated from the driver or the system for the buffers.
    pub held: u64,
    /// The constant in the bound `held <= 1.1 * used + slack`.
    pub slack: u64,
    /// Bytes of host memory through which transfers pass.
    pub staging: u64,
    /// The upper bound of `staging`.
    pub staging_limit: u64,
}

/// An open device: has memory and does work.
pub trait Device: Send + Sync {
    /// Unique for the life of the process.
    fn id(&self) -> u64;
    /// True if its kernels are functions of the host.
    fn runs_host_code(&self) -> bool;
    /// True if the host addresses every buffer made with [`Placement::Device`].
    fn shares_memory(&self) -> bool;
    /// Allocates memory. `label` names it in messages and tools.
    fn allocate(&self, bytes: u64, placement: Placement, label: &str) -> Result<Arc<dyn Buffer>>;
    /// Why textures of this shape cannot be images on this device; `None` if they can.
    fn image_refusal(&self, _shape: &TextureShape) -> Option<Error> {
        Some(Error::unsupported("host threads cannot store textures as images"))
    }
    /// An image for a texture. Copies use the image as a buffer whose bytes are the texture's host form. The first command of the
    /// image goes to `queue`.
    fn allocate_image(&self, _shape: &TextureShape, _queue: &dyn Queue, _label: &str) -> Result<Arc<dyn Buffer>> {
        Err(Error::unsupported("host threads cannot store textures as images"))
    }
    /// A buffer over memory of the host, if the device can use it as fast as its own and the driver accepts it, else `None`.
    /// The buffer's [`Buffer::host`] is the span.
    ///
    /// The span must live until the buffer and all work that uses it are gone: see [`Device::reclaim`]. Uses of buffers over the
    /// same bytes are not ordered against each other. Buffers that only share a page may be used at the same time.
    fn import(&self, span: HostSpan, label: &str) -> Result<Option<Arc<dyn Buffer>>>;
    /// A buffer over memory of the host through which copies pass, even if the device does not use it as fast as its own;
    /// `None` if the driver does not accept it. As for [`Device::import`], the span must outlive the buffer.
    fn import_staging(&self, span: HostSpan, label: &str) -> Result<Option<Arc<dyn Buffer>>>;
    /// Creates a queue. If `immediate` is true, the queue submits each piece of work at once.
    fn create_queue(&self, immediate: bool) -> Result<Arc<dyn Queue>>;
    /// Loads a module and checks that this device can run it. `label` names it in messages.
    fn load(&self, module: &Arc<Module>, label: &str) -> Result<Arc<dyn Kernel>>;
    /// The float modes that kernels can use here.
    fn float_modes(&self) -> FloatModes {
        FloatModes::default()
    }
    /// The form of compiled kernels that suits the driver.
    fn kernel_form(&self) -> KernelForm {
        KernelForm::default()
    }
    /// The workgroups that were found for kernels; `None` if this device does not search for them.
    fn workgroups(&self) -> Option<&FoundWorkgroups> {
        None
    }
    /// Moves bytes between host memory and a buffer of this device, after earlier uses of the buffer's bytes. When it returns, a
    /// download is done. An upload no longer needs `host`, and is done when the returned points are reached.
    ///
    /// The plan's buffer side is relative to the buffer, its host side to `host`. Small transfers go to `queue`. If work of
    /// host threads must be waited for, the transfer fails with [`hazard::Detour::Wait`].
    fn transfer(
        &self,
        direction: Direction,
        host: HostSpan,
        buffer: &Arc<dyn Buffer>,
        plan: &CopyPlan,
        queue: &dyn Queue,
    ) -> Result<SmallVec<[Point; 2]>>;
    /// Releases the buffers that finished work still holds. A queue keeps the buffers of a batch until it checks for finished batches.
    fn reclaim(&self);
    /// The memory that the device holds.
    fn memory(&self) -> MemoryUsage;
    /// The error with which the device was lost, if it was.
    fn lost(&self) -> Option<crate::error::Error>;
    /// Waits for all work, and writes the caches to disk.
    fn drain(&self);
    /// For downcasts to the concrete type.
    fn as_any(&self) -> &dyn Any;
}
