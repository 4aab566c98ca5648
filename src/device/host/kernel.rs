//! Kernels that are functions of the host. The thread pool runs the threads of a domain.

use super::domain::Domain;
use super::fibre::{self, Stacks, Suspender};
use super::timer::HostTimer;
use crate::device::hazard::Point;
use crate::device::{Queue, TimerSlot, Use};
use crate::error::{Error, Result};
use crate::host::pool::ThreadPool;
use crate::host::threads::{InKernel, caught};
use crate::host::{HostBlock, HostSpan};
use crate::lock::{Mutex, rank, waits};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a launch runs on the launching thread alone before it wakes other threads: about the cost of waking them.
const SOLO_TIME: Duration = Duration::from_micros(8);
/// Like [`SOLO_TIME`], if other threads are idle but awake: about the cost of handing them a part.
const SOLO_TIME_WITH_IDLE_THREADS: Duration = Duration::from_nanos(1000);
/// The shortest work that is worth handing to another thread.
const MIN_PART_TIME: Duration = Duration::from_micros(3);
/// An OS thread keeps up to this many bytes of tile memory for the next tile.
const KEPT_TILE_MEMORY: u64 = 1 << 20;

/// How a thread of a kernel waits at the barrier of its tile.
enum Barrier<'a> {
    /// The launch is untiled and has no barrier.
    None,
    /// The thread suspends its coroutine.
    Tile(Suspender<'a>),
}

/// The position of a kernel's thread. While that thread runs, its `ThreadId` stays at one address, which no other
/// running thread uses.
///
/// A `ThreadId` must stay on the OS thread on which the kernel got it.
pub struct ThreadId<'a> {
    global: SmallVec<[i32; 4]>,
    /// 0 when untiled.
    tile_rank: usize,
    local: [i32; 3],
    tile: [i32; 3],
    origin: [i32; 3],
    memory: HostSpan,
    barrier: Barrier<'a>,
    failed: Cell<Option<Error>>,
}

impl ThreadId<'_> {
    /// Number of dimensions of the domain.
    pub fn rank(&self) -> usize {
        self.global.len()
    }
    /// The thread's index in the domain.
    pub fn global(&self) -> &[i32] {
        &self.global
    }
    /// The thread's index in its tile; empty without tiles.
    pub fn local(&self) -> &[i32] {
        &self.local[..self.tile_rank]
    }
    /// The index of the thread's tile among the tiles; empty without tiles.
    pub fn tile(&self) -> &[i32] {
        &self.tile[..self.tile_rank]
    }
    /// The index in the domain of the first thread of the thread's tile; empty without tiles.
    pub fn tile_origin(&self) -> &[i32] {
        &self.origin[..self.tile_rank]
    }
    /// Memory shared by the threads of the tile, aligned to 64 bytes, with undefined contents at first.
    pub fn tile_memory(&self) -> HostSpan {
        self.memory
    }
    /// True if the thread belongs to a tile.
    pub fn is_tiled(&self) -> bool {
        self.tile_rank > 0
    }

    /// Waits until every thread of the tile waits here or has returned. Threads that have not started are started first.
    ///
    /// Fails in an untiled launch, and makes the launch fail with that error too.
    pub fn barrier(&self) -> Result<()> {
        match self.barrier {
            Barrier::Tile(suspender) => {
                suspender.suspend();
                Ok(())
            }
            Barrier::None => {
                self.fail(no_tile());
                Err(no_tile())
            }
        }
    }

    /// Makes the launch fail with `error`, whatever the kernel's function returns. The first failure counts.
    pub fn fail(&self, error: Error) {
        let first = self.failed.take().unwrap_or(error);
        self.failed.set(Some(first));
    }

    /// Moves on to the next thread in the last dimension (for [`HostKernel::run_row`]).
    pub fn step(&mut self) {
        if let Some(last) = self.global.last_mut() {
            *last += 1;
        }
    }
}

fn no_tile() -> Error {
    Error::runtime(
        "a kernel launched without tiles waited at a tile barrier; launch it over a tiled domain (extent::tile)",
    )
}

