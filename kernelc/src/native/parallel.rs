//! Which loops LLVM may take for parallel: loops over threads, and no others.
//!
//! The metadata `llvm.loop.parallel_accesses` stands on the latch of each loop over a region's threads. LLVM moves metadata with branches: where
//! such a loop is unrolled completely, or iterates once, the branch of its latch may become the latch of a loop around or within it. The iterations
//! of that loop depend on each other, and LLVM would make vectors of them. Three things prevent it:
//!
//! - Each region has an access group of its own: the metadata of one region says nothing about accesses of another one.
//! - Each latch begins with a marker, a call of `llvm.sideeffect` in the region's group. The block is never empty, so LLVM does
//!   not fold its branch into a block of the kernel before it. LLVM makes vectors of loops with markers.
//! - A boundary follows the loop over the threads: an empty `asm` that may access memory and is in no group. LLVM never takes a loop
//!   with a boundary for parallel.
//!
//! The invariant: a loop with a region's metadata contains that region's marker and no boundary. `check` verifies it.

use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::analysis::loops;
use crate::ir;
use crate::llvm::number::{LOOP, opcode as o, ty as t, value as k};
use crate::llvm::{Builder, Editor, Form, Module, Node, Type, Value};
use std::collections::HashSet;

/// A part of the metadata of loops over threads, which tells them from loops that the program's source marks as parallel.
const THREADS: &str = "revamp.threads";
const PARALLEL: &str = "llvm.loop.parallel_accesses";
const MARKER: &str = "llvm.sideeffect";
/// `memory(inaccessiblemem: readwrite)`, as LLVM counts it.
const INACCESSIBLE: u64 = 3 << 2;

/// Writes what tells of loops over threads.
pub struct Threads<'m> {
    edit: Editor<'m>,
    /// The threads of a region share nothing that the function itself keeps.
    parallel: bool,
    node: Node<'m>,
    marker: Value<'m>,
}

impl<'m> Threads<'m> {
    pub fn new(edit: Editor<'m>, parallel: bool) -> Self {
        let (node, marker) = (edit.node(&[edit.word(THREADS)]), edit.external(MARKER, None, &[], false));
        Self { edit, parallel, node, marker }
    }

    /// Begins a latch of the region with this access group.
    pub fn marker(&self, build: &Builder<'m>, group: Node<'m>) {
        self.edit.set_metadata(build.call(self.marker, &[], ""), "llvm.access.group", Some(group));
    }

    /// Attaches metadata to the branch of a latch. `vectors`: LLVM may make vectors of the loop.
    pub fn mark(&self, branch: Value<'m>, group: Node<'m>, vectors: bool) {
        let edit = self.edit;
        let mut parts = vec![self.node, edit.node(&[edit.word(PARALLEL), group])];
        if !vectors {
            parts.push(edit.node(&[edit.word("llvm.loop.vectorize.enable"), edit.constant_part(edit.truth(false))]));
        }
        parts.truncate(if self.parallel { parts.len() } else { 0 });
        edit.set_metadata(branch, LOOP, Some(edit.distinct(&parts)));
    }

    /// Follows a loop over threads.
    pub fn boundary(&self, build: &Builder<'m>) {
        let call = build.opaque(None, true, "");
        self.edit.add_attribute(call, "nounwind");
        self.edit.add_attribute(call, "willreturn");
        self.edit.add_number_attribute(call, "memory", INACCESSIBLE);
    }
}

/// Checks the invariant in all functions of a module with regions, also after any of LLVM's passes.
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
                    "internal: a loop {kind} a region is marked as parallel (latch {latch}) in {name}"
                ));
            }
        }
    }
    Ok(())
}

struct Block<'m> {
    /// The groups that the node of the branch at its end names, if that is one of a loop over threads.
    threads: Option<Vec<Node<'m>>>,
    /// The groups of the markers in it.
    markers: HashSet<Node<'m>>,
    boundary: bool,
}

impl<'m> Block<'m> {
    fn of(block: crate::llvm::Block<'m>) -> Self {
        let threads = block.terminator().and_then(Value::loop_metadata).and_then(claimed);
        let mut found = Self { threads, markers: HashSet::new(), boundary: false };
        for call in block.instructions().filter(|one| one.form() == Form::Instruction(o::CALL)) {
            let Some(callee) = call.called() else { continue };
            let nothing = call.ty().map(Type::kind) == Some(t::VOID);
            found.boundary |= callee.form() == Form::Other(k::ASSEMBLY) && nothing;
            if callee.form() == Form::Other(k::FUNCTION) && callee.name() == MARKER {
                found.markers.extend(call.access_group());
            }
        }
        found
    }
}

/// Whether a loop's metadata is that of a loop over threads.
pub fn is_over_threads(node: Node<'_>) -> bool {
    claimed(node).is_some()
}

/// The groups that a loop's node names, if the loop is one over threads.
fn claimed(node: Node<'_>) -> Option<Vec<Node<'_>>> {
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

    /// A loop of rounds around the loop over a region's threads, in which each thread has a loop of its own. The numbers are those
    /// of the metadata on the three latches: 1 is of threads.
    fn nested(rounds: u32, threads: u32, own: u32) -> Result<(), String> {
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
    fn metadata_of_threads_stands_on_loops_over_threads_only() {
        assert_eq!(nested(5, 1, 5), Ok(()), "what the source marks is no claim about threads");
        let around = nested(1, 5, 5).err().unwrap_or_default();
        assert!(around.contains("a loop around a region is marked as parallel (latch done) in k"), "{around}");
        let within = nested(5, 5, 1).err().unwrap_or_default();
        assert!(within.contains("a loop within a region is marked as parallel (latch own)"), "{within}");
    }
}
