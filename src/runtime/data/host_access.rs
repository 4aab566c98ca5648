//! The state words of array_views: what the host may do without a call. They have a lock of their own, since an asynchronous
//! operation clears words when it is requested, while another one may hold the source's lock.
//!
//! `tests/rust/loom.rs` runs this file under loom; hence the types of [`super::sync`].

use super::sync::{Arc, AtomicU32, AtomicUsize, Mutex, Ordering};
use crate::geometry::Region;
use crate::kernel::Access;
use crate::lock::rank;
use std::collections::BTreeMap;

/// The host may read through a view's published pointer.
pub const HOST_MAY_READ: u32 = 1;
/// The host may write through it.
pub const HOST_MAY_WRITE: u32 = 2;

/// If more views than this are published, all words are cleared at once: looking at each would cost more than the calls that
/// set them again.
const MANY: usize = 64;

/// A view whose word lets the host access it.
struct Published {
    word: Arc<AtomicU32>,
    region: Region,
}

/// The views of a data source whose words let the host access them.
#[derive(Default)]
pub struct HostAccess {
    /// Keyed by the view's id.
    published: Mutex<BTreeMap<u64, Published>, { rank::HOST_ACCESS }>,
    /// How many there are. Changed under the lock, so that nobody has to lock to find that there are none.
    count: AtomicUsize,
}

impl HostAccess {
    /// Sets a view's word: the host may access it without a call.
    pub fn publish(&self, id: u64, word: &Arc<AtomicU32>, region: &Region, bits: u32) {
        let mut published = self.published.lock();
        if word.fetch_or(bits, Ordering::AcqRel) == 0 {
            published.insert(id, Published { word: word.clone(), region: region.clone() });
            self.count.store(published.len(), Ordering::Release);
        }
    }

    /// Clears the words of views with common elements before these are used elsewhere: a writer clears all, a reader those
    /// that let the host write.
    pub fn take_back(&self, region: &Region, access: Access) {
        if !self.any() {
            return;
        }
        let keep = if access.writes() { 0 } else { HOST_MAY_READ };
        let mut published = self.published.lock();
        let all = published.len() > MANY;
        published.retain(|_, p| {
            let stays = p.word.load(Ordering::Relaxed) & !keep == 0 || (!all && !p.region.overlaps(region));
            stays || p.word.fetch_and(keep, Ordering::AcqRel) & keep != 0
        });
        self.count.store(published.len(), Ordering::Release);
    }

    /// True if some view's word may be set.
    pub fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Forgets a view that is gone.
    pub fn forget(&self, id: u64) {
        let mut published = self.published.lock();
        published.remove(&id);
        self.count.store(published.len(), Ordering::Release);
    }
}