/// A kernel that is a function of the host. Many threads call it at once.
pub trait HostKernel: Send + Sync {
    /// Runs one thread of the kernel. An error ends the launch early and becomes its error.
    fn run(&self, thread: &ThreadId<'_>) -> Result<()>;

    /// Runs `count` threads of an untiled launch that follow one another in the last dimension. `thread` is the first of
    /// these threads. Kernels with a loop that the compiler can vectorise override this.
    fn run_row(&self, thread: &mut ThreadId<'_>, count: u32) -> Result<()> {
        for _ in 0..count {
            self.run(thread)?;
            thread.step();
        }
        Ok(())
    }

    /// A number that usually distinguishes the kernel from other kernels; 0 if there is none.
    fn identity(&self) -> usize {
        0
    }

    /// Bytes of memory for [`HostKernel::run_tile`], if the kernel runs whole tiles.
    fn whole_tile_memory(&self) -> Option<u64> {
        None
    }

    /// Runs the threads of the tile with the index `tile` among the tiles. `_memory`: the memory of the tile.
    fn run_tile(&self, _tile: [i32; 3], _memory: HostSpan) -> Result<()> {
        Err(Error::internal("the kernel cannot run whole tiles"))
    }
}

impl<F: Fn(&ThreadId<'_>) -> Result<()> + Send + Sync> HostKernel for F {
    fn run(&self, thread: &ThreadId<'_>) -> Result<()> {
        self(thread)
    }
}

/// The first error of a launch. Once it is set, the other threads of the launch stop.
#[derive(Default)]
struct Failure {
    stop: AtomicBool,
    first: Mutex<Option<Error>, { rank::FAILURE }>,
}

impl Failure {
    fn set(&self, error: Error) {
        self.first.lock().get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs `kernel` once for each thread of `domain`, on the pool and on this thread. Returns when all have ended.
pub fn execute(pool: &ThreadPool, domain: &Domain, kernel: &dyn HostKernel) -> Result<()> {
    let total = domain.check()?;
    // The kernel is code of the program, so this thread must hold no lock.
    waits(rank::NONE);
    let failure = Failure::default();
    match &domain.tile {
        None => {
            spread(pool, total, kernel, &failure, &|from, to| run_threads(&domain.extent, kernel, from, to, &failure))
        }
        Some(tile) => {
            let shape = Tiling::new(domain, tile);
            if let Some(memory) = kernel.whole_tile_memory() {
                let part = |from, to| run_whole_tiles(&shape, kernel, memory as usize, from, to, &failure);
                spread(pool, shape.tiles, kernel, &failure, &part);
                return failure.first.into_inner().map_or(Ok(()), Err);
            }
            spread(pool, shape.tiles, kernel, &failure, &|from, to| run_tiles(&shape, kernel, from, to, &failure))
        }
    }
    failure.first.into_inner().map_or(Ok(()), Err)
}

/// For recently run kernels, the time of one item (a thread or a tile) in picoseconds, with a tag from the kernel's identity. The time is only
/// a guess, so any thread may overwrite it.
static RECENT_TIMES: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
/// The number of bits of the time in an entry of [`RECENT_TIMES`]; the tag has the other bits.
const TIME_BITS: u32 = 40;

/// The entry of a kernel in [`RECENT_TIMES`], and its tag there.
fn place(identity: usize) -> (&'static AtomicU64, u64) {
    (
        &RECENT_TIMES[(identity >> 4) % RECENT_TIMES.len()],
        (identity >> 10) as u64 & ((1 << (u64::BITS - TIME_BITS)) - 1),
    )
}

/// The approximate time that `items` items of a kernel will take, if the kernel ran recently.
fn expected_time(identity: usize, items: u64) -> Option<Duration> {
    let (kept, tag) = place(identity);
    let kept = kept.load(Ordering::Relaxed);
    let picoseconds = kept & ((1 << TIME_BITS) - 1);
    let known = identity != 0 && kept >> TIME_BITS == tag && picoseconds > 0;
    known.then(|| Duration::from_nanos(picoseconds.saturating_mul(items) / 1000))
}

/// Notes the time that `items` items of a kernel took.
fn record_time(identity: usize, items: u64, took: Duration) {
    let (place, tag) = place(identity);
    let each = (took.as_nanos() as u64).saturating_mul(1000) / items.max(1);
    let kept = place.load(Ordering::Relaxed);
    let before = if kept >> TIME_BITS == tag { kept & ((1 << TIME_BITS) - 1) } else { 0 };
    // Written only on a large change, since all threads read it.
    if identity != 0 && before.abs_diff(each) > before / 2 {
        place.store(each.clamp(1, (1 << TIME_BITS) - 1) | tag << TIME_BITS, Ordering::Relaxed);
    }
}

/// Runs `part(from, to)` over `0..total`. Uses the pool if the work is expected to take long enough. If the time is not
/// known, this thread first works alone for some microseconds.
fn spread(
    pool: &ThreadPool,
    total: u64,
    kernel: &dyn HostKernel,
    failure: &Failure,
    part: &(dyn Fn(u64, u64) -> Result<()> + Sync),
) {
    let identity = kernel.identity();
    let part = |from: u64, to: u64| {
        let _here = InKernel::enter();
        // Catching a panic around a loop over many threads costs little; around each thread it would cost much.
        match caught(|| part(from, to)) {
            Ok(Ok(())) => {}
            Ok(Err(e)) => failure.set(e),
            Err(text) => failure.set(Error::runtime(format!("a kernel panicked: {text}"))),
        }
    };
    if pool.threads() == 1 {
        return part(0, total);
    }
    let (mut at, mut took) = (0, Duration::ZERO);
    let solo_time = || if pool.has_idle() { SOLO_TIME_WITH_IDLE_THREADS } else { SOLO_TIME };
    let whole = expected_time(identity, total);
    // The clock is read after each part, so a kernel that is known to be short runs in few parts.
    let first = if whole.is_some_and(|whole| whole < solo_time()) { total / 4 } else { 0 };
    let start = Instant::now();
    while whole.is_none_or(|whole| whole < 2 * solo_time()) && at < total && !failure.stopped() {
        let Some(rest) = solo_time().checked_sub(took).filter(|rest| !rest.is_zero()) else { break };
        // Doubles the number of items each time, but takes at most about as many as fit into the remaining time.
        let fits = u128::from(at) * rest.as_nanos() / took.as_nanos().max(1);
        let more = if at == 0 { first } else { (at + 1).min(fits as u64) };
        let to = (at + more.max(1)).min(total);
        part(at, to);
        let passed = start.elapsed();
        record_time(identity, to - at, passed - took);
        at = to;
        took = passed;
    }
    if at == total || failure.stopped() {
        return;
    }
    let (items, took) = if at > 0 { (at, took) } else { (total, whole.unwrap_or_default()) };
    let least = u128::from(items) * MIN_PART_TIME.as_nanos() / took.as_nanos().max(1);
    let done = pool.parallel_ranges(total - at, least as u64, &|from, to| {
        if !failure.stopped() {
            let start = Instant::now();
            part(at + from, at + to);
            record_time(identity, to - from, start.elapsed());
        }
    });
    if let Err(e) = done {
        failure.set(e);
    }
}

/// Runs the threads `from..to` of an untiled domain in row-major order.
fn run_threads(extent: &[i32], kernel: &dyn HostKernel, from: u64, to: u64, failure: &Failure) -> Result<()> {
    let mut thread = ThreadId {
        global: SmallVec::from_elem(0, extent.len()),
        tile_rank: 0,
        local: [0; 3],
        tile: [0; 3],
        origin: [0; 3],
        memory: HostSpan::empty(),
        barrier: Barrier::None,
        failed: Cell::new(None),
    };
    let last = extent.len() - 1;
    let mut rest = from;
    for (i, &e) in thread.global.iter_mut().zip(extent).rev() {
        *i = (rest % e as u64) as i32;
        rest /= e as u64;
    }
    let mut at = from;
    while at < to && !failure.stopped() {
        let first = thread.global[last];
        let count = u64::from((extent[last] - first) as u32).min(to - at);
        let ran = kernel.run_row(&mut thread, count as u32);
        // An error that the thread has set takes precedence over the kernel's result.
        if let Some(e) = thread.failed.take() {
            return Err(e);
        }
        ran?;
        at += count;
        thread.global[last] = 0;
        for (i, &e) in thread.global[..last].iter_mut().zip(extent).rev() {
            *i += 1;
            if *i < e {
                break;
            }
            *i = 0;
        }
    }
    Ok(())
}

/// A tiled domain that passed [`Domain::check`].
struct Tiling {
    rank: usize,
    /// A tile's threads in each dimension.
    tile: [i32; 3],
    /// Tiles in each dimension.
    grid: [i32; 3],
    tiles: u64,
    threads: usize,
    memory: usize,
    poisoned: bool,
}

/// The fill byte of memory that a kernel must write before it reads: floats are NaN, integers -1.
const POISON: u8 = 0xff;

impl Tiling {
    fn new(domain: &Domain, tile: &[i32]) -> Self {
        let (extent, memory, poisoned) = (&domain.extent, domain.tile_memory, domain.poisoned);
        let mut shape = Self { rank: tile.len(), tile: [1; 3], grid: [1; 3], tiles: 1, threads: 1, memory, poisoned };
        for d in 0..tile.len() {
            shape.tile[d] = tile[d];
            shape.grid[d] = extent[d] / tile[d];
            shape.tiles *= shape.grid[d] as u64;
            shape.threads *= tile[d] as usize;
        }
        shape
    }
}

thread_local! {
    /// Tile memory of this OS thread while no tile uses it.
    static TILE_MEMORY: Cell<Option<HostBlock>> = const { Cell::new(None) };
}

/// The memory of one tile. Blocks are aligned to pages, which is more than the promised 64 bytes.
struct TileMemory {
    block: Option<HostBlock>,
}

impl TileMemory {
    fn new(bytes: usize) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self { block: None });
        }
        // The block is taken, not borrowed, so that a kernel that this kernel launches on the same thread gets other
        // memory.
        match TILE_MEMORY.take() {
            Some(block) if block.len() >= bytes as u64 => Ok(Self { block: Some(block) }),
            _ => Ok(Self { block: Some(HostBlock::new(bytes as u64)?) }),
        }
    }

