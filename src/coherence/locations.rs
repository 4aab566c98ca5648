//! Locations that may hold the bytes of a data source, and sets of locations.

use std::num::NonZeroU32;

/// A location that may hold a data source's bytes, by its number in the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location(pub u32);

impl Location {
    /// The location where the data source lives.
    pub const HOME: Self = Self(0);

    /// The number of the location: home is 0, and the others follow in the order in which they were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The memory of a location. Locations with the same memory hold the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryId {
    /// The memory of home.
    Home,
    /// The host's copy of a data source that does not live on the host.
    HostCopy,
    /// A block on a device, by its index.
    Block(u32),
}

/// Identifies a loss: bytes that no location holds any more. The owner of the directory maps the number to the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LossId(pub NonZeroU32);

/// The set of locations that hold a byte. If it is empty, the contents are worthless or lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocationSet {
    /// Bits of the first 64 locations. There are rarely more locations, and the set is copied often.
    first: u64,
    /// Bits of the other locations, without zero words at the end.
    others: Option<Box<[u64]>>,
    /// Set if the contents are lost; there are no members then.
    lost: Option<LossId>,
}

impl LocationSet {
    /// Contents that are lost.
    pub fn lost(id: LossId) -> Self {
        Self { lost: Some(id), ..Self::default() }
    }

    /// Why the contents are lost, if they are.
    pub fn loss(&self) -> Option<LossId> {
        self.lost
    }

    /// The set with one member.
    pub fn only(l: Location) -> Self {
        let mut set = Self::default();
        set.insert(l);
        set
    }

    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.first).chain(self.others.iter().flatten().copied())
    }

    fn from_words(first: u64, others: Vec<u64>) -> Self {
        let mut others = others;
        while others.last() == Some(&0) {
            others.pop();
        }
        Self { first, others: (!others.is_empty()).then(|| others.into()), lost: None }
    }

    /// Adds a member.
    pub fn insert(&mut self, l: Location) {
        let (word, bit) = (l.index() / 64, 1 << (l.0 % 64));
        if word == 0 {
            self.first |= bit;
            return;
        }
        let mut others = self.others.take().map_or_else(Vec::new, Vec::from);
        others.resize(others.len().max(word), 0);
        others[word - 1] |= bit;
        *self = Self::from_words(self.first, others);
    }

    /// True if `l` is a member.
    pub fn contains(&self, l: Location) -> bool {
        let word = match l.index() / 64 {
            0 => Some(&self.first),
            n => self.others.as_ref().and_then(|o| o.get(n - 1)),
        };
        word.is_some_and(|w| w >> (l.0 % 64) & 1 == 1)
    }

    /// True if there are no members and nothing is lost: the contents are worthless.
    pub fn is_worthless(&self) -> bool {
        self.is_empty() && self.lost.is_none()
    }

    /// True if there are no members.
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.others.is_none()
    }

    /// The members for which `stays` is true.
    pub fn filter(&self, stays: impl Fn(Location) -> bool) -> Self {
        let mut kept = Self { lost: self.lost, ..Self::default() };
        self.iter().filter(|&l| stays(l)).for_each(|l| kept.insert(l));
        kept
    }

    /// True if `l` is the only member.
    pub fn is_only(&self, l: Location) -> bool {
        self.contains(l) && self.words().map(u64::count_ones).sum::<u32>() == 1
    }

    /// Keeps the members that are also in `other`.
    pub fn intersect(&mut self, other: &Self) {
        self.first &= other.first;
        if let Some(mine) = self.others.take() {
            let theirs = other.others.iter().flatten();
            *self = Self::from_words(self.first, mine.iter().zip(theirs).map(|(a, b)| a & b).collect());
        }
    }

    /// The members, in order.
    pub fn iter(&self) -> impl Iterator<Item = Location> + '_ {
        (0..).step_by(64).zip(self.words()).flat_map(|(at, word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(Location(at + bit))
            })
        })
    }
}
