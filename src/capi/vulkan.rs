//! The C API of revamp_vulkan.h: objects shared with programs that use Vulkan themselves (docs/interop.md).

use super::accelerator::checked_access;
use super::accelerator_view::{handle_of, is_immediate};
use super::array::dimensions;
use super::guard::guard;
use super::handle::{get, insert};
use super::loaded;
use super::pointer;
use super::texture::shape_of;
use super::types::*;
use super::vulkan_handles::*;
use super::vulkan_types::*;
use crate::device::vulkan::interop::{self, Callback, ProgramDevice, ProgramImage, Release, SharedMemory};
use crate::device::{Buffer, Queue};
use crate::error::{Error, Result};
use crate::runtime::AccessType;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::storage::{ArrayRequest, MakeMemory};
use crate::runtime::data::texture::{StorageWish, Texture, TextureRequest};
use crate::runtime::runtime;
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// Fills `needed` with the requirements of revamp_vulkan_create_view() for a VkDevice of the
/// accelerator's hardware (set struct_size first).
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE if the accelerator is not a Vulkan device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_get_device_requirements(
    accelerator: revamp_accelerator,
    needed: *mut revamp_vulkan_device_requirements,
) -> revamp_status {
    guard(|| {
        let accelerator = get::<Accelerator, _>(accelerator)?;
        let all = interop::requirements(accelerator.physical())?;
        let filled = revamp_vulkan_device_requirements {
            struct_size: 0,
            required_features: all.required.as_ptr(),
            required_feature_count: all.required.len() as u32,
            optional_feature_count: all.optional.len() as u32,
            optional_features: all.optional.as_ptr(),
            extensions: all.extensions.as_ptr(),
            extension_count: all.extensions.len() as u32,
            api_version: all.api_version,
            features: all.features,
            queue_family_index: all.families[0],
            graphics_queue_family_index: all.families[1],
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(needed, filled) }
    })
}

/// The program's release callback, if it gave one.
fn release_of(release: revamp_vulkan_release, context: *mut c_void) -> Option<Release> {
    release.map(|function| {
        loaded::keep(function as usize);
        Callback { function, context }
    })
}

/// Reads and checks the VkDevice that C gives.
///
/// # Safety
/// The info's list of families is readable.
unsafe fn program_device(info: &revamp_vulkan_device_info) -> Result<ProgramDevice> {
    for (missing, name) in [
        (info.instance.is_null(), "instance"),
        (info.physical_device.is_null(), "physical_device"),
        (info.device.is_null(), "device"),
        (info.create_info.is_null(), "create_info"),
        (info.queue.is_null(), "queue"),
    ] {
        if missing {
            return Err(Error::invalid(format!("revamp_vulkan_device_info.{name} is NULL")));
        }
    }
    let lock = match (info.lock_queue, info.unlock_queue) {
        (Some(lock), Some(unlock)) => {
            loaded::keep(lock as usize);
            loaded::keep(unlock as usize);
            Some(Callback { function: (lock, unlock), context: info.context })
        }
        (None, None) => None,
        _ => return Err(Error::invalid("only one of lock_queue and unlock_queue is set; set both or neither")),
    };
    let count = info.sharing_family_count as usize;
    // SAFETY: the caller vouches for the list of families.
    let sharing = unsafe { pointer::slice(info.sharing_families, count, "sharing_families") }?.to_vec();
    Ok(ProgramDevice {
        instance: info.instance,
        api_version: info.api_version,
        get_instance_proc_addr: info.get_instance_proc_addr,
        physical_device: info.physical_device,
        device: info.device,
        create_info: info.create_info,
        queue: info.queue,
        queue_family: info.queue_family_index,
        queue_index: info.queue_index,
        sharing,
        lock,
        release: release_of(info.release, info.context),
    })
}

