//! The shared state of all objects of one `VkDevice`: its functions, queues and memory, and whether it is lost.

#![allow(unsafe_code)]

use super::cache_file::{self, CacheKind};
use super::clocks::Timers;
use super::import::Importer;
use super::instance::{Instance, failed, instance};
use super::opened::{Opened, create_device};
use super::overruns::Overruns;
use super::physical::Physical;
use super::pool::MemoryPool;
use super::program_signals::ProgramSignals;
use super::samplers::Samplers;
use crate::config::{self, Workgroups};
use crate::device::hazard::set_any_lost;
use crate::device::physical::DeviceType;
use crate::device::workgroups::FoundWorkgroups;
use crate::device::{Direction, unique_id};
use crate::error::{DEVICE_REMOVED, Error, Result};
use crate::host::Workers;
use crate::lock::{Hold, Mutex, rank};
use crate::log;
use ash::vk;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{CString, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError, Weak};

/// A callback of the program with its context.
#[derive(Clone, Copy)]
pub struct Callback<F> {
    /// The function.
    pub function: F,
    /// The program's argument for the function.
    pub context: *mut c_void,
}

// SAFETY: the program promises that any thread may call the function.
unsafe impl<F: Send> Send for Callback<F> {}
// SAFETY: as for `Send`.
unsafe impl<F: Sync> Sync for Callback<F> {}

/// The callback that the library calls when it no longer uses an object of the program.
pub type Release = Callback<unsafe extern "C" fn(*mut c_void)>;

impl Release {
    /// Calls the callback on a thread that holds no lock.
    pub(super) fn call(self) {
        let callback = move || {
            let whole = self;
            // SAFETY: the program vouches for function and context.
            unsafe { (whole.function)(whole.context) }
        };
        // Not on this thread, because the caller may hold locks.
        if let Err(callback) = Workers::shared().callbacks.try_spawn(Box::new(callback)) {
            crate::trace::log::call_back(callback);
        }
    }
}

/// A function of the program that locks or unlocks its queue. The arguments are the context, the queue family, and the index of the
/// queue in the family.
pub type QueueLock = unsafe extern "C" fn(*mut c_void, u32, u32);

/// Properties of a `VkDevice` that the program created.
#[derive(Default)]
pub(super) struct Lent {
    /// The functions that lock and unlock the queue.
    pub lock: Option<Callback<(QueueLock, QueueLock)>>,
}

/// A queue that gathers commands before it submits them.
pub(super) trait Gathers: Send + Sync {
    /// Submits the gathered commands. If `blocks` is false, does nothing while the device has enough other work of the queue.
    fn submit_gathered(&self, blocks: bool);
}

/// An open device. Destroyed when the last of its buffers, queues and kernels is gone.
pub(super) struct Core {
    /// The id that [`crate::device::Device::id`] returns.
    pub id: u64,
    /// The physical device.
    pub physical: Physical,
    /// Functions of the Vulkan instance.
    pub instance: ash::Instance,
    /// Functions that name objects; `None` if `VK_EXT_debug_utils` is not enabled, or the program created the `VkDevice`.
    pub names: Option<ash::ext::debug_utils::Device>,
    /// Functions of the device.
    pub raw: ash::Device,
    /// Set if the program created the `VkDevice`, and will destroy it.
    pub lent: Option<Lent>,
    /// The callback of the program, called when the library no longer uses its `VkDevice`.
    release: OnceLock<Release>,
    /// The index of the first compute queue in its family.
    pub first_queue: u32,
    /// Queues of the compute family.
    pub compute: Vec<vk::Queue>,
    /// Queues of the transfer family.
    pub transfer: Vec<vk::Queue>,
    /// Held during a submission to any queue. Drivers lock the device for a submission anyway, and in NVIDIA's driver the waiting
    /// threads spin. Threads that wait for a mutex of the standard library soon sleep (docs/decisions/0016-one-submits.md).
    submitting: std::sync::Mutex<()>,
    /// True once any thread has called [`Self::lock`]. While it is false, `LOCKED` need not be searched.
    ever_locked: AtomicBool,
    /// The queue families that share buffers.
    pub families: Vec<u32>,
    /// The compute family.
    pub compute_family: u32,
    /// The transfer family.
    pub transfer_family: Option<u32>,
    /// The device memory. Dropped before the device.
    pub pool: ManuallyDrop<Mutex<MemoryPool, { rank::POOL }>>,
    /// Imports host memory; `None` if the device cannot import it.
    pub importer: Option<Importer>,
    /// The pipeline cache, which includes the pipelines of earlier processes.
    pub pipelines: vk::PipelineCache,
    /// True if `pipelines` has grown since it was last written to disk.
    pub pipelines_new: std::sync::atomic::AtomicBool,
    /// The best workgroup sizes that this process and earlier ones have found for kernels; `None` if launches are not timed to find them.
    pub workgroups: Option<FoundWorkgroups>,
    pub samplers: Samplers,
    /// The queries and the clock calibration that the device's timers share.
    pub timers: Timers,
    /// Signals of the program's semaphores.
    pub program_signals: ProgramSignals,
    /// Commands whose results may be lost because the driver stops loops that run too long.
    pub overruns: Overruns,
    /// True on hardware devices, where a wait may spin. A software device needs the CPU for its own work.
    pub is_hardware: bool,
    next_queue: AtomicUsize,
    /// The number of queues that have gathered commands.
    pub gathering: AtomicUsize,
    gatherers: Mutex<Vec<Weak<dyn Gathers>>, { rank::GATHERERS }>,
    /// Semaphores that nobody uses, oldest first (see [`Self::retire`]).
    retired: Mutex<VecDeque<vk::Semaphore>, { rank::RETIRED }>,
    lost: OnceLock<Error>,
}

