//! The compute pool: a parallel loop that starts and ends in microseconds.
//!
//! Loops stand on a [`Board`], of which threads claim items. The caller works too, so a loop finishes even if no worker ever
//! comes; loops may nest, and run from many threads at once.
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

/// Where spinning would take the processor of a thread that works: the end of a loop is near, new loops need not be.
const SPIN_AT_END: Spin = Spin { alone: Duration::from_micros(2), whole: Duration::from_micros(2) };

/// How many sleeping workers a loop's caller wakes, and each worker that was woken. Woken one by one they would come 50 us
/// apart where waking goes through a hypervisor, and the caller has work of its own.
const WAKES: (u64, u64) = (2, 3);

type LoopBody<'a> = dyn Fn(u64, u64) + Sync + 'a;

/// What threads need of a loop.
struct Work {
    /// The loop's body. Borrowed from the caller of `ThreadPool::share`: see there.
    body: *const LoopBody<'static>,
    failure: Mutex<Option<String>, { rank::FAILURE }>,
    failed: AtomicBool,
}

impl Work {
    /// Runs items. After a panic they are only counted.
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
    /// Workers that sleep or are about to, and the others.
    sleeping: AtomicU64,
    awake: AtomicU64,
    wake: Condvar,
    /// For callers that sleep until their loop has ended.
    ending: Mutex<(), { rank::WORKERS }>,
    ended: Condvar,
    spin: Option<Spin>,
}

// SAFETY: loops are reached through the board only while their callers keep them, and are `Sync`.
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
    /// A pool on which `threads` threads compute, the caller of a loop included. They start with the first loop.
    pub fn new(threads: usize) -> Self {
        // Spinning beside busy threads would take their processor.
        Self::with_spin(threads, Spin::here().filter(|_| threads <= processors()))
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

    /// Threads that compute, the caller included.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// True if a worker is awake and, it seems, has nothing to do, so that a loop costs little to share.
    pub fn has_idle(&self) -> bool {
        self.shared.awake.load(Ordering::Relaxed) > 0 && self.shared.board.look().is_none()
    }

    /// Calls `f` for each chunk number below `chunks`, on the workers and on this thread; returns when all calls have. A
    /// panic in `f` ends the loop early and is returned as an error. `f` may take locks of [`rank::PIECES`] and beyond, or
    /// any if the caller holds none.
    pub fn parallel(&self, chunks: u64, f: &(dyn Fn(u64) + Sync)) -> Result<()> {
        self.share(chunks, Portion::One, &|from, to| (from..to).for_each(f))
    }

    /// [`Self::parallel`] for many items that are less work: `f(from, to)` runs some that follow each other, at least `least`
    /// of them as long as each thread gets some.
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
        // SAFETY: only the lifetime changes. The pointer is used for items that are claimed (`Work::run`), and this function
        // returns only after all items have ended; nothing between here and there unwinds, as items are caught.
        let body = unsafe { std::mem::transmute::<*const LoopBody<'_>, *const LoopBody<'static>>(f) };
        let work = Work { body, failure: Mutex::new(None), failed: AtomicBool::new(false) };
        let own = Loop::new(items, portion, work);
        let shared = &self.shared;
        // SAFETY: `own` stays here until it has ended, and is closed then.
        let Some(at) = (unsafe { shared.board.offer(&own) }) else { return alone() };
        shared.rouse(at, WAKES.0);
        shared.work(at);
        shared.finish(&own);
        shared.board.close(at);
        let text = own.work.failure.lock().take();
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
    /// Workers end without being waited for: they hold nothing of the pool's user.
    fn drop(&mut self) {
        self.shared.state.lock().closing = true;
        self.shared.wake.notify_all();
    }
}

impl Shared {
    /// Wakes workers for the loop at this place, at most so many, if those without work are too few.
    fn rouse(&self, at: usize, most: u64) {
        // A worker counts itself before it looks for the last time, and the loop stands on the board by now.
        let asleep = self.sleeping.load(Ordering::SeqCst);
        if asleep == 0 {
            return;
        }
        // Who is awake may be in another loop, for long.
        let idle = if self.board.is_only(at) { self.awake.load(Ordering::Relaxed) } else { 0 };
        let wanted = self.board.claims_left(at).saturating_sub(1 + idle);
        let wakes = wanted.min(asleep).min(most);
        if wakes > 0 {
            // Whoever has looked for the last time waits by now.
            drop(self.state.lock());
            (0..wakes).for_each(|_| {
                self.wake.notify_one();
            });
        }
    }

    /// Runs items of the loop at this place until none is left to claim: false if there was none.
    fn work(&self, at: usize) -> bool {
        let Some(first) = self.board.claim(at) else { return false };
        let this = first.of;
        let mut items = first.to - first.from;
        this.work.run(first.from, first.to);
        // While its items are not counted the loop stays, so all of these are of the same.
        while let Some(claim) = self.board.claim(at) {
            items += claim.to - claim.from;
            claim.of.work.run(claim.from, claim.to);
        }
        if this.end(items) {
            // The caller holds the lock from its last look to its sleep.
            drop(self.ending.lock());
            self.ended.notify_all();
        }
        true
    }

    /// Waits until the caller's loop has ended.
    fn finish(&self, own: &Loop<Work>) {
        if own.has_ended() || self.spin.unwrap_or(SPIN_AT_END).until(|| own.has_ended()) {
            return;
        }
        let mut ending = self.ending.lock();
        if own.falls_asleep() {
            while !own.has_ended() {
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
                    self.rouse(at, WAKES.1);
                }
                if self.work(at) {
                    spun = false;
                } else {
                    // Whoever took the last items is about to say so.
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

    const SPIN: Spin = Spin { alone: Duration::from_micros(20), whole: Duration::from_micros(100) };

    fn counts(pool: &ThreadPool, chunks: u64) {
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
                counts(&pool, chunks);
            }
        }
    }

    /// The way of machines with many processors, wherever this runs.
    #[test]
    fn spinning_workers_find_loops_and_end() {
        let pool = ThreadPool::with_spin(3, Some(SPIN));
        for n in 0..400 {
            counts(&pool, n % 9);
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
                        counts(pool, (t * 7 + n) % 40);
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
            counts(&pool, 20);
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
            // Two callers block; the one worker may be inside either.
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
            counts(&pool, 100);
            drop(held);
        });
    }

    #[test]
    fn a_loop_beside_a_long_one_wakes_workers() {
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
            // The caller and a worker are held, and the other worker sleeps.
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
    fn what_chunks_write_is_seen_afterwards() {
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
