//! Emits a kernel as one function for a tile, or for a row of threads without tiles. Each region becomes a loop over the threads.

use super::analysis::Kernel;
use super::calls::is_lifetime;
use super::function::{AXES, Function, Region};
use super::idle_threads::Step;
use super::instructions::Copied;
use super::layout::{Layout, PIECE_THREADS};
use super::parallel::Threads;
use super::scopes::DistinctMemory;
use super::variables::{Access, Variable};
use crate::device_abi::DeviceFunction;
use crate::ir::{IntPredicate, LocalId, Op};
use crate::llvm::number::{opcode as o, ty as t};
use crate::llvm::{Block, Editor, Node, Type, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The return value of the function if the kernel is done.
const DONE: u32 = 0;
/// The return value if threads reached different barriers.
const DIVERGED: u32 = 1;
/// The return value if a thread ended the kernel.
const ENDED: u32 = 2;

/// The number that stands for the end of the kernel in `next`.
const END: u32 = u32::MAX;

/// The LLVM blocks of a region.
struct Frame<'m> {
    before: Block<'m>,
    loops: Vec<Block<'m>>,
    blocks: BTreeMap<usize, Block<'m>>,
    exits: BTreeMap<Option<usize>, Block<'m>>,
    /// The block to which all exits branch.
    through: Block<'m>,
    /// The latches, the innermost first, each with the block after its loop.
    latches: Vec<(Block<'m>, Block<'m>)>,
    done: Block<'m>,
    /// The block where threads that may diverge continue if all took the same exit.
    agreed: Option<Block<'m>>,
}

struct Writer<'k, 'm> {
    to: Function<'k, 'm>,
    frames: BTreeMap<usize, Frame<'m>>,
    end: Block<'m>,
    /// The block for threads that reached different barriers.
    parted: Block<'m>,
    threads: Threads<'m>,
}

/// Describes where the threads of a region continue.
struct Successors<'s> {
    start: usize,
    exits: &'s BTreeSet<Option<usize>>,
    /// True if the threads may reach different regions.
    may_exit_differently: bool,
    /// The block where threads continue if they took different paths.
    fork: Option<usize>,
}

/// True if the threads of a region share no local variable of the native function.
pub fn is_parallel(kernel: &Kernel, layout: &Layout) -> bool {
    layout.threads > 1 || layout.tile.is_some() || kernel.variables.values().all(|variable| variable.plain)
}

/// Emits the function `to` for the kernel `from`.
pub fn emit<'m>(edit: Editor<'m>, kernel: &Kernel, layout: &Layout, [from, to]: [Value<'m>; 2]) -> Result<(), String> {
    let block = |name: &str| edit.append_block(to, name);
    let (starts, entry, row) = (kernel.starts(), block("entry"), layout.is_cut_row().then(|| block("row")));
    let frames = starts.iter().map(|&start| (start, Frame::of(&block, kernel, layout, start))).collect();
    let (end, row_end) = (block("end"), row.map(|_| block("row.end")));
    let (parted, ended) = (block("parted"), block("ended"));
    let threads = Threads::new(edit, is_parallel(kernel, layout));
    let function = Function::begin(edit, (kernel, layout), [from, to], [entry, ended]);
    let mut writer = Writer { to: function, frames, end, parted, threads };
    writer.rows(entry, row.zip(row_end));
    for (start, group) in starts.into_iter().zip(edit.access_groups(writer.frames.len())?) {
        writer.region(start, group);
    }
    for (block, answer) in [(row_end.unwrap_or(end), DONE), (parted, DIVERGED), (ended, ENDED)] {
        edit.build_at(block).ret(Some(edit.i32(answer)));
    }
    Ok(())
}