/// A guard: while it lives, no other thread submits to queues of the device.
pub(super) struct Submitting<'a> {
    core: &'a Core,
    program_locked: bool,
    _guard: Option<(MutexGuard<'a, ()>, Hold)>,
}

impl Drop for Submitting<'_> {
    fn drop(&mut self) {
        if self.program_locked {
            self.core.call_lock(false);
        }
    }
}

/// A device whose queues the program has locked on this thread. It has no [`Hold`], because the order of the program's locks is
/// not checked.
struct Locked {
    guard: Option<MutexGuard<'static, ()>>,
    core: Arc<Core>,
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.core.call_lock(false);
        self.guard = None;
    }
}

thread_local! {
    static LOCKED: RefCell<Vec<Locked>> = const { RefCell::new(Vec::new()) };
}

/// The number of retired semaphores that are kept before the oldest is destroyed.
const RETIRED: usize = 64;

impl Core {
    /// Opens `physical`.
    pub fn open(physical: &Physical) -> Result<Self> {
        let instance: &Instance = instance()?;
        Self::wrap(instance, physical, create_device(instance, physical)?, (0, Vec::new(), None))
    }

    /// Wraps a `VkDevice`. `lent`: the index of the compute queue in its family, further queue families that use memory of the
    /// device, and [`Lent`] if the program created the `VkDevice`.
    pub fn wrap(
        instance: &Instance,
        physical: &Physical,
        opened: Opened,
        lent: (u32, Vec<u32>, Option<Lent>),
    ) -> Result<Self> {
        let Opened { device, compute, transfer, compute_family, transfer_family } = opened;
        let (first_queue, sharing, lent) = lent;
        let pool = match MemoryPool::new(instance, &device, physical) {
            Ok(p) => p,
            Err(e) => {
                if lent.is_none() {
                    // SAFETY: nothing was made with the device yet.
                    unsafe { device.destroy_device(None) };
                }
                return Err(Error::runtime(format!(
                    "{}: the memory allocator could not be created: {e}",
                    physical.name
                )));
            }
        };
        let earlier =
            cache_dir(physical).and_then(|dir| cache_file::load(dir, &cache_key(physical, CacheKind::Pipelines)));
        let info = vk::PipelineCacheCreateInfo::default().initial_data(earlier.as_deref().unwrap_or_default());
        // SAFETY: the data has been verified to be of this device and driver; empty data is allowed.
        let pipelines = match unsafe { device.create_pipeline_cache(&info, None) } {
            Ok(c) => c,
            Err(e) => {
                log!(Info, "no pipeline cache: {e}");
                vk::PipelineCache::null()
            }
        };
        let mut families = vec![compute_family];
        for family in transfer_family.into_iter().chain(sharing) {
            if !families.contains(&family) {
                families.push(family);
            }
        }
        log!(Info, "opened {}: {} compute and {} transfer queues", physical.name, compute.len(), transfer.len());
        Ok(Self {
            id: unique_id(),
            physical: physical.clone(),
            importer: Importer::new(instance, physical, &device),
            instance: instance.raw.clone(),
            names: (instance.debug_utils && lent.is_none())
                .then(|| ash::ext::debug_utils::Device::new(&instance.raw, &device)),
            raw: device,
            lent,
            release: OnceLock::new(),
            first_queue,
            compute,
            transfer,
            submitting: std::sync::Mutex::new(()),
            ever_locked: AtomicBool::new(false),
            families,
            compute_family,
            transfer_family,
            pool: ManuallyDrop::new(Mutex::new(pool)),
            pipelines,
            pipelines_new: std::sync::atomic::AtomicBool::new(false),
            workgroups: are_timed(physical).then(|| {
                let load = |dir| cache_file::load(dir, &cache_key(physical, CacheKind::Workgroups));
                FoundWorkgroups::new(&cache_dir(physical).and_then(load).unwrap_or_default())
            }),
            samplers: Samplers::default(),
            timers: Timers::new(),
            program_signals: ProgramSignals::default(),
            overruns: Overruns::default(),
            is_hardware: physical.device_type != DeviceType::Cpu,
            next_queue: AtomicUsize::new(0),
            gathering: AtomicUsize::new(0),
            gatherers: Mutex::new(Vec::new()),
            retired: Mutex::new(VecDeque::new()),
            lost: OnceLock::new(),
        })
    }

