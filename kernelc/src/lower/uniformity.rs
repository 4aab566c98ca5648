//! Finds the values and branches of a kernel that are the same for all threads of a tile.
//!
//! The analysis reads a kernel whose calls are inlined, before `structurizecfg` runs. It determines whether each value
//! is uniform and, if not, how the value differs. If a value depends only on the thread's position in its tile, the
//! analysis knows the value of each thread (`facts`), and can decide whether a comparison differs. Divergent values are
//! the thread's index, results of atomics, and values that are loaded through a divergent address. A value that is
//! loaded through a uniform address is the same for all threads unless a thread writes it in the meantime, which would
//! be a race ([`Level::Shared`] if the kernel writes that memory).
//!
//! A branch that is not uniform makes the blocks between it and its immediate post-dominator divergent. If some threads leave a loop
//! earlier than others, values that are computed in the loop differ after the loop.

use super::facts::{Fact, Lanes, Level, binary, cast, compare, joined, mixed, select, times, wrapped};
use super::pointer_sets::element_of;
use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops::natural_loops;
use crate::device_abi::{DeviceFunction, Position};
use crate::ir::{
    BinaryOp, BlockId, Constant, Function, FunctionId, GlobalId, Instruction, IntPredicate, LocalId, Module, Op,
    Operand, Type, Value,
};
use std::collections::{HashMap, HashSet};

/// The maximum number of threads in a tile. In larger tiles, the analysis does not know the threads' positions.
const MAX_THREADS: u64 = 1024;
/// The maximum number of iterations. If they do not suffice, there is no result.
const MAX_ROUNDS: usize = 64;

/// The uniformity of a kernel.
pub(super) struct Uniformity {
    facts: Vec<Fact>,
    /// The level of the branch at the end of each block.
    branches: Vec<Level>,
    /// For each block, the non-uniform branches that it depends on.
    causes: Vec<Vec<BlockId>>,
}

impl Uniformity {
    /// Analyses a kernel. `None` if the kernel never ends, or if the analysis takes too many iterations.
    pub(super) fn of(module: &Module, function: &Function) -> Option<Self> {
        Analysis::new(module, function)?.run()
    }

    /// The level of the branch at the end of a block.
    pub(super) fn branch(&self, block: BlockId) -> Level {
        self.branches[block.0]
    }

    /// The non-uniform branches that decide whether a thread reaches a block.
    pub(super) fn causes(&self, block: BlockId) -> &[BlockId] {
        &self.causes[block.0]
    }

    /// The level of a value.
    pub(super) fn value(&self, local: LocalId) -> Level {
        self.facts[local.0].level()
    }
}

/// The blocks that a branch affects.
struct Region {
    /// The blocks between the branch and the block where its paths meet.
    inside: Vec<usize>,
    /// The blocks at which two paths from the branch meet.
    joins: Vec<usize>,
}

/// The origin of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Root {
    Private(LocalId),
    Arguments,
    Memory(LocalId),
    Global(GlobalId),
    Unknown,
}

struct Analysis<'m> {
    module: &'m Module,
    function: &'m Function,
    graph: ControlFlowGraph,
    /// The immediate post-dominator of each block, where all its paths meet.
    immediate_post_dominators: Vec<Option<usize>>,
    /// The blocks of each loop.
    loops: Vec<HashSet<usize>>,
    definitions: Vec<Option<(usize, &'m Instruction)>>,
    /// The size of a tile, x first.
    tile: [u64; 3],
    threads: u64,
    facts: Vec<Fact>,
    branches: Vec<Level>,
    /// The highest level of the values that are stored into each variable of a thread.
    stored: HashMap<LocalId, Level>,
    /// The memory that the kernel writes.
    written: HashSet<Root>,
    /// The highest level of the branches that decide whether threads reach each block.
    diverging: Vec<Level>,
    /// The highest level of the branches whose paths meet at each block.
    joining: Vec<Level>,
    /// The highest level of the branches that leave each loop.
    exit_levels: Vec<Level>,
    /// The regions of the non-uniform branches.
    regions: HashMap<usize, Region>,
}

