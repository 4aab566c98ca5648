//! The state of the process: whether calls are still possible (decision 27).

use crate::config;
use crate::devices;
use crate::error::{Error, ErrorKind, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

static ENDING: AtomicBool = AtomicBool::new(false);
static FORKED: AtomicBool = AtomicBool::new(false);
static GPU_DRIVER: AtomicBool = AtomicBool::new(false);
/// How many validation messages calls have already reported.
static REPORTED: AtomicU64 = AtomicU64::new(0);

/// Fails if calls are no longer possible.
pub fn enter() -> Result<()> {
    if FORKED.load(Ordering::Relaxed) {
        return Err(Error::new(
            ErrorKind::Forked,
            "the process was forked after it used revamp, so revamp cannot be used in the child; call exec, or use \
             revamp only in the child",
        ));
    }
    if ENDING.load(Ordering::SeqCst) {
        return Err(Error::new(ErrorKind::ShutDown, "the process is exiting; revamp has finished its work"));
    }
    Ok(())
}

/// Calls under way, in several counters, so that threads do not share a cache line.
static CALLS: [Calls; 32] = [const { Calls(AtomicUsize::new(0)) }; 32];

#[repr(align(128))]
struct Calls(AtomicUsize);

/// A call under way. The exit hook waits for those on other threads: they may be inside the driver.
pub struct CallGuard(&'static AtomicUsize);

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

thread_local! {
    /// The index of this thread's counter.
    static COUNTER: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let _ = AT_END.try_with(|_| ());
        NEXT.fetch_add(1, Ordering::Relaxed) % CALLS.len()
    };
}

/// Begins a call; fails like [`enter`].
pub fn begin() -> Result<CallGuard> {
    let counter = counter();
    // Counted first, then checked. The exit hook does it in the opposite order, so that one of the two sees the other.
    CALLS[counter].0.fetch_add(1, Ordering::SeqCst);
    let call = CallGuard(&CALLS[counter].0);
    enter()?;
    Ok(call)
}

/// The index of this thread's counter. Few threads share one.
pub(super) fn counter() -> usize {
    COUNTER.try_with(|p| *p).unwrap_or(0)
}

/// True if calls counted at `counter` are under way.
pub(super) fn is_calling(counter: usize) -> bool {
    CALLS[counter].0.load(Ordering::SeqCst) > 0
}

/// True if calls counted elsewhere are under way.
pub(super) fn others_are_calling(counter: usize) -> bool {
    (0..CALLS.len()).any(|other| other != counter && is_calling(other))
}

/// Marks the process as ending: no call is possible from then on. True the first time, and never in a forked child.
pub(super) fn end() -> bool {
    !is_forked() && !ENDING.swap(true, Ordering::SeqCst)
}

/// True in a forked child.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// True while the process ends: releasing an object then does nothing, and is no error.
pub fn ending() -> bool {
    ENDING.load(Ordering::Relaxed) && !FORKED.load(Ordering::Relaxed)
}

/// Whether anything is looked at around each call, so that a call learns it by one load: not known yet, nothing, something.
static LOOKS: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const NOTHING: u8 = 1;
const SOMETHING: u8 = 2;

/// False if neither the settings nor a kernel want a look around each call.
#[inline]
pub fn looks() -> bool {
    LOOKS.load(Ordering::Acquire) != NOTHING && decide()
}

#[cold]
fn decide() -> bool {
    let settings = config::get();
    let wanted = if settings.validation > 0 || settings.debug_printf { SOMETHING } else { NOTHING };
    // What a kernel has asked for stays.
    let found =
        LOOKS.compare_exchange(UNKNOWN, wanted, Ordering::AcqRel, Ordering::Acquire).map_or_else(|now| now, |_| wanted);
    found == SOMETHING
}

/// A kernel reports: from here on each call looks.
pub(super) fn look_from_now() {
    LOOKS.store(SOMETHING, Ordering::Release);
}

/// With `REVAMP_DEBUG_PRINTF=1`: fails if a kernel has called `direct3d_errorf` or `direct3d_abort` since the last call.
pub fn check_kernels() -> Result<()> {
    if !config::get().debug_printf {
        return Ok(());
    }
    devices::take_kernel_failure().map_or(Ok(()), |text| Err(Error::runtime(text)))
}

/// With `REVAMP_VALIDATION=2`: fails if the validation layer has reported an error since the last call.
pub fn check_validation() -> Result<()> {
    if config::get().validation < 2 {
        return Ok(());
    }
    let seen = devices::validation_messages();
    if REPORTED.fetch_max(seen, Ordering::Relaxed) < seen {
        let text = devices::last_validation_message().unwrap_or_default();
        return Err(Error::new(ErrorKind::Validation, text).context("Vulkan validation"));
    }
    Ok(())
}

/// Notes that the driver of a GPU was loaded.
pub(super) fn gpu_driver_loaded() {
    GPU_DRIVER.store(true, Ordering::Release);
}

/// How many threads are loading drivers, which register exit handlers meanwhile.
static LOADING: AtomicUsize = AtomicUsize::new(0);

/// A thread loads a driver, or makes it load its compiler.
pub(in crate::runtime) struct Loading(());

impl Loading {
    pub(in crate::runtime) fn new() -> Self {
        LOADING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Loading {
    /// The hook must run before all that was registered.
    fn drop(&mut self) {
        hook_exit();
        LOADING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Of each thread that called the library: exit() drops those of its own thread before it runs a handler.
struct AtEnd;

thread_local! {
    static AT_END: AtEnd = const { AtEnd };
}

impl Drop for AtEnd {
    /// If this is exit() while another thread loads a driver, the driver's handlers would run first, and that thread would
    /// use what they destroy.
    fn drop(&mut self) {
        if LOADING.load(Ordering::SeqCst) > 0 {
            hook_exit();
        }
    }
}

/// Registers the exit hook.
static HOOK_EXIT: OnceLock<fn()> = OnceLock::new();

/// Takes the function that registers the exit hook, and calls it.
pub fn set_hook_exit(register: fn()) {
    HOOK_EXIT.get_or_init(|| register)();
}

/// Registers the exit hook again, so that it runs before what a driver has registered since.
pub(super) fn hook_exit() {
    if let Some(register) = HOOK_EXIT.get().filter(|_| !is_forked()) {
        register();
    }
}

/// True in a forked child of a process that had opened a GPU: the driver's exit handlers would hang there.
pub fn must_skip_drivers_exit() -> bool {
    FORKED.load(Ordering::Relaxed) && GPU_DRIVER.load(Ordering::Relaxed)
}

/// The fork hook in the child, where the worker threads and the driver's state are missing.
pub fn in_forked_child() {
    FORKED.store(true, Ordering::SeqCst);
}
