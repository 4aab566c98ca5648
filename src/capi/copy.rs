//! The C API of synchronous and asynchronous copies (docs/spec/copies.md).

use super::array::dimensions;
use super::guard::guard;
use super::handle::{get, with_object};
use super::texture::texture_region;
use super::types::*;
use super::{completion, pointer};
use crate::error::{Error, Result};
use crate::host::HostSpan;
use crate::runtime::copies::copy;
use crate::runtime::data::array::Array;
use crate::runtime::data::array_view::ArrayView;
use crate::runtime::data::operand::{HostBox, Operand};
use crate::runtime::operations::completion::Completion;
use crate::trace::transfers::explicit;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// The caller's memory as a span.
///
/// # Safety
/// `host` is null or points to `size` bytes that live until the copy is done.
unsafe fn span(host: *mut c_void, size: u64) -> Result<HostSpan> {
    if host.is_null() {
        return Err(Error::invalid("the host memory of the copy is NULL; pass the address of its first element"));
    }
    // SAFETY: the same contract.
    Ok(unsafe { HostSpan::new(host.cast(), size) })
}

/// Reads the region on one side of a copy.
///
/// # Safety
/// `region` is null or points to a valid struct whose pointers are valid as the header says.
unsafe fn region_operand(region: *const revamp_region, which: &str, is_source: bool) -> Result<Operand> {
    // SAFETY: the same contract.
    let r = unsafe { pointer::read_optional(region) }?
        .ok_or_else(|| Error::invalid(format!("the {which} of the copy is NULL; pass a revamp_region")))?;
    if !r.view.is_null() {
        if !r.array.is_null() || !r.origin.is_null() || !r.extent.is_null() {
            return Err(Error::invalid(format!(
                "the {which} of the copy sets an array_view together with an array, origin or extent; set only the \
                 array_view, which can be a section (revamp_array_view_section)"
            )));
        }
        return Ok(Operand::View(with_object(r.view, |v: &ArrayView| v.part().clone())?));
    }
    if !r.array.is_null() {
        let array = get::<Array, _>(r.array)?;
        let rank = array.extent().len();
        // SAFETY: the caller vouches for as many values as the array has dimensions.
        let (origin, extent) = unsafe {
            (pointer::optional_slice(r.origin, rank, "origin")?, pointer::optional_slice(r.extent, rank, "extent")?)
        };
        return Operand::section(array, origin, extent).map_err(|e| e.context(format_args!("the {which}")));
    }
    // SAFETY: the caller vouches for host_rank values.
    let (extent, strides) = unsafe {
        (
            dimensions(r.extent, r.host_rank, "extent of host memory")?,
            pointer::optional_slice(r.host_strides, r.host_rank as usize, "host_strides")?,
        )
    };
    let shape = HostBox::new(extent, r.host_element_size as u64, strides)
        .map_err(|e| e.context(format_args!("the {which}")))?;
    let needed = shape.layout().hull().end;
    if r.host_size != 0 && (r.host_size as u64) < needed {
        return Err(Error::runtime(format!(
            "the extent and strides of the {which} cover {needed} bytes of host memory, but host_size is {}; pass more \
             memory or a smaller extent",
            r.host_size
        )));
    }
    let host = match (r.host.is_null(), r.host_source.is_null()) {
        (_, true) => r.host,
        // A source is not written.
        (true, false) if is_source => r.host_source.cast_mut(),
        (true, false) => {
            return Err(Error::invalid(format!(
                "the {which} of the copy is written, but host_source is read-only; set host instead"
            )));
        }
        (false, false) => {
            return Err(Error::invalid(format!("the {which} sets both host and host_source; set one of them")));
        }
    };
    // SAFETY: the caller vouches for the memory that extent, strides and element size describe.
    Ok(Operand::host(unsafe { span(host, needed) }?, shape))
}

/// The operands for a whole array and for packed host memory of its size.
///
/// # Safety
/// `host` is null or points to `size` bytes that live until the copy is done.
unsafe fn whole(array: revamp_array, host: *mut c_void, size: usize) -> Result<(Operand, Operand)> {
    let array = get::<Array, _>(array)?;
    let bytes = array.layout().bytes();
    if size as u64 != bytes {
        return Err(Error::runtime(format!(
            "the array holds {bytes} bytes, but the size of the copy is {size}; both must be equal; call revamp_copy() \
             to copy a part of the array"
        )));
    }
    // SAFETY: the same contract.
    let host = unsafe { span(host, bytes) }?;
    let shape = HostBox::packed_like(&array);
    Ok((Operand::whole(array), Operand::host(host, shape)))
}

