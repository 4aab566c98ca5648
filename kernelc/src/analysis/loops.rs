//! Finds the natural loops of a function.

use super::cfg::{ControlFlowGraph, DominatorTree};
use std::collections::HashSet;

/// A loop. The header and the blocks are indices of blocks.
pub struct NaturalLoop {
    pub header: usize,
    pub blocks: HashSet<usize>,
}

/// The loops of a function; outer loops precede inner loops.
pub fn natural_loops(graph: &ControlFlowGraph) -> Vec<NaturalLoop> {
    let dominance = DominatorTree::of(graph);
    let mut loops = Vec::new();
    for &header in &graph.order {
        let mut latches = graph.predecessors[header].iter().copied().filter(|&from| dominance.dominates(header, from));
        let Some(first) = latches.next() else { continue };
        let mut blocks = blocks(graph, header, first);
        latches.for_each(|latch| blocks.extend(self::blocks(graph, header, latch)));
        loops.push(NaturalLoop { header, blocks });
    }
    loops
}

/// The blocks of the natural loop whose back edge goes from `latch` to `header`.
pub fn blocks(graph: &ControlFlowGraph, header: usize, latch: usize) -> HashSet<usize> {
    let mut inside = HashSet::from([header]);
    let mut stack = vec![latch];
    while let Some(block) = stack.pop() {
        if inside.insert(block) {
            stack.extend(&graph.predecessors[block]);
        }
    }
    inside
}
