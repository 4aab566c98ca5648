//! The library's threads, and an elastic pool for jobs that may block.

use crate::config;
use crate::error::{Error, Result};
use crate::host::heap;
use crate::lock::{Condvar, Mutex, MutexGuard, rank, waits};
use crate::log;
use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// Bytes of stack of a thread.
const STACK_BYTES: usize = 2 << 20;

/// Bytes that the thread-local variables of the program and its libraries take from each thread's stack, with what the
/// system itself needs. The tile_static variables of C++ programs are among them, and may be large.
fn thread_locals() -> usize {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    return minimum::stack();
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    return 0;
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod minimum {
    #![allow(unsafe_code)]

    /// The smallest stack that a thread may have; 0 if this version of the C library does not tell.
    pub fn stack() -> usize {
        type Minimum = unsafe extern "C" fn(*const libc::pthread_attr_t) -> libc::size_t;
        // SAFETY: the name is a C string; a symbol of glibc of this name is this function, which ignores its argument.
        unsafe {
            let symbol = libc::dlsym(libc::RTLD_DEFAULT, c"__pthread_get_minstack".as_ptr());
            if symbol.is_null() {
                0
            } else {
                std::mem::transmute::<*mut libc::c_void, Minimum>(symbol)(std::ptr::null())
            }
        }
    }
}

thread_local! {
    static OURS: Cell<bool> = const { Cell::new(false) };
    static KERNELS: Cell<u32> = const { Cell::new(0) };
}

/// As long as it lives, this thread runs a host kernel.
pub struct InKernel(());

impl InKernel {
    /// Begins.
    pub fn enter() -> Self {
        KERNELS.set(KERNELS.get() + 1);
        Self(())
    }

    /// True if this thread runs a host kernel.
    pub fn is_here() -> bool {
        KERNELS.get() > 0
    }
}

impl Drop for InKernel {
    fn drop(&mut self) {
        KERNELS.set(KERNELS.get() - 1);
    }
}

/// True on a thread that the library created.
pub fn is_ours() -> bool {
    OURS.get()
}

/// Starts a thread that handles no signals: these are for the program's own threads.
pub fn spawn_named(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    if config::get().test.thread_fails() {
        return Err(Error::runtime(format!("no thread for {name}, because REVAMP_TEST asks for it")));
    }
    if !heap::has_memory() {
        return Err(Error::out_of_memory(format!("there is no memory for thread {name}; free some")));
    }
    // A thread inherits the mask, so there is no moment in which it could be chosen to handle a signal.
    let masked = signals::Blocked::new();
    let work = || {
        OURS.set(true);
        work();
    };
    let made = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES + thread_locals()).spawn(work);
    drop(masked);
    made.map_err(|e| {
        Error::runtime(format!(
            "thread {name} could not be created: {e}; end other threads, or raise the process's thread limit"
        ))
    })
}

/// The number of processors that this process may use.
pub fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Runs `work`; a panic becomes an error with its text.
pub fn caught<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = panic_text(&*payload);
        // The panic's payload may panic when it is dropped; the second payload is leaked, so that this ends.
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        text
    })
}

fn panic_text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without text".to_owned()
    }
}

/// A job of [`Tasks`].
pub type Task = Box<dyn FnOnce() + Send>;

/// How long an idle thread of [`Tasks`] waits for work before it ends.
pub const IDLE: Duration = Duration::from_secs(5);
/// Most threads of one [`Tasks`] while jobs end; further jobs are queued.
pub const MOST_THREADS: usize = 256;
/// If jobs are queued and none has begun for this long, the running jobs may be waiting for a queued one.
const STALL: Duration = Duration::from_millis(10);

/// Threads for jobs that may block: as many as there are jobs at once, kept a while for the next ones. Their number is
/// limited, but jobs cannot wait for each other forever: if no job begins for a while, a thread is added.
pub struct Tasks {
    shared: Arc<TaskShared>,
}

struct TaskShared {
    state: Mutex<TaskState, { rank::TASKS }>,
    work: Condvar,
    quiet: Condvar,
    idle_for: Duration,
    most: usize,
}

