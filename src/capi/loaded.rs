//! Keeps program modules (shared libraries) loaded if the library may call their functions later.

use crate::host::system;
use crate::lock::{Mutex, rank};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Functions that were passed to [`keep`] recently. The address of a function selects its index.
static RECENTLY_KEPT: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];
/// All functions whose modules are kept loaded.
static KEPT: Mutex<BTreeSet<usize>, { rank::REGISTRY }> = Mutex::new(BTreeSet::new());

/// Keeps the module of a function loaded for good. The program may call dlclose() before the last
/// call of the function, and dlclose() cannot wait for that call, since it holds the loader's lock.
/// For a new function, `keep` takes the loader's lock, so the caller must hold no lock of the library.
pub(super) fn keep(function: usize) {
    let recent_entry = &RECENTLY_KEPT[(function >> 4) % RECENTLY_KEPT.len()];
    if recent_entry.load(Ordering::Relaxed) != function {
        keep_new(function, recent_entry);
    }
}

#[cold]
fn keep_new(function: usize, recent_entry: &AtomicUsize) {
    // A separate statement, so that the lock is free below.
    let known = KEPT.lock().contains(&function);
    if !known {
        if !system::keep_loaded(function) {
            // This code belongs to no module, and another function may have the same address later: do not remember it.
            return;
        }
        KEPT.lock().insert(function);
    }
    recent_entry.store(function, Ordering::Relaxed);
}
