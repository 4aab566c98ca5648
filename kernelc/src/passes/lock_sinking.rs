//! Moves work under a lock into the loop that takes the lock: `for (;;) if (/* taken_lock */) { ...; /* free */ break; }`.
//!
//! - Precondition: all calls are inlined, local variables are promoted to SSA values, and blocks have names.
//! - Effect: a loop that exits with a lock held gets a flag `done`. The work between taking and freeing the lock moves
//!   into the loop, as if the program had written `while (!done)`. The pass `spin_marks` keeps the work there.
//! - Why: for LLVM, the work comes after the loop. On some devices, the threads of a subgroup execute a loop together and
//!   reach the work only when all of them have left the loop. Then the lock that one thread holds is never freed. No
//!   pass of LLVM moves blocks into a loop.

use crate::analysis::flow::Flow;
use crate::analysis::locks;
use crate::device_abi::DeviceFunction;
use crate::ir::{self, Instruction};
use crate::llvm::{Editor, Module};
use crate::pipelines;
use std::collections::HashSet;

/// A lock in the snapshot: the number of its loop's header, and the position of the instruction that frees the lock.
struct FoundLock {
    header: usize,
    block: usize,
    instruction: usize,
}

/// A lock after `split`: the names of its function, of its loop's header, and of the block after the instruction that
/// frees the lock.
struct Lock {
    function: String,
    header: String,
    free: String,
}

/// Returns true if the module has loops that exit with a lock held.
pub fn run(module: &mut Module) -> Result<bool, String> {
    let locks = split(module);
    if locks.is_empty() {
        return Ok(false);
    }
    // From here to `no_variables`, variables hold all values that cross blocks.
    module.run(&pipelines::variables())?;
    let code = ir::snapshot(module);
    // A lock whose work is not moved into the loop may never be freed.
    if let Some(changed_lock) = module.edit(|edit| locks.iter().find(|lock| sink(edit, &code, lock).is_none())) {
        return Err(format!(
            "the loop {} of {}, which takes a lock, changed before it could be rewritten",
            changed_lock.header, changed_lock.function
        ));
    }
    module.run(&pipelines::no_variables())?;
    Ok(true)
}

/// Finds the locks, and splits the blocks after the instructions that free them.
fn split(module: &mut Module) -> Vec<Lock> {
    let code = ir::snapshot(module);
    let mut locks = Vec::new();
    module.edit(|edit| {
        let blocks = edit.blocks();
        for (body, blocks) in code.functions.iter().zip(blocks) {
            if !body.instructions().any(|one| one.op.is_atomic_update()) {
                continue;
            }
            let found = find_locks(&Flow::of(&code, body)).into_iter();
            let place = |found: &FoundLock| blocks[found.block].instructions().nth(found.instruction);
            // Finds all instructions before it splits the first block, because a split moves instructions to a new
            // block.
            let places: Vec<_> = found.filter_map(|found| Some((place(&found)?, found.header))).collect();
            for (frees, header) in places {
                let free = format!("revamp.free.{}", locks.len());
                edit.split_after(frees, &free);
                locks.push(Lock { function: body.name.clone(), header: body.blocks[header].name.clone(), free });
            }
        }
    });
    locks
}

/// Moves the freeing of a lock into its loop; `None` if the loop has changed since it was found. `code`: a snapshot of the
/// module before the first lock was sunk. Blocks that sinking adds come after the blocks of the snapshot.
fn sink(edit: Editor<'_>, code: &ir::Module, lock: &Lock) -> Option<()> {
    let (number, body) = code.functions.iter().enumerate().find(|(_, body)| body.name == lock.function)?;
    let at = |name: &str| body.blocks.iter().position(|block| block.name == name);
    let (header, free) = (at(&lock.header)?, at(&lock.free)?);
    let flow = Flow::of(code, body);
    let inside = flow.loops.iter().find(|one| one.header == header).map(|one| &one.blocks)?;
    let function = edit.functions().nth(number)?;
    let block_named = |name: &str| function.blocks().find(|block| block.name() == name);
    let block = |number: usize| block_named(&body.blocks[number].name);
    let (entry, head, freed) = (function.first_block()?, block(header)?, block(free)?);
    let [freeing_block] = flow.graph.predecessors[free][..] else { return None };
    let freeing_block = block(freeing_block)?;
    let (begin, end) = (head.first()?, freeing_block.terminator()?);
    let variable = edit.build_before(entry.first()?);
    let done = variable.alloca(edit.integer_type(1), 0, &format!("{}.done", lock.free));
    edit.build_before(begin).store(edit.i1(false), done);
    edit.build_before(end).store(edit.i1(true), done);
    let meet = edit.branch_on(done, freed, head, &format!("{}.meet", lock.free));
    edit.redirect(freeing_block, freed, meet);
    inside.iter().filter_map(|&number| block(number)).for_each(|from| edit.redirect(from, head, meet));
    Some(())
}