    fn span(&self, bytes: usize) -> Result<HostSpan> {
        self.block.as_ref().map_or(Ok(HostSpan::empty()), |b| b.span().sub(0..bytes as u64))
    }
}

impl Drop for TileMemory {
    fn drop(&mut self) {
        if let Some(block) = self.block.take().filter(|b| b.len() <= KEPT_TILE_MEMORY) {
            // A thread that is ending cannot keep the block, and frees it.
            let _ = TILE_MEMORY.try_with(|kept| kept.set(Some(block)));
        }
    }
}

/// The threads of a tile that have not started.
struct Progress {
    left: Cell<usize>,
    /// The next thread's index in the tile.
    next: Cell<[i32; 3]>,
}

impl Progress {
    /// The next thread to start.
    fn take(&self, tile: &[i32; 3]) -> Option<[i32; 3]> {
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        let local = self.next.get();
        let mut next = local;
        for d in (0..3).rev() {
            next[d] += 1;
            if next[d] < tile[d] {
                break;
            }
            next[d] = 0;
        }
        self.next.set(next);
        Some(local)
    }
}

impl Tiling {
    /// The index of a tile among the tiles.
    fn place(&self, number: u64) -> [i32; 3] {
        let (mut tile, mut rest) = ([0; 3], number);
        for d in (0..3).rev() {
            tile[d] = (rest % self.grid[d] as u64) as i32;
            rest /= self.grid[d] as u64;
        }
        tile
    }
}

