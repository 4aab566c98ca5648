//! Counts the users of a data source (its array_views), and finishes the work of the source when the last user leaves.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{AtomicUsize, Ordering};

/// A count of users. The last user is counted until it has finished the work, so that new users may join meanwhile.
#[derive(Default)]
pub struct Users {
    count: AtomicUsize,
}

impl Users {
    /// Adds a user. Only a user, or a thread that holds the `lock` of [`Users::leave`], may call this function.
    pub fn join(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// True if there are users. The caller must hold the `lock` of [`Users::leave`].
    pub fn has_users(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Removes a user. The last user runs `finish` without a lock, because `finish` may wait for other threads. Then the last
    /// user runs `close` under `lock`, which keeps new users out. If `close` returns false, because there is more to finish,
    /// both steps are repeated. If new users joined meanwhile, the last of them does this work instead.
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

    /// Removes this user from the count and returns true, unless this is the last user.
    fn others_stay(&self) -> bool {
        let others = |users: usize| (users > 1).then(|| users - 1);
        self.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, others).is_ok()
    }
}
