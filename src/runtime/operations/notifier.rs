//! The notifier: one task on a library thread that waits for all operations with callbacks.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::Mutex;
use crate::lock::rank;

/// A list of items that wait for their delivery. While the list is not empty, one task serves it.
pub struct Notifier<T> {
    state: Mutex<NotifierState<T>, { rank::NOTIFIER }>,
}

struct NotifierState<T> {
    waiting: Vec<T>,
    /// True if a task is in [`Notifier::serve`], or about to call it. The task sets it to false under the lock, when no item waits.
    served: bool,
}

impl<T> Default for Notifier<T> {
    fn default() -> Self {
        Self { state: Mutex::new(NotifierState { waiting: Vec::new(), served: false }) }
    }
}

impl<T> Notifier<T> {
    /// Adds an item to the list, unless `join` merges it with a waiting item and returns `None`. `start` starts a task that calls
    /// [`Notifier::serve`]. `start` is called under the lock, so it must not run the task itself. If `start` fails, the item is
    /// not added.
    pub fn add<E>(
        &self,
        item: T,
        join: impl FnOnce(&mut [T], T) -> Option<T>,
        start: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut state = self.state.lock();
        if !state.served {
            start()?;
            state.served = true;
        }
        let item = join(&mut state.waiting, item);
        state.waiting.extend(item);
        Ok(())
    }

    /// Delivers items that are done, until no item waits. `pause` waits a short time for an item that is not done. The three
    /// functions are called without the lock, because they may take long and may add items.
    pub fn serve(&self, is_done: impl Fn(&T) -> bool, mut deliver: impl FnMut(T), pause: impl Fn(&T)) {
        loop {
            let waiting = std::mem::take(&mut self.state.lock().waiting);
            let (done, mut open): (Vec<_>, Vec<_>) = waiting.into_iter().partition(&is_done);
            done.into_iter().for_each(&mut deliver);
            if let Some(first) = open.first() {
                pause(first);
            }
            let mut state = self.state.lock();
            open.append(&mut state.waiting);
            if open.is_empty() {
                state.served = false;
                return;
            }
            state.waiting = open;
        }
    }
}
