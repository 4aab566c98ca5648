//! Finds locks: memory locations whose atomic updates decide which branch a thread takes.

use super::flow::Flow;
use crate::device_abi::DeviceFunction;
use crate::ir::{Constant, Instruction, LocalId, Op, Operand, Type, Value};

/// The maximum length of the chain of definitions through which an address is followed.
const MAX_DEFINITIONS: usize = 24;
/// The maximum length of the description of an address, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 20_000;

/// The address to which an atomic operation or a store writes.
pub fn written_address(op: &Op) -> Option<&Operand> {
    match op {
        Op::Store { pointer, .. } | Op::AtomicRmw { pointer, .. } | Op::CmpXchg { pointer, .. } => Some(pointer),
        _ => None,
    }
}

/// If `condition` depends on an atomic operation that takes a lock, returns the lock's address and the operation. An
/// operation takes a lock only if it has a constant operand. Considers only blocks that satisfy `is_inside`.
pub fn taken_lock<'m>(
    flow: &Flow<'m>,
    is_inside: impl Fn(usize) -> bool,
    condition: LocalId,
) -> Option<(String, &'m Instruction)> {
    let (_, instruction) = flow.find(condition, is_inside, |instruction| instruction.op.is_atomic_update())?;
    let is_constant_integer =
        |operand: &&Operand| matches!((&operand.ty, &operand.value), (Type::Int(_), Value::Constant(_)));
    let (pointer, operands) = match &instruction.op {
        Op::AtomicRmw { pointer, value, .. } => (pointer, vec![value]),
        Op::CmpXchg { pointer, expected, new } => (pointer, vec![expected, new]),
        _ => return None,
    };
    operands.iter().any(is_constant_integer).then(|| (description(flow, &pointer.value, 0), instruction))
}

/// A text that describes how an address is calculated. Equal calculations in a function give equal texts.
pub fn address(flow: &Flow<'_>, pointer: &Operand) -> String {
    description(flow, &pointer.value, 0)
}

fn description(flow: &Flow<'_>, value: &Value, depth: usize) -> String {
    let value_text = || format!("{value:?}");
    let definition = value.local().and_then(|local| flow.definitions.get(&local)).filter(|_| depth < MAX_DEFINITIONS);
    let Some((_, instruction)) = definition else { return value_text() };
    match &instruction.op {
        // With bounds checks, the address is the result of a call of the check.
        Op::Call { arguments, .. }
            if DeviceFunction::called(flow.module, &instruction.op) == Some(DeviceFunction::Element) =>
        {
            arguments.first().map_or_else(value_text, |pointer| description(flow, &pointer.value, depth + 1))
        }
        Op::Phi { .. } | Op::Call { .. } | Op::CallIndirect { .. } | Op::AtomicRmw { .. } | Op::CmpXchg { .. } => {
            value_text()
        }
        op => {
            let mut shape = op.clone();
            shape.operands_mut().into_iter().for_each(|operand| *operand = Value::Constant(Constant::Undef));
            let mut text = format!("{shape:?}");
            for operand in op.operands() {
                text += &format!("({})", description(flow, operand, depth + 1));
                if text.len() > MAX_DESCRIPTION_BYTES {
                    return value_text();
                }
            }
            text
        }
    }
}
