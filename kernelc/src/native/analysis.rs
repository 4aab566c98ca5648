//! What is known of a kernel before it is cut at its barriers: its regions, the variables that live across barriers, which of
//! them are the same for all threads of a tile, and which are rather computed again.

use super::join;
use super::text::{Block, Function, Instruction, mentions, operand, split_type};
use super::variables::{Flow, Variable, behind_all, is_lifetime, live, plain_name, variables};
use crate::device_abi::{DeviceFunction, Position};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// More blocks than this are not cut: sets of blocks are kept for each block.
const MOST_BLOCKS: usize = 4000;
/// What is computed again takes at most so many instructions.
const MOST_AGAIN: usize = 24;

/// Loops of fewer instructions lose more by keeping their variables in memory, and those of more are not made faster.
const CUT_FROM: usize = 24;
/// The same of loops that threads side by side go through memory side by side in.
const CUT_FROM_SIDE_BY_SIDE: usize = 6;
const CUT_TO: usize = 400;

/// A kernel cut at its barriers.
pub struct Kernel {
    pub function: Function,
    pub flow: Vec<Flow>,
    pub variables: BTreeMap<String, Variable>,
    /// The variables whose values are needed at the begin of each block.
    pub live: Vec<BTreeSet<String>>,
    /// The branches that threads of a tile may take differently.
    pub divergent: Vec<bool>,
    /// Loads of what no thread writes.
    pub constant_loads: HashSet<String>,
    /// Addresses within tile_static variables, with the variable.
    pub tile_addresses: HashMap<String, String>,
    /// Blocks that only some threads of a tile may come by.
    pub parted: BTreeSet<usize>,
    /// Of each branch that threads may take differently, the blocks that only some may come by.
    pub areas: BTreeMap<usize, BTreeSet<usize>>,
    /// Branches behind which a region ends, with the block where threads go on that did not all take the same way.
    pub forks: BTreeMap<usize, usize>,
    /// The values that differ between the threads of a tile.
    pub varying: HashSet<String>,
    /// Loops without barriers are cut.
    pub is_cut: bool,
    /// It has no tiles: its threads are of one row.
    row: bool,
}

impl Kernel {
    /// Looks at a kernel; an error says what of it is not understood. `cut`: loops without barriers may be cut.
    pub fn new(
        mut function: Function,
        types: &HashSet<String>,
        views: &HashSet<String>,
        shared: &HashSet<String>,
        cut: bool,
    ) -> Result<Self, String> {
        check_variables(&function)?;
        let behind = split(&mut function, types)?;
        if function.blocks.is_empty() {
            return Err("it has no blocks".into());
        }
        if function.blocks.len() > MOST_BLOCKS {
            return Err("it has too many blocks".into());
        }
        let numbers: HashMap<&str, usize> =
            function.blocks.iter().enumerate().map(|(n, b)| (b.label.as_str(), n)).collect();
        let mut flow = Vec::new();
        for (n, block) in function.blocks.iter().enumerate() {
            let mut next = Vec::new();
            let end = block.instructions.last().filter(|i| i.ends()).ok_or("a block does not end")?;
            if matches!(end.opcode.as_str(), "indirectbr" | "invoke" | "resume") {
                return Err(format!("it has {}", end.opcode));
            }
            for label in end.targets(types) {
                next.push(*numbers.get(label.as_str()).ok_or("a label is missing")?);
            }
            if block.instructions.iter().any(|i| i.opcode == "phi") {
                return Err("a phi is left".into());
            }
            let barrier = next.first().copied().filter(|_| behind[n]);
            flow.push(Flow { next: if barrier.is_some() { Vec::new() } else { next }, barrier });
        }
        join::joined(&mut function, &flow, types);
        let variables = variables(&function);
        let live = live(&function, &flow, &variables);
        let divergent = vec![false; function.blocks.len()];
        let all = || function.blocks.iter().flat_map(|b| &b.instructions);
        let row = all().any(|i| i.device_function() == Some(DeviceFunction::WorkgroupAuto));
        let mut kernel = Self {
            function,
            flow,
            variables,
            live,
            divergent,
            constant_loads: HashSet::new(),
            tile_addresses: HashMap::new(),
            parted: BTreeSet::new(),
            areas: BTreeMap::new(),
            forks: BTreeMap::new(),
            varying: HashSet::new(),
            is_cut: false,
            row,
        };
        kernel.find_constant_loads(views);
        kernel.find_tile_addresses(shared);
        kernel.find_again();
        kernel.find_varying();
        if cut {
            kernel.cut_loops(types);
            if !kernel.row {
                kernel.cut_before_bounds(types);
            }
            kernel.find_live();
        }
        Ok(kernel)
    }

