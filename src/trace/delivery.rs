//! Delivers the messages of all threads in order: only one thread delivers at a time, and no message is left behind.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{AtomicBool, Ordering};

/// Delivers messages by calling `next` until it returns false, which means that no message is left. If another thread is
/// delivering, that thread also delivers the messages of this thread. The caller must add a message before it sets `has_messages`.
pub fn deliver(has_messages: &AtomicBool, delivering: &AtomicBool, mut next: impl FnMut() -> bool) {
    while has_messages.load(Ordering::Acquire) && !delivering.swap(true, Ordering::AcqRel) {
        has_messages.store(false, Ordering::Relaxed);
        while next() {}
        // A swap with acquire, not a store: this thread must see the messages of threads that found `delivering` set.
        delivering.swap(false, Ordering::AcqRel);
    }
}
