//! The launches that a thread asked for lately, so that to ask for the same again costs less (decision 14).

use super::cached_launch::CachedLaunch;

/// Launches remembered by a thread, each in the entry that its hash gives it.
const ENTRIES: usize = 32;

/// What a thread remembers: `K` is what tells one launch from another.
pub struct LaunchCache<K>(Vec<Entry<K>>);

/// The hash of the launch asked for last, and if it was asked for twice, what it takes to do it again.
struct Entry<K> {
    last: u64,
    known: Option<Box<(K, CachedLaunch)>>,
}

impl<K> LaunchCache<K> {
    /// A cache that remembers nothing and has no memory.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    fn entry(&mut self, hash: u64) -> &mut Entry<K> {
        if self.0.is_empty() {
            self.0.resize_with(ENTRIES, || Entry { last: 0, known: None });
        }
        &mut self.0[(hash >> 32) as usize % ENTRIES]
    }

    /// Does the launch again by `launch` if it is remembered as what `is_same` says: false where it is not, or where
    /// something has changed since, which is forgotten then.
    pub fn repeat<E>(
        &mut self,
        hash: u64,
        is_same: impl FnOnce(&K) -> bool,
        launch: impl FnOnce(&K, &CachedLaunch) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let entry = self.entry(hash);
        let Some(known) = entry.known.as_ref().filter(|k| is_same(&k.0)) else { return Ok(false) };
        let done = launch(&known.0, &known.1)?;
        if !done {
            entry.known = None;
        }
        Ok(done)
    }

    /// True if the launch asked for last in its entry was this one: one that does not come again is not worth remembering.
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
