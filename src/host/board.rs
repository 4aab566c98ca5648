//! The board: the list of parallel loops with items left. Idle threads search this list for work. The list is lock-free, because all
//! spinning threads find a new loop at the same time.
//!
//! `tests/rust/loom.rs` runs this file under loom, so it uses the types of [`super::sync`].
#![allow(unsafe_code)]

use super::sync::{AtomicPtr, AtomicU64, Ordering};

/// The maximum number of loops at the same time. Further loops run on their callers alone.
const SLOTS: usize = 32;

/// The number of low bits of [`Slot::left`] that count items. The bits above them encode the portion.
const COUNT_BITS: u32 = 56;
const LEFT_MASK: u64 = (1 << COUNT_BITS) - 1;
/// A bit of [`Loop::done`]: the caller sleeps until the loop has ended.
const ASLEEP: u64 = 1 << 63;

/// How many items a thread claims at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Portion {
    /// One item.
    One,
    /// A quarter of a thread's share of the items left, but at least 2^n items (n: this number), or the whole share if
    /// the share is smaller.
    Many(u8),
}

/// A value that is alone in its cache lines, so that writes to the value do not slow down reads of its neighbours.
#[derive(Default)]
#[repr(align(128))]
pub struct CachePadded<T>(pub T);

/// A parallel loop, owned by its caller. `W` runs the items.
pub struct Loop<W> {
    total: u64,
    portion: Portion,
    /// The number of items that have ended, and the bit [`ASLEEP`].
    done: CachePadded<AtomicU64>,
    /// Runs the items.
    pub work: W,
}

impl<W> Loop<W> {
    /// A loop over `0..total`.
    pub fn new(total: u64, portion: Portion, work: W) -> Self {
        Self { total, portion, done: CachePadded(AtomicU64::new(0)), work }
    }

    /// True when all items have ended. Their writes are visible then.
    pub fn has_ended(&self) -> bool {
        self.done.0.load(Ordering::Acquire) & !ASLEEP == self.total
    }

    /// Notes that the caller will sleep until it is woken. False if the loop has ended already.
    pub fn announce_sleep(&self) -> bool {
        self.done.0.fetch_or(ASLEEP, Ordering::AcqRel) & !ASLEEP != self.total
    }

    /// Counts claimed items that have ended. True if the caller must be woken. The loop may no longer exist after this call.
    pub fn end(&self, items: u64) -> bool {
        let total = self.total;
        self.done.0.fetch_add(items, Ordering::AcqRel) + items == total | ASLEEP
    }
}

/// A slot for a loop.
struct Slot<W> {
    /// The number of items left, and the portion.
    left: AtomicU64,
    parallel_loop: AtomicPtr<Loop<W>>,
}

/// The list of parallel loops.
pub struct Board<W> {
    /// A bit for each slot whose loop has items left.
    open: CachePadded<AtomicU64>,
    /// A bit for each slot that has a loop.
    taken: CachePadded<AtomicU64>,
    slots: [CachePadded<Slot<W>>; SLOTS],
    /// The number of threads that share the items of a loop.
    threads: u64,
}

/// Items that a thread has claimed. The thread must run them and count them in [`Loop::end`].
#[derive(Debug, PartialEq, Eq)]
pub struct Claim<T> {
    /// The loop.
    pub parallel_loop: T,
    /// The first item.
    pub from: u64,
    /// The end: one past the last item.
    pub to: u64,
}

impl<W> Board<W> {
    /// An empty board.
    pub fn new(threads: u64) -> Self {
        let slot =
            |_| CachePadded(Slot { left: AtomicU64::new(0), parallel_loop: AtomicPtr::new(std::ptr::null_mut()) });
        let (open, taken) = (CachePadded(AtomicU64::new(0)), CachePadded(AtomicU64::new(0)));
        Self { open, taken, slots: std::array::from_fn(slot), threads }
    }

