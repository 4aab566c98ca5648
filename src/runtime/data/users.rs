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
    /// Adds a user. To be called by a user, or under the lock of [`Users::leave`].
    pub fn join(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// True if there are any. To be asked under the lock of [`Users::leave`].
    pub fn are_there(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Removes a user. The last one runs `finish` without a lock, as it may wait for others, then `close` under a lock that
    /// keeps new users out; if `close` finds more to finish, it begins again. If new users came meanwhile, it leaves that to
    /// them.
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
