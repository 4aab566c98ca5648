//! Finds stores to adjacent addresses that vector stores can replace. `vector_stores` emits them.
//!
//! NVIDIA's driver merges loads of adjacent words, but no stores. Four stores of 4 bytes then take four times as long as one of 16 bytes. A
//! vector store must be aligned to its size. Elements of `array_view<float_4>` usually are, but a section may begin anywhere. So a group of
//! stores has two forms, and a test of the pointer from which all its addresses are derived selects one of them. The pointer is usually the
//! same for all threads. Devices with `DeviceProperty::MergesOnlyLoads` use this code, others the stores as they are.

use super::addresses::Sum;
use super::assembler::Scalar;
use super::memory::known_divisor;
use super::pointer_sets::PointerClass;
use super::pointers::PointerAnalysis;
use super::scalars::{Leaf, ScalarKind, leaves};
use crate::analysis::effects::may_access;
use crate::ir::{Function, Instruction, LocalId, Module, Op, Value};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// The size of the largest vector store in bytes.
const MAX_VECTOR_BYTES: u64 = 16;

/// Stores of a block to adjacent addresses. No instruction between them accesses memory.
#[derive(Debug)]
pub(super) struct StoreGroup {
    /// The indices of the stores in their block.
    pub(super) stores: Vec<usize>,
    /// The pointer from which the addresses of all stores are derived.
    pub(super) base: LocalId,
    /// If `base` is a multiple of this number of bytes, the vector stores are aligned.
    pub(super) align: u64,
    /// The scalars of each vector store, and those that are stored alone.
    pub(super) pieces: Vec<Vec<StoredScalar>>,
}

/// A scalar of a store.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredScalar {
    /// The number of the store in [`StoreGroup::stores`].
    pub(super) store: usize,
    /// The number of the scalar in the stored value.
    pub(super) number: usize,
    pub(super) leaf: Leaf,
    /// The offset from the address that all stores of the group share, in bytes.
    at: i64,
}

impl StoredScalar {
    /// The size in bytes of a scalar that may be a part of a vector store; `None` for others.
    pub(super) fn size(&self) -> Option<u64> {
        use ScalarKind::{Double, Float, Int};
        matches!(self.leaf.kind, Int(32 | 64) | Float | Double).then(|| self.leaf.kind.register().size())
    }
}

impl StoreGroup {
    /// True if a vector store replaces some of the stores.
    fn has_vectors(&self) -> bool {
        self.pieces.iter().any(|piece| piece.len() > 1)
    }
}

/// The groups of a kernel.
#[derive(Default)]
pub(super) struct StoreGroups {
    /// By the block and the index of the last store of each group, whose place the vector stores take.
    by_last: HashMap<(usize, usize), StoreGroup>,
    /// The blocks and indices of the other stores.
    earlier: HashSet<(usize, usize)>,
}

/// What becomes of a store.
pub(super) enum Fate {
    /// The store is in no group.
    Alone,
    /// A later store of the group is emitted with this one.
    Later,
    /// All stores of the group are emitted in place of this one.
    Now(StoreGroup),
}

impl StoreGroups {
    pub(super) fn of(module: &Module, function: &Function, pointers: &PointerAnalysis) -> Self {
        let definitions = function.definitions();
        let mut groups = Self::default();
        for (number, block) in function.blocks.iter().enumerate() {
            let mut run = Vec::new();
            for (at, one) in block.instructions.iter().enumerate() {
                let store = store_of(one, at, &definitions, pointers);
                let continues = matches!((&store, run.last()), (Some(next), Some(last)) if next.shares_sum(last));
                if !continues && may_access(module, one) {
                    groups.add(number, group(&definitions, &std::mem::take(&mut run)));
                }
                run.extend(store);
            }
            groups.add(number, group(&definitions, &run));
        }
        groups
    }

    fn add(&mut self, block: usize, group: Option<StoreGroup>) {
        let Some(group) = group else { return };
        if let Some((&last, earlier)) = group.stores.split_last() {
            self.earlier.extend(earlier.iter().map(|&at| (block, at)));
            self.by_last.insert((block, last), group);
        }
    }

    /// True if the store at this place is in a group.
    pub(super) fn contains(&self, place: (usize, usize)) -> bool {
        self.by_last.contains_key(&place) || self.earlier.contains(&place)
    }

    /// What becomes of the store at this place. Each group is returned once.
    pub(super) fn take(&mut self, place: (usize, usize)) -> Fate {
        match self.by_last.remove(&place) {
            Some(group) => Fate::Now(group),
            None if self.earlier.contains(&place) => Fate::Later,
            None => Fate::Alone,
        }
    }
}

/// A store to device memory.
struct Store {
    at: usize,
    sum: Sum,
    leaves: Vec<Leaf>,
}

impl Store {
    fn shares_sum(&self, other: &Self) -> bool {
        (self.sum.base, &self.sum.by) == (other.sum.base, &other.sum.by)
    }
}

