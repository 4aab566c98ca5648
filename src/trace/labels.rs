//! Labels that the program gives to objects after their creation.

use crate::lock::{RwLock, rank};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

static LABELS: RwLock<BTreeMap<u64, Arc<str>>, { rank::LABELS }> = RwLock::new(BTreeMap::new());
/// True once an object has a label.
static HAS_LABELS: AtomicBool = AtomicBool::new(false);

/// Labels the object with this id.
pub fn set(id: u64, label: &str) {
    HAS_LABELS.store(true, Ordering::Relaxed);
    LABELS.write().insert(id, label.into());
}

/// The label of the object with this id.
#[inline]
pub fn of(id: u64) -> Option<Arc<str>> {
    if HAS_LABELS.load(Ordering::Relaxed) { LABELS.read().get(&id).cloned() } else { None }
}

/// Removes the label of an object that was destroyed.
#[inline]
pub fn forget(id: u64) {
    if HAS_LABELS.load(Ordering::Relaxed) {
        LABELS.write().remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_label_counts_until_the_object_is_gone() {
        set(u64::MAX, "first");
        set(u64::MAX, "second");
        assert_eq!(of(u64::MAX).as_deref(), Some("second"));
        forget(u64::MAX);
        assert_eq!(of(u64::MAX), None);
    }
}
