//! Vulkan objects that the program and the library share: a `VkDevice` with its queue, buffers, images and semaphores
//! (docs/interop.md). Handles are passed as numbers, as in C.

#![allow(unsafe_code)]

use super::batch::Command;
use super::commands::ViewQueue;
pub use super::core::{Callback, QueueLock, Release};
use super::core::{Core, Lent};
pub use super::descriptor::close as close_descriptor;
use super::device::VulkanDevice;
use super::features::{Extensions, Features};
pub use super::image::ProgramImage;
use super::image::VulkanImage;
use super::image_copy;
use super::instance::{GetInstanceProcAddr, Instance, instance};
use super::memory::VulkanBuffer;
use super::opened::Opened;
use super::physical::{Enabled, Physical, REQUIRED, uuid_text};
use super::queue::BufferUse;
use super::shared;
pub use super::shared::SharedMemory;
use super::shared_buffer;
use super::timeline::VulkanTimeline;
use crate::config;
use crate::device::hazard::Point;
use crate::device::physical::PhysicalDevice;
use crate::device::{Buffer, Device, Queue};
use crate::error::{Error, Result};
use crate::geometry::TextureShape;
use crate::kernel::Access;
use crate::lock::{Mutex, rank};
use ash::vk::{self, Handle};
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, Weak};

/// A `VkDevice` of the program. Fields may be zero or null, as C passes them.
pub struct ProgramDevice {
    /// VkInstance.
    pub instance: *mut c_void,
    /// The instance's version: VkApplicationInfo::apiVersion.
    pub api_version: u32,
    /// PFN_vkGetInstanceProcAddr, or null.
    pub get_instance_proc_addr: *const c_void,
    /// VkPhysicalDevice.
    pub physical_device: *mut c_void,
    /// VkDevice.
    pub device: *mut c_void,
    /// The VkDeviceCreateInfo with which the device was created.
    pub create_info: *const c_void,
    /// VkQueue.
    pub queue: *mut c_void,
    /// The queue's family.
    pub queue_family: u32,
    /// The queue's index in the family.
    pub queue_index: u32,
    /// Further families that use memory of the library.
    pub sharing: Vec<u32>,
    /// The functions that lock and unlock the queue.
    pub lock: Option<Callback<(QueueLock, QueueLock)>>,
    /// Called when the library no longer uses the device.
    pub release: Option<Release>,
}

/// The devices of the program that are in use.
static LENT: Mutex<Vec<Weak<VulkanDevice>>, { rank::LENT }> = Mutex::new(Vec::new());

impl ProgramDevice {
    /// The UUID of the hardware, by which the accelerator is found.
    ///
    /// # Safety
    /// The handles are alive.
    pub unsafe fn uuid(&self) -> Result<[u8; 16]> {
        // SAFETY: by the caller.
        let instance = unsafe { self.instance() }?;
        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut all = vk::PhysicalDeviceProperties2::default();
        let handle = vk::PhysicalDevice::from_raw(self.physical_device as u64);
        // SAFETY: by the caller.
        let version = unsafe { instance.raw.get_physical_device_properties(handle) }.api_version;
        if version < vk::API_VERSION_1_2 || self.api_version < vk::API_VERSION_1_2 {
            return Err(Error::unsupported(format!(
                "the VkDevice has Vulkan {}, but revamp needs Vulkan 1.2; both the instance \
                 (VkApplicationInfo::apiVersion, passed as api_version) and the physical device must have this version",
                super::instance::version_text(version.min(self.api_version))
            )));
        }
        all = all.push_next(&mut v11);
        // SAFETY: by the caller.
        unsafe { instance.raw.get_physical_device_properties2(handle, &mut all) };
        Ok(v11.device_uuid)
    }

    /// # Safety
    /// The handles are alive.
    unsafe fn instance(&self) -> Result<Instance> {
        // SAFETY: the program promises that this is the function's address or null.
        let get = unsafe { std::mem::transmute::<*const c_void, GetInstanceProcAddr>(self.get_instance_proc_addr) };
        // SAFETY: by the caller.
        unsafe { Instance::of_program(vk::Instance::from_raw(self.instance as u64), self.api_version, get) }
    }

