//! The library's allocator: the system's heap, with a reserve for code that cannot report a lack of memory. A call begins only
//! while the reserve has room (`is_ready`). So a lack of memory makes the next call fail, and does not abort the process.
//!
//! Containers whose size the caller controls grow by `crate::grow`, which reports a lack of memory itself.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[global_allocator]
static HEAP: Heap = Heap;

struct Heap;

/// The size of a piece of the reserve in bytes. Its pages take no memory before they are used.
const PIECE: usize = 4 << 20;
/// The maximum number of pieces. The first piece is part of the library. Other pieces are allocated when no piece is half free and
/// memory is available again.
const PIECES: usize = 16;
/// The allocation unit of a piece: its size and alignment in bytes. No type of the library has a larger alignment.
const UNIT: usize = 128;
const UNITS: usize = PIECE / UNIT;
/// The largest block that the reserve provides, in bytes.
const LARGEST: usize = PIECE / 8;

/// True while a piece of the reserve is at least half free.
static READY: AtomicBool = AtomicBool::new(true);
/// The number of blocks of the reserve that are in use.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// A part of the reserve.
#[derive(Clone, Copy)]
struct Piece {
    /// Null if the piece does not exist.
    start: *mut u8,
    used: usize,
    /// A bit for each unit in use.
    map: [u64; UNITS / 64],
}

impl Piece {
    const NONE: Self = Self { start: null_mut(), used: 0, map: [0; UNITS / 64] };
    const LAYOUT: Layout = match Layout::from_size_align(PIECE, UNIT) {
        Ok(layout) => layout,
        Err(_) => Layout::new::<u8>(),
    };

    fn is_used(&self, unit: usize) -> bool {
        self.map[unit / 64] >> (unit % 64) & 1 == 1
    }

    /// Marks units as used, or as free.
    fn mark(&mut self, first: usize, count: usize, used: bool) {
        for unit in first..first + count {
            let bit = 1 << (unit % 64);
            if used { self.map[unit / 64] |= bit } else { self.map[unit / 64] &= !bit }
        }
        self.used = if used { self.used + count } else { self.used - count };
    }

    /// The first of `count` consecutive free units.
    fn find(&self, count: usize) -> Option<usize> {
        let (mut free, mut unit) = (0, 0);
        while unit < UNITS {
            if unit % 64 == 0 && self.map[unit / 64] == u64::MAX {
                (free, unit) = (0, unit + 64);
                continue;
            }
            free = if self.is_used(unit) { 0 } else { free + 1 };
            unit += 1;
            if free == count {
                return Some(unit - count);
            }
        }
        None
    }

    /// The unit at which a block begins; `None` if the block does not belong to this piece.
    fn unit_of(&self, block: *mut u8) -> Option<usize> {
        let at = block.addr().wrapping_sub(self.start.addr());
        (!self.start.is_null() && at < PIECE).then_some(at / UNIT)
    }

    /// True if this piece has enough room for calls to begin.
    fn is_ready(&self) -> bool {
        !self.start.is_null() && self.used <= UNITS / 2
    }
}

/// The reserve, protected by a lock that needs no memory. The lock is held for a few instructions, and only while memory is short.
struct Reserve {
    locked: AtomicBool,
    pieces: UnsafeCell<[Piece; PIECES]>,
}

// SAFETY: only `with` accesses the pieces, and it holds the lock meanwhile.
unsafe impl Sync for Reserve {}

/// The bytes of the first piece, which exists before the first call.
#[repr(align(128))]
struct First(UnsafeCell<[u8; PIECE]>);

const _: () = assert!(align_of::<First>() == UNIT);

// SAFETY: the bytes are accessed only through blocks of the reserve, each of which has one owner.
unsafe impl Sync for First {}

static FIRST: First = First(UnsafeCell::new([0; PIECE]));

static RESERVE: Reserve = {
    let mut pieces = [Piece::NONE; PIECES];
    pieces[0].start = FIRST.0.get().cast();
    Reserve { locked: AtomicBool::new(false), pieces: UnsafeCell::new(pieces) }
};

impl Reserve {
    fn lock(&self) {
        while self.locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    fn unlock(&self) {
        self.locked.store(false, Ordering::Release);
    }

    fn with<R>(&self, f: impl FnOnce(&mut [Piece; PIECES]) -> R) -> R {
        self.lock();
        // SAFETY: the lock is held, and `f` does not call `with`.
        let result = f(unsafe { &mut *self.pieces.get() });
        self.unlock();
        result
    }

    /// Allocates a block of the reserve; null if the reserve has no room for it.
    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST || layout.align() > UNIT {
            return null_mut();
        }
        let count = layout.size().div_ceil(UNIT).max(1);
        self.with(|pieces| {
            for piece in pieces.iter_mut().filter(|p| !p.start.is_null()) {
                let Some(first) = piece.find(count) else { continue };
                piece.mark(first, count, true);
                let start = piece.start.wrapping_add(first * UNIT);
                LIVE.fetch_add(1, Ordering::Relaxed);
                READY.store(pieces.iter().any(Piece::is_ready), Ordering::Relaxed);
                return start;
            }
            null_mut()
        })
    }

