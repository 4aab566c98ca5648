//! Adds early exits (breaks) to loops.
//!
//! After `structurizecfg`, a loop exits only from its latch. Any other exit becomes a path to the latch that skips the
//! rest of the body and sets a flag that ends the loop. Phis select each loop-carried value according to the path.
//! lavapipe runs this form fastest, but NVIDIA's driver emits copies of these values and tests of the flags. Therefore,
//! this module inserts a block on each path that certainly ends the loop. On devices with `DeviceProperty::Breaks`,
//! this block branches directly to the merge block of the loop.

use super::edges::{gather, phi_count};
use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops;
use crate::ir::{BinaryOp, BlockId, Constant, Function, Instruction, Local, LocalId, Op, Type, Value};
use std::collections::{HashMap, HashSet};

/// The maximum number of blocks on a path to the end of a loop.
const MAX_PATH_BLOCKS: usize = 16;

/// A loop of structured control flow.
#[derive(Clone, Copy)]
pub(super) struct Loop {
    pub(super) head: BlockId,
    /// The block with the back edge.
    pub(super) continue_target: BlockId,
    /// The block after the loop.
    pub(super) merge: BlockId,
}

/// Inserts a block on each path that certainly ends its loop. Maps each inserted block to the merge block of the loop, the target of the
/// break.
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
        // A break leaves only the innermost loop, so blocks of inner loops do not count.
        let directly_inside =
            |block: BlockId| inside.contains(&block) && !inner.iter().any(|inner| inner.contains(&block));
        for from in graph
            .order
            .iter()
            .copied()
            .map(BlockId)
            .filter(|block| directly_inside(*block) && *block != one.continue_target)
        {
            let Some(Op::CondBr { yes, no, .. }) = function.blocks[from.0].instructions.last().map(|last| &last.op)
            else {
                continue;
            };
            for to in [*yes, *no] {
                if let Some(path) = ExitPath::of(function, *one, from, to, &directly_inside) {
                    found.insert(path.branch(function, inside), one.merge);
                }
            }
        }
    }
    found
}

/// A path from a branch to the end of the loop, through blocks that only select values.
struct ExitPath {
    from: BlockId,
    to: BlockId,
    natural_loop: Loop,
    /// The values of the phis and conditions on this path.
    values: HashMap<LocalId, Value>,
}

impl ExitPath {
    fn of(
        function: &Function,
        natural_loop: Loop,
        from: BlockId,
        to: BlockId,
        directly_inside: &dyn Fn(BlockId) -> bool,
    ) -> Option<Self> {
        let mut path = Self { from, to, natural_loop, values: HashMap::new() };
        let (mut before, mut at) = (from, to);
        for _ in 0..MAX_PATH_BLOCKS {
            if !directly_inside(at) {
                return None;
            }
            let next = path.step(function, before, at)?;
            if at == natural_loop.continue_target {
                return (next == natural_loop.merge).then_some(path);
            }
            (before, at) = (at, next);
        }
        None
    }

    /// Follows the path through a block and returns the next block.
    fn step(&mut self, function: &Function, before: BlockId, at: BlockId) -> Option<BlockId> {
        let block = &function.blocks[at.0];
        let mut phi_values = Vec::new();
        for instruction in &block.instructions {
            match (&instruction.op, instruction.result) {
                (Op::Phi { incoming, .. }, Some(result)) => {
                    let (value, _) = incoming.iter().find(|(_, from)| *from == before)?;
                    phi_values.push((result, self.value_on_path(value)));
                }
                (Op::Br { target }, _) => {
                    self.values.extend(phi_values);
                    return Some(*target);
                }
                (Op::CondBr { condition, yes, no }, _) => {
                    self.values.extend(phi_values);
                    return Some(if self.flag(&condition.value)? { *yes } else { *no });
                }
                (op, Some(result)) => {
                    self.values.extend(phi_values.drain(..));
                    self.values.insert(result, self.negated(op)?);
                }
                _ => return None,
            }
        }
        None
    }

