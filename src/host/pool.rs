//! The compute pool: threads that run parallel loops, which start and end within microseconds.
//!
//! A loop is published on a [`Board`], from which threads claim items. The caller works too, so a loop finishes even if no
//! worker joins. Loops may nest, and several threads may run loops at once.
#![allow(unsafe_code)]

use super::board::{Board, Loop, Portion};
use super::spin::Spin;
use super::threads::{caught, processors, spawn_named};
use crate::error::{Error, Result};
use crate::lock::{Condvar, Mutex, rank, waits};
use crate::log;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

/// How long a caller spins until its loop ends, in a pool that does not spin for new loops. The time is short, because the caller
/// starts to wait only when no items are left to claim.
const SPIN_AT_END: Spin = Spin { alone: Duration::from_micros(2), timeout: Duration::from_micros(2) };

/// The number of sleeping workers that the caller of a loop wakes, and the number that each woken worker wakes in turn. Under a
/// hypervisor, each wake-up takes about 50 us. If the caller woke all workers, its own items would start late.
const WAKE_LIMITS: (u64, u64) = (2, 3);

type LoopBody<'a> = dyn Fn(u64, u64) + Sync + 'a;

/// The part of a loop that its threads share: body and failure.
struct Work {
    /// The loop's body, borrowed from the caller of `ThreadPool::share`.
    body: *const LoopBody<'static>,
    failure: Mutex<Option<String>, { rank::FAILURE }>,
    failed: AtomicBool,
}

impl Work {
    /// Runs items. After a panic, items are claimed and counted but not run.
    fn run(&self, from: u64, to: u64) {
        if !self.failed.load(Ordering::Relaxed) {
            // SAFETY: these items are claimed and have not ended, so `ThreadPool::share` has not returned.
            let body = unsafe { &*self.body };
            if let Err(text) = caught(|| body(from, to)) {
                self.failure.lock().get_or_insert(text);
                self.failed.store(true, Ordering::Relaxed);
            }
        }
    }
}

// SAFETY: `body` points to a `Sync` function, used only while `ThreadPool::share` keeps it alive; the rest is Sync.
unsafe impl Sync for Work {}

#[derive(Default)]
struct PoolState {
    closing: bool,
}

struct Shared {
    board: Board<Work>,
    state: Mutex<PoolState, { rank::WORKERS }>,
    /// The number of workers that sleep or are about to.
    sleeping: AtomicU64,
    /// The number of all other workers.
    awake: AtomicU64,
    wake: Condvar,
    /// The lock of `ended`.
    ending: Mutex<(), { rank::WORKERS }>,
    /// Wakes callers that sleep until their loop has ended.
    ended: Condvar,
    spin: Option<Spin>,
}

// SAFETY: loops are `Sync`, and are reached through the board only while their callers keep them.
unsafe impl Send for Shared {}
// SAFETY: as for `Send`.
unsafe impl Sync for Shared {}

/// Threads for computing.
pub struct ThreadPool {
    shared: Arc<Shared>,
    threads: usize,
    started: Once,
}

impl ThreadPool {
    /// A pool of `threads` computing threads, including the caller of a loop. The threads start at the first loop.
    pub fn new(threads: usize) -> Self {
        // With more threads than processors, a spinning thread would take a processor from a busy one.
        Self::with_spin(threads, Spin::for_this_machine().filter(|_| threads <= processors()))
    }

    fn with_spin(threads: usize, spin: Option<Spin>) -> Self {
        let threads = threads.max(1);
        let shared = Shared {
            board: Board::new(threads as u64),
            state: Mutex::new(PoolState::default()),
            sleeping: AtomicU64::new(0),
            awake: AtomicU64::new(0),
            wake: Condvar::new(),
            ending: Mutex::new(()),
            ended: Condvar::new(),
            spin,
        };
        Self { shared: Arc::new(shared), threads, started: Once::new() }
    }