impl<'m> Analysis<'m> {
    fn new(module: &'m Module, function: &'m Function) -> Option<Self> {
        let count = function.blocks.len();
        let graph = ControlFlowGraph::of(&function.blocks);
        // `extended` has one more block, to which all returns lead.
        let mut extended = ControlFlowGraph::of(&function.blocks);
        extended.successors.push(Vec::new());
        extended.predecessors.push(Vec::new());
        for &block in &graph.order {
            if matches!(function.blocks[block].instructions.last().map(|i| &i.op), Some(Op::Ret { .. })) {
                extended.successors[block].push(count);
                extended.predecessors[count].push(block);
            }
        }
        if extended.predecessors[count].is_empty() {
            return None;
        }
        let immediate_post_dominators = extended.post_dominators(count);
        let loops: Vec<_> = natural_loops(&graph).into_iter().map(|one| one.blocks).collect();
        let mut definitions = vec![None; function.locals.len()];
        for (number, block) in function.blocks.iter().enumerate() {
            for instruction in &block.instructions {
                if let Some(result) = instruction.result {
                    definitions[result.0] = Some((number, instruction));
                }
            }
        }
        let tile = tile(module, function).unwrap_or([0; 3]);
        let threads = tile.iter().copied().try_fold(1, u64::checked_mul).filter(|n| *n <= MAX_THREADS).unwrap_or(0);
        let mut facts = vec![Fact::Unseen; function.locals.len()];
        for fact in facts.iter_mut().take(function.parameters.len()) {
            *fact = Fact::Uniform(1);
        }
        let exit_levels = vec![Level::Uniform; loops.len()];
        let mut initial_state = Self {
            module,
            function,
            graph,
            immediate_post_dominators,
            loops,
            definitions,
            tile,
            threads,
            facts,
            branches: vec![Level::Uniform; count],
            stored: HashMap::new(),
            written: HashSet::new(),
            diverging: vec![Level::Uniform; count],
            joining: vec![Level::Uniform; count],
            exit_levels,
            regions: HashMap::new(),
        };
        initial_state.written = initial_state.writes();
        Some(initial_state)
    }

    fn run(mut self) -> Option<Uniformity> {
        for _ in 0..MAX_ROUNDS {
            let values = self.values();
            let flow = self.flow();
            if !values && !flow {
                let causes = self.causes();
                return Some(Uniformity { facts: self.facts, branches: self.branches, causes });
            }
        }
        None
    }

    /// Visits all instructions once; true if any fact has changed.
    fn values(&mut self) -> bool {
        let mut changed = false;
        for at in 0..self.graph.order.len() {
            let block = self.graph.order[at];
            for instruction in &self.function.blocks[block].instructions {
                changed |= self.store(block, instruction);
                let Some(result) = instruction.result else { continue };
                let fact = self.fact(block, instruction);
                if self.facts[result.0] != fact {
                    self.facts[result.0] = fact;
                    changed = true;
                }
            }
        }
        changed
    }