fn store_of(
    one: &Instruction,
    at: usize,
    definitions: &[Option<&Instruction>],
    pointers: &PointerAnalysis,
) -> Option<Store> {
    let Op::Store { value, pointer, volatile: false, atomic: false, .. } = &one.op else { return None };
    pointer.value.local().filter(|&local| pointers.class_of(local) == PointerClass::Device)?;
    Some(Store { at, sum: Sum::of(definitions, &pointer.value)?, leaves: leaves(&value.ty)? })
}

/// The number of bytes, at most [`MAX_VECTOR_BYTES`], to which an address without its constant part is aligned if its base is.
pub(super) fn alignment(definitions: &[Option<&Instruction>], sum: &Sum) -> u64 {
    let divisors = sum
        .by
        .iter()
        .map(|(&index, &scale)| known_divisor(definitions, &Value::Local(index), 0) * divisor(scale as i64));
    divisors.min().unwrap_or(MAX_VECTOR_BYTES).min(MAX_VECTOR_BYTES)
}

/// The pointer from which loops compute another pointer by steps.
struct Root {
    pointer: LocalId,
    /// The other pointer minus this one is `distance` plus a multiple of `align` bytes.
    distance: i64,
    /// At most [`MAX_VECTOR_BYTES`].
    align: u64,
}

impl Root {
    /// The root of a pointer; `None` if there are several.
    fn of(definitions: &[Option<&Instruction>], pointer: LocalId) -> Option<Self> {
        let (mut root, mut align) = (None, MAX_VECTOR_BYTES);
        // The distances from `pointer`.
        let (mut distances, mut rest) = (HashMap::from([(pointer, 0_i64)]), vec![pointer]);
        while let Some(at) = rest.pop() {
            let from = distances[&at];
            let Some(Op::Phi { incoming, .. }) = definitions[at.0].map(|made| &made.op) else {
                if root.replace((at, from)).is_some() {
                    return None;
                }
                continue;
            };
            for (value, _) in incoming {
                let sum = Sum::of(definitions, value)?;
                align = align.min(alignment(definitions, &sum));
                let distance = from.wrapping_sub(sum.offset);
                match distances.entry(sum.base) {
                    Entry::Vacant(new) => {
                        new.insert(distance);
                        rest.push(sum.base);
                    }
                    Entry::Occupied(known) => align = align.min(divisor(distance.wrapping_sub(*known.get()))),
                }
            }
        }
        let (pointer, back) = root?;
        Some(Self { pointer, distance: back.wrapping_neg(), align })
    }
}

/// The largest power of two, up to [`MAX_VECTOR_BYTES`], that divides a number.
fn divisor(number: i64) -> u64 {
    1 << number.trailing_zeros().min(MAX_VECTOR_BYTES.ilog2())
}

/// The group that these stores form, if any of them become vector stores. All addresses differ only by constants.
fn group(definitions: &[Option<&Instruction>], run: &[Store]) -> Option<StoreGroup> {
    let sum = &run.first()?.sum;
    let root = Root::of(definitions, sum.base)?;
    let align = alignment(definitions, sum).min(root.align);
    let scalars = |(store, of): (usize, &Store)| {
        let begin = of.sum.offset.wrapping_add(root.distance);
        let all = of.leaves.iter().enumerate();
        all.map(|(number, &leaf)| StoredScalar { store, number, leaf, at: begin.wrapping_add_unsigned(leaf.offset) })
            .collect::<Vec<_>>()
    };
    let mut all: Vec<StoredScalar> = run.iter().enumerate().flat_map(scalars).collect();
    all.sort_by_key(|scalar| scalar.at);
    let end =
        |scalar: &StoredScalar| scalar.at.saturating_add_unsigned(scalar.leaf.kind.memory().map_or(8, Scalar::size));
    if all.windows(2).any(|pair| end(&pair[0]) > pair[1].at) {
        return None; // The order of the stores matters.
    }
    let pieces = pieces(&all, align);
    let group = StoreGroup { stores: run.iter().map(|store| store.at).collect(), base: root.pointer, align, pieces };
    group.has_vectors().then_some(group)
}

/// Divides scalars, which are in the order of their addresses, into vector stores and scalars that are stored alone.
fn pieces(mut scalars: &[StoredScalar], align: u64) -> Vec<Vec<StoredScalar>> {
    let mut pieces = Vec::new();
    while !scalars.is_empty() {
        let sizes = [16, 8].into_iter().filter(|&bytes| bytes <= align);
        let count = sizes.filter_map(|bytes| vector(scalars, bytes)).next().unwrap_or(1);
        let (piece, rest) = scalars.split_at(count);
        pieces.push(piece.to_vec());
        scalars = rest;
    }
    pieces
}

/// The number of scalars that fill an aligned vector of this many bytes, if it begins with the first one. They have the same size.
fn vector(scalars: &[StoredScalar], bytes: u64) -> Option<usize> {
    let first = scalars.first()?;
    let size = first.size()?;
    let count = (bytes / size) as usize;
    let vector = scalars.get(..count)?;
    let is_next = |(n, scalar): (usize, &StoredScalar)| {
        scalar.size() == Some(size) && scalar.at == first.at.wrapping_add_unsigned(n as u64 * size)
    };
    let is_aligned = first.at.rem_euclid(bytes as i64) == 0;
    (count > 1 && is_aligned && vector.iter().enumerate().all(is_next)).then_some(count)
}
