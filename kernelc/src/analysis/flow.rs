//! A function with its control-flow graph, its loops, and the definitions of its values.

use super::cfg::ControlFlowGraph;
use super::loops::{NaturalLoop, natural_loops};
use crate::ir::{Function, Instruction, LocalId, Module, Op, Value};
use std::collections::{HashMap, HashSet};

pub struct Flow<'m> {
    pub module: &'m Module,
    pub function: &'m Function,
    pub graph: ControlFlowGraph,
    pub loops: Vec<NaturalLoop>,
    /// For each local value, the block and the instruction that define it; parameters have no entry.
    pub definitions: HashMap<LocalId, (usize, &'m Instruction)>,
}

impl<'m> Flow<'m> {
    pub fn of(module: &'m Module, function: &'m Function) -> Self {
        let graph = ControlFlowGraph::of(&function.blocks);
        let loops = natural_loops(&graph);
        let instructions = function
            .blocks
            .iter()
            .enumerate()
            .flat_map(|(n, block)| block.instructions.iter().map(move |instruction| (n, instruction)));
        let definitions =
            instructions.filter_map(|(n, instruction)| Some((instruction.result?, (n, instruction)))).collect();
        Self { module, function, graph, loops, definitions }
    }

    /// The instructions of a block.
    pub fn block(&self, block: usize) -> &'m [Instruction] {
        &self.function.blocks[block].instructions
    }

    /// The value on which the branch or switch at the end of a block depends.
    pub fn condition(&self, block: usize) -> Option<LocalId> {
        match &self.block(block).last()?.op {
            Op::CondBr { condition: selector, .. } | Op::Switch { value: selector, .. } => selector.value.local(),
            _ => None,
        }
    }

    /// Searches the definition of `from` and, transitively, the definitions of its operands for an instruction that
    /// satisfies `predicate`. Considers only instructions in blocks that satisfy `is_inside`. Returns the first instruction
    /// found, with its block.
    pub fn find(
        &self,
        from: LocalId,
        is_inside: impl Fn(usize) -> bool,
        predicate: impl Fn(&Instruction) -> bool,
    ) -> Option<(usize, &'m Instruction)> {
        let (mut pending, mut seen) = (vec![from], HashSet::new());
        while let Some(local) = pending.pop() {
            let Some(&(block, instruction)) = self.definitions.get(&local) else { continue };
            if is_inside(block) && seen.insert(local) {
                if predicate(instruction) {
                    return Some((block, instruction));
                }
                pending.extend(instruction.op.operands().into_iter().filter_map(Value::local));
            }
        }
        None
    }
}
