//! Reports how often LLVM unrolled the loops of device kernels, and why it did not unroll them more.
//!
//! The passes run a second time over a copy with numbered locations, and LLVM's remarks say which loops it unrolls. The
//! remarks do not say why LLVM does not unroll a loop. Therefore LLVM unrolls the copy with much higher limits too, and
//! the remarks of that run give the reason. If the code that the passes make from the copy differs from the kernel's
//! code, there is no report on the kernel's loops.

use super::keys::{self, Key, Kind, NumberedRemark};
use super::remark::{Remark, is_library, program_frame};
use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops::natural_loops;
use crate::device_abi::DeviceFunction;
use crate::ir::{self, Function, Op};
use crate::llvm::Module;
use crate::passes::{self, spin_marks, unreachable_returns, unroll_large};
use crate::pipelines::{self, Optimised, Unrolling};
use std::collections::{BTreeMap, BTreeSet};

/// The reason that is given if there is no report on a function.
pub const OTHER_CODE: &str = "LLVM reports on a copy of the kernel, which was compiled to different code";

/// How a module was unrolled.
#[derive(Clone, Copy)]
pub struct UnrollSettings {
    pub unrolling: Unrolling,
    pub large: bool,
    /// True if loops that wait for other threads are marked.
    pub has_spin_loops: bool,
}

/// What LLVM did with a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UnrollResult {
    Completely(u32),
    By { times: u32, known: bool },
    Peeled(u32),
}

