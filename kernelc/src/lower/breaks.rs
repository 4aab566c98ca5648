//! Branches out of the middle of loops.
//!
//! After `structurizecfg` a loop is left from its latch only: another exit becomes a way to the latch with a flag that ends the
//! loop there, around what else the loop does, and each value that the loop carries is chosen by the way. To lavapipe that is
//! fastest; NVIDIA's driver makes copies of those values and conditions of the flags. So a way that is known to end the loop gets
//! a block from which a break leads to the block behind the loop where the device likes that (`OfDevice::Breaks`).

use super::edges::{gather, phis};
use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops;
use crate::ir::{BinaryOp, BlockId, Constant, Function, Instruction, Local, LocalId, Op, Type, Value};
use std::collections::{HashMap, HashSet};

/// The most blocks on a way to the end of a loop.
const LONGEST: usize = 16;

/// A loop of structured control flow.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    pub(super) head: BlockId,
    /// With the back edge.
    pub(super) continue_target: BlockId,
    /// Behind it.
    pub(super) merge: BlockId,
}

/// Puts a block on each such way of all loops: from it a break leads to the block behind the loop, which is the other one.
pub(super) fn breaks(function: &mut Function, all: &[Loop]) -> HashMap<BlockId, BlockId> {
    let mut found = HashMap::new();
    if all.is_empty() {
        return found;
    }
    let graph = ControlFlowGraph::of(&function.blocks);
    let blocks =
        |one: &Loop| loops::blocks(&graph, one.head.0, one.continue_target.0).into_iter().map(BlockId).collect();
    let insides: Vec<HashSet<BlockId>> = all.iter().map(blocks).collect();
    for (one, inside) in all.iter().zip(&insides) {
        let inner: Vec<&HashSet<BlockId>> = all
            .iter()
            .zip(&insides)
            .filter(|(other, _)| other.head != one.head && inside.contains(&other.head))
            .map(|(_, inside)| inside)
            .collect();
        // A break leaves the innermost loop.
        let own = |block: BlockId| inside.contains(&block) && !inner.iter().any(|inner| inner.contains(&block));
        for from in
            graph.order.iter().copied().map(BlockId).filter(|block| own(*block) && *block != one.continue_target)
        {
            let Some(Op::CondBr { yes, no, .. }) = function.blocks[from.0].instructions.last().map(|last| &last.op)
            else {
                continue;
            };
            for to in [*yes, *no] {
                if let Some(way) = Way::of(function, *one, from, to, &own) {
                    found.insert(way.branch(function, inside), one.merge);
                }
            }
        }
    }
    found
}

/// From a branch to the end of the loop, past blocks that do nothing but choose values.
struct Way {
    from: BlockId,
    to: BlockId,
    of: Loop,
    /// What the phis and conditions on it are.
    values: HashMap<LocalId, Value>,
}

impl Way {
    fn of(function: &Function, of: Loop, from: BlockId, to: BlockId, own: &dyn Fn(BlockId) -> bool) -> Option<Self> {
        let mut way = Self { from, to, of, values: HashMap::new() };
        let (mut before, mut at) = (from, to);
        for _ in 0..LONGEST {
            if !own(at) {
                return None;
            }
            let next = way.step(function, before, at)?;
            if at == of.continue_target {
                return (next == of.merge).then_some(way);
            }
            (before, at) = (at, next);
        }
        None
    }

    /// Through a block; the next one.
    fn step(&mut self, function: &Function, before: BlockId, at: BlockId) -> Option<BlockId> {
        let block = &function.blocks[at.0];
        let mut chosen = Vec::new();
        for instruction in &block.instructions {
            match (&instruction.op, instruction.result) {
                (Op::Phi { incoming, .. }, Some(result)) => {
                    let (value, _) = incoming.iter().find(|(_, from)| *from == before)?;
                    chosen.push((result, self.known(value)));
                }
                (Op::Br { target }, _) => {
                    self.values.extend(chosen);
                    return Some(*target);
                }
                (Op::CondBr { condition, yes, no }, _) => {
                    self.values.extend(chosen);
                    return Some(if self.flag(&condition.value)? { *yes } else { *no });
                }
                (op, Some(result)) => {
                    self.values.extend(chosen.drain(..));
                    self.values.insert(result, self.negated(op)?);
                }
                _ => return None,
            }
        }
        None
    }