    /// Updates the levels of branches and of the blocks that they affect; true if any branch has changed.
    fn flow(&mut self) -> bool {
        let mut branches = vec![Level::Uniform; self.function.blocks.len()];
        for &block in &self.graph.order {
            branches[block] = match self.function.blocks[block].instructions.last().map(|last| &last.op) {
                Some(Op::CondBr { condition, yes, no }) if yes != no => self.operand(block, condition).level(),
                Some(Op::Switch { value, cases, .. }) => match self.operand(block, value) {
                    Fact::Lanes(Lanes { values, plus: None }) => {
                        let case = |v: &i64| cases.iter().find(|(c, _)| *c == i128::from(*v)).map(|(_, to)| *to);
                        let same = values.windows(2).all(|two| case(&two[0]) == case(&two[1]));
                        if same { Level::Uniform } else { Level::Differs }
                    }
                    other => other.level(),
                },
                _ => Level::Uniform,
            };
        }
        if branches == self.branches {
            return false;
        }
        self.branches = branches;
        let count = self.function.blocks.len();
        self.diverging = vec![Level::Uniform; count];
        self.joining = vec![Level::Uniform; count];
        self.exit_levels = vec![Level::Uniform; self.loops.len()];
        for branch in 0..count {
            let level = self.branches[branch];
            if level < Level::Shared {
                continue;
            }
            let region = self
                .regions
                .entry(branch)
                .or_insert_with(|| region(&self.graph, &self.immediate_post_dominators, branch));
            for &block in &region.inside {
                self.diverging[block] = self.diverging[block].max(level);
            }
            for &block in &region.joins {
                self.joining[block] = self.joining[block].max(level);
            }
            for (inside, exit_level) in self.loops.iter().zip(&mut self.exit_levels) {
                let leaves = self.graph.successors[branch].iter().any(|to| !inside.contains(to));
                if inside.contains(&branch) && leaves {
                    *exit_level = (*exit_level).max(level);
                }
            }
        }
        true
    }

    fn causes(&self) -> Vec<Vec<BlockId>> {
        let mut causes = vec![Vec::new(); self.function.blocks.len()];
        let mut branches: Vec<&usize> = self.regions.keys().collect();
        branches.sort();
        for &branch in branches {
            if self.branches[branch] > Level::Uniform {
                for &block in &self.regions[&branch].inside {
                    causes[block].push(BlockId(branch));
                }
            }
        }
        causes
    }

    /// The fact about an operand in the block that uses it.
    fn operand(&self, block: usize, operand: &Operand) -> Fact {
        self.fact_at(block, &operand.value, &operand.ty)
    }

    fn fact_at(&self, block: usize, value: &Value, ty: &Type) -> Fact {
        match value {
            Value::Local(local) => {
                let fact = &self.facts[local.0];
                let Some((defining_block, _)) = self.definitions[local.0] else { return fact.clone() };
                // Threads that left a loop in different iterations have different values after it.
                let exited_loops = self
                    .loops
                    .iter()
                    .zip(&self.exit_levels)
                    .filter(|(inside, _)| inside.contains(&defining_block) && !inside.contains(&block));
                match exited_loops.map(|(_, exit_level)| *exit_level).max() {
                    Some(level) if level > Level::Uniform && !matches!(fact, Fact::Constant(_) | Fact::Unseen) => {
                        Fact::Level(fact.level().min(Level::MayDiffer).max(level.min(Level::MayDiffer)))
                    }
                    _ => fact.clone(),
                }
            }
            Value::Constant(Constant::Int(number)) => Fact::Constant(wrapped(*number, bits(ty))),
            Value::Constant(Constant::Zero) if matches!(ty, Type::Int(_)) => Fact::Constant(0),
            Value::Constant(_) => Fact::Uniform(1),
        }
    }

    fn fact(&self, block: usize, instruction: &Instruction) -> Fact {
        let get = |operand: &Operand| self.operand(block, operand);
        match &instruction.op {
            Op::Binary { op, left, right, flags } => {
                binary(*op, flags.disjoint, &get(left), &get(right), bits(&left.ty))
            }
            Op::ICmp { predicate, left, right } => compare(*predicate, &get(left), &get(right), bits(&left.ty)),
            Op::Cast { op, value, to } => cast(*op, &get(value), bits(&value.ty), bits(to)),
            Op::Freeze { value } => get(value),
            Op::Phi { ty, incoming } => self.phi(block, ty, incoming),
            Op::Select { condition, yes, no } => select(&get(condition), get(yes), get(no)),
            Op::Load { pointer, volatile, atomic, .. } => self.load(block, pointer, *volatile || *atomic),
            Op::Gep { source, base, indices, .. } => self.address(block, source, base, indices),
            Op::Alloca { .. } => Fact::Uniform(1),
            Op::AtomicRmw { .. } | Op::CmpXchg { .. } | Op::CallIndirect { .. } | Op::Other { .. } => {
                Fact::Level(Level::MayDiffer)
            }
            Op::Call { callee, arguments, .. } => self.call(block, *callee, arguments),
            other => {
                let all = other.operands().into_iter().map(|value| self.fact_at(block, value, &Type::Void));
                mixed(&all.collect::<Vec<_>>())
            }
        }
    }

