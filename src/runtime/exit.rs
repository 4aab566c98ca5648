//! The exit hook: finishes the work that is under way, within a bounded time.
//!
//! exit() may be called anywhere: in a host kernel, in a callback, in a signal handler that interrupted this library or
//! malloc. So the thread that calls it takes no lock and allocates nothing: it wakes threads made earlier, and waits for a
//! while. There are two of them, since the interrupted code may block the one that finishes the work.

use crate::host::system::{end_process, say};
use crate::host::threads::{is_ours, spawn_named};
use crate::log;
use crate::runtime::process;
use crate::trace::log::{self, Level, enabled};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How long work under way may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same if exit() was called inside of a call or by a thread of the library, which may hold locks that are never
/// released.
const INSIDE: Duration = Duration::from_secs(2);
/// How much of that time calls of other threads may take to end: they may be inside the driver, or wait for something that
/// never comes.
const CALLS: Duration = Duration::from_secs(2);
/// The same if exit() was called inside of a call.
const CALLS_INSIDE: Duration = Duration::from_millis(500);
/// How often a waiting thread looks whether the work is finished.
const POLL: Duration = Duration::from_micros(100);
/// The same once it has waited for long.
const LATE_POLL: Duration = Duration::from_millis(5);

/// The two threads: one finishes the work, the other watches over it. `None` if the system could not create them.
static WAITING: OnceLock<Option<[Thread; 2]>> = OnceLock::new();
/// Lets the operations fail that only the program could complete: calls of other threads may wait for them.
static ABANDON: OnceLock<fn()> = OnceLock::new();
/// The functions that write back array_views, and that finish launches, copies and callbacks.
static FINISH: OnceLock<[fn(); 2]> = OnceLock::new();
/// How the process ends; written once.
static ENDING: OnceLock<Ending> = OnceLock::new();
/// The step under way, as an index of [`STEPS`]; their number when all are done.
static STEP: AtomicUsize = AtomicUsize::new(0);
/// True once the hook no longer waits.
static LEFT: AtomicBool = AtomicBool::new(false);

/// What is finished, in this order.
const STEPS: [&str; 3] = ["calls of other threads", "writing back array_views", "launches, copies and callbacks"];

#[derive(Clone, Copy)]
struct Ending {
    /// The status given to exit(), where the system tells it.
    status: Option<i32>,
    /// The index of the counter for calls of the thread that called exit().
    counter: usize,
    /// True if that was inside of a call or on a thread of the library.
    inside: bool,
}

impl Ending {
    fn patience(self) -> Duration {
        if self.inside { INSIDE } else { PATIENCE }
    }
}

/// Creates the threads, at the first use of a device: from then on there may be something to finish.
pub(super) fn prepare(abandon: fn(), finish: [fn(); 2]) {
    let _ = ABANDON.set(abandon);
    let _ = FINISH.set(finish);
    WAITING.get_or_init(|| {
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

fn wait_for_end() -> Ending {
    loop {
        match ENDING.get() {
            Some(ending) => return *ending,
            None => std::thread::park(),
        }
    }
}

/// If malloc was interrupted, the C library itself waits forever for a lock that its own thread holds.
fn watch_over(ending: Ending) {
    let Some(status) = ending.status.filter(|_| ending.inside) else { return };
    while !LEFT.load(Ordering::SeqCst) {
        std::thread::sleep(POLL);
    }
    std::thread::sleep(PATIENCE);
    say("revamp [error] exit() was called inside of the library and does not return, so revamp ends the process\n");
    end_process(status);
}

fn finish_all(ending: Ending) {
    ABANDON.get().into_iter().for_each(|abandon| abandon());
    let end = Instant::now() + if ending.inside { CALLS_INSIDE } else { CALLS };
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

/// The exit hook: finishes all work. Calls that come later do nothing.
pub fn at_exit(status: Option<i32>) {
    if !process::end() {
        return;
    }
    // Without it no device was used.
    let Some(waiting) = WAITING.get() else { return };
    let counter = process::counter();
    let ending = Ending { status, counter, inside: is_ours() || process::is_calling(counter) };
    let _ = ENDING.set(ending);
    match waiting {
        Some(threads) => threads.iter().for_each(Thread::unpark),
        None if ending.inside => return tell_loss(ending),
        None => return finish_all(ending),
    }
    let begun = Instant::now();
    while STEP.load(Ordering::SeqCst) < STEPS.len() {
        let passed = begun.elapsed();
        if passed >= ending.patience() {
            tell_loss(ending);
            break;
        }
        std::thread::sleep(if passed < LATE_POLL * 10 { POLL } else { LATE_POLL });
    }
    LEFT.store(true, Ordering::SeqCst);
}

/// Reports what is lost, without the log: the interrupted code may hold the log's lock and that of malloc.
fn tell_loss(ending: Ending) {
    if !enabled(Level::Error) {
        return;
    }
    say("revamp [error] the process exits and work is lost: ");
    say(STEPS.get(STEP.load(Ordering::SeqCst)).copied().unwrap_or_default());
    say(if ending.inside {
        " did not end within 2 s; exit() was called in a host kernel, a callback, or a signal handler in a call of the library\n"
    } else {
        " did not end within 30 s\n"
    });
}
