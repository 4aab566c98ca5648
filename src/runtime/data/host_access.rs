//! The state words of array_views and of their slices: what the host may do without a call. They have a lock of their own,
//! since an asynchronous operation clears words when it is requested, while another one may hold the source's lock.
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
/// The host may write through it.
pub const HOST_MAY_WRITE: u32 = 2;

/// If more views than this are published, all words are cleared at once: looking at each would cost more than the calls that
/// set them again.
const MANY: usize = 64;

/// The state words of a view, which has one, or of all its slices.
pub type Words = SmallVec<[AtomicU32; 1]>;

/// Words that let the host access a view, or slices of it.
struct Published {
    words: Arc<Words>,
    /// Which words have bits.
    set: SmallVec<[usize; 1]>,
    /// All bits that they have.
    bits: u32,
    /// What their views and slices cover; of several slices the hull.
    region: Region,
}

/// The views of a data source whose words, or those of whose slices, let the host access them.
#[derive(Default)]
pub struct HostAccess {
    /// Keyed by the view's id, and by how many indices name a slice; 0: the view.
    published: Mutex<BTreeMap<(u64, usize), Published>, { rank::HOST_ACCESS }>,
    /// How many there are. Changed under the lock, so that nobody has to lock to find that there are none.
    count: AtomicUsize,
}

impl HostAccess {
    /// Sets a word of `key`: the host may access the view or slice, which covers `region`, without a call. Where there is no
    /// memory to remember the word, it stays as it is, and the host goes on calling.
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

    /// Clears the words of what has common elements before these are used elsewhere: a writer clears all, a reader those
    /// that let the host write.
    pub fn take_back(&self, region: &Region, access: Access) {
        if !self.any() {
            return;
        }
        let keep = if access.writes() { 0 } else { HOST_MAY_READ };
        let mut published = self.published.lock();
        let all = published.len() > MANY;
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

    /// True if some word may be set.
    pub fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Forgets a view that is gone, and its slices.
    pub fn forget(&self, id: u64) {
        let mut published = self.published.lock();
        while let Some(key) = published.range((id, 0)..=(id, usize::MAX)).next().map(|(key, _)| *key) {
            published.remove(&key);
        }
        self.count.store(published.len(), Ordering::Release);
    }
}
