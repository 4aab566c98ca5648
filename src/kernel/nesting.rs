//! How deep a driver nests the conditions and loops of a kernel, for a driver that has a limit (llvmpipe).
//!
//! Such a driver runs all threads through all code, under conditions. After a construct in which threads return, go on with the
//! next round of the loop or leave a switch, the rest is under a condition of its own. So the depth of a block counts the
//! selections around it, and in each of them the constructs before it with such exits. Functions are inlined: the depth of a
//! call is added. The result is an upper bound, since drivers flatten small branches.

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

/// Deeper than this is not looked at: no driver's limit is as large.
const DEEPEST: u32 = 256;

/// The depth of what the entry point reaches.
pub(super) fn depth(code: &ParsedModule, entry: &EntryPoint) -> Result<Depth> {
    let mut nests = HashMap::new();
    for function in entry.functions.iter().map(|&at| &code.functions()[at]) {
        nests.make_room(1)?;
        nests.insert(function.id, Nest::of(code, function)?);
    }
    Ok(whole(&nests, entry.function))
}

/// The depth of a function with those that it calls.
fn whole(nests: &HashMap<u32, Nest>, function: u32) -> Depth {
    let mut known: HashMap<u32, Depth> = HashMap::new();
    let mut open = vec![function];
    while let Some(&id) = open.last() {
        let calls = nests.get(&id).map_or(&[][..], |nest| &nest.calls);
        // Of functions that call themselves, which valid modules do not have, each call counts once.
        let unknown = calls.iter().find(|(callee, _)| !known.contains_key(callee) && !open.contains(callee));
        if let Some(&(callee, _)) = unknown.filter(|_| open.len() < DEEPEST as usize) {
            open.push(callee);
            continue;
        }
        let own = nests.get(&id).map(|nest| nest.depth).unwrap_or_default();
        let with = |(callee, at): &(u32, Depth)| at.plus(known.get(callee).copied().unwrap_or_default());
        known.insert(id, calls.iter().map(with).fold(own, Depth::join));
        open.pop();
    }
    known.get(&function).copied().unwrap_or_default()
}

/// Blocks that follow each other under the same conditions: a function, a branch, or the body of a loop.
struct List {
    parent: Option<usize>,
    /// The block whose branch or loop it is.
    header: usize,
    /// Where its last block goes, which is no early exit.
    end: u32,
    is_loop: bool,
    level: u32,
    /// What is around it, and the conditions that exits have added so far.
    base: Depth,
    added: u32,
}

struct Block {
    insts: Range<usize>,
    list: Option<usize>,
    /// The lists that it heads.
    heads: Range<usize>,
    /// True if it heads a construct with early exits.
    has_exits: bool,
    /// The block whose construct ends here.
    after: Option<usize>,
}

/// A function's own depth, and the functions that it calls, each with the depth of the call.
struct Nest {
    depth: Depth,
    calls: Vec<(u32, Depth)>,
}

impl Nest {
    fn of(code: &ParsedModule, function: &Function) -> Result<Self> {
        let mut constructs = Constructs::new(code, function)?;
        if !constructs.find()? {
            return Ok(Self { depth: Depth { conditions: DEEPEST, loops: DEEPEST }, calls: Vec::new() });
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
    /// Blocks to which threads go from anywhere in a construct, with an effect on what follows: where a round of a loop ends, and
    /// where a switch does.
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

    /// Puts each block into its list, and notes which constructs have early exits. False if they are too deep. A block comes
    /// after those that dominate it, so its list is known by then.
    fn find(&mut self) -> Result<bool> {
        for at in 0..self.blocks.len() {
            let insts: Vec<Instruction<'_>> = self.blocks[at].insts.clone().map(|at| self.code.inst(at)).collect();
            let merge = insts.iter().find(|inst| matches!(inst.op, Some(Op::LoopMerge | Op::SelectionMerge)));
            let Some(last) = insts.iter().rev().find(|inst| is_terminator(inst)) else { continue };
            let list = *self.blocks[at].list.get_or_insert(0);
            if self.lists[list].level >= DEEPEST {
                return Ok(false);
            }
            let first = self.lists.len();
            let targets = targets(self.code, last);
            let from = match merge {
                Some(merge) => self.open(at, list, merge, last)?,
                None => list,
            };
            // Without a merge block, some threads may go on in the list.
            let selects = merge.map_or(targets.len() > 1, |merge| merge.is(Op::SelectionMerge));
            let end = merge.filter(|_| selects).map(|merge| merge.word(1));
            for target in targets.into_iter().filter(|&target| Some(target) != end) {
                self.reach(at, from, end, target, selects)?;
            }
            if matches!(last.op, Some(Op::Return | Op::ReturnValue)) {
                self.leave(list, None);
            }
            self.blocks[at].heads = first..self.lists.len();
        }
        Ok(true)
    }

    /// Opens the construct that block `at` heads. Gives the list in which the block's end is: the body of a loop, or its own.
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

    /// Follows an edge from block `at`, which ends in `list`. `end`: where the selection ends that it heads, if it heads one.
    /// `selects`: some threads go elsewhere.
    fn reach(&mut self, at: usize, list: usize, end: Option<u32>, target: u32, selects: bool) -> Result<()> {
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

    /// Notes that threads leave `list` for `target`, or return: so they leave all constructs up to the one that ends there.
    fn leave(&mut self, mut list: usize, target: Option<u32>) {
        while target != Some(self.lists[list].end) {
            let List { parent: Some(parent), header, .. } = self.lists[list] else { return };
            self.blocks[header].has_exits = true;
            list = parent;
        }
    }

    /// Adds up what is around each block.
    fn measure(mut self) -> Result<Nest> {
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
        Ok(Nest { depth, calls })
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
            let of_type = code.def(last.word(1)).and_then(|selector| code.def_of(selector.word(1), Op::TypeInt));
            let literal = of_type.map_or(1, |ty| ty.word(2).div_ceil(32).max(1)) as usize;
            let cases = last.words.get(3..).unwrap_or_default().chunks_exact(literal + 1);
            std::iter::once(last.word(2)).chain(cases.filter_map(|case| case.last().copied())).collect()
        }
        _ => Vec::new(),
    }
}