/// Makes a new view of an accelerator, on a VkDevice of the program in place of the library's own.
/// Release it with revamp_accelerator_view_release(). The VkDevice must live until `release` of
/// `info` is called, or revamp_uninitialize() has returned. The library calls `release` when the
/// last view, array and texture of the VkDevice is gone and their work is done. Further views of
/// the same VkDevice must have the same queue; lock_queue, release and the other values of the
/// first view stay in effect. If the device is lost, its views are removed like all other views
/// (REVAMP_ERROR_ACCELERATOR_VIEW_REMOVED); the program makes a new VkDevice and a new view.
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE if the VkDevice was made without required features (see
/// revamp_vulkan_get_device_requirements()), which the message names, or if its physical device is
/// not an accelerator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_create_view(
    info: *const revamp_vulkan_device_info,
    mode: revamp_queuing_mode,
    view: *mut revamp_accelerator_view,
) -> revamp_status {
    guard(|| {
        pointer::check_out(view, "view")?;
        let immediate = is_immediate(mode)?;
        // SAFETY: the caller vouches for a readable struct and its list.
        let device = unsafe { program_device(&pointer::read(info)?) }?;
        // SAFETY: the caller vouches for handles that are alive.
        let uuid = unsafe { device.uuid() }?;
        let runtime = runtime()?;
        let found = runtime.accelerators().iter().find(|a| a.physical().uuid() == Some(uuid));
        let accelerator = found.ok_or_else(|| {
            Error::unsupported(
                "the VkPhysicalDevice is not an accelerator of this process; use a driver that revamp's Vulkan loader \
                 also finds, and do not hide the device with REVAMP_VISIBLE_DEVICES",
            )
        })?;
        // SAFETY: the caller vouches for the handles and create_info.
        let made = AcceleratorView::create_lent(accelerator, immediate, || unsafe { device.open() })?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(view, "view", handle_of(&made)?) }
    })
}

/// Gives the Vulkan objects behind a view. Set struct_size first. To get the queue families, set
/// sharing_families and sharing_family_count too. The objects belong to the library or to the
/// program, and live as long as the view.
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE if the view's accelerator is not a Vulkan device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_get_view_info(
    view: revamp_accelerator_view,
    info: *mut revamp_vulkan_view_info,
) -> revamp_status {
    guard(|| {
        let view = get::<AcceleratorView, _>(view)?.actual();
        // SAFETY: the caller vouches for a readable struct or NULL.
        let given = unsafe { pointer::read::<revamp_vulkan_view_info>(info) }?;
        let o = interop::objects(view.device(), &**view.queue())?;
        let room = if given.sharing_families.is_null() { 0 } else { given.sharing_family_count as usize };
        for (n, family) in o.families.iter().take(room).enumerate() {
            // SAFETY: the caller vouches for this much room.
            unsafe { pointer::write(given.sharing_families.wrapping_add(n), "sharing_families", *family) }?;
        }
        let [instance, physical_device, device, queue] = o.handles;
        let filled = revamp_vulkan_view_info {
            struct_size: 0,
            instance,
            physical_device,
            device,
            queue,
            queue_family_index: o.queue[0],
            queue_index: o.queue[1],
            api_version: o.api_version,
            is_of_program: o.lent,
            sharing_families: given.sharing_families,
            sharing_family_count: o.families.len() as u32,
        };
        // SAFETY: the caller vouches for a writable struct.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Gives this thread exclusive use of the queues of the view's VkDevice until it calls
/// revamp_vulkan_unlock_queue(), because only one thread at a time may use a VkQueue. Call it around
/// vkQueueSubmit() and vkQueuePresentKHR(); do not wait for anything meanwhile.
/// Errors: REVAMP_ERROR_INVALID_ARGUMENT if this thread has locked the queues already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_lock_queue(view: revamp_accelerator_view) -> revamp_status {
    guard(|| interop::lock(get::<AcceleratorView, _>(view)?.device()))
}

/// Ends revamp_vulkan_lock_queue(), on the same thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_unlock_queue(view: revamp_accelerator_view) -> revamp_status {
    guard(|| interop::unlock(get::<AcceleratorView, _>(view)?.device()))
}

/// Makes an array in the memory that `memory` gives.
///
/// # Safety
/// As revamp_array_create().
unsafe fn make_array(
    view: revamp_accelerator_view,
    (rank, extent, element_size): (u32, *const i32, usize),
    memory: MakeMemory<'_>,
    array: *mut revamp_array,
) -> Result<()> {
    pointer::check_out(array, "array")?;
    let request = ArrayRequest {
        view: get::<AcceleratorView, _>(view)?,
        // SAFETY: the caller vouches for `rank` extents.
        extent: unsafe { dimensions(extent, rank, "extent") }?,
        element_size,
        cpu_access: AccessType::None,
        associated: None,
        label: None,
        texture: None,
        memory: Some(memory),
    };
    let handle = insert(Array::create(request)?)?;
    // SAFETY: checked; the caller vouches for it being writable.
    unsafe { pointer::write(array, "array", handle) }
}

/// Makes an array whose elements lie in a VkBuffer of the program, row-major, from buffer.offset
/// on. The library may use the buffer at once: work of the program that writes it must be done, or
/// be passed to revamp_vulkan_wait_array() first. Destroy the array with revamp_array_destroy(); the
/// program destroys the buffer and its memory once `release` is called.
/// Errors: REVAMP_ERROR_RUNTIME if the buffer is too small, lacks a usage flag, or begins at an
/// unaligned offset; REVAMP_ERROR_UNSUPPORTED_FEATURE if the view's accelerator is not a Vulkan
/// device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_create_array(
    view: revamp_accelerator_view,
    buffer: *const revamp_vulkan_buffer_info,
    rank: u32,
    extent: *const i32,
    element_size: usize,
    array: *mut revamp_array,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for a readable struct.
        let b = unsafe { pointer::read(buffer) }?;
        let memory = |view: &Arc<AcceleratorView>, bytes: u64, _: &str| {
            let release = release_of(b.release, b.context);
            // SAFETY: the caller vouches for the buffer.
            unsafe { interop::buffer_over(view.device(), b.buffer, b.usage, (b.offset, bytes, b.size), release) }
        };
        // SAFETY: the caller vouches for the extent.
        unsafe { make_array(view, (rank, extent, element_size), &memory, array) }
    })
}