/// The loops that exit with a lock held, with the instructions that free the locks.
fn find_locks(flow: &Flow<'_>) -> Vec<FoundLock> {
    let mut all: Vec<FoundLock> = Vec::new();
    for one in &flow.loops {
        let inside = |block: usize| one.blocks.contains(&block);
        // The code right after this loop is in the same enclosing loops as this loop, and in no other loop.
        let enclosing_loops = |block: usize| {
            flow.loops.iter().filter(|other| other.header != one.header && other.blocks.contains(&block)).count()
        };
        let depth = enclosing_loops(one.header);
        let mut blocks: Vec<usize> = one.blocks.iter().copied().collect();
        blocks.sort();
        let exits = blocks.into_iter().flat_map(|from| flow.graph.successors[from].iter().map(move |&to| (from, to)));
        all.extend(exits.filter(|&(_, exit)| !inside(exit)).find_map(|(from, exit)| {
            let (lock, _) = locks::taken_lock(flow, inside, flow.condition(from)?)?;
            if !flow.graph.predecessors[exit].iter().all(|&from| inside(from)) {
                return None;
            }
            let (block, instruction) = find_free(flow, exit, &lock, |b| !inside(b) && enclosing_loops(b) == depth)?;
            Some(FoundLock { header: one.header, block, instruction })
        }));
    }
    all.sort_by_key(|found| (found.block, found.instruction));
    all.dedup_by_key(|found| (found.block, found.instruction));
    all
}

/// The block and the number of the instruction that frees a lock after a loop. All paths from the exit must reach this
/// instruction, and reach it before any barrier.
fn find_free(flow: &Flow<'_>, exit: usize, lock: &str, is_candidate: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    let is_barrier =
        |one: &Instruction| DeviceFunction::called(flow.module, &one.op) == Some(DeviceFunction::TileBarrier);
    let frees = |one: &Instruction| locks::written_address(&one.op).is_some_and(|at| locks::address(flow, at) == lock);
    let candidates = flow.graph.order.iter().copied().filter(|&block| is_candidate(block));
    let candidates = candidates.filter_map(|block| Some((block, flow.block(block).iter().position(frees)?)));
    let mut best: Option<(usize, (usize, usize))> = None;
    for (block, instruction) in candidates {
        // The blocks from the exit to the candidate. They must form a region with a single entry.
        let (mut between, mut worklist, mut all_paths_arrive) = (HashSet::from([exit]), vec![exit], true);
        while let Some(at) = worklist.pop() {
            if at != block {
                all_paths_arrive &= !flow.graph.successors[at].is_empty();
                worklist.extend(flow.graph.successors[at].iter().filter(|&&to| between.insert(to)));
            }
        }
        let other_blocks = between.iter().filter(|&&b| b != exit);
        let has_other_entry =
            other_blocks.flat_map(|&b| &flow.graph.predecessors[b]).any(|from| !between.contains(from));
        let before = |b: usize| if b == block { instruction } else { flow.block(b).len() };
        let has_barrier = between.iter().any(|&b| flow.block(b)[..before(b)].iter().any(is_barrier));
        let is_valid = all_paths_arrive && !has_other_entry && !has_barrier && between.contains(&block);
        if is_valid && best.is_none_or(|(size, _)| between.len() < size) {
            best = Some((between.len(), (block, instruction)));
        }
    }
    best.map(|(_, place)| place)
}
