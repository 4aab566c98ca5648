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

/// Bytes of a thread's stack, without [`c_library_stack`].
const STACK_BYTES: usize = 2 << 20;

/// Bytes to add to each thread's stack: the C library puts its own data there, and all thread-local variables of the
/// program and its libraries. These include the tile_static variables of C++ programs, which may be large.
fn c_library_stack() -> usize {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    return minimum::stack();
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    return 0;
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod minimum {
    #![allow(unsafe_code)]

    /// The smallest stack that a thread may have; 0 if this version of the C library does not report it.
    pub fn stack() -> usize {
        type Minimum = unsafe extern "C" fn(*const libc::pthread_attr_t) -> libc::size_t;
        // SAFETY: the name is a C string. glibc's symbol of this name is a function of this type that ignores its argument.
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
    static IS_LIBRARY_THREAD: Cell<bool> = const { Cell::new(false) };
    static HOST_KERNEL_DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// While this value exists, its thread counts as running a host kernel.
pub struct InKernel(());

impl InKernel {
    /// Marks this thread as running a host kernel.
    pub fn enter() -> Self {
        HOST_KERNEL_DEPTH.set(HOST_KERNEL_DEPTH.get() + 1);
        Self(())
    }

    /// True if this thread runs a host kernel.
    pub fn is_here() -> bool {
        HOST_KERNEL_DEPTH.get() > 0
    }
}

impl Drop for InKernel {
    fn drop(&mut self) {
        HOST_KERNEL_DEPTH.set(HOST_KERNEL_DEPTH.get() - 1);
    }
}

/// True on a thread that the library created.
pub fn is_library_thread() -> bool {
    IS_LIBRARY_THREAD.get()
}

/// Starts a thread that handles no signals: only the program's own threads handle them.
pub fn spawn_named(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    if config::get().test.thread_fails() {
        return Err(Error::runtime(format!(
            "thread {name} was not created, because REVAMP_TEST asks for this failure"
        )));
    }
    if !heap::has_memory() {
        return Err(Error::out_of_memory(format!(
            "memory for thread {name} could not be allocated; free other memory"
        )));
    }
    // The new thread inherits the mask of blocked signals, so the system never chooses it to handle a signal.
    let masked = signals::Blocked::new();
    let work = || {
        IS_LIBRARY_THREAD.set(true);
        work();
    };
    let made =
        std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES + c_library_stack()).spawn(work);
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

/// Runs `work`. A panic becomes an error with the panic's text.
pub fn caught<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = panic_text(&*payload);
        // Dropping the payload may panic again. The second payload is leaked to end the chain.
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
/// The maximum number of threads of a [`Tasks`] as long as jobs make progress. Further jobs are queued.
pub const MAX_TASK_THREADS: usize = 256;
/// If jobs are queued and no job has begun for this long, the running jobs may be waiting for a queued one.
const STALL: Duration = Duration::from_millis(10);

/// Threads for jobs that may block: one for each concurrent job. Idle threads are kept for a while. The number of threads is
/// limited, but jobs that wait for each other cannot deadlock: if no queued job begins for a while, a thread is added.
pub struct Tasks {
    shared: Arc<TaskShared>,
}

struct TaskShared {
    state: Mutex<TaskState, { rank::TASKS }>,
    work: Condvar,
    quiet: Condvar,
    idle_for: Duration,
    max_threads: usize,
}

#[derive(Default)]
struct TaskState {
    queue: VecDeque<Task>,
    /// The number of threads, including those about to start.
    threads: usize,
    /// The number of threads that wait for work, including threads that were notified but have not woken yet.
    idle: usize,
    running: usize,
    /// The number of running jobs that themselves wait in [`Tasks::drain`].
    draining: usize,
    /// The number of queued jobs that have begun. Jobs that never were in the queue do not count.
    begun: u64,
    /// True while a thread watches whether queued jobs begin.
    watched: bool,
    closing: bool,
}

thread_local! {
    /// Identifies the [`Tasks`] whose jobs this thread runs; 0 if there is none.
    static CURRENT_TASKS: Cell<usize> = const { Cell::new(0) };
}

impl Default for Tasks {
    fn default() -> Self {
        Self::new()
    }
}

impl Tasks {
    /// A pool without threads. Jobs start threads.
    pub fn new() -> Self {
        Self::with_limits(MAX_TASK_THREADS, IDLE)
    }

    /// A pool of at most `max_threads` threads that end after `idle_for` without work.
    pub fn with_limits(max_threads: usize, idle_for: Duration) -> Self {
        let state = Mutex::new(TaskState::default());
        Self {
            shared: Arc::new(TaskShared {
                state,
                work: Condvar::new(),
                quiet: Condvar::new(),
                idle_for,
                max_threads: max_threads.max(1),
            }),
        }
    }

    /// Runs `job` on a thread of the pool, at once unless all threads are busy. Panics of the job are logged.
    ///
    /// If the system can create no thread, the job runs on the calling thread, so the caller must hold no lock that the job may need.
    pub fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        if let Err(job) = self.try_spawn(Box::new(job)) {
            log!(Warn, "no thread could be created for a job; it runs on the calling thread");
            run_job(job);
        }
    }

    /// [`Self::spawn`], but returns the job if the system can create no thread, and never runs it on the calling thread.
    pub fn try_spawn(&self, job: Task) -> std::result::Result<(), Task> {
        let mut state = self.shared.state.lock();
        if state.idle <= state.queue.len() && state.threads < self.shared.max_threads {
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

    /// Waits until no job runs or is queued. A job of this pool that calls this function does not count.
    pub fn drain(&self) {
        let calling_jobs = usize::from(CURRENT_TASKS.get() == self.shared.key());
        let mut state = self.shared.state.lock();
        state.draining += calling_jobs;
        self.shared.quiet.notify_all();
        while !state.is_quiet() {
            self.shared.quiet.wait(&mut state, rank::NONE);
        }
        state.draining -= calling_jobs;
    }

    /// True if [`Tasks::drain`] would not wait.
    pub fn is_quiet(&self) -> bool {
        let calling_jobs = usize::from(CURRENT_TASKS.get() == self.shared.key());
        let state = self.shared.state.lock();
        state.queue.is_empty() && state.running <= state.draining + calling_jobs
    }

    /// The number of threads that exist now.
    pub fn threads(&self) -> usize {
        self.shared.state.lock().threads
    }
}

impl Drop for Tasks {
    /// Lets queued jobs finish. Does not wait for the threads.
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

    /// Starts a thread with a job. The caller has counted the thread, and the job as running. Returns the job if no thread can
    /// be created.
    fn start_with(self: &Arc<Self>, job: Task) -> std::result::Result<(), Task> {
        let first = Arc::new(Mutex::<_, { rank::TASK }>::new(Some(job)));
        let (shared, job_slot) = (Arc::clone(self), Arc::clone(&first));
        let made = spawn_named("revamp-task", move || {
            let job = job_slot.lock().take();
            shared.serve(job);
        });
        if made.is_ok() {
            return Ok(());
        }
        let mut state = self.state.lock();
        state.threads -= 1;
        self.count_ended_job(&mut state);
        drop(state);
        let job = first.lock().take();
        job.map_or(Ok(()), Err)
    }

    /// Runs `first`, which the caller has counted as running, then queued jobs.
    fn serve(self: Arc<Self>, first: Option<Task>) {
        CURRENT_TASKS.set(self.key());
        if let Some(job) = first {
            run_job(job);
        }
        let mut state = self.state.lock();
        self.count_ended_job(&mut state);
        loop {
            if let Some(job) = state.queue.pop_front() {
                state.running += 1;
                state.begun += 1;
                MutexGuard::unlocked(&mut state, || run_job(job));
                self.count_ended_job(&mut state);
                continue;
            }
            if state.closing {
                break;
            }
            state.idle += 1;
            let timed_out = self.work.wait_for(&mut state, rank::NONE, self.idle_for);
            state.idle -= 1;
            if timed_out && state.queue.is_empty() {
                break;
            }
        }
        state.threads -= 1;
    }

    /// Counts a job that has ended.
    fn count_ended_job(&self, state: &mut TaskState) {
        state.running -= 1;
        if state.is_quiet() {
            self.quiet.notify_all();
        }
    }

    /// Starts a watching thread, so that jobs begin even if the limit of threads is reached and no running job ends.
    fn watch(self: &Arc<Self>, mut state: MutexGuard<'_, TaskState>) {
        if state.watched || state.queue.len() <= state.idle {
            return;
        }
        state.watched = true;
        let begun = state.begun;
        drop(state);
        let shared = Arc::clone(self);
        if spawn_named("revamp-task", move || shared.watch_for_stall(begun)).is_err() {
            // The next job that is queued starts another attempt.
            self.state.lock().watched = false;
        }
    }

    /// The watching thread: becomes a further thread of the pool when no job has begun for [`STALL`].
    fn watch_for_stall(self: Arc<Self>, mut seen: u64) {
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

    /// While this value exists, all signals are blocked in this thread and in threads that it starts.
    pub struct Blocked {
        old: Option<libc::sigset_t>,
    }

    impl Blocked {
        pub fn new() -> Self {
            let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
            let mut old = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
            // SAFETY: both sets are local variables. `sigfillset` and `pthread_sigmask` fill them before they are read, and
            // `old` is used only if the call succeeded.
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
                // SAFETY: `old` is the previous mask of this thread.
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

    fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
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
        // The limit is 8. More threads are added only if the machine is so busy that no queued job begins for a while.
        assert!(tasks.threads() < 100);
        wait_until("ending of idle threads", || tasks.threads() == 0);
        let second_count = Arc::clone(&count);
        tasks.spawn(move || {
            second_count.fetch_add(1, Ordering::Relaxed);
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
            tasks.spawn(move || {
                // Returns only if all 40 jobs run at the same time.
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
        wait_until("ending of further threads", || tasks.threads() == 0);
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
        wait_until("ending of a dropped pool", || shared.state.lock().threads == 0);
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

    /// This thread's mask of blocked signals, read from the system.
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
        // All signals that can be blocked: not SIGKILL and SIGSTOP, and not the two that the C library reserves (32, 33).
        for signal in (1..=64u32).filter(|s| ![9, 19, 32, 33].contains(s)) {
            assert!(mask >> (signal - 1) & 1 == 1, "signal {signal} is not blocked: {mask:016x}");
        }
    }
}