impl<'m> Frame<'m> {
    fn of(append: &dyn Fn(&str) -> Block<'m>, kernel: &Kernel, layout: &Layout, start: usize) -> Self {
        let block = |name: String| append(&format!("r{start}{name}"));
        let axes = axes(layout);
        let before = block(".before".into());
        let loops = axes.iter().map(|&axis| block(format!(".loop.{}", AXES[axis]))).collect();
        let label = |n: usize| block(format!(":{}", kernel.function.blocks[n].name));
        let blocks = kernel.region(start).into_iter().map(|n| (n, label(n))).collect();
        let exit = |to: Option<usize>| block(to.map_or(".to.end".into(), |to| format!(".to.{to}")));
        let exits = kernel.exits(start).into_iter().map(|to| (to, exit(to))).collect();
        let through = block(".through".into());
        let latch = |axis: &usize| (block(format!(".latch.{}", AXES[*axis])), block(format!(".out.{}", AXES[*axis])));
        let latches = axes.iter().rev().map(latch).collect();
        let (done, agreed) = (block(".done".into()), kernel.may_diverge(start).then(|| block(".agreed".into())));
        Self { before, loops, blocks, exits, through, latches, done, agreed }
    }
}

/// The axes of the loops over a region's threads, the outermost first.
fn axes(layout: &Layout) -> Vec<usize> {
    match layout.tile {
        Some(tile) => (0..3).rev().filter(|&n| tile[n] > 1).collect(),
        None => vec![0],
    }
}

