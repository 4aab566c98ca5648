//! The locks of the library, each with a rank. A thread takes locks in the order of their ranks, and locks of one rank in the
//! order of their ids, so that threads cannot deadlock.
//!
//! A wait for other host threads has a rank too: the rank of the outermost lock that those threads may take ([`waits`]). Builds
//! with debug assertions check every lock and wait, and abort at the first that is out of order. Other builds check nothing. A
//! wait for a Vulkan device may submit gathered commands, so it is allowed only under locks that precede GATHERERS.

use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

/// The ranks, from the outermost lock to the innermost.
pub mod rank {
    /// For waits and calls under which no lock may be held: waits for threads that may use the library, and calls of the program's code.
    pub const NONE: u8 = 0;

    macro_rules! ranks {
        ($($(#[$doc:meta])* $name:ident,)*) => {
            #[allow(dead_code, non_camel_case_types, clippy::upper_case_acronyms)]
            #[repr(u8)]
            enum All { NONE, $($name),* }
            $($(#[$doc])* pub const $name: u8 = All::$name as u8;)*
            /// The names, for messages.
            #[cfg(debug_assertions)]
            pub const NAMES: &[&str] = &["NONE", $(stringify!($name)),*];
        };
    }
    ranks! {
        /// The file of a trace.
        RECORDING,
        /// The bytes that asynchronous operations claim.
        CLAIMING,
        /// An array's reference to the data source of its views.
        ARRAY_SOURCE,
        /// The state of a data source.
        SOURCE,
        /// The list of sources with views.
        LIVE_SOURCES,
        /// The state words of array_views.
        HOST_ACCESS,
        /// The uses of memory that the race check has recorded.
        RACES,
        /// The users of the library.
        USERS,
        /// The runtime itself.
        RUNTIME,
        /// The choice of default accelerators.
        DEFAULTS,
        /// The auto-selection view.
        AUTO_VIEW,
        /// The default view of an accelerator.
        DEFAULT_VIEW,
        /// Compiled kernels loaded on an accelerator.
        COMPILED,
        /// The open device of an accelerator.
        DEVICE,
        /// Devices of the program on an accelerator, and the kernels loaded there.
        LENT_DEVICES,
        /// SPIR-V kernels of the program loaded on one of its devices.
        LENT_KERNELS,
        /// An accelerator's default cpu access type.
        CPU_ACCESS,
        /// The list of the reports of all devices.
        REPORTS,
        /// The state of one device's report.
        REPORT,
        /// Kernels by module on an accelerator.
        KERNELS,
        /// The variants of a kernel that launches have decided on.
        VARIANTS,
        /// The searches for workgroup sizes of a kernel.
        SEARCHES,
        /// One search for a workgroup size.
        SEARCH,
        /// The workgroup sizes found on a device.
        FOUND,
        /// The handle of an object.
        HANDLE_CELL,
        /// The mirror or the shadow of a texture.
        MIRROR,
        /// The list of bridges between devices.
        BRIDGES,
        /// One bridge.
        BRIDGE,
        /// The work of an accelerator_view that does not run on the view's queue.
        OFF_QUEUE,
        /// Serializes large downloads of a device.
        TURN,
        /// The state shared by the pieces of a parallel transfer.
        PIECES,
        /// Devices of the program.
        LENT,
        /// Signals of the program's semaphores.
        PROGRAM_SIGNALS,
        /// The recording of an image's layout transition.
        PREPARING,
        /// The queues of a device.
        QUEUES,
        /// The queues that gather commands.
        GATHERERS,
        /// The copy lanes of a device.
        LANES,
        /// Staging chunks.
        RING,
        /// Pipelines with specialization constants.
        PIPELINES,
        /// The views of an image.
        VIEWS,
        /// The samplers of a device.
        SAMPLERS,
        /// A queue's batches.
        QUEUE,
        /// The uses of a buffer, in order of buffer ids.
        TRACKER,
        /// The layout transition of an image.
        IMAGE_LAYOUT,
        /// Launches whose loops the driver may stop.
        OVERRUNS,
        /// The kernels to which a recording's flags belong.
        FLAGS,
        /// The dependences between commands of a queue, along which losses spread.
        DEPENDENCES,
        /// The losses of a timeline.
        LOSSES,
        /// Signals that a timeline remembers.
        SIGNALS,
        /// The jobs of a host queue.
        JOBS,
        /// A host operation.
        OPERATION,
        /// The operations that wait for a host operation.
        GATE,
        /// Callbacks that wait for completions.
        NOTIFIER,
        /// Completions that the program has yet to complete.
        PROMISES,
        /// Semaphores that are kept for a while before they are destroyed.
        RETIRED,
        /// Submission to a device.
        SUBMITTING,
        /// The memory of a buffer.
        BUFFER,
        /// Blocks of device memory.
        POOL,
        /// The queue and threads of a task pool.
        TASKS,
        /// The function of a task.
        TASK,
        /// The computing threads.
        WORKERS,
        /// Stacks of coroutines.
        STACKS,
        /// The first failure of parallel work.
        FAILURE,
        /// Kernels that were registered by address.
        RECORDS,
        /// Kernels of the program by name, and code that stays loaded.
        REGISTRY,
        /// Images of compiled kernels.
        IMAGES,
        /// The object to which a handle refers.
        HANDLE,
        /// Free slots of the handle table.
        HANDLES,
        /// The creation of the Vulkan instance.
        INSTANCE,
        /// Messages of drivers and kernels, logged transfers.
        MESSAGES,
        /// Registration of the exit hook.
        HOOKS,
        /// The log's hook.
        LOG,
        /// The naming of a Vulkan object.
        NAMING,
        /// Labels of objects.
        LABELS,
        /// Events of a trace.
        TRACE,
        /// Texts of traces.
        TEXTS,
        /// The queries of a device's timers.
        TIMERS,
    }
}

#[cfg(debug_assertions)]
mod held {
    use super::rank::NAMES;
    use std::cell::RefCell;

    thread_local! {
        /// Ranks and ids of the locks that this thread holds.
        static HELD: RefCell<Vec<(u8, u64)>> = const { RefCell::new(Vec::new()) };
    }

    fn end(what: &str, rank: u8, held: &[(u8, u64)]) -> ! {
        let names: Vec<_> = held.iter().map(|&(rank, id)| format!("{} {id}", NAMES[rank as usize])).collect();
        let backtrace = std::backtrace::Backtrace::force_capture();
        eprintln!("revamp: {what} {} while holding {}\n{backtrace}", NAMES[rank as usize], names.join(", "));
        std::process::abort();
    }

    /// Must be called before waiting for a lock.
    pub fn check(rank: u8, id: u64) {
        let _ = HELD.try_with(|held| {
            let held = held.borrow();
            if held.iter().any(|&(r, i)| r > rank || r == rank && i >= id) {
                end("locks are taken out of order: lock", rank, &held);
            }
        });
    }

    /// Must be called before waiting for other threads.
    pub fn waits(rank: u8) {
        let _ = HELD.try_with(|held| {
            let held = held.borrow();
            if held.iter().any(|&(r, _)| r >= rank) {
                end("a thread waits while it holds a lock that other threads may need: wait", rank, &held);
            }
        });
    }

    pub fn push(rank: u8, id: u64) {
        let _ = HELD.try_with(|held| held.borrow_mut().push((rank, id)));
    }

    pub fn pop(rank: u8, id: u64) {
        let _ = HELD.try_with(|held| {
            let mut held = held.borrow_mut();
            if let Some(at) = held.iter().rposition(|&h| h == (rank, id)) {
                held.remove(at);
            }
        });
    }
}

/// Must be called before this thread waits for other host threads that may take locks of `rank` and later ranks, or
/// calls code of the program ([`rank::NONE`]).
#[inline]
pub fn waits(rank: u8) {
    #[cfg(debug_assertions)]
    held::waits(rank);
    let _ = rank;
}

/// While this value exists, its thread counts as holding a lock of a rank.
#[derive(Debug)]
pub struct Hold {
    #[cfg(debug_assertions)]
    lock: (u8, u64),
}

impl Hold {
    /// Checks that this thread may wait for the lock. Keep the value while the lock is held.
    #[inline]
    pub fn new(rank: u8, id: u64) -> Self {
        #[cfg(debug_assertions)]
        held::check(rank, id);
        Self::unchecked(rank, id)
    }

    /// [`Self::new`] without the check, for a lock that this thread does not wait for.
    #[inline]
    fn unchecked(rank: u8, id: u64) -> Self {
        #[cfg(debug_assertions)]
        held::push(rank, id);
        let _ = (rank, id);
        Self {
            #[cfg(debug_assertions)]
            lock: (rank, id),
        }
    }

    /// Runs `f` as if the lock were not held; `f` releases the lock and takes it again.
    #[inline]
    fn without<R>(&self, f: impl FnOnce() -> R) -> R {
        #[cfg(debug_assertions)]
        held::pop(self.lock.0, self.lock.1);
        let result = f();
        #[cfg(debug_assertions)]
        {
            held::check(self.lock.0, self.lock.1);
            held::push(self.lock.0, self.lock.1);
        }
        result
    }
}

#[cfg(debug_assertions)]
impl Drop for Hold {
    fn drop(&mut self) {
        held::pop(self.lock.0, self.lock.1);
    }
}

/// A mutex with a rank.
#[derive(Debug, Default)]
pub struct Mutex<T, const RANK: u8>(parking_lot::Mutex<T>);

/// A held lock, which gives access to the data it guards.
pub struct Guard<G> {
    guard: G,
    hold: Hold,
}

/// A held [`Mutex`].
pub type MutexGuard<'a, T> = Guard<parking_lot::MutexGuard<'a, T>>;

impl<T, const RANK: u8> Mutex<T, RANK> {
    /// An unlocked mutex.
    pub const fn new(value: T) -> Self {
        Self(parking_lot::Mutex::new(value))
    }

    /// Locks it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.lock_as(0)
    }

    /// Locks a mutex that may be held together with other mutexes of its rank; these must be locked in order of `id`.
    #[inline]
    pub fn lock_as(&self, id: u64) -> MutexGuard<'_, T> {
        let hold = Hold::new(RANK, id);
        Guard { guard: self.0.lock(), hold }
    }

    /// Locks it if no thread holds it. Allowed in any order.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock().map(|guard| Guard { guard, hold: Hold::unchecked(RANK, 0) })
    }

    /// Locks it, waiting at most `timeout`. `None` if another thread still holds it then.
    #[inline]
    pub fn try_lock_for(&self, timeout: Duration) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock_for(timeout).map(|guard| Guard { guard, hold: Hold::unchecked(RANK, 0) })
    }

