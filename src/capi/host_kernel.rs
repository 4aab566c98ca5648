//! The C API of launches of the program's functions. Host threads call the function itself. A Vulkan
//! device runs the kernel that the kernel compiler made from the function.

use super::array::dimensions;
use super::guard::{guard, guard_end};
use super::handle::get;
use super::kernel::{access_or_default, address_slot, argument_section, arguments, narrow_bits};
use super::launch_request::{self, Outcome, Request};
use super::library::Context;
use super::types::*;
use super::{completion, loaded, pointer};
use crate::device::block::{Block, BlockCopy};
use crate::device::host::{HostKernel, NativeForm, NativeKernel, ThreadId};
use crate::error::{Error, Result};
use crate::grow::Grow;
use crate::kernel::compiled::{self, Compiled};
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::launch::function;
use crate::runtime::launch::kept::KeptKernel;
use crate::runtime::launch::request::{FunctionArgument, FunctionLaunch, MakeKernel};
use crate::runtime::operations::after::AsyncOptions;
use crate::runtime::operations::completion::Completion;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::sync::Arc;

/// The function of a kernel. The variant says what each call runs: a thread or a row of threads.
#[derive(Clone, Copy)]
enum HostFunction {
    Thread(unsafe extern "C" fn(*const revamp_thread_id, *mut c_void)),
    Row(unsafe extern "C" fn(*const revamp_thread_id, u32, *mut c_void)),
    /// A function that the kernel compiler generated, for a thread or a row. It reads the ids from
    /// revamp_kernel_thread().
    Compiled(unsafe extern "C" fn(*mut c_void)),
}

/// The thread or row that a compiled kernel runs now: the struct `kernel_thread` of device_on_host.h.
#[repr(C)]
pub struct KernelThread {
    id: *const revamp_thread_id,
    count: u32,
    /// The index of the running thread in the row; set by the kernel.
    running: u32,
    /// The jump buffer to which a thread that ends early jumps; set by the kernel.
    end: *mut c_void,
}

thread_local! {
    /// The thread or row that this host thread runs now for a compiled kernel; null if it runs none.
    static RUNNING_THREAD: Cell<*mut KernelThread> = const { Cell::new(std::ptr::null_mut()) };
}

/// The thread or row that the calling host thread runs for a compiled kernel.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub extern "C" fn revamp_kernel_thread() -> *mut KernelThread {
    RUNNING_THREAD.get()
}

/// Makes the launch of the calling kernel thread fail. The message contains `text`, the line of the program if known,
/// and the thread's index. If `shown` is true, the message is also printed to standard error.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_fail(text: *const c_char, shown: bool, file: *const c_char, line: u32) {
    let _ = guard_end(|| {
        // SAFETY: null, or set by the library for as long as the thread runs.
        let kernel_thread = unsafe { RUNNING_THREAD.get().as_ref() }.ok_or_else(|| {
            Error::invalid(
                "revamp_kernel_fail() was called outside of a host kernel; call it only in functions that run as host \
                 kernels",
            )
        })?;
        // SAFETY: the id of a thread that runs.
        let thread = unsafe { thread_of(&kernel_thread.id) }?;
        // SAFETY: texts of the kernel, or null. They need not be UTF-8, and the launch must fail whatever they are.
        let of = |text: *const c_char| (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy());
        let (text, file) = (of(text).unwrap_or_default(), of(file));
        let mut index: SmallVec<[i32; 4]> = SmallVec::from_slice(thread.global());
        if let Some(last) = index.last_mut() {
            *last += kernel_thread.running as i32;
        }
        let index: Vec<String> = index.iter().map(i32::to_string).collect();
        let place = file.map_or(String::new(), |file| format!("{file}:{line}, "));
        let message = format!("{} ({place}thread ({}))", text.trim_end(), index.join(", "));
        if shown {
            let _ = writeln!(std::io::stderr(), "{message}");
        }
        thread.fail(Error::runtime(message));
        Ok(())
    });
}

