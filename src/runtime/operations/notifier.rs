//! The notifier: one task that waits for everything for which callbacks were added.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::Mutex;
use crate::lock::rank;

/// What is waited for, by one task as long as there is anything.
pub struct Notifier<T> {
    state: Mutex<NotifierState<T>, { rank::NOTIFIER }>,
}

struct NotifierState<T> {
    waiting: Vec<T>,
    /// True if a task is in [`Notifier::serve`], or about to be. It ends only under the lock, when nothing waits.
    served: bool,
}

impl<T> Default for Notifier<T> {
    fn default() -> Self {
        Self { state: Mutex::new(NotifierState { waiting: Vec::new(), served: false }) }
    }
}

impl<T> Notifier<T> {
    /// Adds something to wait for, or lets `join` add it to what waits already. `start` gets a task that calls
    /// [`Notifier::serve`]; it must not run it itself, as it is called under the lock. If it fails, nothing is added.
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

    /// Delivers what is done until nothing waits any more; `pause` waits a short time for one that is not done. All three
    /// are called without the lock: they may take long, and may add.
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
