//! Kernels that are functions of the program, run by the host-thread accelerator, and those
//! compiled of them.

use super::array::dimensions;
use super::guard::{guard, guard_end};
use super::handle::get;
use super::kernel::{address_slot, argument_section, arguments, narrow_bits, undeclared};
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

/// The function of a kernel, by what each of its calls runs.
#[derive(Clone, Copy)]
enum HostFunction {
    Thread(unsafe extern "C" fn(*const revamp_thread_id, *mut c_void)),
    Row(unsafe extern "C" fn(*const revamp_thread_id, u32, *mut c_void)),
    /// The kernel compiler's, of either kind. It asks revamp_kernel_thread() for the rest.
    Compiled(unsafe extern "C" fn(*mut c_void)),
}

/// What a function of the kernel compiler runs now: `kernel_thread` in device_on_host.h.
#[repr(C)]
pub struct KernelThread {
    id: *const revamp_thread_id,
    count: u32,
    /// Which of these runs: the kernel's own.
    running: u32,
    /// Where the thread goes on that ends early: the kernel's own.
    end: *mut c_void,
}

thread_local! {
    static RUNS: Cell<*mut KernelThread> = const { Cell::new(std::ptr::null_mut()) };
}

/// What the calling thread of a compiled kernel is.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub extern "C" fn revamp_kernel_thread() -> *mut KernelThread {
    RUNS.get()
}

/// Makes the launch of the calling thread fail with a text, the line of the program, if it is known, and the thread's index. `shown`:
/// they are printed too.
/// cbindgen:ignore
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_kernel_fail(text: *const c_char, shown: bool, file: *const c_char, line: u32) {
    let _ = guard_end(|| {
        // SAFETY: the library put it there, for as long as the thread runs.
        let runs = unsafe { RUNS.get().as_ref() }.ok_or_else(|| {
            Error::invalid(
                "revamp_kernel_fail() was called outside of a host kernel; call it only in the function of a launch",
            )
        })?;
        // SAFETY: the id of a thread that runs.
        let thread = unsafe { thread_of(&runs.id) }?;
        // SAFETY: texts of the kernel, or null. They need not be UTF-8, and the launch must fail whatever they are.
        let of = |text: *const c_char| (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy());
        let (text, file) = (of(text).unwrap_or_default(), of(file));
        let mut index: SmallVec<[i32; 4]> = SmallVec::from_slice(thread.global());
        if let Some(last) = index.last_mut() {
            *last += runs.running as i32;
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
    /// What the context points to, if it is a copy of the launch's block.
    _block: BlockCopy,
}

/// Why the program's function does not run in place of a native kernel.
const UNCHECKED: &str = "the kernel was compiled with -famp-bounds=zero. On host threads only native kernels check \
                         bounds then, and REVAMP_HOST_KERNELS=coroutines disables native kernels; unset it, or compile \
                         with -famp-bounds=report or without the option";

impl HostFunction {
    fn address(self) -> usize {
        match self {
            Self::Thread(function) => function as usize,
            Self::Row(function) => function as usize,
            Self::Compiled(function) => function as usize,
        }
    }

    /// That of a kernel which the kernel compiler made to be run by threads, with a block of this size.
    fn of(compiled: &Compiled, block: usize) -> Option<Self> {
        let native = compiled.native.filter(|native| native.by_threads && block as u64 == compiled.block_size)?;
        // SAFETY: the kernel compiler wrote this function's address, and its type is that.
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
    /// Calls the function for a thread, or a row of so many.
    fn call(&self, id: &revamp_thread_id, count: u32) {
        let context = self.context.get();
        // SAFETY: the caller of revamp_parallel_for_each vouches for the function and its context, the kernel compiler for its own.
        unsafe {
            match self.form {
                HostFunction::Thread(function) => function(id, context),
                HostFunction::Row(function) => function(id, count, context),
                HostFunction::Compiled(function) => {
                    let mut thread = KernelThread { id, count, running: 0, end: std::ptr::null_mut() };
                    RUNS.set(&raw mut thread);
                    function(context);
                    // A thread of the tile that waits at a barrier sets its own when it goes on.
                    RUNS.set(std::ptr::null_mut());
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
        // SAFETY: the caller vouches for the struct and its pointers.
        unsafe {
            with_request(view, info, |request, i| match launch_request::launch(request, drop)? {
                Outcome::Done(()) => Ok(()),
                Outcome::Open { remember } => launch(request, i, remember, None).map(drop),
            })
        }
    })
}

/// Like revamp_parallel_for_each(), but begins after the completions of `options` and gives a
/// completion of exactly this launch, which tells when it is done and with which status. Release it
/// with revamp_completion_release(). `options` may be NULL. What `info` and `options` point to is
/// read during the call only, except the context, and the handles in them may be released after it.
/// Errors: those of revamp_parallel_for_each(). What is only known when the launch begins is the
/// result of the completion.
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
                // A cached launch neither waits nor is timed.
                let is_plain = options.timer.is_none() && options.after.is_done();
                let of = |point| Completion::of(vec![point]);
                match if is_plain { launch_request::launch(request, of)? } else { Outcome::Open { remember: false } } {
                    Outcome::Done(begun) => Ok(Some(begun)),
                    Outcome::Open { remember } => launch(request, i, remember, Some(options)),
                }
            })
        }?;
        let begun = begun.ok_or_else(|| Error::internal("a launch without its completion"))?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { completion::give(completion, "completion", begun) }
    })
}

