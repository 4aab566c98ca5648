//! Natural loops.

use super::cfg::{ControlFlowGraph, DominatorTree};
use std::collections::HashSet;

/// The loop of a header: its blocks, by number.
pub struct NaturalLoop {
    pub header: usize,
    pub blocks: HashSet<usize>,
}

/// The loops of a function, outer before inner.
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

/// The blocks of the loop of a back edge.
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