/// A C function with its context.
struct Function {
    form: HostFunction,
    context: Context,
    /// The copy of the launch's argument block, if the context points to it.
    _block: BlockCopy,
}

/// The error if only a native kernel could check bounds, and native kernels are disabled.
const UNCHECKED: &str = "the kernel was compiled with -famp-bounds=zero, which needs native kernels on host threads, \
                         but REVAMP_HOST_KERNELS=coroutines disables native kernels; unset REVAMP_HOST_KERNELS, or \
                         compile the kernel without -famp-bounds=zero";

impl HostFunction {
    fn address(self) -> usize {
        match self {
            Self::Thread(function) => function as usize,
            Self::Row(function) => function as usize,
            Self::Compiled(function) => function as usize,
        }
    }

    /// A compiled kernel's function for a thread or a row. `None` if there is none, or if the kernel's argument block
    /// does not have `block` bytes.
    fn of(compiled: &Compiled, block: usize) -> Option<Self> {
        let native = compiled.native.filter(|native| native.by_threads && block as u64 == compiled.block_size)?;
        // SAFETY: the kernel compiler wrote this address, which is that of a function of this type.
        Some(Self::Compiled(unsafe {
            std::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void)>(native.functions[0])
        }))
    }
}

impl HostKernel for Function {
    fn run(&self, thread: &ThreadId<'_>) -> Result<()> {
        let id = Self::id(thread);
        self.call(&id, 1);
        Ok(())
    }

    fn run_row(&self, thread: &mut ThreadId<'_>, count: u32) -> Result<()> {
        if matches!(self.form, HostFunction::Thread(_)) {
            for _ in 0..count {
                self.run(thread)?;
                thread.step();
            }
            return Ok(());
        }
        self.call(&Self::id(thread), count);
        Ok(())
    }

    fn identity(&self) -> usize {
        self.form.address()
    }
}

impl Function {
    /// Calls the function for one thread, or for a row of `count` threads.
    fn call(&self, id: &revamp_thread_id, count: u32) {
        let context = self.context.get();
        // SAFETY: the caller of revamp_parallel_for_each vouches for the function and its context, the kernel compiler
        // for the functions that it generated.
        unsafe {
            match self.form {
                HostFunction::Thread(function) => function(id, context),
                HostFunction::Row(function) => function(id, count, context),
                HostFunction::Compiled(function) => {
                    let mut thread = KernelThread { id, count, running: 0, end: std::ptr::null_mut() };
                    RUNNING_THREAD.set(&raw mut thread);
                    function(context);
                    // Null does not affect the other threads of the tile: after a barrier, each restores its pointer
                    // (`barrier`).
                    RUNNING_THREAD.set(std::ptr::null_mut());
                }
            }
        }
    }

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

/// Launches a function of the program once for each element of the domain: the function itself on
/// host threads, or, on a Vulkan view, the kernel that the kernel compiler made from the function.
/// May return before the launch has run: wait for the view or a marker. If `view` is NULL, the
/// library chooses it as for revamp_dispatch(), with the default accelerator for host code. A
/// module whose function ran on host threads stays loaded for good: dlclose() does not unload it.
/// Errors: REVAMP_ERROR_INVALID_COMPUTE_DOMAIN (PFE-3 to PFE-6), REVAMP_ERROR_UNSUPPORTED_FEATURE
/// on a Vulkan view without a compiled kernel or if the device lacks features that the kernel needs,
/// REVAMP_ERROR_RUNTIME on the cpu accelerator (PFE-8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_parallel_for_each(
    view: revamp_accelerator_view,
    info: *const revamp_parallel_for_each_info,
) -> revamp_status {
    guard(|| {
        // SAFETY: the caller vouches for the struct and its pointers.
        unsafe {
            with_request(view, info, |request, i| match launch_request::launch(request, drop)? {
                Outcome::Done(()) => Ok(()),
                Outcome::NotCached { remember } => launch(request, i, remember, None).map(drop),
            })
        }
    })
}

