//! Estimates how deep a driver nests the conditions and loops of a kernel, for drivers with a limit (llvmpipe).
//!
//! A driver with such a limit runs all threads through all code, under execution masks. If threads of a construct return, continue
//! the loop or leave a switch early, the code after the construct needs a mask of its own. So the depth of a block is the number of
//! selections around it, plus, in each of these selections, the number of preceding constructs with early exits. Functions are
//! inlined, so the depth of a call is added to the depths of the called function. The result is an upper bound, because drivers
//! flatten small branches.

use super::entry_point::EntryPoint;
use super::parsed::{Function, Instruction, ParsedModule};
use crate::error::Result;
use crate::grow::Grow;
use rspirv::spirv::Op;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The largest numbers of conditions, and of loops, around a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Depth {
    /// Conditions.
    pub conditions: u32,
    /// Loops.
    pub loops: u32,
}

impl Depth {
    fn join(self, other: Self) -> Self {
        Self { conditions: self.conditions.max(other.conditions), loops: self.loops.max(other.loops) }
    }
    fn plus(self, other: Self) -> Self {
        Self {
            conditions: self.conditions.saturating_add(other.conditions),
            loops: self.loops.saturating_add(other.loops),
        }
    }
}

/// The analysis stops at this depth, which exceeds every driver's limit.
const MAX_DEPTH: u32 = 256;

/// The depth of the entry point's function, including the functions that it reaches.
pub(super) fn depth(code: &ParsedModule, entry: &EntryPoint) -> Result<Depth> {
    let mut function_depths = HashMap::new();
    for function in entry.functions.iter().map(|&at| &code.functions()[at]) {
        function_depths.make_room(1)?;
        function_depths.insert(function.id, FunctionDepth::of(code, function)?);
    }
    whole(&function_depths, entry.function)
}

/// The depth of a function, including the functions that it calls.
fn whole(function_depths: &HashMap<u32, FunctionDepth>, function: u32) -> Result<Depth> {
    let own = |id: u32| function_depths.get(&id).map(|function| function.depth).unwrap_or_default();
    // The depths of the functions visited so far. Valid modules have no recursion. In invalid modules, a recursive call has the depth
    // that is known when it is visited.
    let mut known = HashMap::from([(function, own(function))]);
    // The functions whose calls are being visited, each with the number of calls already visited.
    let mut open = vec![(function, 0)];
    while let Some((id, visited)) = open.last_mut() {
        let Some(&(callee, at)) = function_depths.get(id).and_then(|function| function.calls.get(*visited)) else {
            open.pop();
            continue;
        };
        if let Some(&depth) = known.get(&callee) {
            known.entry(*id).and_modify(|whole| *whole = whole.join(at.plus(depth)));
            *visited += 1;
        } else {
            known.make_room(1)?;
            known.insert(callee, own(callee));
            open.make_room(1)?;
            open.push((callee, 0));
        }
    }
    Ok(known.get(&function).copied().unwrap_or_default())
}

/// A list of consecutive blocks under the same conditions: a function, a branch, or the body of a loop.
struct List {
    parent: Option<usize>,
    /// The block that heads the branch or loop.
    header: usize,
    /// The label to which the list's last block branches. A branch to this label is not an early exit.
    end: u32,
    is_loop: bool,
    level: u32,
    /// The depth around the list.
    base: Depth,
    /// The number of conditions that early exits have added so far.
    added: u32,
}

struct Block {
    insts: Range<usize>,
    list: Option<usize>,
    /// The indices of the lists that this block heads.
    heads: Range<usize>,
    /// True if this block heads a construct with early exits.
    has_exits: bool,
    /// The header of the construct that ends at this block.
    after: Option<usize>,
}

/// A function's depth without callees, and the functions that it calls, each with the depth of the call.
struct FunctionDepth {
    depth: Depth,
    calls: Vec<(u32, Depth)>,
}

