//! Beginning an operation when several others have ended, without a thread that waits for them.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{Arc, AtomicUsize, Mutex, Ordering};
use crate::lock::rank;

/// Something held up by gates, and, until that lets go of it, by its maker.
pub struct HeldUp<T> {
    holders: AtomicUsize,
    /// The thing held up.
    pub what: T,
}

impl<T> HeldUp<T> {
    /// Held up only by the caller, who adds gates before letting go.
    pub fn new(what: T) -> Arc<Self> {
        Arc::new(Self { holders: AtomicUsize::new(1), what })
    }

    /// Removes one hold. True for the last one, whose caller begins it.
    pub fn let_go(&self) -> bool {
        self.holders.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Holds up others until it opens, which it does once.
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
    /// Lets this gate hold it up, unless the gate is open.
    pub fn hold_up(&self, held: &Arc<HeldUp<T>>) {
        let mut state = self.state.lock();
        if !state.is_open {
            held.holders.fetch_add(1, Ordering::Relaxed);
            state.held.push(held.clone());
        }
    }

    /// Opens the gate and returns what nothing holds up any more, which the caller begins.
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
