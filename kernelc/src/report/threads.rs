//! Reports which loops over the threads of a tile LLVM vectorised in native code. For the other loops, it gives LLVM's reason.

use super::keys::{self, Key, Kind};
use super::loops::{OTHER_CODE, same_functions};
use super::remark::{Remark, outermost};
use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops::natural_loops;
use crate::ir::{self, Frame};
use crate::llvm::{Module, Node};
use crate::pipelines;
use std::collections::{BTreeMap, BTreeSet};

/// The result of vectorisation for a loop over threads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum VectorResult {
    /// Vectors of this many threads.
    Vectors(u32),
    /// Not vectorised, with the reason.
    NotVectorized(String),
    /// Not known, because the copy that LLVM reports on was compiled to different code.
    Unknown,
}

/// The lines of the program in a loop over threads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Lines {
    file: String,
    first: (u32, u32),
    last: u32,
}

/// The loops over threads, and for each loop its results, each with the name of the processor.
#[derive(Default)]
pub struct Threads {
    found: BTreeMap<Lines, Vec<(String, VectorResult)>>,
}

impl Threads {
    /// Adds the loops of the native kernels for a processor. `module`: the module with source locations, before LLVM's
    /// passes. `code`: the result of the passes on the same module without source locations.
    pub fn add(
        &mut self,
        mut module: Module,
        processor: &str,
        code: &ir::Module,
        over_threads: fn(Node<'_>) -> bool,
    ) -> Result<(), String> {
        let keys = keys::number(&mut module, over_threads);
        module.enable_remarks();
        module.run(&pipelines::native_code())?;
        let numbered = keys::parse_remarks(&keys, &module.take_remarks());
        let (mut made, mut why): (BTreeMap<usize, BTreeSet<VectorResult>>, Option<String>) = (BTreeMap::new(), None);
        for one in numbered {
            let result = if let Some(rest) = one.text.strip_prefix("vectorized loop (vectorization width: ") {
                rest.split(',').next().and_then(|width| width.parse().ok()).map(VectorResult::Vectors)
            } else if let Some(reason) = one.text.strip_prefix("loop not vectorized: ") {
                why = Some(reason.to_owned());
                continue;
            } else if one.text.contains("cost-model indicates that vectorization is not beneficial") {
                Some(VectorResult::NotVectorized("LLVM expects vectors to be slower".into()))
            } else if one.text.starts_with("loop not vectorized") {
                why.take().map(VectorResult::NotVectorized)
            } else {
                continue;
            };
            if one.key.kind == Kind::Threads {
                made.entry(one.number).or_default().extend(result);
            }
        }
        for number in thread_loops_with_inner_loops(&module, &keys) {
            made.entry(number).or_insert_with(|| {
                BTreeSet::from([VectorResult::NotVectorized("it contains a loop that each thread runs".into())])
            });
        }
        module.strip_debug();
        let same = same_functions(&ir::snapshot(&module), code);
        for (number, results) in made {
            let key: &Key = &keys[number];
            let Some(first) = outermost(&key.frames) else { continue };
            let unknown = BTreeSet::from([VectorResult::Unknown]);
            let results = if same.contains(&key.function) { results } else { unknown };
            let last = key.last.filter(|last| *last > first.line).unwrap_or(first.line);
            let lines = Lines { file: first.file.clone(), first: (first.line, first.column), last };
            let found = self.found.entry(lines).or_default();
            for result in results {
                let one = (processor.to_owned(), result);
                if !found.contains(&one) {
                    found.push(one);
                }
            }
        }
        Ok(())
    }

    /// The remarks on all loops.
    pub fn remarks(self) -> Vec<Remark> {
        self.found.into_iter().flat_map(|(lines, found)| remarks_of_loop(&lines, &found)).collect()
    }
}

/// The remarks on one loop: one remark on the vectors, and one for each reason why the loop has no vectors.
fn remarks_of_loop(lines: &Lines, found: &[(String, VectorResult)]) -> Vec<Remark> {
    let Lines { file, first: (line, column), last } = lines;
    let place = Frame { function: String::new(), file: file.clone(), line: *line, column: *column };
    let until = if last > line { format!(", up to line {last},") } else { String::new() };
    let vectors = found.iter().filter_map(|(processor, made)| match made {
        VectorResult::Vectors(width) => Some(format!("{width} ({processor})")),
        VectorResult::NotVectorized(_) | VectorResult::Unknown => None,
    });
    let vectors: Vec<String> = vectors.collect();
    let mut reasons: BTreeMap<&String, Vec<&str>> = BTreeMap::new();
    for (processor, made) in found {
        if let VectorResult::NotVectorized(why) = made {
            reasons.entry(why).or_default().push(processor);
        }
    }
    let mut texts = Vec::new();
    if found.iter().any(|(_, made)| *made == VectorResult::Unknown) {
        texts.push(format!("native code: no report on the loop over threads{until}: {OTHER_CODE}"));
    }
    if !vectors.is_empty() {
        texts.push(format!("native code: loop over threads{until} in vectors of {}", vectors.join(", ")));
    }
    for (why, processors) in reasons {
        let processors = processors.join(", ");
        texts.push(format!("native code: loop over threads{until} not vectorized ({processors}): {why}"));
    }
    texts.into_iter().map(|text| Remark { place: place.clone(), text }).collect()
}

/// The loops over threads that contain other loops: LLVM vectorises only innermost loops.
fn thread_loops_with_inner_loops(module: &Module, keys: &[Key]) -> Vec<usize> {
    let code = ir::snapshot(module);
    let mut all = Vec::new();
    for (function, copy) in module.functions().zip(&code.functions).filter(|(_, copy)| !copy.blocks.is_empty()) {
        let graph = ControlFlowGraph::of(&copy.blocks);
        let loops = natural_loops(&graph);
        let blocks: Vec<_> = function.blocks().collect();
        for one in &loops {
            let inner = loops.iter().any(|other| other.header != one.header && one.blocks.contains(&other.header));
            let mut latches = graph.predecessors[one.header].iter().filter(|from| one.blocks.contains(from));
            let number = latches.find_map(|latch| keys::loop_of_latch(blocks[*latch], keys));
            all.extend(number.filter(|number| inner && keys[*number].kind == Kind::Threads));
        }
    }
    all
}
