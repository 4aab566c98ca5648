//! A kernel as one function for a tile (or a row of threads without tiles): each region a loop over the threads.

use super::analysis::Kernel;
use super::flags::Flag;
use super::parallel::{BOUNDARY, MARKER};
use super::text::{Instruction, Name, mentions, operand, position, renamed, size, split_type};
use super::variables::{is_lifetime, plain_name};
use super::wraps::Cut;
use crate::device_abi::{self, DeviceFunction, Position};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;

/// What the function returns.
const DONE: u32 = 0;
const PARTED: u32 = 1;
const ENDED: u32 = 2;

/// A tile that takes more memory is not run as loops.
const MOST_MEMORY: u64 = 1 << 28;

/// Without tiles so many threads of a row go through a cut kernel together, and keep no more than this on the stack.
const ROW: u64 = 256;
const MOST_ON_STACK: u64 = 1 << 16;

/// The number of the functions' group of attributes, for the first processor.
pub const ATTRIBUTES: usize = 9000;

/// What of the module matters here.
pub struct Surroundings {
    pub type_names: HashSet<String>,
    pub types: HashMap<String, String>,
    /// The variables that are tile_static, with their types and alignments.
    pub shared: BTreeMap<String, (String, u64)>,
    /// The functions that it declares.
    pub declared: HashSet<String>,
    /// The numbers of metadata nodes: an empty one, that of loops over threads.
    pub empty: String,
    pub threads: String,
    /// The next number that is free for metadata.
    pub next_node: u64,
}

/// A function made of a kernel.
pub struct Emitted {
    pub text: String,
    /// Metadata nodes.
    pub nodes: Vec<String>,
    /// Bytes of memory that it takes for a tile.
    pub memory: u64,
    /// A tile's threads in x, y, z; `None` for a kernel without tiles.
    pub tile: Option<[u32; 3]>,
}

struct Writer<'k> {
    kernel: &'k Kernel,
    around: &'k mut Surroundings,
    tile: Option<[u32; 3]>,
    threads: u64,
    text: String,
    nodes: Vec<String>,
    memory: u64,
    /// Variables kept per thread, with what a thread's takes.
    kept: BTreeMap<String, u64>,
    /// Variables kept once.
    uniform: BTreeSet<String>,
    hoisted: u32,
    /// The access group of the region that is written.
    group: String,
    /// The threads of a region share nothing that the function itself keeps.
    parallel: bool,
    /// What no other address reaches, tile_static variables and variables kept per thread, with what tells so at an access.
    scopes: BTreeMap<String, String>,
    /// What the region that is written stores to tile_static variables behind its loop.
    flags: BTreeMap<String, Flag>,
    /// At an access of unknown memory: the variables kept per thread are not reached.
    elsewhere: String,
    /// The results of instructions whose number is hidden, and of which types there were some.
    wraps: HashSet<String>,
    hidden: BTreeSet<String>,
}

/// The function of a kernel, named `name`.
pub fn emit(kernel: &Kernel, around: &mut Surroundings, name: &str) -> Result<Emitted, String> {
    let tile = tile_of(kernel)?;
    let row = if kernel.is_cut { ROW } else { 1 };
    let threads = tile.map_or(row, |t| t.iter().map(|&n| u64::from(n)).product());
    let mut writer = Writer {
        kernel,
        around,
        tile,
        threads,
        text: String::new(),
        nodes: Vec::new(),
        memory: 0,
        kept: BTreeMap::new(),
        uniform: BTreeSet::new(),
        hoisted: 0,
        group: String::new(),
        parallel: threads > 1 || tile.is_some() || kernel.variables.values().all(|v| v.plain),
        scopes: BTreeMap::new(),
        flags: BTreeMap::new(),
        elsewhere: String::new(),
        wraps: kernel.wraps(),
        hidden: BTreeSet::new(),
    };
    writer.function(name)?;
    let memory = if tile.is_some() { writer.memory } else { 0 };
    Ok(Emitted { text: writer.text, nodes: writer.nodes, memory, tile })
}

/// The size of the tiles that the kernel tells.
fn tile_of(kernel: &Kernel) -> Result<Option<[u32; 3]>, String> {
    for instruction in kernel.function.blocks.iter().flat_map(|b| &b.instructions) {
        match instruction.device_function() {
            Some(DeviceFunction::WorkgroupAuto) => return Ok(None),
            Some(DeviceFunction::WorkgroupSize) => {
                let given = arguments(&instruction.text);
                let numbers: Option<Vec<u32>> = given.iter().map(|a| a.parse().ok()).collect();
                return match numbers.as_deref() {
                    Some(&[x, y, z]) if [x, y, z].iter().all(|n| (1..=1024).contains(n)) && x * y * z <= 1024 => {
                        Ok(Some([x, y, z]))
                    }
                    Some(_) => Err("its tiles have too many threads".into()),
                    _ => Err("the size of its tiles is no constant".into()),
                };
            }
            _ => {}
        }
    }
    Err("it does not tell its tiles".into())
}

