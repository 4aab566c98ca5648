//! The best workgroup sizes found for kernels on a device, by kernel and class of domains (decision 37).

use crate::lock::{Mutex, rank};
use std::collections::BTreeMap;

/// The maximum number of entries.
const MAX_ENTRIES: usize = 1 << 16;
/// The size of an entry on disk: the hash of the kernel, the class, and the three sizes with 16 bits each, little-endian.
const ENTRY_BYTES: usize = 8 + 6 + 6;

/// A kernel and a set of similar domains, which share the best workgroup size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class {
    /// The hash of its module.
    pub kernel: u64,
    /// The base-2 logarithms, rounded down, of the extents in x, y and z, and of the three sizes of the default workgroup.
    pub powers: [u8; 6],
}

impl Class {
    /// The class of a domain. `first`: its default workgroup size.
    pub fn of(kernel: u64, domain: [u64; 3], first: [u32; 3]) -> Self {
        let mut powers = [0; 6];
        let all = domain.into_iter().chain(first.map(u64::from));
        for (to, from) in powers.iter_mut().zip(all) {
            *to = from.max(1).ilog2() as u8;
        }
        Self { kernel, powers }
    }
}

type SizeByClass = BTreeMap<Class, [u16; 3]>;

/// The workgroup sizes found so far.
#[derive(Default)]
pub struct FoundWorkgroups(Mutex<State, { rank::FOUND }>);

#[derive(Default)]
struct State {
    known: SizeByClass,
    /// True if entries were added since the last [`FoundWorkgroups::save`].
    changed: bool,
}

impl FoundWorkgroups {
    /// Reads the entries from a file's data.
    pub fn new(data: &[u8]) -> Self {
        Self(Mutex::new(State { known: decode(data), changed: false }))
    }

    /// The workgroup size for a class of domains.
    pub fn get(&self, class: &Class) -> Option<[u32; 3]> {
        self.0.lock().known.get(class).map(|size| size.map(u32::from))
    }

    /// Adds or replaces a workgroup size. Ignores a size that does not fit in an entry on disk.
    pub fn put(&self, class: Class, size: [u32; 3]) {
        let [Ok(x), Ok(y), Ok(z)] = size.map(u16::try_from) else { return };
        let mut state = self.0.lock();
        if state.known.len() < MAX_ENTRIES || state.known.contains_key(&class) {
            state.known.insert(class, [x, y, z]);
            state.changed = true;
        }
    }

    /// The data for the file, which includes its current data (`earlier`); `None` if nothing has changed since the last call.
    pub fn save(&self, earlier: impl FnOnce() -> Option<Vec<u8>>) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.0.lock().changed) {
            return None;
        }
        // Another process may have added entries meanwhile.
        let mut all = decode(&earlier().unwrap_or_default());
        all.extend(&self.0.lock().known);
        let mut data = Vec::new();
        for (class, size) in all.iter().take(MAX_ENTRIES) {
            data.extend_from_slice(&class.kernel.to_le_bytes());
            data.extend_from_slice(&class.powers);
            size.iter().for_each(|n| data.extend_from_slice(&n.to_le_bytes()));
        }
        Some(data)
    }
}

/// Reads the entries from a file's data. Skips entries with a size of 0.
fn decode(data: &[u8]) -> SizeByClass {
    let mut known = SizeByClass::new();
    for one in data.chunks_exact(ENTRY_BYTES).take(MAX_ENTRIES) {
        let (Some((kernel, rest)), mut size) = (one.split_first_chunk::<8>(), [0; 3]) else { continue };
        let Some((powers, sizes)) = rest.split_first_chunk::<6>() else { continue };
        for (to, from) in size.iter_mut().zip(sizes.chunks_exact(2)) {
            *to = from.first_chunk().map_or(0, |n| u16::from_le_bytes(*n));
        }
        if !size.contains(&0) {
            known.insert(Class { kernel: u64::from_le_bytes(*kernel), powers: *powers }, size);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_sizes_are_merged_with_those_of_other_processes() {
        let (mine, theirs) = (FoundWorkgroups::default(), FoundWorkgroups::default());
        let class = |kernel| Class::of(kernel, [1000, 300, 1], [32, 8, 1]);
        assert_eq!(class(1).powers, [9, 8, 0, 5, 3, 0]);
        assert_eq!(mine.save(|| None), None, "nothing is new");
        mine.put(class(1), [64, 4, 1]);
        theirs.put(class(1), [1, 256, 1]);
        theirs.put(class(2), [512, 1, 1]);
        let first = theirs.save(|| None).unwrap();
        let both = mine.save(|| Some(first)).unwrap();
        assert_eq!(mine.save(|| None), None, "nothing is new");
        let read = FoundWorkgroups::new(&both);
        assert_eq!([1, 2, 3].map(|k| read.get(&class(k))), [Some([64, 4, 1]), Some([512, 1, 1]), None]);
    }

    #[test]
    fn sizes_are_saved_whole_or_not_at_all() {
        let found = FoundWorkgroups::default();
        let class = Class::of(7, [1 << 20, 1, 1], [64, 1, 1]);
        for size in [[65_536, 1, 1], [1, 65_537, 1], [1, 1, u32::MAX]] {
            found.put(class, size);
            assert_eq!((found.get(&class), found.save(|| None)), (None, None), "{size:?}");
        }
        found.put(class, [65_535, 1, 1]);
        let data = found.save(|| None).unwrap();
        assert_eq!(FoundWorkgroups::new(&data).get(&class), Some([65_535, 1, 1]));
    }

    #[test]
    fn damaged_data_has_no_entries() {
        let good = FoundWorkgroups::default();
        good.put(Class::of(7, [5, 5, 5], [4, 4, 4]), [2, 2, 2]);
        let data = good.save(|| None).unwrap();
        for n in 0..data.len() {
            assert!(decode(&data[..n]).is_empty());
        }
        assert!(decode(&[0; 3 * ENTRY_BYTES]).is_empty());
    }
}
