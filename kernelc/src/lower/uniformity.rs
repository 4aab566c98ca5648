//! Which values and branches of a kernel are the same for all threads of a tile.
//!
//! Reads a kernel whose calls are inlined and whose control flow is still the user's: after `structurizecfg` it is not. Of each
//! value it knows whether it is uniform, or how it differs: for what depends on the thread's place in its tile alone, the value
//! of each thread (`facts`), so that a comparison is known to differ, or not to. Divergent are the thread's index, results of
//! atomics, and what is loaded through a divergent address. What is loaded through a uniform address is the same for all
//! threads if no thread writes it meanwhile, which would be a race ([`Level::Shared`] where the kernel writes that memory).
//!
//! A branch that is not uniform makes divergent what is executed between it and the block where all its ways meet again, its
//! immediate post-dominator; within a loop that some threads leave earlier, what they computed there differs behind it.

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

/// More threads than a tile has, and so many rounds are not needed: then nothing is said.
const MOST_THREADS: u64 = 1024;
const MOST_ROUNDS: usize = 64;

/// The uniformity of a kernel.
pub(super) struct Uniformity {
    facts: Vec<Fact>,
    /// Of the branch at the end of each block.
    branches: Vec<Level>,
    /// The branches that each block depends on and that are not uniform.
    causes: Vec<Vec<BlockId>>,
}

impl Uniformity {
    /// Of a kernel. `None` if it is not understood: it never ends, or the analysis does not.
    pub(super) fn of(module: &Module, function: &Function) -> Option<Self> {
        Analysis::new(module, function)?.run()
    }

    /// Of the branch at the end of a block.
    pub(super) fn branch(&self, block: BlockId) -> Level {
        self.branches[block.0]
    }

    /// The branches that decide whether a thread comes to a block and that are not uniform.
    pub(super) fn causes(&self, block: BlockId) -> &[BlockId] {
        &self.causes[block.0]
    }

    /// Of a value.
    pub(super) fn value(&self, local: LocalId) -> Level {
        self.facts[local.0].level()
    }
}

/// What a branch does to the blocks behind it.
struct Region {
    /// The blocks between it and where its ways meet.
    inside: Vec<usize>,
    /// The blocks at which two of its ways meet.
    joins: Vec<usize>,
}

/// Where a pointer comes from.
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
    /// Where all ways from a block meet.
    meets: Vec<Option<usize>>,
    /// The loops: their blocks.
    loops: Vec<HashSet<usize>>,
    definitions: Vec<Option<(usize, &'m Instruction)>>,
    /// The size of a tile, x first.
    tile: [u64; 3],
    threads: u64,
    facts: Vec<Fact>,
    branches: Vec<Level>,
    /// The most that is stored into each variable of a thread.
    stored: HashMap<LocalId, Level>,
    written: HashSet<Root>,
    /// By the branches: how much blocks diverge, how much the phis of a block, and which loops are left at different times.
    diverging: Vec<Level>,
    joining: Vec<Level>,
    left: Vec<Level>,
    regions: HashMap<usize, Region>,
}

impl<'m> Analysis<'m> {
    fn new(module: &'m Module, function: &'m Function) -> Option<Self> {
        let count = function.blocks.len();
        let graph = ControlFlowGraph::of(&function.blocks);
        // All returns lead to one exit.
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
        let meets = extended.post_dominators(count);
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
        let threads = tile.iter().copied().try_fold(1, u64::checked_mul).filter(|n| *n <= MOST_THREADS).unwrap_or(0);
        let mut facts = vec![Fact::Unseen; function.locals.len()];
        for fact in facts.iter_mut().take(function.parameters.len()) {
            *fact = Fact::Uniform(1);
        }
        let left = vec![Level::Uniform; loops.len()];
        let mut made = Self {
            module,
            function,
            graph,
            meets,
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
            left,
            regions: HashMap::new(),
        };
        made.written = made.writes();
        Some(made)
    }