    /// The blocks at which regions begin.
    pub fn starts(&self) -> BTreeSet<usize> {
        self.flow.iter().filter_map(|f| f.barrier).chain(self.forks.values().copied()).chain([0]).collect()
    }

    /// The blocks of a region.
    pub fn region(&self, start: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            for &next in &self.flow[at].next {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    }

    /// The instruction that makes each value.
    pub fn made(&self) -> HashMap<&str, &Instruction> {
        let all = self.function.blocks.iter().flat_map(|b| &b.instructions);
        all.filter_map(|i| Some((i.result.as_deref()?, i))).collect()
    }

    /// The variable that a load reads.
    pub fn read<'k>(&'k self, load: &Instruction) -> Option<&'k Variable> {
        let address = load.access().filter(|_| load.opcode == "load")?.address;
        self.variables.get(plain_name(address)?)
    }

    /// The one value that a variable ever has.
    pub fn single(variable: &Variable) -> Option<&str> {
        match variable.stores.as_slice() {
            [(_, value)] if variable.plain => Some(value),
            _ => None,
        }
    }

    /// Loads of the argument block, and of the arrays' own faces behind it.
    fn find_constant_loads(&mut self, views: &HashSet<String>) {
        let made = self.made();
        let mut found = HashSet::new();
        if self.function.reads_block {
            for (name, load) in made.iter().filter(|(_, i)| i.opcode == "load") {
                let Some(access) = load.access() else { continue };
                let root = self.root(&made, access.address, 0);
                let constant = match root {
                    Root::Block => true,
                    // What is behind a pointer in the block may be data; the type of a face says that it is not.
                    Root::Behind => tbaa(&load.text).is_some_and(|tag| views.contains(tag)),
                    Root::Other => false,
                };
                if constant {
                    found.insert((*name).to_owned());
                }
            }
        }
        self.constant_loads = found;
    }

    /// Addresses that certainly lie within a tile_static variable.
    fn find_tile_addresses(&mut self, shared: &HashSet<String>) {
        let made = self.made();
        let found = made.keys().filter_map(|name| {
            let variable = self.tile_variable(&made, shared, &format!("%{name}"), 0)?;
            Some(((*name).to_owned(), variable.to_owned()))
        });
        self.tile_addresses = found.collect();
    }

    /// The tile_static variable that an address lies within.
    fn tile_variable<'s>(
        &self,
        made: &HashMap<&str, &Instruction>,
        shared: &'s HashSet<String>,
        address: &str,
        depth: usize,
    ) -> Option<&'s str> {
        let Some(name) = plain_name(address).filter(|_| depth < 64) else {
            let named = shared.iter().find(|name| mentions(address, &format!("@{name}")));
            return named.map(String::as_str);
        };
        let instruction = made.get(name)?;
        match instruction.opcode.as_str() {
            "getelementptr" => {
                let (_, rest) = instruction.body().split_once(", ptr ")?;
                self.tile_variable(made, shared, operand(rest).0, depth + 1)
            }
            "load" => {
                let value = self.read(instruction).and_then(Self::single)?;
                self.tile_variable(made, shared, value, depth + 1)
            }
            _ => None,
        }
    }

    /// What an address leads back to.
    fn root(&self, made: &HashMap<&str, &Instruction>, address: &str, depth: usize) -> Root {
        let Some(name) = plain_name(address).filter(|_| depth < 64) else { return Root::Other };
        if name == self.function.parameter {
            return Root::Block;
        }
        let Some(instruction) = made.get(name) else { return Root::Other };
        match instruction.opcode.as_str() {
            "getelementptr" => match instruction.body().split_once(", ptr ") {
                Some((_, rest)) => self.root(made, rest.split(',').next().unwrap_or_default(), depth + 1),
                None => Root::Other,
            },
            "load" => match self.read(instruction) {
                Some(variable) => match Self::single(variable) {
                    Some(value) => self.root(made, value, depth + 1),
                    None => Root::Other,
                },
                None => match instruction.access().map(|a| self.root(made, a.address, depth + 1)) {
                    Some(Root::Block) => Root::Behind,
                    _ => Root::Other,
                },
            },
            _ => Root::Other,
        }
    }

    /// Variables with one value that a few instructions make of what is always there.
    fn find_again(&mut self) {
        let made = self.made();
        let mut found = Vec::new();
        for (name, variable) in &self.variables {
            let Some(value) = Self::single(variable) else { continue };
            let mut chain = Vec::new();
            let mut seen = HashSet::new();
            if self.chain(&made, value, &mut chain, &mut seen) {
                found.push((name.clone(), chain));
            }
        }
        for (name, chain) in found {
            if let Some(variable) = self.variables.get_mut(&name) {
                variable.again = Some(chain);
            }
        }
    }

    /// An address with no index that may be wrong.
    fn is_fixed(&self, made: &HashMap<&str, &Instruction>, address: &str, depth: usize) -> bool {
        let Some(name) = plain_name(address).filter(|_| depth < 64) else { return false };
        if name == self.function.parameter {
            return true;
        }
        let Some(instruction) = made.get(name) else { return false };
        match (instruction.opcode.as_str(), instruction.uses.as_slice()) {
            ("getelementptr", [base]) => self.is_fixed(made, &format!("%{base}"), depth + 1),
            ("load", [from]) => match self.read(instruction) {
                Some(variable) => Self::single(variable).is_some_and(|value| self.is_fixed(made, value, depth + 1)),
                None => self.is_fixed(made, &format!("%{from}"), depth + 1),
            },
            _ => false,
        }
    }

    /// Appends the instructions that make a value, each behind what it uses.
    fn chain(
        &self,
        made: &HashMap<&str, &Instruction>,
        value: &str,
        chain: &mut Vec<Instruction>,
        seen: &mut HashSet<String>,
    ) -> bool {
        let Some(name) = plain_name(value) else { return !value.contains(['%', '(']) };
        if name == self.function.parameter {
            return true;
        }
        if !seen.insert(name.to_owned()) {
            // It is there, unless it is made of itself.
            return chain.iter().any(|i| i.result.as_deref() == Some(name));
        }
        if seen.len() > 4 * MOST_AGAIN {
            return false;
        }
        let Some(&instruction) = made.get(name) else { return false };
        let known = match instruction.opcode.as_str() {
            "load" => match self.read(instruction) {
                Some(variable) => {
                    let Some(value) = Self::single(variable) else { return false };
                    if !self.chain(made, value, chain, seen) {
                        return false;
                    }
                    // The load stands for the value.
                    chain.push(instruction.clone());
                    return true;
                }
                // It may be done where it would not have been: only at places that are there.
                None => {
                    let at = instruction.access().map_or("", |a| a.address);
                    self.constant_loads.contains(name) && self.is_fixed(made, at, 0)
                }
            },
            "call" => instruction.position().is_some() || instruction.callee().is_some_and(is_number_intrinsic),
            opcode => is_simple(opcode),
        };
        if !known || chain.len() > MOST_AGAIN {
            return false;
        }
        for used in &instruction.uses {
            if !self.chain(made, &format!("%{used}"), chain, seen) {
                return false;
            }
        }
        chain.push(instruction.clone());
        chain.len() <= MOST_AGAIN
    }

    /// Finds what differs between the threads of a tile: values, then branches on them, then what is stored under these.
    fn find_varying(&mut self) {
        let later = behind_all(&self.flow);
        let mut varying: HashSet<String> = HashSet::new();
        loop {
            let mut changed = false;
            for n in 0..self.function.blocks.len() {
                for i in 0..self.function.blocks[n].instructions.len() {
                    let instruction = &self.function.blocks[n].instructions[i];
                    if let Some(result) = instruction.result.as_deref() {
                        if !varying.contains(result) && self.varies(instruction, &varying) {
                            varying.insert(result.to_owned());
                            changed = true;
                        }
                    } else if let Some(store) = instruction.access() {
                        let differs = instruction.uses.first().is_some_and(|used| varying.contains(used));
                        let Some(name) = plain_name(store.address).map(str::to_owned) else { continue };
                        let value_is_name = store.value.trim().starts_with('%');
                        if let Some(v) = self.variables.get_mut(&name).filter(|v| v.plain && !v.varies) {
                            if differs && value_is_name {
                                v.varies = true;
                                changed = true;
                            }
                        }
                    } else if instruction.ends()
                        && self.flow[n].next.len() > 1
                        && !self.divergent[n]
                        && instruction.uses.iter().any(|used| varying.contains(used))
                    {
                        self.divergent[n] = true;
                        changed = true;
                        self.taint(n, &later);
                    }
                }
            }
            if !changed {
                self.varying = varying;
                return;
            }
        }
    }

    /// The blocks that only some threads may come by after a branch, and the one where all meet again.
    fn parts(&self, branch: usize, later: &[BTreeSet<usize>]) -> (BTreeSet<usize>, Option<usize>) {
        let area = self.reached(&self.flow[branch].next, branch, later);
        let meeting = later[branch].iter().copied().filter(|&n| n != branch);
        // All others that every way passes come behind it.
        (area, meeting.max_by_key(|&n| later[n].len()))
    }

    /// The blocks reached before all threads that part at a branch have met again.
    fn reached(&self, from: &[usize], branch: usize, later: &[BTreeSet<usize>]) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = from.to_vec();
        while let Some(at) = open.pop() {
            let meets = at != branch && later[branch].contains(&at);
            if !meets && seen.insert(at) {
                open.extend(&self.flow[at].next);
            }
        }
        seen
    }

    /// Variables stored where only some threads come by, and read where these meet others. Until then threads that are
    /// together have the same value of them.
    fn taint(&mut self, branch: usize, later: &[BTreeSet<usize>]) {
        let (area, meeting) = self.parts(branch, later);
        let ways: Vec<BTreeSet<usize>> =
            self.flow[branch].next.iter().map(|&next| self.reached(&[next], branch, later)).collect();
        let several = |n: &usize| ways.iter().filter(|way| way.contains(n)).count() > 1;
        let joins: Vec<usize> = area.iter().copied().filter(several).chain(meeting).collect();
        let ends: Vec<usize> = area.iter().filter_map(|&n| self.flow[n].barrier).collect();
        self.parted.extend(&area);
        self.areas.insert(branch, area.clone());
        for (name, variable) in &mut self.variables {
            variable.varies |= variable.stores.iter().any(|(block, _)| area.contains(block))
                && joins.iter().chain(&ends).any(|&n| self.live[n].contains(name));
        }
    }

    /// Loops without barriers that all threads of a tile go through together are cut as if there were one in each iteration: the
    /// loop over the threads, which becomes vector instructions, is then the inner one.
    fn cut_loops(&mut self, types: &HashSet<String>) {
        let mut wanted = Vec::new();
        for (latch, header) in self.inner_loops() {
            let body = self.body(latch, header);
            let leaves = |n: &usize| self.flow[*n].next.iter().any(|next| !body.contains(next));
            let uniform = body.iter().filter(|n| leaves(n)).all(|&n| !self.divergent[n]);
            let all = || body.iter().flat_map(|&n| &self.function.blocks[n].instructions);
            let simple = all().all(|i| match i.callee() {
                Some(name) => is_harmless_call(i, name),
                None => !matches!(i.opcode.as_str(), "call" | "cmpxchg" | "fence" | "atomicrmw"),
            });
            // What each thread would have to keep from one iteration to the next.
            let kept = self.live[header]
                .iter()
                .any(|name| self.variables[name].varies && self.variables[name].again.is_none());
            let least = match kept {
                true if self.is_side_by_side(&body) => CUT_FROM_SIDE_BY_SIDE,
                true => CUT_FROM,
                false => 1,
            };
            if uniform && simple && (least..CUT_TO).contains(&all().count()) {
                wanted.push((header, latch));
            }
        }
        // Where only some threads come, the others would have to be left out one by one.
        let wanted: Vec<usize> = wanted
            .into_iter()
            .filter(|&(header, latch)| self.is_together(header, latch, types))
            .map(|(header, _)| header)
            .collect();
        for to in wanted {
            let before: Vec<usize> = (0..self.flow.len()).filter(|&n| self.flow[n].next.contains(&to)).collect();
            for n in before {
                self.cut_edge(n, to, types);
            }
        }
        self.find_live();
    }

    fn find_live(&mut self) {
        self.live = live(&self.function, &self.flow, &self.variables);
    }

    /// Puts a block between two that a barrier seems to end.
    pub fn cut_edge(&mut self, from: usize, to: usize, types: &HashSet<String>) {
        let new = self.function.blocks.len();
        let (label, old) = (format!("cut.{new}"), self.function.blocks[to].label.clone());
        self.is_cut = true;
        if let Some(end) = self.function.blocks[from].instructions.last_mut() {
            let text = super::text::renamed(&end.text, types, |name| {
                (name.label && name.name == old).then(|| format!("%{label}"))
            });
            *end = Instruction::new(&text, types);
        }
        let jump = Instruction::new(&format!("br label %\"{old}\""), types);
        self.function.blocks.push(Block { label, instructions: vec![jump] });
        self.flow[from].next.iter_mut().filter(|next| **next == to).for_each(|next| *next = new);
        self.flow.push(Flow { next: Vec::new(), barrier: Some(to) });
        self.divergent.push(false);
    }

    /// The innermost loops without barriers, each by its only latch and its header.
    fn inner_loops(&self) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for header in 0..self.flow.len() {
            let inside: BTreeSet<usize> = self.region(header);
            let latches: Vec<usize> = inside.iter().copied().filter(|&n| self.flow[n].next.contains(&header)).collect();
            if let [latch] = latches[..] {
                let body = self.body(latch, header);
                // All ways into it come by its header.
                let entered = |n: usize| {
                    n != header
                        && (0..self.flow.len()).any(|from| {
                            !body.contains(&from)
                                && (self.flow[from].next.contains(&n) || self.flow[from].barrier == Some(n))
                        })
                };
                if !body.iter().any(|&n| entered(n)) && !body.iter().any(|&n| self.flow[n].barrier.is_some()) {
                    found.push((latch, header));
                }
            }
        }
        let bodies: Vec<BTreeSet<usize>> = found.iter().map(|&(latch, header)| self.body(latch, header)).collect();
        let inner = |n: &usize| !bodies.iter().enumerate().any(|(m, other)| m != *n && other.is_subset(&bodies[*n]));
        (0..found.len()).filter(inner).map(|n| found[n]).collect()
    }

    /// The blocks of a loop.
    fn body(&self, latch: usize, header: usize) -> BTreeSet<usize> {
        let mut body = BTreeSet::from([header]);
        let mut open = vec![latch];
        while let Some(at) = open.pop() {
            if body.insert(at) {
                open.extend((0..self.flow.len()).filter(|&n| self.flow[n].next.contains(&at)));
            }
        }
        body
    }

    fn varies(&self, instruction: &Instruction, varying: &HashSet<String>) -> bool {
        match instruction.opcode.as_str() {
            "load" => match self.read(instruction) {
                Some(variable) => !variable.plain || variable.varies,
                None => {
                    !instruction.result.as_ref().is_some_and(|r| self.constant_loads.contains(r))
                        || instruction.uses.iter().any(|used| varying.contains(used))
                }
            },
            "alloca" => true,
            "call" => match (instruction.position(), instruction.callee()) {
                (Some(Position::Group), _) => false,
                // Only x differs within a row.
                (Some(_), _) if self.row => instruction.text.contains("(i32 noundef 0)"),
                (_, Some(name)) if is_number_intrinsic(name) => instruction.uses.iter().any(|u| varying.contains(u)),
                _ => true,
            },
            opcode if is_simple(opcode) || is_division(opcode) => instruction.uses.iter().any(|u| varying.contains(u)),
            _ => true,
        }
    }

    /// The regions' first blocks that a block's way may end at; `None` is the kernel's end.
    pub fn exits(&self, from: usize) -> BTreeSet<Option<usize>> {
        let mut exits = BTreeSet::new();
        for at in self.region(from) {
            match self.flow[at].barrier {
                Some(behind) => drop(exits.insert(Some(behind))),
                None if self.flow[at].next.is_empty() => drop(exits.insert(None)),
                None => {}
            }
        }
        exits
    }

    /// Threads of a tile that begin at `start` may end at different barriers, as far as is known.
    pub fn may_part(&self, start: usize) -> bool {
        self.region(start).into_iter().any(|at| self.divergent[at] && self.exits(at).len() > 1)
    }
}

