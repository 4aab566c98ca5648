//! What everything made from one `VkDevice` shares: its functions, queues and memory, and whether it is lost.

#![allow(unsafe_code)]

use super::cache_file;
use super::device_type::DeviceType;
use super::import::Importer;
use super::instance::{Instance, failed, instance};
use super::opened::{Opened, create_device};
use super::physical::Physical;
use super::pool::MemoryPool;
use super::samplers::Samplers;
use crate::config;
use crate::device::hazard::say_lost;
use crate::device::unique_id;
use crate::error::{DEVICE_REMOVED, Error, Result};
use crate::lock::{Hold, Mutex, rank};
use crate::log;
use ash::vk;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{MutexGuard, OnceLock, PoisonError};

/// An open device. Destroyed when the last of its buffers, queues and kernels is gone.
pub(super) struct Core {
    /// The id that [`crate::device::Device::id`] gives.
    pub id: u64,
    /// The physical device.
    pub physical: Physical,
    /// Functions of the device.
    pub raw: ash::Device,
    /// Queues of the compute family.
    pub compute: Vec<vk::Queue>,
    /// Queues of the transfer family.
    pub transfer: Vec<vk::Queue>,
    /// Held to submit to any queue: drivers lock the device for that, and NVIDIA's threads spin meanwhile. The standard
    /// library's mutex sleeps soonest (docs/decisions/0016-one-submits.md).
    submitting: std::sync::Mutex<()>,
    /// Families of the queues, for buffers that all of them use.
    pub families: Vec<u32>,
    /// The compute family.
    pub compute_family: u32,
    /// The transfer family.
    pub transfer_family: Option<u32>,
    /// Its memory. Dropped before the device.
    pub pool: ManuallyDrop<Mutex<MemoryPool, { rank::POOL }>>,
    /// Imports memory of the host, if that is worth it.
    pub importer: Option<Importer>,
    /// Pipelines made before, also by earlier processes.
    pub pipelines: vk::PipelineCache,
    /// True if something was added to `pipelines` since it was written.
    pub pipelines_new: std::sync::atomic::AtomicBool,
    /// Its samplers.
    pub samplers: Samplers,
    /// True on a real device, where a wait may spin: a software device needs the processor itself.
    pub spins: bool,
    next_queue: AtomicUsize,
    /// Semaphores that nobody uses, the oldest first.
    retired: Mutex<VecDeque<vk::Semaphore>, { rank::RETIRED }>,
    lost: OnceLock<Error>,
}

/// How many semaphores are kept after their use.
const RETIRED: usize = 64;

impl Core {
    /// Opens `physical`.
    pub fn open(physical: &Physical) -> Result<Self> {
        let instance: &Instance = instance()?;
        let Opened { device, compute, transfer, compute_family, transfer_family } = create_device(instance, physical)?;
        let pool = match MemoryPool::new(instance, &device, physical) {
            Ok(p) => p,
            Err(e) => {
                // SAFETY: nothing was made with the device yet.
                unsafe { device.destroy_device(None) };
                return Err(Error::runtime(format!("{}: the memory allocator could not be made: {e}", physical.name)));
            }
        };
        let earlier = cache_dir().and_then(|dir| cache_file::load(dir, &cache_key(physical)));
        let info = vk::PipelineCacheCreateInfo::default().initial_data(earlier.as_deref().unwrap_or_default());
        // SAFETY: the data has been verified to be of this device and driver; an empty one is allowed.
        let pipelines = match unsafe { device.create_pipeline_cache(&info, None) } {
            Ok(c) => c,
            Err(e) => {
                log!(Info, "no pipeline cache: {e}");
                vk::PipelineCache::null()
            }
        };
        let mut families = vec![compute_family];
        families.extend(transfer_family.filter(|f| *f != compute_family));
        log!(Info, "opened {}: {} compute and {} transfer queues", physical.name, compute.len(), transfer.len());
        Ok(Self {
            id: unique_id(),
            physical: physical.clone(),
            importer: Importer::new(instance, physical, &device),
            raw: device,
            compute,
            transfer,
            submitting: std::sync::Mutex::new(()),
            families,
            compute_family,
            transfer_family,
            pool: ManuallyDrop::new(Mutex::new(pool)),
            pipelines,
            pipelines_new: std::sync::atomic::AtomicBool::new(false),
            samplers: Samplers::default(),
            spins: physical.device_type != DeviceType::Cpu,
            next_queue: AtomicUsize::new(0),
            retired: Mutex::new(VecDeque::new()),
            lost: OnceLock::new(),
        })
    }

