//! The compute pool: a parallel loop that starts and ends in microseconds.
//!
//! A loop is a `ParallelLoop`: a counter that hands out chunk numbers. The caller works too, so a loop finishes even if no
//! worker ever comes; loops may nest, and run from many threads at once.
#![allow(unsafe_code)]

use super::threads::{caught, processors, spawn_named};
use crate::error::{Error, Result};
use crate::lock::{Condvar, Mutex, rank, waits};
use crate::log;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

/// How long a worker looks for new work before it sleeps, if there are processors to spare.
const WORKER_SPIN: Duration = Duration::from_micros(30);

/// How many sleeping workers a loop's caller wakes, and each worker that was woken. Woken one by one they would come 50 us
/// apart where waking goes through a hypervisor, and the caller has work of its own.
const WAKES: (u64, u64) = (2, 3);

type LoopBody<'a> = dyn Fn(u64) + Sync + 'a;

/// One parallel loop.
struct ParallelLoop {
    /// The next chunk to hand out; grows beyond `chunks`.
    next: AtomicU64,
    /// Chunks that have ended.
    done: AtomicU64,
    chunks: u64,
    /// The loop's body. Borrowed from the caller of `ThreadPool::parallel`: see there.
    work: *const LoopBody<'static>,
    failure: Mutex<Option<String>, { rank::FAILURE }>,
    failed: AtomicBool,
    finished: Mutex<bool, { rank::WORKERS }>,
    wake: Condvar,
}

// SAFETY: `work` points to a `Sync` function, used only while `ThreadPool::parallel` keeps it alive; the rest is Send.
unsafe impl Send for ParallelLoop {}
// SAFETY: as for `Send`.
unsafe impl Sync for ParallelLoop {}

impl ParallelLoop {
    fn remaining(&self) -> u64 {
        self.chunks.saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// Runs chunks until none is left to hand out.
    fn work(&self) {
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= self.chunks {
                return;
            }
            // After a panic the remaining chunks are only counted.
            if !self.failed.load(Ordering::Relaxed) {
                // SAFETY: this chunk is not counted in `done` yet, and `ThreadPool::parallel` does not return, and so keeps
                // the function borrowed, before every chunk is.
                let work = unsafe { &*self.work };
                if let Err(text) = caught(|| work(chunk)) {
                    self.failure.lock().get_or_insert(text);
                    self.failed.store(true, Ordering::Relaxed);
                }
            }
            // Release: whoever sees the count sees what the chunk wrote.
            if self.done.fetch_add(1, Ordering::AcqRel) + 1 == self.chunks {
                *self.finished.lock() = true;
                self.wake.notify_all();
            }
        }
    }

    /// Waits until all chunks have ended.
    fn finish(&self, spin: Duration) {
        if self.done.load(Ordering::Acquire) == self.chunks {
            return;
        }
        let start = Instant::now();
        while start.elapsed() < spin {
            for _ in 0..16 {
                if self.done.load(Ordering::Acquire) == self.chunks {
                    return;
                }
                spin_loop();
            }
        }
        let mut finished = self.finished.lock();
        while !*finished {
            self.wake.wait(&mut finished, rank::PIECES);
        }
    }
}

#[derive(Default)]
struct PoolState {
    /// Loops that may have chunks left, newest last.
    regions: Vec<Arc<ParallelLoop>>,
    sleeping: usize,
    closing: bool,
}

