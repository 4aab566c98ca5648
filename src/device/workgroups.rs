//! The workgroups that were found for kernels on a device, by kernel and class of domains (decision 37).

use crate::lock::{Mutex, rank};
use std::collections::BTreeMap;

/// More than this are not kept.
const MOST: usize = 1 << 16;
/// Bytes of one on disk: hash of the kernel, class, and the three sizes as 16 bits; little-endian.
const BYTES: usize = 8 + 6 + 6;

/// A kernel, and domains for which the same workgroup is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class {
    /// The hash of its module.
    pub kernel: u64,
    /// The extents in x, y, z, and the workgroup that is taken at first, all as powers of two.
    pub powers: [u8; 6],
}

impl Class {
    /// The class of a domain.
    pub fn of(kernel: u64, domain: [u64; 3], first: [u32; 3]) -> Self {
        let mut powers = [0; 6];
        let all = domain.into_iter().chain(first.map(u64::from));
        for (to, from) in powers.iter_mut().zip(all) {
            *to = from.max(1).ilog2() as u8;
        }
        Self { kernel, powers }
    }
}

type SizeByClass = BTreeMap<Class, [u32; 3]>;

/// The workgroups that were found.
#[derive(Default)]
pub struct FoundWorkgroups(Mutex<State, { rank::FOUND }>);

#[derive(Default)]
struct State {
    known: SizeByClass,
    /// True if some are not on disk.
    changed: bool,
}

impl FoundWorkgroups {
    /// Those of a file's data.
    pub fn new(data: &[u8]) -> Self {
        Self(Mutex::new(State { known: decode(data), changed: false }))
    }

    /// The workgroup for a class of domains.
    pub fn get(&self, class: &Class) -> Option<[u32; 3]> {
        self.0.lock().known.get(class).copied()
    }

    /// Keeps a workgroup.
    pub fn put(&self, class: Class, size: [u32; 3]) {
        let mut state = self.0.lock();
        if state.known.len() < MOST || state.known.contains_key(&class) {
            state.known.insert(class, size);
            state.changed = true;
        }
    }

    /// The data for a file that had `earlier`; `None` if nothing is new since it was asked last.
    pub fn save(&self, earlier: impl FnOnce() -> Option<Vec<u8>>) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.0.lock().changed) {
            return None;
        }
        // Another process may have found others meanwhile.
        let mut all = decode(&earlier().unwrap_or_default());
        all.extend(&self.0.lock().known);
        let mut data = Vec::new();
        for (class, size) in all.iter().take(MOST) {
            data.extend_from_slice(&class.kernel.to_le_bytes());
            data.extend_from_slice(&class.powers);
            size.iter().for_each(|&n| data.extend_from_slice(&(n as u16).to_le_bytes()));
        }
        Some(data)
    }
}

/// Those of a file's data, as far as they can be workgroups.
fn decode(data: &[u8]) -> SizeByClass {
    let mut known = SizeByClass::new();
    for one in data.chunks_exact(BYTES).take(MOST) {
        let (Some((kernel, rest)), mut size) = (one.split_first_chunk::<8>(), [0; 3]) else { continue };
        let Some((powers, sizes)) = rest.split_first_chunk::<6>() else { continue };
        for (to, from) in size.iter_mut().zip(sizes.chunks_exact(2)) {
            *to = from.first_chunk().map_or(0, |n| u32::from(u16::from_le_bytes(*n)));
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
    fn what_is_saved_is_found_again_beside_what_others_found() {
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
    fn other_data_is_no_workgroup() {
        let good = FoundWorkgroups::default();
        good.put(Class::of(7, [5, 5, 5], [4, 4, 4]), [2, 2, 2]);
        let data = good.save(|| None).unwrap();
        for n in 0..data.len() {
            assert!(decode(&data[..n]).is_empty());
        }
        assert!(decode(&[0; 3 * BYTES]).is_empty());
    }
}
