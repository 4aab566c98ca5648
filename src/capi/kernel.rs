//! The C API of SPIR-V kernels: loading, reflection, launching, and the records of kernels embedded
//! in the program.

use super::array::dimensions;
use super::completion::{give, read_options};
use super::guard::{guard, guard_release, guard_unused};
use super::handle::{get, insert, release, retain, with_object};
use super::pointer;
use super::types::*;
use crate::device::block::AddressSlot;
use crate::device::{AddressMode, Sampler};
use crate::error::{Error, Result};
use crate::grow::{Grow, copied};
use crate::kernel::{Access, BindingKind, registry};
use crate::lock::{Mutex, rank};
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::spirv_kernel::SpirvKernel;
use crate::runtime::data::array::Array;
use crate::runtime::data::array_view::ArrayView;
use crate::runtime::data::operand::Operand;
use crate::runtime::data::texture::{Texture, TextureRegion};
use crate::runtime::launch::images::ImageArgument;
use crate::runtime::launch::request::{Argument, SpirvDomain, SpirvLaunch};
use crate::runtime::launch::spirv;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::{Arc, OnceLock};

/// The maximum number of arguments of a launch. No kernel or argument block has room for that many.
const MAX_ARGUMENTS: usize = 1 << 16;
/// The maximum size of a specialization constant, in bytes.
const MAX_CONSTANT_BYTES: usize = 8;

#[cold]
fn too_many(count: usize) -> Error {
    Error::invalid(format!("the launch has {count} arguments; the limit is {MAX_ARGUMENTS}"))
}

/// The arguments of a launch.
///
/// # Safety
/// `arguments` is null or points to `count` readable structs that stay unchanged during the call.
#[inline(always)]
pub(super) unsafe fn arguments<'a>(
    arguments: *const revamp_argument,
    count: usize,
) -> Result<Cow<'a, [revamp_argument]>> {
    if count > MAX_ARGUMENTS {
        return Err(too_many(count));
    }
    // SAFETY: the same contract; all structs have the size of the first one.
    unsafe {
        if count > 0 && pointer::stride(arguments, "arguments")? != size_of::<revamp_argument>() {
            return from_older_header(arguments, count);
        }
        pointer::slice(arguments, count, "arguments").map(Cow::Borrowed)
    }
}

/// Converts the arguments of a program with an older header to this library's struct.
///
/// # Safety
/// As [`arguments`].
#[cold]
unsafe fn from_older_header<'a>(arguments: *const revamp_argument, count: usize) -> Result<Cow<'a, [revamp_argument]>> {
    let mut read = Vec::new();
    read.make_room(count)?;
    // SAFETY: the same contract.
    for argument in unsafe { pointer::each(arguments, count, "arguments") }? {
        // SAFETY: the same contract.
        read.push(unsafe { pointer::read(argument) }?);
    }
    Ok(Cow::Owned(read))
}

/// The REVAMP_ACCESS_ value of an access.
fn bits(access: Access) -> revamp_access {
    match access {
        Access::Read => REVAMP_ACCESS_READ,
        Access::Write => REVAMP_ACCESS_WRITE,
        Access::ReadWrite => REVAMP_ACCESS_READ_WRITE,
    }
}

/// The access of an argument; `None` if the caller asks for the default.
fn argument_access(value: revamp_access) -> Result<Option<Access>> {
    Ok(match value {
        REVAMP_ACCESS_NONE | REVAMP_ACCESS_AUTO => None,
        REVAMP_ACCESS_READ => Some(Access::Read),
        REVAMP_ACCESS_WRITE => Some(Access::Write),
        REVAMP_ACCESS_READ_WRITE => Some(Access::ReadWrite),
        other => return Err(Error::invalid(format!("the access {other:#x} is unknown; pass a REVAMP_ACCESS_ value"))),
    })
}

/// The number of bits of a texture's components, if it is less than 32.
pub(super) fn narrow_bits(texture: revamp_texture) -> Result<Option<u32>> {
    Ok(Some(get::<Texture, _>(texture)?.shape().format().bits).filter(|&bits| bits < 32))
}

