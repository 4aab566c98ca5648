//! How often LLVM unrolled the loops of kernels for devices, and why not oftener.
//!
//! The passes run once more over a copy with numbered locations, and LLVM says what it unrolls. Why it leaves a loop is not in its remarks, so it unrolls that copy
//! with other limits too: what it then says is the reason. If the copy does not become the kernel's code, nothing is said of the kernel's loops.

use super::keys::{self, Key, Kind, Told};
use super::remark::{Remark, is_library, users};
use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops::natural_loops;
use crate::device_abi::DeviceFunction;
use crate::ir::{self, Function, Op};
use crate::llvm::Module;
use crate::passes::{spin_marks, unreachable_returns, unroll_large};
use crate::pipelines::{self, Optimised, Unrolling};
use std::collections::{BTreeMap, BTreeSet};

/// Why nothing is said of a function.
pub const OTHER_CODE: &str = "the copy that LLVM reports on became other code";

/// How modules were unrolled.
#[derive(Clone, Copy)]
pub struct Way {
    pub unrolling: Unrolling,
    pub large: bool,
    /// Loops that wait for other threads are marked.
    pub has_spin_loops: bool,
}

/// What LLVM made of a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Done {
    Completely(u32),
    By { times: u32, known: bool },
    Peeled(u32),
}

impl Done {
    /// Of a remark of LLVM.
    fn of(text: &str) -> Option<Self> {
        let number = |text: &str| text.split(' ').next().and_then(|word| word.parse().ok());
        if let Some(rest) = text.strip_prefix("completely unrolled loop with ") {
            return number(rest).map(Self::Completely);
        }
        if let Some(rest) = text.strip_prefix("unrolled loop by a factor of ") {
            return Some(Self::By { times: number(rest)?, known: !rest.ends_with("with run-time trip count") });
        }
        text.strip_prefix("peeled loop by ").and_then(number).map(Self::Peeled)
    }

    fn text(self) -> String {
        match self {
            Self::Completely(times) => format!("loop unrolled completely: {times} iterations"),
            Self::By { times, known: true } => format!("loop unrolled by {times}"),
            Self::By { times, known: false } => {
                format!("loop unrolled by {times}: its trip count is known only at run time")
            }
            Self::Peeled(times) => format!("{times} iterations of the loop peeled"),
        }
    }
}

/// The remarks on loops of the kernels of a module that is prepared for LLVM's passes, by the names of the kernels. `code` is what the passes
/// made of it.
pub fn unrolled(prepared: &Module, way: Way, code: &ir::Module) -> Result<BTreeMap<String, Vec<Remark>>, String> {
    let mut module = prepared.clone();
    module.run(&pipelines::inlined(way.large))?;
    let keys = keys::number(&mut module, |_| false);
    module.make_remarks();
    let how = match way.unrolling {
        Unrolling::Large => Unrolling::Short,
        other => other,
    };
    let how = Optimised { large: way.large, unrolling: how, structured: false };
    module.run(&pipelines::optimise(how))?;
    let mut before = module.clone();
    if way.unrolling == Unrolling::Large {
        unroll_large::run(&mut module);
    }
    module.run(&pipelines::unroll(Optimised { unrolling: way.unrolling, ..how }))?;
    let done = done(&keys::read(&keys, &module.take_remarks()));
    let left: BTreeSet<usize> = keys::loops(&module, &keys).into_iter().collect();
    let shapes = shapes(&before, &keys);
    before.run(&pipelines::unroll_without_limits())?;
    let possible = self::done(&keys::read(&keys, &before.take_remarks()));
    let same = same_code(module, way, code)?;

    let mut remarks: BTreeMap<String, Vec<Remark>> = BTreeMap::new();
    for key in keys.iter().filter(|key| key.kind == Kind::Loop && !same.contains(&key.function)) {
        let place = users(&key.frames).cloned();
        let text = format!("no report on loops: {OTHER_CODE}");
        let known = remarks.entry(key.function.clone()).or_default();
        known.extend(place.filter(|_| known.is_empty()).map(|place| Remark { place, text }));
    }
    for (number, key) in
        keys.iter().enumerate().filter(|(_, key)| key.kind == Kind::Loop && same.contains(&key.function))
    {
        let Some(place) = users(&key.frames).filter(|_| !is_library(&key.frames[0].file)) else { continue };
        let texts: Vec<String> = match done.get(&number) {
            Some(done) => done.iter().map(|done| done.text()).collect(),
            None if left.contains(&number) => {
                vec![format!(
                    "loop not unrolled: {}",
                    reason(way.unrolling, possible.get(&number), shapes.get(&number))
                )]
            }
            None => continue,
        };
        let list = remarks.entry(key.function.clone()).or_default();
        list.extend(texts.into_iter().map(|text| Remark { place: place.clone(), text }));
    }
    Ok(remarks)
}