impl<'m> Writer<'_, 'm> {
    /// Emits a loop around all regions that runs a row of threads in pieces. `row`: the loop's header and the block
    /// after the loop.
    fn rows(&mut self, entry: Block<'m>, row: Option<(Block<'m>, Block<'m>)>) {
        let (to, first) = (&mut self.to, self.frames[&0].before);
        let Some((row, after_row)) = row else { return to.build.branch(first) };
        let (edit, all) = (to.edit, to.count);
        to.build.branch(row);
        to.at(row);
        let done = to.build.phi(to.int(), "row.first");
        let left = to.build.binary_without_overflow(o::SUB, all, done, "row.left");
        to.count = to.min_or_max("smin", left, edit.i32(PIECE_THREADS), "row.count");
        let next = to.build.binary_without_overflow(o::ADD, done, to.count, "row.next");
        to.first[0] = to.build.binary_without_overflow(o::ADD, to.group[0], done, "row.x");
        to.build.branch(first);
        edit.add_incoming(done, &[(edit.i32(0), entry), (next, self.end)]);
        to.at(self.end);
        to.build.branch_if(to.less(next, all, "row.more"), row, after_row);
    }

    fn region(&mut self, start: usize, group: Node<'m>) {
        let kernel = self.to.kernel;
        let (exits, may_exit_differently) = (kernel.exits(start), kernel.may_diverge(start));
        let fork = kernel.fork_of(start).filter(|_| may_exit_differently);
        let successors = Successors { start, exits: &exits, may_exit_differently, fork };
        let (blocks, layout) = (kernel.region(start), self.to.layout);
        let accesses = || kernel.instructions(&blocks).filter_map(Access::of);
        let name = |access: Access<'_>| access.address.local();
        let stored: BTreeSet<LocalId> = accesses().filter(|access| access.value.is_some()).filter_map(name).collect();
        let used: BTreeSet<LocalId> = accesses().filter_map(name).collect();
        let needed: Vec<LocalId> = kernel.live[start].intersection(&used).copied().collect();

        let before = self.frames[&start].before;
        self.to.at(before);
        let once = needed.iter().filter_map(|name| Some((*name, self.once(*name)?)));
        let same: BTreeMap<LocalId, Value<'m>> = once.collect();
        if may_exit_differently {
            let (edit, build) = (self.to.edit, &self.to.build);
            build.store(edit.i32(1 << 31), self.to.most);
            build.store(edit.i32(!(1 << 31)), self.to.least);
        }
        let shared = layout.shared.keys().copied().collect();
        let flags = if layout.threads > 1 { kernel.flags(&blocks, &shared) } else { BTreeMap::new() };
        for name in flags.keys() {
            self.to.build.store(self.to.edit.i32(0), self.to.tile[name].1);
        }
        let axes = axes(layout);
        let bound = if !may_exit_differently && axes.last() == Some(&0) { self.bound(start, &same) } else { None };
        let (local, global) = self.loops(start, &axes);
        let mut region = Region { blocks, group, local, global, places: BTreeMap::new(), flags };
        self.places(&mut region);
        self.needed(start, &region, &needed, &same);
        self.to.build.branch(self.frames[&start].blocks[&start]);
        for &n in &region.blocks {
            self.block(start, &region, n);
        }
        self.exits(&successors, &region, &stored);
        let through = self.frames[&start].through;
        self.to.at(through);
        if may_exit_differently {
            self.compare();
        }
        // With few threads, gathers and scatters do not pay off.
        let few = bound.is_some() && kernel.has_gaps(&region.blocks);
        self.latches(start, &axes, &region, bound, !few);
        self.threads.boundary(&self.to.build);
        self.flags_end(&region);
        self.leave(&successors);
    }

    /// Loads a variable that is kept once for all threads.
    fn once(&self, name: LocalId) -> Option<Value<'m>> {
        let place = self.to.once.get(&name)?;
        Some(self.to.build.load(place.allocated_type()?, *place, "same"))
    }

    /// Begins the loops over the threads. Returns a thread's positions in the tile and in the domain.
    fn loops(&mut self, start: usize, axes: &[usize]) -> ([Value<'m>; 3], [Value<'m>; 3]) {
        let (to, frame) = (&mut self.to, &self.frames[&start]);
        let (mut local, mut global) = ([to.edit.i32(0); 3], to.first);
        let mut from = frame.before;
        for (&axis, &header) in axes.iter().zip(&frame.loops) {
            to.build.branch(header);
            to.at(header);
            // Each position has its own phi. If the global position were a sum, LLVM would add the kernel's offsets to the first operand of
            // this sum, which may overflow.
            for (all, zero) in [(&mut local, to.edit.i32(0)), (&mut global, to.first[axis])] {
                all[axis] = to.build.phi(to.int(), AXES[axis]);
                to.edit.add_incoming(all[axis], &[(zero, from)]);
            }
            from = header;
        }
        (local, global)
    }

    /// Computes the addresses of the thread's variables.
    fn places(&mut self, region: &mut Region<'m>) {
        let (to, long) = (&self.to, self.to.edit.integer_type(64));
        let [x, y, z] = region.local;
        let thread = match to.layout.tile {
            Some([width, height, _]) => {
                let plane = to.build.binary_without_overflow(o::MUL, z, to.edit.i32(height), "plane");
                let line = to.build.binary_without_overflow(o::ADD, plane, y, "line");
                let lines = to.build.binary_without_overflow(o::MUL, line, to.edit.i32(width), "lines");
                to.build.widened(to.build.binary_without_overflow(o::ADD, lines, x, "number"), long, "thread")
            }
            None if to.layout.is_cut_row() => to.build.widened(x, long, "thread"),
            None => to.edit.i64(0),
        };
        for (name, base) in &to.kept {
            let bytes = to.edit.i64(to.layout.kept[name].bytes);
            let offset = to.build.binary_without_overflow(o::MUL, thread, bytes, "offset");
            region.places.insert(*name, to.build.byte_address_inbounds(*base, offset, "place"));
        }
    }

    /// Initialises the variables that a thread needs.
    fn needed(&self, start: usize, region: &Region<'m>, needed: &[LocalId], same: &BTreeMap<LocalId, Value<'m>>) {
        let to = &self.to;
        let mut copied = Copied::new();
        for name in needed {
            let (variable, place) = (&to.kernel.variables[name], to.own[name]);
            if let Some(chain) = variable.rematerialised.as_ref().filter(|_| start != 0) {
                for one in chain {
                    self.rematerialise(region, *one, &mut copied);
                }
                to.build.store(self.stored(Some(region), variable, &copied), place);
            } else if let Some(value) = same.get(name) {
                to.build.store(*value, place);
            } else if to.layout.kept.contains_key(name) {
                let Some(ty) = place.allocated_type() else { continue };
                let mut value = to.build.load(self.kept_type(ty), region.places[name], "was");
                self.attach_metadata(value, region, *name);
                if value.ty() != Some(ty) {
                    value = to.build.cast(o::TRUNC, value, ty, "");
                }
                to.build.store(value, place);
            }
        }
    }

    /// Emits a copy of the instruction that makes a value, unless `copied` contains one.
    fn rematerialise(&self, region: &Region<'m>, name: LocalId, copied: &mut Copied<'m>) {
        let (to, handle) = (&self.to, self.to.handles.locals[name.0]);
        let Some(one) = to.kernel.definition(name).filter(|_| !copied.contains_key(&handle)) else { return };
        match to.kernel.read(one) {
            // The variable has a single value, which the chain has already computed.
            Some(variable) => {
                let value = self.stored(Some(region), variable, copied);
                copied.insert(handle, value);
            }
            None => to.instruction(Some(region), one, handle, copied),
        }
    }

    /// The only value that is stored to a variable.
    fn stored(&self, region: Option<&Region<'m>>, variable: &Variable, copied: &Copied<'m>) -> Value<'m> {
        let store = &variable.stores[0];
        self.value_at(region, (store.block, store.at), copied)
    }

    /// The value that is stored by the instruction at a block and index of the kernel.
    fn value_at(&self, region: Option<&Region<'m>>, (block, at): (usize, usize), copied: &Copied<'m>) -> Value<'m> {
        let origin = self.to.kernel.origins[block].unwrap_or(block);
        let value = self.to.handles.blocks[origin][at].operand(0);
        value.map_or_else(|| self.to.edit.i32(0), |value| self.to.operand(region, copied, value))
    }

    /// The type of a variable that is kept per thread. Single bits become bytes, because LLVM does not vectorise single bits in memory.
    fn kept_type(&self, ty: Type<'m>) -> Type<'m> {
        if ty.kind() == t::INTEGER && ty.width() == 1 { self.to.edit.integer_type(8) } else { ty }
    }

    /// Attaches metadata to an access of a variable that is kept per thread.
    fn attach_metadata(&self, access: Value<'m>, region: &Region<'m>, name: LocalId) {
        self.to.edit.set_metadata(access, "llvm.access.group", Some(region.group));
        self.to.scopes.attach_metadata(self.to.edit, access, Some(DistinctMemory::Kept(name)));
    }

    /// The end of the loop over x, if threads beyond this end have nothing to do.
    fn bound(&self, start: usize, same: &BTreeMap<LocalId, Value<'m>>) -> Option<Value<'m>> {
        let to = &self.to;
        let (tile, bound) = (to.layout.tile?, to.kernel.bound(start, &to.layout.uniform)?);
        let mut copied = Copied::new();
        for step in bound.chain {
            let (name, value) = match step {
                Step::Instruction(name) => {
                    to.instruction(None, to.kernel.definition(name)?, to.handles.locals[name.0], &mut copied);
                    continue;
                }
                Step::Stored(name, place) => (name, self.value_at(None, place, &copied)),
                Step::Kept(name, variable) => (name, same.get(&variable).copied().or_else(|| self.once(variable))?),
            };
            copied.insert(to.handles.locals[name.0], value);
        }
        let value = match bound.value {
            Some((made, side)) => to.operand(None, &copied, to.handles.locals[made.0].operand(side)?),
            None => to.edit.i32(1),
        };
        let more = u32::from(bound.inclusive);
        let most = to.edit.integer(value.ty()?, u64::from(tile[0] - more));
        let least = to.min_or_max(if bound.signed { "smin" } else { "umin" }, value, most, "least");
        let few = if least.ty() == Some(to.int()) { least } else { to.build.cast(o::TRUNC, least, to.int(), "few") };
        Some(to.build.binary(o::ADD, few, to.edit.i32(more), "bound"))
    }

    fn block(&mut self, start: usize, region: &Region<'m>, n: usize) {
        let (kernel, edit) = (self.to.kernel, self.to.edit);
        let frame = &self.frames[&start];
        self.to.at(frame.blocks[&n]);
        let to = &self.to;
        let (flow, mut copied) = (&kernel.flow[n], Copied::new());
        let next: Vec<Block<'m>> = flow.next.iter().map(|next| frame.blocks[next]).collect();
        if let Some(fork) = kernel.forks.values().find(|fork| fork.block == n) {
            let branch_condition = to.build.load(edit.integer_type(1), to.own[&fork.variable], "");
            to.build.branch_if(branch_condition, next[0], next[1]);
            return;
        }
        let Some(origin) = kernel.origins[n] else { return to.build.branch(frame.exits[&flow.barrier]) };
        let code = &kernel.code.functions[kernel.index].blocks[origin].instructions;
        let handles = &to.handles.blocks[origin];
        let Some((end, handles)) = handles.split_last() else { return };
        for (one, &handle) in code.iter().zip(handles) {
            use DeviceFunction as D;
            match DeviceFunction::called(&kernel.code, &one.op) {
                Some(D::WorkgroupAuto | D::WorkgroupSize | D::TileBarrier) => continue,
                // The code after this call is unreachable.
                Some(D::EndThread) => return to.build.branch(to.ended),
                _ => {}
            }
            if matches!(one.op, Op::Alloca { .. }) || is_lifetime(&kernel.code, one) {
                continue;
            }
            let flag = Access::of(one).and_then(|access| region.flag(access.address));
            match flag {
                Some(name) => _ = to.build.store(edit.i32(1), to.tile[&name].1),
                None => to.instruction(Some(region), one, handle, &mut copied),
            }
        }
        if let Some(fork) = kernel.forks.get(&n) {
            let branch_condition =
                end.condition().map(|branch_condition| to.operand(Some(region), &copied, branch_condition));
            branch_condition.map(|branch_condition| to.build.store(branch_condition, to.own[&fork.variable]));
        }
        if flow.barrier.is_some() || next.is_empty() {
            return to.build.branch(frame.exits[&flow.barrier]);
        }
        let copy = to.build.copy(*end, "");
        let branch_condition = end
            .operand(0)
            .map(|branch_condition| (branch_condition, to.operand(Some(region), &copied, branch_condition)));
        if let Some((_, own)) = branch_condition.filter(|(branch_condition, own)| branch_condition != own) {
            edit.set_operand(copy, 0, own);
        }
        for (successor, block) in (0..).zip(next) {
            edit.set_successor(copy, successor, block);
        }
    }

    /// Emits the exits of a region, which save the variables that later regions need.
    fn exits(&mut self, successors: &Successors<'_>, region: &Region<'m>, stored: &BTreeSet<LocalId>) {
        let kernel = self.to.kernel;
        for exit in successors.exits {
            let (block, through) = (self.frames[&successors.start].exits[exit], self.frames[&successors.start].through);
            self.to.at(block);
            let mut needed: BTreeSet<LocalId> =
                exit.iter().chain(&successors.fork).flat_map(|&to| &kernel.live[to]).copied().collect();
            if !successors.may_exit_differently {
                // A variable that is kept once is saved on all exits, because LLVM does not vectorise a loop in which only some exits
                // change it.
                let all = successors.exits.iter().flatten().flat_map(|&to| &kernel.live[to]);
                needed.extend(all.filter(|name| self.to.layout.uniform.contains(name)));
            }
            for name in needed.intersection(stored) {
                self.keep(region, *name);
            }
            if successors.exits.len() > 1 {
                self.to.build.store(self.to.edit.i32(number(*exit)), self.to.next);
            }
            self.to.build.branch(through);
        }
    }

    fn keep(&self, region: &Region<'m>, name: LocalId) {
        let to = &self.to;
        if to.kernel.variables[&name].rematerialised.is_some() {
            return;
        }
        let Some(ty) = to.own.get(&name).and_then(|place| place.allocated_type()) else { return };
        let mut value = to.build.load(ty, to.own[&name], "");
        if let Some(once) = to.once.get(&name) {
            to.build.store(value, *once);
            return;
        }
        let kept = self.kept_type(ty);
        if kept != ty {
            value = to.build.cast(o::ZEXT, value, kept, "");
        }
        self.attach_metadata(to.build.store(value, region.places[&name]), region, name);
    }

    /// Updates the largest and the smallest number of the regions that threads reach.
    fn compare(&self) {
        let to = &self.to;
        for (place, intrinsic) in [(to.most, "smax"), (to.least, "smin")] {
            let [known, next] = [place, to.next].map(|place| to.build.load(to.int(), place, ""));
            to.build.store(to.min_or_max(intrinsic, known, next, ""), place);
        }
    }

    /// Ends the loops over the threads. `bound`: the end of the loop over x, if it does not run all threads.
    fn latches(
        &mut self,
        start: usize,
        axes: &[usize],
        region: &Region<'m>,
        bound: Option<Value<'m>>,
        may_vectorise: bool,
    ) {
        let (to, frame) = (&mut self.to, &self.frames[&start]);
        for ((&axis, &header), &(latch, out)) in axes.iter().zip(&frame.loops).rev().zip(&frame.latches) {
            let end = to.layout.tile.map_or(to.count, |tile| to.edit.i32(tile[axis]));
            let end = bound.filter(|_| axis == 0).unwrap_or(end);
            to.build.branch(latch);
            to.at(latch);
            self.threads.marker(&to.build, region.group);
            let [next, _] = [region.local, region.global].map(|place| {
                let next = to.build.binary_without_overflow(o::ADD, place[axis], to.edit.i32(1), "next");
                to.edit.add_incoming(place[axis], &[(next, latch)]);
                next
            });
            let branch = to.build.branch_if(to.less(next, end, "more"), header, out);
            self.threads.mark(branch, region.group, may_vectorise);
            to.at(out);
        }
        to.build.branch(frame.done);
        to.at(frame.done);
    }

    /// Stores to the tile_static variables for which a thread has recorded a store.
    fn flags_end(&self, region: &Region<'m>) {
        let to = &self.to;
        for (name, &place) in &region.flags {
            let (address, stored_flag) = to.tile[name];
            let value = self.value_at(None, place, &Copied::new());
            let stored_flag = to.build.load(to.int(), stored_flag, "");
            let was_stored = to.build.compare(IntPredicate::Ne as i32, stored_flag, to.edit.i32(0), "");
            let old = to.build.load(value.ty().unwrap_or_else(|| to.int()), address, "");
            to.build.store(to.build.select(was_stored, value, old, "flagged"), address);
        }
    }

    fn leave(&mut self, successors: &Successors<'_>) {
        let (to, label) = (&mut self.to, |exit: Option<usize>| exit.map_or(self.end, |to| self.frames[&to].before));
        if successors.may_exit_differently {
            let [most, least] = [to.most, to.least].map(|place| to.build.load(to.int(), place, ""));
            let agree = to.build.compare(IntPredicate::Eq as i32, most, least, "agree");
            let diverged = successors.fork.map_or(self.parted, |fork| self.frames[&fork].before);
            let agreed = self.frames[&successors.start].agreed.unwrap_or(self.end);
            to.build.branch_if(agree, agreed, diverged);
            to.at(agreed);
        }
        let mut all = successors.exits.iter().copied();
        let Some(last) = all.next() else { return to.build.branch(self.end) };
        let cases: Vec<(Value<'m>, Block<'m>)> = all.map(|exit| (to.edit.i32(number(exit)), label(exit))).collect();
        if cases.is_empty() {
            return to.build.branch(label(last));
        }
        to.build.switch(to.build.load(to.int(), to.next, ""), label(last), &cases);
    }
}

/// The number of an exit in `next`.
fn number(exit: Option<usize>) -> u32 {
    exit.map_or(END, |start| u32::try_from(start).unwrap_or(END))
}
