//! The parallel loops that have items left, where threads without work look for some: without a lock, since threads that
//! spin find a new loop all at once.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].
#![allow(unsafe_code)]

use super::sync::{AtomicPtr, AtomicU64, Ordering};

/// Loops at once; more run on their callers alone.
const SLOTS: usize = 32;

/// The bits of [`Slot::left`] that count items; above them is how items are handed out.
const COUNT: u32 = 56;
const LEFT: u64 = (1 << COUNT) - 1;
/// In [`Loop::done`]: the caller sleeps until the loop has ended.
const ASLEEP: u64 = 1 << 63;

/// How items are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Portion {
    /// One by one.
    One,
    /// Many at once while there are many; no fewer than 2 to the power of this while each thread gets some.
    Many(u8),
}

/// What many threads change stands apart from what others read.
#[derive(Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

/// A loop, where its caller has it. `W` is what runs an item.
pub struct Loop<W> {
    total: u64,
    portion: Portion,
    /// Items that have ended, and whether the caller sleeps.
    done: Apart<AtomicU64>,
    /// What runs its items.
    pub work: W,
}

impl<W> Loop<W> {
    /// A loop over `0..total`.
    pub fn new(total: u64, portion: Portion, work: W) -> Self {
        Self { total, portion, done: Apart(AtomicU64::new(0)), work }
    }

    /// True when all items have ended; what they wrote is seen then.
    pub fn has_ended(&self) -> bool {
        self.done.0.load(Ordering::Acquire) & !ASLEEP == self.total
    }

    /// Says that the caller sleeps until it is woken: false if the loop has ended.
    pub fn falls_asleep(&self) -> bool {
        self.done.0.fetch_or(ASLEEP, Ordering::AcqRel) & !ASLEEP != self.total
    }

    /// Counts items that were claimed and have ended: true if the caller must be woken. The loop may be gone then.
    pub fn end(&self, items: u64) -> bool {
        let total = self.total;
        self.done.0.fetch_add(items, Ordering::AcqRel) + items == total | ASLEEP
    }
}

/// A slot for a loop.
struct Slot<W> {
    /// Items left, with the portion.
    left: AtomicU64,
    of: AtomicPtr<Loop<W>>,
}

/// The loops.
pub struct Board<W> {
    /// A bit for each slot whose loop has items left.
    open: Apart<AtomicU64>,
    /// A bit for each slot that has a loop.
    taken: Apart<AtomicU64>,
    slots: [Apart<Slot<W>>; SLOTS],
    /// Threads that share the items of a loop.
    threads: u64,
}

/// Items that a thread has claimed, and must run and count in [`Loop::end`].
#[derive(Debug, PartialEq, Eq)]
pub struct Claim<T> {
    /// The loop.
    pub of: T,
    /// The first item.
    pub from: u64,
    /// The item behind the last one.
    pub to: u64,
}

impl<W> Board<W> {
    /// An empty one.
    pub fn new(threads: u64) -> Self {
        let slot = |_| Apart(Slot { left: AtomicU64::new(0), of: AtomicPtr::new(std::ptr::null_mut()) });
        let (open, taken) = (Apart(AtomicU64::new(0)), Apart(AtomicU64::new(0)));
        Self { open, taken, slots: std::array::from_fn(slot), threads }
    }

    /// Offers a loop that has items, and returns its slot; `None` if there is no free one.
    ///
    /// # Safety
    /// The loop stays where it is until it has ended, and [`Self::close`] comes then.
    pub unsafe fn offer(&self, what: &Loop<W>) -> Option<usize> {
        let mut taken = self.taken.0.load(Ordering::Relaxed);
        let at = loop {
            let at = (!taken).trailing_zeros() as usize;
            if at >= SLOTS || what.total > LEFT {
                return None;
            }
            // Acquire: after the end of the loop that was here.
            match self.taken.0.compare_exchange(taken, taken | 1 << at, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break at,
                Err(now) => taken = now,
            }
        };
        let how = match what.portion {
            Portion::One => 0,
            Portion::Many(least) => 1 + u64::from(least.min(50)),
        };
        self.slots[at].0.of.store(std::ptr::from_ref(what).cast_mut(), Ordering::Relaxed);
        // Before there are items: who claims the last ones takes this back.
        self.open.0.fetch_or(1 << at, Ordering::SeqCst);
        // Release: who claims of it finds the loop.
        self.slots[at].0.left.store(what.total | how << COUNT, Ordering::Release);
        Some(at)
    }

    /// Frees the slot of a loop that has ended.
    pub fn close(&self, at: usize) {
        self.taken.0.fetch_and(!(1 << at), Ordering::Release);
    }

    /// The slot of a loop that has items left. The last one, since inner loops hold up outer ones and mostly come behind them.
    pub fn look(&self) -> Option<usize> {
        let open = self.open.0.load(Ordering::SeqCst);
        (open != 0).then(|| 63 - open.leading_zeros() as usize)
    }

    /// True if there is a loop at this slot alone.
    pub fn is_only(&self, at: usize) -> bool {
        self.taken.0.load(Ordering::Relaxed) == 1 << at
    }

    /// How often a thread could still claim items there, about.
    pub fn claims_left(&self, at: usize) -> u64 {
        let word = self.slots[at].0.left.load(Ordering::Relaxed);
        (word & LEFT).div_ceil(self.portion(word).max(1))
    }

    /// The items to claim at once of a loop with so many left.
    fn portion(&self, word: u64) -> u64 {
        let left = word & LEFT;
        match word >> COUNT {
            0 => left.min(1),
            least => left.div_ceil(self.threads).min(1 << (least - 1)).max(left / (4 * self.threads)),
        }
    }

    /// Claims items of the loop at this slot, if it has some left. The loop cannot end before they have.
    pub fn claim(&self, at: usize) -> Option<Claim<&Loop<W>>> {
        let slot = &self.slots[at].0;
        let mut word = slot.left.load(Ordering::Relaxed);
        loop {
            let left = word & LEFT;
            if left == 0 {
                return None;
            }
            let items = self.portion(word);
            // If this is another loop's word by now, the claim is one of that loop: all that is read of it is read below.
            match slot.left.compare_exchange_weak(word, word - items, Ordering::AcqRel, Ordering::Relaxed) {
                Err(now) => word = now,
                Ok(_) => {
                    // Once for each loop, and before its end.
                    if left == items {
                        self.open.0.fetch_and(!(1 << at), Ordering::Relaxed);
                    }
                    // SAFETY: items of it are claimed and have not ended, so it is where it was offered.
                    let of = unsafe { &*slot.of.load(Ordering::Relaxed) };
                    let from = of.total - left;
                    return Some(Claim { of, from, to: from + items });
                }
            }
        }
    }
}