fn done(told: &[Told<'_>]) -> BTreeMap<usize, BTreeSet<Done>> {
    let mut all: BTreeMap<usize, BTreeSet<Done>> = BTreeMap::new();
    for one in told.iter().filter(|one| one.key.kind == Kind::Loop) {
        if let Some(done) = Done::of(&one.text) {
            all.entry(one.number).or_default().insert(done);
        }
    }
    all
}

/// Why a loop stays. `possible`: what LLVM makes of it without limits of size.
fn reason(unrolling: Unrolling, possible: Option<&BTreeSet<Done>>, shape: Option<&Shape>) -> String {
    let complete = |done: &Done| if let Done::Completely(times) = done { Some(*times) } else { None };
    let short = matches!(unrolling, Unrolling::Short | Unrolling::Large);
    let size = shape.map(|shape| format!(" of {} instructions", shape.instructions)).unwrap_or_default();
    match possible {
        Some(done) if done.iter().find_map(complete).is_some() => {
            let times = done.iter().find_map(complete).unwrap_or(0);
            if short && times > pipelines::SHORT {
                format!("{times} iterations, and at most {} are unrolled", pipelines::SHORT)
            } else {
                format!("{times} iterations{size} are too large")
            }
        }
        Some(done) if done.iter().any(|done| matches!(done, Done::By { known: true, .. })) => {
            format!("its trip count is constant, and its iterations{size} are too many or too large")
        }
        Some(_) => format!("iterations{size} are too large, and its trip count is known only at run time"),
        None => match shape {
            Some(Shape { barrier: true, .. }) => {
                "it has a tile barrier, so the factor must divide a constant trip count"
            }
            Some(Shape { exits: 2.., .. }) => "its trip count is not constant, and it is left in several places",
            _ => {
                "its trip count is not constant, and LLVM finds it unknown before the loop, costly to compute or small"
            }
        }
        .into(),
    }
}

/// The form of a loop.
struct Shape {
    instructions: usize,
    exits: usize,
    barrier: bool,
}

/// The loops of a module by their numbers; of several copies of a loop the last.
fn shapes(module: &Module, keys: &[Key]) -> BTreeMap<usize, Shape> {
    let code = ir::snapshot(module);
    let mut all = BTreeMap::new();
    for (function, copy) in module.functions().zip(&code.functions).filter(|(_, copy)| !copy.blocks.is_empty()) {
        let graph = ControlFlowGraph::of(&copy.blocks);
        let blocks: Vec<_> = function.blocks().collect();
        for one in natural_loops(&graph) {
            let latch = graph.predecessors[one.header].iter().find(|from| one.blocks.contains(from));
            let Some(number) = latch.and_then(|latch| keys::of_latch(blocks[*latch], keys)) else { continue };
            let inside = || one.blocks.iter().flat_map(|block| &copy.blocks[*block].instructions);
            let leaves = |block: &&usize| graph.successors[**block].iter().any(|to| !one.blocks.contains(to));
            let is_barrier = |op: &Op| DeviceFunction::called(&code, op) == Some(DeviceFunction::TileBarrier);
            let shape = Shape {
                instructions: inside().filter(|one| !matches!(one.op, Op::Phi { .. })).count(),
                exits: one.blocks.iter().filter(leaves).count(),
                barrier: inside().any(|one| is_barrier(&one.op)),
            };
            all.insert(number, shape);
        }
    }
    all
}

/// The kernels whose code the last passes make the same as in `code`.
fn same_code(mut module: Module, way: Way, code: &ir::Module) -> Result<BTreeSet<String>, String> {
    let unreachable = |one: &ir::Instruction| one.op == Op::Unreachable;
    if ir::snapshot(&module)
        .functions
        .iter()
        .any(|function| function.kernel && function.instructions().any(unreachable))
    {
        unreachable_returns::run(&mut module);
    }
    module.run(&pipelines::structure())?;
    if way.has_spin_loops {
        spin_marks::unmark(&mut module);
    }
    let made = ir::snapshot(&module);
    Ok(same_functions(&made, code))
}

/// The functions of two modules that are the same but for source locations.
pub fn same_functions(made: &ir::Module, code: &ir::Module) -> BTreeSet<String> {
    fn shape(function: &Function) -> Vec<Vec<String>> {
        let block = |block: &ir::Block| block.instructions.iter().map(|one| format!("{:?}", one.op)).collect();
        function.blocks.iter().map(block).collect()
    }
    let defined = made.functions.iter().filter(|function| !function.blocks.is_empty());
    let same = defined.filter(|function| {
        code.functions.iter().any(|other| other.name == function.name && shape(function) == shape(other))
    });
    same.map(|function| function.name.clone()).collect()
}
