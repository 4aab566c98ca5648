//! The state of the process: whether calls are still possible (decision 27).

use crate::config;
use crate::devices;
use crate::error::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

static ENDING: AtomicBool = AtomicBool::new(false);
static FORKED: AtomicBool = AtomicBool::new(false);
static DRIVER_LOADED: AtomicBool = AtomicBool::new(false);
static GPU_DRIVER: AtomicBool = AtomicBool::new(false);
/// How many validation messages calls have already reported.
static REPORTED: AtomicU64 = AtomicU64::new(0);

/// Fails if calls are no longer possible.
pub fn enter() -> Result<()> {
    if FORKED.load(Ordering::Relaxed) {
        return Err(Error::new(
            ErrorKind::Forked,
            "the process was forked after revamp was used; GPU work is not possible in the child: call exec, or use \
             revamp in the child only",
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

/// Notes that a driver was loaded: its exit handlers, registered later than the library's, would run before that.
pub(super) fn driver_loaded(is_gpu: bool) {
    DRIVER_LOADED.store(true, Ordering::Release);
    if is_gpu {
        GPU_DRIVER.store(true, Ordering::Release);
    }
}

/// True in a forked child of a process that had opened a GPU: the driver's exit handlers would hang there.
pub fn must_skip_drivers_exit() -> bool {
    FORKED.load(Ordering::Relaxed) && GPU_DRIVER.load(Ordering::Relaxed)
}

/// True if the exit hook must be registered again, to run before the driver's.
pub fn needs_hook() -> bool {
    DRIVER_LOADED.load(Ordering::Relaxed) && DRIVER_LOADED.swap(false, Ordering::AcqRel)
}

/// The fork hook in the child, where the worker threads and the driver's state are missing.
pub fn in_forked_child() {
    FORKED.store(true, Ordering::SeqCst);
}