    /// Opens the device, which the program shares with the library until `release` is called. Later calls for the same `VkDevice`
    /// return the same device.
    ///
    /// # Safety
    /// The handles belong together and stay alive until `release` is called. The `VkDevice` was created with `create_info`.
    pub unsafe fn open(self) -> Result<Arc<dyn Device>> {
        // SAFETY: by the caller.
        unsafe { self.check_families() }?;
        let mut all = LENT.lock();
        all.retain(|d| d.strong_count() > 0);
        let raw = vk::Device::from_raw(self.device as u64);
        if let Some(known) = all.iter().filter_map(Weak::upgrade).find(|d| d.core().raw.handle() == raw) {
            if known.core().compute[..] != [vk::Queue::from_raw(self.queue as u64)] {
                return Err(Error::unsupported(
                    "revamp already uses the VkDevice with another VkQueue; pass the same VkQueue for all \
                     accelerator_views, or create a VkDevice for each VkQueue",
                ));
            }
            let (family, index) = (known.core().compute_family, known.core().first_queue);
            if (self.queue_family, self.queue_index) != (family, index) {
                return Err(Error::invalid(format!(
                    "queue {} of family {} was requested, but revamp already uses this VkQueue as queue {index} of \
                     family {family}; pass the same numbers",
                    self.queue_index, self.queue_family
                )));
            }
            if let Some(lost) = known.lost() {
                return Err(lost);
            }
            return Ok(known);
        }
        // SAFETY: by the caller.
        let made = unsafe { self.open_new() }?;
        all.push(Arc::downgrade(&made));
        Ok(made)
    }

    /// Fails if the physical device lacks one of the queue families, or if the queue's family has no queue with that
    /// index.
    ///
    /// # Safety
    /// The handles are alive.
    unsafe fn check_families(&self) -> Result<()> {
        // SAFETY: by the caller.
        let families = unsafe {
            let handle = vk::PhysicalDevice::from_raw(self.physical_device as u64);
            self.instance()?.raw.get_physical_device_queue_family_properties(handle)
        };
        let named = std::iter::once(("queue_family_index", self.queue_family))
            .chain(self.sharing.iter().map(|family| ("sharing_families", *family)));
        for (field, family) in named {
            if family as usize >= families.len() {
                return Err(Error::invalid(format!(
                    "revamp_vulkan_device_info.{field} is the queue family {family}, but the VkPhysicalDevice has {} \
                     families (vkGetPhysicalDeviceQueueFamilyProperties()); pass a smaller number",
                    families.len()
                )));
            }
        }
        let most = families.get(self.queue_family as usize).map_or(0, |family| family.queue_count);
        if self.queue_index >= most {
            return Err(Error::invalid(format!(
                "revamp_vulkan_device_info.queue_index is {}, but family {} has {most} queues; pass the index that \
                 vkGetDeviceQueue() was called with",
                self.queue_index, self.queue_family
            )));
        }
        Ok(())
    }

    /// Fails if the `VkDevice` was not created with this queue.
    ///
    /// # Safety
    /// The `VkDevice` was created with `info`.
    unsafe fn check_queue(&self, info: &vk::DeviceCreateInfo<'_>) -> Result<()> {
        let count = info.queue_create_info_count as usize;
        let queues: &[vk::DeviceQueueCreateInfo<'_>] = if count == 0 || info.p_queue_create_infos.is_null() {
            &[]
        } else {
            // SAFETY: vkCreateDevice has read the same list.
            unsafe { std::slice::from_raw_parts(info.p_queue_create_infos, count) }
        };
        let of_family = queues.iter().filter(|q| q.queue_family_index == self.queue_family);
        let made = of_family.map(|q| q.queue_count).max().unwrap_or(0);
        // A VkDevice always has queues, so an empty list means that the program passed none.
        if self.queue_index >= made && !queues.is_empty() {
            return Err(Error::invalid(format!(
                "revamp_vulkan_device_info.queue_index is {}, but the VkDevice was created with {made} queues of \
                 family {} (VkDeviceQueueCreateInfo); pass the index that vkGetDeviceQueue() was called with",
                self.queue_index, self.queue_family
            )));
        }
        Ok(())
    }