    /// The value, without locking.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T> MutexGuard<'_, T> {
    /// Runs `f` with the lock released.
    #[inline]
    pub fn unlocked<R>(this: &mut Self, f: impl FnOnce() -> R) -> R {
        let Self { guard, hold } = this;
        hold.without(|| parking_lot::MutexGuard::unlocked(guard, f))
    }
}

impl<G: Deref> Deref for Guard<G> {
    type Target = G::Target;
    #[inline]
    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for Guard<G> {
    #[inline]
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

/// A condition variable. `rank` of a wait is the rank of the outermost lock that the notifying threads may take, as for [`waits`].
#[derive(Debug, Default)]
pub struct Condvar(parking_lot::Condvar);

impl Condvar {
    /// A new condition variable.
    pub const fn new() -> Self {
        Self(parking_lot::Condvar::new())
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Waits for a notification.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>, rank: u8) {
        guard.hold.without(|| {
            waits(rank);
            self.0.wait(&mut guard.guard);
        });
    }

    /// Waits for a notification, at most `timeout`: true if the time has passed.
    pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, rank: u8, timeout: Duration) -> bool {
        guard.hold.without(|| {
            waits(rank);
            self.0.wait_for(&mut guard.guard, timeout).timed_out()
        })
    }

    /// Waits for a notification, at most until `end`: true if that time has passed.
    pub fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, rank: u8, end: Instant) -> bool {
        guard.hold.without(|| {
            waits(rank);
            self.0.wait_until(&mut guard.guard, end).timed_out()
        })
    }
}

