//! Rings of staging chunks. Transfers pass through these chunks of host memory. A ring has a maximum size, and its chunks are freed
//! after some idle time.

use super::core::Core;
use super::memory::{AllocationRequest, Mapping, VulkanBuffer};
use crate::device::hazard::{Point, any_lost};
use crate::device::{Buffer, Direction};
use crate::error::Result;
use crate::lock::{Condvar, Mutex, rank};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A staging chunk.
pub(super) struct Chunk {
    /// The memory.
    pub buffer: Arc<dyn Buffer>,
    /// The work that uses the chunk. The code that submits the work sets it. The chunk is not reused before the work is done.
    pub busy: Option<Point>,
}

struct RingState {
    free: VecDeque<Chunk>,
    /// The number of chunks that exist.
    chunk_count: usize,
    /// The time when a chunk was taken last.
    last_taken: Instant,
}

/// Chunks of one size and direction.
pub(super) struct Ring {
    /// Bytes of a chunk.
    pub size: u64,
    /// The maximum number of chunks.
    most: usize,
    direction: Direction,
    state: Mutex<RingState, { rank::RING }>,
    returned: Condvar,
}

impl Ring {
    /// A ring of at most `most` chunks of `size` bytes. Chunks are created when needed.
    pub fn new(direction: Direction, size: u64, most: usize) -> Self {
        let state = Mutex::new(RingState { free: VecDeque::new(), chunk_count: 0, last_taken: Instant::now() });
        Self { size, most, direction, state, returned: Condvar::new() }
    }

    /// Takes a chunk that the device does not use any more. Waits if the ring has no such chunk and cannot grow.
    pub fn take(&self, core: &Arc<Core>) -> Result<Chunk> {
        let mut state = self.state.lock();
        state.last_taken = Instant::now();
        let mut chunk = loop {
            if state.free.front().is_some_and(|c| c.busy.as_ref().is_none_or(Point::reached)) {
                if let Some(chunk) = state.free.pop_front() {
                    break chunk;
                }
            } else if state.chunk_count < self.most {
                state.chunk_count += 1;
                drop(state);
                match self.make(core) {
                    Ok(chunk) => return Ok(chunk),
                    Err(e) => {
                        self.state.lock().chunk_count -= 1;
                        // Threads that wait for a chunk may try to create one now.
                        self.returned.notify_all();
                        return Err(e);
                    }
                }
            } else if let Some(chunk) = state.free.pop_front() {
                break chunk;
            } else {
                self.returned.wait(&mut state, rank::PIECES);
            }
        };
        drop(state);
        if let Some(point) = chunk.busy.take() {
            // Lost work no longer uses the chunk either. The users of the destination get the error of the loss.
            if let Err(e) = point.wait(None) {
                if !point.reached() {
                    self.give(chunk);
                    return Err(e);
                }
            }
            if any_lost() {
                chunk.buffer.tracker().take_lost();
            }
        }
        Ok(chunk)
    }

    /// The total size of the chunks in bytes, and its maximum.
    pub fn bytes(&self) -> (u64, u64) {
        (self.state.lock().chunk_count as u64 * self.size, self.most as u64 * self.size)
    }

    /// Frees the unused chunks if no chunk was taken for at least `idle`. True if any were freed.
    pub fn trim(&self, idle: Duration) -> bool {
        let mut state = self.state.lock();
        if state.chunk_count == 0 || state.last_taken.elapsed() < idle {
            return false;
        }
        let (busy, free): (Vec<Chunk>, Vec<Chunk>) =
            state.free.drain(..).partition(|c| c.busy.as_ref().is_some_and(|p| !p.reached()));
        state.free = VecDeque::from(busy);
        state.chunk_count -= free.len();
        drop(state);
        !free.is_empty()
    }

    /// Puts a chunk back into the ring.
    pub fn give(&self, chunk: Chunk) {
        self.state.lock().free.push_back(chunk);
        self.returned.notify_one();
    }

    fn make(&self, core: &Arc<Core>) -> Result<Chunk> {
        // HOST_CACHED memory for both directions: several threads fill it faster than write-combined memory (measured on an H200).
        let memory_type = core.physical.memory_types.readback;
        let label = match self.direction {
            Direction::Upload => "upload ring",
            Direction::Download => "readback ring",
        };
        let buffer = VulkanBuffer::new(
            core,
            self.size,
            &AllocationRequest { memory_type, mapped: Mapping::Host, staging: true },
            label,
        )?;
        Ok(Chunk { buffer, busy: None })
    }
}
