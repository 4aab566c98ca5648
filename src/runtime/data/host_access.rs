//! The state words of array_views and of their slices. A state word says whether the host may read or write the elements without
//! calling the library. State words have a lock of their own, because an asynchronous operation clears them when it is requested,
//! while another operation may hold the lock of the data source.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{Arc, AtomicU32, AtomicUsize, Mutex, Ordering};
use crate::geometry::Region;
use crate::kernel::Access;
use crate::lock::rank;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The host may read through a view's published pointer.
pub const HOST_MAY_READ: u32 = 1;
/// The host may write through a view's published pointer.
pub const HOST_MAY_WRITE: u32 = 2;

/// If more views than this are published, all words are cleared at once: checking each view would cost more than the calls that
/// set the words again.
const MAX_CHECKED: usize = 64;

/// The state word of a view, or the state words of all its slices.
pub type Words = SmallVec<[AtomicU32; 1]>;

/// Words that let the host access a view, or slices of it.
struct Published {
    words: Arc<Words>,
    /// The indices of the words that are not 0.
    set: SmallVec<[usize; 1]>,
    /// The union of their bits.
    bits: u32,
    /// The region of the view or slice; for several slices, their hull.
    region: Region,
}

/// The views of a data source that the host may access, in whole or by slices, without a call.
#[derive(Default)]
pub struct HostAccess {
    /// Keyed by the view's id, and the number of indices that select a slice; 0: the view itself.
    published: Mutex<BTreeMap<(u64, usize), Published>, { rank::HOST_ACCESS }>,
    /// The size of `published`. Changed under the lock and read without it, so that checking for an empty map needs no lock.
    count: AtomicUsize,
}

impl HostAccess {
    /// Sets bits of a word of `key`: the host may then access the view or slice, which covers `region`, without calling the library.
    /// If there is no memory to record another slice, its word stays unchanged, and the host must call the library as before.
    pub fn publish(&self, key: (u64, usize), words: &Arc<Words>, at: usize, region: &Region, bits: u32) {
        let mut published = self.published.lock();
        let before = words[at].load(Ordering::Relaxed);
        if before & bits == bits {
            return;
        }
        let new = || Published { words: words.clone(), set: SmallVec::new(), bits: 0, region: region.clone() };
        let known = published.entry(key).or_insert_with(new);
        if before == 0 {
            if known.set.try_reserve(1).is_err() {
                return;
            }
            if !known.set.is_empty() {
                let (old, more) = (known.region.hull(), region.hull());
                known.region = Region::linear(old.start.min(more.start)..old.end.max(more.end));
            }
            known.set.push(at);
        }
        known.bits |= bits;
        words[at].fetch_or(bits, Ordering::AcqRel);
        self.count.store(published.len(), Ordering::Release);
    }

    /// Clears bits of views and slices that overlap `region`, before the library uses `region`. If `access` writes, clears all bits,
    /// otherwise only [`HOST_MAY_WRITE`].
    pub fn revoke(&self, region: &Region, access: Access) {
        if !self.any() {
            return;
        }
        let keep = if access.writes() { 0 } else { HOST_MAY_READ };
        let mut published = self.published.lock();
        let all = published.len() > MAX_CHECKED;
        published.retain(|_, p| {
            if p.bits & !keep == 0 || (!all && !p.region.overlaps(region)) {
                return true;
            }
            p.bits = 0;
            p.set.retain(|at| {
                let kept = p.words[*at].fetch_and(keep, Ordering::AcqRel) & keep;
                p.bits |= kept;
                kept != 0
            });
            p.bits != 0
        });
        self.count.store(published.len(), Ordering::Release);
    }

    /// True if a word may be set.
    pub fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Removes a view that is being dropped, and its slices.
    pub fn forget(&self, id: u64) {
        let mut published = self.published.lock();
        while let Some(key) = published.range((id, 0)..=(id, usize::MAX)).next().map(|(key, _)| *key) {
            published.remove(&key);
        }
        self.count.store(published.len(), Ordering::Release);
    }
}
