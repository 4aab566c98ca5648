//! Locks: places in memory by which an atomic operation decides where a thread goes.

use super::flow::Flow;
use crate::device_abi::DeviceFunction;
use crate::ir::{Constant, Instruction, LocalId, Op, Operand, Type, Value};

/// How deep an address is followed.
const DEEPEST: usize = 24;
/// The most bytes that describe an address.
const LONGEST: usize = 20_000;

/// The address that an atomic operation or a store changes.
pub fn changed(op: &Op) -> Option<&Operand> {
    match op {
        Op::Store { pointer, .. } | Op::AtomicRmw { pointer, .. } | Op::CmpXchg { pointer, .. } => Some(pointer),
        _ => None,
    }
}

/// The address of the lock that a condition says is taken, and the atomic operation that takes it: an operation with a constant in these
/// blocks.
pub fn taken<'m>(
    flow: &Flow<'m>,
    inside: impl Fn(usize) -> bool,
    condition: LocalId,
) -> Option<(String, &'m Instruction)> {
    let (_, one) = flow.find(condition, inside, |one| one.op.is_atomic_update())?;
    let constant = |operand: &&Operand| matches!((&operand.ty, &operand.value), (Type::Int(_), Value::Constant(_)));
    let (pointer, operands) = match &one.op {
        Op::AtomicRmw { pointer, value, .. } => (pointer, vec![value]),
        Op::CmpXchg { pointer, expected, new } => (pointer, vec![expected, new]),
        _ => return None,
    };
    operands.iter().any(constant).then(|| (meaning(flow, &pointer.value, 0), one))
}

/// An address in words that are the same for the same address, wherever it is calculated.
pub fn address(flow: &Flow<'_>, pointer: &Operand) -> String {
    meaning(flow, &pointer.value, 0)
}

fn meaning(flow: &Flow<'_>, value: &Value, depth: usize) -> String {
    let own = || format!("{value:?}");
    let defined = value.local().and_then(|local| flow.definitions.get(&local)).filter(|_| depth < DEEPEST);
    let Some((_, one)) = defined else { return own() };
    match &one.op {
        // Where bounds are checked, the check stands around the address.
        Op::Call { arguments, .. } if DeviceFunction::called(flow.module, &one.op) == Some(DeviceFunction::Element) => {
            arguments.first().map_or_else(own, |pointer| meaning(flow, &pointer.value, depth + 1))
        }
        Op::Phi { .. } | Op::Call { .. } | Op::CallIndirect { .. } | Op::AtomicRmw { .. } | Op::CmpXchg { .. } => own(),
        op => {
            let mut shape = op.clone();
            shape.operands_mut().into_iter().for_each(|operand| *operand = Value::Constant(Constant::Undef));
            let mut made = format!("{shape:?}");
            for operand in op.operands() {
                made += &format!("({})", meaning(flow, operand, depth + 1));
                if made.len() > LONGEST {
                    return own();
                }
            }
            made
        }
    }
}