    fn phi(&self, block: usize, ty: &Type, incoming: &[(Value, BlockId)]) -> Fact {
        let seen = incoming.iter().filter(|(_, from)| self.graph.predecessors[block].contains(&from.0));
        let facts: Vec<Fact> =
            seen.map(|(value, _)| self.fact_at(block, value, ty)).filter(|fact| *fact != Fact::Unseen).collect();
        let Some(first) = facts.first() else { return Fact::Unseen };
        let level = self.joining[block];
        let same_value = incoming.iter().all(|(value, _)| *value == incoming[0].0);
        let same_constant = matches!(first, Fact::Constant(_)) && facts.iter().all(|fact| fact == first);
        if level > Level::Uniform && !same_value && !same_constant {
            let constants = facts.len() == incoming.len() && facts.iter().all(|fact| matches!(fact, Fact::Constant(_)));
            let highest_level = facts.iter().map(Fact::level).max().unwrap_or(level);
            return Fact::Level(match level {
                Level::Differs if constants => Level::Differs,
                Level::Shared => highest_level.min(Level::MayDiffer).max(Level::Shared),
                _ => Level::MayDiffer,
            });
        }
        facts.iter().skip(1).fold(first.clone(), |all, fact| joined(&all, fact))
    }

    fn load(&self, block: usize, pointer: &Operand, may_change: bool) -> Fact {
        let address = self.operand(block, pointer);
        if address == Fact::Unseen {
            return Fact::Unseen;
        }
        let root = self.root(&pointer.value, 0);
        let divergent = address.level() > Level::Shared;
        let level = match root {
            Root::Private(variable) => {
                let stored = self.stored.get(&variable).copied().unwrap_or(Level::Uniform);
                // Different elements may have different values.
                if divergent { Level::MayDiffer } else { stored.max(address.level()).min(Level::MayDiffer) }
            }
            _ if divergent || may_change => Level::MayDiffer,
            Root::Arguments => Level::Uniform,
            Root::Global(global) if self.module.globals[global.0].constant => Level::Uniform,
            root if self.written.contains(&root) || self.written.contains(&Root::Unknown) => Level::Shared,
            Root::Unknown => Level::Shared,
            _ => address.level(),
        };
        if level == Level::Uniform { Fact::Uniform(1) } else { Fact::Level(level) }
    }

    /// The fact about the result of address arithmetic.
    fn address(&self, block: usize, source: &Type, base: &Operand, indices: &[Operand]) -> Fact {
        let mut sum = self.operand(block, base);
        let mut ty = source.clone();
        for (n, index) in indices.iter().enumerate() {
            let fact = self.operand(block, index);
            let offset = if n == 0 {
                times(&fact, ty.size())
            } else {
                match ty.clone() {
                    Type::Array(_, element) => {
                        ty = (*element).clone();
                        times(&fact, ty.size())
                    }
                    Type::Struct { fields, .. } => {
                        let field = index.unsigned().and_then(|field| usize::try_from(field).ok());
                        let offset = field.and_then(|field| ty.field_offset(field)).and_then(|o| i64::try_from(o).ok());
                        ty = field.and_then(|field| fields.get(field).cloned()).unwrap_or(Type::Void);
                        offset.map_or(Fact::Level(Level::MayDiffer), Fact::Constant)
                    }
                    _ => mixed(&[fact]),
                }
            };
            sum = binary(BinaryOp::Add, false, &sum, &offset, 64);
        }
        sum
    }