/// Like revamp_parallel_for_each(), but begins after the completions of `options` (may be NULL) and
/// gives a completion with the status of this launch alone. Release the completion with
/// revamp_completion_release(). The library reads the memory behind `info` and `options` only
/// during the call, except the context. The handles in both structs may be released after the call.
/// Errors: those of revamp_parallel_for_each(). Later errors are the result of the completion.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_parallel_for_each_async(
    view: revamp_accelerator_view,
    info: *const revamp_parallel_for_each_info,
    options: *const revamp_async_options,
    completion: *mut revamp_completion,
) -> revamp_status {
    guard(|| {
        pointer::check_out(completion, "completion")?;
        // SAFETY: the caller vouches for the structs and their pointers.
        let begun = unsafe {
            let options = completion::read_options(options)?;
            with_request(view, info, |request, i| {
                // Cached launches support neither wait lists nor timers.
                let is_plain = options.timer.is_none() && options.after.is_done();
                let of = |point| Completion::of(vec![point]);
                match if is_plain {
                    launch_request::launch(request, of)?
                } else {
                    Outcome::NotCached { remember: false }
                } {
                    Outcome::Done(begun) => Ok(Some(begun)),
                    Outcome::NotCached { remember } => launch(request, i, remember, Some(options)),
                }
            })
        }?;
        let begun = begun.ok_or_else(|| Error::internal("an asynchronous launch returned no completion"))?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { completion::give(completion, "completion", begun) }
    })
}

/// The code of a launch that host threads may run.
struct Runnable<'a> {
    /// The program's function.
    form: Option<HostFunction>,
    /// The compiled kernel.
    compiled_kernel: Option<Arc<Compiled>>,
    /// The native code of `compiled_kernel`.
    native: Option<NativeForm>,
    /// The function of `compiled_kernel` for a thread or a row.
    by_threads: Option<HostFunction>,
    extent: Cow<'a, [i32]>,
    context: Context,
}

impl Runnable<'_> {
    /// True if there is code for host threads.
    fn is_some(&self) -> bool {
        self.form.is_some() || self.native.is_some() || self.by_threads.is_some()
    }

    /// A copy that owns its extent.
    fn kept(&self) -> Runnable<'static> {
        Runnable { compiled_kernel: self.compiled_kernel.clone(), extent: Cow::Owned(self.extent.to_vec()), ..*self }
    }

    /// The address of the code that runs.
    fn address(&self) -> Option<usize> {
        self.native.map(NativeForm::address).or(self.by_threads.or(self.form).map(HostFunction::address))
    }

    /// Makes the kernel.
    fn make(&self, block: &Block) -> Result<Arc<dyn HostKernel>> {
        if let (Some(compiled), Some(form)) = (&self.compiled_kernel, self.native) {
            return Ok(Arc::new(NativeKernel::new(form, compiled, &self.extent, block)?));
        }
        if self.compiled_kernel.as_ref().and_then(|compiled| compiled.native).is_some_and(|native| native.checked) {
            return Err(Error::unsupported(UNCHECKED));
        }
        let form = self
            .by_threads
            .or(self.form)
            .ok_or_else(|| Error::internal("a launch has neither a function nor a native kernel"))?;
        let mut copy = BlockCopy::of(block)?;
        let context = if copy.is_empty() { self.context.get() } else { copy.as_mut_ptr() };
        Ok(Arc::new(Function { form, context: Context(context), _block: copy }))
    }
}