/// Reads the operand that an argument names: a section of an array, an array_view or levels of a texture.
///
/// # Safety
/// The argument's origin and extent are null or have as many values as the array has dimensions.
pub(super) unsafe fn argument_section(a: &revamp_argument) -> Result<(Operand, Option<Access>)> {
    let access = argument_access(a.access)?;
    if !a.view.is_null() {
        if !a.array.is_null() || !a.texture.is_null() || !a.origin.is_null() || !a.extent.is_null() {
            return Err(Error::invalid(
                "an argument sets an array_view together with an array, texture, origin or extent; set only the \
                 array_view, which can be a section (revamp_array_view_section)",
            ));
        }
        return Ok((Operand::View(with_object(a.view, |v: &ArrayView| v.part().clone())?), access));
    }
    if !a.texture.is_null() {
        return Ok((texture_section(a)?, access));
    }
    let array = get::<Array, _>(a.array)?;
    let rank = array.extent().len();
    // SAFETY: the same contract.
    let (origin, extent) = unsafe {
        (pointer::optional_slice(a.origin, rank, "origin")?, pointer::optional_slice(a.extent, rank, "extent")?)
    };
    Ok((Operand::section(array, origin, extent)?, access))
}

/// The levels of a texture that an argument names.
#[cold]
fn texture_section(a: &revamp_argument) -> Result<Operand> {
    if !a.array.is_null() || !a.origin.is_null() || !a.extent.is_null() || a.kind == REVAMP_ARGUMENT_BUFFER {
        return Err(Error::invalid(
            "an argument with a texture sets an array, origin or extent, or is a REVAMP_ARGUMENT_BUFFER; set only \
             texture, level and level_count, and use REVAMP_ARGUMENT_ADDRESS or _INDIRECT",
        ));
    }
    TextureRegion::new(get::<Texture, _>(a.texture)?, a.level, a.level_count, None, None)?.argument()
}

/// The access of an argument if the kernel declares none: `access`, else a default.
pub(super) fn access_or_default(side: &Operand, access: Option<Access>) -> Access {
    let default = match side {
        Operand::View(part) if part.is_read_only() => Access::Read,
        _ => Access::ReadWrite,
    };
    access.unwrap_or(default)
}

/// The slot for the address of an ADDRESS or INDIRECT argument.
///
/// # Safety
/// The argument's data is valid as the header says.
pub(super) unsafe fn address_slot(a: &revamp_argument) -> Result<AddressSlot<'_>> {
    if a.kind != REVAMP_ARGUMENT_INDIRECT {
        return Ok(AddressSlot::At(a.offset));
    }
    // SAFETY: the same contract.
    let bytes = unsafe { pointer::slice(a.data.cast::<u8>(), a.size, "data") }?;
    Ok(AddressSlot::Indirect(a.offset, bytes))
}

/// The sampler of an argument.
///
/// # Safety
/// The argument's data is null or points to a revamp_sampler.
unsafe fn sampler(a: &revamp_argument) -> Result<Option<Sampler>> {
    // SAFETY: the same contract.
    let Some(s) = unsafe { pointer::read_optional(a.data.cast::<revamp_sampler>()) }? else { return Ok(None) };
    let linear_filter = match s.filter {
        REVAMP_FILTER_LINEAR => true,
        REVAMP_FILTER_POINT => false,
        other => return Err(Error::runtime(format!("the filter {other} is unknown; use a REVAMP_FILTER_ value"))),
    };
    let address = match s.address {
        REVAMP_ADDRESS_CLAMP => AddressMode::Clamp,
        REVAMP_ADDRESS_WRAP => AddressMode::Wrap,
        REVAMP_ADDRESS_MIRROR => AddressMode::Mirror,
        REVAMP_ADDRESS_BORDER => AddressMode::Border(s.border_color),
        other => {
            return Err(Error::runtime(format!("the address mode {other} is unknown; use a REVAMP_ADDRESS_ value")));
        }
    };
    Ok(Some(Sampler { linear_filter, address }))
}

/// Reads an image or sampler argument. A separate cold function, because most launches have neither.
///
/// # Safety
/// The argument's pointers are valid as the header says.
#[cold]
unsafe fn image_argument(a: &revamp_argument) -> Result<Argument<'static>> {
    // SAFETY: the same contract.
    let read = || unsafe { sampler(a) };
    let (set, binding, element) = (a.set, a.binding, a.id);
    if a.kind == REVAMP_ARGUMENT_SAMPLER {
        let sampler = Box::new(read()?.ok_or_else(|| Error::invalid("the sampler is NULL; pass a revamp_sampler"))?);
        return Ok(Argument::Sampler { set, binding, element, sampler });
    }
    if !a.array.is_null() || !a.view.is_null() || !a.origin.is_null() || !a.extent.is_null() {
        return Err(Error::invalid(
            "an image argument sets an array, array_view, origin or extent; set only texture, level and level_count",
        ));
    }
    let texture = get::<Texture, _>(a.texture)?;
    let (section, levels) = TextureRegion::new(texture, a.level, a.level_count, None, None)?.image()?;
    let access = argument_access(a.access)?;
    let sampler = read()?;
    Ok(Argument::Image(Box::new(ImageArgument { set, binding, element, section, levels, sampler, access })))
}