/// Gives the VkBuffer behind an array (set struct_size first). Order the program's uses of it with
/// revamp_vulkan_signal_array() and revamp_vulkan_wait_array().
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE for arrays that are not on a Vulkan device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_get_array_buffer(
    array: revamp_array,
    info: *mut revamp_vulkan_array_info,
) -> revamp_status {
    guard(|| {
        let array = get::<Array, _>(array)?;
        let (buffer, offset, usage) = interop::buffer_of(array.buffer())?;
        let size = array.layout().bytes();
        let filled = revamp_vulkan_array_info { struct_size: 0, buffer, offset, size, usage };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Makes a texture whose texels lie in a VkImage of the program. `options` repeats the parameters
/// of the image (rank, extent, components, bits, levels); `storage` is ignored. Release the
/// texture with revamp_texture_release(); the program destroys the image and its memory once
/// `release` is called. Otherwise like revamp_vulkan_create_array().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_create_texture(
    view: revamp_accelerator_view,
    image: *const revamp_vulkan_image_info,
    options: *const revamp_texture_options,
    texture: *mut revamp_texture,
) -> revamp_status {
    guard(|| {
        pointer::check_out(texture, "texture")?;
        // SAFETY: the caller vouches for readable structs and their pointers.
        let (i, shape, label) = unsafe {
            let o = pointer::read(options)?;
            (pointer::read(image)?, shape_of(&o)?, pointer::optional_text(o.label, "label")?)
        };
        let (image, format, usage) = (i.image, i.format, i.usage);
        let program = ProgramImage { image, format, usage, layout: i.layout, flags: i.flags };
        let image_shape = shape.clone();
        let memory = |view: &Arc<AcceleratorView>, _: u64, _: &str| {
            let release = release_of(i.release, i.context);
            // SAFETY: the caller vouches for the image.
            unsafe { interop::image_over(view.device(), &**view.queue(), &program, &image_shape, release) }
        };
        let view = get::<AcceleratorView, _>(view)?;
        let memory: Option<MakeMemory<'_>> = Some(&memory);
        let request = TextureRequest { view, shape, associated: None, storage: StorageWish::Image, label, memory };
        let handle = insert(Texture::create(request)?)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(texture, "texture", handle) }
    })
}

/// Gives the VkImage behind a texture that is stored as an image (set struct_size first). Order the
/// program's uses of it with revamp_vulkan_signal_texture() and revamp_vulkan_wait_texture().
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE for textures that are stored as texels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_get_texture_image(
    texture: revamp_texture,
    info: *mut revamp_vulkan_texture_info,
) -> revamp_status {
    guard(|| {
        let texture = get::<Texture, _>(texture)?;
        let (image, format) = interop::image_of(texture.array().buffer())?;
        let levels = texture.shape().levels();
        // VK_IMAGE_LAYOUT_GENERAL
        let filled = revamp_vulkan_texture_info { struct_size: 0, image, format, layout: 1, levels };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Implements revamp_vulkan_signal_array() and revamp_vulkan_signal_texture(). `call`: the name of the function.
///
/// # Safety
/// `point` is null or points to a readable and writable point.
unsafe fn signal(
    array: &Array,
    access: revamp_access,
    point: *mut revamp_vulkan_point,
    call: &'static CStr,
) -> Result<()> {
    pointer::check_out(point, "point")?;
    let access = checked_access(access)?;
    // SAFETY: checked; the caller vouches for it being readable.
    let given = unsafe { point.read_unaligned() };
    let with = Some((given.semaphore, given.value)).filter(|p| p.0 != 0);
    let act = |queue: &dyn Queue, buffer: &Arc<dyn Buffer>| interop::signal(queue, buffer, access, with);
    let (semaphore, value) = array.lend(access, call, act)?;
    // SAFETY: checked; the caller vouches for it being writable.
    unsafe { pointer::write(point, "point", revamp_vulkan_point { semaphore, value }) }
}

/// Implements revamp_vulkan_wait_array() and revamp_vulkan_wait_texture(). `call`: the name of the function.
///
/// # Safety
/// `point` is null or points to a readable point.
unsafe fn wait(
    array: &Array,
    access: revamp_access,
    point: *const revamp_vulkan_point,
    call: &'static CStr,
) -> Result<()> {
    let access = checked_access(access)?;
    // SAFETY: the caller vouches for a readable point or NULL.
    let given = unsafe { pointer::slice(point, 1, "point") }?;
    let point = given.first().map(|p| (p.semaphore, p.value)).filter(|p| p.0 != 0);
    let point = point.ok_or_else(|| Error::invalid("point.semaphore is VK_NULL_HANDLE; pass a timeline semaphore"))?;
    array.lend(access, call, |queue, buffer| interop::wait(queue, buffer, access, point))
}

/// Lets the program use the array's memory with `access` (READ, WRITE or READ_WRITE): submits the
/// library's conflicting work and gives a point that is reached when that work is done. A submission
/// of the program that waits for the point, or vkWaitSemaphores(), sees the elements. If
/// point->semaphore is not VK_NULL_HANDLE, the library signals this timeline semaphore of the
/// program with point->value, which must be above the semaphore's value and all values given for it
/// before. Otherwise the library writes a semaphore of the view and a value to `point`. The program
/// may only wait for that semaphore, and only while the array's view lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_signal_array(
    array: revamp_array,
    access: revamp_access,
    point: *mut revamp_vulkan_point,
) -> revamp_status {
    // SAFETY: the caller vouches for the point.
    guard(|| unsafe { signal(&*get::<Array, _>(array)?, access, point, c"revamp_vulkan_signal_array") })
}

/// Tells the library that work of the program uses the array with `access`: all later conflicting
/// work of the library waits for `point` on the device. The submission that signals the point must
/// come before this call, and the semaphore must live until the waiting work is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_wait_array(
    array: revamp_array,
    access: revamp_access,
    point: *const revamp_vulkan_point,
) -> revamp_status {
    // SAFETY: the caller vouches for the point.
    guard(|| unsafe { wait(&*get::<Array, _>(array)?, access, point, c"revamp_vulkan_wait_array") })
}

/// Like revamp_vulkan_signal_array(), for a texture that is stored as an image.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_signal_texture(
    texture: revamp_texture,
    access: revamp_access,
    point: *mut revamp_vulkan_point,
) -> revamp_status {
    // SAFETY: the caller vouches for the point.
    guard(|| unsafe { signal(get::<Texture, _>(texture)?.array(), access, point, c"revamp_vulkan_signal_texture") })
}

/// Like revamp_vulkan_wait_array(), for a texture that is stored as an image. The program must have
/// left the image in VK_IMAGE_LAYOUT_GENERAL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_wait_texture(
    texture: revamp_texture,
    access: revamp_access,
    point: *const revamp_vulkan_point,
) -> revamp_status {
    // SAFETY: the caller vouches for the point.
    guard(|| unsafe { wait(get::<Texture, _>(texture)?.array(), access, point, c"revamp_vulkan_wait_texture") })
}