enum Root {
    Block,
    Behind,
    Other,
}

/// The base type of a load by its type-based alias information: `!tbaa !8`.
fn tbaa(text: &str) -> Option<&str> {
    let rest = text.split("!tbaa ").nth(1)?;
    Some(rest.split([',', ' ']).next().unwrap_or(rest))
}

/// Instructions without effect that may be done where they would not have been.
pub fn is_simple(opcode: &str) -> bool {
    const SIMPLE: &str = " getelementptr sext zext trunc add sub mul shl lshr ashr and or xor icmp fcmp select bitcast \
        freeze fadd fsub fmul fneg sitofp uitofp fptosi fptoui fpext fptrunc ptrtoint inttoptr extractelement insertelement \
        shufflevector extractvalue insertvalue ";
    SIMPLE.contains(&format!(" {opcode} "))
}

fn is_division(opcode: &str) -> bool {
    matches!(opcode, "udiv" | "sdiv" | "urem" | "srem" | "fdiv" | "frem")
}

/// A call that only makes a number, or tells of a variable's lifetime.
pub fn is_harmless_call(call: &Instruction, callee: &str) -> bool {
    DeviceFunction::of(callee).is_some_and(DeviceFunction::is_pure) || is_number_intrinsic(callee) || is_lifetime(call)
}

