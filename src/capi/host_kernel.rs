//! Kernels that are functions of the program, run by the host-thread accelerator, and those
//! compiled of them.

use super::array::dimensions;
use super::guard::guard;
use super::handle::get;
use super::image::native_text;
use super::kernel::{address_slot, argument_section, arguments, narrow_bits, undeclared};
use super::launch_request::{self, Outcome, Request};
use super::library::Context;
use super::types::*;
use super::{loaded, pointer};
use crate::device::block::Block;
use crate::device::host::{HostKernel, ThreadId};
use crate::error::{Error, Result};
use crate::grow::Grow;
use crate::host::{HostSpan, processor};
use crate::kernel::compiled::{self, Compiled};
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::launch::host;
use crate::runtime::launch::request::{HostArgument, HostLaunch, MakeKernel};
use smallvec::SmallVec;
use std::cell::Cell;
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
    _block: Copied,
}

/// Why the program's function does not run in place of a native kernel.
const UNCHECKED: &str = "the kernel is compiled with -famp-bounds=zero, and on host threads its native form alone checks bounds, which \
                         REVAMP_HOST_KERNELS=coroutines leaves out; compile with -famp-bounds=report or without the option to run the \
                         program's own function";

/// A block is copied to memory of this alignment.
const ALIGN: usize = 64;

/// The block where it stays until the launch is done: within memory of no alignment, which takes half as long to get.
#[derive(Default)]
struct Copied {
    room: Vec<u8>,
    first: usize,
}

impl Copied {
    fn of(block: &Block) -> Result<Self> {
        if block.bytes.is_empty() {
            return Ok(Self::default());
        }
        let length = block.bytes.len().next_multiple_of(ALIGN);
        let mut room: Vec<u8> = Vec::new();
        room.make_room(length + ALIGN)?;
        let first = room.as_ptr().align_offset(ALIGN);
        room.resize(first, 0);
        room.extend_from_slice(&block.bytes);
        room.resize(first + length, 0);
        let copy = &mut room[first..];
        let address = copy.as_mut_ptr().expose_provenance() as u64;
        block.put_addresses(copy, address);
        Ok(Self { room, first })
    }

    fn is_empty(&self) -> bool {
        self.room.is_empty()
    }

    fn as_ptr(&self) -> *const c_void {
        self.room[self.first..].as_ptr().cast()
    }

    /// A functor may change itself.
    fn as_mut_ptr(&mut self) -> *mut c_void {
        self.room[self.first..].as_mut_ptr().cast()
    }
}

impl Form {
    fn address(self) -> usize {
        match self {
            Self::Thread(function) => function as usize,
            Self::Row(function) => function as usize,
        }
    }
}

