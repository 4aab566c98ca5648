//! Ensures that LLVM treats loops over threads, and no other loops, as parallel.
//!
//! The metadata `llvm.loop.parallel_accesses` is on the latch of each loop over a region's threads. LLVM moves metadata with branches. If
//! such a loop is completely unrolled or iterates once, the branch of its latch may become the latch of an outer or inner loop. The
//! iterations of that loop depend on each other, but LLVM would vectorise them. Three things prevent this:
//!
//! - Each region has an access group of its own, so the metadata of one region says nothing about the accesses of
//!   another region.
//! - Each latch begins with a marker, a call of `llvm.sideeffect` in the region's group. The latch is therefore never
//!   empty, and LLVM does not fold its branch into a preceding block of the kernel. Markers do not prevent
//!   vectorisation.
//! - A boundary follows the loop over the threads: an empty `asm` that may access memory and is in no group. LLVM never treats a loop
//!   with a boundary as parallel.
//!
//! The invariant: a loop with a region's metadata contains that region's marker and no boundary. `check` verifies it.

use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::analysis::loops;
use crate::ir;
use crate::llvm::number::{LOOP_METADATA, opcode as o, ty as t, value as k};
use crate::llvm::{Builder, Editor, Form, Module, Node, Type, Value};
use std::collections::HashSet;

/// The part of the metadata that distinguishes loops over threads from loops that the program's source marks as parallel.
const THREADS: &str = "revamp.threads";
const PARALLEL: &str = "llvm.loop.parallel_accesses";
const MARKER: &str = "llvm.sideeffect";
/// `memory(inaccessiblemem: readwrite)` in LLVM's encoding.
const INACCESSIBLE: u64 = 3 << 2;

/// Emits the metadata, markers and boundaries of loops over threads.
pub struct Threads<'m> {
    edit: Editor<'m>,
    /// True if the threads of a region share no local variable of the native function.
    parallel: bool,
    node: Node<'m>,
    marker: Value<'m>,
}

impl<'m> Threads<'m> {
    pub fn new(edit: Editor<'m>, parallel: bool) -> Self {
        let (node, marker) = (edit.node(&[edit.word(THREADS)]), edit.external(MARKER, None, &[], false));
        Self { edit, parallel, node, marker }
    }

    /// Emits the marker at the beginning of a latch, in the region's access group.
    pub fn marker(&self, build: &Builder<'m>, group: Node<'m>) {
        self.edit.set_metadata(build.call(self.marker, &[], ""), "llvm.access.group", Some(group));
    }

    /// Attaches metadata to the branch of a latch. `may_vectorise`: LLVM may vectorise the loop.
    pub fn mark(&self, branch: Value<'m>, group: Node<'m>, may_vectorise: bool) {
        let edit = self.edit;
        let mut parts = vec![self.node, edit.node(&[edit.word(PARALLEL), group])];
        if !may_vectorise {
            parts.push(edit.node(&[edit.word("llvm.loop.vectorize.enable"), edit.constant_operand(edit.i1(false))]));
        }
        parts.truncate(if self.parallel { parts.len() } else { 0 });
        edit.set_metadata(branch, LOOP_METADATA, Some(edit.distinct(&parts)));
    }

    /// Emits the boundary after a loop over threads.
    pub fn boundary(&self, build: &Builder<'m>) {
        let call = build.opaque(None, true, "");
        self.edit.add_attribute(call, "nounwind");
        self.edit.add_attribute(call, "willreturn");
        self.edit.add_number_attribute(call, "memory", INACCESSIBLE);
    }
}

/// Checks the invariant in all functions of a module with regions. It must hold after each of LLVM's passes too.
pub fn check(module: &Module) -> Result<(), String> {
    let code = ir::snapshot(module);
    for (function, copy) in module.functions().zip(&code.functions).filter(|(_, copy)| !copy.blocks.is_empty()) {
        let graph = ControlFlowGraph::of(&copy.blocks);
        let dominators = DominatorTree::of(&graph);
        let blocks: Vec<Block<'_>> = function.blocks().map(Block::of).collect();
        for &latch in &graph.order {
            let Some(groups) = &blocks[latch].threads else { continue };
            for &header in graph.successors[latch].iter().filter(|header| dominators.dominates(**header, latch)) {
                let body = loops::blocks(&graph, header, latch);
                let within = || body.iter().map(|block| &blocks[*block]);
                let kind = match () {
                    () if within().any(|block| block.boundary) => "around",
                    () if !within().any(|block| groups.iter().any(|group| block.markers.contains(group))) => "within",
                    () => continue,
                };
                let (name, latch) = (function.name(), &copy.blocks[latch].name);
                return Err(format!(
                    "internal: a loop {kind} a region is marked as parallel (latch {latch}) in {name}; only loops over \
                     threads may be parallel"
                ));
            }
        }
    }
    Ok(())
}

