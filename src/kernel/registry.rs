//! The registry of SPIR-V kernels that are embedded in the program and its plugins: finds a kernel by its name.
//!
//! Programs and shared libraries register their kernels when they are loaded, and unregister them when they are unloaded (dlclose).
//! If a static library is linked into two of them, the same kernel is registered twice, so registrations are counted.
//! Registration does not parse kernels, so it costs almost nothing at program start.

use crate::error::{Error, Result};
use crate::lock::{RwLock, rank};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The id of a registered kernel. Ids are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub u64);

/// A registered kernel.
#[derive(Debug)]
pub struct Record {
    id: RecordId,
    name: String,
    spirv: Vec<u8>,
}

impl Record {
    /// Its id.
    pub fn id(&self) -> RecordId {
        self.id
    }
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Its SPIR-V module.
    pub fn spirv(&self) -> &[u8] {
        &self.spirv
    }
}

struct Counted {
    record: Arc<Record>,
    count: usize,
}

/// The registered kernels. The process has one registry, which the functions of this module access.
#[derive(Default)]
struct Registry {
    by_name: BTreeMap<String, Vec<Counted>>,
    names: BTreeMap<RecordId, String>,
    last: u64,
}

static REGISTRY: RwLock<Registry, { rank::REGISTRY }> =
    RwLock::new(Registry { by_name: BTreeMap::new(), names: BTreeMap::new(), last: 0 });

/// Adds a kernel. The same name with the same bytes gives the same record and increments its count: each call needs its own
/// [`unregister`].
///
/// The same name with other bytes is accepted, because nothing can report the error while the program starts; [`find`] reports
/// it.
pub fn register(name: String, spirv: Vec<u8>) -> Result<RecordId> {
    REGISTRY.write().register(name, spirv)
}

/// Removes one registration; false if no registration has this id. Modules made from the kernel stay valid.
pub fn unregister(id: RecordId) -> bool {
    REGISTRY.write().unregister(id)
}

/// The kernel `name`.
pub fn find(name: &str) -> Result<Arc<Record>> {
    REGISTRY.read().find(name)
}

/// The number of distinct registered kernels.
pub fn len() -> usize {
    REGISTRY.read().names.len()
}

impl Registry {
    fn register(&mut self, name: String, spirv: Vec<u8>) -> Result<RecordId> {
        if name.is_empty() {
            return Err(Error::invalid(format!(
                "a kernel of {} bytes is registered without a name; pass the name by which the program will find the \
                 kernel",
                spirv.len()
            )));
        }
        if spirv.is_empty() {
            return Err(Error::invalid(format!(
                "kernel \"{name}\" is registered with 0 bytes of SPIR-V; pass the content of its .spv file"
            )));
        }
        let same_name = self.by_name.entry(name.clone()).or_default();
        if let Some(known) = same_name.iter_mut().find(|known| known.record.spirv == spirv) {
            known.count += 1;
            return Ok(known.record.id);
        }
        self.last += 1;
        let id = RecordId(self.last);
        same_name.push(Counted { record: Arc::new(Record { id, name: name.clone(), spirv }), count: 1 });
        self.names.insert(id, name);
        Ok(id)
    }

    fn unregister(&mut self, id: RecordId) -> bool {
        let Some(name) = self.names.get(&id) else { return false };
        let Some(same_name) = self.by_name.get_mut(name) else { return false };
        let Some(at) = same_name.iter().position(|known| known.record.id == id) else { return false };
        same_name[at].count -= 1;
        if same_name[at].count == 0 {
            same_name.remove(at);
            if same_name.is_empty() {
                self.by_name.remove(name);
            }
            self.names.remove(&id);
        }
        true
    }

    fn find(&self, name: &str) -> Result<Arc<Record>> {
        match self.by_name.get(name).map(Vec::as_slice) {
            Some([only]) => Ok(Arc::clone(&only.record)),
            Some(several @ [_, _, ..]) => {
                let show = |known: &Counted| {
                    format!(
                        "#{} ({} bytes, hash {:016x})",
                        known.record.id.0,
                        known.record.spirv.len(),
                        hash(&known.record.spirv)
                    )
                };
                Err(Error::runtime(format!(
                    "kernel \"{name}\" is ambiguous, because {} different modules are registered under this name: {}; \
                     rename all modules but one, or give all libraries the same version of the module",
                    several.len(),
                    several.iter().map(show).collect::<Vec<_>>().join(" and ")
                )))
            }
            _ => Err(self.missing(name)),
        }
    }

    fn missing(&self, name: &str) -> Error {
        let similar_names = self.similar_names(name);
        let hint = match similar_names.len() {
            0 => String::new(),
            _ => format!("; similar names: {}", similar_names.join(", ")),
        };
        let advice = if self.names.is_empty() {
            "compile it into the program (CMake: revamp_embed_spirv), and link the library that contains the kernel \
             with --whole-archive"
        } else {
            "check the spelling, and check that the library that contains the kernel is loaded"
        };
        Error::runtime(format!(
            "no kernel \"{name}\" is compiled into the program; number of registered kernels: {}{hint}; {advice}",
            self.names.len()
        ))
    }

