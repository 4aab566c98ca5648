//! Kernels that are functions of the program, run by the host-thread accelerator.

use super::array::dimensions;
use super::guard::guard;
use super::handle::get;
use super::kernel::{argument_section, undeclared};
use super::library::Context;
use super::pointer;
use super::types::*;
use crate::device::host::kernel::{HostKernel, ThreadId};
use crate::error::{Error, Result};
use crate::runtime::accelerator_view::AcceleratorView;
use crate::runtime::host_dispatch::{self, HostArgument, HostLaunch};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// The two forms of a kernel.
#[derive(Clone, Copy)]
enum Form {
    Thread(unsafe extern "C" fn(*const revamp_thread_id, *mut c_void)),
    Row(unsafe extern "C" fn(*const revamp_thread_id, u32, *mut c_void)),
}

/// A C function with its context.
struct Function {
    form: Form,
    context: Context,
    /// What the context points to, if it is a copy of the launch's block.
    _block: Vec<Line>,
}

/// A block is copied to memory of this alignment.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// A copy of `block` with an address written at each place.
fn copy_of(block: &[u8], addresses: &[(usize, *mut u8)]) -> Vec<Line> {
    let mut lines: Vec<Line> = block
        .chunks(64)
        .map(|chunk| {
            let mut line = Line([0; 64]);
            line.0[..chunk.len()].copy_from_slice(chunk);
            line
        })
        .collect();
    for &(at, address) in addresses {
        // Multiples of their size, so that none lies across two lines.
        let bytes = address.expose_provenance().to_ne_bytes();
        lines[at / 64].0[at % 64..at % 64 + bytes.len()].copy_from_slice(&bytes);
    }
    lines
}

impl HostKernel for Function {
    fn run(&self, thread: &ThreadId<'_>) -> Result<()> {
        let id = Self::id(thread);
        // SAFETY: the caller of revamp_host_dispatch vouches for the function and its context.
        unsafe {
            match self.form {
                Form::Thread(function) => function(&raw const id, self.context.get()),
                Form::Row(function) => function(&raw const id, 1, self.context.get()),
            }
        }
        Ok(())
    }

    fn run_row(&self, thread: &mut ThreadId<'_>, count: u32) -> Result<()> {
        let Form::Row(function) = self.form else {
            for _ in 0..count {
                self.run(thread)?;
                thread.step();
            }
            return Ok(());
        };
        let id = Self::id(thread);
        // SAFETY: as in `run`.
        unsafe { function(&raw const id, count, self.context.get()) };
        Ok(())
    }
}

impl Function {
    /// The thread as C sees it.
    fn id(thread: &ThreadId<'_>) -> revamp_thread_id {
        let pointer = |values: &[i32]| if values.is_empty() { std::ptr::null() } else { values.as_ptr() };
        let memory = thread.tile_memory();
        revamp_thread_id {
            rank: thread.global().len() as u32,
            global: thread.global().as_ptr(),
            local: pointer(thread.local()),
            tile: pointer(thread.tile()),
            tile_origin: pointer(thread.tile_origin()),
            tile_memory: if memory.is_empty() { std::ptr::null_mut() } else { memory.as_ptr().cast() },
            internal: std::ptr::from_ref(thread).cast(),
        }
    }
}

