//! Copies of a kernel's instructions for the threads of a region.

use super::function::{Function, Region};
use super::scopes::DistinctMemory;
use super::values::shared_within;
use super::variables::Access;
use crate::device_abi::{DeviceFunction, Position};
use crate::ir::{AtomicOp, Instruction, IntPredicate, LocalId, Op, Value as Operand};
use crate::llvm::number::{opcode as o, value as k};
use crate::llvm::{Form, Value};
use std::collections::{BTreeSet, HashMap};

/// Maps values of the kernel to their copies.
pub type Copied<'m> = HashMap<Value<'m>, Value<'m>>;

/// The parts of a constant.
fn parts(value: Value<'_>) -> Vec<Value<'_>> {
    match value.form() {
        Form::Expression(_) => value.operands().collect(),
        Form::Other(k::ARRAY | k::STRUCT | k::VECTOR) => (0..).map_while(|n| value.element(n)).collect(),
        _ => Vec::new(),
    }
}

fn mentions<'m>(value: Value<'m>, shared: &dyn Fn(Value<'m>) -> bool) -> bool {
    shared(value) || parts(value).into_iter().any(|part| mentions(part, shared))
}

/// False if a constant computes with the address of a tile_static variable, unless the result is an address within the
/// variable.
pub fn is_movable<'m>(value: Value<'m>, shared: &dyn Fn(Value<'m>) -> bool) -> bool {
    match value.form() {
        Form::Expression(o::GEP) => parts(value).into_iter().all(|part| is_movable(part, shared)),
        _ => shared(value) || !mentions(value, shared),
    }
}

impl<'m> Function<'_, 'm> {
    /// The copy of an operand. Constant addresses within tile_static variables become instructions, because these variables have no constant
    /// address in the native function.
    pub fn operand(&self, region: Option<&Region<'m>>, copied: &Copied<'m>, value: Value<'m>) -> Value<'m> {
        if let Some(existing_copy) = copied.get(&value).or_else(|| self.globals.get(&value)) {
            return *existing_copy;
        }
        match value.form() {
            Form::Expression(o::GEP) if mentions(value, &|one| self.globals.contains_key(&one)) => {
                let operands: Vec<Value<'m>> =
                    parts(value).into_iter().map(|part| self.operand(region, copied, part)).collect();
                self.build.address_with_operands(value, &operands)
            }
            Form::Instruction(_) | Form::Other(k::ARGUMENT) => {
                let place = self.handles.ids.get(&value).and_then(|name| self.place(region, *name));
                // The kernel's own value cannot be used: it is freed with the kernel.
                place.unwrap_or_else(|| {
                    unreachable!("the native function has no value for {} of the kernel", value.name())
                })
            }
            _ => value,
        }
    }

    /// The address of a variable or of the argument block.
    fn place(&self, region: Option<&Region<'m>>, name: LocalId) -> Option<Value<'m>> {
        if name == super::values::BLOCK {
            return Some(self.block);
        }
        self.own.get(&name).or_else(|| region?.places.get(&name)).copied()
    }

    /// Writes the copy of an instruction that makes a value or writes memory.
    pub fn instruction(
        &self,
        region: Option<&Region<'m>>,
        one: &Instruction,
        handle: Value<'m>,
        copied: &mut Copied<'m>,
    ) {
        let kernel = self.kernel;
        let function = DeviceFunction::called(&kernel.code, &one.op);
        if let (Some(DeviceFunction::Position(position)), Op::Call { arguments, .. }) = (function, &one.op) {
            let axis = arguments.first().and_then(|axis| axis.unsigned()).unwrap_or(0) as usize;
            let value = match (position, region) {
                (Position::Local, Some(region)) => region.local[axis],
                (Position::Global, Some(region)) => region.global[axis],
                _ => self.group[axis],
            };
            copied.insert(handle, value);
            return;
        }
        if function == Some(DeviceFunction::MemoryFence) {
            return self.build.fence();
        }
        if let Some(value) = self.atomic_as_plain(region, one, handle, copied) {
            copied.insert(handle, value);
            return;
        }
        let mut operands: Vec<Option<Value<'m>>> = (0..handle.count_operands())
            .map(|n| handle.operand(n).map(|value| self.operand(region, copied, value)))
            .collect();
        if let Some((bits, number)) = one.result.and_then(|name| self.bits.get(&name)).zip(operands[0]) {
            operands[0] = Some(self.build.binary(o::AND, number, *bits, "hidden"));
        }
        let copy = self.build.copy(handle, &handle.name());
        for (n, operand) in (0..).zip(operands) {
            if let Some(operand) = operand.filter(|new| handle.operand(n) != Some(*new)) {
                self.edit.set_operand(copy, n, operand);
            }
        }
        copied.insert(handle, copy);
        let access = Access::of(one).filter(|access| !self.is_plain(access.address));
        if let Some((access, region)) = access.zip(region).filter(|_| handle.access_group().is_none()) {
            self.edit.set_metadata(copy, "llvm.access.group", Some(region.group));
            self.scopes.attach_metadata(
                self.edit,
                copy,
                self.tile_variable(access.address).map(DistinctMemory::Shared),
            );
        }
        let constant = one.result.is_some_and(|name| kernel.constant_loads.contains(&name));
        if constant && matches!(one.op, Op::Load { .. }) && handle.metadata("invariant.load").is_none() {
            self.edit.set_metadata(copy, "invariant.load", Some(self.edit.node(&[])));
        }
    }

    /// The tile_static variable that an address lies within.
    fn tile_variable(&self, address: &Operand) -> Option<crate::ir::GlobalId> {
        match address.local() {
            Some(name) => self.kernel.tile_addresses.get(&name).copied(),
            None => shared_within(address, &self.tile.keys().copied().collect::<BTreeSet<_>>()),
        }
    }

    /// Replaces an atomic operation on a tile_static variable by a load and a store, because only one host thread uses
    /// the variable. Returns the loaded value.
    fn atomic_as_plain(
        &self,
        region: Option<&Region<'m>>,
        one: &Instruction,
        handle: Value<'m>,
        copied: &Copied<'m>,
    ) -> Option<Value<'m>> {
        let Op::AtomicRmw { op, pointer, .. } = &one.op else { return None };
        self.tile_variable(&pointer.value)?;
        let [address, value] = [0, 1].map(|n| handle.operand(n).map(|value| self.operand(region, copied, value)));
        let (build, address, value) = (&self.build, address?, value?);
        use AtomicOp as A;
        let operation = match op {
            A::Xchg => None,
            A::Add => Some(Ok(o::ADD)),
            A::Sub => Some(Ok(o::SUB)),
            A::And => Some(Ok(o::AND)),
            A::Or => Some(Ok(o::OR)),
            A::Xor => Some(Ok(o::XOR)),
            A::Max => Some(Err(IntPredicate::Sgt)),
            A::Min => Some(Err(IntPredicate::Slt)),
            A::UMax => Some(Err(IntPredicate::Ugt)),
            A::UMin => Some(Err(IntPredicate::Ult)),
            _ => return None,
        };
        let old = build.load(handle.ty()?, address, &handle.name());
        let new = match operation {
            None => value,
            Some(Ok(opcode)) => build.binary(opcode, old, value, ""),
            Some(Err(predicate)) => build.select(build.compare(predicate as i32, old, value, ""), old, value, ""),
        };
        build.store(new, address);
        Some(old)
    }
}