    /// Sets the name of a Vulkan object for tools. An empty name removes the name. Has no effect on devices of the program.
    ///
    /// # Safety
    /// The object belongs to the device, and no other thread uses it in a call for which Vulkan requires external
    /// synchronization.
    pub unsafe fn set_name(&self, object: impl vk::Handle, name: &str) {
        let (Some(names), Ok(name)) = (&self.names, CString::new(name)) else { return };
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(&name);
        // A failure leaves the object without a name.
        // SAFETY: by the caller.
        let _ = unsafe { names.set_debug_utils_object_name(&info) };
    }

    /// Sets the callback that is called when the library no longer uses the `VkDevice`.
    pub fn set_release(&self, release: Option<Release>) {
        if let Some(release) = release {
            let _ = self.release.set(release);
        }
    }

    /// The index of the compute queue for the next accelerator_view (round robin).
    pub fn take_compute(&self) -> usize {
        self.next_queue.fetch_add(1, Ordering::Relaxed) % self.view_queues()
    }

    /// The index of the compute queue for copies in a direction.
    pub fn copy_compute(&self, direction: Direction) -> usize {
        let views = self.view_queues();
        if views < self.compute.len() { views + direction as usize } else { self.take_compute() }
    }

    /// The number of compute queues for accelerator_views. Devices with enough queues reserve two for copies, so that copies
    /// that wait for kernels of one view do not delay kernels of another.
    fn view_queues(&self) -> usize {
        match self.compute.len() {
            few @ ..4 => few,
            many => many - 2,
        }
    }

    /// Adds a queue whose gathered commands [`Self::submit_gathered`] submits.
    pub fn add_gatherer(&self, queue: Weak<dyn Gathers>) {
        let mut all = self.gatherers.lock();
        all.retain(|queue| queue.strong_count() > 0);
        all.push(queue);
    }

    /// Submits the gathered commands of all queues. Every wait for work of the device calls this function, because a waiting
    /// thread adds no commands to the batches. The caller must hold no lock of rank QUEUES or above.
    #[inline]
    pub fn submit_gathered(&self, blocks: bool) {
        if self.gathering.load(Ordering::Relaxed) > 0 {
            self.submit_all_gathered(blocks);
        }
    }