    fn call(&self, block: usize, callee: FunctionId, arguments: &[Operand]) -> Fact {
        let name = self.module.functions[callee.0].name.as_str();
        let facts: Vec<Fact> = arguments.iter().map(|a| self.operand(block, a)).collect();
        let dimension = arguments.first().and_then(Operand::unsigned).and_then(|d| usize::try_from(d).ok());
        match DeviceFunction::of(name) {
            Some(DeviceFunction::Position(Position::Local)) => return self.place(dimension, false),
            Some(DeviceFunction::Position(Position::Global)) => return self.place(dimension, true),
            Some(DeviceFunction::Position(Position::Group)) => return Fact::Uniform(1),
            Some(DeviceFunction::Element) => return facts.first().cloned().unwrap_or(Fact::Level(Level::MayDiffer)),
            _ => {}
        }
        if let ([left, right], Some(word)) = (facts.as_slice(), name.strip_prefix("llvm.")) {
            let predicate = match word.split('.').next() {
                Some("smin") => Some(IntPredicate::Slt),
                Some("umin") => Some(IntPredicate::Ult),
                Some("smax") => Some(IntPredicate::Sgt),
                Some("umax") => Some(IntPredicate::Ugt),
                _ => None,
            };
            if let Some(predicate) = predicate {
                let first = compare(predicate, left, right, arguments.first().map_or(64, |a| bits(&a.ty)));
                return select(&first, left.clone(), right.clone());
            }
        }
        // The analysis does not follow other calls that may read memory.
        if arguments.iter().any(|a| matches!(a.ty, Type::Pointer(_))) {
            return Fact::Level(Level::MayDiffer);
        }
        mixed(&facts)
    }

    /// The fact about the thread's position in the tile, or in the whole domain.
    fn place(&self, dimension: Option<usize>, global: bool) -> Fact {
        let (Some(dimension), true) = (dimension.filter(|d| *d < 3), self.threads > 0) else {
            return Fact::Level(Level::MayDiffer);
        };
        let before: u64 = self.tile[..dimension].iter().product();
        let size = self.tile[dimension];
        let values = (0..self.threads).map(|thread| i64::try_from(thread / before % size).unwrap_or(0)).collect();
        Fact::lanes(values, global.then_some(size))
    }

    /// Records the level of a value that is stored into a variable of the thread; true if the variable's level has changed.
    fn store(&mut self, block: usize, instruction: &Instruction) -> bool {
        let (to, mut level) = match &instruction.op {
            Op::Store { value, pointer, .. } => {
                let fact = self.operand(block, value);
                if fact == Fact::Unseen {
                    return false;
                }
                (pointer, fact.level().max(self.operand(block, pointer).level()))
            }
            // A call may write the memory at its first argument. A copy of uniform memory is uniform.
            Op::Call { callee, arguments, .. } => {
                let name = self.module.functions[callee.0].name.as_str();
                let Some(to) = arguments.first().filter(|a| matches!(a.ty, Type::Pointer(_))) else { return false };
                let is_pure = DeviceFunction::of(name).is_some_and(DeviceFunction::is_pure);
                if is_pure || name.starts_with("llvm.lifetime") || name.starts_with("llvm.invariant") {
                    return false;
                }
                let level = match arguments.get(1) {
                    Some(from) if name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove") => {
                        self.load(block, from, false).level()
                    }
                    Some(value) if name.starts_with("llvm.memset") => self.operand(block, value).level(),
                    _ => Level::MayDiffer,
                };
                (to, level)
            }
            _ => return false,
        };
        let Root::Private(variable) = self.root(&to.value, 0) else { return false };
        level = level.max(self.diverging[block]).min(Level::MayDiffer);
        let before = self.stored.entry(variable).or_insert(Level::Uniform);
        let new = level > *before;
        *before = level.max(*before);
        new
    }

    /// The memory that the kernel writes.
    fn writes(&self) -> HashSet<Root> {
        let mut all = HashSet::new();
        for instruction in self.function.instructions() {
            match &instruction.op {
                Op::Store { pointer, .. } | Op::AtomicRmw { pointer, .. } | Op::CmpXchg { pointer, .. } => {
                    all.insert(self.root(&pointer.value, 0));
                }
                Op::Call { callee, arguments, .. } if self.module.functions[callee.0].name.starts_with("llvm.mem") => {
                    all.extend(arguments.first().map(|to| self.root(&to.value, 0)));
                }
                _ => {}
            }
        }
        all
    }

    fn root(&self, pointer: &Value, depth: u32) -> Root {
        let local = match pointer {
            Value::Constant(constant) => return root_of_constant(constant, depth),
            Value::Local(local) => *local,
        };
        let Some((_, instruction)) = self.definitions[local.0] else { return Root::Arguments };
        match &instruction.op {
            Op::Alloca { .. } => Root::Private(local),
            Op::Gep { base, .. } if depth < 64 => self.root(&base.value, depth + 1),
            Op::Cast { value, .. } | Op::Freeze { value } if depth < 64 => self.root(&value.value, depth + 1),
            Op::Phi { incoming, .. } if depth < 6 => {
                let other_values = incoming.iter().filter(|(value, _)| *value != Value::Local(local));
                let mut roots = other_values.map(|(value, _)| self.root(value, depth + 16));
                let first = roots.next().unwrap_or(Root::Unknown);
                if roots.all(|root| root == first || root == Root::Unknown) { first } else { Root::Unknown }
            }
            Op::Load { .. } => Root::Memory(local),
            op @ Op::Call { .. } if depth < 64 => {
                element_of(self.module, op).map_or(Root::Unknown, |element| self.root(&element.value, depth + 1))
            }
            _ => Root::Unknown,
        }
    }
}