/// Starts an asynchronous copy and gives its completion to the caller.
///
/// # Safety
/// `options` is null or valid as the header says, `out` is null or writable.
unsafe fn start(
    call: &'static CStr,
    sides: impl FnOnce() -> Result<(Operand, Operand)>,
    options: *const revamp_async_options,
    out: *mut revamp_completion,
) -> Result<()> {
    pointer::check_out(out, "completion")?;
    // SAFETY: the same contract.
    let options = unsafe { completion::read_options(options) }?;
    let (source, destination) = sides()?;
    let made: Arc<Completion> = copy::copy_async(source, destination, options, explicit(call))?;
    // SAFETY: the same contract.
    unsafe { completion::give(out, "completion", made) }
}

/// Copies the elements of `source` to `destination` and returns when they are copied. Each side is an
/// array, a section of one, an array_view, or host memory. Extents and element sizes must be
/// equal. The sides may be on different accelerators, but must not have elements in common. The
/// copy comes after all work queued so far that uses the same elements.
/// Errors: REVAMP_ERROR_RUNTIME for sides that do not fit each other, overlap or lie outside of
/// their objects, REVAMP_ERROR_INVALID_ARGUMENT if `destination` is a read-only view; those of
/// earlier work on the elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy(source: *const revamp_region, destination: *const revamp_region) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for the regions as the header says.
        let (source, destination) =
            unsafe { (region_operand(source, "source", true)?, region_operand(destination, "destination", false)?) };
        copy::copy(source, destination, explicit(c"revamp_copy"))
    })
}

/// Like revamp_copy(), but returns at once and begins after the completions of `options` (may be
/// NULL). `completion` is done when the copy is done; host memory must stay valid until then.
/// Release the completion. The library reads the structs and their lists only during the call.
/// Errors: those of revamp_copy(). Later errors are the result of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_async(
    source: *const revamp_region,
    destination: *const revamp_region,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for the regions as the header says.
        let sides = || unsafe {
            Ok((region_operand(source, "source", true)?, region_operand(destination, "destination", false)?))
        };
        // SAFETY: the caller vouches for the options, and for a writable output or NULL.
        unsafe { start(c"revamp_copy_async", sides, options, completion) }
    })
}

/// Copies `size` bytes of packed host memory, which must be the array's size, into the whole array.
/// Errors: REVAMP_ERROR_RUNTIME if `size` is not the array's; those of earlier work on the array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_to_array(
    source: *const c_void,
    size: usize,
    destination: revamp_array,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for `size` readable bytes; a source is not written.
        let (array, host) = unsafe { whole(destination, source.cast_mut(), size) }?;
        copy::copy(host, array, explicit(c"revamp_copy_to_array"))
    })
}

/// Copies the whole array into packed host memory of `size` bytes, which must be the array's size.
/// Errors: those of revamp_copy_to_array().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_from_array(
    source: revamp_array,
    destination: *mut c_void,
    size: usize,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for `size` writable bytes.
        let (array, host) = unsafe { whole(source, destination, size) }?;
        copy::copy(array, host, explicit(c"revamp_copy_from_array"))
    })
}

/// Like revamp_copy_to_array(), but returns at once (see revamp_copy_async()). The memory must stay
/// valid and unchanged until the completion is done. Release the completion.
/// Errors: those of revamp_copy_to_array(). Later errors are the result of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_to_array_async(
    source: *const c_void,
    size: usize,
    destination: revamp_array,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for `size` bytes until the copy is done; a source is not written.
        let sides = || unsafe { whole(destination, source.cast_mut(), size) }.map(|(array, host)| (host, array));
        // SAFETY: the caller vouches for the options, and for a writable output or NULL.
        unsafe { start(c"revamp_copy_to_array_async", sides, options, completion) }
    })
}

/// Like revamp_copy_from_array(), but returns at once (see revamp_copy_async()). The memory must
/// stay valid until the completion is done. Release the completion.
/// Errors: those of revamp_copy_to_array(). Later errors are the result of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_from_array_async(
    source: revamp_array,
    destination: *mut c_void,
    size: usize,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for `size` bytes until the copy is done.
        let sides = || unsafe { whole(source, destination, size) };
        // SAFETY: the caller vouches for the options, and for a writable output or NULL.
        unsafe { start(c"revamp_copy_from_array_async", sides, options, completion) }
    })
}

