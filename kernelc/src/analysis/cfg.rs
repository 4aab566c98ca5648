//! The control-flow graph: reverse post-order, dominators, post-dominators.

use crate::ir::{Block, BlockId, Function, Op};

/// The successors of a block.
pub fn successors(block: &Block) -> Vec<BlockId> {
    match block.instructions.last().map(|last| &last.op) {
        Some(Op::Br { target }) => vec![*target],
        Some(Op::CondBr { yes, no, .. }) if yes == no => vec![*yes],
        Some(Op::CondBr { yes, no, .. }) => vec![*yes, *no],
        Some(Op::Switch { default, cases, .. }) => {
            let mut all = vec![*default];
            all.extend(cases.iter().map(|case| case.1));
            all.sort();
            all.dedup();
            all
        }
        _ => Vec::new(),
    }
}

/// True if every reachable block can reach an exit of the function.
pub fn can_exit(function: &Function) -> bool {
    let graph = ControlFlowGraph::of(&function.blocks);
    let mut can_exit = vec![false; function.blocks.len()];
    let mut stack: Vec<usize> = graph.order.iter().copied().filter(|&b| graph.successors[b].is_empty()).collect();
    while let Some(block) = stack.pop() {
        if !std::mem::replace(&mut can_exit[block], true) {
            stack.extend(&graph.predecessors[block]);
        }
    }
    graph.order.iter().all(|&block| can_exit[block])
}

/// The blocks of a function, represented by their indices, and the edges between them.
pub struct ControlFlowGraph {
    pub successors: Vec<Vec<usize>>,
    pub predecessors: Vec<Vec<usize>>,
    /// The reachable blocks in reverse post-order: each block follows all blocks that dominate it.
    pub order: Vec<usize>,
}

impl ControlFlowGraph {
    pub fn of(blocks: &[Block]) -> Self {
        Self::new(blocks.iter().map(|block| successors(block).iter().map(|to| to.0).collect()).collect())
    }

    /// Builds the graph from the successors of each block; block 0 is the entry.
    pub fn new(successors: Vec<Vec<usize>>) -> Self {
        // A declaration has no blocks.
        let order = if successors.is_empty() { Vec::new() } else { post_order(&successors, 0) };
        let order = order.into_iter().rev().collect::<Vec<_>>();
        let mut predecessors = vec![Vec::new(); successors.len()];
        for &from in &order {
            for &to in &successors[from] {
                predecessors[to].push(from);
            }
        }
        ControlFlowGraph { successors, predecessors, order }
    }

    /// The immediate dominator of each reachable block. The entry's immediate dominator is the entry itself.
    pub fn dominators(&self) -> Vec<Option<usize>> {
        dominators(&self.order, &self.predecessors)
    }

    /// The immediate post-dominator of each block. Blocks that cannot reach `exit` have none and are ignored.
    pub fn post_dominators(&self, exit: usize) -> Vec<Option<usize>> {
        let order: Vec<usize> = post_order(&self.predecessors, exit).into_iter().rev().collect();
        dominators(&order, &self.successors)
    }
}

fn post_order(edges: &[Vec<usize>], from: usize) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    let mut done = Vec::new();
    let mut stack = vec![(from, 0)];
    seen[from] = true;
    while let Some((at, next)) = stack.last_mut() {
        if let Some(&to) = edges[*at].get(*next) {
            *next += 1;
            if !seen[to] {
                seen[to] = true;
                stack.push((to, 0));
            }
        } else {
            done.push(*at);
            stack.pop();
        }
    }
    done
}

/// Cooper, Harvey and Kennedy: A Simple, Fast Dominance Algorithm.
fn dominators(order: &[usize], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut position = vec![usize::MAX; predecessors.len()];
    for (i, &block) in order.iter().enumerate() {
        position[block] = i;
    }
    let mut idom: Vec<Option<usize>> = vec![None; predecessors.len()];
    let Some(&first) = order.first() else { return idom };
    idom[first] = Some(first);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order[1..] {
            let mut new: Option<usize> = None;
            for &from in &predecessors[block] {
                if idom[from].is_none() {
                    continue;
                }
                new = Some(match new {
                    None => from,
                    Some(other) => common_dominator(other, from, &idom, &position),
                });
            }
            if new != idom[block] {
                idom[block] = new;
                changed = true;
            }
        }
    }
    idom
}

fn common_dominator(mut a: usize, mut b: usize, idom: &[Option<usize>], position: &[usize]) -> usize {
    while a != b {
        while position[a] > position[b] {
            a = idom[a].unwrap_or(b);
        }
        while position[b] > position[a] {
            b = idom[b].unwrap_or(a);
        }
    }
    a
}

/// The dominator tree. A query takes constant time.
pub struct DominatorTree {
    /// For each block, the times at which a depth-first walk of the tree enters and leaves it; 0 for an unreachable block.
    spans: Vec<(usize, usize)>,
}

impl DominatorTree {
    pub fn of(graph: &ControlFlowGraph) -> Self {
        let idom = graph.dominators();
        let mut children = vec![Vec::new(); idom.len()];
        for &block in graph.order.iter().skip(1) {
            if let Some(parent) = idom[block] {
                children[parent].push(block);
            }
        }
        let mut spans = vec![(0, 0); idom.len()];
        let (mut clock, mut stack) = (1, Vec::new());
        stack.extend(graph.order.first().map(|&first| (first, 0)));
        while let Some((block, next)) = stack.last_mut() {
            if *next == 0 {
                spans[*block].0 = clock;
                clock += 1;
            }
            if let Some(&child) = children[*block].get(*next) {
                *next += 1;
                stack.push((child, 0));
            } else {
                spans[*block].1 = clock;
                stack.pop();
            }
        }
        DominatorTree { spans }
    }

    /// True if `a` dominates `b`.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        let ((from, to), (at, _)) = (self.spans[a], self.spans[b]);
        a == b || from != 0 && from <= at && at < to
    }
}
