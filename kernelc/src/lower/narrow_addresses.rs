//! Finds the pointers whose address is a captured pointer plus a 32-bit offset. `narrow_offsets` computes these addresses.

use super::capture_uses::Origin;
use super::offset_parts::{Counters, OffsetParts};
use super::pointer_sets::{PointerClass, is_pointer};
use super::pointers::PointerAnalysis;
use crate::ir::{Function, Instruction, LocalId, Op, Operand, Value};
use rspirv::spirv::Word;
use std::collections::{HashMap, HashSet};

/// The pointers of a kernel that are a captured pointer plus a 32-bit offset.
pub(super) struct NarrowAddresses<'m> {
    pub(super) definitions: Vec<Option<&'m Instruction>>,
    /// The accesses: each pointer, with each block that accesses memory through it.
    pub(super) accessed: HashSet<(LocalId, usize)>,
    /// The pointers through which any block accesses memory.
    pub(super) accessed_pointers: HashSet<LocalId>,
    /// For each pointer that is derived from a single captured pointer: the load of the captured pointer in the entry block.
    pub(super) starts: HashMap<LocalId, LocalId>,
    /// For pointers with a known offset: the SPIR-V ids of the captured pointer from which the pointer is derived, and of the offset.
    pub(super) made: HashMap<LocalId, (Word, Word)>,
    /// For pointers through which memory is accessed: the sum of the captured pointer and the offset.
    pub(super) narrow_sum: HashMap<LocalId, Word>,
    /// By pointer: the address that accesses through this pointer use.
    pub(super) addresses: HashMap<LocalId, Word>,
    /// By pointer and block: an address that the block accesses, and the distance in bytes from the pointer to this address.
    pub(super) anchors: HashMap<(LocalId, usize), (Word, i64)>,
    /// `None` if drivers do not unroll the kernel's loops.
    pub(super) counters: Option<Counters<'m>>,
    /// By pointer: the parts of its offset, if none of them is negative. Empty without `counters`.
    pub(super) parts: HashMap<LocalId, OffsetParts>,
}

impl<'m> NarrowAddresses<'m> {
    pub(super) fn of(function: &'m Function, pointers: &PointerAnalysis, rolled: bool) -> Self {
        let mut accessed = HashSet::new();
        for (n, block) in function.blocks.iter().enumerate() {
            let locals = block.instructions.iter().flat_map(|one| accesses(&one.op));
            accessed.extend(locals.filter_map(|pointer| Some((pointer.value.local()?, n))));
        }
        Self {
            definitions: function.definitions(),
            accessed_pointers: accessed.iter().map(|&(local, _)| local).collect(),
            accessed,
            starts: starts(function, pointers),
            made: HashMap::new(),
            narrow_sum: HashMap::new(),
            addresses: HashMap::new(),
            anchors: HashMap::new(),
            counters: rolled.then(|| Counters::of(function)),
            parts: HashMap::new(),
        }
    }

    pub(super) fn is_phi(&self, local: LocalId) -> bool {
        self.definitions[local.0].is_some_and(|made| matches!(made.op, Op::Phi { .. }))
    }
}

/// The pointers through which an instruction accesses memory.
fn accesses(op: &Op) -> &[Operand] {
    match op {
        Op::Load { pointer, .. }
        | Op::Store { pointer, .. }
        | Op::AtomicRmw { pointer, .. }
        | Op::CmpXchg { pointer, .. } => std::slice::from_ref(pointer),
        _ => &[],
    }
}

/// Computes [`NarrowAddresses::starts`] by a fixed-point iteration, because pointers of a loop are derived from each other.
fn starts(function: &Function, pointers: &PointerAnalysis) -> HashMap<LocalId, LocalId> {
    // `None`: derived from several captured pointers, or from something else.
    let mut start_of: HashMap<LocalId, Option<LocalId>> = HashMap::new();
    let is_captured = |local: LocalId| {
        let origins = pointers.origins_of(local);
        !origins.is_empty() && origins.iter().all(|origin| matches!(origin, Origin::Capture(..)))
    };
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (block, instruction) in
            function.blocks.iter().enumerate().flat_map(|(n, block)| block.instructions.iter().map(move |i| (n, i)))
        {
            let Some(local) = instruction.result else { continue };
            if !is_pointer(&function.locals[local.0].ty) || pointers.class_of(local) != PointerClass::Device {
                continue;
            }
            let of = |value: &Value| value.local().map_or(Some(None), |from| start_of.get(&from).copied());
            let start = match &instruction.op {
                Op::Load { .. } if block == 0 && is_captured(local) => Some(Some(local)),
                Op::Gep { base: Operand { value, .. }, .. } => of(value),
                Op::Phi { incoming, .. } => {
                    let incoming_starts: HashSet<_> = incoming.iter().filter_map(|(value, _)| of(value)).collect();
                    if incoming_starts.len() > 1 { Some(None) } else { incoming_starts.into_iter().next() }
                }
                _ => Some(None),
            };
            let Some(start) = start else { continue };
            changed |= start_of.insert(local, start) != Some(start);
        }
    }
    start_of.into_iter().filter_map(|(local, start)| Some((local, start?))).collect()
}