    /// # Safety
    /// The conditions of [`Self::open`] hold.
    unsafe fn open_new(self) -> Result<Arc<VulkanDevice>> {
        // SAFETY: by the caller.
        let (instance, info) = unsafe { (self.instance()?, &*self.create_info.cast::<vk::DeviceCreateInfo<'_>>()) };
        // SAFETY: by the caller.
        unsafe { self.check_queue(info) }?;
        let mut names: Vec<&CStr> = Vec::new();
        for at in 0..info.enabled_extension_count as usize {
            // SAFETY: vkCreateDevice has read the same list of names.
            names.push(unsafe { CStr::from_ptr(*info.pp_enabled_extension_names.add(at)) });
        }
        let enabled = Enabled {
            // SAFETY: by the caller.
            features: unsafe { Features::enabled(info) },
            extensions: Extensions::among(&names),
            family: self.queue_family,
        };
        let handle = vk::PhysicalDevice::from_raw(self.physical_device as u64);
        let physical = Physical::new(&instance, handle, config::get(), Some(&enabled));
        if let Err(why) = &physical.usable {
            return Err(Error::unsupported(format!(
                "the VkDevice cannot be used: {why}; create it with the features that \
                 revamp_vulkan_get_device_requirements() returns for VkDeviceCreateInfo::pNext"
            )));
        }
        // SAFETY: by the caller.
        let device = unsafe { ash::Device::load(instance.raw.fp_v1_0(), vk::Device::from_raw(self.device as u64)) };
        let opened = Opened {
            device,
            compute: vec![vk::Queue::from_raw(self.queue as u64)],
            transfer: Vec::new(),
            compute_family: self.queue_family,
            transfer_family: None,
        };
        let lent = Some(Lent { lock: self.lock });
        let core = Core::wrap(&instance, &physical, opened, (self.queue_index, self.sharing, lent))?;
        let made = VulkanDevice::wrap(core)?;
        // Set last: if opening fails, `release` must not be called.
        made.core().set_release(self.release);
        Ok(made)
    }
}

/// The features and extensions that a `VkDevice` of the program must have or should have.
pub struct Requirements {
    /// The features without which the library rejects the `VkDevice`.
    pub required: Vec<*const c_char>,
    /// The other features that the library uses and the device has.
    pub optional: Vec<*const c_char>,
    /// The extensions that the library uses and the device has. None of them is required.
    pub extensions: Vec<*const c_char>,
    /// A VkPhysicalDeviceFeatures2 with all these features, required and optional.
    pub features: *const c_void,
    /// The queue family that the library would use, and a family with compute and graphics (VK_QUEUE_FAMILY_IGNORED if none has).
    pub families: [u32; 2],
    /// The Vulkan version for which `features` was made.
    pub api_version: u32,
}

// SAFETY: the memory behind the pointers is never changed or freed.
unsafe impl Send for Requirements {}
// SAFETY: the same.
unsafe impl Sync for Requirements {}

static REQUIREMENTS: Mutex<Vec<([u8; 16], &'static Requirements)>, { rank::LENT }> = Mutex::new(Vec::new());

/// The requirements for a `VkDevice` on this physical device. The returned structure lives until the process ends.
pub fn requirements(physical: &dyn PhysicalDevice) -> Result<&'static Requirements> {
    let Some(physical) = physical.as_any().downcast_ref::<Physical>() else {
        return Err(not_on_vulkan("the accelerator"));
    };
    let instance = instance()?;
    let mut known = REQUIREMENTS.lock();
    if let Some((_, found)) = known.iter().find(|(uuid, _)| *uuid == physical.uuid) {
        return Ok(found);
    }
    let name = |name: &'static str| {
        let text = format!("{name}\0").into_bytes().leak();
        text.as_ptr().cast::<c_char>()
    };
    let all = physical.features.list().into_iter();
    let optional = all.filter(|(name, has)| *has && !REQUIRED.contains(name)).map(|(name, _)| name);
    // SAFETY: the handle is of this instance.
    let families = unsafe { instance.raw.get_physical_device_queue_family_properties(physical.handle) };
    let both = vk::QueueFlags::COMPUTE | vk::QueueFlags::GRAPHICS;
    let graphics = (0_u32..).zip(&families).find(|(_, f)| f.queue_flags.contains(both)).map(|(i, _)| i);
    let made: &Requirements = Box::leak(Box::new(Requirements {
        required: REQUIRED.into_iter().map(name).collect(),
        optional: optional.map(name).collect(),
        extensions: physical.extensions.names().into_iter().map(CStr::as_ptr).collect(),
        features: std::ptr::from_ref(physical.features.leak(physical.api_version, &physical.extensions)).cast(),
        families: [physical.compute.index, graphics.unwrap_or(vk::QUEUE_FAMILY_IGNORED)],
        api_version: physical.api_version,
    }));
    known.push((physical.uuid, made));
    Ok(made)
}

/// The error for an object that is not on a Vulkan device.
fn not_on_vulkan(what: &str) -> Error {
    Error::unsupported(format!(
        "{what} is not on a Vulkan device, so there are no Vulkan objects; use an accelerator whose device_path begins \
         with vulkan\\. For memory of host threads or the cpu accelerator, use revamp_array_data() or copies"
    ))
}

fn core_of<'a>(device: &'a Arc<dyn Device>, what: &str) -> Result<&'a Arc<Core>> {
    device.as_any().downcast_ref::<VulkanDevice>().map(VulkanDevice::core).ok_or_else(|| not_on_vulkan(what))
}

