//! What the objects of the kernel compiler call when the program or a library is loaded and
//! unloaded.
//!
//! These are the functions of the HIP runtime that Clang's registration calls, renamed in the
//! object (kernelc/src/driver.rs), so that a program may link the real ones too. They are no part
//! of the header: nobody else calls them.
//!
//! Clang's registration runs behind the static initialisers of its translation unit. So the C++
//! headers run it before all static initialisers, by revamp_image_register_early(), and take the
//! image back behind all static destructors. When it then runs at Clang's time, it finds the image
//! registered and does nothing.

use super::guard::{guard_aside, guard_release};
use super::pointer;
use crate::device::host::native;
use crate::error::{Error, Result};
use crate::kernel::registry::RecordId;
use crate::kernel::{compiled, image};
use revamp_image::table;
use std::cell::Cell;
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

/// Where revamp_image_register_early() of this thread is.
#[derive(Clone, Copy)]
enum Early {
    /// Not under way.
    No,
    /// Nothing is registered yet.
    Begun,
    /// The image is.
    Registered(RecordId),
}

thread_local! {
    static EARLY: Cell<Early> = const { Cell::new(Early::No) };
}

/// Runs Clang's registration of a translation unit before its time. Returns what
/// revamp_image_unregister() takes.
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

/// The registration of a translation unit without kernels, in place of Clang's.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub extern "C" fn revamp_image_none() {}

fn handle(id: RecordId) -> *mut c_void {
    std::ptr::without_provenance_mut(id.0 as usize)
}

/// The image of a handle; without one, that which this thread registers early.
fn image_behind(handle: *mut c_void) -> Option<RecordId> {
    match (handle.addr(), EARLY.get()) {
        (0, Early::Registered(id)) => Some(id),
        (0, _) => None,
        (id, _) => Some(RecordId(id as u64)),
    }
}

/// In place of __hipRegisterFatBinary: registers the kernels of an object file. Returns the
/// handle that the other two functions take; none for an image that is registered early, so that
/// Clang's code does not take it back.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_image_register(wrapper: *const c_void) -> *mut c_void {
    let mut registered = std::ptr::null_mut();
    // What is wrong with the image is told at a launch: here nobody would see it.
    let _ = guard_aside(|| {
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

/// In `flags`: it checks accesses by the table behind its argument block.
const CHECKED: u32 = 1;
/// It runs a thread of a tile, or a row.
const BY_THREADS: u32 = 2;

/// Gives the kernels of an image, by their names, native forms.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_image_add_native(image: *mut c_void, table: *const NativeKernel, count: u64) {
    let _ = guard_aside(|| {
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

/// Of the memory of a launch that in which `address` lies, for native kernels that check accesses: where it begins (`what` 0), or
/// its size; 0 if it lies in none. `table`: behind the argument block, with so many entries (`revamp_image::table`).
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_native_found(table: *const u8, entries: u64, address: u64, what: u32) -> u64 {
    let bytes = (table::ENTRIES + entries * table::ENTRY) as usize;
    // SAFETY: the library appended a table of so many entries to the kernel's block, which lives while the kernel runs.
    let table = unsafe { std::slice::from_raw_parts(table, bytes) };
    let spans = table[table::ENTRIES as usize..].chunks_exact(16);
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let mut spans = spans.map(|span| (number(&span[..8]), number(&span[8..])));
    let found = spans.find(|&(start, size)| address.wrapping_sub(start) < size);
    found.map_or(0, |(start, size)| if what == 0 { start } else { size })
}

/// Where native code writes why it abandons its tile: 4,096 bytes of this thread.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub extern "C" fn revamp_native_text() -> *mut c_char {
    native::failure_text()
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