/// Reads an argument.
///
/// # Safety
/// The argument's pointers are valid as the header says.
unsafe fn argument(a: &revamp_argument) -> Result<Argument<'_>> {
    match a.kind {
        REVAMP_ARGUMENT_BUFFER => {
            // SAFETY: the same contract.
            let (section, access) = unsafe { argument_section(a) }?;
            Ok(Argument::Buffer { set: a.set, binding: a.binding, element: a.id, section, access })
        }
        REVAMP_ARGUMENT_UNIFORM => {
            // SAFETY: the same contract.
            let data = unsafe { pointer::slice(a.data.cast::<u8>(), a.size, "data") }?;
            Ok(Argument::Uniform { set: a.set, binding: a.binding, element: a.id, data })
        }
        REVAMP_ARGUMENT_ADDRESS | REVAMP_ARGUMENT_INDIRECT => {
            // SAFETY: the same contract.
            let ((section, access), slot) = unsafe { (argument_section(a)?, address_slot(a)?) };
            let access = access_or_default(&section, access);
            Ok(Argument::Address { slot, section, access })
        }
        REVAMP_ARGUMENT_IMAGE | REVAMP_ARGUMENT_SAMPLER => {
            // SAFETY: the same contract.
            unsafe { image_argument(a) }
        }
        REVAMP_ARGUMENT_PUSH_CONSTANT => {
            // SAFETY: the same contract.
            let data = unsafe { pointer::slice(a.data.cast::<u8>(), a.size, "data") }?;
            Ok(Argument::PushConstant { offset: a.offset, data })
        }
        REVAMP_ARGUMENT_SPECIALIZATION => {
            // SAFETY: the same contract.
            let data = unsafe { pointer::slice(a.data.cast::<u8>(), a.size, "data") }?;
            if data.len() > MAX_CONSTANT_BYTES {
                return Err(Error::invalid(format!(
                    "the value for specialization constant {} has {} bytes; the limit is {MAX_CONSTANT_BYTES}",
                    a.id, a.size
                )));
            }
            Ok(Argument::Specialization { id: a.id, data })
        }
        other => Err(Error::invalid(format!("the kind of argument {other} is unknown; use a REVAMP_ARGUMENT_ value"))),
    }
}

/// Loads a SPIR-V module on an accelerator: checks its size, magic number, version, entry point
/// and required device features, and reflects its interface. Descriptor sets and bindings may
/// have any numbers. Release it with revamp_kernel_release(). The library does not check the rest of
/// the module and passes it to the driver unchanged: do not load modules from untrusted sources.
/// Errors: REVAMP_ERROR_RUNTIME or _INVALID_ARGUMENT for a bad module;
/// REVAMP_ERROR_UNSUPPORTED_FEATURE if the accelerator runs no SPIR-V, if the device lacks
/// capabilities, or if the module exceeds limits of the device; the message names them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_create(
    accelerator: revamp_accelerator,
    options: *const revamp_kernel_options,
    kernel: *mut revamp_kernel,
) -> revamp_status {
    guard(|| {
        pointer::check_out(kernel, "kernel")?;
        let accelerator = get::<Accelerator, _>(accelerator)?;
        // SAFETY: the caller vouches for the struct and its pointers.
        let (spirv, entry_point, label) = unsafe {
            let o = pointer::read(options)?;
            let spirv = pointer::slice(o.spirv.cast::<u8>(), o.spirv_size, "spirv")?;
            (spirv, pointer::optional_text(o.entry_point, "entry_point")?, pointer::optional_text(o.label, "label")?)
        };
        let handle = insert(SpirvKernel::load(&accelerator, spirv, entry_point, label)?)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(kernel, "kernel", handle) }
    })
}

/// Loads a kernel embedded in the program (see revamp_kernel_record) by its name. Release it with
/// revamp_kernel_release().
/// Errors: those of revamp_kernel_create(), and REVAMP_ERROR_RUNTIME if no record has that name;
/// the message lists similar names.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_find(
    accelerator: revamp_accelerator,
    name: *const c_char,
    kernel: *mut revamp_kernel,
) -> revamp_status {
    guard(|| {
        pointer::check_out(kernel, "kernel")?;
        let accelerator = get::<Accelerator, _>(accelerator)?;
        // SAFETY: the caller vouches for a terminated string or NULL.
        let name = unsafe { pointer::text(name, "name") }?;
        let handle = insert(SpirvKernel::find(&accelerator, name)?)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(kernel, "kernel", handle) }
    })
}