/// Intrinsics of LLVM that make a number of numbers.
fn is_number_intrinsic(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("llvm.") else { return false };
    const KNOWN: [&str; 27] = [
        "smax",
        "smin",
        "umax",
        "umin",
        "abs",
        "fabs",
        "fma",
        "fmuladd",
        "sqrt",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "nearbyint",
        "round",
        "roundeven",
        "copysign",
        "minnum",
        "maxnum",
        "ctpop",
        "ctlz",
        "cttz",
        "bswap",
        "fshl",
        "fshr",
        "bitreverse",
        "usub",
    ];
    KNOWN.contains(&rest.split('.').next().unwrap_or_default())
}

/// Cuts blocks behind their barriers. Values used across a cut become variables. Tells for each block whether a barrier ends
/// it.
fn split(function: &mut Function, types: &HashSet<String>) -> Result<Vec<bool>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut behind = Vec::new();
    let mut made: Vec<Instruction> = Vec::new();
    let mut cuts = 0;
    for block in std::mem::take(&mut function.blocks) {
        let is_barrier = |i: &Instruction| i.device_function() == Some(DeviceFunction::TileBarrier);
        if !block.instructions.iter().any(is_barrier) {
            blocks.push(block);
            behind.push(false);
            continue;
        }
        let mut parts: Vec<Vec<Instruction>> = vec![Vec::new()];
        for instruction in block.instructions {
            if is_barrier(&instruction) {
                parts.push(Vec::new());
            } else if let Some(part) = parts.last_mut() {
                part.push(instruction);
            }
        }
        // Where each value is made, to find those used in a later part.
        let mut home: HashMap<String, (usize, String)> = HashMap::new();
        for (n, part) in parts.iter().enumerate() {
            for instruction in part {
                if let Some(result) = instruction.result.as_ref().filter(|_| instruction.opcode != "alloca") {
                    home.insert(result.clone(), (n, type_of(instruction)));
                }
            }
        }
        let mut crossing: BTreeMap<String, (usize, String)> = BTreeMap::new();
        for (n, part) in parts.iter().enumerate() {
            for used in part.iter().flat_map(|i| &i.uses) {
                if let Some(at) = home.get(used).filter(|(at, _)| *at < n) {
                    crossing.insert(used.clone(), at.clone());
                }
            }
        }
        if let Some((name, _)) = crossing.iter().find(|(_, (_, ty))| ty.is_empty()) {
            return Err(format!("the type of %{name} is not known"));
        }
        let count = parts.len();
        for (n, part) in parts.into_iter().enumerate() {
            let label = if n == 0 { block.label.clone() } else { format!("behind.{}", cuts + n) };
            let mut instructions: Vec<Instruction> = Vec::new();
            for (name, (at, ty)) in &crossing {
                let used = part.iter().any(|i| i.uses.contains(name));
                if *at < n && used {
                    let text = format!("%\"{name}.in.{n}\" = load {ty}, ptr %\"{name}.kept\"");
                    instructions.push(Instruction::new(&text, types));
                }
            }
            for instruction in part {
                let text = super::text::renamed(&instruction.text, types, |used| {
                    let crosses = crossing.get(&used.name).is_some_and(|(at, _)| *at < n) && !used.label;
                    crosses.then(|| format!("%\"{}.in.{n}\"", used.name))
                });
                let instruction = Instruction::new(&text, types);
                let kept = instruction.result.clone().and_then(|r| crossing.get(&r).map(|(_, ty)| (r, ty)));
                instructions.push(instruction);
                if let Some((name, ty)) = kept {
                    let text = format!("store {ty} %\"{name}\", ptr %\"{name}.kept\"");
                    instructions.push(Instruction::new(&text, types));
                }
            }
            if n + 1 < count {
                let text = format!("br label %behind.{}", cuts + n + 1);
                instructions.push(Instruction::new(&text, types));
            }
            blocks.push(Block { label, instructions });
            behind.push(n + 1 < count);
        }
        for (name, (_, ty)) in crossing {
            made.push(Instruction::new(&format!("%\"{name}.kept\" = alloca {ty}"), types));
        }
        cuts += count;
    }
    if let Some(entry) = blocks.first_mut() {
        entry.instructions.splice(0..0, made);
    }
    function.blocks = blocks;
    Ok(behind)
}

