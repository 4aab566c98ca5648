//! Which loops over the threads of a tile LLVM made vectors of in native code, and why not of the others, in LLVM's words.

use super::keys::{self, Key, Kind};
use super::loops::{OTHER_CODE, same_functions};
use super::remark::{Remark, outermost};
use crate::analysis::cfg::ControlFlowGraph;
use crate::analysis::loops::natural_loops;
use crate::ir::{self, Frame};
use crate::llvm::{Module, Node};
use crate::pipelines;
use std::collections::{BTreeMap, BTreeSet};

/// What became of a loop over threads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Made {
    /// Of so many threads each.
    Vectors(u32),
    Not(String),
    Unknown,
}

/// The lines of the program in a loop over threads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Lines {
    file: String,
    first: (u32, u32),
    last: u32,
}

/// The loops over threads, each with what it became for which processors.
#[derive(Default)]
pub struct Threads {
    found: BTreeMap<Lines, Vec<(String, Made)>>,
}

impl Threads {
    /// Adds the loops of the native kernels for a processor. `module`: with source locations, before LLVM's passes. `code`: what they made of the same module without.
    pub fn add(
        &mut self,
        mut module: Module,
        processor: &str,
        code: &ir::Module,
        over_threads: fn(Node<'_>) -> bool,
    ) -> Result<(), String> {
        let keys = keys::number(&mut module, over_threads);
        module.make_remarks();
        module.run(&pipelines::native_code())?;
        let told = keys::read(&keys, &module.take_remarks());
        let (mut made, mut why): (BTreeMap<usize, BTreeSet<Made>>, Option<String>) = (BTreeMap::new(), None);
        for one in told {
            let result = if let Some(rest) = one.text.strip_prefix("vectorized loop (vectorization width: ") {
                rest.split(',').next().and_then(|width| width.parse().ok()).map(Made::Vectors)
            } else if let Some(reason) = one.text.strip_prefix("loop not vectorized: ") {
                why = Some(reason.to_owned());
                continue;
            } else if one.text.contains("cost-model indicates that vectorization is not beneficial") {
                Some(Made::Not("LLVM expects vectors to be slower".into()))
            } else if one.text.starts_with("loop not vectorized") {
                why.take().map(Made::Not)
            } else {
                continue;
            };
            if one.key.kind == Kind::Threads {
                made.entry(one.number).or_default().extend(result);
            }
        }
        for number in around_loops(&module, &keys) {
            made.entry(number).or_insert_with(|| BTreeSet::from([Made::Not("a loop of each thread is inside".into())]));
        }
        module.strip_debug();
        let same = same_functions(&ir::snapshot(&module), code);
        for (number, results) in made {
            let key: &Key = &keys[number];
            let Some(first) = outermost(&key.frames) else { continue };
            let unknown = BTreeSet::from([Made::Unknown]);
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

    /// The remarks.
    pub fn remarks(self) -> Vec<Remark> {
        self.found.into_iter().flat_map(|(lines, found)| of_loop(&lines, &found)).collect()
    }
}

/// The remarks on one loop: one on its vectors, and one for each reason why it has none.
fn of_loop(lines: &Lines, found: &[(String, Made)]) -> Vec<Remark> {
    let Lines { file, first: (line, column), last } = lines;
    let place = Frame { function: String::new(), file: file.clone(), line: *line, column: *column };
    let until = if last > line { format!(", up to line {last},") } else { String::new() };
    let vectors = found.iter().filter_map(|(processor, made)| match made {
        Made::Vectors(width) => Some(format!("{width} ({processor})")),
        Made::Not(_) | Made::Unknown => None,
    });
    let vectors: Vec<String> = vectors.collect();
    let mut reasons: BTreeMap<&String, Vec<&str>> = BTreeMap::new();
    for (processor, made) in found {
        if let Made::Not(why) = made {
            reasons.entry(why).or_default().push(processor);
        }
    }
    let mut texts = Vec::new();
    if found.iter().any(|(_, made)| *made == Made::Unknown) {
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

/// The loops over threads that have other loops inside: LLVM makes vectors of innermost loops alone.
fn around_loops(module: &Module, keys: &[Key]) -> Vec<usize> {
    let code = ir::snapshot(module);
    let mut all = Vec::new();
    for (function, copy) in module.functions().zip(&code.functions).filter(|(_, copy)| !copy.blocks.is_empty()) {
        let graph = ControlFlowGraph::of(&copy.blocks);
        let loops = natural_loops(&graph);
        let blocks: Vec<_> = function.blocks().collect();
        for one in &loops {
            let inner = loops.iter().any(|other| other.header != one.header && one.blocks.contains(&other.header));
            let mut latches = graph.predecessors[one.header].iter().filter(|from| one.blocks.contains(from));
            let number = latches.find_map(|latch| keys::of_latch(blocks[*latch], keys));
            all.extend(number.filter(|number| inner && keys[*number].kind == Kind::Threads));
        }
    }
    all
}
