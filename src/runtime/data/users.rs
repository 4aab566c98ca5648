//! How many views a data source has, and what happens when the last one goes.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{AtomicUsize, Ordering};

/// Counts users. The last one counts until all is finished after it, so that a new one may join meanwhile.
#[derive(Default)]
pub struct Users {
    count: AtomicUsize,
}

impl Users {
    /// One more: known to a user, or to who holds the lock of [`Users::leave`].
    pub fn join(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// True if there are any. To be asked under the lock of [`Users::leave`].
    pub fn are_there(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// One less. The last one runs `finish` without a lock, as it may wait for others, and then `close` under one that keeps
    /// new users out; if `close` says that there is more to finish, all again. Users that came meanwhile do it in its place.
    pub fn leave<T, L>(&self, mut finish: impl FnMut() -> T, lock: impl Fn() -> L, mut close: impl FnMut(T) -> bool) {
        if self.others_stay() {
            return;
        }
        loop {
            let finished = finish();
            let _lock = lock();
            if self.others_stay() {
                return;
            }
            if close(finished) {
                self.count.store(0, Ordering::Release);
                return;
            }
        }
    }

    /// Leaves, unless it is the last one.
    fn others_stay(&self) -> bool {
        let others = |users: usize| (users > 1).then(|| users - 1);
        self.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, others).is_ok()
    }
}
