//! Structured control flow as SPIR-V defines it: each loop and each selection has a merge block of its own.
//!
//! LLVM has structured the flow (`structurizecfg`): loops exit only from their latch, and branches meet at their
//! immediate post-dominator. This module adds blocks. The header of a loop keeps only its phis, and the back edge gets
//! a block of its own. If several constructs end at one block, each gets a merge block before this block. `breaks` adds
//! early exits from loops.

use super::alternatives::alternatives;
use super::breaks::{Loop, breaks};
use super::edges::{gather, phi_count, split};
use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::ir::{BlockId, Function, Instruction, Op};
use crate::kernel_error::KernelError;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The role of the branch at the end of a block: the header of a construct, or a break.
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
    /// A break (see `breaks`): the block may branch to this block, which follows its loop.
    Break(BlockId),
}

/// A function with structured control flow.
pub(super) struct StructuredFlow {
    /// The blocks to emit, each after the blocks that dominate it.
    pub(super) order: Vec<BlockId>,
    /// The constructs by their header blocks, and the breaks by their blocks.
    pub(super) merges: HashMap<BlockId, Merge>,
}

/// Adds the blocks that structured control flow needs. Fails if LLVM left unstructured control flow.
pub(super) fn structurize(function: &mut Function) -> Result<StructuredFlow, KernelError> {
    let internal_error = |what: &str| KernelError::new(format!("internal: {what}; please report this with the source"));
    for block in &mut function.blocks {
        if let Some(Instruction { op, .. }) = block.instructions.last_mut() {
            match op {
                Op::CondBr { yes, no, .. } if yes == no => *op = Op::Br { target: *yes },
                Op::Switch { .. } => {
                    return Err(internal_error(
                        "a switch is left in the optimised code, but must have been replaced by branches",
                    ));
                }
                _ => {}
            }
        }
    }
    alternatives(function);
    let mut merges = HashMap::new();
    loops(function, &mut merges, &internal_error)?;
    let breaks = breaks(function, &all_loops(&merges));
    selections(function, &mut merges, &internal_error)?;
    merges.extend(breaks.into_iter().map(|(block, merge)| (block, Merge::Break(merge))));
    let graph = ControlFlowGraph::of(&function.blocks);
    if nesting(&graph, &merges) > MAX_NESTING {
        return Err(KernelError::new(format!(
            "the kernel's branches and loops are nested more than {MAX_NESTING} deep, which is Vulkan's limit: split the \
             kernel, or write a loop. Each if that returns adds one level to the code after it"
        )));
    }
    let order = graph.order.into_iter().map(BlockId).collect();
    Ok(StructuredFlow { order, merges })
}

/// SPIR-V's limit on nested constructs.
const MAX_NESTING: usize = 1023;

/// The depth of the deepest construct.
fn nesting(graph: &ControlFlowGraph, merges: &HashMap<BlockId, Merge>) -> usize {
    let heads: HashMap<usize, usize> = merges
        .iter()
        .filter_map(|(head, merge)| match merge {
            Merge::Selection(merge) | Merge::Loop { merge, .. } => Some((merge.0, head.0)),
            Merge::Break(_) => None,
        })
        .collect();
    let header_blocks: HashSet<usize> = heads.values().copied().collect();
    let idom = graph.dominators();
    let mut depths = vec![0; idom.len()];
    for &block in graph.order.iter().skip(1) {
        depths[block] = match (heads.get(&block), idom[block]) {
            (Some(&head), _) => depths[head],
            (None, Some(dominator)) => depths[dominator] + usize::from(header_blocks.contains(&dominator)),
            (None, None) => 0,
        };
    }
    depths.into_iter().max().unwrap_or(0)
}

fn loops(
    function: &mut Function,
    merges: &mut HashMap<BlockId, Merge>,
    internal_error: &dyn Fn(&str) -> KernelError,
) -> Result<(), KernelError> {
    let graph = ControlFlowGraph::of(&function.blocks);
    let dominance = DominatorTree::of(&graph);
    let mut latches: Vec<(usize, usize)> = Vec::new();
    let mut heads = HashSet::new();
    for &from in &graph.order {
        for &to in &graph.successors[from] {
            if dominance.dominates(to, from) {
                if !heads.insert(to) {
                    return Err(internal_error("a loop has two latches, but must have one"));
                }
                latches.push((to, from));
            }
        }
    }
    for (head, latch) in latches {
        let (head, mut latch) = (BlockId(head), BlockId(latch));
        // The header keeps only its phis.
        let body = split(function, head, phi_count(&function.blocks[head.0]));
        if latch == head {
            latch = body;
        }
        // The branch with the back edge and the exit moves to a block of its own.
        let end = function.blocks[latch.0].instructions.len() - 1;
        let continue_target = split(function, latch, end);
        let out = match &function.blocks[continue_target.0].instructions[0].op {
            Op::CondBr { yes, no, .. } if *yes == head => *no,
            Op::CondBr { yes, no, .. } if *no == head => *yes,
            Op::Br { .. } => {
                return Err(KernelError::new(
                    "the kernel has a loop that no thread can leave: give the loop an exit".into(),
                ));
            }
            _ => return Err(internal_error("the latch of a loop does not exit the loop")),
        };
        let merge = gather(function, out, &[continue_target], "loop.merge");
        merges.insert(head, Merge::Loop { merge, continue_target });
    }
    Ok(())
}

/// The loops, sorted by their headers.
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
    internal_error: &dyn Fn(&str) -> KernelError,
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
            0 => KernelError::new(
                "no thread can reach the end of the kernel: give the loops of the kernel an exit".into(),
            ),
            _ => internal_error("the kernel has several returns, but must have one"),
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
    // The predecessors of each block, including the blocks added so far. `dominance` does not contain the added blocks,
    // so an added block is represented by the header of its construct (`stands_for`).
    let mut predecessors: Vec<BTreeSet<usize>> =
        graph.predecessors.iter().map(|all| all.iter().copied().collect()).collect();
    let mut stands_for: Vec<usize> = (0..function.blocks.len()).collect();
    // Inner constructs first: if an inner and an outer construct end at one block, the inner merge block then lies within the outer construct.
    for &head in graph.order.iter().rev() {
        let is_conditional =
            matches!(function.blocks[head].instructions.last(), Some(Instruction { op: Op::CondBr { .. }, .. }));
        if !is_conditional || leaves_loop.contains(&head) {
            continue;
        }
        let Some(meet) = post[head].filter(|&meet| meet != head) else {
            return Err(internal_error("the two paths of a branch do not merge"));
        };
        // If the paths meet at the header of a loop, the back edge is not one of the paths.
        let is_path = |b: usize| dominance.dominates(head, stands_for[b]) && !dominance.dominates(meet, stands_for[b]);
        let from: Vec<usize> = predecessors[meet].iter().copied().filter(|&b| is_path(b)).collect();
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
