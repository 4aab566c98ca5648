//! Messages written by any thread are handed over by one thread at a time, in order, and none is left behind.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{AtomicBool, Ordering};

/// Hands over what there is by `next`, which is false when nothing is left; unless another thread is doing that, which then
/// takes what this thread wrote as well. A message is written before `any` is set.
pub fn deliver(any: &AtomicBool, delivering: &AtomicBool, mut next: impl FnMut() -> bool) {
    while any.load(Ordering::Acquire) && !delivering.swap(true, Ordering::AcqRel) {
        any.store(false, Ordering::Relaxed);
        while next() {}
        // A swap, not a store: it sees what whoever found this thread delivering had written before.
        delivering.swap(false, Ordering::AcqRel);
    }
}
