//! What is known of a kernel before it is cut at its barriers: its regions, the variables that live across barriers, and which of
//! them are the same for all threads of a tile.

use super::calls::{callee, is_division, is_harmless_call, is_number_intrinsic, is_simple, locals, position};
use super::variables::{Access, Flow, Variable, Variables, behind_all, live, targets, variables};
use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::analysis::loops;
use crate::device_abi::{DeviceFunction, Position};
use crate::ir::{Block, Function, GlobalId, Instruction, LocalId, Module, Op, Operand, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// More blocks than this are not cut: sets of blocks are kept for each block.
pub(super) const MOST_BLOCKS: usize = 4000;

/// Loops of fewer instructions lose more by keeping their variables in memory, and those of more are not made faster.
const CUT_FROM: usize = 24;
/// The same of loops that threads side by side go through memory side by side in.
const CUT_FROM_SIDE_BY_SIDE: usize = 6;
const CUT_TO: usize = 400;

/// The instructions that a region takes besides its own.
const A_LOOP: usize = 48;

/// What is known of a module's memory.
pub struct Surroundings {
    /// The variables that are tile_static.
    pub shared: BTreeSet<GlobalId>,
    /// Of the kernel: loads from views' and arrays' own members.
    pub view_members: HashSet<LocalId>,
    /// The kernel only reads the argument block.
    pub reads_block: bool,
}

/// A kernel cut at its barriers.
pub struct Kernel {
    pub code: Rc<Module>,
    /// Its place among the functions of the module.
    pub index: usize,
    /// Its code, with the blocks of forks and cuts behind its own.
    pub function: Function,
    /// The block of LLVM's function that a block is, or is a copy of; forks and cuts are none.
    pub origins: Vec<Option<usize>>,
    pub flow: Vec<Flow>,
    pub variables: Variables,
    /// The variables whose values are needed at the begin of each block.
    pub live: Vec<BTreeSet<LocalId>>,
    /// The branches that threads of a tile may take differently.
    pub divergent: Vec<bool>,
    /// Loads of what no thread writes.
    pub constant_loads: HashSet<LocalId>,
    /// Addresses within tile_static variables, with the variable.
    pub tile_addresses: HashMap<LocalId, GlobalId>,
    /// Blocks that only some threads of a tile may come by.
    pub parted: BTreeSet<usize>,
    /// Of each branch that threads may take differently, the blocks that only some may come by.
    pub areas: BTreeMap<usize, BTreeSet<usize>>,
    /// Branches behind which a region ends.
    pub forks: BTreeMap<usize, Fork>,
    /// The values that differ between the threads of a tile.
    pub varying: HashSet<LocalId>,
    /// Loops without barriers are cut.
    pub is_cut: bool,
    /// The block and the place of the instruction that makes each value.
    places: Vec<Option<(usize, usize)>>,
    /// It has no tiles: its threads are of one row.
    row: bool,
}

/// Where a region ends behind a branch.
#[derive(Clone, Copy)]
pub struct Fork {
    /// The block where threads go on that did not all take the same way.
    pub block: usize,
    /// The variable that says which way a thread took.
    pub variable: LocalId,
}

impl Kernel {
    /// Looks at a kernel; an error says what of it is not understood. `cut`: loops without barriers may be cut.
    pub fn new(code: &Rc<Module>, index: usize, around: &Surroundings, cut: bool) -> Result<Self, String> {
        let mut function = code.functions[index].clone();
        if function.blocks.len() > MOST_BLOCKS {
            return Err("it has too many blocks".into());
        }
        let mut places = vec![None; function.locals.len()];
        for (n, block) in function.blocks.iter().enumerate() {
            for (at, one) in block.instructions.iter().enumerate() {
                check(one)?;
                if let Some(result) = one.result {
                    places[result.0] = Some((n, at));
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
            parted: BTreeSet::new(),
            areas: BTreeMap::new(),
            forks: BTreeMap::new(),
            varying: HashSet::new(),
            is_cut: false,
            places,
            row,
        };
        kernel.find_constant_loads(around);
        kernel.find_tile_addresses(&around.shared);
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

    /// How many instructions there are to compile for one level.
    pub fn size(&self) -> usize {
        let size = |start: usize| A_LOOP + self.instructions(&self.region(start)).count();
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
    pub fn made(&self, value: LocalId) -> Option<&Instruction> {
        let (block, at) = self.places.get(value.0).copied().flatten()?;
        Some(&self.function.blocks[block].instructions[at])
    }

    /// The variable that a load reads.
    pub fn read(&self, load: &Instruction) -> Option<&Variable> {
        self.variables.get(&Access::of(load).filter(|access| access.value.is_none())?.address.local()?)
    }

    /// The one value that a variable ever has.
    pub fn single(variable: &Variable) -> Option<&Value> {
        match variable.stores.as_slice() {
            [store] if variable.plain => Some(&store.value),
            _ => None,
        }
    }

    /// Finds what differs between the threads of a tile: values, then branches on them, then what is stored under these.
    fn find_varying(&mut self) {
        let later = behind_all(&self.flow);
        let mut varying: HashSet<LocalId> = HashSet::new();
        loop {
            let mut changed = false;
            for n in 0..self.function.blocks.len() {
                for i in 0..self.function.blocks[n].instructions.len() {
                    changed |= self.tell(n, i, &mut varying, &later);
                }
            }
            if !changed {
                self.varying = varying;
                return;
            }
        }
    }

    /// Tells of one instruction whether its result, the variable that it stores to, or the way behind it differs.
    fn tell(&mut self, n: usize, i: usize, varying: &mut HashSet<LocalId>, later: &[BTreeSet<usize>]) -> bool {
        let one = &self.function.blocks[n].instructions[i];
        if let Some(result) = one.result {
            return !varying.contains(&result) && self.varies(one, varying) && varying.insert(result);
        }
        if let Some(store) = Access::of(one) {
            let differs = store.value.and_then(Value::local).is_some_and(|value| varying.contains(&value));
            let name = store.address.local().filter(|_| differs);
            let variable = name.and_then(|name| self.variables.get_mut(&name)).filter(|v| v.plain && !v.varies);
            return variable.map(|variable| variable.varies = true).is_some();
        }
        let ends = self.flow[n].next.len() > 1 && i + 1 == self.function.blocks[n].instructions.len();
        if ends && !self.divergent[n] && locals(one).any(|used| varying.contains(&used)) {
            self.divergent[n] = true;
            self.taint(n, later);
            return true;
        }
        false
    }

    /// The blocks that only some threads may come by after a branch, and the one where all meet again.
    fn parts(&self, branch: usize, later: &[BTreeSet<usize>]) -> (BTreeSet<usize>, Option<usize>) {
        let area = self.reached(&self.flow[branch].next, branch, later);
        let meeting = later[branch].iter().copied().filter(|&n| n != branch);
        // All others that every way passes come behind it.
        (area, meeting.max_by_key(|&n| later[n].len()))
    }

    /// The blocks reached before all threads that part at a branch have met again.
    fn reached(&self, from: &[usize], branch: usize, later: &[BTreeSet<usize>]) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = from.to_vec();
        while let Some(at) = open.pop() {
            let meets = at != branch && later[branch].contains(&at);
            if !meets && seen.insert(at) {
                open.extend(&self.flow[at].next);
            }
        }
        seen
    }

    /// Variables stored where only some threads come by, and read where these meet others. Until then threads that are
    /// together have the same value of them.
    fn taint(&mut self, branch: usize, later: &[BTreeSet<usize>]) {
        let (area, meeting) = self.parts(branch, later);
        let ways: Vec<BTreeSet<usize>> =
            self.flow[branch].next.iter().map(|&next| self.reached(&[next], branch, later)).collect();
        let several = |n: &usize| ways.iter().filter(|way| way.contains(n)).count() > 1;
        let joins: Vec<usize> = area.iter().copied().filter(several).chain(meeting).collect();
        let ends: Vec<usize> = area.iter().filter_map(|&n| self.flow[n].barrier).collect();
        self.parted.extend(&area);
        self.areas.insert(branch, area.clone());
        for (name, variable) in &mut self.variables {
            variable.varies |= variable.stores.iter().any(|store| area.contains(&store.block))
                && joins.iter().chain(&ends).any(|&n| self.live[n].contains(name));
        }
    }

    /// Loops without barriers that all threads of a tile go through together are cut as if there were one in each iteration: the
    /// loop over the threads, which becomes vector instructions, is then the inner one.
    fn cut_loops(&mut self) {
        let mut wanted = Vec::new();
        for ((header, latch), body) in self.inner_loops() {
            let leaves = |n: &usize| self.flow[*n].next.iter().any(|next| !body.contains(next));
            let uniform = body.iter().filter(|n| leaves(n)).all(|&n| !self.divergent[n]);
            let simple = self.instructions(&body).all(|i| match i.op {
                Op::Call { .. } => is_harmless_call(&self.code, i),
                Op::CallIndirect { .. } | Op::CmpXchg { .. } | Op::Fence | Op::AtomicRmw { .. } => false,
                _ => true,
            });
            // What each thread would have to keep from one iteration to the next.
            let kept = self.live[header]
                .iter()
                .any(|name| self.variables[name].varies && self.variables[name].rematerialised.is_none());
            let least = match kept {
                true if self.is_side_by_side(&body) => CUT_FROM_SIDE_BY_SIDE,
                true => CUT_FROM,
                false => 1,
            };
            if uniform && simple && (least..CUT_TO).contains(&self.instructions(&body).count()) {
                wanted.push((header, latch));
            }
        }
        // Where only some threads come, the others would have to be left out one by one.
        wanted.retain(|&(header, latch)| self.is_together(header, latch));
        for (to, _) in wanted {
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

    /// Puts a block between two that a barrier seems to end.
    pub fn cut_edge(&mut self, from: usize, to: usize) {
        self.is_cut = true;
        let new = self.add_block("cut", None, Vec::new(), Flow { next: Vec::new(), barrier: Some(to) });
        self.flow[from].next.iter_mut().filter(|next| **next == to).for_each(|next| *next = new);
    }

    /// Adds a block, a copy of that of LLVM's function, and gives its number.
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

    /// The innermost loops without barriers that have one latch, by header and latch, with their blocks.
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

    fn varies(&self, one: &Instruction, varying: &HashSet<LocalId>) -> bool {
        let differs = || locals(one).any(|used| varying.contains(&used));
        match &one.op {
            Op::Load { .. } => match self.read(one) {
                Some(variable) => !variable.plain || variable.varies,
                None => !one.result.is_some_and(|load| self.constant_loads.contains(&load)) || differs(),
            },
            Op::Call { .. } => match (position(&self.code, one), callee(&self.code, one)) {
                (Some((Position::Group, _)), _) => false,
                // Only x differs within a row.
                (Some((_, axis)), _) => !self.row || axis == Some(0),
                (_, Some(name)) if is_number_intrinsic(name) => differs(),
                _ => true,
            },
            Op::Binary { op, .. } if is_division(*op) => differs(),
            op if is_simple(op) => differs(),
            _ => true,
        }
    }

    /// The regions' first blocks that a block's way may end at; `None` is the kernel's end.
    pub fn exits(&self, from: usize) -> BTreeSet<Option<usize>> {
        let ends = |at: &usize| self.flow[*at].barrier.is_some() || self.flow[*at].next.is_empty();
        self.region(from).into_iter().filter(ends).map(|at| self.flow[at].barrier).collect()
    }

    /// Threads of a tile that begin at `start` may end at different barriers, as far as is known.
    pub fn may_part(&self, start: usize) -> bool {
        self.region(start).into_iter().any(|at| self.divergent[at] && self.exits(at).len() > 1)
    }
}

/// What is not understood of an instruction.
fn check(one: &Instruction) -> Result<(), String> {
    let is_one = |count: &Operand| count.unsigned() == Some(1);
    match &one.op {
        Op::Other { name } => Err(format!("it has {name}")),
        Op::Phi { .. } => Err("a phi is left".into()),
        // It has no place among a tile's threads.
        Op::Alloca { count, .. } if !is_one(count) => Err("a variable is an array of its own length".into()),
        _ => Ok(()),
    }
}

/// Where a block goes to. A barrier at its end is taken out.
fn flow(code: &Module, block: &mut Block) -> Flow {
    let next = targets(&block.instructions);
    let last = block.instructions.len().checked_sub(2);
    let barrier =
        |at: &usize| DeviceFunction::called(code, &block.instructions[*at].op) == Some(DeviceFunction::TileBarrier);
    let Some(at) = last.filter(barrier) else { return Flow { next, barrier: None } };
    block.instructions.remove(at);
    Flow { barrier: next.first().copied(), next: Vec::new() }
}
