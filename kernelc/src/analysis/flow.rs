//! A function with its control-flow graph, its loops, and where its values are defined.

use super::cfg::ControlFlowGraph;
use super::loops::{NaturalLoop, natural_loops};
use crate::ir::{Function, Instruction, LocalId, Module, Op, Value};
use std::collections::{HashMap, HashSet};

pub struct Flow<'m> {
    pub module: &'m Module,
    pub function: &'m Function,
    pub graph: ControlFlowGraph,
    pub loops: Vec<NaturalLoop>,
    /// The block and the instruction that define each local; parameters have none.
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
            .flat_map(|(n, block)| block.instructions.iter().map(move |one| (n, one)));
        let definitions = instructions.filter_map(|(n, one)| Some((one.result?, (n, one)))).collect();
        Self { module, function, graph, loops, definitions }
    }

    /// The instructions of a block.
    pub fn block(&self, block: usize) -> &'m [Instruction] {
        &self.function.blocks[block].instructions
    }

    /// The value on which the branch or switch at the end of a block depends.
    pub fn condition(&self, block: usize) -> Option<LocalId> {
        match &self.block(block).last()?.op {
            Op::CondBr { condition: asked, .. } | Op::Switch { value: asked, .. } => asked.value.local(),
            _ => None,
        }
    }

    /// The first instruction of a kind that a value depends on within some blocks, with its block; the value's own comes first.
    pub fn find(
        &self,
        from: LocalId,
        inside: impl Fn(usize) -> bool,
        wanted: impl Fn(&Instruction) -> bool,
    ) -> Option<(usize, &'m Instruction)> {
        let (mut rest, mut seen) = (vec![from], HashSet::new());
        while let Some(local) = rest.pop() {
            let Some(&(block, one)) = self.definitions.get(&local) else { continue };
            if inside(block) && seen.insert(local) {
                if wanted(one) {
                    return Some((block, one));
                }
                rest.extend(one.op.operands().into_iter().filter_map(Value::local));
            }
        }
        None
    }
}
