//! A cache of the recent launches of a thread. Repeating a cached launch is cheaper than preparing it again (decision 14).

use super::cached_launch::CachedLaunch;

/// The number of entries in the cache of a thread. The hash of a launch selects the entry.
const ENTRIES: usize = 32;

/// The cached launches of a thread. The key `K` identifies a launch.
pub struct LaunchCache<K>(Vec<Entry<K>>);

/// The hash of the last launch requested in this entry, and the cached launch. Only a launch that is requested twice in a row
/// is cached.
struct Entry<K> {
    last: u64,
    cached: Option<Box<(K, CachedLaunch)>>,
}

impl<K> LaunchCache<K> {
    /// An empty cache, without memory for entries.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    fn entry(&mut self, hash: u64) -> &mut Entry<K> {
        if self.0.is_empty() {
            self.0.resize_with(ENTRIES, || Entry { last: 0, cached: None });
        }
        &mut self.0[(hash >> 32) as usize % ENTRIES]
    }

    /// Calls `launch` with the cached launch if `is_same` accepts the key; returns `None` otherwise. If `launch` returns
    /// `None`, because something has changed since, the launch is removed from the cache.
    pub fn repeat<T, E>(
        &mut self,
        hash: u64,
        is_same: impl FnOnce(&K) -> bool,
        launch: impl FnOnce(&K, &CachedLaunch) -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let entry = self.entry(hash);
        let Some(cached) = entry.cached.as_ref().filter(|k| is_same(&k.0)) else { return Ok(None) };
        let done = launch(&cached.0, &cached.1)?;
        if done.is_none() {
            entry.cached = None;
        }
        Ok(done)
    }

    /// Records the request of a launch with this hash. True if the last request in the same entry had the same hash, so that
    /// the launch should be cached.
    pub fn record_request(&mut self, hash: u64) -> bool {
        std::mem::replace(&mut self.entry(hash).last, hash) == hash
    }

    /// Caches a launch.
    pub fn insert(&mut self, hash: u64, key: K, launch: CachedLaunch) {
        self.entry(hash).cached = Some(Box::new((key, launch)));
    }
}

impl<K> Default for LaunchCache<K> {
    fn default() -> Self {
        Self::new()
    }
}