    fn value_on_path(&self, value: &Value) -> Value {
        match value {
            Value::Local(local) => self.values.get(local).unwrap_or(value).clone(),
            Value::Constant(_) => value.clone(),
        }
    }

    /// The value of a flag, if it is known on this path.
    fn flag(&self, value: &Value) -> Option<bool> {
        match self.value_on_path(value) {
            Value::Constant(Constant::Int(bit)) => Some(bit & 1 == 1),
            Value::Constant(Constant::Zero) => Some(false),
            _ => None,
        }
    }

    /// The value of a negated flag (`xor`), if it is known on this path.
    fn negated(&self, op: &Op) -> Option<Value> {
        let Op::Binary { op: BinaryOp::Xor, left, right, .. } = op else { return None };
        if left.ty != Type::Int(1) {
            return None;
        }
        let flag = self.flag(&left.value)? ^ self.flag(&right.value)?;
        Some(Value::Constant(Constant::Int(i128::from(flag))))
    }

    /// Inserts a block on the path and adds it as a predecessor of the merge block, with the path's values in the phis.
    fn branch(&self, function: &mut Function, inside: &HashSet<BlockId>) -> BlockId {
        let new = gather(function, self.to, &[self.from], "break");
        let natural_loop = self.natural_loop;
        // The new locals for the path's values that are used after the loop.
        let mut exit_values: HashMap<LocalId, Value> = HashMap::new();
        for number in
            (0..function.blocks.len()).filter(|number| *number != new.0 && !inside.contains(&BlockId(*number)))
        {
            let skip = if number == natural_loop.merge.0 { phi_count(&function.blocks[number]) } else { 0 };
            let mut instructions = std::mem::take(&mut function.blocks[number].instructions);
            for instruction in &mut instructions[skip..] {
                for value in instruction.op.operands_mut() {
                    if let Some(local) = self.defined_on_path(value) {
                        *value = exit_values.entry(local).or_insert_with(|| local_after_loop(function, local)).clone();
                    }
                }
            }
            function.blocks[number].instructions = instructions;
        }
        let mut exit_phis: Vec<Instruction> = exit_values
            .into_iter()
            .filter_map(|(local, value)| exit_phi(function, natural_loop, local, value))
            .collect();
        exit_phis.sort_by_key(|instruction| instruction.result);
        let merge = &mut function.blocks[natural_loop.merge.0];
        merge.instructions.splice(0..0, exit_phis);
        for instruction in &mut merge.instructions {
            let Op::Phi { incoming, .. } = &mut instruction.op else { break };
            let last = incoming
                .iter()
                .find(|(_, from)| *from == natural_loop.continue_target)
                .map(|(value, _)| self.value_on_path(value));
            incoming.extend(last.map(|value| (value, new)));
        }
        new
    }

    /// The local of a value, if this path defines that local.
    fn defined_on_path(&self, value: &Value) -> Option<LocalId> {
        match value {
            Value::Local(local) if self.values.contains_key(local) => Some(*local),
            _ => None,
        }
    }
}

/// Adds a local that stands for a value of the loop in the code after the loop.
fn local_after_loop(function: &mut Function, local: LocalId) -> Value {
    let result = LocalId(function.locals.len());
    function.locals.push(Local { ty: function.locals[local.0].ty.clone(), name: format!("break.{}", result.0) });
    Value::Local(result)
}

/// The phi that defines the new local `value` after the loop. So far, it has only the operand from the loop's last block.
fn exit_phi(function: &Function, natural_loop: Loop, local: LocalId, value: Value) -> Option<Instruction> {
    let Value::Local(result) = value else { return None };
    let ty = function.locals[local.0].ty.clone();
    Some(Instruction {
        result: Some(result),
        op: Op::Phi { ty, incoming: vec![(Value::Local(local), natural_loop.continue_target)] },
        location: None,
    })
}
