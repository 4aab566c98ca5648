//! Makes two versions of the loops over threads in native kernels that check bounds (`zero_bounds`): one without
//! checks, for threads whose accesses are all in bounds, and one with checks.
//!
//! - Precondition: the kernel is split into loops over its threads (`native`), whose latches are marked.
//! - Effect: code before each outermost loop over threads computes the smallest and the largest offset of each access
//!   from the loop's extent, and compares them with the bounds of the memory. A check in the loop becomes
//!   `all_inside || inside`, and the loop branches once on `all_inside`. The next pass, LLVM's `simple-loop-unswitch`,
//!   splits the loop into two. A check stays unchanged if its offset cannot be computed before the loop, such as the
//!   offset of `a[b[i]]`.
//! - Why: LLVM's `loop-predication` and `irce` need a step of 1 in bytes, do not handle loop nests, and give up at the
//!   first check that does not fit.

mod ranges;

use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops::{NaturalLoop, natural_loops};
use crate::ir;
use crate::llvm::number::{FIRST_INTEGER_PREDICATE, opcode as o};
use crate::llvm::{Block, Editor, Form, Module, Value};
use crate::pipelines;
use ranges::Ranges;
use std::collections::HashMap;

/// Makes the versions in all functions. Returns true if there are any.
pub fn run(module: &mut Module) -> Result<bool, String> {
    module.run(&pipelines::loop_values())?;
    let code = ir::snapshot(module);
    let changed = module.edit(|edit| {
        let mut changed = false;
        for (function, copy) in edit.functions().zip(&code.functions).filter(|(_, copy)| !copy.blocks.is_empty()) {
            let graph = ControlFlowGraph::of(&copy.blocks);
            changed |=
                Nest::all(edit, function, &graph).into_iter().filter(|nest| nest.version().is_some()).count() > 0;
        }
        changed
    });
    module.verify()?;
    if changed {
        module.run(&pipelines::unswitch())?;
    }
    Ok(changed)
}

/// An outermost loop over threads, with its inner loops.
struct Nest<'m> {
    edit: Editor<'m>,
    /// The argument block, and its size in bytes.
    argument: (Value<'m>, u64),
    blocks: Vec<Block<'m>>,
    /// The last instruction before the loop.
    before: Value<'m>,
    /// The loops, outermost first.
    loops: Vec<NaturalLoop>,
}

impl<'m> Nest<'m> {
    fn all(edit: Editor<'m>, function: Value<'m>, graph: &ControlFlowGraph) -> Vec<Self> {
        let blocks: Vec<Block<'m>> = function.blocks().collect();
        let (mut nests, mut seen): (Vec<Self>, Vec<usize>) = (Vec::new(), Vec::new());
        for one in natural_loops(graph) {
            let over_threads = graph.predecessors[one.header]
                .iter()
                .any(|latch| one.blocks.contains(latch) && blocks[*latch].terminator().is_some_and(is_marked));
            if !over_threads || seen.contains(&one.header) {
                continue;
            }
            let outside: Vec<usize> =
                graph.predecessors[one.header].iter().copied().filter(|from| !one.blocks.contains(from)).collect();
            let argument = function.parameter(0).zip(function.dereferenceable(0));
            let ([from], Some(argument)) = (&outside[..], argument) else { continue };
            let Some(before) = blocks[*from].terminator() else { continue };
            seen.extend(&one.blocks);
            let loops: Vec<NaturalLoop> =
                natural_loops(graph).into_iter().filter(|inner| one.blocks.contains(&inner.header)).collect();
            nests.push(Self { edit, argument, blocks: blocks.clone(), before, loops });
        }
        nests
    }

    /// Makes the checks depend on one condition that is computed before the loop.
    fn version(&self) -> Option<()> {
        let block_indices: HashMap<Block<'m>, usize> =
            self.blocks.iter().enumerate().map(|(n, block)| (*block, n)).collect();
        let mut ranges = Ranges::new(self.edit, self.argument, self.before, &block_indices, &self.loops);
        let outermost = self.loops.first()?;
        let mut blocks: Vec<usize> = outermost.blocks.iter().copied().collect();
        blocks.sort_unstable();
        let checks: Vec<(Value<'m>, Value<'m>)> = blocks
            .into_iter()
            .flat_map(|n| self.blocks[n].instructions())
            .filter_map(|one| {
                let (offset, limit) = bounds_check(one)?;
                Some((one, ranges.inside(offset, limit)?))
            })
            .collect();
        let all = checks.iter().map(|(_, inside)| *inside).reduce(|all, one| ranges.and(all, one))?;
        let all = self.branch_once(self.blocks[outermost.header], all)?;
        for (check, _) in checks {
            let build = self.edit.build_before(check);
            let all_inside = build.load(self.edit.integer_type(1), all, "");
            let new_check = build.binary(o::OR, all_inside, build.copy(check, ""), "");
            self.edit.replace_uses(check, new_check);
            self.edit.erase(check);
        }
        Some(())
    }

    /// Makes a loop branch once in its header, on a condition computed before the loop, and store the condition in a
    /// variable. LLVM does not unswitch a loop with many branches on one condition, and it unswitches inner loops first.
    fn branch_once(&self, header: Block<'m>, condition: Value<'m>) -> Option<Value<'m>> {
        let edit = self.edit;
        let entry = self.blocks[0].first()?;
        let all_inside = edit.build_before(entry).alloca(edit.integer_type(1), 1, "bounds");
        let at = header.instructions().find(|one| !one.is_phi())?;
        let first = edit.split_before(at, "bounds.known")?;
        let answers = [("bounds.inside", true), ("bounds.unknown", false)];
        let [inside, unknown] = answers.map(|(name, answer)| {
            let block = edit.block_before(header, name);
            let build = edit.build_at(block);
            build.store(edit.i1(answer), all_inside);
            build.branch(header);
            block
        });
        edit.erase(first.terminator()?);
        edit.build_at(first).branch_if(condition, inside, unknown);
        Some(all_inside)
    }
}

/// True for the latch branch of a loop over threads, which `native::parallel` marks.
fn is_marked(branch: Value<'_>) -> bool {
    let Some(node) = branch.loop_metadata() else { return false };
    let parts = node.operands().into_iter().flatten().filter_map(Value::as_node);
    let mut words = parts.filter_map(|part| part.operands().first().copied().flatten().map(Value::as_text));
    words.any(|word| word == "revamp.threads")
}

/// The operands of an unsigned 64-bit comparison `offset < limit`.
fn bounds_check(one: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    if one.form() != Form::Instruction(o::ICMP) {
        return None;
    }
    let (left, right) = one.operand(0).zip(one.operand(1))?;
    match one.integer_predicate() - FIRST_INTEGER_PREDICATE {
        p if p == ir::IntPredicate::Ult as i32 => Some((left, right)),
        p if p == ir::IntPredicate::Ugt as i32 => Some((right, left)),
        _ => None,
    }
}
