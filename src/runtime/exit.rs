//! The exit hook: finishes the work that is under way, within a bounded time.
//!
//! exit() may be called anywhere: in a host kernel, in a callback, in a signal handler that interrupted this library or
//! malloc. Therefore the thread that calls exit() takes no lock and allocates nothing. It wakes two threads that were created
//! earlier, and waits for a limited time. The first thread finishes the work. The second thread ends the process if exit()
//! does not return because the interrupted code holds a lock.

use crate::host::system::{end_process, write_to_stderr};
use crate::host::threads::{is_library_thread, spawn_named};
use crate::log;
use crate::runtime::process;
use crate::trace::log::{self, Level, enabled};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// The time for which exit() waits for work under way.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// The limit in place of [`TIME_LIMIT`] if exit() was called inside a call of the library or by a thread of the library. The
/// interrupted code may hold locks that are never released.
const TIME_LIMIT_INSIDE: Duration = Duration::from_secs(2);
/// The part of [`TIME_LIMIT`] in which calls of other threads must return. These calls may be inside the driver, or wait for an
/// event that never happens.
const CALLS_TIME_LIMIT: Duration = Duration::from_secs(2);
/// The part of [`TIME_LIMIT_INSIDE`] in which calls of other threads must return.
const CALLS_TIME_LIMIT_INSIDE: Duration = Duration::from_millis(500);
/// Polling interval of a waiting thread.
const POLL: Duration = Duration::from_micros(100);
/// Polling interval of a thread that has waited for long.
const LATE_POLL: Duration = Duration::from_millis(5);

/// The threads that run [`finish_all`] and [`watch_over`] after exit(). `None` if the system could not create them.
static EXIT_THREADS: OnceLock<Option<[Thread; 2]>> = OnceLock::new();
/// A function that fails the operations that only the program could complete, because calls of other threads may wait for
/// these operations.
static ABANDON: OnceLock<fn()> = OnceLock::new();
/// Two functions: the first writes back array_views, the second finishes launches, copies and callbacks.
static FINISH: OnceLock<[fn(); 2]> = OnceLock::new();
/// The call of exit(). Set once.
static EXIT_REQUEST: OnceLock<ExitRequest> = OnceLock::new();
/// The step under way, as an index of [`STEPS`]. `STEPS.len()` when all steps are done.
static STEP: AtomicUsize = AtomicUsize::new(0);
/// True once the hook no longer waits.
static HOOK_ENDED: AtomicBool = AtomicBool::new(false);

/// The steps of the hook, in this order.
const STEPS: [&str; 3] = ["calls of other threads", "writing back array_views", "launches, copies and callbacks"];

#[derive(Clone, Copy)]
struct ExitRequest {
    /// The status given to exit(), if the system provides it.
    status: Option<i32>,
    /// The index of the call counter of the thread that called exit().
    counter: usize,
    /// True if exit() was called inside a call of the library or by a thread of the library.
    inside: bool,
}

impl ExitRequest {
    fn time_limit(self) -> Duration {
        if self.inside { TIME_LIMIT_INSIDE } else { TIME_LIMIT }
    }
}

/// Creates the two threads of the exit hook. Called at the first use of a device, because no work can be pending before.
pub(super) fn prepare(abandon: fn(), finish: [fn(); 2]) {
    let _ = ABANDON.set(abandon);
    let _ = FINISH.set(finish);
    EXIT_THREADS.get_or_init(|| {
        let made = spawn_named("revamp-exit", || finish_all(wait_for_end()))
            .and_then(|first| Ok([first, spawn_named("revamp-exit", || watch_over(wait_for_end()))?]));
        match made {
            Ok(threads) => Some(threads.map(|t| t.thread().clone())),
            Err(e) => {
                log!(Warn, "{e}; pending work may be lost at the end of the process");
                None
            }
        }
    });
}

fn wait_for_end() -> ExitRequest {
    loop {
        match EXIT_REQUEST.get() {
            Some(ending) => return *ending,
            None => std::thread::park(),
        }
    }
}

/// Ends the process if exit() does not return. If exit() was called in a signal handler that interrupted malloc, the C library
/// waits forever for a lock that the calling thread itself holds.
fn watch_over(ending: ExitRequest) {
    let Some(status) = ending.status.filter(|_| ending.inside) else { return };
    while !HOOK_ENDED.load(Ordering::SeqCst) {
        std::thread::sleep(POLL);
    }
    std::thread::sleep(TIME_LIMIT);
    write_to_stderr(
        "revamp [error] exit() was called inside of the library and does not return, so revamp ends the process\n",
    );
    end_process(status);
}

fn finish_all(ending: ExitRequest) {
    ABANDON.get().into_iter().for_each(|abandon| abandon());
    let end = Instant::now() + if ending.inside { CALLS_TIME_LIMIT_INSIDE } else { CALLS_TIME_LIMIT };
    while process::others_are_calling(ending.counter) && Instant::now() < end {
        std::thread::sleep(POLL);
    }
    for (number, step) in FINISH.get().into_iter().flatten().enumerate() {
        STEP.store(number + 1, Ordering::SeqCst);
        step();
    }
    log::deliver();
    STEP.store(STEPS.len(), Ordering::SeqCst);
}

/// The exit hook: finishes all work. Only the first call has an effect.
pub fn at_exit(status: Option<i32>) {
    if !process::end() {
        return;
    }
    // `EXIT_THREADS` is unset if no device was used.
    let Some(waiting) = EXIT_THREADS.get() else { return };
    let counter = process::counter();
    let ending = ExitRequest { status, counter, inside: is_library_thread() || process::is_calling(counter) };
    let _ = EXIT_REQUEST.set(ending);
    match waiting {
        Some(threads) => threads.iter().for_each(Thread::unpark),
        None if ending.inside => return report_loss(ending, STEPS[0]),
        None => return finish_all(ending),
    }
    let begun = Instant::now();
    loop {
        let passed = begun.elapsed();
        // Read after the time, because the last step may have ended meanwhile.
        let Some(step) = STEPS.get(STEP.load(Ordering::SeqCst)) else { break };
        if passed >= ending.time_limit() {
            report_loss(ending, step);
            break;
        }
        std::thread::sleep(if passed < LATE_POLL * 10 { POLL } else { LATE_POLL });
    }
    HOOK_ENDED.store(true, Ordering::SeqCst);
}

/// Reports that the work of `step` is lost. Does not use the log, because the interrupted code may hold the locks of the log and of
/// malloc.
fn report_loss(ending: ExitRequest, step: &str) {
    if !enabled(Level::Error) {
        return;
    }
    write_to_stderr("revamp [error] the process exits and work is lost: ");
    write_to_stderr(step);
    write_to_stderr(if ending.inside {
        " did not end within 2 s; exit() was called in a host kernel, a callback, or a signal handler in a call of the library\n"
    } else {
        " did not end within 30 s\n"
    });
}