/// Runs a function of the program once for each element of the domain, on the threads of the host. Returns before it has
/// run: wait for the view or a marker. `view` NULL: chosen as for revamp_dispatch(), with the default accelerator for host
/// code.
/// Errors: REVAMP_ERROR_INVALID_COMPUTE_DOMAIN (PFE-3 to PFE-6), REVAMP_ERROR_UNSUPPORTED_FEATURE on a Vulkan view,
/// REVAMP_ERROR_RUNTIME on the cpu accelerator (PFE-8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_host_dispatch(
    view: revamp_accelerator_view,
    info: *const revamp_host_dispatch_info,
) -> revamp_status {
    guard(|| {
        let view = if view.is_null() { None } else { Some(get::<AcceleratorView, _>(view)?) };
        // SAFETY: the caller vouches for the struct.
        let i = unsafe { pointer::read(info) }?;
        let form = match (i.row_function, i.function) {
            (Some(_), _) if !i.tile.is_null() => {
                return Err(Error::invalid("a row function is given for a tiled launch, whose threads run one by one"));
            }
            (Some(function), _) => Form::Row(function),
            (None, Some(function)) => Form::Thread(function),
            (None, None) => return Err(Error::invalid("the function is NULL")),
        };
        // SAFETY: the caller vouches for the struct's pointers.
        let (extent, tile, arguments) = unsafe {
            let extent = dimensions(i.extent, i.rank, "extent")?;
            let tile = pointer::optional_slice(i.tile, i.rank as usize, "tile")?;
            (extent, tile, pointer::slice(i.arguments, i.argument_count, "arguments")?)
        };
        // SAFETY: the caller vouches for the block.
        let block = unsafe { pointer::slice(i.block.cast::<u8>(), i.block_size, "block") }?;
        let mut used = Vec::with_capacity(arguments.len());
        let mut offsets = Vec::with_capacity(arguments.len());
        for (n, a) in arguments.iter().enumerate() {
            offsets.push(match a.kind {
                REVAMP_ARGUMENT_BUFFER => None,
                REVAMP_ARGUMENT_ADDRESS => {
                    let at = a.offset as usize;
                    if at % align_of::<usize>() != 0 || at + size_of::<usize>() > block.len() {
                        return Err(Error::invalid(format!(
                            "argument {n}: an address at offset {at} does not fit the block of {} bytes; offsets are \
                             multiples of {}",
                            block.len(),
                            align_of::<usize>()
                        )));
                    }
                    Some(at)
                }
                _ => {
                    return Err(Error::invalid(format!(
                        "argument {n} of a host kernel is no REVAMP_ARGUMENT_BUFFER or _ADDRESS"
                    )));
                }
            });
            // SAFETY: the caller vouches for origin and extent.
            let (section, access) =
                unsafe { argument_section(a) }.map_err(|e| e.context(format_args!("argument {n}")))?;
            let access = undeclared(&section, access);
            used.push(HostArgument { section, access });
        }
        let kernel = |first: &[*mut u8]| -> Result<Arc<dyn HostKernel>> {
            let addresses: Vec<_> = offsets.iter().zip(first).filter_map(|(o, a)| o.map(|o| (o, *a))).collect();
            let mut lines = copy_of(block, &addresses);
            let context = if lines.is_empty() { i.context } else { lines.as_mut_ptr().cast() };
            Ok(Arc::new(Function { form, context: Context(context), _block: lines }))
        };
        let launch = HostLaunch { extent, tile, tile_memory: i.tile_memory, arguments: &used, kernel: &kernel };
        host_dispatch::host_dispatch(view, launch).map(drop)
    })
}

/// Waits until all threads of the tile are here, and orders their accesses to memory (C++ AMP's tile_barrier::wait). Only
/// in a tiled host kernel, from the thread whose id it is; all threads of a tile must come as often.
/// Outside, or in a kernel that is not tiled, it fails with REVAMP_ERROR_RUNTIME, and so does the launch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_tile_barrier_wait(id: *const revamp_thread_id) -> revamp_status {
    guard(|| barrier(id))
}

fn barrier(id: *const revamp_thread_id) -> Result<()> {
    // SAFETY: the caller passes the id its kernel thread was given.
    unsafe { thread_of(&id) }?.barrier()
}

/// Makes the launch of a host kernel fail with REVAMP_ERROR_RUNTIME and `message`, from the thread whose id it is (of a row
/// kernel: the first one's): waiting for the launch reports it. The kernel's function goes on, and returns as soon as it
/// can; threads of the domain that have not begun may not run. The first failure of a launch is the one reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_host_kernel_fail(id: *const revamp_thread_id, message: *const c_char) -> revamp_status {
    guard(|| {
        // SAFETY: the caller passes the id its kernel thread was given, and a text.
        let (thread, message) = unsafe { (thread_of(&id)?, pointer::text(message, "message")) };
        thread.fail(message.map_or_else(|e| e, |text| Error::runtime(text.to_owned())));
        Ok(())
    })
}

/// The thread that an id is of.
///
/// # Safety
/// `id` is NULL or what a kernel thread was given, which has not returned.
unsafe fn thread_of(id: &*const revamp_thread_id) -> Result<&ThreadId<'_>> {
    pointer::check_out(id.cast_mut(), "id")?;
    // SAFETY: not null; it lives until the kernel thread returns.
    let internal = unsafe { (**id).internal };
    pointer::check_out(internal.cast_mut(), "id->internal")?;
    // SAFETY: `internal` is the ThreadId that Function::run put there, alive as long as the id.
    Ok(unsafe { &*internal.cast::<ThreadId<'_>>() })
}
