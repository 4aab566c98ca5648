//! Structured control flow as SPIR-V defines it: each loop and each selection has a merge block of its own.
//!
//! LLVM has structured the flow (`structurizecfg`): loops are left from their latch only, and branches meet at their immediate
//! post-dominator. Blocks are added here: the header of a loop keeps only its phis, its back edge starts in a block of its own,
//! and where several constructs end at one block, each gets a merge block before it. `breaks` adds ways out of loops.

use super::breaks::{Loop, breaks};
use super::edges::{gather, phis, split};
use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::ir::{BlockId, Function, Instruction, Op};
use crate::kernel_error::KernelError;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The construct that a block heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// A branch whose paths meet at this block.
    Selection(BlockId),
    /// A loop.
    Loop {
        /// The block after the loop.
        merge: BlockId,
        /// The block with the back edge.
        continue_target: BlockId,
    },
    /// Not a construct: the block may leave its loop for this one (`breaks`).
    Break(BlockId),
}

/// The blocks to write, each after those that dominate it, and the constructs that they head.
pub(super) struct StructuredFlow {
    pub(super) order: Vec<BlockId>,
    pub(super) merges: HashMap<BlockId, Merge>,
}

/// Adds the blocks that structured control flow needs. Fails if LLVM left flow that is not structured.
pub(super) fn structurize(function: &mut Function) -> Result<StructuredFlow, KernelError> {
    let odd = |what: &str| KernelError::new(format!("internal: {what}; please report this with the source"));
    for block in &mut function.blocks {
        if let Some(Instruction { op, .. }) = block.instructions.last_mut() {
            match op {
                Op::CondBr { yes, no, .. } if yes == no => *op = Op::Br { target: *yes },
                Op::Switch { .. } => return Err(odd("a switch was left in the optimised code")),
                _ => {}
            }
        }
    }
    let mut merges = HashMap::new();
    loops(function, &mut merges, &odd)?;
    let breaks = breaks(function, &all_loops(&merges));
    selections(function, &mut merges, &odd)?;
    merges.extend(breaks.into_iter().map(|(block, merge)| (block, Merge::Break(merge))));
    let graph = ControlFlowGraph::of(&function.blocks);
    if nesting(&graph, &merges) > DEEPEST {
        return Err(KernelError::new(format!(
            "the kernel's branches and loops are nested more than {DEEPEST} deep, which is Vulkan's limit: split the kernel, or \
             write a loop; each if that returns counts as a level for the code after it"
        )));
    }
    let order = graph.order.into_iter().map(BlockId).collect();
    Ok(StructuredFlow { order, merges })
}

/// SPIR-V's limit on nested constructs.
const DEEPEST: usize = 1023;

/// The depth of the deepest construct.
fn nesting(graph: &ControlFlowGraph, merges: &HashMap<BlockId, Merge>) -> usize {
    let heads: HashMap<usize, usize> = merges
        .iter()
        .filter_map(|(head, merge)| match merge {
            Merge::Selection(merge) | Merge::Loop { merge, .. } => Some((merge.0, head.0)),
            Merge::Break(_) => None,
        })
        .collect();
    let heading: HashSet<usize> = heads.values().copied().collect();
    let idom = graph.dominators();
    let mut depths = vec![0; idom.len()];
    for &block in graph.order.iter().skip(1) {
        depths[block] = match (heads.get(&block), idom[block]) {
            (Some(&head), _) => depths[head],
            (None, Some(up)) => depths[up] + usize::from(heading.contains(&up)),
            (None, None) => 0,
        };
    }
    depths.into_iter().max().unwrap_or(0)
}