    /// The index of the compute queue for the next accelerator_view: they take turns.
    pub fn take_compute(&self) -> usize {
        self.next_queue.fetch_add(1, Ordering::Relaxed) % self.compute.len()
    }

    /// Takes a semaphore that no queue uses any more. If batches used it, it is destroyed only some time later: Mesa's
    /// submit threads look at the semaphores of a batch once more after they have signalled its end (22.3.6:
    /// `vk_sync_timeline_point_release`).
    pub fn retire(&self, semaphore: vk::Semaphore, was_used: bool) {
        let mut retired = self.retired.lock();
        let oldest = if was_used {
            retired.push_back(semaphore);
            if retired.len() > RETIRED { retired.pop_front() } else { None }
        } else {
            Some(semaphore)
        };
        if let Some(oldest) = oldest {
            // SAFETY: its queue and all batches that waited for it were done when it came here.
            unsafe { self.raw.destroy_semaphore(oldest, None) };
        }
    }

    /// The error with which the device was lost.
    pub fn lost(&self) -> Option<Error> {
        self.lost.get().cloned()
    }

    /// Fails if the device is lost.
    pub fn check_alive(&self) -> Result<()> {
        self.lost().map_or(Ok(()), Err)
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

    fn lose(&self, what: &str) -> Error {
        say_lost();
        let error = self.lost.get_or_init(|| {
            let mut e = Error::removed(format!(
                "{} was lost in {what} (a kernel that ran too long or accessed memory it does not own, or a driver \
                 reset); its accelerator_views stay dead: make a new one",
                self.physical.name
            ));
            e.hresult = DEVICE_REMOVED;
            // Once: every further call fails too, and some ask again and again.
            log!(Error, "{e}");
            e
        });
        error.clone()
    }

    /// Counts a submission; at the Nth `REVAMP_TEST=lose-device=N` loses the device, and with `fail-submit=N` it fails.
    pub fn count_submission(&self) -> Result<()> {
        if config::get().test.submission_is_lost() {
            // A lost device no longer writes memory.
            self.wait_idle();
            return Err(self.lose("a submission (REVAMP_TEST=lose-device)"));
        }
        if config::get().test.submission_fails() {
            let what = "a submission (REVAMP_TEST=fail-submit)";
            return Err(self.failed(what, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        }
        self.check_alive()
    }

    /// Writes the pipeline cache if it has grown.
    pub fn save_pipelines(&self) {
        if self.pipelines == vk::PipelineCache::null() || !self.pipelines_new.swap(false, Ordering::Relaxed) {
            return;
        }
        let Some(dir) = cache_dir().filter(|_| config::get().cache == config::CacheMode::ReadWrite) else { return };
        // SAFETY: the cache is this device's and alive.
        match unsafe { self.raw.get_pipeline_cache_data(self.pipelines) } {
            Ok(data) => {
                cache_file::store(dir, &cache_key(&self.physical), &data);
            }
            Err(e) => log!(Info, "the pipeline cache could not be read from the driver: {e}"),
        }
    }

    /// Lets one thread at a time submit to queues of the device.
    pub fn submitting(&self) -> (MutexGuard<'_, ()>, Hold) {
        let hold = Hold::new(rank::SUBMITTING, 0);
        (self.submitting.lock().unwrap_or_else(PoisonError::into_inner), hold)
    }

    /// Waits until the device is idle.
    pub fn wait_idle(&self) {
        let _alone = self.submitting();
        // SAFETY: nobody uses a queue meanwhile, as the call needs.
        if let Err(e) = unsafe { self.raw.device_wait_idle() } {
            log!(Info, "{}: vkDeviceWaitIdle: {e}", self.physical.name);
        }
    }
}

/// The folder of pipeline caches; `None` if they are not used.
fn cache_dir() -> Option<&'static Path> {
    let config = config::get();
    config.cache_dir.as_deref().filter(|_| config.cache != config::CacheMode::Off)
}

/// The key of the device's pipeline cache.
fn cache_key(physical: &Physical) -> cache_file::Key {
    cache_file::Key {
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
        self.save_pipelines();
        self.wait_idle();
        // SAFETY: every object made from the device holds this Core, so none is left; their memory goes first.
        unsafe {
            for semaphore in self.retired.get_mut().drain(..) {
                self.raw.destroy_semaphore(semaphore, None);
            }
            self.samplers.destroy(&self.raw);
            ManuallyDrop::drop(&mut self.pool);
            self.raw.destroy_pipeline_cache(self.pipelines, None);
            self.raw.destroy_device(None);
        }
    }
}