struct Shared {
    state: Mutex<PoolState, { rank::WORKERS }>,
    /// Changes when a loop starts, for workers that spin.
    epoch: AtomicU64,
    wake: Condvar,
    spin: Option<Duration>,
}

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
        Self::with_spin(threads, (processors() > 2 && threads <= processors()).then_some(WORKER_SPIN))
    }

    fn with_spin(threads: usize, spin: Option<Duration>) -> Self {
        let shared =
            Shared { state: Mutex::new(PoolState::default()), epoch: AtomicU64::new(0), wake: Condvar::new(), spin };
        Self { shared: Arc::new(shared), threads: threads.max(1), started: Once::new() }
    }

    /// Threads that compute, the caller included.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Calls `f` for each chunk number below `chunks`, on the workers and on this thread; returns when all calls have. A
    /// panic in `f` ends the loop early and is returned as an error. `f` may take locks of [`rank::PIECES`] and beyond, or
    /// any if the caller holds none.
    pub fn parallel(&self, chunks: u64, f: &LoopBody<'_>) -> Result<()> {
        if chunks <= 1 || self.threads == 1 {
            let all = caught(|| (0..chunks).for_each(f));
            return all.map_err(failure);
        }
        self.start();
        waits(rank::PIECES);
        // SAFETY: only the lifetime changes. The pointer is used for chunks counted below (`ParallelLoop::work`), and this
        // function returns only after all chunks have ended; nothing between here and there unwinds, as chunks are
        // caught. Workers that still hold the region later find no chunk and leave the pointer alone.
        let work = unsafe { std::mem::transmute::<*const LoopBody<'_>, *const LoopBody<'static>>(f) };
        let region = Arc::new(ParallelLoop {
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            chunks,
            work,
            failure: Mutex::new(None),
            failed: AtomicBool::new(false),
            finished: Mutex::new(false),
            wake: Condvar::new(),
        });
        let mut state = self.shared.state.lock();
        state.regions.push(Arc::clone(&region));
        self.shared.epoch.fetch_add(1, Ordering::Release);
        let asleep = state.sleeping as u64;
        drop(state);
        self.shared.rouse(asleep.min(chunks - 1).min(WAKES.0));
        region.work();
        let mut state = self.shared.state.lock();
        if let Some(at) = state.regions.iter().rposition(|r| Arc::ptr_eq(r, &region)) {
            state.regions.remove(at);
        }
        drop(state);
        region.finish(self.shared.spin.unwrap_or(Duration::from_micros(2)));
        let text = region.failure.lock().take();
        text.map_or(Ok(()), |text| Err(failure(text)))
    }

    fn start(&self) {
        self.started.call_once(|| {
            for n in 1..self.threads {
                let shared = Arc::clone(&self.shared);
                if let Err(e) = spawn_named(&format!("revamp-host-{n}"), move || shared.serve()) {
                    log!(Warn, "host threads: {n} of {} run: {e}", self.threads);
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
        self.shared.epoch.fetch_add(1, Ordering::Release);
        self.shared.wake.notify_all();
    }
}

impl Shared {
    /// Wakes this many workers.
    fn rouse(&self, workers: u64) {
        (0..workers).for_each(|_| {
            self.wake.notify_one();
        });
    }

    fn serve(&self) {
        let mut spun = false;
        let mut state = self.state.lock();
        loop {
            // The newest first, since an inner loop holds up the outer one.
            if let Some(region) = state.regions.iter().rev().find(|r| r.remaining() > 0) {
                let region = Arc::clone(region);
                let more = (state.sleeping as u64).min(region.remaining().saturating_sub(1));
                drop(state);
                self.rouse(more.min(WAKES.1));
                region.work();
                drop(region);
                spun = false;
                state = self.state.lock();
            } else if state.closing {
                return;
            } else if let Some(spin) = self.spin.filter(|_| !spun) {
                let seen = self.epoch.load(Ordering::Acquire);
                drop(state);
                spun = true;
                let start = Instant::now();
                while self.epoch.load(Ordering::Acquire) == seen && start.elapsed() < spin {
                    (0..16).for_each(|_| spin_loop());
                }
                state = self.state.lock();
            } else {
                state.sleeping += 1;
                self.wake.wait(&mut state, rank::NONE);
                state.sleeping -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let pool = ThreadPool::with_spin(3, Some(Duration::from_micros(200)));
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
        let pool = ThreadPool::with_spin(4, Some(WORKER_SPIN));
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
