//! Merges stores to adjacent addresses into vector stores.
//!
//! NVIDIA's driver merges loads of adjacent words, but no stores. Four stores of 4 bytes then take four times as long as one of 16 bytes. A
//! vector store must be aligned to its size. Elements of `array_view<float_4>` usually are, but a section may begin anywhere. So a group of
//! stores has two forms, and a test of the pointer from which all its addresses are derived selects one of them. The pointer is usually the
//! same for all threads. Devices with `DeviceProperty::MergesOnlyLoads` use this code, others the stores as they are.

use super::addresses::Sum;
use super::assembler::{Assembler, Scalar};
use super::bounds;
use super::emitter::{Emitter, Lowered};
use super::memory::{self, Address, known_divisor};
use super::pointer_sets::PointerClass;
use super::pointers::PointerAnalysis;
use super::scalars::{Leaf, ScalarKind, aligned_at, leaves};
use crate::analysis::effects::may_write;
use crate::ir::{Function, Instruction, LocalId, Module, Op, Operand, Value};
use revamp_image::DeviceProperty;
use rspirv::dr;
use rspirv::spirv::{self, Op as S, StorageClass, Word};
use std::collections::{HashMap, HashSet};

/// The size of the largest vector store in bytes.
const MAX_VECTOR_BYTES: u64 = 16;

/// Stores of a block to adjacent addresses. No instruction between them accesses memory.
#[derive(Debug)]
pub(super) struct StoreGroup {
    /// The indices of the stores in their block.
    stores: Vec<usize>,
    /// The pointer from which the addresses of all stores are derived.
    base: LocalId,
    /// If `base` is a multiple of this number of bytes, the vector stores are aligned.
    align: u64,
    /// The scalars of each vector store, and those that are stored alone.
    pieces: Vec<Vec<StoredScalar>>,
}

/// A scalar of a store.
#[derive(Debug, Clone, Copy)]
struct StoredScalar {
    /// The number of the store in [`StoreGroup::stores`].
    store: usize,
    /// The number of the scalar in the stored value.
    number: usize,
    leaf: Leaf,
    /// The offset from the address that all stores of the group share, in bytes.
    at: i64,
}