    fn submit_all_gathered(&self, blocks: bool) {
        let all: SmallVec<[Arc<dyn Gathers>; 8]> = self.gatherers.lock().iter().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|queue| queue.submit_gathered(blocks));
    }

    /// Takes ownership of a semaphore that no queue uses any more. If batches used the semaphore, it is destroyed only
    /// after [`RETIRED`] more semaphores were retired: Mesa's submit threads access the semaphores of a batch once more
    /// after they have signalled the end of the batch (22.3.6: `vk_sync_timeline_point_release`).
    pub fn retire(&self, semaphore: vk::Semaphore, was_used: bool) {
        let mut retired = self.retired.lock();
        let oldest = if was_used {
            retired.push_back(semaphore);
            if retired.len() > RETIRED { retired.pop_front() } else { None }
        } else {
            Some(semaphore)
        };
        if let Some(oldest) = oldest {
            // SAFETY: its queue and all batches that waited for it were done when it was retired.
            unsafe { self.raw.destroy_semaphore(oldest, None) };
        }
    }

    /// The error with which the device was lost.
    pub fn lost(&self) -> Option<Error> {
        if self.is_lost() { self.lost.get().cloned() } else { None }
    }

    /// Fails if the device is lost.
    #[inline]
    pub fn check_alive(&self) -> Result<()> {
        if self.is_lost() { self.lost().map_or(Ok(()), Err) } else { Ok(()) }
    }

    /// Turns the result of a Vulkan call into an error, and remembers a lost device.
    pub fn failed(&self, what: &str, result: vk::Result) -> Error {
        if result == vk::Result::ERROR_DEVICE_LOST {
            return self.lose(what);
        }
        failed(format_args!("{}: {what}", self.physical.name), result)
    }

    /// True if the device is lost.
    pub fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Marks the device as lost although the driver has not reported a loss. Used when a thread or queue waits for a
    /// timeline value that can never be reached. Waits for submitted work first, because a lost device must not write
    /// memory. Nothing is submitted afterwards.
    pub fn mark_lost(&self, what: &str) -> Error {
        let guard = self.submitting();
        self.idle(&guard);
        self.lose(what)
    }

    fn lose(&self, what: &str) -> Error {
        set_any_lost();
        let error = self.lost.get_or_init(|| {
            let mut e = Error::removed(format!(
                "{} was lost in {what}. Possible causes are a kernel that ran too long or accessed memory outside of \
                 its arrays, and a reset of the driver. The accelerator_views of the device stay unusable; create new \
                 accelerator_views",
                self.physical.name
            ));
            e.hresult = DEVICE_REMOVED;
            // Logged only once: every later call fails too, and some programs keep calling.
            log!(Error, "{e}");
            e
        });
        error.clone()
    }

    /// Counts a submission. In tests, submission N loses the device (`REVAMP_TEST=lose-device=N`) or fails
    /// (`REVAMP_TEST=fail-submit=N`).
    pub fn count_submission(&self) -> Result<()> {
        if config::get().test.submission_is_lost() {
            return Err(self.mark_lost("a submission (REVAMP_TEST=lose-device)"));
        }
        if config::get().test.submission_fails() {
            let what = "a submission (REVAMP_TEST=fail-submit)";
            return Err(self.failed(what, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        }
        self.check_alive()
    }

    /// Writes the caches that have grown.
    pub fn save_caches(&self) {
        self.save_pipelines();
        let dir = cache_dir(&self.physical).filter(|_| config::get().cache == config::CacheMode::ReadWrite);
        let (Some(found), Some(dir)) = (&self.workgroups, dir) else { return };
        let key = cache_key(&self.physical, CacheKind::Workgroups);
        if let Some(data) = found.save(|| cache_file::load(dir, &key)) {
            cache_file::store(dir, &key, &data);
        }
    }

    fn save_pipelines(&self) {
        if self.pipelines == vk::PipelineCache::null() || !self.pipelines_new.swap(false, Ordering::Relaxed) {
            return;
        }
        let Some(dir) = cache_dir(&self.physical).filter(|_| config::get().cache == config::CacheMode::ReadWrite)
        else {
            return;
        };
        // SAFETY: the cache is this device's and alive.
        match unsafe { self.raw.get_pipeline_cache_data(self.pipelines) } {
            Ok(data) => {
                cache_file::store(dir, &cache_key(&self.physical, CacheKind::Pipelines), &data);
            }
            Err(e) => log!(Info, "the pipeline cache could not be read from the driver: {e}"),
        }
    }

    /// Locks submission: only one thread at a time submits to queues of the device. A thread that called [`Self::lock`] already
    /// holds the lock and does not wait.
    #[inline]
    pub fn submitting(&self) -> Submitting<'_> {
        if self.is_locked_here() {
            return Submitting { core: self, program_locked: false, _guard: None };
        }
        let hold = Hold::new(rank::SUBMITTING, 0);
        let guard = self.submitting.lock().unwrap_or_else(PoisonError::into_inner);
        let program_locked = self.call_lock(true);
        Submitting { core: self, program_locked, _guard: Some((guard, hold)) }
    }

    /// True if this thread has called [`Self::lock`].
    #[inline]
    fn is_locked_here(&self) -> bool {
        // `try_with` fails on a thread that is exiting. Such a thread has already unlocked everything.
        self.ever_locked.load(Ordering::Relaxed)
            && LOCKED.try_with(|all| all.borrow().iter().any(|l| l.core.id == self.id)).unwrap_or(false)
    }

    /// Calls the program's callback to lock or unlock its queue; false if the program has no callback.
    #[inline]
    fn call_lock(&self, locks: bool) -> bool {
        let Some(call) = self.lent.as_ref().and_then(|l| l.lock) else { return false };
        let function = if locks { call.function.0 } else { call.function.1 };
        // SAFETY: the program vouches for functions and context.
        unsafe { function(call.context, self.compute_family, self.first_queue) };
        true
    }

    /// Until [`Self::unlock`], only this thread can submit. A second `lock` on the same thread is an error.
    pub fn lock(self: &Arc<Self>) -> Result<()> {
        if self.is_locked_here() {
            return Err(Error::invalid(
                "this thread already holds the lock of the device's queues; unlock the queues first",
            ));
        }
        let guard = self.submitting.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `Locked` keeps the core alive, and drops the guard before the core.
        let guard = unsafe { std::mem::transmute::<MutexGuard<'_, ()>, MutexGuard<'static, ()>>(guard) };
        self.call_lock(true);
        self.ever_locked.store(true, Ordering::Relaxed);
        LOCKED.with_borrow_mut(|all| all.push(Locked { guard: Some(guard), core: self.clone() }));
        Ok(())
    }

    /// Ends [`Self::lock`].
    pub fn unlock(&self) -> Result<()> {
        let found = LOCKED.with_borrow_mut(|all| {
            let at = all.iter().position(|l| l.core.id == self.id)?;
            Some(all.remove(at))
        });
        found.map(drop).ok_or_else(|| {
            Error::invalid(
                "this thread does not hold the lock of the device's queues; lock the queues first, on the same thread",
            )
        })
    }

    /// Waits until the device is idle. On a device of the program, waits only for the compute queues that revamp uses.
    pub fn wait_idle(&self) {
        self.idle(&self.submitting());
    }

    fn idle(&self, _guard: &Submitting<'_>) {
        // Nothing was submitted to a device that only compiles, and RADV (22.3) crashes in vkDeviceWaitIdle without its hardware.
        if self.physical.compiles_only {
            return;
        }
        if self.lent.is_some() {
            for &queue in &self.compute {
                // SAFETY: nobody else uses the queue meanwhile; the program's other queues may be in use.
                if let Err(e) = unsafe { self.raw.queue_wait_idle(queue) } {
                    log!(Info, "{}: vkQueueWaitIdle: {e}", self.physical.name);
                }
            }
            return;
        }
        // SAFETY: the submission lock keeps all queues unused during the call.
        if let Err(e) = unsafe { self.raw.device_wait_idle() } {
            log!(Info, "{}: vkDeviceWaitIdle: {e}", self.physical.name);
        }
    }
}

