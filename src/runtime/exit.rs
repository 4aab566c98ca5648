//! The exit hook: what is under way is finished, in a bounded time.
//!
//! exit() is called anywhere: in a host kernel, in a callback, in a signal handler that interrupted this library or malloc. So the
//! thread that calls it takes no lock and allocates nothing. It asks a thread that was made before, and waits: without end for nothing.

use super::{process, source};
use crate::device::host::system::say;
use crate::device::host::threads::{is_ours, spawn_named};
use crate::log;
use crate::trace::log::{Level, enabled};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// How long work that is under way may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same where the end was asked for inside of a call or by a thread of the library: what these hold is never let go.
const INSIDE: Duration = Duration::from_secs(2);
/// The part of it in which calls of other threads may end: they may be inside the driver.
const CALLS: u32 = 4;
/// Between two looks of the thread that waits.
const LOOK: Duration = Duration::from_micros(100);

/// The thread that finishes the work; nothing if the system gave none.
static FINISHER: OnceLock<Option<Thread>> = OnceLock::new();
static ASKED: AtomicBool = AtomicBool::new(false);
/// The place at which the thread that ends the process counts its calls.
static PLACE: AtomicUsize = AtomicUsize::new(0);
/// What is being finished: a number of [`STEPS`], their number at the end.
static STEP: AtomicUsize = AtomicUsize::new(0);

/// What is finished, in this order.
const STEPS: [&str; 3] = ["calls of other threads", "writing back array_views", "launches, copies and callbacks"];

/// Makes the thread, at the first use of a device: there is something to finish from then on.
pub(super) fn prepare() {
    FINISHER.get_or_init(|| match spawn_named("revamp-exit", serve) {
        Ok(thread) => Some(thread.thread().clone()),
        Err(e) => {
            log!(Warn, "{e}; what is not waited for may be lost at the end of the process");
            None
        }
    });
}

fn serve() {
    while !ASKED.load(Ordering::SeqCst) {
        std::thread::park();
    }
    finish(PLACE.load(Ordering::SeqCst), patience() / CALLS);
}

/// How long the process may take to end.
fn patience() -> Duration {
    if INSIDE_OF_US.load(Ordering::SeqCst) { INSIDE } else { PATIENCE }
}

static INSIDE_OF_US: AtomicBool = AtomicBool::new(false);

fn finish(place: usize, for_calls: Duration) {
    let end = Instant::now() + for_calls;
    while process::others_are_calling(place) && Instant::now() < end {
        std::thread::sleep(LOOK);
    }
    STEP.store(1, Ordering::SeqCst);
    let runtime = super::RUNTIME.read().clone();
    if let Some(runtime) = runtime {
        source::write_back_all();
        STEP.store(2, Ordering::SeqCst);
        process::finish(&runtime);
        // What is left goes with the process: drivers do not like to be torn down from an exit handler.
        std::mem::forget(runtime);
    }
    STEP.store(STEPS.len(), Ordering::SeqCst);
}

/// The exit hook: finishes all work. Calls that come later do nothing.
pub fn at_exit() {
    if !process::end() {
        return;
    }
    // Without it no device was used.
    let Some(finisher) = FINISHER.get() else { return };
    let place = process::place();
    let inside = is_ours() || process::is_calling(place);
    PLACE.store(place, Ordering::SeqCst);
    INSIDE_OF_US.store(inside, Ordering::SeqCst);
    match finisher {
        Some(thread) => {
            ASKED.store(true, Ordering::SeqCst);
            thread.unpark();
        }
        None if inside => {}
        None => finish(place, PATIENCE / CALLS),
    }
    let end = Instant::now() + patience();
    while STEP.load(Ordering::SeqCst) < STEPS.len() {
        if finisher.is_none() || Instant::now() >= end {
            return tell_loss(inside);
        }
        std::thread::sleep(LOOK);
    }
}

/// Says what is lost, without the log: its lock and memory may be held by what was interrupted.
fn tell_loss(inside: bool) {
    if !enabled(Level::Error) {
        return;
    }
    say("revamp [error] the process exits and work is lost: ");
    say(STEPS.get(STEP.load(Ordering::SeqCst)).copied().unwrap_or_default());
    say(if inside {
        " did not end within 2 s; exit() was called in a host kernel, a callback, or a signal handler in a call of the library\n"
    } else {
        " did not end within 30 s\n"
    });
}