impl UnrollResult {
    /// The meaning of a remark of LLVM.
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

/// The remarks on loops, by the name of the kernel. `prepared`: the module before LLVM's passes. `code`: the module after the passes.
pub fn unrolled(
    prepared: &Module,
    settings: UnrollSettings,
    code: &ir::Module,
) -> Result<BTreeMap<String, Vec<Remark>>, String> {
    let mut module = prepared.clone();
    module.run(&pipelines::inlined(settings.large))?;
    let keys = keys::number(&mut module, |_| false);
    module.enable_remarks();
    let how = match settings.unrolling {
        Unrolling::Large => Unrolling::Short,
        other => other,
    };
    let how = Optimised { large: settings.large, unrolling: how, structured: false };
    module.run(&pipelines::optimise(how))?;
    passes::BEFORE_UNROLLING.iter().for_each(|(_, pass)| _ = pass(&mut module));
    let mut before_unrolling = module.clone();
    if settings.unrolling == Unrolling::Large {
        unroll_large::run(&mut module);
    }
    module.run(&pipelines::unroll(Optimised { unrolling: settings.unrolling, ..how }))?;
    let done = unroll_results(&keys::parse_remarks(&keys, &module.take_remarks()));
    let remaining_loops: BTreeSet<usize> = keys::loops(&module, &keys).into_iter().collect();
    let shapes = shapes(&before_unrolling, &keys);
    before_unrolling.run(&pipelines::unroll_without_limits())?;
    let possible = unroll_results(&keys::parse_remarks(&keys, &before_unrolling.take_remarks()));
    let same = same_code(module, settings, code)?;

    let mut remarks: BTreeMap<String, Vec<Remark>> = BTreeMap::new();
    for key in keys.iter().filter(|key| key.kind == Kind::Loop && !same.contains(&key.function)) {
        let place = program_frame(&key.frames).cloned();
        let text = format!("no report on loops: {OTHER_CODE}");
        let known = remarks.entry(key.function.clone()).or_default();
        known.extend(place.filter(|_| known.is_empty()).map(|place| Remark { place, text }));
    }
    for (number, key) in
        keys.iter().enumerate().filter(|(_, key)| key.kind == Kind::Loop && same.contains(&key.function))
    {
        let Some(place) = program_frame(&key.frames).filter(|_| !is_library(&key.frames[0].file)) else { continue };
        let texts: Vec<String> = match done.get(&number) {
            Some(done) => done.iter().map(|done| done.text()).collect(),
            None if remaining_loops.contains(&number) => {
                vec![format!(
                    "loop not unrolled: {}",
                    reason(settings.unrolling, possible.get(&number), shapes.get(&number))
                )]
            }
            None => continue,
        };
        let list = remarks.entry(key.function.clone()).or_default();
        list.extend(texts.into_iter().map(|text| Remark { place: place.clone(), text }));
    }
    Ok(remarks)
}

fn unroll_results(numbered: &[NumberedRemark<'_>]) -> BTreeMap<usize, BTreeSet<UnrollResult>> {
    let mut all: BTreeMap<usize, BTreeSet<UnrollResult>> = BTreeMap::new();
    for one in numbered.iter().filter(|one| one.key.kind == Kind::Loop) {
        if let Some(done) = UnrollResult::of(&one.text) {
            all.entry(one.number).or_default().insert(done);
        }
    }
    all
}

/// Why a loop is not unrolled. `possible`: what LLVM does with it without size limits.
fn reason(unrolling: Unrolling, possible: Option<&BTreeSet<UnrollResult>>, shape: Option<&Shape>) -> String {
    let complete = |done: &UnrollResult| if let UnrollResult::Completely(times) = done { Some(*times) } else { None };
    let short = matches!(unrolling, Unrolling::Short | Unrolling::Large);
    let size = shape.map(|shape| format!(" of {} instructions", shape.instructions)).unwrap_or_default();
    match possible {
        Some(done) if done.iter().find_map(complete).is_some() => {
            let times = done.iter().find_map(complete).unwrap_or(0);
            if short && times > pipelines::MAX_FULL_UNROLL_COUNT {
                format!(
                    "it has {times} iterations{size}, too large to unroll in part, and only loops of at most {} iterations \
                     are unrolled completely",
                    pipelines::MAX_FULL_UNROLL_COUNT
                )
            } else {
                format!("its {times} iterations{size} are too large to unroll")
            }
        }
        Some(done) if done.iter().any(|done| matches!(done, UnrollResult::By { known: true, .. })) => {
            format!("its trip count is constant, and its iterations{size} are too many or too large")
        }
        Some(_) => format!("its iterations{size} are too large, and its trip count is known only at run time"),
        None => match shape {
            Some(Shape { barrier: true, .. }) => {
                "it has a tile barrier, so the unroll factor must divide a constant trip count"
            }
            Some(Shape { exits: 2.., .. }) => "its trip count is not constant, and it has several exits",
            _ => {
                "its trip count is not constant, and is small, is costly to compute, or cannot be computed before the \
                 loop"
            }
        }
        .into(),
    }
}

/// The size and the structure of a loop.
struct Shape {
    instructions: usize,
    exits: usize,
    barrier: bool,
}

/// The shapes of a module's loops, by the numbers of the loops. If a loop has several copies, the last copy counts.
fn shapes(module: &Module, keys: &[Key]) -> BTreeMap<usize, Shape> {
    let code = ir::snapshot(module);
    let mut all = BTreeMap::new();
    for (function, copy) in module.functions().zip(&code.functions).filter(|(_, copy)| !copy.blocks.is_empty()) {
        let graph = ControlFlowGraph::of(&copy.blocks);
        let blocks: Vec<_> = function.blocks().collect();
        for one in natural_loops(&graph) {
            let latch = graph.predecessors[one.header].iter().find(|from| one.blocks.contains(from));
            let Some(number) = latch.and_then(|latch| keys::loop_of_latch(blocks[*latch], keys)) else { continue };
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

/// The names of the functions for which the last passes give the same code as in `code`.
fn same_code(mut module: Module, settings: UnrollSettings, code: &ir::Module) -> Result<BTreeSet<String>, String> {
    let unreachable = |one: &ir::Instruction| one.op == Op::Unreachable;
    if ir::snapshot(&module)
        .functions
        .iter()
        .any(|function| function.kernel && function.instructions().any(unreachable))
    {
        unreachable_returns::run(&mut module);
    }
    module.run(&pipelines::structure())?;
    passes::LAST.iter().for_each(|(_, pass)| _ = pass(&mut module));
    if settings.has_spin_loops {
        spin_marks::unmark(&mut module);
    }
    let copied_code = ir::snapshot(&module);
    Ok(same_functions(&copied_code, code))
}

/// The functions that are the same in two modules, apart from source locations.
pub fn same_functions(copied_code: &ir::Module, code: &ir::Module) -> BTreeSet<String> {
    fn shape(function: &Function) -> Vec<Vec<String>> {
        let block = |block: &ir::Block| block.instructions.iter().map(|one| format!("{:?}", one.op)).collect();
        function.blocks.iter().map(block).collect()
    }
    let defined = copied_code.functions.iter().filter(|function| !function.blocks.is_empty());
    let same = defined.filter(|function| {
        code.functions.iter().any(|other| other.name == function.name && shape(function) == shape(other))
    });
    same.map(|function| function.name.clone()).collect()
}
