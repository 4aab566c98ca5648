//! Analyses a kernel before it is split into regions at its barriers. Finds the regions, the variables that are live
//! across barriers, and which of these variables are the same for all threads of a tile. A loop without barriers may be
//! cut: a region then ends before each iteration, as if the iteration began with a barrier.

use super::calls::{callee, is_division, is_harmless_call, is_number_intrinsic, is_speculatable, locals, position};
use super::variables::{Access, Flow, Variable, Variables, live, post_dominators, targets, variables};
use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::analysis::loops;
use crate::device_abi::{DeviceFunction, Position};
use crate::ir::{Block, Function, GlobalId, Instruction, LocalId, Module, Op, Operand, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// The maximum number of blocks in a kernel. The limit exists because the analysis keeps a set of blocks for each
/// block.
pub(super) const MAX_BLOCKS: usize = 4000;

/// The minimum number of instructions of a loop that is cut. In smaller loops, keeping the variables in memory costs more than the cut
/// gains.
const MIN_CUT_SIZE: usize = 24;
/// The same minimum for loops in which neighbouring threads access consecutive memory.
const MIN_CONSECUTIVE_CUT_SIZE: usize = 6;
/// Loops of this many instructions or more are not cut, because they do not become faster.
const CUT_SIZE_LIMIT: usize = 400;

/// The number of instructions that the loop over the threads adds to the instructions of a region.
const LOOP_INSTRUCTIONS: usize = 48;

/// Facts about the memory of a module.
pub struct Surroundings {
    /// The variables that are tile_static.
    pub shared: BTreeSet<GlobalId>,
    /// The kernel's loads of members of views and arrays.
    pub view_members: HashSet<LocalId>,
    /// True if the kernel does not write the argument block.
    pub reads_block: bool,
}

/// A kernel that is split into regions at its barriers.
pub struct Kernel {
    pub code: Rc<Module>,
    /// The index of the kernel among the functions of the module.
    pub index: usize,
    /// The kernel's code. The blocks that forks and cuts add come after the kernel's own blocks.
    pub function: Function,
    /// For each block, the block of LLVM's function that it comes from or copies; `None` for blocks that forks and cuts
    /// add without copying a block.
    pub origins: Vec<Option<usize>>,
    pub flow: Vec<Flow>,
    pub variables: Variables,
    /// The variables that are live at the beginning of each block.
    pub live: Vec<BTreeSet<LocalId>>,
    /// The branches that threads of a tile may take differently.
    pub divergent: Vec<bool>,
    /// Loads of memory that no thread writes.
    pub constant_loads: HashSet<LocalId>,
    /// For each address that lies within a tile_static variable: the variable.
    pub tile_addresses: HashMap<LocalId, GlobalId>,
    /// Blocks that possibly only some threads of a tile reach.
    pub divergent_blocks: BTreeSet<usize>,
    /// For each branch that threads may take differently, the blocks that possibly only some of the threads reach.
    pub areas: BTreeMap<usize, BTreeSet<usize>>,
    /// Branches after which a region ends (see `forks`).
    pub forks: BTreeMap<usize, Fork>,
    /// The values that differ between the threads of a tile.
    pub varying: HashSet<LocalId>,
    /// True if regions also end at places without a barrier (`cut_edge`).
    pub is_cut: bool,
    /// The block and index of the instruction that makes each value.
    definitions: Vec<Option<(usize, usize)>>,
    /// True if the kernel has no tiles. The native function then runs a row of threads, which differ only in x.
    row: bool,
}

/// The block and the variable of a branch after which a region ends (see `forks`).
#[derive(Clone, Copy)]
pub struct Fork {
    /// The block where threads continue if they did not all take the same path.
    pub block: usize,
    /// The variable that records which path a thread took.
    pub variable: LocalId,
}

impl Kernel {
    /// Analyses a kernel. The error names the construct that is not supported. `cut`: loops without barriers may be cut.
    pub fn new(code: &Rc<Module>, index: usize, surroundings: &Surroundings, cut: bool) -> Result<Self, String> {
        let mut function = code.functions[index].clone();
        if function.blocks.len() > MAX_BLOCKS {
            return Err("the kernel has too many blocks".into());
        }
        let mut definitions = vec![None; function.locals.len()];
        for (n, block) in function.blocks.iter().enumerate() {
            for (at, instruction) in block.instructions.iter().enumerate() {
                check(instruction)?;
                if let Some(result) = instruction.result {
                    definitions[result.0] = Some((n, at));
                }
            }
        }
        let flow: Vec<Flow> = function.blocks.iter_mut().map(|block| flow(code, block)).collect();
        let variables = variables(code, &function);
        let live = live(&function, &flow, &variables);
        let row =
            function.instructions().any(|i| DeviceFunction::called(code, &i.op) == Some(DeviceFunction::WorkgroupAuto));
        let mut kernel = Self {
            code: Rc::clone(code),
            index,
            origins: (0..flow.len()).map(Some).collect(),
            divergent: vec![false; flow.len()],
            function,
            flow,
            variables,
            live,
            constant_loads: HashSet::new(),
            tile_addresses: HashMap::new(),
            divergent_blocks: BTreeSet::new(),
            areas: BTreeMap::new(),
            forks: BTreeMap::new(),
            varying: HashSet::new(),
            is_cut: false,
            definitions,
            row,
        };
        kernel.find_constant_loads(surroundings);
        kernel.find_tile_addresses(&surroundings.shared);
        kernel.find_rematerialised();
        kernel.find_varying();
        if cut {
            kernel.cut_loops();
            if !kernel.row {
                kernel.cut_before_bounds();
            }
            kernel.find_live();
        }
        Ok(kernel)
    }

    pub fn name(&self) -> &str {
        &self.function.name
    }

    /// The number of instructions to compile for one level of processors.
    pub fn size(&self) -> usize {
        let size = |start: usize| LOOP_INSTRUCTIONS + self.instructions(&self.region(start)).count();
        self.starts().into_iter().map(size).sum()
    }

    /// The blocks at which regions begin.
    pub fn starts(&self) -> BTreeSet<usize> {
        let forks = self.forks.values().map(|fork| fork.block);
        self.flow.iter().filter_map(|f| f.barrier).chain(forks).chain([0]).collect()
    }

    /// The blocks of a region.
    pub fn region(&self, start: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            open.extend(self.flow[at].next.iter().filter(|next| seen.insert(**next)));
        }
        seen
    }

    /// The instructions of some blocks.
    pub fn instructions<'k>(&'k self, blocks: &'k BTreeSet<usize>) -> impl Iterator<Item = &'k Instruction> {
        blocks.iter().flat_map(|&n| &self.function.blocks[n].instructions)
    }

    /// The instruction that makes a value.
    pub fn definition(&self, value: LocalId) -> Option<&Instruction> {
        let (block, at) = self.definitions.get(value.0).copied().flatten()?;
        Some(&self.function.blocks[block].instructions[at])
    }

    /// The variable that a load reads.
    pub fn read(&self, load: &Instruction) -> Option<&Variable> {
        self.variables.get(&Access::of(load).filter(|access| access.value.is_none())?.address.local()?)
    }

    /// The value of a variable that is stored only once.
    pub fn single(variable: &Variable) -> Option<&Value> {
        match variable.stores.as_slice() {
            [store] if variable.plain => Some(&store.value),
            _ => None,
        }
    }

    /// Finds the values that differ between the threads of a tile, the branches that depend on these values, and the
    /// variables that are stored under these branches.
    fn find_varying(&mut self) {
        let post_dominator_sets = post_dominators(&self.flow);
        let mut varying: HashSet<LocalId> = HashSet::new();
        loop {
            let mut changed = false;
            for n in 0..self.function.blocks.len() {
                for i in 0..self.function.blocks[n].instructions.len() {
                    changed |= self.mark_varying(n, i, &mut varying, &post_dominator_sets);
                }
            }
            if !changed {
                self.varying = varying;
                return;
            }
        }
    }

    /// Marks what differs between threads: an instruction's result, the variable that the instruction stores to, or its
    /// branch. True if the mark is new.
    fn mark_varying(
        &mut self,
        n: usize,
        i: usize,
        varying: &mut HashSet<LocalId>,
        post_dominator_sets: &[BTreeSet<usize>],
    ) -> bool {
        let instruction = &self.function.blocks[n].instructions[i];
        if let Some(result) = instruction.result {
            return !varying.contains(&result) && self.varies(instruction, varying) && varying.insert(result);
        }
        if let Some(store) = Access::of(instruction) {
            let differs = store.value.and_then(Value::local).is_some_and(|value| varying.contains(&value));
            let name = store.address.local().filter(|_| differs);
            let variable = name.and_then(|name| self.variables.get_mut(&name)).filter(|v| v.plain && !v.varies);
            return variable.map(|variable| variable.varies = true).is_some();
        }
        let ends = self.flow[n].next.len() > 1 && i + 1 == self.function.blocks[n].instructions.len();
        if ends && !self.divergent[n] && locals(instruction).any(|used| varying.contains(&used)) {
            self.divergent[n] = true;
            self.taint(n, post_dominator_sets);
            return true;
        }
        false
    }

    /// The blocks that possibly only some threads reach after a branch, and the block where all threads meet again.
    fn divergent_area(
        &self,
        branch: usize,
        post_dominator_sets: &[BTreeSet<usize>],
    ) -> (BTreeSet<usize>, Option<usize>) {
        let area = self.reached(&self.flow[branch].next, branch, post_dominator_sets);
        let meeting = post_dominator_sets[branch].iter().copied().filter(|&n| n != branch);
        // Among the blocks that every path passes, the nearest one has the most post-dominators: all others come after it.
        (area, meeting.max_by_key(|&n| post_dominator_sets[n].len()))
    }

    /// The blocks that are reached before all threads that diverge at a branch have met again.
    fn reached(&self, from: &[usize], branch: usize, post_dominator_sets: &[BTreeSet<usize>]) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = from.to_vec();
        while let Some(at) = open.pop() {
            let meets = at != branch && post_dominator_sets[branch].contains(&at);
            if !meets && seen.insert(at) {
                open.extend(&self.flow[at].next);
            }
        }
        seen
    }

    /// Marks a variable if a block that only some threads reach stores to it, and if the variable is live where these
    /// threads meet others. Before they meet, threads on the same path have the same value.
    fn taint(&mut self, branch: usize, post_dominator_sets: &[BTreeSet<usize>]) {
        let (area, meeting) = self.divergent_area(branch, post_dominator_sets);
        let paths: Vec<BTreeSet<usize>> =
            self.flow[branch].next.iter().map(|&next| self.reached(&[next], branch, post_dominator_sets)).collect();
        let several = |n: &usize| paths.iter().filter(|path| path.contains(n)).count() > 1;
        let joins: Vec<usize> = area.iter().copied().filter(several).chain(meeting).collect();
        let ends: Vec<usize> = area.iter().filter_map(|&n| self.flow[n].barrier).collect();
        self.divergent_blocks.extend(&area);
        self.areas.insert(branch, area.clone());
        for (name, variable) in &mut self.variables {
            variable.varies |= variable.stores.iter().any(|store| area.contains(&store.block))
                && joins.iter().chain(&ends).any(|&n| self.live[n].contains(name));
        }
    }

    /// Cuts loops without barriers that all threads of a tile execute together, as if each iteration had a barrier. The loop over the
    /// threads, which LLVM vectorises, is then the inner loop.
    fn cut_loops(&mut self) {
        let mut loops_to_cut = Vec::new();
        for ((header, latch), body) in self.inner_loops() {
            let leaves = |n: &usize| self.flow[*n].next.iter().any(|next| !body.contains(next));
            let uniform = body.iter().filter(|n| leaves(n)).all(|&n| !self.divergent[n]);
            let simple = self.instructions(&body).all(|i| match i.op {
                Op::Call { .. } => is_harmless_call(&self.code, i),
                Op::CallIndirect { .. } | Op::CmpXchg { .. } | Op::Fence | Op::AtomicRmw { .. } => false,
                _ => true,
            });
            // True if each thread must keep a variable in memory from one iteration to the next.
            let keeps_variables = self.live[header]
                .iter()
                .any(|name| self.variables[name].varies && self.variables[name].rematerialised.is_none());
            let min_size = match keeps_variables {
                true if self.is_consecutive(&body) => MIN_CONSECUTIVE_CUT_SIZE,
                true => MIN_CUT_SIZE,
                false => 1,
            };
            if uniform && simple && (min_size..CUT_SIZE_LIMIT).contains(&self.instructions(&body).count()) {
                loops_to_cut.push((header, latch));
            }
        }
        // In a loop that only some threads reach, the other threads would have to be skipped one by one.
        loops_to_cut.retain(|&(header, latch)| self.ensure_together(header, latch));
        for (to, _) in loops_to_cut {
            self.cut_before(to);
        }
        self.find_live();
    }

    fn find_live(&mut self) {
        self.live = live(&self.function, &self.flow, &self.variables);
    }

    /// Ends regions before a block.
    pub fn cut_before(&mut self, block: usize) {
        for n in (0..self.flow.len()).filter(|&n| self.flow[n].next.contains(&block)).collect::<Vec<_>>() {
            self.cut_edge(n, block);
        }
    }

    /// Inserts a block on an edge, and ends the region there as a barrier does.
    pub fn cut_edge(&mut self, from: usize, to: usize) {
        self.is_cut = true;
        let new = self.add_block("cut", None, Vec::new(), Flow { next: Vec::new(), barrier: Some(to) });
        self.flow[from].next.iter_mut().filter(|next| **next == to).for_each(|next| *next = new);
    }

    /// Adds a block and returns its number. `origin`: the block of LLVM's function that it copies.
    pub fn add_block(
        &mut self,
        name: &str,
        origin: Option<usize>,
        instructions: Vec<Instruction>,
        flow: Flow,
    ) -> usize {
        self.function.blocks.push(Block { name: name.to_owned(), instructions });
        self.origins.push(origin);
        self.flow.push(flow);
        self.divergent.push(false);
        self.flow.len() - 1
    }

    /// The innermost loops that have one latch and no barriers. Each is given by its header, its latch and its blocks.
    fn inner_loops(&self) -> Vec<((usize, usize), BTreeSet<usize>)> {
        let edges = self.flow.iter().map(|flow| flow.next.iter().chain(&flow.barrier).copied().collect());
        let graph = ControlFlowGraph::new(edges.collect());
        let dominators = DominatorTree::of(&graph);
        let mut found: Vec<((usize, usize), BTreeSet<usize>)> = Vec::new();
        for header in 0..self.flow.len() {
            let is_latch = |n: &usize| self.flow[*n].next.contains(&header) && dominators.dominates(header, *n);
            let latches: BTreeSet<usize> = graph.predecessors[header].iter().copied().filter(is_latch).collect();
            if let [latch] = latches.into_iter().collect::<Vec<_>>()[..] {
                let body: BTreeSet<usize> = loops::blocks(&graph, header, latch).into_iter().collect();
                if body.iter().all(|&n| self.flow[n].barrier.is_none()) {
                    found.push(((header, latch), body));
                }
            }
        }
        let all: Vec<BTreeSet<usize>> = found.iter().map(|(_, body)| body.clone()).collect();
        found.retain(|(_, body)| !all.iter().any(|other| other != body && other.is_subset(body)));
        found
    }

    fn varies(&self, instruction: &Instruction, varying: &HashSet<LocalId>) -> bool {
        let differs = || locals(instruction).any(|used| varying.contains(&used));
        match &instruction.op {
            Op::Load { .. } => match self.read(instruction) {
                Some(variable) => !variable.plain || variable.varies,
                None => !instruction.result.is_some_and(|load| self.constant_loads.contains(&load)) || differs(),
            },
            Op::Call { .. } => match (position(&self.code, instruction), callee(&self.code, instruction)) {
                (Some((Position::Group, _)), _) => false,
                // Only x differs within a row.
                (Some((_, axis)), _) => !self.row || axis == Some(0),
                (_, Some(name)) if is_number_intrinsic(name) => differs(),
                _ => true,
            },
            Op::Binary { op, .. } if is_division(*op) => differs(),
            op if is_speculatable(op) => differs(),
            _ => true,
        }
    }

    /// The first blocks of the regions that may follow after a block; `None` is the end of the kernel.
    pub fn exits(&self, from: usize) -> BTreeSet<Option<usize>> {
        let ends = |at: &usize| self.flow[*at].barrier.is_some() || self.flow[*at].next.is_empty();
        self.region(from).into_iter().filter(ends).map(|at| self.flow[at].barrier).collect()
    }

    /// True if threads of a tile that begin at `start` may end at different barriers.
    pub fn may_diverge(&self, start: usize) -> bool {
        self.region(start).into_iter().any(|at| self.divergent[at] && self.exits(at).len() > 1)
    }
}

/// The error for an instruction that is not supported.
fn check(instruction: &Instruction) -> Result<(), String> {
    let is_one = |count: &Operand| count.unsigned() == Some(1);
    match &instruction.op {
        Op::Other { name } => Err(format!("the kernel uses {name}")),
        Op::Phi { .. } => Err("a phi is left in the kernel".into()),
        // A variable of unknown size cannot be laid out for the threads of a tile.
        Op::Alloca { count, .. } if !is_one(count) => Err("a local array has a length that is not constant".into()),
        _ => Ok(()),
    }
}

/// The successors of a block. Removes a barrier at its end.
fn flow(code: &Module, block: &mut Block) -> Flow {
    let next = targets(&block.instructions);
    let last = block.instructions.len().checked_sub(2);
    let barrier =
        |at: &usize| DeviceFunction::called(code, &block.instructions[*at].op) == Some(DeviceFunction::TileBarrier);
    let Some(at) = last.filter(barrier) else { return Flow { next, barrier: None } };
    block.instructions.remove(at);
    Flow { barrier: next.first().copied(), next: Vec::new() }
}