fn loops(
    function: &mut Function,
    merges: &mut HashMap<BlockId, Merge>,
    odd: &dyn Fn(&str) -> KernelError,
) -> Result<(), KernelError> {
    let graph = ControlFlowGraph::of(&function.blocks);
    let dominance = DominatorTree::of(&graph);
    let mut latches: Vec<(usize, usize)> = Vec::new();
    let mut heads = HashSet::new();
    for &from in &graph.order {
        for &to in &graph.successors[from] {
            if dominance.dominates(to, from) {
                if !heads.insert(to) {
                    return Err(odd("a loop with two latches"));
                }
                latches.push((to, from));
            }
        }
    }
    for (head, latch) in latches {
        let (head, mut latch) = (BlockId(head), BlockId(latch));
        // The header keeps only its phis.
        let body = split(function, head, phis(&function.blocks[head.0]));
        if latch == head {
            latch = body;
        }
        // The back edge and the exit get a block of their own.
        let end = function.blocks[latch.0].instructions.len() - 1;
        let continue_target = split(function, latch, end);
        let out = match &function.blocks[continue_target.0].instructions[0].op {
            Op::CondBr { yes, no, .. } if *yes == head => *no,
            Op::CondBr { yes, no, .. } if *no == head => *yes,
            Op::Br { .. } => {
                return Err(KernelError::new("the kernel has a loop that no thread can leave: give it an end".into()));
            }
            _ => return Err(odd("a loop whose latch does not leave it")),
        };
        let merge = gather(function, out, &[continue_target], "loop.merge");
        merges.insert(head, Merge::Loop { merge, continue_target });
    }
    Ok(())
}

/// The loops by their headers.
fn all_loops(merges: &HashMap<BlockId, Merge>) -> Vec<Loop> {
    let mut loops: Vec<Loop> = merges
        .iter()
        .filter_map(|(&head, merge)| match *merge {
            Merge::Loop { merge, continue_target } => Some(Loop { head, continue_target, merge }),
            Merge::Selection(_) | Merge::Break(_) => None,
        })
        .collect();
    loops.sort_by_key(|one| one.head);
    loops
}

fn selections(
    function: &mut Function,
    merges: &mut HashMap<BlockId, Merge>,
    odd: &dyn Fn(&str) -> KernelError,
) -> Result<(), KernelError> {
    let graph = ControlFlowGraph::of(&function.blocks);
    let dominance = DominatorTree::of(&graph);
    let exits: Vec<usize> = graph
        .order
        .iter()
        .copied()
        .filter(|&b| matches!(function.blocks[b].instructions.last(), Some(Instruction { op: Op::Ret { .. }, .. })))
        .collect();
    let &[exit] = exits.as_slice() else {
        return Err(match exits.len() {
            0 => KernelError::new("no thread of the kernel can reach its end: give its loops an end".into()),
            _ => odd("a kernel with two returns"),
        });
    };
    let post = graph.post_dominators(exit);
    let leaves_loop: HashSet<usize> = merges
        .values()
        .filter_map(|merge| match merge {
            Merge::Loop { continue_target, .. } => Some(continue_target.0),
            Merge::Selection(_) | Merge::Break(_) => None,
        })
        .collect();
    // By the edges as they are now. For dominance, an added block stands for the header of its construct.
    let mut predecessors: Vec<BTreeSet<usize>> =
        graph.predecessors.iter().map(|all| all.iter().copied().collect()).collect();
    let mut stands_for: Vec<usize> = (0..function.blocks.len()).collect();
    // Inner constructs first: the merge block of one that ends where an outer one ends then lies within that one.
    for &head in graph.order.iter().rev() {
        let two = matches!(function.blocks[head].instructions.last(), Some(Instruction { op: Op::CondBr { .. }, .. }));
        if !two || leaves_loop.contains(&head) {
            continue;
        }
        let Some(meet) = post[head].filter(|&meet| meet != head) else {
            return Err(odd("a branch whose ways do not meet"));
        };
        let from: Vec<usize> =
            predecessors[meet].iter().copied().filter(|&b| dominance.dominates(head, stands_for[b])).collect();
        let ids: Vec<BlockId> = from.iter().copied().map(BlockId).collect();
        let merge = gather(function, BlockId(meet), &ids, "merge");
        stands_for.push(head);
        for block in &from {
            predecessors[meet].remove(block);
        }
        predecessors[meet].insert(merge.0);
        predecessors.push(from.into_iter().collect());
        merges.insert(BlockId(head), Merge::Selection(merge));
    }
    Ok(())
}