    fn run(mut self) -> Option<Uniformity> {
        for _ in 0..MOST_ROUNDS {
            let values = self.values();
            let flow = self.flow();
            if !values && !flow {
                let causes = self.causes();
                return Some(Uniformity { facts: self.facts, branches: self.branches, causes });
            }
        }
        None
    }

    /// Looks at all instructions once; whether anything is new.
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

    /// Follows the branches; whether any is new.
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
        self.left = vec![Level::Uniform; self.loops.len()];
        for branch in 0..count {
            let level = self.branches[branch];
            if level < Level::Shared {
                continue;
            }
            let region = self.regions.entry(branch).or_insert_with(|| region(&self.graph, &self.meets, branch));
            for &block in &region.inside {
                self.diverging[block] = self.diverging[block].max(level);
            }
            for &block in &region.joins {
                self.joining[block] = self.joining[block].max(level);
            }
            for (inside, left) in self.loops.iter().zip(&mut self.left) {
                let leaves = self.graph.successors[branch].iter().any(|to| !inside.contains(to));
                if inside.contains(&branch) && leaves {
                    *left = (*left).max(level);
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

    /// What is known of an operand where it is used.
    fn operand(&self, block: usize, operand: &Operand) -> Fact {
        self.known(block, &operand.value, &operand.ty)
    }

    fn known(&self, block: usize, value: &Value, ty: &Type) -> Fact {
        match value {
            Value::Local(local) => {
                let fact = &self.facts[local.0];
                let Some((home, _)) = self.definitions[local.0] else { return fact.clone() };
                // Threads that left a loop at different times took different values along.
                let late = self
                    .loops
                    .iter()
                    .zip(&self.left)
                    .filter(|(inside, _)| inside.contains(&home) && !inside.contains(&block));
                match late.map(|(_, left)| *left).max() {
                    Some(level) if level > Level::Uniform && !matches!(fact, Fact::Constant(_) | Fact::Unseen) => {
                        Fact::Level(fact.level().min(Level::May).max(level.min(Level::May)))
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
                Fact::Level(Level::May)
            }
            Op::Call { callee, arguments, .. } => self.call(block, *callee, arguments),
            other => {
                let all = other.operands().into_iter().map(|value| self.known(block, value, &Type::Void));
                mixed(&all.collect::<Vec<_>>())
            }
        }
    }

    fn phi(&self, block: usize, ty: &Type, incoming: &[(Value, BlockId)]) -> Fact {
        let seen = incoming.iter().filter(|(_, from)| self.graph.predecessors[block].contains(&from.0));
        let facts: Vec<Fact> =
            seen.map(|(value, _)| self.known(block, value, ty)).filter(|fact| *fact != Fact::Unseen).collect();
        let Some(first) = facts.first() else { return Fact::Unseen };
        let level = self.joining[block];
        let same_value = incoming.iter().all(|(value, _)| *value == incoming[0].0);
        let same_constant = matches!(first, Fact::Constant(_)) && facts.iter().all(|fact| fact == first);
        if level > Level::Uniform && !same_value && !same_constant {
            let constants = facts.len() == incoming.len() && facts.iter().all(|fact| matches!(fact, Fact::Constant(_)));
            let worst = facts.iter().map(Fact::level).max().unwrap_or(level);
            return Fact::Level(match level {
                Level::Differs if constants => Level::Differs,
                Level::Shared => worst.min(Level::May).max(Level::Shared),
                _ => Level::May,
            });
        }
        facts.iter().skip(1).fold(first.clone(), |all, fact| joined(&all, fact))
    }

    fn load(&self, block: usize, pointer: &Operand, changes: bool) -> Fact {
        let address = self.operand(block, pointer);
        if address == Fact::Unseen {
            return Fact::Unseen;
        }
        let root = self.root(&pointer.value, 0);
        let divergent = address.level() > Level::Shared;
        let level = match root {
            Root::Private(variable) => {
                let stored = self.stored.get(&variable).copied().unwrap_or(Level::Uniform);
                // Different elements differ.
                if divergent { Level::May } else { stored.max(address.level()).min(Level::May) }
            }
            _ if divergent || changes => Level::May,
            Root::Arguments => Level::Uniform,
            Root::Global(global) if self.module.globals[global.0].constant => Level::Uniform,
            root if self.written.contains(&root) || self.written.contains(&Root::Unknown) => Level::Shared,
            Root::Unknown => Level::Shared,
            _ => address.level(),
        };
        if level == Level::Uniform { Fact::Uniform(1) } else { Fact::Level(level) }
    }

    /// Address arithmetic, in bytes.
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
                        let place = index.unsigned().and_then(|place| usize::try_from(place).ok());
                        let offset = place.and_then(|place| ty.field_offset(place)).and_then(|o| i64::try_from(o).ok());
                        ty = place.and_then(|place| fields.get(place).cloned()).unwrap_or(Type::Void);
                        offset.map_or(Fact::Level(Level::May), Fact::Constant)
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
            Some(DeviceFunction::Element) => return facts.first().cloned().unwrap_or(Fact::Level(Level::May)),
            _ => {}
        }
        if let ([left, right], Some(word)) = (facts.as_slice(), name.strip_prefix("llvm.")) {
            let predicate = match word.split('.').next() {
                Some("smin" | "umin") => Some(IntPredicate::Slt),
                Some("smax" | "umax") => Some(IntPredicate::Sgt),
                _ => None,
            };
            if let Some(predicate) = predicate {
                let first = compare(predicate, left, right, arguments.first().map_or(64, |a| bits(&a.ty)));
                return select(&first, left.clone(), right.clone());
            }
        }
        // What reads memory in other ways is not followed.
        if arguments.iter().any(|a| matches!(a.ty, Type::Pointer(_))) {
            return Fact::Level(Level::May);
        }
        mixed(&facts)
    }

    /// The thread's place in the tile, or in the whole.
    fn place(&self, dimension: Option<usize>, global: bool) -> Fact {
        let (Some(dimension), true) = (dimension.filter(|d| *d < 3), self.threads > 0) else {
            return Fact::Level(Level::May);
        };
        let before: u64 = self.tile[..dimension].iter().product();
        let size = self.tile[dimension];
        let values = (0..self.threads).map(|thread| i64::try_from(thread / before % size).unwrap_or(0)).collect();
        Fact::lanes(values, global.then_some(size))
    }

    /// Notes what is stored into variables of the thread; whether that is new.
    fn store(&mut self, block: usize, instruction: &Instruction) -> bool {
        let (to, mut level) = match &instruction.op {
            Op::Store { value, pointer, .. } => {
                let fact = self.operand(block, value);
                if fact == Fact::Unseen {
                    return false;
                }
                (pointer, fact.level().max(self.operand(block, pointer).level()))
            }
            // What calls do to memory that they are given; copies of uniform memory are uniform.
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
                    _ => Level::May,
                };
                (to, level)
            }
            _ => return false,
        };
        let Root::Private(variable) = self.root(&to.value, 0) else { return false };
        level = level.max(self.diverging[block]).min(Level::May);
        let before = self.stored.entry(variable).or_insert(Level::Uniform);
        let new = level > *before;
        *before = level.max(*before);
        new
    }

    /// The memory that the kernel writes, as far as that is not the thread's own.
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
                let others = incoming.iter().filter(|(value, _)| *value != Value::Local(local));
                let mut roots = others.map(|(value, _)| self.root(value, depth + 16));
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

/// What is between a branch and where its ways meet. A way ends at the branch too: there it is taken anew.
fn region(graph: &ControlFlowGraph, meets: &[Option<usize>], branch: usize) -> Region {
    let end = meets.get(branch).copied().flatten();
    let mut ways: HashMap<usize, usize> = HashMap::new();
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
            *ways.entry(block).or_default() += 1;
        }
    }
    let joins =
        ways.iter().filter(|(block, count)| **count > 1 || Some(**block) == end).map(|(block, _)| *block).collect();
    Region { inside: ways.into_keys().filter(|block| Some(*block) != end).collect(), joins }
}

/// The size of the tile, as the entry point says.
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
