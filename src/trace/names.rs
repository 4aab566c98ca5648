//! Assigns numbers to the texts in traces. Events store numbers instead of texts, so an event is small and owns no heap
//! memory. Texts are kept until the process ends. Their number is bounded: they come from the program's kernels, labels
//! and view shapes.

use crate::lock::{RwLock, rank};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

static NAMES: RwLock<Names, { rank::TEXTS }> = RwLock::new(Names { numbers: BTreeMap::new(), texts: Vec::new() });

struct Names {
    numbers: BTreeMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

/// The number of a text. Numbers begin at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name(u32);

impl Name {
    /// Returns the name for this text.
    pub fn of(text: &str) -> Self {
        if let Some(&number) = NAMES.read().numbers.get(text) {
            return Self(number);
        }
        let mut names = NAMES.write();
        let next = names.texts.len() as u32 + 1;
        let text: Arc<str> = text.into();
        let number = *names.numbers.entry(text.clone()).or_insert(next);
        if number == next {
            names.texts.push(text);
        }
        Self(number)
    }

    /// The text of the name.
    pub fn text(self) -> Arc<str> {
        NAMES.read().texts[self.0 as usize - 1].clone()
    }

    /// The number of the name.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Caches the name of an object. The name is looked up when the first event needs it.
#[derive(Debug, Default)]
pub struct CachedName(AtomicU32);

impl CachedName {
    /// An empty cache.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Returns the name for this text. The text must be the same in each call until [`Self::forget`].
    pub fn of(&self, text: &str) -> Name {
        self.get_or_make(|| Name::of(text))
    }

    /// Returns the cached name. If the cache is empty, `make` makes the name.
    pub fn get_or_make(&self, make: impl FnOnce() -> Name) -> Name {
        let cached = self.0.load(Ordering::Relaxed);
        if cached > 0 {
            return Name(cached);
        }
        let name = make();
        self.0.store(name.0, Ordering::Relaxed);
        name
    }

    /// Empties the cache. Must be called when the text has changed.
    pub fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_name() {
        let (a, b) = (Name::of("names.rs: a"), Name::of("names.rs: b"));
        assert_eq!(Name::of("names.rs: a"), a);
        assert_ne!(a, b);
        assert_eq!(&*b.text(), "names.rs: b");
        let kept = CachedName::new();
        assert_eq!((kept.of("names.rs: b"), kept.of("")), (b, b));
    }
}
