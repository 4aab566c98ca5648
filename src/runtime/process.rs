//! The state of the process: whether it is exiting or was forked, so that calls of the library fail (decision 27), and which calls
//! are under way.

use crate::config;
use crate::devices;
use crate::error::{Error, ErrorKind, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};

static ENDING: AtomicBool = AtomicBool::new(false);
static FORKED: AtomicBool = AtomicBool::new(false);
static GPU_DRIVER: AtomicBool = AtomicBool::new(false);
/// The number of validation messages that calls have already reported.
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

/// The number of calls under way, in several counters, so that few threads share a cache line.
static CALLS: [Calls; 32] = [const { Calls(AtomicUsize::new(0)) }; 32];

#[repr(align(128))]
struct Calls(AtomicUsize);

/// A call under way. The exit hook waits for calls of other threads, because these calls may be inside the driver.
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
    // Counts the call first, then checks whether the process ends. The exit hook does the opposite, so either this call or the hook
    // sees the other.
    CALLS[counter].0.fetch_add(1, Ordering::SeqCst);
    let call = CallGuard(&CALLS[counter].0);
    enter()?;
    Ok(call)
}

/// The index of this thread's counter. Few threads share a counter.
pub(super) fn counter() -> usize {
    COUNTER.try_with(|p| *p).unwrap_or(0)
}

/// True if calls counted at `counter` are under way.
pub(super) fn is_calling(counter: usize) -> bool {
    CALLS[counter].0.load(Ordering::SeqCst) > 0
}

/// True if calls counted by other counters are under way.
pub(super) fn others_are_calling(counter: usize) -> bool {
    (0..CALLS.len()).any(|other| other != counter && is_calling(other))
}

/// Marks the process as exiting, so that further calls fail. True for the first call; always false in a forked child.
pub(super) fn end() -> bool {
    !is_forked() && !ENDING.swap(true, Ordering::SeqCst)
}

/// True in a forked child.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// True while the process exits. Releasing an object then does nothing, and is not an error.
pub fn ending() -> bool {
    ENDING.load(Ordering::Relaxed) && !FORKED.load(Ordering::Relaxed)
}

/// Whether each call checks for messages of the validation layer or of kernels: [`UNKNOWN`], [`NOTHING`] to check, or
/// [`SOMETHING`] to check. One byte, so that each call needs only one load.
static CALL_CHECKS: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const NOTHING: u8 = 1;
const SOMETHING: u8 = 2;

/// True if the settings or a kernel require checks at each call.
#[inline]
pub fn needs_call_checks() -> bool {
    CALL_CHECKS.load(Ordering::Acquire) != NOTHING && decide()
}

#[cold]
fn decide() -> bool {
    let settings = config::get();
    let wanted = if settings.validation > 0 || settings.debug_printf { SOMETHING } else { NOTHING };
    // Keeps the value if [`check_each_call_from_now`] has set it meanwhile.
    let found = CALL_CHECKS
        .compare_exchange(UNKNOWN, wanted, Ordering::AcqRel, Ordering::Acquire)
        .map_or_else(|now| now, |_| wanted);
    found == SOMETHING
}

/// Makes each call check for messages from now on, because a kernel that can report errors was loaded.
pub(super) fn check_each_call_from_now() {
    CALL_CHECKS.store(SOMETHING, Ordering::Release);
}

/// With `REVAMP_DEBUG_PRINTF=1`: fails if a kernel has called `direct3d_errorf` or `direct3d_abort` since the last check.
pub fn check_kernels() -> Result<()> {
    if !config::get().debug_printf {
        return Ok(());
    }
    devices::take_kernel_failure().map_or(Ok(()), |text| Err(Error::runtime(text)))
}

/// With `REVAMP_VALIDATION=2`: fails if the validation layer has reported an error since the last check.
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

/// Records that the driver of a GPU was loaded.
pub(super) fn gpu_driver_loaded() {
    GPU_DRIVER.store(true, Ordering::Release);
}

/// The number of threads that are loading drivers. Drivers register exit handlers while they are loaded.
static LOADING: AtomicUsize = AtomicUsize::new(0);

/// Exists while a thread loads a driver, or makes the driver load its compiler.
pub(in crate::runtime) struct Loading(());

impl Loading {
    pub(in crate::runtime) fn new() -> Self {
        LOADING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Loading {
    /// Registers the exit hook again, because the hook must run before the exit handlers that the driver has registered.
    fn drop(&mut self) {
        hook_exit();
        LOADING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A thread-local object of each thread that called the library. exit() drops the object of the calling thread before it runs
/// exit handlers.
struct AtEnd;

thread_local! {
    static AT_END: AtEnd = const { AtEnd };
}

impl Drop for AtEnd {
    /// Registers the exit hook again if another thread is loading a driver. Otherwise the exit handlers of that driver would run
    /// first, and the other thread would use objects that these handlers have destroyed.
    fn drop(&mut self) {
        if LOADING.load(Ordering::SeqCst) > 0 {
            hook_exit();
        }
    }
}

/// The function that registers the exit hook.
static HOOK_EXIT: OnceLock<fn()> = OnceLock::new();

/// Stores the function that registers the exit hook, and calls it.
pub fn set_hook_exit(register: fn()) {
    HOOK_EXIT.get_or_init(|| register)();
}

/// Registers the exit hook again, so that it runs before handlers that a driver has registered since.
pub(super) fn hook_exit() {
    if let Some(register) = HOOK_EXIT.get().filter(|_| !is_forked()) {
        register();
    }
}

/// True in a forked child of a process that had opened a GPU: the driver's exit handlers would hang there.
pub fn must_skip_drivers_exit() -> bool {
    FORKED.load(Ordering::Relaxed) && GPU_DRIVER.load(Ordering::Relaxed)
}

/// Called in the child after fork(). The child lacks the worker threads and the state of the driver.
pub fn in_forked_child() {
    FORKED.store(true, Ordering::SeqCst);
}
