//! Moves work that is done under a lock into the loop that takes it: `for (;;) if (/* taken */) { ...; /* free */ break; }`.
//!
//! - Precondition: all calls are inlined, variables are values, and blocks have names.
//! - Effect: a loop that is left with a lock gets a flag, and what stands between taking and freeing the lock is in the loop, as if
//!   `while (!done)` had been written. `spin_marks` keeps it there.
//! - Why: to LLVM the work is behind the loop. On devices where the threads of a group go through a loop together, they are there when all have
//!   left it, and the lock that one of them holds is never freed. No pass of LLVM moves blocks into a loop.

use crate::analysis::flow::Flow;
use crate::analysis::locks;
use crate::device_abi::DeviceFunction;
use crate::ir::{self, Instruction};
use crate::llvm::{Editor, Module};
use crate::pipelines;
use std::collections::HashSet;

/// A lock: its loop, and where it is freed, by number.
struct Found {
    header: usize,
    block: usize,
    instruction: usize,
}

/// A lock by the names of its function, of the loop's header, and of the block that begins where it is free.
struct Lock {
    function: String,
    header: String,
    free: String,
}

/// Whether there are such loops.
pub fn run(module: &mut Module) -> Result<bool, String> {
    let locks = split(module);
    if locks.is_empty() {
        return Ok(false);
    }
    // Between, no value crosses blocks.
    module.run(&pipelines::variables())?;
    let code = ir::snapshot(module);
    // A lock that stays behind its loop may never be freed.
    if let Some(lost) = module.edit(|edit| locks.iter().find(|lock| sink(edit, &code, lock).is_none())) {
        return Err(format!(
            "the loop {} of {}, which takes a lock, is not as it was found",
            lost.header, lost.function
        ));
    }
    module.run(&pipelines::no_variables())?;
    Ok(true)
}

/// Ends blocks where locks are freed.
fn split(module: &mut Module) -> Vec<Lock> {
    let code = ir::snapshot(module);
    let mut locks = Vec::new();
    module.edit(|edit| {
        let blocks = edit.blocks();
        for (body, blocks) in code.functions.iter().zip(blocks) {
            if !body.instructions().any(|one| one.op.is_atomic_update()) {
                continue;
            }
            let found = found(&Flow::of(&code, body)).into_iter();
            let place = |found: &Found| blocks[found.block].instructions().nth(found.instruction);
            // All before the first cut: it moves instructions.
            let places: Vec<_> = found.filter_map(|found| Some((place(&found)?, found.header))).collect();
            for (frees, header) in places {
                let free = format!("revamp.free.{}", locks.len());
                edit.cut_behind(frees, &free);
                locks.push(Lock { function: body.name.clone(), header: body.blocks[header].name.clone(), free });
            }
        }
    });
    locks
}

/// Frees a lock within its loop; `None` if the loop is not as it was found. The copy is that of the module before any lock was sunk,
/// which adds blocks behind those of the copy only.
fn sink(edit: Editor<'_>, code: &ir::Module, lock: &Lock) -> Option<()> {
    let (number, body) = code.functions.iter().enumerate().find(|(_, body)| body.name == lock.function)?;
    let at = |name: &str| body.blocks.iter().position(|block| block.name == name);
    let (header, free) = (at(&lock.header)?, at(&lock.free)?);
    let flow = Flow::of(code, body);
    let inside = flow.loops.iter().find(|one| one.header == header).map(|one| &one.blocks)?;
    let function = edit.functions().nth(number)?;
    let named = |name: &str| function.blocks().find(|block| block.name() == name);
    let block = |number: usize| named(&body.blocks[number].name);
    let (entry, head, freed) = (function.first_block()?, block(header)?, block(free)?);
    let [freeing] = flow.graph.predecessors[free][..] else { return None };
    let freeing = block(freeing)?;
    let (begin, end) = (head.first()?, freeing.terminator()?);
    let variable = edit.build_before(entry.first()?);
    let done = variable.alloca(edit.integer_type(1), 0, &format!("{}.done", lock.free));
    edit.build_before(begin).store(edit.truth(false), done);
    edit.build_before(end).store(edit.truth(true), done);
    let meet = edit.branch_on(done, freed, head, &format!("{}.meet", lock.free));
    edit.redirect(freeing, freed, meet);
    inside.iter().filter_map(|&number| block(number)).for_each(|from| edit.redirect(from, head, meet));
    Some(())
}

/// The loops that are left with a lock.
fn found(flow: &Flow<'_>) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for one in &flow.loops {
        let inside = |block: usize| one.blocks.contains(&block);
        // What is behind this loop is in the loops that hold it, and in no other.
        let around = |block: usize| {
            flow.loops.iter().filter(|other| other.header != one.header && other.blocks.contains(&block)).count()
        };
        let depth = around(one.header);
        let mut blocks: Vec<usize> = one.blocks.iter().copied().collect();
        blocks.sort();
        let exits = blocks.into_iter().flat_map(|from| flow.graph.successors[from].iter().map(move |&to| (from, to)));
        all.extend(exits.filter(|&(_, exit)| !inside(exit)).find_map(|(from, exit)| {
            let (lock, _) = locks::taken(flow, inside, flow.condition(from)?)?;
            if !flow.graph.predecessors[exit].iter().all(|&from| inside(from)) {
                return None;
            }
            let (block, instruction) = freed(flow, exit, &lock, |b| !inside(b) && around(b) == depth)?;
            Some(Found { header: one.header, block, instruction })
        }));
    }
    all.sort_by_key(|found| (found.block, found.instruction));
    all.dedup_by_key(|found| (found.block, found.instruction));
    all
}

/// Where a lock is freed behind a loop, on all paths that come from there and before any barrier: the block and the instruction.
fn freed(flow: &Flow<'_>, exit: usize, lock: &str, beside: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    let is_barrier =
        |one: &Instruction| DeviceFunction::called(flow.module, &one.op) == Some(DeviceFunction::TileBarrier);
    let frees = |one: &Instruction| locks::changed(&one.op).is_some_and(|at| locks::address(flow, at) == lock);
    let candidates = flow.graph.order.iter().copied().filter(|&block| beside(block));
    let candidates = candidates.filter_map(|block| Some((block, flow.block(block).iter().position(frees)?)));
    let mut best: Option<(usize, (usize, usize))> = None;
    for (block, instruction) in candidates {
        // The blocks between, a region with a single entry.
        let (mut between, mut rest, mut whole) = (HashSet::from([exit]), vec![exit], true);
        while let Some(at) = rest.pop() {
            if at != block {
                whole &= !flow.graph.successors[at].is_empty();
                rest.extend(flow.graph.successors[at].iter().filter(|&&to| between.insert(to)));
            }
        }
        let others = between.iter().filter(|&&b| b != exit);
        let entered = others.flat_map(|&b| &flow.graph.predecessors[b]).any(|from| !between.contains(from));
        let before = |b: usize| if b == block { instruction } else { flow.block(b).len() };
        let waits = between.iter().any(|&b| flow.block(b)[..before(b)].iter().any(is_barrier));
        let fits = whole && !entered && !waits && between.contains(&block);
        if fits && best.is_none_or(|(size, _)| between.len() < size) {
            best = Some((between.len(), (block, instruction)));
        }
    }
    best.map(|(_, place)| place)
}
