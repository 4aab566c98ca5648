//! Replaces source locations by numbers, which identify the loop or instruction that a remark of LLVM is about.
//!
//! LLVM's C API gives a remark as text with the innermost line, but without the kernel and the calls that lead to this
//! line. Therefore the report optimises a copy of the module that has numbers as locations. Locations do not change the
//! generated code; the report verifies this.

use super::remark::outermost;
use crate::analysis::cfg::{ControlFlowGraph, DominatorTree};
use crate::analysis::loops;
use crate::ir::{self, Frame};
use crate::llvm::number::{LOOP_METADATA, node};
use crate::llvm::{Block, Editor, Module, Node, Value};
use std::collections::HashMap;

/// The loop or instruction that a number stands for.
pub struct Key {
    /// The name of the function.
    pub function: String,
    /// The calls that lead to the loop or instruction, the innermost first.
    pub frames: Vec<Frame>,
    pub kind: Kind,
    /// The last line of the program in a loop over threads.
    pub last: Option<u32>,
}

/// The kind of entity with a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Instruction,
    Loop,
    /// An innermost loop over threads, identified by its metadata.
    Threads,
}

/// A remark of LLVM about a numbered location.
pub struct NumberedRemark<'k> {
    /// The index in the list of keys.
    pub number: usize,
    pub key: &'k Key,
    pub text: String,
}