impl FunctionDepth {
    fn of(code: &ParsedModule, function: &Function) -> Result<Self> {
        let mut constructs = Constructs::new(code, function)?;
        if !constructs.find()? {
            return Ok(Self { depth: Depth { conditions: MAX_DEPTH, loops: MAX_DEPTH }, calls: Vec::new() });
        }
        constructs.measure()
    }
}

/// The blocks of a function, and how they are nested.
struct Constructs<'a> {
    code: &'a ParsedModule,
    blocks: Vec<Block>,
    by_label: HashMap<u32, usize>,
    lists: Vec<List>,
    /// The targets of early exits: the continue target of each loop and the merge block of each switch. Threads may go there from
    /// anywhere in the construct.
    exits: HashSet<u32>,
}

impl<'a> Constructs<'a> {
    fn new(code: &'a ParsedModule, function: &Function) -> Result<Self> {
        let (mut blocks, mut by_label): (Vec<Block>, _) = (Vec::new(), HashMap::new());
        for inst in function.insts.clone().map(|at| code.inst(at)) {
            if let (Op::Label, Some(label)) = (inst.op.unwrap_or(Op::Nop), inst.result()) {
                blocks.make_room(1)?;
                by_label.make_room(1)?;
                by_label.insert(label, blocks.len());
                let insts = inst.index..inst.index;
                blocks.push(Block { insts, list: None, heads: 0..0, has_exits: false, after: None });
            }
            if let Some(block) = blocks.last_mut() {
                block.insts.end = inst.index + 1;
            }
        }
        let whole =
            List { parent: None, header: 0, end: 0, is_loop: false, level: 0, base: Depth::default(), added: 0 };
        Ok(Self { code, blocks, by_label, lists: vec![whole], exits: HashSet::new() })
    }

    /// Puts each block into its list, and notes which constructs have early exits. False if constructs are nested too deeply. Dominators
    /// precede the blocks that they dominate, so the list of a block is known when the block is visited.
    fn find(&mut self) -> Result<bool> {
        for at in 0..self.blocks.len() {
            let insts: Vec<Instruction<'_>> = self.blocks[at].insts.clone().map(|at| self.code.inst(at)).collect();
            let merge = insts.iter().find(|inst| matches!(inst.op, Some(Op::LoopMerge | Op::SelectionMerge)));
            let Some(last) = insts.iter().rev().find(|inst| is_terminator(inst)) else { continue };
            let list = *self.blocks[at].list.get_or_insert(0);
            if self.lists[list].level >= MAX_DEPTH {
                return Ok(false);
            }
            let first = self.lists.len();
            let targets = targets(self.code, last);
            let from = match merge {
                Some(merge) => self.open(at, list, merge, last)?,
                None => list,
            };
            // A branch without a merge instruction is a selection if it has several targets: some threads may continue in the same list.
            let selects = merge.map_or(targets.len() > 1, |merge| merge.is(Op::SelectionMerge));
            let end = merge.filter(|_| selects).map(|merge| merge.word(1));
            for target in targets.into_iter().filter(|&target| Some(target) != end) {
                self.follow_edge(at, from, end, target, selects)?;
            }
            if matches!(last.op, Some(Op::Return | Op::ReturnValue)) {
                self.leave(list, None);
            }
            self.blocks[at].heads = first..self.lists.len();
        }
        Ok(true)
    }

    /// Opens the construct that block `at` heads. Returns the list of the block's branch: the body of a loop, or `list` itself.
    fn open(&mut self, at: usize, list: usize, merge: &Instruction<'_>, last: &Instruction<'_>) -> Result<usize> {
        self.put(merge.word(1), list, Some(at));
        self.exits.make_room(1)?;
        if merge.is(Op::LoopMerge) {
            self.exits.insert(merge.word(2));
            let body = self.list(at, list, merge.word(2), true)?;
            self.put(merge.word(2), body, None);
            return Ok(body);
        }
        if last.is(Op::Switch) {
            self.exits.insert(merge.word(1));
        }
        Ok(list)
    }

