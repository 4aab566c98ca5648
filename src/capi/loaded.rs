//! Code of the program that the library calls later: its module stays loaded.

use crate::host::system;
use crate::lock::{Mutex, rank};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Functions kept lately, each at the index that its address selects.
static LATELY: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];
/// All functions whose modules are kept loaded.
static KEPT: Mutex<BTreeSet<usize>, { rank::REGISTRY }> = Mutex::new(BTreeSet::new());

/// Keeps the module of a function loaded for good: dlclose() may come before the function's last
/// call, and cannot be made to wait, since it holds the loader's lock. That lock is taken here for
/// a new function, so none of ours may be held.
pub(super) fn keep(function: usize) {
    let lately = &LATELY[(function >> 4) % LATELY.len()];
    if lately.load(Ordering::Relaxed) != function {
        keep_new(function, lately);
    }
}

#[cold]
fn keep_new(function: usize, lately: &AtomicUsize) {
    // In a statement of its own, so that the lock is free below.
    let known = KEPT.lock().contains(&function);
    if !known {
        if !system::keep_loaded(function) {
            // This code belongs to no module: later another function may have the same address.
            return;
        }
        KEPT.lock().insert(function);
    }
    lately.store(function, Ordering::Relaxed);
}
