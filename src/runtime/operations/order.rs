//! What begins when several others have ended, without a thread that waits for them.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{Arc, AtomicUsize, Mutex, Ordering};
use crate::lock::rank;

/// What is held up by gates, and by who made it until that one lets go of it.
pub struct HeldUp<T> {
    holders: AtomicUsize,
    /// What it is.
    pub what: T,
}

impl<T> HeldUp<T> {
    /// HeldUp up by the caller alone, who adds gates before letting go.
    pub fn new(what: T) -> Arc<Self> {
        Arc::new(Self { holders: AtomicUsize::new(1), what })
    }

    /// One holder less: true for the last one, who begins it.
    pub fn let_go(&self) -> bool {
        self.holders.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Holds up others until it opens, once.
pub struct Gate<T> {
    state: Mutex<GateState<T>, { rank::GATE }>,
}

struct GateState<T> {
    is_open: bool,
    held: Vec<Arc<HeldUp<T>>>,
}

impl<T> Default for Gate<T> {
    fn default() -> Self {
        Self { state: Mutex::new(GateState { is_open: false, held: Vec::new() }) }
    }
}

impl<T> Gate<T> {
    /// Holds it up until the gate opens; not where it is open.
    pub fn hold_up(&self, held: &Arc<HeldUp<T>>) {
        let mut state = self.state.lock();
        if !state.is_open {
            held.holders.fetch_add(1, Ordering::Relaxed);
            state.held.push(held.clone());
        }
    }

    /// Opens, and gives what nothing holds up any more: the caller begins it.
    pub fn open(&self) -> Vec<Arc<HeldUp<T>>> {
        let mut held = {
            let mut state = self.state.lock();
            state.is_open = true;
            std::mem::take(&mut state.held)
        };
        held.retain(|h| h.let_go());
        held
    }
}
