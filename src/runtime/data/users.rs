//! Counts the views of a data source, and finishes when the last one goes.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{AtomicUsize, Ordering};

/// A count of users. The last one counts until its finishing work is done, so that a new one may join meanwhile.
#[derive(Default)]
pub struct Users {
    count: AtomicUsize,
}

impl Users {
    /// Adds a user. Only users may call it, or a thread that holds the lock of [`Users::leave`].
    pub fn join(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// True if there are users. Call it under the lock of [`Users::leave`].
    pub fn are_there(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Removes a user. The last user runs `finish` without a lock, because it may wait for other threads. Then it runs `close`
    /// under a lock that keeps new users out. If `close` finds more to finish, it starts over. If new users joined meanwhile,
    /// the last of them does this work.
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

    /// Leaves, unless this is the last user.
    fn others_stay(&self) -> bool {
        let others = |users: usize| (users > 1).then(|| users - 1);
        self.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, others).is_ok()
    }
}
