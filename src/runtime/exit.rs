//! The exit hook: what is under way is finished, in a bounded time.
//!
//! exit() is called anywhere: in a host kernel, in a callback, in a signal handler that interrupted this library or malloc. So the
//! thread that calls it takes no lock and allocates nothing. It asks threads that were made before, and waits for a while. They are
//! two, since what was interrupted may hold up the one that finishes the work.

use crate::host::system::{end_process, say};
use crate::host::threads::{is_ours, spawn_named};
use crate::log;
use crate::runtime::process;
use crate::trace::log::{self, Level, enabled};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How long work that is under way may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same where the end was asked for inside of a call or by a thread of the library: what these hold is never let go.
const INSIDE: Duration = Duration::from_secs(2);
/// How long of that calls of other threads may take to end: they may be inside the driver, or wait for what never comes.
const CALLS: Duration = Duration::from_secs(2);
/// The same for the end inside.
const CALLS_INSIDE: Duration = Duration::from_millis(500);
/// Between two looks of a thread that waits for the end.
const POLL: Duration = Duration::from_micros(100);
/// The same for an end that takes long.
const LATE_POLL: Duration = Duration::from_millis(5);

/// The threads that are there for the end: one finishes the work, one watches over the end. Nothing if the system gave none.
static WAITING: OnceLock<Option<[Thread; 2]>> = OnceLock::new();
/// Writes back array_views; finishes launches, copies and callbacks.
static FINISH: OnceLock<[fn(); 2]> = OnceLock::new();
/// How the process ends; written once.
static ENDING: OnceLock<Ending> = OnceLock::new();
/// What is being finished: a number of [`STEPS`], their number at the end.
static STEP: AtomicUsize = AtomicUsize::new(0);
/// The hook waits no more.
static LEFT: AtomicBool = AtomicBool::new(false);

/// What is finished, in this order.
const STEPS: [&str; 3] = ["calls of other threads", "writing back array_views", "launches, copies and callbacks"];

#[derive(Clone, Copy)]
struct Ending {
    /// What exit() was given, where the system tells.
    status: Option<i32>,
    /// The place at which the thread that called it counts its calls.
    place: usize,
    /// It did so inside of a call, or is a thread of the library.
    inside: bool,
}

impl Ending {
    fn patience(self) -> Duration {
        if self.inside { INSIDE } else { PATIENCE }
    }
}

/// Makes the threads, at the first use of a device: there is something to finish from then on.
pub(super) fn prepare(finish: [fn(); 2]) {
    let _ = FINISH.set(finish);
    WAITING.get_or_init(|| {
        // There the other threads are gone when the hook of a library runs.
        if cfg!(windows) {
            return None;
        }
        let made = spawn_named("revamp-exit", || finish_all(wait_for_end()))
            .and_then(|first| Ok([first, spawn_named("revamp-exit", || watch_over(wait_for_end()))?]));
        match made {
            Ok(threads) => Some(threads.map(|t| t.thread().clone())),
            Err(e) => {
                log!(Warn, "{e}; what is not waited for may be lost at the end of the process");
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

/// Where malloc was interrupted, the C library itself waits for ever for a lock that its own thread holds.
fn watch_over(ending: Ending) {
    let Some(status) = ending.status.filter(|_| ending.inside) else { return };
    while !LEFT.load(Ordering::SeqCst) {
        std::thread::sleep(POLL);
    }
    std::thread::sleep(PATIENCE);
    say("revamp [error] exit() was called inside of the library and does not end: the process is ended\n");
    end_process(status);
}

fn finish_all(ending: Ending) {
    let end = Instant::now() + if ending.inside { CALLS_INSIDE } else { CALLS };
    while process::others_are_calling(ending.place) && Instant::now() < end {
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
    let place = process::place();
    let ending = Ending { status, place, inside: is_ours() || process::is_calling(place) };
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

/// Says what is lost, without the log: its lock and memory may be held by what was interrupted.
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