/// The Vulkan objects of a device.
pub struct Objects {
    /// VkInstance, VkPhysicalDevice, VkDevice, VkQueue.
    pub handles: [*mut c_void; 4],
    /// The queue's family and its index in the family.
    pub queue: [u32; 2],
    /// The queue families that share memory of the library (VK_SHARING_MODE_CONCURRENT if there are several).
    pub families: Vec<u32>,
    /// The Vulkan version that the library uses.
    pub api_version: u32,
    /// True if the program created the device.
    pub lent: bool,
}

/// The Vulkan objects of an accelerator_view.
pub fn objects(device: &Arc<dyn Device>, queue: &dyn Queue) -> Result<Objects> {
    let core = core_of(device, "the accelerator_view")?;
    let queue = view_queue(queue)?.queue.hardware();
    let raw = |n: u64| n as *mut c_void;
    Ok(Objects {
        handles: [
            raw(core.instance.handle().as_raw()),
            raw(core.physical.handle.as_raw()),
            raw(core.raw.handle().as_raw()),
            raw(queue.0.as_raw()),
        ],
        queue: [core.compute_family, core.first_queue + queue.1],
        families: core.families.clone(),
        api_version: core.physical.api_version,
        lent: core.lent.is_some(),
    })
}

fn view_queue(queue: &dyn Queue) -> Result<&ViewQueue> {
    queue.as_any().downcast_ref::<ViewQueue>().ok_or_else(|| not_on_vulkan("the accelerator_view"))
}

/// Until [`unlock`], only this thread can submit to queues of the device.
pub fn lock(device: &Arc<dyn Device>) -> Result<()> {
    core_of(device, "the accelerator_view")?.lock()
}

/// Ends [`lock`].
pub fn unlock(device: &Arc<dyn Device>) -> Result<()> {
    core_of(device, "the accelerator_view")?.unlock()
}

/// A semaphore and a value. The semaphore 0 means none.
pub type SemaphorePoint = (u64, u64);

/// Records a use of the buffer by the program. The queue waits for `wait` first, and signals `signal` at the end.
fn foreign_use(
    queue: &dyn Queue,
    buffer: &Arc<dyn Buffer>,
    access: Access,
    wait: Option<SemaphorePoint>,
    signal: Option<SemaphorePoint>,
) -> Result<Point> {
    let queue = &view_queue(queue)?.queue;
    let raw = |p: SemaphorePoint| (vk::Semaphore::from_raw(p.0), p.1);
    // Submits the earlier commands separately, so that they do not wait for the program.
    queue.marker()?;
    let uses =
        [BufferUse { buffer, range: 0..buffer.size(), access, overwritten: wait.is_some() && access == Access::Write }];
    let point = queue.record(&uses, Command::Foreign { wait: wait.map(raw), signal: signal.map(raw) })?;
    queue.marker()?;
    point.timeline.signal(point.value)?;
    Ok(point)
}

