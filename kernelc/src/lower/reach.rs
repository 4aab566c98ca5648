//! Finds the memory that each pointer of a kernel may access, for bounds checks (`bounds`).
//!
//! Each array and array_view has an entry in the table after the argument block (`revamp_image::table`). The analysis follows pointers
//! from their load from the block through address arithmetic, phis and selects.

use super::addresses::{Steps, steps};
use super::pointer_sets::{PointerClass, element_of, is_pointer};
use super::pointers::PointerAnalysis;
use crate::ir::{CastOp, Function, Instruction, LocalId, Module, Op, Operand, Type, Value};
use std::collections::{BTreeSet, HashMap};

/// The memory that a pointer may access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provenance {
    /// No memory: the pointer is null.
    Nothing,
    /// The argument block, and the pointer's offset in it, if this offset is known.
    Block(Option<i64>),
    /// The memory at the pointer that is captured at this offset of the argument block.
    Captured(u32),
    /// The elements of the array whose address is at this offset of the argument block.
    Elements(u32),
    /// The memory at the pointer that this load reads from the argument block, at an offset known only at run time.
    DynamicSlot(LocalId),
    /// The memory of one of several pointers, which this phi or select chooses.
    Merged(LocalId),
    /// The memory into which the result of this instruction points. The analysis cannot follow the pointer, so the
    /// kernel searches the table for this memory.
    Searched(LocalId),
}

/// The memory that the pointers of a kernel may access.
#[derive(Default)]
pub(super) struct Provenances {
    of: HashMap<LocalId, Provenance>,
    /// Offsets in the argument block that hold the address of an array. The kernel loads the address of the array's elements through this
    /// address.
    pub(super) headers: BTreeSet<u32>,
    /// All offsets in the argument block from which addresses are loaded.
    pub(super) slots: BTreeSet<u32>,
    /// By pointer into an element of a view: the call in the headers that describes the element, and the byte offset of
    /// the pointer in the element.
    elements: HashMap<LocalId, (LocalId, i64)>,
}

impl Provenances {
    pub(super) fn of(&self, pointer: &Value) -> Provenance {
        match pointer {
            Value::Local(local) => self.of.get(local).copied().unwrap_or(Provenance::Searched(*local)),
            Value::Constant(_) => Provenance::Nothing,
        }
    }

    /// The call that describes the element into which a pointer points, and the byte offset of the pointer in the
    /// element.
    pub(super) fn element(&self, pointer: &Value) -> Option<(LocalId, i64)> {
        let Value::Local(local) = pointer else { return None };
        self.elements.get(local).copied()
    }
}

/// Finds the provenance of each pointer of a kernel.
pub(super) fn provenances(module: &Module, function: &Function, pointers: &PointerAnalysis) -> Provenances {
    let mut analysis = ProvenanceAnalysis { module, function, pointers, found: Provenances::default() };
    for n in 0..function.parameters.len() {
        analysis.found.of.insert(LocalId(n), Provenance::Block(Some(0)));
    }
    let mut changed = true;
    while changed {
        changed = false;
        for Instruction { result, op, .. } in function.instructions() {
            if let Some(result) = *result {
                changed |= analysis.instruction(result, op);
            }
        }
    }
    // Compute `headers` and `slots` from the final results. Before the fixed point, intermediate results may have added wrong offsets.
    analysis.found.headers.clear();
    analysis.found.slots.clear();
    for Instruction { result, op, .. } in function.instructions() {
        if let Some(result) = *result {
            analysis.instruction(result, op);
        }
    }
    analysis.found
}

struct ProvenanceAnalysis<'m> {
    module: &'m Module,
    function: &'m Function,
    pointers: &'m PointerAnalysis,
    found: Provenances,
}