/// The type of the value that an instruction makes; empty if it is not known here.
fn type_of(instruction: &Instruction) -> String {
    let body = instruction.body();
    let behind_comma = || body.split_once(", ").map_or("", |(_, rest)| rest);
    let first = |text: &str| split_type(text).map_or(String::new(), |(ty, _)| ty.to_owned());
    match instruction.opcode.as_str() {
        "getelementptr" if !body.contains('<') => "ptr".into(),
        "sext" | "zext" | "trunc" | "bitcast" | "sitofp" | "uitofp" | "fptosi" | "fptoui" | "fpext" | "fptrunc"
        | "ptrtoint" | "inttoptr" => first(body.rsplit_once(" to ").map_or("", |(_, ty)| ty)),
        "icmp" | "fcmp" if !body.contains('<') => "i1".into(),
        "select" | "atomicrmw" => first(behind_comma()),
        "cmpxchg" => format!("{{ {}, i1 }}", first(behind_comma())),
        "extractelement" => first(unflagged(body))
            .split_once(" x ")
            .map_or(String::new(), |(_, ty)| ty.trim_end_matches('>').to_owned()),
        "call" => called_type(body),
        "getelementptr" | "icmp" | "fcmp" | "shufflevector" | "extractvalue" => String::new(),
        _ => first(unflagged(body)),
    }
}

