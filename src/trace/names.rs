//! Texts of traces by number, so that an event is a few words that are copied and not freed. A text stays until the process
//! ends; there are as many as the program has kernels, labels and shapes of views.

use crate::lock::{RwLock, rank};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

static NAMES: RwLock<Names, { rank::TEXTS }> = RwLock::new(Names { numbers: BTreeMap::new(), texts: Vec::new() });

struct Names {
    numbers: BTreeMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

/// The number of a text, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name(u32);

impl Name {
    /// The name with this text.
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

    /// Its text.
    pub fn text(self) -> Arc<str> {
        NAMES.read().texts[self.0 as usize - 1].clone()
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// The name of something whose text never changes, which is looked up at the first event.
#[derive(Debug, Default)]
pub struct KeptName(AtomicU32);

impl KeptName {
    /// No name yet.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The name, whose text is `text`.
    pub fn of(&self, text: &str) -> Name {
        let known = self.0.load(Ordering::Relaxed);
        if known > 0 {
            return Name(known);
        }
        let name = Name::of(text);
        self.0.store(name.0, Ordering::Relaxed);
        name
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
        let kept = KeptName::new();
        assert_eq!((kept.of("names.rs: b"), kept.of("")), (b, b));
    }
}
