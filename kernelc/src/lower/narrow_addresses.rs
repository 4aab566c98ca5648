//! Which pointers have an address of the form of `narrow_offsets`.

use crate::ir::{Function, Instruction, LocalId, Op, Operand};
use rspirv::spirv::Word;
use std::collections::{HashMap, HashSet};

/// The pointers of a kernel that are captured pointers with offsets of 32 bits.
pub(super) struct NarrowAddresses<'m> {
    pub(super) definitions: Vec<Option<&'m Instruction>>,
    pub(super) accessed: HashSet<LocalId>,
    /// The captured pointer that a pointer was made from, and the offset.
    pub(super) made: HashMap<LocalId, (Word, Word)>,
    /// The addresses that accesses through a pointer use.
    pub(super) addresses: HashMap<LocalId, Word>,
}

impl<'m> NarrowAddresses<'m> {
    pub(super) fn of(function: &'m Function) -> Self {
        let pointer = |op: &'m Op| match op {
            Op::Load { pointer, .. }
            | Op::Store { pointer, .. }
            | Op::AtomicRmw { pointer, .. }
            | Op::CmpXchg { pointer, .. } => pointer.value.local(),
            _ => None,
        };
        let accessed = function.instructions().filter_map(|i| pointer(&i.op)).collect();
        Self { definitions: function.definitions(), accessed, made: HashMap::new(), addresses: HashMap::new() }
    }

    /// The address for accesses through a pointer, if it is not the pointer's value.
    pub(super) fn address(&self, pointer: &Operand) -> Option<Word> {
        self.addresses.get(&pointer.value.local()?).copied()
    }
}