    /// Up to three names similar to `name`, the closest first.
    fn similar_names(&self, name: &str) -> Vec<String> {
        let limit = (name.chars().count() / 3).clamp(1, 8);
        let lower = name.to_lowercase();
        let mut found: Vec<(usize, &String)> = self
            .by_name
            .keys()
            .filter_map(|known| {
                let other = known.to_lowercase();
                let contains = lower.len() >= 3 && (other.contains(&lower) || lower.contains(&other));
                let distance = if contains { limit } else { distance(&lower, &other, limit)? };
                Some((distance, known))
            })
            .collect();
        found.sort();
        found.into_iter().take(3).map(|(_, known)| format!("\"{known}\"")).collect()
    }
}

/// The length of the longest name for which edit distances are computed, in characters.
const MAX_COMPARED: usize = 1 << 10;

/// The edit distance of two names, if at most `limit`.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit || a.len() > MAX_COMPARED {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let edit = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], edit);
        }
        // All later rows exceed the limit too. Stopping matters, because kernel names may be long.
        if row.iter().all(|&edits| edits > limit) {
            return None;
        }
    }
    row.last().copied().filter(|&edits| edits <= limit)
}

fn hash(bytes: &[u8]) -> u64 {
    super::hash::fnv(bytes.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    #[test]
    fn registers_counts_and_unregisters() {
        let mut registry = Registry::default();
        let a = registry.register("saxpy".into(), bytes("one")).unwrap();
        let second = registry.register("saxpy".into(), bytes("one")).unwrap();
        assert_eq!(a, second);
        assert_eq!(registry.names.len(), 1);
        assert!(registry.unregister(a));
        let found = registry.find("saxpy").unwrap();
        assert_eq!((found.id(), found.name(), found.spirv()), (a, "saxpy", &b"one"[..]));
        assert!(registry.unregister(a));
        assert!(!registry.unregister(a));
        assert!(registry.find("saxpy").is_err());
        let b = registry.register("saxpy".into(), bytes("one")).unwrap();
        assert_ne!(a, b, "an id is never used again");
    }

    #[test]
    fn different_bytes_are_ambiguous_until_one_is_gone() {
        let mut registry = Registry::default();
        let a = registry.register("sum".into(), bytes("one")).unwrap();
        let b = registry.register("sum".into(), bytes("other")).unwrap();
        let text = registry.find("sum").unwrap_err().to_string();
        for part in ["ambiguous", "#1 (3 bytes", "#2 (5 bytes", "rename"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(registry.unregister(a));
        assert_eq!(registry.find("sum").unwrap().id(), b);
    }

    #[test]
    fn a_missing_name_lists_count_and_close_names() {
        let mut registry = Registry::default();
        let text = registry.find("saxpy").unwrap_err().to_string();
        assert!(text.contains("kernels: 0") && text.contains("compile it into"), "{text}");
        for name in ["saxpy", "daxpy", "matrix_product", "reduce"] {
            registry.register(name.into(), bytes(name)).unwrap();
        }
        let text = registry.find("saxpi").unwrap_err().to_string();
        assert!(text.contains("kernels: 4; similar names: \"saxpy\""), "{text}");
        assert!(!text.contains("reduce"), "{text}");
        let text = registry.find("Matrix").unwrap_err().to_string();
        assert!(text.contains("\"matrix_product\""), "{text}");
    }

    #[test]
    fn empty_names_and_modules_are_refused() {
        let mut registry = Registry::default();
        assert!(registry.register(String::new(), bytes("x")).is_err());
        assert!(registry.register("x".into(), bytes("")).is_err());
        assert!(registry.by_name.is_empty());
    }

    #[test]
    fn the_process_registry_is_shared_between_threads() {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..200 {
                        let kernel_name = format!("thread {thread} round {round}");
                        let shared = register("shared by threads".into(), bytes("same")).unwrap();
                        let id = register(kernel_name.clone(), bytes(&kernel_name)).unwrap();
                        assert_eq!(find(&kernel_name).unwrap().id(), id);
                        assert!(unregister(id) && unregister(shared));
                        assert!(find(&kernel_name).is_err());
                    }
                });
            }
        });
        assert!(find("shared by threads").is_err());
    }

    #[test]
    fn distances() {
        assert_eq!(distance("kitten", "sitting", 3), Some(3));
        assert_eq!(distance("kitten", "sitting", 2), None);
        assert_eq!(distance("", "ab", 2), Some(2));
        assert_eq!(distance("same", "same", 0), Some(0));
    }
}