/// The library's semaphore point for `point`: when the semaphore has the value, the work up to `point` is done.
fn library_point(point: &Point) -> Result<SemaphorePoint> {
    let vulkan_timeline = point.timeline.as_any().downcast_ref::<VulkanTimeline>();
    let vulkan_timeline =
        vulkan_timeline.ok_or_else(|| Error::internal("the timeline of a Vulkan queue is not a Vulkan timeline"))?;
    Ok((vulkan_timeline.semaphore.as_raw(), vulkan_timeline.signal_of(point.value)))
}

/// The semaphore point that is reached when the program may use the buffer: the program's point if it passes one, else
/// a point of the library.
pub fn signal(
    queue: &dyn Queue,
    buffer: &Arc<dyn Buffer>,
    access: Access,
    program_point: Option<SemaphorePoint>,
) -> Result<SemaphorePoint> {
    let record = || foreign_use(queue, buffer, access, None, program_point);
    let Some(program_point) = program_point else { return library_point(&record()?) };
    let core = &view_queue(queue)?.queue.core;
    let current_value = || {
        // SAFETY: the program promises that this is a timeline semaphore of this device.
        let found = unsafe { core.raw.get_semaphore_counter_value(vk::Semaphore::from_raw(program_point.0)) };
        found.map_err(|e| core.failed("vkGetSemaphoreCounterValue", e))
    };
    core.program_signals.add(program_point, current_value, record).map(|_| program_point)
}

/// Makes all later uses of the buffer wait for a semaphore point of the program.
pub fn wait(queue: &dyn Queue, buffer: &Arc<dyn Buffer>, access: Access, point: SemaphorePoint) -> Result<()> {
    foreign_use(queue, buffer, access, Some(point), None).map(drop)
}

/// The `VkBuffer` of a buffer, the offset of the buffer's first byte in it, and the usage with which it was created.
pub fn buffer_of(buffer: &Arc<dyn Buffer>) -> Result<(u64, u64, u32)> {
    let found = buffer.as_any().downcast_ref::<VulkanBuffer>();
    let found = found.ok_or_else(|| match VulkanImage::of(buffer) {
        Some(_) => Error::unsupported(
            "the texture is stored as an image and has no VkBuffer; create it with REVAMP_TEXTURE_STORAGE_TEXELS",
        ),
        None => not_on_vulkan("the array"),
    })?;
    Ok((found.raw.as_raw(), found.base, found.usage.as_raw()))
}

/// The usage flags that a `VkBuffer` of the program must have.
const NEEDED: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// The required alignment of offsets in a `VkBuffer` of the program.
const ALIGNMENT: u64 = 16;

/// A buffer over a part of a `VkBuffer` of the program. The three numbers are the offset of the part, the size of the part, and the
/// size of the `VkBuffer`.
///
/// # Safety
/// The `VkBuffer` belongs to the device and is bound to memory. It was created with this size and usage, and lives until
/// `release` is called.
pub unsafe fn buffer_over(
    device: &Arc<dyn Device>,
    raw: u64,
    usage: u32,
    (offset, bytes, whole): (u64, u64, u64),
    release: Option<Release>,
) -> Result<Arc<dyn Buffer>> {
    let core = core_of(device, "the accelerator_view")?;
    core.check_alive()?;
    if raw == 0 {
        return Err(Error::invalid("buffer is VK_NULL_HANDLE; pass a VkBuffer"));
    }
    let missing = NEEDED & !vk::BufferUsageFlags::from_raw(usage);
    if !missing.is_empty() {
        return Err(Error::runtime(format!(
            "the VkBuffer was created without the usage {missing:?}; arrays need {NEEDED:?}"
        )));
    }
    if offset % ALIGNMENT != 0 {
        return Err(Error::runtime(format!("the offset is {offset}; it must be a multiple of {ALIGNMENT}")));
    }
    if offset.checked_add(bytes).is_none_or(|end| end > whole) {
        return Err(Error::runtime(format!(
            "the array needs {bytes} bytes from byte {offset} on, but the VkBuffer has {whole} bytes"
        )));
    }
    let usage = vk::BufferUsageFlags::from_raw(usage);
    // SAFETY: by the caller.
    let made = unsafe { VulkanBuffer::over_program(core, vk::Buffer::from_raw(raw), offset, bytes, usage, release) };
    Ok(made)
}