#[derive(Default)]
struct TaskState {
    queue: VecDeque<Task>,
    /// Threads, including those about to start.
    threads: usize,
    /// Threads that wait for work, including those already notified.
    idle: usize,
    running: usize,
    /// Running jobs that themselves wait in [`Tasks::drain`].
    draining: usize,
    /// Jobs that have begun.
    begun: u64,
    /// True while a thread watches whether queued jobs begin.
    watched: bool,
    closing: bool,
}

thread_local! {
    /// The [`Tasks`] of which this thread runs a job.
    static WITHIN: Cell<usize> = const { Cell::new(0) };
}

impl Default for Tasks {
    fn default() -> Self {
        Self::new()
    }
}

impl Tasks {
    /// A pool without threads; they start with jobs.
    pub fn new() -> Self {
        Self::with_limits(MOST_THREADS, IDLE)
    }

    /// A pool of at most `most` threads that end after `idle_for` without work.
    pub fn with_limits(most: usize, idle_for: Duration) -> Self {
        let state = Mutex::new(TaskState::default());
        Self {
            shared: Arc::new(TaskShared {
                state,
                work: Condvar::new(),
                quiet: Condvar::new(),
                idle_for,
                most: most.max(1),
            }),
        }
    }

    /// Runs `job` on a thread of the pool, soon unless all threads are busy. If it panics, that is logged.
    ///
    /// If the system can create no thread for it, the job runs here: the caller must hold no lock that it may need.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        if let Err(job) = self.try_spawn(Box::new(job)) {
            log!(Warn, "no thread could be created for a job; it runs on the calling thread");
            run_job(job);
        }
    }

    /// [`Self::spawn`], but gives the job back if the system can create no thread for it. Never runs it here.
    pub fn try_spawn(&self, job: Task) -> std::result::Result<(), Task> {
        let mut state = self.shared.state.lock();
        if state.idle <= state.queue.len() && state.threads < self.shared.most {
            state.threads += 1;
            state.running += 1;
            drop(state);
            return self.shared.start_with(job);
        }
        state.queue.push_back(job);
        self.shared.work.notify_one();
        if state.queue.len() > state.idle {
            self.shared.watch(state);
        }
        Ok(())
    }

    /// Waits until nothing runs and nothing is queued. If a job of this pool calls it, that job does not count.
    pub fn drain(&self) {
        let own = usize::from(WITHIN.get() == self.shared.key());
        let mut state = self.shared.state.lock();
        state.draining += own;
        self.shared.quiet.notify_all();
        while !state.is_quiet() {
            self.shared.quiet.wait(&mut state, rank::NONE);
        }
        state.draining -= own;
    }

    /// True if [`Tasks::drain`] would not wait.
    pub fn is_quiet(&self) -> bool {
        let own = usize::from(WITHIN.get() == self.shared.key());
        let state = self.shared.state.lock();
        state.queue.is_empty() && state.running <= state.draining + own
    }

    /// Threads that exist now.
    pub fn threads(&self) -> usize {
        self.shared.state.lock().threads
    }
}

impl Drop for Tasks {
    /// Lets queued jobs finish; threads end without being waited for.
    fn drop(&mut self) {
        self.shared.state.lock().closing = true;
        self.shared.work.notify_all();
    }
}

fn run_job(job: Task) {
    waits(rank::NONE);
    if let Err(text) = caught(job) {
        log!(Error, "a job panicked: {text}");
    }
    crate::trace::log::deliver();
}

impl TaskState {
    fn is_quiet(&self) -> bool {
        self.queue.is_empty() && self.running <= self.draining
    }
}

impl TaskShared {
    fn key(self: &Arc<Self>) -> usize {
        Arc::as_ptr(self).addr()
    }

    /// Starts a thread, already counted, with a job, already counted as running. Gives the job back if no thread can be
    /// created.
    fn start_with(self: &Arc<Self>, job: Task) -> std::result::Result<(), Task> {
        let first = Arc::new(Mutex::<_, { rank::TASK }>::new(Some(job)));
        let (shared, theirs) = (Arc::clone(self), Arc::clone(&first));
        let made = spawn_named("revamp-task", move || {
            let job = theirs.lock().take();
            shared.serve(job);
        });
        if made.is_ok() {
            return Ok(());
        }
        let mut state = self.state.lock();
        state.threads -= 1;
        self.ended(&mut state);
        drop(state);
        let job = first.lock().take();
        job.map_or(Ok(()), Err)
    }