/// Makes an array like revamp_array_create(), in memory that other devices, processes and APIs can
/// import; revamp_vulkan_export_array() exports it. `label` may be NULL.
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE if the device cannot share memory by file descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_create_exportable_array(
    view: revamp_accelerator_view,
    rank: u32,
    extent: *const i32,
    element_size: usize,
    label: *const c_char,
    array: *mut revamp_array,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for a terminated string or NULL.
        let label = unsafe { pointer::optional_text(label, "label") }?;
        let memory = |view: &Arc<AcceleratorView>, bytes: u64, default: &str| {
            interop::shared_buffer(view.device(), bytes, None, label.unwrap_or(default))
        };
        // SAFETY: the caller vouches for the extent.
        unsafe { make_array(view, (rank, extent, element_size), &memory, array) }
    })
}

/// Gives a new file descriptor of the memory of an array that was made by
/// revamp_vulkan_create_exportable_array() (set struct_size first). The program closes the file
/// descriptor, unless an import takes it over. The memory lives until the array and all its imports
/// are gone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_export_array(
    array: revamp_array,
    memory: *mut revamp_vulkan_shared_memory,
) -> revamp_status {
    guard(|| {
        pointer::check_out(memory, "memory")?;
        let array = get::<Array, _>(array)?;
        let made = interop::export_buffer(array.buffer())?;
        let filled = revamp_vulkan_shared_memory {
            struct_size: 0,
            fd: made.fd,
            memory_type_index: made.memory_type,
            allocation_size: made.allocation_size,
            offset: made.offset,
            size: made.size,
            is_dedicated: made.dedicated,
            device_uuid: array.view().accelerator().physical().uuid().unwrap_or_default(),
        };
        // SAFETY: the caller vouches for a writable struct.
        unsafe { pointer::write_info(memory, filled) }
    })
}