    /// The number of computing threads, including the caller.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// True if a worker is awake and probably idle, so that sharing a loop is cheap.
    pub fn has_idle(&self) -> bool {
        self.shared.awake.load(Ordering::Relaxed) > 0 && self.shared.board.look().is_none()
    }

    /// Calls `f` for each chunk number below `chunks`, on the workers and on this thread. Returns when all calls have returned.
    /// A panic in `f` ends the loop early and is returned as an error. `f` may take locks of [`rank::PIECES`] and later
    /// ranks, or any lock if the caller holds none.
    pub fn parallel(&self, chunks: u64, f: &(dyn Fn(u64) + Sync)) -> Result<()> {
        self.share(chunks, Portion::One, &|from, to| (from..to).for_each(f))
    }

    /// [`Self::parallel`] for many cheap items: `f(from, to)` runs consecutive items. Each call gets at least `least` items as
    /// long as enough are left for all threads.
    pub fn parallel_ranges(&self, items: u64, least: u64, f: &LoopBody<'_>) -> Result<()> {
        self.share(items, Portion::Many(least.max(1).ilog2() as u8), f)
    }

    fn share(&self, items: u64, portion: Portion, f: &LoopBody<'_>) -> Result<()> {
        let alone = || caught(|| f(0, items)).map_err(failure);
        if items <= 1 || self.threads == 1 {
            return if items == 0 { Ok(()) } else { alone() };
        }
        self.start();
        waits(rank::PIECES);
        // SAFETY: only the lifetime changes. The pointer is used only for claimed items (`Work::run`), and this function
        // returns only after all items have ended. Nothing in between unwinds, because panics of items are caught.
        let body = unsafe { std::mem::transmute::<*const LoopBody<'_>, *const LoopBody<'static>>(f) };
        let work = Work { body, failure: Mutex::new(None), failed: AtomicBool::new(false) };
        let caller_loop = Loop::new(items, portion, work);
        let shared = &self.shared;
        // SAFETY: `caller_loop` stays in place until the loop has ended, and is closed then.
        let Some(at) = (unsafe { shared.board.offer(&caller_loop) }) else { return alone() };
        shared.wake_workers(at, WAKE_LIMITS.0);
        shared.work(at);
        shared.finish(&caller_loop);
        shared.board.close(at);
        let text = caller_loop.work.failure.lock().take();
        text.map_or(Ok(()), |text| Err(failure(text)))
    }

    fn start(&self) {
        self.started.call_once(|| {
            for n in 1..self.threads {
                let shared = Arc::clone(&self.shared);
                if let Err(e) = spawn_named(&format!("revamp-host-{n}"), move || shared.serve()) {
                    log!(Warn, "only {n} of {} host threads could be created: {e}", self.threads);
                    break;
                }
            }
        });
    }
}

fn failure(text: String) -> Error {
    Error::internal(format!("a parallel loop panicked: {text}"))
}

impl Drop for ThreadPool {
    /// Makes the workers end. Does not wait for them, because they hold no data of the pool's user.
    fn drop(&mut self) {
        self.shared.state.lock().closing = true;
        self.shared.wake.notify_all();
    }
}

impl Shared {
    /// Wakes at most `max_wakes` workers for the loop in slot `at`, if too few are idle.
    fn wake_workers(&self, at: usize, max_wakes: u64) {
        // The loop is on the board already, and a worker counts itself as sleeping before its last look at the board. So the
        // count includes every worker that missed the loop.
        let asleep = self.sleeping.load(Ordering::SeqCst);
        if asleep == 0 {
            return;
        }
        // If there are other loops, awake workers may be busy in them for long.
        let idle = if self.board.is_only(at) { self.awake.load(Ordering::Relaxed) } else { 0 };
        let wanted = self.board.claims_left(at).saturating_sub(1 + idle);
        let wakes = wanted.min(asleep).min(max_wakes);
        if wakes > 0 {
            // A worker holds this lock from its last look until it waits, so it does not miss the notification.
            drop(self.state.lock());
            (0..wakes).for_each(|_| {
                self.wake.notify_one();
            });
        }
    }

