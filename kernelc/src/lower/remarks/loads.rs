//! Remarks on loads that are repeated because a store through another capture may change the loaded memory.

use super::addresses::{Access, accesses};
use super::kernel::Kernel;
use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::analysis::effects::may_write;
use crate::analysis::loops::natural_loops;
use crate::report::Remark;
use std::collections::HashSet;

/// Remarks on repeated loads of memory that the kernel only reads.
pub fn remarks(kernel: &Kernel<'_>) -> Vec<Remark> {
    let all = accesses(kernel);
    let writes = |capture| kernel.pointers.uses.get(&capture).is_none_or(|used| used.writes);
    let loads: Vec<&Access> = all.iter().filter(|one| !one.writes && !writes(one.capture)).collect();
    let mut remarks = Vec::new();
    for (n, load) in loads.iter().enumerate() {
        let same = |other: &&&Access| (other.block, &other.sum, &other.ty) == (load.block, &load.sum, &load.ty);
        let before = loads[..n].iter().rfind(same);
        let text = if before.is_some_and(|before| only_stores(kernel, &all, load.block, before.at..load.at)) {
            "loaded again, because a store between the two loads uses another array or array_view, which may be the \
             same memory; keep the value in a variable"
        } else if stores_prevent_hoisting(kernel, &all, load) {
            "loaded from the same address in each iteration, because the loop stores to another array or array_view, \
             which may be the same memory; load the value before the loop"
        } else {
            continue;
        };
        let location = kernel.function.blocks[load.block].instructions[load.at].location;
        remarks.extend(Remark::at(kernel.module, location, text));
    }
    remarks
}

/// True if a part of a block has stores through known captures, and no other instruction that may write memory.
fn only_stores(kernel: &Kernel<'_>, all: &[Access], block: usize, part: std::ops::Range<usize>) -> bool {
    let known = |at: usize| all.iter().any(|one| one.writes && (one.block, one.at) == (block, at));
    let instructions = &kernel.function.blocks[block].instructions;
    let mut stores = part.filter(|&at| may_write(kernel.module, &instructions[at])).peekable();
    stores.peek().is_some() && stores.all(known)
}

/// True if only the loop's stores through known captures prevent hoisting a load out of its innermost loop.
fn stores_prevent_hoisting(kernel: &Kernel<'_>, all: &[Access], load: &Access) -> bool {
    let graph = ControlFlowGraph::of(&kernel.function.blocks);
    let dominators = DominatorTree::of(&graph);
    let loops = natural_loops(&graph);
    // Outer loops come first.
    let Some(innermost_loop) = loops.iter().rfind(|one| one.blocks.contains(&load.block)) else { return false };
    let defined_in_loop: HashSet<_> = innermost_loop
        .blocks
        .iter()
        .flat_map(|block| &kernel.function.blocks[*block].instructions)
        .filter_map(|one| one.result)
        .collect();
    if defined_in_loop.contains(&load.sum.base) || load.sum.by.keys().any(|index| defined_in_loop.contains(index)) {
        return false;
    }
    let ends_iteration = |block: &&usize| {
        graph.successors[**block].iter().any(|to| !innermost_loop.blocks.contains(to) || *to == innermost_loop.header)
    };
    if !innermost_loop.blocks.iter().filter(ends_iteration).all(|&block| dominators.dominates(load.block, block)) {
        return false;
    }
    let count = |block: usize| kernel.function.blocks[block].instructions.len();
    let writes =
        |block: usize| kernel.function.blocks[block].instructions.iter().any(|one| may_write(kernel.module, one));
    let mut writing = innermost_loop.blocks.iter().copied().filter(|&block| writes(block)).peekable();
    writing.peek().is_some() && writing.all(|block| only_stores(kernel, all, block, 0..count(block)))
}