/// A reader-writer lock with a rank.
#[derive(Debug, Default)]
pub struct RwLock<T, const RANK: u8>(parking_lot::RwLock<T>);

impl<T, const RANK: u8> RwLock<T, RANK> {
    /// An unlocked lock.
    pub const fn new(value: T) -> Self {
        Self(parking_lot::RwLock::new(value))
    }

    /// Locks it for reading.
    #[inline]
    pub fn read(&self) -> Guard<parking_lot::RwLockReadGuard<'_, T>> {
        let hold = Hold::new(RANK, 0);
        Guard { guard: self.0.read(), hold }
    }

    /// Locks it for writing.
    #[inline]
    pub fn write(&self) -> Guard<parking_lot::RwLockWriteGuard<'_, T>> {
        let hold = Hold::new(RANK, 0);
        Guard { guard: self.0.write(), hold }
    }
}

#[cfg(test)]
#[cfg(debug_assertions)]
mod tests {
    use super::*;
    use std::process::Command;

    static OUTER: Mutex<(), { rank::SOURCE }> = Mutex::new(());
    static INNER: Mutex<(), { rank::QUEUE }> = Mutex::new(());

    /// Runs one of the child tests below in a process. Returns its standard error, and true if it succeeded.
    fn child(name: &str) -> (String, bool) {
        let name = format!("lock::tests::{name}");
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name, "--ignored", "--nocapture", "--test-threads=1"])
            .output()
            .unwrap();
        (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.success())
    }

    #[test]
    #[ignore = "a child of the test below"]
    fn child_takes_locks_in_order() {
        let _outer = OUTER.lock_as(1);
        let second: Mutex<(), { rank::SOURCE }> = Mutex::new(());
        let _second = second.lock_as(2);
        let mut inner = INNER.lock();
        MutexGuard::unlocked(&mut inner, || drop(INNER.lock()));
        waits(rank::QUEUE + 1);
    }

    #[test]
    #[ignore = "a child of the test below"]
    fn child_takes_locks_out_of_order() {
        let _inner = INNER.lock();
        drop(OUTER.lock());
    }

    #[test]
    #[ignore = "a child of the test below"]
    fn child_takes_locks_of_one_rank_out_of_order() {
        let second: Mutex<(), { rank::SOURCE }> = Mutex::new(());
        let _second = second.lock_as(2);
        drop(OUTER.lock_as(1));
    }

    #[test]
    #[ignore = "a child of the test below"]
    fn child_waits_under_a_lock() {
        let _outer = OUTER.lock();
        waits(rank::NONE + 1);
    }

    #[test]
    #[ignore = "a child of the test below"]
    fn child_waits_for_a_condition_under_another_lock() {
        let _outer = OUTER.lock();
        Condvar::new().wait_for(&mut INNER.lock(), rank::NONE, Duration::ZERO);
    }

    #[test]
    fn locking_out_of_order_aborts_with_a_message() {
        let (text, is_good) = child("child_takes_locks_in_order");
        assert!(is_good, "{text}");
        for (name, says) in [
            ("child_takes_locks_out_of_order", "lock SOURCE while holding QUEUE"),
            ("child_takes_locks_of_one_rank_out_of_order", "lock SOURCE while holding SOURCE 2"),
            ("child_waits_under_a_lock", "while holding SOURCE"),
            ("child_waits_for_a_condition_under_another_lock", "wait NONE while holding SOURCE"),
        ] {
            let (text, is_good) = child(name);
            assert!(!is_good && text.contains(says), "{name}: {text}");
        }
    }
}