/// The folder of caches; `None` if caches are off. Devices that only compile have no caches, because RADV reports the same
/// cache UUID for every chip.
fn cache_dir(physical: &Physical) -> Option<&'static Path> {
    let config = config::get();
    config.cache_dir.as_deref().filter(|_| config.cache != config::CacheMode::Off && !physical.compiles_only)
}

/// True if launches on the device are timed to find the best workgroups.
fn are_timed(physical: &Physical) -> bool {
    let wanted = match config::get().workgroups {
        Workgroups::Off => false,
        Workgroups::On | Workgroups::Atomics => physical.device_type != DeviceType::Cpu,
        Workgroups::Force => true,
    };
    wanted && physical.limits.timestamp_bits > 0
}

/// The key of a cache file of the device.
fn cache_key(physical: &Physical, cache_kind: CacheKind) -> cache_file::Key {
    cache_file::Key {
        cache_kind,
        library: env!("CARGO_PKG_VERSION"),
        driver: physical.driver_version,
        device_uuid: physical.uuid,
        cache_uuid: physical.pipeline_cache_uuid,
        vendor: physical.vendor_id,
        device: physical.device_id,
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.save_caches();
        self.wait_idle();
        // SAFETY: every object made from the device holds this Core, so none is left. The memory pool is dropped before the device.
        unsafe {
            for semaphore in self.retired.get_mut().drain(..) {
                self.raw.destroy_semaphore(semaphore, None);
            }
            self.samplers.destroy(&self.raw);
            self.timers.destroy(&self.raw);
            ManuallyDrop::drop(&mut self.pool);
            self.raw.destroy_pipeline_cache(self.pipelines, None);
            if self.lent.is_none() {
                self.raw.destroy_device(None);
            }
        }
        if let Some(release) = self.release.take() {
            release.call();
        }
    }
}
