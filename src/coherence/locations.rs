//! Locations and sets of them.

use smallvec::SmallVec;

/// A place that may hold a data source's bytes: a number the directory gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location(pub(super) u32);

impl Location {
    /// Where the data source lives.
    pub const HOME: Self = Self(0);

    /// Its number: home is 0, others follow in the order they were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of locations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocationSet {
    /// Bits, without zero words at the end.
    words: SmallVec<[u64; 1]>,
}

impl LocationSet {
    /// The set with one member.
    pub fn only(l: Location) -> Self {
        let mut set = Self::default();
        set.insert(l);
        set
    }

    /// Adds a member.
    pub fn insert(&mut self, l: Location) {
        let word = l.index() / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (l.0 % 64);
    }

    /// True if it is a member.
    pub fn contains(&self, l: Location) -> bool {
        self.words.get(l.index() / 64).is_some_and(|w| w >> (l.0 % 64) & 1 == 1)
    }

    /// True if there are no members.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// True if `l` is the one member.
    pub fn is_only(&self, l: Location) -> bool {
        self.contains(l) && self.words.iter().map(|w| w.count_ones()).sum::<u32>() == 1
    }

    /// Keeps the members that are in `other` too.
    pub fn intersect(&mut self, other: &Self) {
        self.words.truncate(other.words.len());
        for (w, o) in self.words.iter_mut().zip(&other.words) {
            *w &= o;
        }
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
    }

    /// The members, in order.
    pub fn iter(&self) -> impl Iterator<Item = Location> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| Location(i as u32 * 64 + bit))
        })
    }
}
