//! The launches that a thread requested lately, so that requesting the same again costs less (decision 14).

use super::cached_launch::CachedLaunch;

/// How many launches a thread remembers, each in the entry that its hash selects.
const ENTRIES: usize = 32;

/// What a thread remembers. `K` tells one launch from another.
pub struct LaunchCache<K>(Vec<Entry<K>>);

/// The hash of the launch requested last, and, once it was requested twice, the cached launch.
struct Entry<K> {
    last: u64,
    known: Option<Box<(K, CachedLaunch)>>,
}

impl<K> LaunchCache<K> {
    /// An empty cache, which has no memory yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    fn entry(&mut self, hash: u64) -> &mut Entry<K> {
        if self.0.is_empty() {
            self.0.resize_with(ENTRIES, || Entry { last: 0, known: None });
        }
        &mut self.0[(hash >> 32) as usize % ENTRIES]
    }

    /// Repeats the launch with `launch` if it is the remembered one, as `is_same` says. `None` if it is not, or if something
    /// has changed since; it is forgotten then.
    pub fn repeat<T, E>(
        &mut self,
        hash: u64,
        is_same: impl FnOnce(&K) -> bool,
        launch: impl FnOnce(&K, &CachedLaunch) -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let entry = self.entry(hash);
        let Some(known) = entry.known.as_ref().filter(|k| is_same(&k.0)) else { return Ok(None) };
        let done = launch(&known.0, &known.1)?;
        if done.is_none() {
            entry.known = None;
        }
        Ok(done)
    }

    /// True if this launch was the last one requested in its entry. Only launches that come twice are worth remembering.
    pub fn was_last(&mut self, hash: u64) -> bool {
        std::mem::replace(&mut self.entry(hash).last, hash) == hash
    }

    /// Remembers a launch.
    pub fn insert(&mut self, hash: u64, key: K, launch: CachedLaunch) {
        self.entry(hash).known = Some(Box::new((key, launch)));
    }
}

impl<K> Default for LaunchCache<K> {
    fn default() -> Self {
        Self::new()
    }
}
