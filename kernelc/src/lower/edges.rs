//! Splits blocks and inserts blocks on edges, and updates the phis of successors.

use crate::analysis::cfg::successors;
use crate::ir::{Block, BlockId, Function, Instruction, Local, LocalId, Op, Value};
use std::collections::HashSet;

/// The number of phis at the start of a block.
pub(super) fn phi_count(block: &Block) -> usize {
    block.instructions.iter().take_while(|i| matches!(i.op, Op::Phi { .. })).count()
}

/// Moves the instructions from index `at` on into a new block, and ends the old block with a branch to the new one.
pub(super) fn split(function: &mut Function, block: BlockId, at: usize) -> BlockId {
    let new = BlockId(function.blocks.len());
    let old = &mut function.blocks[block.0];
    let rest = old.instructions.split_off(at);
    let location = rest.first().and_then(|i| i.location);
    old.instructions.push(Instruction { result: None, op: Op::Br { target: new }, location });
    let name = format!("{}.rest", old.name);
    function.blocks.push(Block { name, instructions: rest });
    for to in successors(&function.blocks[new.0]) {
        for_phis(&mut function.blocks[to.0], |_, incoming| {
            for (_, from) in incoming {
                if *from == block {
                    *from = new;
                }
            }
        });
    }
    new
}

/// Inserts one block on the edges from the blocks `from` to `target`, with phis that merge the values of those edges.
pub(super) fn gather(function: &mut Function, target: BlockId, from: &[BlockId], name: &str) -> BlockId {
    let new = BlockId(function.blocks.len());
    for &block in from {
        if let Some(Instruction { op, .. }) = function.blocks[block.0].instructions.last_mut() {
            match op {
                Op::Br { target: to } if *to == target => *to = new,
                Op::CondBr { yes, no, .. } => {
                    if *yes == target {
                        *yes = new;
                    }
                    if *no == target {
                        *no = new;
                    }
                }
                _ => {}
            }
        }
    }
    let inside: HashSet<BlockId> = from.iter().copied().collect();
    let mut instructions = Vec::new();
    let mut locals = std::mem::take(&mut function.locals);
    for_phis(&mut function.blocks[target.0], |ty, incoming| {
        let (mut inner, outer): (Vec<_>, Vec<_>) = incoming.drain(..).partition(|(_, block)| inside.contains(block));
        *incoming = outer;
        if inner.is_empty() {
            return;
        }
        let first = inner[0].0.clone();
        let value = if inner.iter().all(|(value, _)| *value == first) {
            first
        } else {
            let result = LocalId(locals.len());
            locals.push(Local { ty: ty.clone(), name: format!("{name}.{}", result.0) });
            inner.dedup();
            instructions.push(Instruction {
                result: Some(result),
                op: Op::Phi { ty: ty.clone(), incoming: inner },
                location: None,
            });
            Value::Local(result)
        };
        incoming.push((value, new));
    });
    function.locals = locals;
    instructions.push(Instruction { result: None, op: Op::Br { target }, location: None });
    function.blocks.push(Block { name: format!("{name}.{}", new.0), instructions });
    new
}

fn for_phis(block: &mut Block, mut act: impl FnMut(&crate::ir::Type, &mut Vec<(Value, BlockId)>)) {
    for instruction in &mut block.instructions {
        let Op::Phi { ty, incoming } = &mut instruction.op else { break };
        act(ty, incoming);
    }
}