/// Reads the arguments of a launch into `launch_arguments`, which is empty.
///
/// # Safety
/// The arguments' pointers are valid as the header says.
unsafe fn read_arguments<'a>(
    arguments: &'a [revamp_argument],
    block: usize,
    launch_arguments: &mut SmallVec<[FunctionArgument<'a>; 8]>,
) -> Result<()> {
    if arguments.len() > launch_arguments.inline_size() {
        launch_arguments.make_room(arguments.len())?;
    }
    for (n, a) in arguments.iter().enumerate() {
        let slot = match a.kind {
            REVAMP_ARGUMENT_BUFFER => Ok(None),
            REVAMP_ARGUMENT_ADDRESS | REVAMP_ARGUMENT_INDIRECT => {
                // SAFETY: the same contract.
                unsafe { address_slot(a) }.and_then(|slot| slot.check(block).map(|()| Some(slot)))
            }
            _ => Err(Error::invalid("host kernels accept only REVAMP_ARGUMENT_BUFFER, _ADDRESS and _INDIRECT")),
        };
        // SAFETY: the same contract.
        let section = unsafe { argument_section(a) };
        let given = slot.and_then(|slot| section.map(|section| (slot, section)));
        let (slot, (section, access)) = given.map_err(|e| e.context(format_args!("argument {n}")))?;
        let access = access_or_default(&section, access);
        let narrow_bits = if a.texture.is_null() { None } else { narrow_bits(a.texture)? };
        launch_arguments.push(FunctionArgument { section, access, slot, narrow_bits });
    }
    Ok(())
}