/// Makes an array over memory that another VkDevice of the same hardware, another process or API has
/// exported; `memory` has the exporter's values. On success, the file descriptor belongs to the
/// driver.
/// Errors: REVAMP_ERROR_INVALID_ARGUMENT if the driver does not accept the file descriptor, or if
/// memory.device_uuid is that of other hardware; REVAMP_ERROR_RUNTIME if the memory is too small;
/// REVAMP_ERROR_UNSUPPORTED_FEATURE as in revamp_vulkan_create_exportable_array().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_import_array(
    view: revamp_accelerator_view,
    memory: *const revamp_vulkan_shared_memory,
    rank: u32,
    extent: *const i32,
    element_size: usize,
    array: *mut revamp_array,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for a readable struct.
        let m = unsafe { pointer::read(memory) }?;
        let from = SharedMemory {
            fd: m.fd,
            allocation_size: m.allocation_size,
            offset: m.offset,
            size: m.size,
            memory_type: m.memory_type_index,
            dedicated: m.is_dedicated,
        };
        let memory = |view: &Arc<AcceleratorView>, bytes: u64, label: &str| {
            interop::check_exporter(view.device(), &m.device_uuid)?;
            interop::shared_buffer(view.device(), bytes, Some(&from), label)
        };
        // SAFETY: the caller vouches for the extent. After a success, the program does not use the file descriptor.
        unsafe {
            make_array(view, (rank, extent, element_size), &memory, array)?;
            interop::close_descriptor(m.fd);
        }
        Ok(())
    })
}

/// Makes a timeline semaphore with the value 0 on the view's VkDevice. Other devices, processes and
/// APIs can import it. Destroy it with revamp_vulkan_destroy_semaphore().
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE if the device cannot share timeline semaphores.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_create_semaphore(
    view: revamp_accelerator_view,
    semaphore: *mut VkSemaphore,
) -> revamp_status {
    guard(|| {
        pointer::check_out(semaphore, "semaphore")?;
        let made = interop::shared_semaphore(get::<AcceleratorView, _>(view)?.device(), None)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(semaphore, "semaphore", made) }
    })
}

/// Imports a timeline semaphore that the same hardware has exported
/// (VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT). On success, the file descriptor belongs to the
/// driver. Destroy the semaphore with revamp_vulkan_destroy_semaphore().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_import_semaphore(
    view: revamp_accelerator_view,
    fd: i32,
    semaphore: *mut VkSemaphore,
) -> revamp_status {
    guard(|| {
        pointer::check_out(semaphore, "semaphore")?;
        let made = interop::shared_semaphore(get::<AcceleratorView, _>(view)?.device(), Some(fd))?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(semaphore, "semaphore", made) }
    })
}

/// Gives a new file descriptor of a semaphore that revamp_vulkan_create_semaphore() made, or that
/// the program made with VkExportSemaphoreCreateInfo (CUDA:
/// CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD). The program closes the file descriptor,
/// unless an import takes it over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_export_semaphore(
    view: revamp_accelerator_view,
    semaphore: VkSemaphore,
    fd: *mut i32,
) -> revamp_status {
    guard(|| {
        pointer::check_out(fd, "fd")?;
        if semaphore == 0 {
            return Err(Error::invalid("semaphore is VK_NULL_HANDLE; pass a timeline semaphore"));
        }
        let made = interop::export_semaphore(get::<AcceleratorView, _>(view)?.device(), semaphore)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(fd, "fd", made) }
    })
}

/// Destroys a semaphore that no work uses any more. VK_NULL_HANDLE: does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_vulkan_destroy_semaphore(
    view: revamp_accelerator_view,
    semaphore: VkSemaphore,
) -> revamp_status {
    // SAFETY: the caller vouches for the semaphore.
    guard(|| unsafe { interop::destroy_semaphore(get::<AcceleratorView, _>(view)?.device(), semaphore) })
}