    /// Offers a loop that has items, and returns its slot; `None` if no slot is free.
    ///
    /// # Safety
    /// The caller does not move or drop the loop before it has ended, and then calls [`Self::close`].
    pub unsafe fn offer(&self, offered: &Loop<W>) -> Option<usize> {
        let mut taken = self.taken.0.load(Ordering::Relaxed);
        let at = loop {
            let at = (!taken).trailing_zeros() as usize;
            if at >= SLOTS || offered.total > LEFT_MASK {
                return None;
            }
            // Acquire: the end of the previous loop in this slot happens before this loop is stored.
            match self.taken.0.compare_exchange(taken, taken | 1 << at, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break at,
                Err(now) => taken = now,
            }
        };
        let portion_code = match offered.portion {
            Portion::One => 0,
            Portion::Many(least) => 1 + u64::from(least.min(50)),
        };
        self.slots[at].0.parallel_loop.store(std::ptr::from_ref(offered).cast_mut(), Ordering::Relaxed);
        // Must precede the store of the items: the thread that claims the last items clears this bit.
        self.open.0.fetch_or(1 << at, Ordering::SeqCst);
        // Release: a thread that claims items sees the pointer to the loop.
        self.slots[at].0.left.store(offered.total | portion_code << COUNT_BITS, Ordering::Release);
        Some(at)
    }

    /// Frees the slot of a loop that has ended.
    pub fn close(&self, at: usize) {
        self.taken.0.fetch_and(!(1 << at), Ordering::Release);
    }

    /// Finds the slot of a loop that has items left. Prefers the last slot, because outer loops wait for inner loops, and inner loops
    /// usually have later slots.
    pub fn look(&self) -> Option<usize> {
        let open = self.open.0.load(Ordering::SeqCst);
        (open != 0).then(|| 63 - open.leading_zeros() as usize)
    }

    /// True if no other slot has a loop.
    pub fn is_only(&self, at: usize) -> bool {
        self.taken.0.load(Ordering::Relaxed) == 1 << at
    }

    /// The approximate number of further claims until the loop in this slot has no items left.
    pub fn claims_left(&self, at: usize) -> u64 {
        let word = self.slots[at].0.left.load(Ordering::Relaxed);
        (word & LEFT_MASK).div_ceil(self.portion(word).max(1))
    }

    /// The number of items to claim at once. `word`: the value of [`Slot::left`].
    fn portion(&self, word: u64) -> u64 {
        let left = word & LEFT_MASK;
        match word >> COUNT_BITS {
            0 => left.min(1),
            least => left.div_ceil(self.threads).min(1 << (least - 1)).max(left / (4 * self.threads)),
        }
    }

    /// Claims items of the loop in this slot, if any are left. The loop cannot end before the claimed items have ended.
    pub fn claim(&self, at: usize) -> Option<Claim<&Loop<W>>> {
        let slot = &self.slots[at].0;
        let mut word = slot.left.load(Ordering::Relaxed);
        loop {
            let left = word & LEFT_MASK;
            if left == 0 {
                return None;
            }
            let items = self.portion(word);
            // Another loop with the same word may have taken the slot meanwhile. The claim is then for that loop. This is safe, because the
            // loop's fields are read only after the claim.
            match slot.left.compare_exchange_weak(word, word - items, Ordering::AcqRel, Ordering::Relaxed) {
                Err(now) => word = now,
                Ok(_) => {
                    // This happens once for each loop, and before the loop ends.
                    if left == items {
                        self.open.0.fetch_and(!(1 << at), Ordering::Relaxed);
                    }
                    // SAFETY: claimed items of the loop have not ended, so the caller has not moved or dropped it.
                    let parallel_loop = unsafe { &*slot.parallel_loop.load(Ordering::Relaxed) };
                    let from = parallel_loop.total - left;
                    return Some(Claim { parallel_loop, from, to: from + items });
                }
            }
        }
    }
}