    /// `first` counts as running.
    fn serve(self: Arc<Self>, first: Option<Task>) {
        WITHIN.set(self.key());
        if let Some(job) = first {
            run_job(job);
        }
        let mut state = self.state.lock();
        self.ended(&mut state);
        loop {
            if let Some(job) = state.queue.pop_front() {
                state.running += 1;
                state.begun += 1;
                MutexGuard::unlocked(&mut state, || run_job(job));
                self.ended(&mut state);
                continue;
            }
            if state.closing {
                break;
            }
            state.idle += 1;
            let late = self.work.wait_for(&mut state, rank::NONE, self.idle_for);
            state.idle -= 1;
            if late && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }

    /// Counts a job that has ended.
    fn ended(&self, state: &mut TaskState) {
        state.running -= 1;
        if state.is_quiet() {
            self.quiet.notify_all();
        }
    }

    /// Makes sure that jobs begin that are queued because of the limit of threads.
    fn watch(self: &Arc<Self>, mut state: MutexGuard<'_, TaskState>) {
        if state.watched || state.queue.len() <= state.idle {
            return;
        }
        state.watched = true;
        let begun = state.begun;
        drop(state);
        let shared = Arc::clone(self);
        if spawn_named("revamp-task", move || shared.look(begun)).is_err() {
            // The next job asks again.
            self.state.lock().watched = false;
        }
    }

    /// Becomes a further thread when no job has begun for a while.
    fn look(self: Arc<Self>, mut seen: u64) {
        loop {
            std::thread::sleep(STALL);
            let mut state = self.state.lock();
            if state.queue.len() <= state.idle {
                state.watched = false;
                return;
            }
            if std::mem::replace(&mut seen, state.begun) != state.begun {
                continue;
            }
            let job = state.queue.pop_front();
            state.watched = false;
            state.threads += 1;
            state.running += 1;
            state.begun += 1;
            self.watch(state);
            return self.serve(job);
        }
    }
}

#[cfg(unix)]
mod signals {
    #![allow(unsafe_code)]

    /// As long as it lives, all signals are blocked in this thread and in threads that it starts.
    pub struct Blocked {
        old: Option<libc::sigset_t>,
    }

    impl Blocked {
        pub fn new() -> Self {
            let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
            let mut old = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
            // SAFETY: both sets are this frame's own memory; `sigfillset` and `pthread_sigmask` write them whole
            // before they are read, and `old` is used only if the call succeeded.
            unsafe {
                libc::sigfillset(all.as_mut_ptr());
                let failed = libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), old.as_mut_ptr());
                Self { old: (failed == 0).then(|| old.assume_init()) }
            }
        }
    }

    impl Drop for Blocked {
        fn drop(&mut self) {
            if let Some(old) = &self.old {
                // SAFETY: `old` is the mask this very thread had before.
                unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old, std::ptr::null_mut()) };
            }
        }
    }
}

#[cfg(not(unix))]
mod signals {
    /// There are no signals to block on this system.
    pub struct Blocked;