/// Adds an owner of the kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_retain(kernel: revamp_kernel) -> revamp_status {
    guard(|| retain::<SpirvKernel, _>(kernel))
}

/// Removes an owner of the kernel. Launches that are queued or running go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_release(kernel: revamp_kernel) -> revamp_status {
    guard_release(|| release::<SpirvKernel, _>(kernel))
}

/// Fills `info` (set struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_get_info(kernel: revamp_kernel, info: *mut revamp_kernel_info) -> revamp_status {
    guard(|| {
        let kernel = get::<SpirvKernel, _>(kernel)?;
        let module = kernel.module();
        let filled = revamp_kernel_info {
            struct_size: 0,
            workgroup_size: module.workgroup_size(&Vec::new())?,
            binding_count: module.bindings().len() as u32,
            push_constant_size: module.push().map_or(0, |p| p.size),
            specialization_count: module.spec_constants().len() as u32,
            takes_block: module.push().is_some_and(|p| p.is_address),
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Fills `info` (set struct_size first) for binding number `index`, from 0 to binding_count - 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_get_binding(
    kernel: revamp_kernel,
    index: u32,
    info: *mut revamp_binding_info,
) -> revamp_status {
    guard(|| {
        let kernel = get::<SpirvKernel, _>(kernel)?;
        let bindings = kernel.module().bindings();
        let Some(b) = bindings.get(index as usize) else {
            return Err(Error::invalid(format!(
                "the kernel has {} bindings, but binding {index} was requested; indices begin at 0",
                bindings.len()
            )));
        };
        let filled = revamp_binding_info {
            struct_size: 0,
            set: b.set,
            binding: b.binding,
            access: bits(b.access),
            name: kernel.binding_name(index as usize).map_or(std::ptr::null(), CStr::as_ptr),
            min_size: b.min_size + b.stride.unwrap_or(0),
            kind: match b.kind {
                BindingKind::StorageBuffer | BindingKind::Other(_) => REVAMP_BINDING_STORAGE_BUFFER,
                BindingKind::UniformBuffer => REVAMP_BINDING_UNIFORM_BUFFER,
                BindingKind::SampledImage(_) => REVAMP_BINDING_SAMPLED_IMAGE,
                BindingKind::StorageImage(_) => REVAMP_BINDING_STORAGE_IMAGE,
                BindingKind::Sampler => REVAMP_BINDING_SAMPLER,
                BindingKind::CombinedImageSampler(_) => REVAMP_BINDING_COMBINED_IMAGE_SAMPLER,
            },
            dimensions: b.kind.image().map_or(0, |image| u32::from(image.dimensions)),
            count: b.count,
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Launches a kernel on a view of the accelerator on which the kernel was loaded. May return before
/// the kernel has run: wait for the view, a marker or a copy. The launch comes after queued work
/// that uses the same elements, and may overlap with other work. If `view` is NULL or the
/// auto-selection view, the kernel runs on the view on which the array arguments live (rules SEL-5,
/// SEL-6). Without arrays, it runs on a view of its accelerator on which all array_view arguments
/// are valid, else on the default view (SEL-8 to SEL-19). Before the launch, missing bytes of
/// array_view arguments move to that view (SEL-2, SEL-7).
/// Errors: REVAMP_ERROR_INVALID_COMPUTE_DOMAIN (PFE-3, PFE-4), REVAMP_ERROR_RUNTIME for an array
/// that lives on another view (SEL-4) and on the cpu accelerator (PFE-8),
/// REVAMP_ERROR_INVALID_ARGUMENT for a bad argument, with its name, expected and given value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_dispatch(
    view: revamp_accelerator_view,
    kernel: revamp_kernel,
    info: *const revamp_dispatch_info,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for the struct and its pointers.
        unsafe {
            with_launch(view, kernel, info, |view, kernel, launch| spirv::dispatch(view, kernel, launch).map(drop))
        }
    })
}

/// Like revamp_dispatch(), but begins after the completions of `options` (may be NULL) and gives a
/// completion with the status of this launch alone. Release the completion with
/// revamp_completion_release(). The library reads the memory behind `info` and `options` only during
/// the call. The handles in both structs may be released after the call.
/// Errors: those of revamp_dispatch(). Later errors are the result of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_dispatch_async(
    view: revamp_accelerator_view,
    kernel: revamp_kernel,
    info: *const revamp_dispatch_info,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        pointer::check_out(completion, "completion")?;
        // SAFETY: the caller vouches for the structs and their pointers.
        let begun = unsafe {
            let options = read_options(options)?;
            with_launch(view, kernel, info, |view, kernel, launch| spirv::dispatch_async(view, kernel, launch, options))
        }?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { give(completion, "completion", begun) }
    })
}

/// Reads the arguments of a launch into `read`, which is empty.
///
/// # Safety
/// The arguments' pointers are valid as the header says.
unsafe fn read_arguments<'a>(arguments: &'a [revamp_argument], read: &mut SmallVec<[Argument<'a>; 16]>) -> Result<()> {
    if arguments.len() > read.inline_size() {
        read.make_room(arguments.len())?;
    }
    for (n, a) in arguments.iter().enumerate() {
        // SAFETY: the same contract.
        read.push(unsafe { argument(a) }.map_err(|e| e.context(format_args!("argument {n}")))?);
    }
    Ok(())
}

/// Reads a launch and calls `go` with it.
///
/// # Safety
/// `info` and its pointers are valid as the header says.
unsafe fn with_launch<T>(
    view: revamp_accelerator_view,
    kernel: revamp_kernel,
    info: *const revamp_dispatch_info,
    go: impl FnOnce(Option<Arc<AcceleratorView>>, &Arc<SpirvKernel>, &SpirvLaunch<'_>) -> Result<T>,
) -> Result<T> {
    let view = if view.is_null() { None } else { Some(get::<AcceleratorView, _>(view)?) };
    let kernel = get::<SpirvKernel, _>(kernel)?;
    // SAFETY: the caller vouches for the struct and its pointers.
    let (domain, arguments, block) = unsafe {
        let i = pointer::read(info)?;
        let domain = if i.extent.is_null() {
            SpirvDomain::Groups(i.groups)
        } else {
            SpirvDomain::Extent(dimensions(i.extent, i.rank, "extent")?)
        };
        (
            domain,
            arguments(i.arguments, i.argument_count)?,
            pointer::slice(i.block.cast::<u8>(), i.block_size, "block")?,
        )
    };
    let mut read = SmallVec::new();
    // SAFETY: as above.
    unsafe { read_arguments(&arguments, &mut read) }?;
    go(view, &kernel, &SpirvLaunch { domain, arguments: &read, block, after: &[], timer: None })
}

/// Registers `count` kernels embedded in the program, so that revamp_kernel_find() finds them.
/// revamp_embed_spirv() generates code that calls this function when the program or plugin is
/// loaded. It may also be called at any other time. Each call needs a matching
/// revamp_kernel_unregister(). Plugins may register the same module under one name; if the modules
/// differ, revamp_kernel_find() fails for that name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_register(records: *const revamp_kernel_record, count: usize) -> revamp_status {
    guard_unused(|| {
        let mut read = Vec::new();
        // SAFETY: the caller vouches for the records and their pointers.
        for record in unsafe { pointer::each(records, count, "records") }? {
            // SAFETY: as above.
            read.push(unsafe {
                let r = pointer::read(record)?;
                let spirv = pointer::slice(r.spirv.cast::<u8>(), r.spirv_size, "spirv")?;
                (record.addr(), pointer::text(r.name, "name")?, spirv)
            });
        }
        for (at, &(address, name, spirv)) in read.iter().enumerate() {
            match copied(spirv).and_then(|spirv| registry::register(name.to_owned(), spirv)) {
                Ok(id) => records_by_address().lock().entry(address).or_default().push(id),
                Err(e) => {
                    read[..at].iter().for_each(|&(address, ..)| unregister(address));
                    return Err(e);
                }
            }
        }
        Ok(())
    })
}

/// Undoes revamp_kernel_register() with the same `records`, for example when a plugin is unloaded.
/// Kernels that are already loaded keep working.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_unregister(records: *const revamp_kernel_record, count: usize) -> revamp_status {
    guard_release(|| {
        // SAFETY: the caller vouches for the records.
        unsafe { pointer::each(records, count, "records") }?.for_each(|record| unregister(record.addr()));
        Ok(())
    })
}

/// Undoes the last registration of the record at `address`, if there is one.
fn unregister(address: usize) {
    let mut records = records_by_address().lock();
    let Some(ids) = records.get_mut(&address) else { return };
    let last = ids.pop();
    if ids.is_empty() {
        records.remove(&address);
    }
    drop(records);
    if let Some(id) = last {
        registry::unregister(id);
    }
}

/// The registrations made by revamp_kernel_register(). The keys are the addresses of their records.
type Records = Mutex<HashMap<usize, SmallVec<[registry::RecordId; 1]>>, { rank::RECORDS }>;

fn records_by_address() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(Mutex::default)
}