    /// Runs items of the loop in slot `at` until no item is left to claim. False if no item was left from the beginning.
    fn work(&self, at: usize) -> bool {
        let Some(first) = self.board.claim(at) else { return false };
        let this = first.parallel_loop;
        let mut items = first.to - first.from;
        this.work.run(first.from, first.to);
        // The loop stays in its slot until these items are counted, so all these claims return items of the same loop.
        while let Some(claim) = self.board.claim(at) {
            items += claim.to - claim.from;
            claim.parallel_loop.work.run(claim.from, claim.to);
        }
        if this.end(items) {
            // The caller holds this lock from its last look until it waits, so it does not miss the notification.
            drop(self.ending.lock());
            self.ended.notify_all();
        }
        true
    }

    /// Waits until the caller's loop has ended.
    fn finish(&self, caller_loop: &Loop<Work>) {
        if caller_loop.has_ended() || self.spin.unwrap_or(SPIN_AT_END).until(|| caller_loop.has_ended()) {
            return;
        }
        let mut ending = self.ending.lock();
        if caller_loop.announce_sleep() {
            while !caller_loop.has_ended() {
                self.ended.wait(&mut ending, rank::PIECES);
            }
        }
    }

    fn serve(&self) {
        let (mut spun, mut woken) = (false, false);
        self.awake.fetch_add(1, Ordering::Relaxed);
        loop {
            if let Some(at) = self.board.look() {
                if std::mem::take(&mut woken) {
                    self.wake_workers(at, WAKE_LIMITS.1);
                }
                if self.work(at) {
                    spun = false;
                } else {
                    // Another thread has claimed the last items and is about to close the loop.
                    std::thread::yield_now();
                }
                continue;
            }
            if let Some(spin) = self.spin.filter(|_| !spun) {
                spun = true;
                spin.until(|| self.board.look().is_some());
                continue;
            }
            let mut state = self.state.lock();
            if state.closing {
                return;
            }
            self.awake.fetch_sub(1, Ordering::Relaxed);
            self.sleeping.fetch_add(1, Ordering::SeqCst);
            if self.board.look().is_none() {
                self.wake.wait(&mut state, rank::NONE);
                woken = true;
            }
            self.sleeping.fetch_sub(1, Ordering::Relaxed);
            self.awake.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const SPIN: Spin = Spin { alone: Duration::from_micros(20), timeout: Duration::from_micros(100) };

    fn check_each_chunk_runs_once(pool: &ThreadPool, chunks: u64) {
        let seen: Vec<AtomicU64> = (0..chunks).map(|_| AtomicU64::new(0)).collect();
        pool.parallel(chunks, &|i| {
            seen[i as usize].fetch_add(1, Ordering::Relaxed);
        })
        .unwrap();
        assert!(seen.iter().all(|s| s.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn every_chunk_runs_once() {
        for threads in [1, 2, 3, 8] {
            let pool = ThreadPool::new(threads);
            for chunks in [0, 1, 2, 3, 7, 64, 1000] {
                check_each_chunk_runs_once(&pool, chunks);
            }
        }
    }

    /// Tests, on any machine, how workers spin on machines with many processors.
    #[test]
    fn spinning_workers_find_loops_and_end() {
        let pool = ThreadPool::with_spin(3, Some(SPIN));
        for n in 0..400 {
            check_each_chunk_runs_once(&pool, n % 9);
            if n % 40 == 0 {
                std::thread::sleep(Duration::from_micros(n * 2));
            }
        }
        let shared = Arc::downgrade(&pool.shared);
        drop(pool);
        let start = Instant::now();
        while shared.strong_count() > 0 {
            assert!(start.elapsed() < Duration::from_secs(20), "workers outlive their pool");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn loops_nest() {
        let pool = ThreadPool::with_spin(4, Some(SPIN));
        let sum = AtomicU64::new(0);
        pool.parallel(8, &|_| {
            pool.parallel(8, &|_| {
                pool.parallel(8, &|_| {
                    sum.fetch_add(1, Ordering::Relaxed);
                })
                .unwrap();
            })
            .unwrap();
        })
        .unwrap();
        assert_eq!(sum.load(Ordering::Relaxed), 512);
    }

    #[test]
    fn loops_run_from_several_threads_at_once() {
        let pool = ThreadPool::new(4);
        std::thread::scope(|s| {
            for t in 0..6 {
                let pool = &pool;
                s.spawn(move || {
                    for n in 0..300 {
                        check_each_chunk_runs_once(pool, (t * 7 + n) % 40);
                    }
                });
            }
        });
    }

    #[test]
    fn panics_are_errors_and_the_pool_lives_on() {
        let pool = ThreadPool::new(3);
        for _ in 0..50 {
            let e = pool
                .parallel(20, &|i| {
                    if i == 7 {
                        std::panic::resume_unwind(Box::new("chunk seven"));
                    }
                })
                .unwrap_err();
            assert!(e.message.contains("chunk seven"), "{e}");
            check_each_chunk_runs_once(&pool, 20);
        }
        let e = ThreadPool::new(1).parallel(1, &|_| std::panic::resume_unwind(Box::new("alone"))).unwrap_err();
        assert!(e.message.contains("alone"), "{e}");
    }

    #[test]
    fn callers_progress_while_workers_are_held() {
        let pool = ThreadPool::new(2);
        let gate = parking_lot::Mutex::new(());
        let held = gate.lock();
        let inside = AtomicU64::new(0);
        std::thread::scope(|s| {
            // Two callers block. The only worker may be in either loop.
            for _ in 0..2 {
                s.spawn(|| {
                    pool.parallel(4, &|_| {
                        inside.fetch_add(1, Ordering::Relaxed);
                        drop(gate.lock());
                    })
                    .unwrap();
                });
            }
            while inside.load(Ordering::Relaxed) < 2 {
                std::thread::yield_now();
            }
            check_each_chunk_runs_once(&pool, 100);
            drop(held);
        });
    }

    #[test]
    fn a_loop_started_during_a_long_loop_wakes_workers() {
        let pool = ThreadPool::with_spin(3, None);
        let gate = parking_lot::Mutex::new(());
        let held = gate.lock();
        let (busy, inside) = (AtomicU64::new(0), AtomicU64::new(0));
        let until = |what: &AtomicU64, wanted| {
            let start = Instant::now();
            while what.load(Ordering::SeqCst) < wanted && start.elapsed() < Duration::from_secs(20) {
                std::thread::yield_now();
            }
            what.load(Ordering::SeqCst)
        };
        std::thread::scope(|s| {
            s.spawn(|| {
                pool.parallel(2, &|_| {
                    busy.fetch_add(1, Ordering::SeqCst);
                    drop(gate.lock());
                })
                .unwrap();
            });
            // The caller and one worker are blocked, and the other worker sleeps.
            assert_eq!(until(&busy, 2), 2);
            assert_eq!(until(&pool.shared.sleeping, 1), 1);
            pool.parallel(2, &|_| {
                inside.fetch_add(1, Ordering::SeqCst);
                assert_eq!(until(&inside, 2), 2);
            })
            .unwrap();
            drop(held);
        });
    }

    #[test]
    fn writes_of_chunks_are_visible_after_the_loop() {
        let pool = ThreadPool::new(4);
        let mut data = vec![0u64; 4096];
        for round in 1..200u64 {
            let cells: Vec<_> = data.chunks_mut(64).map(parking_lot::Mutex::new).collect();
            pool.parallel(64, &|i| cells[i as usize].lock().fill(round)).unwrap();
            drop(cells);
            assert!(data.iter().all(|&v| v == round));
        }
    }
}