impl ProvenanceAnalysis<'_> {
    /// Updates the facts about the result of an instruction. Returns true if a fact has changed.
    fn instruction(&mut self, result: LocalId, op: &Op) -> bool {
        if !is_pointer(&self.function.locals[result.0].ty) || self.pointers.class_of(result) != PointerClass::Device {
            return false;
        }
        let mut element = None;
        let new = match op {
            Op::Gep { source, base, indices, .. } => {
                let by = steps(source, indices).and_then(|Steps { offset, by }| by.is_empty().then_some(offset));
                element = self
                    .found
                    .element(&base.value)
                    .zip(by)
                    .and_then(|((call, at), by)| Some((call, at.checked_add(by)?)));
                self.provenance_so_far(&base.value).map(|provenance| match provenance {
                    Provenance::Block(at) => Provenance::Block(at.zip(by).and_then(|(at, by)| at.checked_add(by))),
                    other => other,
                })
            }
            Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value, .. } | Op::Freeze { value } => {
                element = self.found.element(&value.value);
                self.provenance_so_far(&value.value)
            }
            Op::Select { yes, no, .. } => self.merged(result, [&yes.value, &no.value].into_iter()),
            Op::Phi { incoming, .. } => self.merged(result, incoming.iter().map(|(value, _)| value)),
            Op::Load { ty: Type::Pointer(_), pointer, .. } => self.loaded(result, pointer),
            Op::Call { .. } => match element_of(self.module, op) {
                Some(pointer) => {
                    element = Some((result, 0));
                    self.provenance_so_far(&pointer.value)
                }
                None => Some(Provenance::Searched(result)),
            },
            _ => Some(Provenance::Searched(result)),
        };
        let mut changed = false;
        if let Some(element) = element {
            changed |= self.found.elements.insert(result, element).is_none();
        }
        let old = self.found.of.get(&result).copied();
        let new = match (old, new) {
            // A changing offset becomes unknown, so that the iteration ends.
            (Some(Provenance::Block(at)), Some(Provenance::Block(new))) if at != new => Some(Provenance::Block(None)),
            (_, new) => new,
        };
        if let Some(new) = new.filter(|&new| old != Some(new)) {
            self.found.of.insert(result, new);
            changed = true;
        }
        changed
    }

    /// The memory found so far for a pointer.
    fn provenance_so_far(&self, value: &Value) -> Option<Provenance> {
        match value {
            Value::Local(local) => self.found.of.get(local).copied(),
            Value::Constant(_) => Some(Provenance::Nothing),
        }
    }

    fn merged<'v>(&self, result: LocalId, values: impl Iterator<Item = &'v Value>) -> Option<Provenance> {
        // A merged pointer stays merged: in later iterations, the provenances of its operands never become more
        // precise.
        let merge_of_result = Some(Provenance::Merged(result));
        let mut all = if self.found.of.get(&result).copied() == merge_of_result { merge_of_result } else { None };
        for provenance in values.filter_map(|value| self.provenance_so_far(value)) {
            all = match (all, provenance) {
                (None, provenance) => Some(provenance),
                (all, Provenance::Nothing) => all,
                (all, provenance) if all == Some(provenance) || Some(provenance) == merge_of_result => all,
                (Some(Provenance::Nothing), provenance) => Some(provenance),
                (Some(Provenance::Block(_)), Provenance::Block(_)) => Some(Provenance::Block(None)),
                _ => merge_of_result,
            };
        }
        all
    }

    fn loaded(&mut self, result: LocalId, pointer: &Operand) -> Option<Provenance> {
        let Value::Local(from) = pointer.value else { return Some(Provenance::Searched(result)) };
        if self.pointers.class_of(from) != PointerClass::Device {
            return Some(Provenance::Searched(result));
        }
        Some(match self.provenance_so_far(&pointer.value)? {
            Provenance::Block(Some(at)) => match u32::try_from(at) {
                Ok(at) if at % 8 == 0 => {
                    self.found.slots.insert(at);
                    Provenance::Captured(at)
                }
                _ => Provenance::Searched(result),
            },
            Provenance::Block(None) => Provenance::DynamicSlot(result),
            Provenance::Captured(at) => {
                self.found.headers.insert(at);
                Provenance::Elements(at)
            }
            _ => Provenance::Searched(result),
        })
    }
}