    impl Blocked {
        pub fn new() -> Self {
            Self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    fn until(what: &str, mut done: impl FnMut() -> bool) {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(20), "{what} took too long");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn jobs_run_threads_are_reused_and_end() {
        let tasks = Tasks::with_limits(8, Duration::from_millis(50));
        let count = Arc::new(AtomicU64::new(0));
        for _ in 0..2000 {
            let count = Arc::clone(&count);
            tasks.spawn(move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        tasks.drain();
        assert_eq!(count.load(Ordering::Relaxed), 2000);
        // Eight, but for moments in which a busy machine let none begin.
        assert!(tasks.threads() < 100);
        until("ending of idle threads", || tasks.threads() == 0);
        let again = Arc::clone(&count);
        tasks.spawn(move || {
            again.fetch_add(1, Ordering::Relaxed);
        });
        tasks.drain();
        assert_eq!(count.load(Ordering::Relaxed), 2001);
    }

    #[test]
    fn blocking_jobs_do_not_starve_each_other() {
        let tasks = Tasks::with_limits(64, Duration::from_millis(50));
        let barrier = Arc::new(std::sync::Barrier::new(40));
        for _ in 0..40 {
            let barrier = Arc::clone(&barrier);
            // Passes only if all forty run at once.
            tasks.spawn(move || {
                barrier.wait();
            });
        }
        tasks.drain();
    }

    #[test]
    fn more_jobs_than_threads_may_wait_for_each_other() {
        let tasks = Tasks::with_limits(3, Duration::from_millis(50));
        let barrier = Arc::new(std::sync::Barrier::new(12));
        for _ in 0..12 {
            let barrier = Arc::clone(&barrier);
            tasks.spawn(move || {
                barrier.wait();
            });
        }
        tasks.drain();
        until("ending of further threads", || tasks.threads() == 0);
    }

    #[test]
    fn panics_are_contained_and_drain_works_from_several_threads() {
        let tasks = Arc::new(Tasks::with_limits(4, Duration::from_millis(50)));
        let count = Arc::new(AtomicU64::new(0));
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for i in 0..200 {
                        let count = Arc::clone(&count);
                        tasks.spawn(move || {
                            count.fetch_add(1, Ordering::Relaxed);
                            if i == 100 {
                                std::panic::resume_unwind(Box::new("on purpose"));
                            }
                        });
                        if i % 50 == 0 {
                            tasks.drain();
                        }
                    }
                });
            }
        });
        tasks.drain();
        assert_eq!(count.load(Ordering::Relaxed), 800);
    }

    #[test]
    fn a_job_may_drain_and_spawn_its_own_pool() {
        let tasks = Arc::new(Tasks::with_limits(4, Duration::from_millis(50)));
        let (send, receive) = std::sync::mpsc::channel();
        let inner = Arc::clone(&tasks);
        tasks.spawn(move || {
            let sent = send.clone();
            inner.spawn(move || sent.send(1).unwrap());
            inner.drain();
            send.send(2).unwrap();
        });
        assert_eq!(receive.iter().take(2).collect::<Vec<_>>(), [1, 2]);
        tasks.drain();
    }

    #[test]
    fn dropping_lets_queued_jobs_finish_and_threads_end() {
        let tasks = Tasks::with_limits(2, Duration::from_secs(60));
        let shared = Arc::clone(&tasks.shared);
        let count = Arc::new(AtomicU64::new(0));
        for _ in 0..100 {
            let count = Arc::clone(&count);
            tasks.spawn(move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        drop(tasks);
        until("ending of a dropped pool", || shared.state.lock().threads == 0);
        assert_eq!(count.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn panic_payloads_of_any_kind_become_text() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                std::panic::resume_unwind(Box::new("second"));
            }
        }
        assert_eq!(caught(|| 3), Ok(3));
        assert_eq!(caught(|| -> () { std::panic::resume_unwind(Box::new("a")) }), Err("a".to_owned()));
        assert_eq!(caught(|| -> () { std::panic::resume_unwind(Box::new("b".to_owned())) }), Err("b".to_owned()));
        assert!(caught(|| -> () { std::panic::resume_unwind(Box::new(Bomb)) }).is_err());
    }

    /// The blocked-signals mask of this thread, as the system sees it.
    #[cfg(target_os = "linux")]
    pub fn blocked_signals() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|l| l.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn workers_block_all_signals_and_callers_keep_their_mask() {
        let before = blocked_signals();
        let tasks = Tasks::new();
        let (send, receive) = std::sync::mpsc::channel();
        tasks.spawn(move || send.send(blocked_signals()).unwrap());
        let mask = receive.recv().unwrap();
        assert_eq!(blocked_signals(), before);
        // All that can be blocked: neither SIGKILL and SIGSTOP nor the two the C library keeps (32, 33).
        for signal in (1..=64u32).filter(|s| ![9, 19, 32, 33].contains(s)) {
            assert!(mask >> (signal - 1) & 1 == 1, "signal {signal} is not blocked: {mask:016x}");
        }
    }
}