/// Reads the request and calls `go` with it.
///
/// # Safety
/// `info` and its pointers are valid as the header says.
#[inline(always)]
unsafe fn with_request<T>(
    view: revamp_accelerator_view,
    info: *const revamp_parallel_for_each_info,
    go: impl FnOnce(&Request<'_>, &revamp_parallel_for_each_info) -> Result<T>,
) -> Result<T> {
    // SAFETY: the same contract.
    let i = unsafe { pointer::read(info) }?;
    if i.row_function.is_some() && !i.tile.is_null() {
        return Err(Error::invalid(
            "row_function is set for a tiled launch, which runs its threads one by one; set function instead",
        ));
    }
    if i.row_function.is_none() && i.function.is_none() && i.compiled.is_null() {
        return Err(Error::invalid("the function is NULL; set function, row_function or compiled"));
    }
    // SAFETY: the same contract.
    let (extent, tile, arguments, block) = unsafe {
        let extent = dimensions(i.extent, i.rank, "extent")?;
        let tile = pointer::optional_slice(i.tile, i.rank as usize, "tile")?;
        let arguments = arguments(i.arguments, i.argument_count)?;
        (extent, tile, arguments, pointer::slice(i.block.cast::<u8>(), i.block_size, "block")?)
    };
    let request = Request {
        view,
        compiled: i.compiled.addr(),
        extent,
        tile,
        tile_memory: i.tile_memory,
        block,
        block_alignment: i.block_alignment,
        arguments: &arguments,
    };
    go(&request, &i)
}

/// Launches a function. With `options`, the launch is asynchronous, and its completion is returned. `remember`: as in [`Outcome`].
///
/// # Safety
/// `request` was read from `i`, and the pointers of both are valid as the header says.
unsafe fn launch(
    request: &Request<'_>,
    i: &revamp_parallel_for_each_info,
    remember: bool,
    options: Option<AsyncOptions>,
) -> Result<Option<Arc<Completion>>> {
    let &Request { view: requested_view, extent, tile, block, arguments, .. } = request;
    let form = i.row_function.map(HostFunction::Row).or(i.function.map(HostFunction::Thread));
    let view = if requested_view.is_null() { None } else { Some(get::<AcceleratorView, _>(requested_view)?) };
    let mut launch_arguments = SmallVec::new();
    // SAFETY: the same contract.
    unsafe { read_arguments(arguments, block.len(), &mut launch_arguments) }?;
    let compiled_kernel = if i.compiled.is_null() { None } else { compiled::find(i.compiled.addr())? };
    let native = compiled_kernel.as_ref().and_then(|compiled| NativeForm::of(compiled, tile, block.len() as u64));
    let by_threads = compiled_kernel.as_ref().filter(|_| native.is_none());
    let by_threads = by_threads.and_then(|compiled| HostFunction::of(compiled, block.len()));
    let context = Context(i.context);
    let runnable = Runnable { form, compiled_kernel, native, by_threads, extent: Cow::Borrowed(extent), context };
    let runs_here = Cell::new(false);
    let kernel = |block: &Block| {
        runs_here.set(true);
        runnable.make(block)
    };
    let launch = FunctionLaunch {
        extent,
        tile,
        tile_memory: i.tile_memory,
        arguments: &launch_arguments,
        block,
        block_align: i.block_alignment,
        kernel: runnable.is_some().then_some(&kernel as &MakeKernel<'_>),
        compiled: runnable.compiled_kernel.as_ref(),
        after: &[],
        timer: None,
    };
    let mut repeat = None;
    let cache_slot = remember.then_some(&mut repeat);
    let begun = match options {
        None => {
            function::launch_function(view, &launch, cache_slot)?;
            None
        }
        Some(options) => {
            let kept = || -> Option<KeptKernel> {
                runs_here.set(true);
                let kept = runnable.is_some().then(|| runnable.kept())?;
                Some(Box::new(move |block: &Block| kept.make(block)))
            };
            Some(function::launch_function_async(view, &launch, kept, options, cache_slot)?)
        }
    };
    if let Some(repeat) = repeat {
        launch_request::keep(request, repeat);
    }
    // This is early enough: the caller's module stays loaded until this call returns.
    if let Some(address) = runnable.address().filter(|_| runs_here.get()) {
        loaded::keep(address);
    }
    Ok(begun)
}

/// Waits until all threads of the tile have reached the barrier, and orders their memory accesses
/// (C++ AMP's tile_barrier::wait). Call it only in a tiled host kernel, with the calling thread's own
/// id. All threads of a tile must call it equally often.
/// Errors: REVAMP_ERROR_RUNTIME outside a tiled host kernel. In a host kernel that is not tiled, the
/// launch fails too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_tile_barrier_wait(id: *const revamp_thread_id) -> revamp_status {
    guard_end(|| barrier(id))
}

fn barrier(id: *const revamp_thread_id) -> Result<()> {
    // SAFETY: the caller passes the id its kernel thread was given.
    let (thread, kernel_thread) = (unsafe { thread_of(&id) }?, RUNNING_THREAD.get());
    let waited = thread.barrier();
    // Other threads of the tile ran meanwhile and set their own pointers.
    RUNNING_THREAD.set(kernel_thread);
    waited
}

/// Makes the launch of a host kernel fail with REVAMP_ERROR_RUNTIME and `message`: waiting for the
/// launch returns this error. Call it in the kernel with the calling thread's own id (in a row
/// kernel: `first`). The function should then return as soon as it can; threads that have not
/// begun may not run at all. Only the first failure of a launch is reported.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_host_kernel_fail(id: *const revamp_thread_id, message: *const c_char) -> revamp_status {
    guard_end(|| {
        // SAFETY: the caller passes the id its kernel thread was given, and a text.
        let (thread, message) = unsafe { (thread_of(&id)?, pointer::text(message, "message")) };
        thread.fail(message.map_or_else(|e| e, |text| Error::runtime(text.to_owned())));
        Ok(())
    })
}

/// The thread that an id denotes.
///
/// # Safety
/// `id` is NULL or the id of a kernel thread that has not returned.
unsafe fn thread_of(id: &*const revamp_thread_id) -> Result<&ThreadId<'_>> {
    pointer::check_out(id.cast_mut(), "id")?;
    // SAFETY: not null; it lives until the kernel thread returns.
    let internal = unsafe { (**id).internal };
    pointer::check_out(internal.cast_mut(), "id->internal")?;
    // SAFETY: `internal` is the ThreadId that Function::run put there, alive as long as the id.
    Ok(unsafe { &*internal.cast::<ThreadId<'_>>() })
}
