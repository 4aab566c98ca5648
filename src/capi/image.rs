//! The functions that object files from the kernel compiler call when the program or a library is
//! loaded or unloaded.
//!
//! Clang's registration calls functions of the HIP runtime. The kernel compiler renames these calls
//! in the object file (kernelc/src/clang.rs), so that a program may link the HIP runtime too. These
//! functions are not in the header, because nothing else calls them.
//!
//! Clang's registration runs after the static initialisers of its translation unit. The C++ headers
//! therefore run it before all static initialisers, by revamp_image_register_early(), and
//! unregister the image after all static destructors. When Clang's own call of the registration
//! follows, the image is already registered, and the call does nothing.

use super::guard::{guard_release, guard_unused};
use super::pointer;
use crate::device::host::native;
use crate::error::{Error, Result};
use crate::kernel::registry::RecordId;
use crate::kernel::{compiled, image};
use revamp_image::table;
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};

/// The struct that Clang's registration passes.
#[repr(C)]
pub struct Wrapper {
    magic: u32,
    version: u32,
    image: *const u8,
    unused: *const c_void,
}

/// "FPIH", as Clang writes it.
const MAGIC: u32 = 0x4849_5046;

/// The bytes of the image to which the wrapper points.
///
/// # Safety
/// `wrapper` is null or Clang's wrapper of an image of the kernel compiler, and stays valid until
/// it is unregistered.
unsafe fn image_of(wrapper: *const Wrapper) -> Result<&'static [u8]> {
    pointer::check_out(wrapper.cast_mut(), "the wrapper")?;
    // SAFETY: not null; the caller vouches for it.
    let (magic, start) = unsafe { ((*wrapper).magic, (*wrapper).image) };
    if magic != MAGIC || start.is_null() {
        return Err(Error::runtime(
            "the compiled kernels are registered in an unknown format; rebuild the program with revamp-c++ or \
             revamp-kernelc",
        ));
    }
    // SAFETY: an image has at least its header.
    let header = unsafe { start.cast::<[u8; image::HEADER_BYTES]>().read_unaligned() };
    let size = image::size(&header)?;
    // SAFETY: the compiler wrote as many bytes as the header says.
    Ok(unsafe { std::slice::from_raw_parts(start, size) })
}

/// The progress of revamp_image_register_early() on this thread.
#[derive(Clone, Copy)]
enum Early {
    /// It is not running.
    No,
    /// It is running and has not registered the image yet.
    Begun,
    /// It is running and has registered this image.
    Registered(RecordId),
}

thread_local! {
    static EARLY: Cell<Early> = const { Cell::new(Early::No) };
}

/// Runs Clang's registration of a translation unit early. Returns the handle for
/// revamp_image_unregister().
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_image_register_early(registration: Option<extern "C" fn()>) -> *mut c_void {
    let Some(registration) = registration else { return std::ptr::null_mut() };
    EARLY.set(Early::Begun);
    registration();
    match EARLY.replace(Early::No) {
        Early::Registered(id) => handle(id),
        _ => std::ptr::null_mut(),
    }
}

/// Replaces Clang's registration in a translation unit without kernels.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub extern "C" fn revamp_image_none() {}

fn handle(id: RecordId) -> *mut c_void {
    std::ptr::without_provenance_mut(id.0 as usize)
}

/// The image of a handle. A null handle stands for the image that this thread registers early.
fn image_behind(handle: *mut c_void) -> Option<RecordId> {
    match (handle.addr(), EARLY.get()) {
        (0, Early::Registered(id)) => Some(id),
        (0, _) => None,
        (id, _) => Some(RecordId(id as u64)),
    }
}

/// Replaces __hipRegisterFatBinary: registers the kernels of an object file. Returns the handle for
/// revamp_image_add() and revamp_image_unregister(). For an image that is registered early the
/// handle is null, so that Clang's code does not unregister it.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_image_register(wrapper: *const c_void) -> *mut c_void {
    let mut registered = std::ptr::null_mut();
    // A launch reports errors of the image; here nobody would see them.
    let _ = guard_unused(|| {
        if compiled::is_registered(wrapper.addr()) {
            return Ok(());
        }
        // SAFETY: the caller is Clang's registration.
        let bytes = unsafe { image_of(wrapper.cast()) };
        let id = compiled::register(wrapper.addr(), bytes);
        match EARLY.get() {
            Early::No => registered = handle(id),
            _ => EARLY.set(Early::Registered(id)),
        }
        Ok(())
    });
    registered
}

/// Replaces __hipRegisterFunction: the launch whose `compiled` is `stub` (HIP's kernel handle)
/// runs the image's kernel `name`.
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
    guard_unused(|| {
        let Some(image) = image_behind(image) else { return Ok(()) };
        // SAFETY: the caller is Clang's registration.
        let name = unsafe { pointer::text(name, "name") }?;
        compiled::add(image, stub.addr(), name);
        Ok(())
    })
}

/// A kernel's native form, as the kernel compiler writes it.
#[repr(C)]
pub struct NativeKernel {
    name: *const c_char,
    functions: [*const c_void; 3],
    memory: u64,
    tile: [u32; 3],
    flags: u32,
}

/// In `flags`: the kernel checks accesses against the table after its argument block.
const CHECKED: u32 = 1;
/// In `flags`: each call runs a thread of a tile, or a row of threads.
const BY_THREADS: u32 = 2;

/// Adds native forms to the kernels of an image; `table` names the kernels.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_image_add_native(image: *mut c_void, table: *const NativeKernel, count: u64) {
    let _ = guard_unused(|| {
        let Some(image) = image_behind(image) else { return Ok(()) };
        // SAFETY: the kernel compiler wrote the table, which stays as long as the code does.
        let table = unsafe { pointer::slice(table, count as usize, "table") }?;
        for row in table {
            // SAFETY: a text of the same object.
            let name = unsafe { pointer::text(row.name, "name") }?;
            let functions = row.functions.map(|f| f.addr());
            let has = |flag| row.flags & flag != 0;
            let native = compiled::Native {
                functions,
                memory: row.memory,
                tile: row.tile,
                checked: has(CHECKED),
                by_threads: has(BY_THREADS),
            };
            compiled::add_native(image, name, native);
        }
        Ok(())
    });
}

/// For native kernels that check accesses: finds the memory block of the launch that contains `address`. Returns the start of the block if `what`
/// is 0, else its size; 0 if no block contains the address. `table`: the table after the argument block, with `entries` entries
/// (`revamp_image::table`).
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_native_found(table: *const u8, entries: u64, address: u64, what: u32) -> u64 {
    let bytes = (table::ENTRIES + entries * table::ENTRY_BYTES) as usize;
    // SAFETY: the library appended a table with `entries` entries to the kernel's block, which lives while the kernel runs.
    let table = unsafe { std::slice::from_raw_parts(table, bytes) };
    let spans = table[table::ENTRIES as usize..].chunks_exact(16);
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let mut spans = spans.map(|span| (number(&span[..8]), number(&span[8..])));
    let found = spans.find(|&(start, size)| address.wrapping_sub(start) < size);
    found.map_or(0, |(start, size)| if what == 0 { start } else { size })
}

/// This thread's buffer of 4,096 bytes, into which native code writes why it abandons its tile.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub extern "C" fn revamp_native_text() -> *mut c_char {
    native::failure_text()
}

/// Replaces __hipUnregisterFatBinary: the object file is about to be unloaded.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_image_unregister(image: *mut c_void) {
    let _ = guard_release(|| {
        compiled::unregister(RecordId(image.addr() as u64));
        Ok(())
    });
}