/// What host threads may run of a launch.
struct Runnable<'a> {
    form: Option<HostFunction>,
    found: Option<Arc<Compiled>>,
    native: Option<NativeForm>,
    by_threads: Option<HostFunction>,
    extent: Cow<'a, [i32]>,
    context: Context,
}

impl Runnable<'_> {
    /// True if there is anything.
    fn is_some(&self) -> bool {
        self.form.is_some() || self.native.is_some() || self.by_threads.is_some()
    }

    /// The same with its own memory.
    fn kept(&self) -> Runnable<'static> {
        Runnable { found: self.found.clone(), extent: Cow::Owned(self.extent.to_vec()), ..*self }
    }

    /// The address of the code that runs.
    fn address(&self) -> Option<usize> {
        self.native.map(NativeForm::address).or(self.by_threads.or(self.form).map(HostFunction::address))
    }

    /// Makes the kernel.
    fn make(&self, block: &Block) -> Result<Arc<dyn HostKernel>> {
        if let (Some(compiled), Some(form)) = (&self.found, self.native) {
            return Ok(Arc::new(NativeKernel::new(form, compiled, &self.extent, block)?));
        }
        if self.found.as_ref().and_then(|compiled| compiled.native).is_some_and(|native| native.checked) {
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

/// Reads the arguments of a launch into `used`, which is empty.
///
/// # Safety
/// Their pointers are valid as the header says.
unsafe fn read_arguments<'a>(
    arguments: &'a [revamp_argument],
    block: usize,
    used: &mut SmallVec<[FunctionArgument<'a>; 8]>,
) -> Result<()> {
    if arguments.len() > used.inline_size() {
        used.make_room(arguments.len())?;
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
        let access = undeclared(&section, access);
        let narrow_bits = if a.texture.is_null() { None } else { narrow_bits(a.texture)? };
        used.push(FunctionArgument { section, access, slot, narrow_bits });
    }
    Ok(())
}

/// Reads what is requested, and calls `go` with it.
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

/// Launches a function. With `options` it begins as these say, and its completion is returned. `remember`: as in [`Outcome`].
///
/// # Safety
/// The request's pointers and those of `i`, of which it was read, are valid as the header says.
unsafe fn launch(
    request: &Request<'_>,
    i: &revamp_parallel_for_each_info,
    remember: bool,
    options: Option<AsyncOptions>,
) -> Result<Option<Arc<Completion>>> {
    let &Request { view: asked, extent, tile, block, arguments, .. } = request;
    let form = i.row_function.map(HostFunction::Row).or(i.function.map(HostFunction::Thread));
    let view = if asked.is_null() { None } else { Some(get::<AcceleratorView, _>(asked)?) };
    let mut used = SmallVec::new();
    // SAFETY: the same contract.
    unsafe { read_arguments(arguments, block.len(), &mut used) }?;
    let found = if i.compiled.is_null() { None } else { compiled::find(i.compiled.addr())? };
    let native = found.as_ref().and_then(|compiled| NativeForm::of(compiled, tile, block.len() as u64));
    let by_threads = found.as_ref().filter(|_| native.is_none());
    let by_threads = by_threads.and_then(|compiled| HostFunction::of(compiled, block.len()));
    let context = Context(i.context);
    let runnable = Runnable { form, found, native, by_threads, extent: Cow::Borrowed(extent), context };
    let runs_here = Cell::new(false);
    let kernel = |block: &Block| {
        runs_here.set(true);
        runnable.make(block)
    };
    let launch = FunctionLaunch {
        extent,
        tile,
        tile_memory: i.tile_memory,
        arguments: &used,
        block,
        block_align: i.block_alignment,
        kernel: runnable.is_some().then_some(&kernel as &MakeKernel<'_>),
        compiled: runnable.found.as_ref(),
        after: &[],
        timer: None,
    };
    let mut repeat = None;
    let again = remember.then_some(&mut repeat);
    let begun = match options {
        None => {
            function::launch_function(view, &launch, again)?;
            None
        }
        Some(options) => {
            let kept = || -> Option<KeptKernel> {
                runs_here.set(true);
                let kept = runnable.is_some().then(|| runnable.kept())?;
                Some(Box::new(move |block: &Block| kept.make(block)))
            };
            Some(function::launch_function_async(view, &launch, kept, options, again)?)
        }
    };
    if let Some(repeat) = repeat {
        launch_request::keep(request, repeat);
    }
    // Until this call returns its caller's code is there.
    if let Some(address) = runnable.address().filter(|_| runs_here.get()) {
        loaded::keep(address);
    }
    Ok(begun)
}

/// Waits until all threads of the tile have reached the barrier, and orders their memory accesses
/// (C++ AMP's tile_barrier::wait). To be called only in a tiled host kernel, with the calling
/// thread's own id, and equally often by all threads of a tile.
/// Errors: REVAMP_ERROR_RUNTIME outside a tiled host kernel; a launch that is not tiled fails too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_tile_barrier_wait(id: *const revamp_thread_id) -> revamp_status {
    guard_end(|| barrier(id))
}

fn barrier(id: *const revamp_thread_id) -> Result<()> {
    // SAFETY: the caller passes the id its kernel thread was given.
    let (thread, runs) = (unsafe { thread_of(&id) }?, RUNS.get());
    let waited = thread.barrier();
    // Other threads of the tile ran meanwhile.
    RUNS.set(runs);
    waited
}

/// Makes the launch of a host kernel fail with REVAMP_ERROR_RUNTIME and `message`: waiting for the
/// launch returns that. To be called in the kernel with the calling thread's own id (in a row
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