    /// Frees a block; false if it does not belong to the reserve.
    #[cold]
    fn give_back(&self, block: *mut u8, size: usize) -> bool {
        let count = size.div_ceil(UNIT).max(1);
        self.with(|pieces| {
            let Some((at, first)) = pieces.iter().enumerate().find_map(|(at, p)| Some((at, p.unit_of(block)?))) else {
                return false;
            };
            LIVE.fetch_sub(1, Ordering::Relaxed);
            pieces[at].mark(first, count, false);
            // An unused piece is freed if another piece is ready.
            let ready_pieces = pieces.iter().filter(|p| p.is_ready()).count();
            if pieces[at].used == 0 && ready_pieces > 1 && pieces[at].start != FIRST.0.get().cast() {
                let piece = std::mem::replace(&mut pieces[at], Piece::NONE);
                // SAFETY: `fill` allocated the piece with this layout, and none of its units is in use.
                unsafe { System.dealloc(piece.start, Piece::LAYOUT) };
            }
            READY.store(pieces.iter().any(Piece::is_ready), Ordering::Relaxed);
            true
        })
    }

    /// Allocates a new piece if no piece is half free; false if there is no memory for it.
    #[cold]
    fn fill(&self) -> bool {
        self.with(|pieces| {
            if !pieces.iter().any(Piece::is_ready) {
                let Some(missing_piece) = pieces.iter_mut().find(|p| p.start.is_null()) else { return false };
                // SAFETY: the layout's size is not 0.
                missing_piece.start = unsafe { System.alloc(Piece::LAYOUT) };
                if missing_piece.start.is_null() {
                    return false;
                }
            }
            READY.store(true, Ordering::Relaxed);
            true
        })
    }
}

/// True if the reserve has enough room for a call to begin.
#[inline]
pub fn is_ready() -> bool {
    READY.load(Ordering::Relaxed) || RESERVE.fill()
}

/// Takes the reserve's lock before a fork, so that no other thread holds the lock in the child.
pub fn before_fork() {
    RESERVE.lock();
}

/// Releases the lock that [`before_fork`] took, in the parent and in the child.
pub fn after_fork() {
    RESERVE.unlock();
}

/// True if the system has memory now. Checked before the library starts a thread: std bypasses this heap there, and aborts the
/// process if it gets no memory.
pub fn has_memory() -> bool {
    const PROBE: Layout = Layout::new::<[u64; 512]>();
    // SAFETY: the layout's size is not 0, and nothing uses the block.
    unsafe {
        let block = System.alloc(PROBE);
        if !block.is_null() {
            System.dealloc(block, PROBE);
        }
        !block.is_null()
    }
}

// SAFETY: blocks come from the system, or are units of the reserve that have no other owner until they are freed.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the same contract.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() { RESERVE.take(layout) } else { block }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the same contract.
        let mut block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            block = RESERVE.take(layout);
            if !block.is_null() {
                // SAFETY: the block is of that size.
                unsafe { block.write_bytes(0, layout.size()) };
            }
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if LIVE.load(Ordering::Relaxed) == 0 || !RESERVE.give_back(block, layout.size()) {
            // SAFETY: the same contract; the block came from the system.
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let is_in_reserve = LIVE.load(Ordering::Relaxed) != 0
            && RESERVE.with(|pieces| pieces.iter().any(|p| p.unit_of(block).is_some()));
        if !is_in_reserve {
            // SAFETY: the same contract; the block came from the system.
            let moved = unsafe { System.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller vouches for the new size and the alignment. Both blocks are at least as large as the copied bytes, and the
        // old one is no longer used.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !moved.is_null() {
                block.copy_to_nonoverlapping(moved, layout.size().min(size));
                self.dealloc(block, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    fn empty_reserve() -> Reserve {
        Reserve { locked: AtomicBool::new(false), pieces: UnsafeCell::new([Piece::NONE; PIECES]) }
    }

    #[test]
    fn blocks_of_the_reserve_do_not_overlap_and_are_used_again() {
        let reserve = empty_reserve();
        assert!(reserve.take(layout(8)).is_null() && reserve.fill());
        let blocks: Vec<_> = (0..1000).map(|n| (reserve.take(layout(n + 1)), n + 1)).collect();
        let mut ends: Vec<_> = blocks.iter().map(|(b, size)| (b.addr(), b.addr() + size)).collect();
        ends.sort_unstable();
        assert!(ends.windows(2).all(|two| two[0].1 <= two[1].0) && blocks.iter().all(|(b, _)| b.addr() % UNIT == 0));
        for &(block, size) in blocks.iter().rev() {
            assert!(reserve.give_back(block, size));
        }
        assert_eq!(reserve.take(layout(70)), blocks[0].0);
        assert!(reserve.give_back(blocks[0].0, 70) && !reserve.give_back((&raw const reserve).cast_mut().cast(), 1));
        reserve.with(|pieces| assert!(pieces[0].used == 0 && pieces[0].map.iter().all(|&w| w == 0)));
    }

    #[test]
    fn a_used_up_reserve_gets_another_piece() {
        let reserve = empty_reserve();
        assert!(reserve.fill());
        let mut blocks: Vec<_> = (0..5).map(|_| reserve.take(layout(LARGEST))).collect();
        assert!(reserve.fill());
        blocks.extend((0..4).map(|_| reserve.take(layout(LARGEST))));
        assert!(blocks.iter().all(|b| !b.is_null()) && reserve.take(layout(LARGEST + 1)).is_null());
        reserve.with(|pieces| assert!(!pieces[1].start.is_null()));
        for block in blocks {
            assert!(reserve.give_back(block, LARGEST));
        }
        reserve.with(|pieces| assert_eq!(pieces.iter().filter(|p| !p.start.is_null()).count(), 1));
    }
}
