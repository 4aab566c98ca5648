//! Begins an operation when several other operations have ended, without a thread that waits for them.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{Arc, AtomicUsize, Mutex, Ordering};
use crate::lock::rank;

/// An item (the work of an operation) that must not begin yet. Gates hold the item up. Its creator also holds it up,
/// until the creator calls [`HeldUp::let_go`].
pub struct HeldUp<T> {
    holders: AtomicUsize,
    /// The item.
    pub payload: T,
}

impl<T> HeldUp<T> {
    /// An item that only the caller holds up. The caller adds the item to gates, and then calls [`HeldUp::let_go`].
    pub fn new(payload: T) -> Arc<Self> {
        Arc::new(Self { holders: AtomicUsize::new(1), payload })
    }

    /// Removes one hold. Returns true if it was the last one. The caller must then begin the item.
    pub fn let_go(&self) -> bool {
        self.holders.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// Holds up items until it opens. A gate opens once, and stays open.
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
    /// Adds an item that this gate holds up, unless the gate is open.
    pub fn hold_up(&self, held: &Arc<HeldUp<T>>) {
        let mut state = self.state.lock();
        if !state.is_open {
            held.holders.fetch_add(1, Ordering::Relaxed);
            state.held.push(held.clone());
        }
    }

    /// Opens the gate, and returns the items that nothing holds up any more. The caller must begin these items.
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