struct Block<'m> {
    /// The groups that the loop metadata of the block's terminator names, if this is the metadata of a loop over threads.
    threads: Option<Vec<Node<'m>>>,
    /// The groups of the markers in the block.
    markers: HashSet<Node<'m>>,
    /// True if the block contains a boundary.
    boundary: bool,
}

impl<'m> Block<'m> {
    fn of(block: crate::llvm::Block<'m>) -> Self {
        let threads = block.terminator().and_then(Value::loop_metadata).and_then(thread_loop_groups);
        let mut summary = Self { threads, markers: HashSet::new(), boundary: false };
        for call in block.instructions().filter(|one| one.form() == Form::Instruction(o::CALL)) {
            let Some(callee) = call.called() else { continue };
            let returns_void = call.ty().map(Type::kind) == Some(t::VOID);
            summary.boundary |= callee.form() == Form::Other(k::ASSEMBLY) && returns_void;
            if callee.form() == Form::Other(k::FUNCTION) && callee.name() == MARKER {
                summary.markers.extend(call.access_group());
            }
        }
        summary
    }
}

/// True if a loop's metadata is that of a loop over threads.
pub fn is_over_threads(node: Node<'_>) -> bool {
    thread_loop_groups(node).is_some()
}

/// The groups that a loop's metadata names, if the loop is over threads.
fn thread_loop_groups(node: Node<'_>) -> Option<Vec<Node<'_>>> {
    let parts = || node.operands().into_iter().flatten().filter_map(Value::as_node);
    let word = |part: Node<'_>| part.operands().first().copied().flatten().map(Value::as_text).unwrap_or_default();
    parts().find(|part| word(*part) == THREADS)?;
    let parallel = parts().filter(|part| word(*part) == PARALLEL);
    let groups = parallel.flat_map(|part| part.operands().into_iter().skip(1).flatten());
    Some(groups.filter_map(Value::as_node).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKER: &str = "call void @llvm.sideeffect(), !llvm.access.group ";
    const BOUNDARY: &str =
        "call void asm sideeffect \"\", \"\"() nounwind willreturn memory(inaccessiblemem: readwrite)";

    /// Checks three nested loops: a loop of rounds contains the loop over a region's threads, and each thread runs a
    /// loop of its own. The arguments are the numbers of the metadata on the latches of these loops. Number 1 is the
    /// metadata of a loop over threads.
    fn check_nested_loops(rounds: u32, threads: u32, own: u32) -> Result<(), String> {
        let text = format!(
            "declare void @llvm.sideeffect()\ndefine i32 @k(i1 %more) {{\nentry:\n  br label %round\nround:\n  br label %\"r1:thread\"\n\
             \"r1:thread\":                ; preds = %round\n  br label %own\n\
             own:\n  br i1 %more, label %own, label %latch, !llvm.loop !{own}\n\
             latch:\n  {MARKER}!3\n  br i1 %more, label %\"r1:thread\", label %done, !llvm.loop !{threads}\n\
             done:\n  {BOUNDARY}\n  switch i32 0, label %end [\n    i32 1, label %round\n  ], !llvm.loop !{rounds}\n\
             end:\n  ret i32 0\n}}\n\
             !1 = distinct !{{!1, !2, !4}}\n!2 = !{{!\"revamp.threads\"}}\n!3 = distinct !{{}}\n\
             !4 = !{{!\"llvm.loop.parallel_accesses\", !3}}\n!5 = distinct !{{!5, !4}}\n"
        );
        check(&crate::ir::tests::parsed(&text).unwrap())
    }

    #[test]
    fn thread_metadata_is_only_on_loops_over_threads() {
        assert_eq!(check_nested_loops(5, 1, 5), Ok(()), "a loop that the source marks is not over threads");
        let around = check_nested_loops(1, 5, 5).err().unwrap_or_default();
        assert!(around.contains("a loop around a region is marked as parallel (latch done) in k"), "{around}");
        let within = check_nested_loops(5, 5, 1).err().unwrap_or_default();
        assert!(within.contains("a loop within a region is marked as parallel (latch own)"), "{within}");
    }
}