    /// Follows an edge from block `at`, whose branch is in `list`. `end`: the merge block, if block `at` heads a selection.
    /// `selects`: some threads take another edge.
    fn follow_edge(&mut self, at: usize, list: usize, end: Option<u32>, target: u32, selects: bool) -> Result<()> {
        if self.exits.contains(&target) {
            self.blocks[at].has_exits |= selects;
            self.leave(list, Some(target));
            return Ok(());
        }
        if self.by_label.get(&target).is_some_and(|&to| self.blocks[to].list.is_none()) {
            match end {
                Some(end) => {
                    let branch = self.list(at, list, end, false)?;
                    self.put(target, branch, None);
                }
                None => self.put(target, list, selects.then_some(at)),
            }
        }
        Ok(())
    }

    fn list(&mut self, header: usize, parent: usize, end: u32, is_loop: bool) -> Result<usize> {
        let level = self.lists[parent].level + 1;
        self.lists.make_room(1)?;
        self.lists.push(List { parent: Some(parent), header, end, is_loop, level, base: Depth::default(), added: 0 });
        Ok(self.lists.len() - 1)
    }

    fn put(&mut self, label: u32, list: usize, after: Option<usize>) {
        if let Some(&at) = self.by_label.get(&label) {
            self.blocks[at].list.get_or_insert(list);
            self.blocks[at].after = self.blocks[at].after.or(after);
        }
    }

    /// Notes that threads leave `list` for `target`, or return (`None`). They leave all constructs up to the one that ends at `target`.
    fn leave(&mut self, mut list: usize, target: Option<u32>) {
        while target != Some(self.lists[list].end) {
            let List { parent: Some(parent), header, .. } = self.lists[list] else { return };
            self.blocks[header].has_exits = true;
            list = parent;
        }
    }

    /// Computes the depth of each block and call.
    fn measure(mut self) -> Result<FunctionDepth> {
        let (mut depth, mut calls) = (Depth::default(), Vec::new());
        for at in 0..self.blocks.len() {
            let block = &self.blocks[at];
            let list = &mut self.lists[block.list.unwrap_or(0)];
            list.added += u32::from(block.after.is_some_and(|header| self.blocks[header].has_exits));
            let here = list.base.plus(Depth { conditions: list.added, loops: 0 });
            depth = depth.join(here);
            for inst in block.insts.clone().map(|at| self.code.inst(at)).filter(|inst| inst.is(Op::FunctionCall)) {
                calls.make_room(1)?;
                calls.push((inst.word(3), here));
            }
            for list in &mut self.lists[block.heads.clone()] {
                let own = u32::from(list.is_loop);
                list.base = here.plus(Depth { conditions: 1 - own, loops: own });
            }
        }
        Ok(FunctionDepth { depth, calls })
    }
}

fn is_terminator(inst: &Instruction<'_>) -> bool {
    matches!(
        inst.op,
        Some(
            Op::Branch
                | Op::BranchConditional
                | Op::Switch
                | Op::Return
                | Op::ReturnValue
                | Op::Kill
                | Op::TerminateInvocation
                | Op::Unreachable
        )
    )
}

/// The labels to which a block goes.
fn targets(code: &ParsedModule, last: &Instruction<'_>) -> Vec<u32> {
    match last.op {
        Some(Op::Branch) => vec![last.word(1)],
        Some(Op::BranchConditional) => vec![last.word(2), last.word(3)],
        Some(Op::Switch) => {
            let selector_type = code.def(last.word(1)).and_then(|selector| code.def_of(selector.word(1), Op::TypeInt));
            let literal = selector_type.map_or(1, |ty| ty.word(2).div_ceil(32).max(1)) as usize;
            let cases = last.words.get(3..).unwrap_or_default().chunks_exact(literal + 1);
            std::iter::once(last.word(2)).chain(cases.filter_map(|case| case.last().copied())).collect()
        }
        _ => Vec::new(),
    }
}