fn root_of_constant(constant: &Constant, depth: u32) -> Root {
    match constant {
        Constant::Global(global) => Root::Global(*global),
        Constant::Expression(op) if depth < 64 => match &**op {
            Op::Gep { base: Operand { value: Value::Constant(inner), .. }, .. }
            | Op::Cast { value: Operand { value: Value::Constant(inner), .. }, .. } => {
                root_of_constant(inner, depth + 1)
            }
            _ => Root::Unknown,
        },
        _ => Root::Unknown,
    }
}

/// The blocks between a branch and the block where its paths meet. A path that returns to the branch ends there, because the branch is then
/// evaluated again.
fn region(graph: &ControlFlowGraph, immediate_post_dominators: &[Option<usize>], branch: usize) -> Region {
    let end = immediate_post_dominators.get(branch).copied().flatten();
    let mut path_counts: HashMap<usize, usize> = HashMap::new();
    for &first in &graph.successors[branch] {
        let mut seen = HashSet::new();
        let mut stack = vec![first];
        while let Some(block) = stack.pop() {
            if !seen.insert(block) || Some(block) == end || block == branch {
                continue;
            }
            stack.extend(&graph.successors[block]);
        }
        for block in seen {
            *path_counts.entry(block).or_default() += 1;
        }
    }
    let joins = path_counts
        .iter()
        .filter(|(block, count)| **count > 1 || Some(**block) == end)
        .map(|(block, _)| *block)
        .collect();
    Region { inside: path_counts.into_keys().filter(|block| Some(*block) != end).collect(), joins }
}

/// The size of the tile, which the entry point declares.
fn tile(module: &Module, function: &Function) -> Option<[u64; 3]> {
    function.instructions().find_map(|instruction| match &instruction.op {
        op @ Op::Call { arguments, .. }
            if DeviceFunction::called(module, op) == Some(DeviceFunction::WorkgroupSize) =>
        {
            let size = |n: usize| arguments.get(n).and_then(Operand::unsigned).filter(|size| *size > 0);
            Some([size(0)?, size(1)?, size(2)?])
        }
        _ => None,
    })
}

fn bits(ty: &Type) -> u32 {
    match ty {
        Type::Int(bits) => *bits,
        _ => 64,
    }
}

#[cfg(test)]
#[path = "uniformity_tests.rs"]
mod tests;
