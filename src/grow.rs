//! Growth of containers whose size the caller controls (modules, arguments, blocks, texts). A lack of memory is an error and does
//! not abort the process. Objects of a fixed size are allocated without this module.

use crate::error::{Error, Result};
use smallvec::{Array, SmallVec};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

/// A container that can reserve room before it is filled.
pub trait Grow {
    /// Makes room for this many more elements.
    fn make_room(&mut self, more: usize) -> Result<()>;
}

#[cold]
fn allocation_error(more: usize, each: usize) -> Error {
    Error::out_of_memory(format!(
        "the call needs {} bytes of host memory, which could not be allocated; pass smaller input, or free memory",
        more.saturating_mul(each)
    ))
}

impl<T> Grow for Vec<T> {
    fn make_room(&mut self, more: usize) -> Result<()> {
        self.try_reserve(more).map_err(|_| allocation_error(more, size_of::<T>()))
    }
}

impl<A: Array> Grow for SmallVec<A> {
    fn make_room(&mut self, more: usize) -> Result<()> {
        self.try_reserve(more).map_err(|_| allocation_error(more, size_of::<A::Item>()))
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Grow for HashMap<K, V, S> {
    fn make_room(&mut self, more: usize) -> Result<()> {
        self.try_reserve(more).map_err(|_| allocation_error(more, size_of::<(K, V)>()))
    }
}

impl<T: Eq + Hash, S: BuildHasher> Grow for HashSet<T, S> {
    fn make_room(&mut self, more: usize) -> Result<()> {
        self.try_reserve(more).map_err(|_| allocation_error(more, size_of::<T>()))
    }
}

/// A copy of `values`.
pub fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>> {
    let mut copy = Vec::new();
    copy.make_room(values.len())?;
    copy.extend_from_slice(values);
    Ok(copy)
}

/// A copy of `text`.
pub fn text(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve(text.len()).map_err(|_| allocation_error(text.len(), 1))?;
    copy.push_str(text);
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn impossible_sizes_are_out_of_memory_errors() {
        let most = isize::MAX as usize / 8;
        let failed = [
            Vec::<u64>::new().make_room(most),
            SmallVec::<[u64; 4]>::new().make_room(most),
            HashMap::<u64, u64>::new().make_room(most / 4),
            HashSet::<u64>::new().make_room(most / 4),
            Vec::<u64>::new().make_room(usize::MAX),
        ];
        for (at, result) in failed.into_iter().enumerate() {
            assert_eq!(result.unwrap_err().kind, ErrorKind::OutOfMemory, "{at}");
        }
    }

    #[test]
    fn copies_are_equal() {
        assert_eq!(copied(&[1, 2, 3]).unwrap(), [1, 2, 3]);
        assert_eq!(text("äb").unwrap(), "äb");
    }
}