/// Replaces the locations of all instructions and loops in functions with debug information. `over_threads` returns true
/// for the metadata of a loop over threads. Innermost loops over threads get a location even if they have none.
pub fn number(module: &mut Module, over_threads: fn(Node<'_>) -> bool) -> Vec<Key> {
    let code = ir::snapshot(module);
    let mut keys = Vec::new();
    module.edit(|edit| {
        for (function, copy) in edit.functions().zip(&code.functions).filter(|(_, copy)| !copy.blocks.is_empty()) {
            let Some(subprogram) = function.subprogram() else { continue };
            let mut numbering =
                Numbering { edit, subprogram, name: &copy.name, keys: &mut keys, known: HashMap::new() };
            let bodies = blocks_by_latch(copy);
            let metadata: Vec<Option<Node<'_>>> =
                function.blocks().map(|block| block.terminator()?.loop_metadata()).collect();
            let is_threads = |block: usize| metadata[block].is_some_and(over_threads);
            for (number, (block, inside)) in function.blocks().zip(&copy.blocks).enumerate() {
                for (one, copied) in block.instructions().zip(&inside.instructions) {
                    let (Some(node), Some(location)) = (one.location(), copied.location) else { continue };
                    let location = numbering.location(node, Kind::Instruction, || code.frames(location));
                    edit.set_location(one, location);
                }
                let (Some(branch), Some(metadata)) = (block.terminator(), metadata[number]) else { continue };
                let body: &[usize] = bodies.get(&number).map_or(&[], Vec::as_slice);
                if is_threads(number) && body.iter().any(|other| *other != number && is_threads(*other)) {
                    continue;
                }
                let threads = is_threads(number).then(|| lines(&code, copy, body));
                numbering.number_loop(branch, metadata, threads);
            }
        }
    });
    keys
}

/// The program's lines in a loop: the frames of the first line, and the last line in the same file.
struct Lines {
    first: Vec<Frame>,
    last: Option<u32>,
}

fn lines(code: &ir::Module, function: &ir::Function, body: &[usize]) -> Lines {
    let all = body.iter().flat_map(|block| &function.blocks[*block].instructions);
    let frames: Vec<Vec<Frame>> = all.filter_map(|one| Some(code.frames(one.location?))).collect();
    let place = |frames: &Vec<Frame>| outermost(frames).map(|at| (at.line, at.column));
    let first = frames.iter().filter(|frames| place(frames).is_some()).min_by_key(|frames| place(frames));
    let first = first.cloned().unwrap_or_default();
    let file = outermost(&first).map(|at| at.file.clone());
    let last = frames.iter().filter_map(|frames| outermost(frames)).filter(|at| Some(&at.file) == file.as_ref());
    let last = last.map(|at| at.line).max();
    Lines { first, last }
}

/// For each latch, the blocks of its loop.
fn blocks_by_latch(function: &ir::Function) -> HashMap<usize, Vec<usize>> {
    let graph = ControlFlowGraph::of(&function.blocks);
    let dominators = DominatorTree::of(&graph);
    let mut all = HashMap::new();
    for &latch in &graph.order {
        for &header in graph.successors[latch].iter().filter(|header| dominators.dominates(**header, latch)) {
            all.insert(latch, loops::blocks(&graph, header, latch).into_iter().collect());
        }
    }
    all
}

struct Numbering<'a, 'm> {
    edit: Editor<'m>,
    subprogram: Node<'m>,
    name: &'a str,
    keys: &'a mut Vec<Key>,
    known: HashMap<(Node<'m>, Kind), Node<'m>>,
}

impl<'m> Numbering<'_, 'm> {
    /// The numbered location that replaces a location.
    fn location(&mut self, old: Node<'m>, kind: Kind, frames: impl FnOnce() -> Vec<Frame>) -> Node<'m> {
        if let Some(known) = self.known.get(&(old, kind)) {
            return *known;
        }
        let made = self.next(kind, frames(), None);
        self.known.insert((old, kind), made);
        made
    }

    fn next(&mut self, kind: Kind, frames: Vec<Frame>, last: Option<u32>) -> Node<'m> {
        self.keys.push(Key { function: self.name.to_owned(), frames, kind, last });
        // Numbers begin at 1.
        self.edit.location(self.subprogram, self.keys.len())
    }

    /// Replaces the locations in a loop's metadata. A loop over threads without a location gets a new one. `threads`: the lines of this loop.
    fn number_loop(&mut self, branch: Value<'m>, metadata: Node<'m>, threads: Option<Lines>) {
        let parts = metadata.operands().into_iter().skip(1).flatten().filter_map(Value::as_node);
        let (places, mut other_parts): (Vec<Node<'m>>, Vec<Node<'m>>) =
            parts.partition(|part| part.kind() == node::LOCATION);
        let place = match places.first() {
            Some(place) => {
                let place = *place;
                self.location(place, Kind::Loop, || ir::frames(place))
            }
            None => match threads {
                Some(Lines { first, last }) => self.next(Kind::Threads, first, last),
                None => return,
            },
        };
        other_parts.insert(0, place);
        self.edit.set_metadata(branch, LOOP_METADATA, Some(self.edit.distinct(&other_parts)));
    }
}

/// The remarks of LLVM that are about numbered locations. Each has the form `FILE:NUMBER:1: TEXT`.
pub fn parse_remarks<'k>(keys: &'k [Key], remarks: &[String]) -> Vec<NumberedRemark<'k>> {
    let parse_remark = |remark: &String| {
        let (place, text) = remark.split_once(": ")?;
        let mut parts = place.rsplit(':').skip(1);
        let number = parts.next()?.parse::<usize>().ok()?.checked_sub(1)?;
        Some(NumberedRemark { number, key: keys.get(number)?, text: text.to_owned() })
    };
    remarks.iter().filter_map(parse_remark).collect()
}

/// The numbers of a module's loops.
pub fn loops(module: &Module, keys: &[Key]) -> Vec<usize> {
    module.functions().flat_map(Value::blocks).filter_map(|block| loop_of_latch(block, keys)).collect()
}

/// The number of the loop with this latch.
pub fn loop_of_latch(latch: Block<'_>, keys: &[Key]) -> Option<usize> {
    let parts = latch.terminator()?.loop_metadata()?.operands();
    let place =
        parts.into_iter().skip(1).flatten().filter_map(Value::as_node).find(|part| part.kind() == node::LOCATION)?;
    (place.line() as usize).checked_sub(1).filter(|number| *number < keys.len())
}