impl HostKernel for Function {
    fn run(&self, thread: &ThreadId<'_>) -> Result<()> {
        let id = Self::id(thread);
        // SAFETY: the caller of revamp_parallel_for_each vouches for the function and its context.
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

    fn identity(&self) -> usize {
        self.form.address()
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

/// Runs a tile: with the block, the tile's memory, its place.
type NativeCode = unsafe extern "C" fn(*const c_void, *mut c_void, *const i32) -> u32;

/// A kernel's native form with its block.
struct NativeFunction {
    function: NativeCode,
    extent: SmallVec<[i32; 4]>,
    compiled: Arc<Compiled>,
    /// Bytes of memory for a tile.
    memory: u64,
    block: Copied,
}

impl NativeFunction {
    /// The native code of a request's kernel and the memory for a tile, if it fits and is wanted.
    fn of(compiled: &Compiled, request: &Request<'_>) -> Option<(NativeCode, u64)> {
        let (native, level) = (compiled.native.as_ref()?, processor::level()?);
        let mut tile = [0; 3];
        if let Some(given) = request.tile {
            let given = given.iter().rev().map(|&t| t as u32);
            tile.iter_mut().zip(given.chain([1, 1])).for_each(|(to, from)| *to = from);
        }
        let address = native.functions[level];
        if tile != native.tile || address == 0 || request.block.len() as u64 != compiled.block_size {
            return None;
        }
        // SAFETY: the kernel compiler wrote this function's address, and its type is that.
        let function = unsafe { std::mem::transmute::<usize, NativeCode>(address) };
        Some((function, native.memory))
    }

    /// Calls it for the tile, or the row's first thread, at this place in x, y, z; of a row, for so many threads.
    fn call(&self, place: [i32; 4], memory: *mut c_void) -> Result<()> {
        // SAFETY: the function was compiled for such a block, and the memory is as large as it wants.
        match unsafe { (self.function)(self.block.as_ptr(), memory, place.as_ptr()) } {
            0 => Ok(()),
            1 => Err(Error::runtime(format!(
                "{}: the threads of a tile did not reach the same tile barriers: a barrier must be waited at by all \
                 threads of the tile, or by none",
                self.compiled.location
            ))),
            _ => Err(Error::runtime(native_text())),
        }
    }
}

impl HostKernel for NativeFunction {
    fn run(&self, _: &ThreadId<'_>) -> Result<()> {
        Err(Error::internal("a native kernel runs whole tiles and rows"))
    }

    fn run_row(&self, thread: &mut ThreadId<'_>, count: u32) -> Result<()> {
        let all = thread.global();
        let (rank, mut place) = (all.len(), [0, 0, 0, count as i32]);
        for (to, from) in place[..3].iter_mut().zip(all.iter().rev()) {
            *to = *from;
        }
        // The leading dimensions are folded into z, as on devices.
        let leading = &all[..rank.max(2) - 2];
        place[2] = leading.iter().zip(&self.extent).fold(0, |z, (&i, &e)| z.wrapping_mul(e).wrapping_add(i));
        self.call(place, std::ptr::null_mut())
    }

    fn identity(&self) -> usize {
        self.function as usize
    }

    fn whole_tiles(&self) -> Option<u64> {
        Some(self.memory)
    }

    fn run_tile(&self, tile: [i32; 3], memory: HostSpan) -> Result<()> {
        let mut place = [0; 4];
        for (to, from) in place.iter_mut().zip(tile[..self.extent.len()].iter().rev()) {
            *to = *from;
        }
        self.call(place, memory.as_ptr().cast())
    }
}

/// Launches a function of the program once for each element of the domain: the function itself on
/// host threads, or, on a Vulkan view, the kernel that the kernel compiler made of it. May return
/// before it has run: wait for the view or a marker. `view` NULL: chosen as for
/// revamp_dispatch(), with the default accelerator for host code. A module whose function ran on
/// host threads stays loaded for good: dlclose() does not unload it.
/// Errors: REVAMP_ERROR_INVALID_COMPUTE_DOMAIN (PFE-3 to PFE-6), REVAMP_ERROR_UNSUPPORTED_FEATURE
/// on a Vulkan view without a compiled kernel or with one that needs what the device lacks,
/// REVAMP_ERROR_RUNTIME on the cpu accelerator (PFE-8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_parallel_for_each(
    view: revamp_accelerator_view,
    info: *const revamp_parallel_for_each_info,
) -> revamp_status {
    guard(|| {
        let asked = view;
        // SAFETY: the caller vouches for the struct.
        let i = unsafe { pointer::read(info) }?;
        let form = match (i.row_function, i.function) {
            (Some(_), _) if !i.tile.is_null() => {
                return Err(Error::invalid("a row function is given for a tiled launch, whose threads run one by one"));
            }
            (Some(function), _) => Some(Form::Row(function)),
            (None, Some(function)) => Some(Form::Thread(function)),
            (None, None) if i.compiled.is_null() => return Err(Error::invalid("the function is NULL")),
            (None, None) => None,
        };
        // SAFETY: the caller vouches for the struct's pointers.
        let (extent, tile, arguments) = unsafe {
            let extent = dimensions(i.extent, i.rank, "extent")?;
            let tile = pointer::optional_slice(i.tile, i.rank as usize, "tile")?;
            (extent, tile, arguments(i.arguments, i.argument_count)?)
        };
        // SAFETY: the caller vouches for the block.
        let block = unsafe { pointer::slice(i.block.cast::<u8>(), i.block_size, "block") }?;
        let request = Request {
            view: asked,
            compiled: i.compiled.addr(),
            extent,
            tile,
            tile_memory: i.tile_memory,
            block,
            block_alignment: i.block_alignment,
            arguments,
        };
        let mut remember = false;
        if !i.compiled.is_null() {
            // SAFETY: the caller vouches for the arguments' data.
            match unsafe { launch_request::launch(&request) }? {
                Outcome::Done => return Ok(()),
                Outcome::Open { remember: worth } => remember = worth,
            }
        }
        let view = if asked.is_null() { None } else { Some(get::<AcceleratorView, _>(asked)?) };
        let mut used: SmallVec<[HostArgument<'_>; 8]> = SmallVec::new();
        if arguments.len() > used.inline_size() {
            used.make_room(arguments.len())?;
        }
        for (n, a) in arguments.iter().enumerate() {
            let slot = match a.kind {
                REVAMP_ARGUMENT_BUFFER => Ok(None),
                REVAMP_ARGUMENT_ADDRESS | REVAMP_ARGUMENT_INDIRECT => {
                    // SAFETY: the caller vouches for the data.
                    unsafe { address_slot(a) }.and_then(|slot| slot.check(block.len()).map(|()| Some(slot)))
                }
                _ => Err(Error::invalid(
                    "it is none of a host kernel: those are REVAMP_ARGUMENT_BUFFER, _ADDRESS, _INDIRECT",
                )),
            };
            // SAFETY: the caller vouches for origin and extent.
            let section = unsafe { argument_section(a) };
            let given = slot.and_then(|slot| section.map(|section| (slot, section)));
            let (slot, (section, access)) = given.map_err(|e| e.context(format_args!("argument {n}")))?;
            let access = undeclared(&section, access);
            let narrow_bits = if a.texture.is_null() { None } else { narrow_bits(a.texture)? };
            used.push(HostArgument { section, access, slot, narrow_bits });
        }
        let runs_here = Cell::new(None);
        let found = if i.compiled.is_null() { None } else { compiled::find(i.compiled.addr())? };
        let native = found.as_ref().and_then(|compiled| Some((compiled, NativeFunction::of(compiled, &request)?)));
        let kernel = |block: &Block| -> Result<Arc<dyn HostKernel>> {
            if let Some((compiled, (function, memory))) = native {
                runs_here.set(Some(function as usize));
                let (extent, compiled) = (SmallVec::from_slice(extent), Arc::clone(compiled));
                return Ok(Arc::new(NativeFunction { function, extent, compiled, memory, block: Copied::of(block)? }));
            }
            if found.as_ref().and_then(|compiled| compiled.native).is_some_and(|native| native.checked) {
                return Err(Error::unsupported(UNCHECKED));
            }
            let form = form.ok_or_else(|| Error::internal("a launch without a function"))?;
            runs_here.set(Some(form.address()));
            let mut copy = Copied::of(block)?;
            let context = if copy.is_empty() { i.context } else { copy.as_mut_ptr() };
            Ok(Arc::new(Function { form, context: Context(context), _block: copy }))
        };
        let launch = HostLaunch {
            extent,
            tile,
            tile_memory: i.tile_memory,
            arguments: &used,
            block,
            block_align: i.block_alignment,
            kernel: (form.is_some() || native.is_some()).then_some(&kernel as &MakeKernel<'_>),
            compiled: found.as_ref(),
        };
        let mut repeat = None;
        host::host_dispatch(view, &launch, remember.then_some(&mut repeat))?;
        if let Some(repeat) = repeat {
            launch_request::keep(&request, repeat);
        }
        // Until this call returns its caller's code is there.
        if let Some(address) = runs_here.get() {
            loaded::keep(address);
        }
        Ok(())
    })
}

/// Waits until all threads of the tile have reached the barrier, and orders their memory accesses
/// (C++ AMP's tile_barrier::wait). To be called only in a tiled host kernel, with the calling
/// thread's own id, and equally often by all threads of a tile.
/// Errors: REVAMP_ERROR_RUNTIME outside a tiled host kernel; a launch that is not tiled fails too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_tile_barrier_wait(id: *const revamp_thread_id) -> revamp_status {
    guard(|| barrier(id))
}

fn barrier(id: *const revamp_thread_id) -> Result<()> {
    // SAFETY: the caller passes the id its kernel thread was given.
    unsafe { thread_of(&id) }?.barrier()
}

/// Makes the launch of a host kernel fail with REVAMP_ERROR_RUNTIME and `message`: waiting for the
/// launch returns that. To be called in the kernel with the calling thread's own id (in a row
/// kernel: `first`). The function should then return as soon as it can; threads that have not
/// begun may not run at all. Only the first failure of a launch is reported.
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