/// The operands for levels or a section of a texture, and for packed host memory that is at least as large.
///
/// # Safety
/// `region` is valid as the header says, `host` is null or points to `size` bytes that live until
/// the copy is done.
unsafe fn texels(
    region: *const revamp_texture_region,
    which: &str,
    host: *mut c_void,
    size: usize,
) -> Result<(Operand, Operand)> {
    // SAFETY: the same contract.
    let region = unsafe { texture_region(region, which) }?;
    let bytes = region.bytes();
    if (size as u64) < bytes {
        return Err(Error::runtime(format!(
            "the texels of the {which} need {bytes} bytes of host memory, but size is {size}; pass more memory or a \
             smaller region"
        )));
    }
    // SAFETY: the same contract.
    let host = region.host(unsafe { span(host, bytes) }?);
    Ok((region.operand(), host))
}

/// The operands of a copy between textures.
///
/// # Safety
/// Both regions are valid as the header says.
unsafe fn texture_operands(
    source: *const revamp_texture_region,
    destination: *const revamp_texture_region,
) -> Result<(Operand, Operand)> {
    // SAFETY: the same contract.
    let (from, to) = unsafe { (texture_region(source, "source")?, texture_region(destination, "destination")?) };
    from.check_copy(&to)?;
    Ok((from.operand(), to.operand()))
}

/// Copies packed texels from host memory into a texture. The memory has `size` bytes, at least as
/// many as the texels; the copy does not read bytes beyond them (TEX-60 to TEX-64).
/// Errors: REVAMP_ERROR_RUNTIME for memory that is too small, levels that the texture does not
/// have, a section outside its level, and a section of several levels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_to_texture(
    source: *const c_void,
    size: usize,
    destination: *const revamp_texture_region,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for the region and the memory; a source is not written.
        let (texture, host) = unsafe { texels(destination, "destination", source.cast_mut(), size) }?;
        copy::copy(host, texture, explicit(c"revamp_copy_to_texture"))
    })
}

/// Copies texels into host memory of `size` bytes, at least as many as the texels. Bytes beyond
/// the texels stay unchanged.
/// Errors: those of revamp_copy_to_texture().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_from_texture(
    source: *const revamp_texture_region,
    destination: *mut c_void,
    size: usize,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for the region and the memory.
        let (texture, host) = unsafe { texels(source, "source", destination, size) }?;
        copy::copy(texture, host, explicit(c"revamp_copy_from_texture"))
    })
}

/// Copies texels of one texture to another, bit by bit: a section of one level, or levels to
/// equally many levels of equal extents. The numbers of components and bits must be equal; the
/// kinds may differ. The textures may be on different accelerators, and either may be a staging
/// texture.
/// Errors: REVAMP_ERROR_RUNTIME for sides that do not fit each other (TEX-65, TEX-66).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_texture(
    source: *const revamp_texture_region,
    destination: *const revamp_texture_region,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for the regions as the header says.
        let (source, destination) = unsafe { texture_operands(source, destination) }?;
        copy::copy(source, destination, explicit(c"revamp_copy_texture"))
    })
}

/// Like revamp_copy_to_texture(), but returns at once (see revamp_copy_async()). The memory must
/// stay valid and unchanged until the completion is done. Release the completion.
/// Errors: those of revamp_copy_to_texture(). Later errors are the result of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_to_texture_async(
    source: *const c_void,
    size: usize,
    destination: *const revamp_texture_region,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        let sides = || {
            // SAFETY: the caller vouches for the region and the memory until the copy is done; a source is not written.
            let both = unsafe { texels(destination, "destination", source.cast_mut(), size) };
            both.map(|(texture, host)| (host, texture))
        };
        // SAFETY: the caller vouches for the options, and for a writable output or NULL.
        unsafe { start(c"revamp_copy_to_texture_async", sides, options, completion) }
    })
}

/// Like revamp_copy_from_texture(), but returns at once (see revamp_copy_async()). The memory must
/// stay valid until the completion is done. Release the completion.
/// Errors: those of revamp_copy_to_texture(). Later errors are the result of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_from_texture_async(
    source: *const revamp_texture_region,
    destination: *mut c_void,
    size: usize,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for the region and the memory until the copy is done.
        let sides = || unsafe { texels(source, "source", destination, size) };
        // SAFETY: the caller vouches for the options, and for a writable output or NULL.
        unsafe { start(c"revamp_copy_from_texture_async", sides, options, completion) }
    })
}

/// Like revamp_copy_texture(), but returns at once (see revamp_copy_async()). Release the completion.
/// Errors: those of revamp_copy_texture(). Later errors are the result of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_copy_texture_async(
    source: *const revamp_texture_region,
    destination: *const revamp_texture_region,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for the regions as the header says.
        let sides = || unsafe { texture_operands(source, destination) };
        // SAFETY: the caller vouches for the options, and for a writable output or NULL.
        unsafe { start(c"revamp_copy_texture_async", sides, options, completion) }
    })
}