impl StoredScalar {
    /// The size in bytes of a scalar that may be a part of a vector store; `None` for others.
    fn size(&self) -> Option<u64> {
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
                if !continues && (store.is_some() || may_write(module, one) || matches!(one.op, Op::Load { .. })) {
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
    Some(Store { at, sum: Sum::of(definitions, pointer)?, leaves: leaves(&value.ty)? })
}

/// The number of bytes, at most [`MAX_VECTOR_BYTES`], to which an address without its constant part is aligned if its base is.
pub(super) fn alignment(definitions: &[Option<&Instruction>], sum: &Sum) -> u64 {
    let divisors = sum.by.iter().map(|(&index, &scale)| {
        known_divisor(definitions, &Value::Local(index), 0) << scale.trailing_zeros().min(MAX_VECTOR_BYTES.ilog2())
    });
    divisors.min().unwrap_or(MAX_VECTOR_BYTES).min(MAX_VECTOR_BYTES)
}

/// The group that these stores form, if any of them become vector stores. All addresses differ only by constants.
fn group(definitions: &[Option<&Instruction>], run: &[Store]) -> Option<StoreGroup> {
    let sum = &run.first()?.sum;
    if definitions[sum.base.0].is_some_and(|made| matches!(made.op, Op::Phi { .. })) {
        return None;
    }
    let align = alignment(definitions, sum);
    let scalars = |(store, of): (usize, &Store)| {
        let begin = of.sum.offset;
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
    let group = StoreGroup { stores: run.iter().map(|store| store.at).collect(), base: sum.base, align, pieces };
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

/// An evaluated store of a group.
struct Evaluated<'m> {
    value: &'m Operand,
    align: u64,
    to: Address,
    words: Vec<Word>,
}

impl<'m> Emitter<'m> {
    /// Emits both forms of a group, and the test of the base.
    pub(super) fn store_group(&mut self, group: &StoreGroup) -> Lowered<()> {
        let instructions = &self.function.blocks[self.place.0].instructions;
        let mut stores = Vec::new();
        for &at in &group.stores {
            if let Op::Store { value, pointer, align, .. } = &instructions[at].op {
                let to = self.access(pointer, 0, 0, *align, bounds::WRITES)?.at;
                stores.push(Evaluated { value, align: *align, to, words: self.words(value)? });
            }
        }
        let is_aligned = self.is_aligned(group)?;
        let (yes, no, merge) = (self.asm.id(), self.asm.id(), self.asm.id());
        let control = dr::Operand::SelectionControl(spirv::SelectionControl::NONE);
        self.asm.push(dr::Instruction::new(S::SelectionMerge, None, None, vec![dr::Operand::IdRef(merge), control]));
        self.branch(S::BranchConditional, &[is_aligned, yes, no]);
        self.begin_block(yes);
        for piece in &group.pieces {
            self.store_piece(&stores, piece)?;
        }
        self.branch(S::Branch, &[merge]);
        self.begin_block(no);
        for Evaluated { value, align, to, .. } in stores {
            self.store(to, value, align, false)?;
        }
        self.branch(S::Branch, &[merge]);
        self.begin_block(merge);
        Ok(())
    }

    /// True if the device prefers vector stores, and those of the group are aligned.
    fn is_aligned(&mut self, group: &StoreGroup) -> Lowered<Word> {
        let base = match self.values.get(&group.base).map(Vec::as_slice) {
            Some(&[base]) => base,
            _ => return Err(self.internal("the base of an address was not lowered")),
        };
        let preferred = self.asm.device_property(DeviceProperty::MergesOnlyLoads as u32);
        let (mask, zero) = (self.asm.constant(Scalar::U32, group.align - 1), self.asm.constant(Scalar::U32, 0));
        let low = self.asm.make(S::UConvert, Scalar::U32, &[base]);
        let rest = self.asm.make(S::BitwiseAnd, Scalar::U32, &[low, mask]);
        let is_aligned = self.asm.make(S::IEqual, Scalar::Bool, &[rest, zero]);
        Ok(self.asm.make(S::LogicalAnd, Scalar::Bool, &[preferred, is_aligned]))
    }

    fn store_piece(&mut self, stores: &[Evaluated<'_>], piece: &[StoredScalar]) -> Lowered<()> {
        let Some(first) = piece.first() else { return Ok(()) };
        let Evaluated { align, to, words, .. } = &stores[first.store];
        let at = to.plus(&mut self.asm, first.leaf.offset);
        if piece.len() == 1 {
            let (word, align) = (words[first.number], aligned_at(*align, first.leaf.offset));
            return memory::store(&mut self.asm, at, first.leaf.kind, word, align, false)
                .ok_or_else(|| self.internal("a store has a size that SPIR-V does not support"));
        }
        let lane = Scalar::unsigned(first.size().unwrap_or(4));
        let lanes = piece.iter().map(|scalar| {
            let word = stores[scalar.store].words[scalar.number];
            memory::recast(&mut self.asm, word, scalar.leaf.kind.register(), lane)
        });
        let lanes: Vec<Word> = lanes.collect();
        vector_store(&mut self.asm, at.word(), lane, &lanes);
        Ok(())
    }
}

/// Stores scalars of one type as a vector, which is aligned to its size.
fn vector_store(asm: &mut Assembler, at: Word, lane: Scalar, lanes: &[Word]) {
    let ty = asm.vector(lane, lanes.len() as u32);
    let pointer = asm.pointer(StorageClass::PhysicalStorageBuffer, ty);
    let to = asm.op(S::ConvertUToPtr, pointer, &[at]);
    let value = asm.op(S::CompositeConstruct, ty, lanes);
    let bytes = lane.size() * lanes.len() as u64;
    let access = [dr::Operand::MemoryAccess(spirv::MemoryAccess::ALIGNED), dr::Operand::LiteralBit32(bytes as u32)];
    let operands = [to, value].map(dr::Operand::IdRef).into_iter().chain(access).collect();
    asm.push(dr::Instruction::new(S::Store, None, None, operands));
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LOADS, compile_and_load};
    use super::*;

    /// The alignments of the stores of a kernel that stores through %p, the element of `bytes` bytes of thread %i.
    fn stores(bytes: u32, lines: &str) -> Vec<u32> {
        let body = format!(
            "{LOADS}  %n = call i32 @__revamp_global_id(i32 0)
  %i = zext i32 %n to i64
  %p = getelementptr inbounds [{bytes} x i8], ptr addrspace(4) %b, i64 %i
{lines}  ret void"
        );
        let (_, module) = compile_and_load(&body);
        let stores = module.all_inst_iter().filter(|one| one.class.opcode == S::Store);
        let align = |one: &dr::Instruction| match one.operands.last() {
            Some(dr::Operand::LiteralBit32(align)) => *align,
            other => panic!("a store has {other:?} instead of an alignment"),
        };
        stores.map(align).collect()
    }

    /// Stores of 4 bytes at these offsets.
    fn words(offsets: &[i32]) -> String {
        let store = |at: &i32| {
            format!(
                "  %p{at} = getelementptr inbounds i8, ptr addrspace(4) %p, i64 {at}
  store i32 {at}, ptr addrspace(4) %p{at}, align 4
"
            )
        };
        offsets.iter().map(store).collect()
    }

    #[test]
    fn adjacent_stores_become_vectors_where_the_address_is_aligned() {
        assert_eq!(stores(16, &words(&[0, 4, 8, 12])), [16, 4, 4, 4, 4]);
        // The order of the stores does not matter.
        assert_eq!(stores(32, &words(&[12, 4, 8, 0])), [16, 4, 4, 4, 4]);
        // 12 of 16 bytes, and elements of 24 bytes.
        assert_eq!(stores(16, &words(&[0, 4, 8])), [8, 4, 4, 4, 4]);
        assert_eq!(stores(24, &words(&[0, 4, 8, 12])), [8, 8, 4, 4, 4, 4]);
        // The first vector begins in the middle of 16 bytes.
        assert_eq!(stores(16, &words(&[4, 8, 12])), [4, 8, 4, 4, 4]);
        let doubles = "  %q = getelementptr inbounds i8, ptr addrspace(4) %p, i64 8
  store double 1.0, ptr addrspace(4) %p, align 8
  store double 2.0, ptr addrspace(4) %q, align 8
";
        assert_eq!(stores(16, doubles), [16, 8, 8]);
        assert_eq!(stores(16, "  store <4 x float> zeroinitializer, ptr addrspace(4) %p, align 4\n"), [16, 4, 4, 4, 4]);
    }

    #[test]
    fn other_stores_stay() {
        // Elements of 12 bytes are not aligned to 8 bytes.
        assert_eq!(stores(12, &words(&[0, 4, 8])), [4, 4, 4]);
        assert_eq!(stores(16, &words(&[0, 8])), [4, 4]);
        // Overlapping stores, whose order matters.
        let overlapping = format!("{}  store i64 7, ptr addrspace(4) %p, align 8\n", words(&[0, 4]));
        assert_eq!(stores(16, &overlapping), [4, 4, 8]);
        // A load between the stores may read what the first one wrote.
        let between = "  store i32 1, ptr addrspace(4) %p, align 4
  %v = load i32, ptr addrspace(4) %a, align 4
  %q = getelementptr inbounds i8, ptr addrspace(4) %p, i64 4
  store i32 %v, ptr addrspace(4) %q, align 4
";
        assert_eq!(stores(16, between), [4, 4]);
        let volatile = words(&[0, 4]).replace("store i32 4", "store volatile i32 4");
        assert_eq!(stores(16, &volatile), [4, 4]);
        assert_eq!(stores(16, "  store <4 x i16> zeroinitializer, ptr addrspace(4) %p, align 2\n"), [2, 2, 2, 2]);
    }
}
