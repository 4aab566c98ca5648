//! Which memory each pointer of a kernel may reach, for the checks of bounds (`bounds`).
//!
//! Each array and array_view has an entry in the table behind the argument block (`revamp_image::table`). Pointers are followed
//! from where they are loaded from the block, through address arithmetic, phis and selects.

use super::addresses::{Steps, steps};
use super::pointer_sets::{PointerClass, element_of, is_pointer};
use super::pointers::PointerAnalysis;
use crate::ir::{CastOp, Function, Instruction, LocalId, Module, Op, Operand, Type, Value};
use std::collections::{BTreeSet, HashMap};

/// The memory that a pointer may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// None: null.
    Nothing,
    /// The argument block; at this offset, if it is known.
    Block(Option<i64>),
    /// What the pointer at this offset of the block leads to.
    Captured(u32),
    /// The elements of the array whose address is at this offset of the block.
    Elements(u32),
    /// What a pointer leads to that was loaded from the block at an offset known at run time, by this load.
    Chosen(LocalId),
    /// That of one of several pointers, which this phi or select tells.
    Merged(LocalId),
    /// That in which the pointer lay when this instruction made it, in a way that cannot be followed.
    Found(LocalId),
}

/// What is known of the pointers of a kernel.
#[derive(Default)]
pub(super) struct Reaches {
    of: HashMap<LocalId, Reach>,
    /// Offsets in the block that hold the address of an array, through which that of its elements is loaded.
    pub(super) headers: BTreeSet<u32>,
    /// All offsets from which addresses are loaded.
    pub(super) slots: BTreeSet<u32>,
    /// The calls that name the element of a view a pointer is in, and the bytes from its beginning.
    elements: HashMap<LocalId, (LocalId, i64)>,
}

impl Reaches {
    pub(super) fn of(&self, pointer: &Value) -> Reach {
        match pointer {
            Value::Local(local) => self.of.get(local).copied().unwrap_or(Reach::Found(*local)),
            Value::Constant(_) => Reach::Nothing,
        }
    }

    /// The call that names the element in which a pointer is, if it is in one.
    pub(super) fn element(&self, pointer: &Value) -> Option<(LocalId, i64)> {
        let Value::Local(local) = pointer else { return None };
        self.elements.get(local).copied()
    }
}

/// Follows all pointers of a kernel.
pub(super) fn reaches(module: &Module, function: &Function, pointers: &PointerAnalysis) -> Reaches {
    let mut following = Following { module, function, pointers, found: Reaches::default() };
    for n in 0..function.parameters.len() {
        following.found.of.insert(LocalId(n), Reach::Block(Some(0)));
    }
    let mut changed = true;
    while changed {
        changed = false;
        for Instruction { result, op, .. } in function.instructions() {
            if let Some(result) = *result {
                changed |= following.instruction(result, op);
            }
        }
    }
    // What only seemed so on the way.
    following.found.headers.clear();
    following.found.slots.clear();
    for Instruction { result, op, .. } in function.instructions() {
        if let Some(result) = *result {
            following.instruction(result, op);
        }
    }
    following.found
}

struct Following<'m> {
    module: &'m Module,
    function: &'m Function,
    pointers: &'m PointerAnalysis,
    found: Reaches,
}

impl Following<'_> {
    /// True if something new was found.
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
                self.known(&base.value).map(|reach| match reach {
                    Reach::Block(at) => Reach::Block(at.zip(by).and_then(|(at, by)| at.checked_add(by))),
                    other => other,
                })
            }
            Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value, .. } | Op::Freeze { value } => {
                element = self.found.element(&value.value);
                self.known(&value.value)
            }
            Op::Select { yes, no, .. } => self.merged(result, [&yes.value, &no.value].into_iter()),
            Op::Phi { incoming, .. } => self.merged(result, incoming.iter().map(|(value, _)| value)),
            Op::Load { ty: Type::Pointer(_), pointer, .. } => self.loaded(result, pointer),
            Op::Call { .. } => match element_of(self.module, op) {
                Some(pointer) => {
                    element = Some((result, 0));
                    self.known(&pointer.value)
                }
                None => Some(Reach::Found(result)),
            },
            _ => Some(Reach::Found(result)),
        };
        let mut changed = false;
        if let Some(element) = element {
            changed |= self.found.elements.insert(result, element).is_none();
        }
        let old = self.found.of.get(&result).copied();
        let new = match (old, new) {
            // It ends, whatever goes in circles.
            (Some(Reach::Block(at)), Some(Reach::Block(new))) if at != new => Some(Reach::Block(None)),
            (_, new) => new,
        };
        if let Some(new) = new.filter(|&new| old != Some(new)) {
            self.found.of.insert(result, new);
            changed = true;
        }
        changed
    }

    /// What is known so far of a pointer.
    fn known(&self, value: &Value) -> Option<Reach> {
        match value {
            Value::Local(local) => self.found.of.get(local).copied(),
            Value::Constant(_) => Some(Reach::Nothing),
        }
    }

    fn merged<'v>(&self, result: LocalId, values: impl Iterator<Item = &'v Value>) -> Option<Reach> {
        // What was merged stays so: what is known of the values only grows.
        let own = Some(Reach::Merged(result));
        let mut all = if self.found.of.get(&result).copied() == own { own } else { None };
        for reach in values.filter_map(|value| self.known(value)) {
            all = match (all, reach) {
                (None, reach) => Some(reach),
                (all, Reach::Nothing) => all,
                (all, reach) if all == Some(reach) || Some(reach) == own => all,
                (Some(Reach::Nothing), reach) => Some(reach),
                (Some(Reach::Block(_)), Reach::Block(_)) => Some(Reach::Block(None)),
                _ => own,
            };
        }
        all
    }

    fn loaded(&mut self, result: LocalId, pointer: &Operand) -> Option<Reach> {
        let Value::Local(from) = pointer.value else { return Some(Reach::Found(result)) };
        if self.pointers.class_of(from) != PointerClass::Device {
            return Some(Reach::Found(result));
        }
        Some(match self.known(&pointer.value)? {
            Reach::Block(Some(at)) => match u32::try_from(at) {
                Ok(at) if at % 8 == 0 => {
                    self.found.slots.insert(at);
                    Reach::Captured(at)
                }
                _ => Reach::Found(result),
            },
            Reach::Block(None) => Reach::Chosen(result),
            Reach::Captured(at) => {
                self.found.headers.insert(at);
                Reach::Elements(at)
            }
            _ => Reach::Found(result),
        })
    }
}
