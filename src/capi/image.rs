//! What the objects of the kernel compiler call when the program or a library is loaded and
//! unloaded.
//!
//! These are the functions of the HIP runtime that Clang's registration calls, renamed in the
//! object (kernelc/src/driver.rs), so that a program may link the real ones too. They are no part
//! of the header: nobody else calls them.

use super::guard::{guard_aside, guard_release};
use super::pointer;
use crate::error::{Error, Result};
use crate::kernel::registry::RecordId;
use crate::kernel::{compiled, image};
use std::ffi::{c_char, c_int, c_void};

/// What Clang's registration passes.
#[repr(C)]
pub struct Wrapper {
    magic: u32,
    version: u32,
    image: *const u8,
    unused: *const c_void,
}

/// "FPIH", as Clang writes it.
const MAGIC: u32 = 0x4849_5046;

/// The image that the wrapper names.
///
/// # Safety
/// The wrapper is null, or what Clang made around an image that the kernel compiler made, and
/// stays until it is unregistered.
unsafe fn image_of(wrapper: *const Wrapper) -> Result<&'static [u8]> {
    pointer::check_out(wrapper.cast_mut(), "the wrapper")?;
    // SAFETY: not null; the caller vouches for it.
    let (magic, start) = unsafe { ((*wrapper).magic, (*wrapper).image) };
    if magic != MAGIC || start.is_null() {
        return Err(Error::runtime("the registration of the compiled kernels is not Clang's; build the program again"));
    }
    // SAFETY: an image has at least its header.
    let header = unsafe { start.cast::<[u8; image::HEADER_BYTES]>().read_unaligned() };
    let size = image::size(&header)?;
    // SAFETY: the compiler wrote as many bytes as the header says.
    Ok(unsafe { std::slice::from_raw_parts(start, size) })
}

/// In place of __hipRegisterFatBinary: registers the kernels of an object file. Returns the
/// handle that the other two functions take.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_image_register(wrapper: *const c_void) -> *mut c_void {
    let mut id = 0;
    // What is wrong with the image is told at a launch: here nobody would see it.
    let _ = guard_aside(|| {
        // SAFETY: the caller is Clang's registration.
        let bytes = unsafe { image_of(wrapper.cast()) };
        id = compiled::register(bytes).0;
        Ok(())
    });
    std::ptr::without_provenance_mut(id as usize)
}

/// In place of __hipRegisterFunction: the launch whose stub is at `stub` runs the image's kernel
/// `name`.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_image_add(
    image: *mut c_void,
    stub: *const c_void,
    name: *const c_char,
    _device_name: *const c_char,
    _thread_limit: c_int,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_size: *mut c_void,
    _grid_size: *mut c_void,
    _warp_size: *mut c_int,
) -> c_int {
    guard_aside(|| {
        // SAFETY: the caller is Clang's registration.
        let name = unsafe { pointer::text(name, "name") }?;
        compiled::add(RecordId(image.addr() as u64), stub.addr(), name);
        Ok(())
    })
}

/// In place of __hipUnregisterFatBinary: the object file is about to be unloaded.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_image_unregister(image: *mut c_void) {
    let _ = guard_release(|| {
        compiled::unregister(RecordId(image.addr() as u64));
        Ok(())
    });
}