    fn known(&self, value: &Value) -> Value {
        match value {
            Value::Local(local) => self.values.get(local).unwrap_or(value).clone(),
            Value::Constant(_) => value.clone(),
        }
    }

    /// A flag that is known.
    fn flag(&self, value: &Value) -> Option<bool> {
        match self.known(value) {
            Value::Constant(Constant::Int(bit)) => Some(bit & 1 == 1),
            Value::Constant(Constant::Zero) => Some(false),
            _ => None,
        }
    }

    /// A flag that is the other way around.
    fn negated(&self, op: &Op) -> Option<Value> {
        let Op::Binary { op: BinaryOp::Xor, left, right, .. } = op else { return None };
        if left.ty != Type::Int(1) {
            return None;
        }
        let flag = self.flag(&left.value)? ^ self.flag(&right.value)?;
        Some(Value::Constant(Constant::Int(i128::from(flag))))
    }

    /// Puts a block on it, and brings the values of the way to the loop's end from there too.
    fn branch(&self, function: &mut Function, inside: &HashSet<BlockId>) -> BlockId {
        let new = gather(function, self.to, &[self.from], "break");
        let of = self.of;
        // What is used behind the loop.
        let mut ends: HashMap<LocalId, Value> = HashMap::new();
        for number in
            (0..function.blocks.len()).filter(|number| *number != new.0 && !inside.contains(&BlockId(*number)))
        {
            let skip = if number == of.merge.0 { phis(&function.blocks[number]) } else { 0 };
            let mut instructions = std::mem::take(&mut function.blocks[number].instructions);
            for instruction in &mut instructions[skip..] {
                for value in instruction.op.operands_mut() {
                    if let Some(local) = self.on(value) {
                        *value = ends.entry(local).or_insert_with(|| joined(function, local)).clone();
                    }
                }
            }
            function.blocks[number].instructions = instructions;
        }
        let mut made: Vec<Instruction> =
            ends.into_iter().filter_map(|(local, value)| end(function, of, local, value)).collect();
        made.sort_by_key(|instruction| instruction.result);
        let merge = &mut function.blocks[of.merge.0];
        merge.instructions.splice(0..0, made);
        for instruction in &mut merge.instructions {
            let Op::Phi { incoming, .. } = &mut instruction.op else { break };
            let last =
                incoming.iter().find(|(_, from)| *from == of.continue_target).map(|(value, _)| self.known(value));
            incoming.extend(last.map(|value| (value, new)));
        }
        new
    }

    /// A value that is one of those on the way.
    fn on(&self, value: &Value) -> Option<LocalId> {
        match value {
            Value::Local(local) if self.values.contains_key(local) => Some(*local),
            _ => None,
        }
    }
}

/// The name of a value behind the loop.
fn joined(function: &mut Function, local: LocalId) -> Value {
    let result = LocalId(function.locals.len());
    function.locals.push(Local { ty: function.locals[local.0].ty.clone(), name: format!("break.{}", result.0) });
    Value::Local(result)
}

/// That of a value at the loop's last block.
fn end(function: &Function, of: Loop, local: LocalId, value: Value) -> Option<Instruction> {
    let Value::Local(result) = value else { return None };
    let ty = function.locals[local.0].ty.clone();
    Some(Instruction {
        result: Some(result),
        op: Op::Phi { ty, incoming: vec![(Value::Local(local), of.continue_target)] },
        location: None,
    })
}