/// Runs tiles `from..to` of a kernel that runs whole tiles.
fn run_whole_tiles(
    shape: &Tiling,
    kernel: &dyn HostKernel,
    bytes: usize,
    from: u64,
    to: u64,
    failure: &Failure,
) -> Result<()> {
    let memory = TileMemory::new(bytes)?;
    let span = memory.span(bytes)?;
    for number in from..to {
        if failure.stopped() {
            break;
        }
        if shape.poisoned {
            span.fill(POISON);
        }
        kernel.run_tile(shape.place(number), span)?;
    }
    Ok(())
}

/// Runs tiles `from..to`, one at a time. Dimensions beyond the rank have extent 1, so that their index never changes.
fn run_tiles(shape: &Tiling, kernel: &dyn HostKernel, from: u64, to: u64, failure: &Failure) -> Result<()> {
    let memory = TileMemory::new(shape.memory)?;
    let span = memory.span(shape.memory)?;
    let mut stacks = Stacks::new();
    for number in from..to {
        if failure.stopped() {
            break;
        }
        if shape.poisoned {
            span.fill(POISON);
        }
        let tile = shape.place(number);
        let origin = std::array::from_fn(|d| tile[d] * shape.tile[d]);
        let progress = Progress { left: Cell::new(shape.threads), next: Cell::new([0; 3]) };
        let ended = fibre::run(&mut stacks, &|| progress.left.get(), &|suspender| {
            let mut thread = ThreadId {
                global: SmallVec::from_slice(&origin[..shape.rank]),
                tile_rank: shape.rank,
                local: [0; 3],
                tile,
                origin,
                memory: span,
                barrier: Barrier::Tile(suspender),
                failed: Cell::new(None),
            };
            // A coroutine runs threads until one of them waits. Then the next coroutine runs the threads that have not started.
            while let Some(local) = progress.take(&shape.tile) {
                thread.local = local;
                for d in 0..shape.rank {
                    thread.global[d] = origin[d] + local[d];
                }
                let ran = kernel.run(&thread);
                if let Some(e) = thread.failed.take().or(ran.err()) {
                    failure.set(e);
                    progress.left.set(0);
                }
            }
        });
        ended?;
    }
    Ok(())
}

/// Launches `kernel` over `domain` on a queue of a host device that runs kernels. The threads of `pool` share the work.
///
/// An error or panic of the kernel, or an invalid domain, becomes the failure of the point.
pub fn launch_host_kernel(
    queue: &dyn Queue,
    pool: &Arc<ThreadPool>,
    uses: &[Use],
    domain: Domain,
    kernel: Arc<dyn HostKernel>,
    timer: Option<&TimerSlot>,
) -> Result<Point> {
    let pool = Arc::clone(pool);
    let run = move || execute(&pool, &domain, &*kernel);
    let Some(slot) = timer else { return queue.run(uses, Box::new(run)) };
    let timer = Arc::new(HostTimer::default());
    let _ = slot.set(timer.clone());
    queue.run(uses, Box::new(move || timer.measure(run)))
}

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod tests;