/// The type that a call gives: the last before the function's name, or before the types of its parameters.
fn called_type(body: &str) -> String {
    let (mut ty, mut rest) = ("", body.split('@').next().unwrap_or_default().trim());
    while let Some((word, more)) = split_type(rest).filter(|(word, _)| !word.is_empty()) {
        if !word.starts_with('(') {
            ty = word;
        }
        rest = more.trim_start();
    }
    ty.to_owned()
}

/// An array whose length is not constant has no place among a tile's threads.
fn check_variables(function: &Function) -> Result<(), String> {
    for instruction in function.blocks.iter().flat_map(|b| &b.instructions).filter(|i| i.opcode == "alloca") {
        let rest = instruction.body().strip_prefix("alloca ").and_then(split_type).map_or("", |(_, rest)| rest);
        let rest = rest.trim_start_matches([',', ' ']);
        if !(rest.is_empty() || rest.starts_with("align ") || rest.starts_with('!')) {
            return Err("a variable is an array of its own length".into());
        }
    }
    Ok(())
}

/// Behind the word of an instruction and its flags.
fn unflagged(body: &str) -> &str {
    let mut rest = body.split_once(' ').map_or("", |(_, rest)| rest);
    while let Some((word, more)) = split_type(rest) {
        if !is_flag(word) || more.is_empty() {
            break;
        }
        rest = more.trim_start();
    }
    rest
}

fn is_flag(word: &str) -> bool {
    const FLAGS: &str = " nuw nsw exact disjoint fast nnan ninf nsz arcp contract afn reassoc nneg samesign atomic volatile \
        weak xchg add sub and nand or xor max min umax umin fadd fsub fmax fmin ";
    FLAGS.contains(&format!(" {word} "))
}