/// The last word of each argument of a call.
fn arguments(call: &str) -> Vec<String> {
    let Some((_, rest)) = call.split_once('@') else { return Vec::new() };
    let Some((_, rest)) = rest.split_once('(') else { return Vec::new() };
    let inner = rest.split(')').next().unwrap_or_default();
    inner.split(',').map(|a| a.rsplit(' ').next().unwrap_or_default().to_owned()).collect()
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str("  ");
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn label(&mut self, name: &str) {
        let _ = writeln!(self.text, "{name}:");
    }

    /// Where so many bytes lie in the tile's memory.
    fn room(&mut self, bytes: u64, align: u64) -> Result<u64, String> {
        let at = self.memory.checked_next_multiple_of(align.max(64));
        let end = at.and_then(|at| at.checked_add(bytes)).filter(|end| *end <= MOST_MEMORY);
        match (at, end) {
            (Some(at), Some(end)) => {
                self.memory = end;
                Ok(at)
            }
            _ => Err("a tile takes too much memory".into()),
        }
    }

    fn function(&mut self, name: &str) -> Result<(), String> {
        let kernel = self.kernel;
        let starts: Vec<usize> = kernel.starts().into_iter().collect();
        let _ = writeln!(
            self.text,
            "define hidden i32 @\"{name}\"(ptr noalias noundef readonly{} %block, ptr noalias noundef align 64 %memory, \
             ptr noalias noundef readonly align 4 dereferenceable(16) %where) #{ATTRIBUTES}{} {{",
            kernel.function.block, kernel.function.debug
        );
        self.label("entry");
        self.prologue(&starts)?;
        self.row_begins()?;
        self.line("br label %r0.before");
        for &start in &starts {
            self.region(start)?;
        }
        self.label("end");
        if self.is_cut_row() {
            self.line("%row.again = icmp slt i32 %row.next, %count");
            self.line("br i1 %row.again, label %row, label %row.end");
            self.label("row.end");
        }
        self.line(&format!("ret i32 {DONE}"));
        self.label("parted");
        self.line(&format!("ret i32 {PARTED}"));
        self.label("ended");
        self.line(&format!("ret i32 {ENDED}"));
        self.text.push_str("}\n\n");
        for ty in std::mem::take(&mut self.hidden) {
            self.at_entry(&format!("  %bits.{ty} = call {ty} asm \"\", \"=r,0\"({ty} -1)\n"));
        }
        Ok(())
    }

    /// What stands before all that uses it.
    fn at_entry(&mut self, line: &str) {
        let behind = "entry:\n";
        if let Some(at) = self.text.find(behind) {
            self.text.insert_str(at + behind.len(), line);
        }
    }

    /// A row of threads that is gone through in pieces.
    fn is_cut_row(&self) -> bool {
        self.tile.is_none() && self.threads > 1
    }

    /// The next threads of a row.
    fn row_begins(&mut self) -> Result<(), String> {
        if !self.is_cut_row() {
            return Ok(());
        }
        if self.memory > MOST_ON_STACK {
            return Err("a row takes too much memory".into());
        }
        // The memory stands before what lies in it.
        let room = format!("  %own = alloca [{} x i8], align 64\n", self.memory.max(1));
        self.at_entry(&room);
        self.line("br label %row");
        self.label("row");
        self.line("%row.first = phi i32 [ 0, %entry ], [ %row.next, %end ]");
        self.line("%row.left = sub nsw i32 %count, %row.first");
        self.line(&format!("%row.count = call i32 @llvm.smin.i32(i32 %row.left, i32 {ROW})"));
        self.line("%row.next = add nsw i32 %row.first, %row.count");
        self.line("%row.x = add nsw i32 %at.x, %row.first");
        Ok(())
    }

    /// Positions, memory and variables.
    fn prologue(&mut self, starts: &[usize]) -> Result<(), String> {
        for (n, axis) in AXES.iter().enumerate() {
            self.line(&format!("%where.{axis} = getelementptr inbounds i32, ptr %where, i64 {n}"));
            // Positions are below the extent, which an int holds.
            let size = self.tile.map_or(1, |tile| tile[n]);
            let range = self.node(&format!("!{{i32 0, i32 {}}}", i32::MAX.unsigned_abs() / size));
            self.line(&format!("%at.{axis} = load i32, ptr %where.{axis}, align 4, !range !{range}"));
            if let Some(tile) = self.tile {
                self.line(&format!("%origin.{axis} = mul nuw nsw i32 %at.{axis}, {}", tile[n]));
            }
        }
        if self.tile.is_none() {
            self.line("%where.count = getelementptr inbounds i32, ptr %where, i64 3");
            let range = self.node(&format!("!{{i32 1, i32 {}}}", i32::MAX));
            self.line(&format!("%count = load i32, ptr %where.count, align 4, !range !{range}"));
        }
        self.line("%next = alloca i32, align 4");
        self.line("%most = alloca i32, align 4");
        self.line("%least = alloca i32, align 4");
        for (name, (ty, align)) in self.around.shared.clone() {
            let used = format!("@{name}");
            let named = |i: &Instruction| mentions(&i.text, &used);
            if self.kernel.function.blocks.iter().flat_map(|b| &b.instructions).any(named) {
                let (bytes, _) = size(&ty, &self.around.types).ok_or("the type of a tile_static variable")?;
                let at = self.room(bytes, align)?;
                self.line(&format!("%\"tile.{name}\" = getelementptr inbounds i8, ptr %memory, i64 {at}"));
                self.line(&format!("%\"flag.{name}\" = alloca i32, align 4"));
            }
        }
        for (name, variable) in &self.kernel.variables {
            let kept = if variable.plain {
                self.line(&format!("%\"v.{name}\" = alloca {}, align {}", variable.ty, variable.align));
                let across = starts.iter().any(|&s| s != 0 && self.kernel.live[s].contains(name));
                if !across || variable.again.is_some() {
                    continue;
                }
                if !variable.varies {
                    self.line(&format!("%\"u.{name}\" = alloca {}", variable.ty));
                    self.uniform.insert(name.clone());
                    continue;
                }
                true
            } else {
                self.threads > 1
            };
            let (bytes, align) = size(&variable.ty, &self.around.types).ok_or("the type of a variable")?;
            let align = align.max(variable.align);
            let bytes = bytes.checked_next_multiple_of(align).ok_or("the size of a variable")?;
            if !kept && !variable.plain {
                // Rows of threads without tiles have no memory of their own.
                self.line(&format!("%\"k.{name}\" = alloca {}, align {align}", variable.ty));
                self.kept.insert(name.clone(), bytes);
            } else if kept {
                let threads = self.threads;
                let at = self.room(bytes.saturating_mul(threads), align)?;
                let memory = if self.tile.is_some() { "memory" } else { "own" };
                self.line(&format!("%\"k.{name}\" = getelementptr inbounds i8, ptr %{memory}, i64 {at}"));
                self.kept.insert(name.clone(), bytes);
            }
        }
        self.tell_apart();
        Ok(())
    }

    /// Metadata for accesses of what is the function's own.
    fn tell_apart(&mut self) {
        let used = |name: &&String| {
            let named = format!("@{name}");
            self.kernel.function.blocks.iter().flat_map(|b| &b.instructions).any(|i| mentions(&i.text, &named))
        };
        let shared: Vec<String> = self.around.shared.keys().filter(used).cloned().collect();
        let kept: Vec<String> = self.kept.keys().filter(|name| self.kernel.variables[*name].plain).cloned().collect();
        if kept.is_empty() && shared.len() < 2 {
            return;
        }
        let domain = self.node("distinct !{SELF}");
        let scope = |writer: &mut Self| writer.node(&format!("distinct !{{SELF, !{domain}}}"));
        let kept: Vec<(String, u64)> = kept.into_iter().map(|name| (name, scope(self))).collect();
        let shared: Vec<(String, u64)> = shared.into_iter().map(|name| (name, scope(self))).collect();
        let list = |of: &[&(String, u64)]| -> String {
            let all: Vec<String> = of.iter().map(|(_, node)| format!("!{node}")).collect();
            format!("!{{{}}}", all.join(", "))
        };
        let all: Vec<&(String, u64)> = kept.iter().chain(&shared).collect();
        for one in &all {
            let others: Vec<&(String, u64)> = all.iter().copied().filter(|other| other.1 != one.1).collect();
            let (own, others) = (self.node(&list(&[one])), self.node(&list(&others)));
            self.scopes.insert(one.0.clone(), format!(", !alias.scope !{own}, !noalias !{others}"));
        }
        if !kept.is_empty() {
            let kept = self.node(&list(&kept.iter().collect::<Vec<_>>()));
            self.elsewhere = format!(", !noalias !{kept}");
        }
    }

    /// A new node of metadata; `SELF` is its number.
    fn node(&mut self, text: &str) -> u64 {
        let node = self.around.next_node;
        self.around.next_node += 1;
        self.nodes.push(format!("!{node} = {}", text.replace("SELF", &format!("!{node}"))));
        node
    }

    /// The position of the first thread.
    fn first(&self, axis: usize) -> String {
        let origin = match self.tile {
            Some(_) => "origin",
            None if axis == 0 && self.is_cut_row() => "row",
            None => "at",
        };
        format!("%{origin}.{}", AXES[axis])
    }

    /// The loops around a region's threads.
    fn axes(&self) -> Vec<usize> {
        match self.tile {
            Some(tile) => (0..3).rev().filter(|&n| tile[n] > 1).collect(),
            None => vec![0],
        }
    }

    fn region(&mut self, start: usize) -> Result<(), String> {
        let kernel = self.kernel;
        let r = format!("r{start}");
        let blocks = kernel.region(start);
        let exits = kernel.exits(start);
        self.group = format!("!{}", self.node("distinct !{}"));
        let parts = kernel.may_part(start);
        let fork = kernel.fork_of(start).filter(|_| parts);
        let of = |access: fn(&Instruction) -> Option<&str>| -> BTreeSet<String> {
            let all = blocks.iter().flat_map(|&b| &kernel.function.blocks[b].instructions);
            all.filter_map(access).map(str::to_owned).collect()
        };
        let stored = of(|i| i.access().filter(|a| !a.value.is_empty()).and_then(|a| plain_name(a.address)));
        let loaded = of(|i| i.access().filter(|a| a.value.is_empty()).and_then(|a| plain_name(a.address)));
        let needed: Vec<&String> =
            kernel.live[start].iter().filter(|v| stored.contains(*v) || loaded.contains(*v)).collect();

        self.label(&format!("{r}.before"));
        let same: Vec<&String> = needed.iter().copied().filter(|v| self.uniform.contains(*v)).collect();
        for name in same {
            let ty = &kernel.variables[name].ty;
            self.line(&format!("%\"{r}.same.{name}\" = load {ty}, ptr %\"u.{name}\""));
        }
        if parts {
            self.line("store i32 -2147483648, ptr %most");
            self.line("store i32 2147483647, ptr %least");
        }
        self.flags_begin(&blocks);
        let axes = self.axes();
        let bounded = !parts && axes.last() == Some(&0) && self.bound(&r, start)?;
        let mut from = format!("{r}.before");
        for &axis in &axes {
            let a = AXES[axis];
            self.line(&format!("br label %{r}.loop.{a}"));
            self.label(&format!("{r}.loop.{a}"));
            self.line(&format!("%{r}.{a} = phi i32 [ 0, %{from} ], [ %{r}.{a}.next, %{r}.latch.{a} ]"));
            // As a sum of both, what the kernel adds would be added to the first of them, and may overflow then.
            let first = self.first(axis);
            self.line(&format!("%{r}.all.{a} = phi i32 [ {first}, %{from} ], [ %{r}.all.{a}.next, %{r}.latch.{a} ]"));
            from = format!("{r}.loop.{a}");
        }
        self.thread_begins(&r, start, &needed)?;
        self.line(&format!("br label %\"{r}:{}\"", kernel.function.blocks[start].label));
        for &n in &blocks {
            self.block(&r, n)?;
        }
        // The ways out: what later regions need is kept.
        for exit in &exits {
            let number = exit.map_or(-1, |e| e as i64);
            self.label(&exit_label(&r, *exit));
            let mut needed: BTreeSet<&String> = exit.iter().chain(&fork).flat_map(|&to| &kernel.live[to]).collect();
            if !parts {
                // What is kept once is kept on all ways out: LLVM makes no vectors where it changes on some of them.
                let all = exits.iter().flatten().flat_map(|&to| &kernel.live[to]);
                needed.extend(all.filter(|v| self.uniform.contains(*v)));
            }
            for name in needed.into_iter().filter(|v| stored.contains(*v)) {
                self.keep(&r, name, &exit_label(&r, *exit));
            }
            if exits.len() > 1 {
                self.line(&format!("store i32 {number}, ptr %next"));
            }
            self.line(&format!("br label %{r}.through"));
        }
        self.label(&format!("{r}.through"));
        if exits.is_empty() {
            self.line("br label %end");
            return Ok(());
        }
        if parts {
            self.compare(&r);
        }
        let few = bounded && kernel.is_apart(&blocks);
        self.latches(&r, &axes, bounded, few);
        self.line(BOUNDARY);
        self.flags_end(&r);
        self.leave(&r, &exits, parts, fork);
        Ok(())
    }

    /// Variables for what is stored behind the loop over the threads.
    fn flags_begin(&mut self, blocks: &BTreeSet<usize>) {
        let found =
            if self.threads > 1 { self.kernel.flags(blocks, self.around.shared.keys()) } else { BTreeMap::new() };
        self.flags.clear();
        for name in found.keys() {
            self.line(&format!("store i32 0, ptr %\"flag.{name}\""));
        }
        self.flags = found;
    }

    /// `r`: the region's name.
    fn flags_end(&mut self, r: &str) {
        for (name, Flag { ty, value }) in std::mem::take(&mut self.flags) {
            let (own, place) = (|what: &str| format!("%\"{r}.{what}.{name}\""), format!("%\"tile.{name}\""));
            self.line(&format!("{} = load i32, ptr %\"flag.{name}\"", own("noted")));
            self.line(&format!("{} = icmp ne i32 {}, 0", own("is"), own("noted")));
            self.line(&format!("{} = load {ty}, ptr {place}", own("old")));
            self.line(&format!("{} = select i1 {}, {ty} {value}, {ty} {}", own("new"), own("is"), own("old")));
            self.line(&format!("store {ty} {}, ptr {place}", own("new")));
        }
    }

    /// The number of the thread in its tile, the variables that it needs.
    fn thread_begins(&mut self, r: &str, start: usize, needed: &[&String]) -> Result<(), String> {
        let kernel = self.kernel;
        let axes = self.axes();
        for (n, a) in AXES.iter().enumerate() {
            let (local, global) = match axes.contains(&n) {
                true => (format!("%{r}.{a}"), format!("%{r}.all.{a}")),
                false => ("0".into(), self.first(n)),
            };
            self.line(&format!("%{r}.global.{a} = add nuw nsw i32 {global}, 0"));
            self.line(&format!("%{r}.local.{a} = add nuw nsw i32 {local}, 0"));
        }
        if let Some([x, y, _]) = self.tile {
            self.line(&format!("%{r}.plane = mul nuw nsw i32 %{r}.local.z, {y}"));
            self.line(&format!("%{r}.line = add nuw nsw i32 %{r}.plane, %{r}.local.y"));
            self.line(&format!("%{r}.lines = mul nuw nsw i32 %{r}.line, {x}"));
            self.line(&format!("%{r}.number = add nuw nsw i32 %{r}.lines, %{r}.local.x"));
            self.line(&format!("%{r}.thread = zext nneg i32 %{r}.number to i64"));
        } else if self.is_cut_row() {
            self.line(&format!("%{r}.thread = zext nneg i32 %{r}.local.x to i64"));
        } else {
            self.line(&format!("%{r}.thread = add i64 0, 0"));
        }
        for (name, variable) in &kernel.variables {
            if let Some(bytes) = self.kept.get(name).copied() {
                let address = if variable.plain { "place" } else { "v" };
                self.line(&format!("%\"{r}.{address}.offset.{name}\" = mul nuw nsw i64 %{r}.thread, {bytes}"));
                self.line(&format!(
                    "%\"{r}.{address}.{name}\" = getelementptr inbounds i8, ptr %\"k.{name}\", i64 %\"{r}.{address}.offset.{name}\""
                ));
            }
        }
        let group = self.group.clone();
        let mut again = HashSet::new();
        for name in needed {
            let variable = &kernel.variables[*name];
            let ty = &variable.ty;
            if let Some(chain) = variable.again.as_ref().filter(|_| start != 0) {
                self.again(r, chain, &mut again)?;
                let value = self.again_name(r, &variable.stores[0].1)?;
                self.line(&format!("store {ty} {value}, ptr %\"v.{name}\""));
            } else if self.uniform.contains(*name) {
                self.line(&format!("store {ty} %\"{r}.same.{name}\", ptr %\"v.{name}\""));
            } else if self.kept.contains_key(*name) {
                let scope = self.scopes.get(*name).cloned().unwrap_or_default();
                let (was, kept) = (format!("%\"{r}.was.{name}\""), kept_type(ty));
                let read = if kept == ty { was.clone() } else { format!("%\"{r}.read.{name}\"") };
                self.line(&format!(
                    "{read} = load {kept}, ptr %\"{r}.place.{name}\", !llvm.access.group {group}{scope}"
                ));
                if kept != ty {
                    self.line(&format!("{was} = trunc {kept} {read} to {ty}"));
                }
                self.line(&format!("store {ty} {was}, ptr %\"v.{name}\""));
            }
        }
        Ok(())
    }

    /// What a value is called where it is computed again.
    fn again_name(&self, r: &str, value: &str) -> Result<String, String> {
        match plain_name(value) {
            Some(name) if name == self.kernel.function.parameter => Ok("%block".into()),
            Some(name) => Ok(format!("%\"{r}.again.{name}\"")),
            None => Ok(self.shared_names(value)),
        }
    }

    fn again(&mut self, r: &str, chain: &[Instruction], done: &mut HashSet<String>) -> Result<(), String> {
        for instruction in chain {
            let Some(result) = instruction.result.clone().filter(|result| done.insert(result.clone())) else {
                continue;
            };
            let read = instruction.access().and_then(|a| self.kernel.variables.get(plain_name(a.address)?));
            if let Some(variable) = read {
                // One value, which the chain has made.
                let value = self.again_name(r, &variable.stores[0].1)?;
                let other = self.same(&variable.ty, &value);
                self.line(&format!("%\"{r}.again.{result}\" = {other}"));
                continue;
            }
            let text = self.instruction(r, instruction, &|name: &Name| {
                if name.name == self.kernel.function.parameter {
                    Some("%block".into())
                } else {
                    Some(format!("%\"{r}.again.{}\"", name.name))
                }
            })?;
            for line in text {
                self.line(&line);
            }
        }
        Ok(())
    }

    /// An instruction that makes a value of itself.
    fn same(&self, ty: &str, value: &str) -> String {
        format!("select i1 true, {ty} {value}, {ty} {value}")
    }

    fn keep(&mut self, r: &str, name: &str, way: &str) {
        let variable = &self.kernel.variables[name];
        let ty = &variable.ty;
        if variable.again.is_some() {
            return;
        }
        self.line(&format!("%\"{way}.{name}\" = load {ty}, ptr %\"v.{name}\""));
        if self.uniform.contains(name) {
            self.line(&format!("store {ty} %\"{way}.{name}\", ptr %\"u.{name}\""));
        } else {
            let group = self.group.clone();
            let scope = self.scopes.get(name).cloned().unwrap_or_default();
            let (kept, mut value) = (kept_type(ty), format!("%\"{way}.{name}\""));
            if kept != ty {
                let written = format!("%\"{way}.written.{name}\"");
                self.line(&format!("{written} = zext {ty} {value} to {kept}"));
                value = written;
            }
            self.line(&format!("store {kept} {value}, ptr %\"{r}.place.{name}\", !llvm.access.group {group}{scope}"));
        }
    }

    fn compare(&mut self, r: &str) {
        for (name, word) in [("most", "smax"), ("least", "smin")] {
            self.line(&format!("%{r}.{name} = load i32, ptr %{name}"));
            self.line(&format!("%{r}.{name}.to = load i32, ptr %next"));
            self.line(&format!("%{r}.{name}.new = call i32 @llvm.{word}.i32(i32 %{r}.{name}, i32 %{r}.{name}.to)"));
            self.line(&format!("store i32 %{r}.{name}.new, ptr %{name}"));
        }
    }

    /// Makes the end of the loop over x, if some threads have nothing to do.
    fn bound(&mut self, r: &str, start: usize) -> Result<bool, String> {
        let kernel = self.kernel;
        let Some((tile, bound)) = self.tile.and_then(|tile| Some((tile, kernel.bound(start, &self.uniform)?))) else {
            return Ok(false);
        };
        let named = |name: &Name| Some(format!("%\"{r}.bound.{}\"", name.name));
        let value_of = |value: &str| match plain_name(value) {
            Some(name) => format!("%\"{r}.bound.{name}\""),
            None => value.to_owned(),
        };
        for (instruction, stands_for) in &bound.chain {
            if let Some(access) = instruction.access() {
                let value = match stands_for {
                    Some(value) => value_of(value),
                    None => format!("%\"{r}.same.{}\"", plain_name(access.address).unwrap_or_default()),
                };
                let result = value_of(&format!("%{}", instruction.result.as_deref().unwrap_or_default()));
                let other = self.same(access.ty, &value);
                self.line(&format!("{result} = {other}"));
                continue;
            }
            for line in self.instruction(r, instruction, &named)? {
                self.line(&line);
            }
        }
        let value = value_of(&bound.value);
        let (word, ty) = (if bound.signed { "smin" } else { "umin" }, &bound.ty);
        let more = u32::from(bound.inclusive);
        self.line(&format!("%{r}.least = call {ty} @llvm.{word}.{ty}({ty} {value}, {ty} {})", tile[0] - more));
        let narrow =
            if ty == "i64" { format!("trunc i64 %{r}.least to i32") } else { format!("add i32 %{r}.least, 0") };
        self.line(&format!("%{r}.few = {narrow}"));
        self.line(&format!("%{r}.bound = add i32 %{r}.few, {more}"));
        Ok(true)
    }

    /// `bounded`: in x only some of the threads. `few`: so few that vectors of what lies apart in memory do not pay.
    fn latches(&mut self, r: &str, axes: &[usize], bounded: bool, few: bool) {
        for (n, &axis) in axes.iter().enumerate().rev() {
            let a = AXES[axis];
            let row = if self.is_cut_row() { "%row.count" } else { "%count" };
            let mut end = self.tile.map_or(row.into(), |tile| tile[axis].to_string());
            if bounded && axis == 0 {
                end = format!("%{r}.bound");
            }
            self.line(&format!("br label %{r}.latch.{a}"));
            self.label(&format!("{r}.latch.{a}"));
            self.line(&format!("{MARKER}{}", self.group));
            self.line(&format!("%{r}.{a}.next = add nuw nsw i32 %{r}.{a}, 1"));
            self.line(&format!("%{r}.all.{a}.next = add nuw nsw i32 %{r}.all.{a}, 1"));
            self.line(&format!("%{r}.{a}.more = icmp slt i32 %{r}.{a}.next, {end}"));
            let node = self.loop_node(!few);
            let out = if n == 0 { format!("{r}.done") } else { format!("{r}.out.{a}") };
            self.line(&format!("br i1 %{r}.{a}.more, label %{r}.loop.{a}, label %{out}, !llvm.loop !{node}"));
            self.label(&out);
        }
        if axes.is_empty() {
            self.line(&format!("br label %{r}.done"));
            self.label(&format!("{r}.done"));
        }
    }

    fn loop_node(&mut self, vectors: bool) -> u64 {
        let node = self.around.next_node;
        self.around.next_node += 2;
        let group = self.group.clone();
        if !self.parallel {
            self.nodes.push(format!("!{node} = distinct !{{!{node}}}"));
            return node;
        }
        let without = if vectors {
            String::new()
        } else {
            format!(", !{}", self.node("!{!\"llvm.loop.vectorize.enable\", i1 false}"))
        };
        let threads = self.around.threads.clone();
        self.nodes.push(format!("!{node} = distinct !{{!{node}, {threads}, !{}{without}}}", node + 1));
        self.nodes.push(format!("!{} = !{{!\"llvm.loop.parallel_accesses\", {group}}}", node + 1));
        node
    }

    /// `fork`: where threads go on that did not go the same way.
    fn leave(&mut self, r: &str, exits: &BTreeSet<Option<usize>>, parts: bool, fork: Option<usize>) {
        let label = |exit: &Option<usize>| exit.map_or("end".into(), |e| format!("r{e}.before"));
        if parts {
            self.line(&format!("%{r}.end.most = load i32, ptr %most"));
            self.line(&format!("%{r}.end.least = load i32, ptr %least"));
            self.line(&format!("%{r}.agree = icmp eq i32 %{r}.end.most, %{r}.end.least"));
            let apart = fork.map_or("parted".into(), |fork| format!("r{fork}.before"));
            self.line(&format!("br i1 %{r}.agree, label %{r}.agreed, label %{apart}"));
            self.label(&format!("{r}.agreed"));
        }
        let mut all = exits.iter();
        let Some(last) = all.next() else { return };
        if exits.len() == 1 {
            return self.line(&format!("br label %{}", label(last)));
        }
        let mut cases = String::new();
        for exit in all {
            let _ = write!(cases, " i32 {}, label %{}", exit.map_or(-1, |e| e as i64), label(exit));
        }
        self.line(&format!("%{r}.next = load i32, ptr %next"));
        self.line(&format!("switch i32 %{r}.next, label %{} [{cases} ]", label(last)));
    }

    fn block(&mut self, r: &str, n: usize) -> Result<(), String> {
        let kernel = self.kernel;
        let block = &kernel.function.blocks[n];
        let _ = writeln!(self.text, "\"{r}:{}\":", block.label);
        let parameter = &kernel.function.parameter;
        for instruction in &block.instructions {
            if instruction.opcode == "alloca" || is_lifetime(instruction) {
                continue;
            }
            if instruction.ends() {
                if instruction.opcode == "ret" || instruction.opcode == "unreachable" {
                    self.line(&format!("br label %{}", exit_label(r, None)));
                    continue;
                }
                if let Some(behind) = kernel.flow[n].barrier {
                    self.line(&format!("br label %{}", exit_label(r, Some(behind))));
                    continue;
                }
            }
            match instruction.device_function() {
                Some(DeviceFunction::WorkgroupAuto | DeviceFunction::WorkgroupSize) => continue,
                Some(DeviceFunction::EndThread) => {
                    self.line("br label %ended");
                    // What is behind it is not reached.
                    break;
                }
                _ => {}
            }
            let flag =
                instruction.access().and_then(|a| a.address.strip_prefix('@')).filter(|n| self.flags.contains_key(*n));
            if let Some(name) = flag {
                self.line(&format!("store i32 1, ptr %\"flag.{name}\""));
                continue;
            }
            let own = |name: &Name| -> Option<String> {
                if name.label {
                    return Some(format!("%\"{r}:{}\"", name.name));
                }
                if name.name == *parameter {
                    return Some("%block".into());
                }
                match kernel.variables.get(&name.name) {
                    Some(v) if v.plain => Some(format!("%\"v.{}\"", name.name)),
                    Some(_) => Some(format!("%\"{r}.v.{}\"", name.name)),
                    None => Some(format!("%\"{r}:{}\"", name.name)),
                }
            };
            for line in self.instruction(r, instruction, &own)? {
                self.line(&line);
            }
        }
        Ok(())
    }

    /// An instruction with other names, and those that must stand before it.
    fn instruction(
        &mut self,
        r: &str,
        instruction: &Instruction,
        own: &dyn Fn(&Name) -> Option<String>,
    ) -> Result<Vec<String>, String> {
        let types = &self.around.type_names;
        let fence = instruction.device_function() == Some(DeviceFunction::MemoryFence);
        if let Some(callee) = instruction.callee() {
            if let Some(position) = instruction.position() {
                let axis: usize = arguments(&instruction.text)
                    .first()
                    .and_then(|a| a.parse().ok())
                    .ok_or("a position of no constant")?;
                let axis = AXES.get(axis).ok_or("a position in a fourth dimension")?;
                let value = match position {
                    Position::Group => format!("%at.{axis}"),
                    Position::Global => format!("%{r}.global.{axis}"),
                    Position::Local => format!("%{r}.local.{axis}"),
                };
                let result =
                    renamed(&format!("%\"{}\"", instruction.result.as_deref().unwrap_or_default()), types, own);
                return Ok(vec![format!("{result} = add i32 {value}, 0")]);
            }
            let known = fence || !callee.starts_with(device_abi::PREFIX);
            if !known || !self.around.declared.contains(callee) {
                return Err(format!("it calls {callee}"));
            }
        }
        let mut text = renamed(&instruction.text, types, own);
        if fence {
            return Ok(vec!["fence acq_rel".into()]);
        }
        let mut before = Vec::new();
        text = self.without_constants(&text, &mut before)?;
        let through_memory = matches!(instruction.opcode.as_str(), "load" | "store");
        let plain = instruction
            .access()
            .and_then(|a| self.kernel.variables.get(plain_name(a.address)?))
            .is_some_and(|v| v.plain);
        if through_memory && !plain && instruction.access().is_some() && !text.contains("!llvm.access.group") {
            let _ = write!(text, ", !llvm.access.group {}", self.group);
            text.push_str(self.scope_of(instruction));
        }
        if instruction.opcode == "load"
            && instruction.result.as_ref().is_some_and(|r| self.kernel.constant_loads.contains(r))
            && !text.contains("!invariant.load")
        {
            let _ = write!(text, ", !invariant.load {}", self.around.empty);
        }
        if let Some(cut) =
            Cut::of(&text).filter(|_| instruction.result.as_ref().is_some_and(|result| self.wraps.contains(result)))
        {
            let new = format!("%hidden.{}", self.hoisted);
            self.hoisted += 1;
            before.extend(cut.hidden(&text, &format!("%bits.{}", cut.ty), &new));
            self.hidden.insert(cut.ty.to_owned());
            return Ok(before);
        }
        match self.alone(instruction, &text) {
            Some(lines) => before.extend(lines),
            None => before.push(text),
        }
        Ok(before)
    }

    /// What is told of the memory that a load or store reaches.
    fn scope_of(&self, instruction: &Instruction) -> &str {
        let address = instruction.access().map_or("", |a| a.address);
        let variable = match plain_name(address) {
            Some(name) => self.kernel.tile_addresses.get(name).map(String::as_str),
            None => self.around.shared.keys().map(String::as_str).find(|name| mentions(address, &format!("@{name}"))),
        };
        variable.and_then(|name| self.scopes.get(name)).unwrap_or(&self.elsewhere)
    }

    /// An atomic operation on a tile_static variable, which one thread of the machine alone has: a load and a store.
    fn alone(&mut self, instruction: &Instruction, text: &str) -> Option<Vec<String>> {
        let (result, rest) = text.split_once(" = atomicrmw ")?;
        let (word, rest) = rest.strip_prefix("volatile ").unwrap_or(rest).split_once(" ptr ")?;
        let (address, rest) = operand(rest);
        let (ty, rest) = split_type(rest)?;
        let value = rest.trim_start().split(' ').next()?;
        // The address as the kernel has it.
        let given = instruction.text.split_once(" ptr ").map(|(_, rest)| operand(rest).0)?;
        let within = match plain_name(given) {
            Some(name) => self.kernel.tile_addresses.contains_key(name),
            None => address.starts_with("%\"tile.") || address.starts_with("%hoisted."),
        };
        if !within {
            return None;
        }
        let new = format!("%alone.{}", self.hoisted);
        self.hoisted += 1;
        let mut lines = vec![format!("{result} = load {ty}, ptr {address}")];
        let stored = match word {
            "xchg" => value.to_owned(),
            "add" | "sub" | "and" | "or" | "xor" => {
                lines.push(format!("{new} = {word} {ty} {result}, {value}"));
                new
            }
            "max" | "min" | "umax" | "umin" => {
                let kind = match word {
                    "max" => "sgt",
                    "min" => "slt",
                    "umax" => "ugt",
                    _ => "ult",
                };
                lines.push(format!("{new}.is = icmp {kind} {ty} {result}, {value}"));
                lines.push(format!("{new} = select i1 {new}.is, {ty} {result}, {ty} {value}"));
                new
            }
            _ => return None,
        };
        lines.push(format!("store {ty} {stored}, ptr {address}"));
        Some(lines)
    }

    /// Names of tile_static variables become those of their places.
    fn shared_names(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for name in self.around.shared.keys() {
            let used = format!("@{name}");
            while let Some(at) = position(&text, &used) {
                text.replace_range(at..at + used.len(), &format!("%\"tile.{name}\""));
            }
        }
        text
    }

    /// Constant addresses within tile_static variables are instructions, as these have no constant address.
    fn without_constants(&mut self, text: &str, before: &mut Vec<String>) -> Result<String, String> {
        let mut text = text.to_owned();
        if !self.around.shared.keys().any(|name| mentions(&text, &format!("@{name}"))) {
            return Ok(text);
        }
        while let Some((at, open)) = constant_address(&text) {
            let close = closing(&text, open).ok_or("a constant address")?;
            let name = format!("%hoisted.{}", self.hoisted);
            self.hoisted += 1;
            let made = format!("{name} = {}{}", &text[at..open], &text[open + 1..close]);
            let made = self.without_constants(&made, before)?;
            before.push(made);
            text.replace_range(at..=close, &name);
        }
        let text = self.shared_names(&text);
        if text.contains("(ptr %\"tile.") {
            return Err("it computes with the address of a tile_static variable".into());
        }
        Ok(text)
    }
}

/// As what a variable is kept for each thread: LLVM makes no vectors of single bits in memory.
fn kept_type(ty: &str) -> &str {
    if ty == "i1" { "i8" } else { ty }
}

fn exit_label(r: &str, exit: Option<usize>) -> String {
    exit.map_or(format!("{r}.to.end"), |e| format!("{r}.to.{e}"))
}

/// A constant `getelementptr (...)` in an instruction: where it begins, and its parenthesis.
fn constant_address(text: &str) -> Option<(usize, usize)> {
    const WORD: &str = "getelementptr ";
    let mut from = 0;
    while let Some(found) = text[from..].find(WORD) {
        let at = from + found;
        let mut open = at + WORD.len();
        for flag in ["inbounds ", "nusw ", "nuw "] {
            if text[open..].starts_with(flag) {
                open += flag.len();
            }
        }
        if text[open..].starts_with('(') {
            return Some((at, open));
        }
        from = open;
    }
    None
}

fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + at);
                }
            }
            _ => {}
        }
    }
    None
}