/// The image of a texture over a `VkImage` of the program.
///
/// # Safety
/// The `VkImage` belongs to the device and is bound to memory. It has the format, usage and flags of `image` and the extents and
/// levels of `shape`, and lives until `release` is called.
pub unsafe fn image_over(
    device: &Arc<dyn Device>,
    queue: &dyn Queue,
    image: &ProgramImage,
    shape: &TextureShape,
    release: Option<Release>,
) -> Result<Arc<dyn Buffer>> {
    let core = core_of(device, "the accelerator_view")?;
    core.check_alive()?;
    let queue = &view_queue(queue)?.queue;
    // SAFETY: by the caller.
    unsafe { image_copy::adopt(core, queue, image, shape, release) }
}

/// The `VkImage` of a texture and its VkFormat.
pub fn image_of(buffer: &Arc<dyn Buffer>) -> Result<(u64, i32)> {
    let found = VulkanImage::of(buffer).ok_or_else(|| {
        Error::unsupported(
            "the texture is stored as texels, not as an image; create it with REVAMP_TEXTURE_STORAGE_IMAGE",
        )
    })?;
    Ok((found.raw.as_raw(), found.creation_format().as_raw()))
}

/// Without `from`, a buffer with exportable memory. With `from`, a buffer over imported memory; the file
/// descriptor stays the program's.
pub fn shared_buffer(
    device: &Arc<dyn Device>,
    bytes: u64,
    from: Option<&SharedMemory>,
    label: &str,
) -> Result<Arc<dyn Buffer>> {
    let core = core_of(device, "the accelerator_view")?;
    Ok(shared_buffer::buffer(core, bytes, from, label)?)
}

/// Fails if memory was exported by other hardware than `device`. `exporter`: the exporter's deviceUUID; zeros: unknown. The driver cannot be
/// asked, because it may accept the file descriptor and give memory with other contents (two H200s, NVIDIA 580.159.04).
pub fn check_exporter(device: &Arc<dyn Device>, exporter: &[u8; 16]) -> Result<()> {
    let physical = &core_of(device, "the accelerator_view")?.physical;
    if *exporter == [0; 16] || *exporter == physical.uuid {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the memory was exported by the device with UUID {}, but {} has UUID {}; import it on the device that exported it, or copy the data",
        uuid_text(exporter),
        physical.name,
        uuid_text(&physical.uuid)
    )))
}

/// A new file descriptor for the memory of an exportable buffer.
pub fn export_buffer(buffer: &Arc<dyn Buffer>) -> Result<SharedMemory> {
    let found = buffer.as_any().downcast_ref::<VulkanBuffer>().ok_or_else(|| not_on_vulkan("the array"))?;
    found.export()
}

/// Without `fd`, an exportable timeline semaphore. With `fd`, an imported one.
pub fn shared_semaphore(device: &Arc<dyn Device>, fd: Option<i32>) -> Result<u64> {
    let core = core_of(device, "the accelerator_view")?;
    let made = match fd {
        Some(fd) => shared::import_semaphore(core, fd)?,
        None => shared::semaphore(core, true)?,
    };
    Ok(made.as_raw())
}

/// A new file descriptor for an exportable semaphore.
pub fn export_semaphore(device: &Arc<dyn Device>, semaphore: u64) -> Result<i32> {
    shared::semaphore_fd(core_of(device, "the accelerator_view")?, vk::Semaphore::from_raw(semaphore))
}

/// Destroys a semaphore.
///
/// # Safety
/// The semaphore belongs to this device, and no work uses it any more.
pub unsafe fn destroy_semaphore(device: &Arc<dyn Device>, semaphore: u64) -> Result<()> {
    let core = core_of(device, "the accelerator_view")?;
    // SAFETY: by the caller.
    unsafe { core.raw.destroy_semaphore(vk::Semaphore::from_raw(semaphore), None) };
    Ok(())
}
