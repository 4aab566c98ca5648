//! Kernels as functions of the host's processor (docs/kernel-compiler-design.md#native-kernels), made of the device's code (`passes::host_target`). A kernel is cut into regions at its barriers, and each region becomes a loop over the
//! threads of a tile, after Meyer et al., "Implementation techniques for SPMD kernels on CPUs".

mod analysis;
mod bounds;
pub(crate) mod build;
pub(crate) mod by_threads;
mod emit;
mod flags;
mod forks;
mod join;
mod parallel;
pub(crate) mod process;
mod strides;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod variables;
mod wraps;

use crate::device_abi::{KERNEL, is_type_of_view};
use emit::{Emitted, Surroundings};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::ops::Range;
use table::Row;
pub(crate) use table::register_symbol;

/// The processors of an architecture that functions are made for.
pub(crate) struct Processors {
    /// The name of the function, Clang's name of the processor.
    levels: &'static [(&'static str, &'static str)],
    /// More that functions are told of it.
    attributes: &'static str,
}

const X86_64: Processors = Processors {
    levels: &[("v1", "x86-64"), ("v3", "x86-64-v3"), ("v4", "x86-64-v4")],
    attributes: "\"prefer-vector-width\"=\"512\" \"target-features\"=\"+prefer-no-scatter\"",
};
/// Vectors of 128 bits are part of all of them.
const AARCH64: Processors = Processors { levels: &[("v1", "generic")], attributes: "" };

/// Of `Native::is_small`: bytes of LLVM IR.
const SMALL: usize = 50_000;

impl Processors {
    pub fn of(target: &str) -> &'static Self {
        if target.starts_with("aarch64") { &AARCH64 } else { &X86_64 }
    }

    /// The least of them, as LLVM names it.
    fn least(&self) -> &'static str {
        self.levels[0].1
    }

    /// The names of the functions.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.levels.iter().map(|(name, _)| *name)
    }
}

/// The kernels of a module that were understood.
pub struct Native {
    /// What stands before the kernels' functions in a module, and behind them.
    head: String,
    tail: String,
    /// To be compiled for each level: `LEVEL` stands in their names.
    kernels: Vec<(String, Emitted)>,
    /// They check accesses, by the table behind the argument block.
    pub checked: bool,
    /// Kernels that were not understood, and why.
    pub left_out: Vec<(String, String)>,
}

/// Cuts the kernels of a module that `pipelines::native` prepared.
pub fn cut(ir: &str) -> Native {
    let types = types(ir);
    let type_names: HashSet<String> = types.keys().cloned().collect();
    let shared = shared(ir);
    let views = views(ir);
    let shared_names: HashSet<String> = shared.keys().cloned().collect();
    let declared = declared(ir);
    let first_free = ir.lines().filter_map(|l| l.strip_prefix('!')?.split_once(" = ")?.0.parse::<u64>().ok()).max();
    let first_free = first_free.map_or(0, |n| n + 1);
    let mut around = Surroundings {
        type_names,
        types,
        shared,
        declared,
        empty: format!("!{first_free}"),
        threads: format!("!{}", first_free + 1),
        next_node: first_free + 2,
    };
    let (mut kernels, mut left_out) = (Vec::new(), Vec::new());
    for function in text::functions(ir, &kernel_names(ir), &around.type_names) {
        let name = function.name.clone();
        let made = if function.reads_block {
            let mut made = |cut| {
                let kernel = analysis::Kernel::new(function.clone(), &around.type_names, &views, &shared_names, cut)?;
                emit::emit(&kernel, &mut around, &format!("revamp.native.LEVEL.{name}"))
            };
            made(true).or_else(|_| made(false))
        } else {
            Err("it changes its functor".into())
        };
        match made {
            Ok(made) => kernels.push((name, made)),
            Err(why) => left_out.push((name, why)),
        }
    }
    let head = kept_lines(ir, &around);
    let mut tail = String::new();
    for name in ["smax.i32", "smin.i32", "umin.i32", "smin.i64", "umin.i64"] {
        let ty = &name[5..];
        let declared = format!("declare {ty} @llvm.{name}({ty}, {ty})\n");
        let called = format!("@llvm.{name}(");
        if kernels.iter().any(|(_, kernel)| kernel.text.contains(&called))
            && !ir.contains(&format!("declare {ty} @llvm.{name}("))
        {
            tail.push_str(&declared);
        }
    }
    tail.push_str(parallel::MARKER_DECLARED);
    let _ = writeln!(tail, "{} = !{{}}\n{} = {}", around.empty, around.threads, parallel::THREADS);
    for node in kernels.iter().flat_map(|(_, kernel)| &kernel.nodes) {
        tail.push_str(node);
        tail.push('\n');
    }
    Native { head, tail, kernels, checked: false, left_out }
}

impl Native {
    /// Whether they are so few that one process compiles them for all processors: to start one takes longer.
    pub(crate) fn is_small(&self) -> bool {
        self.size() <= SMALL
    }

    /// The names of the kernels that were understood.
    pub fn understood(&self) -> Vec<&str> {
        self.kernels.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// How much there is to compile for one level.
    fn size(&self) -> usize {
        self.kernels.iter().map(|(_, kernel)| kernel.text.len()).sum()
    }

    /// The module for some levels. That of the first holds the table of all, and what registers it with the unit's image.
    /// `bare`: the table has the kernels' bare names.
    pub(crate) fn module(&self, processors: &Processors, levels: Range<usize>, unit: u64, bare: bool) -> String {
        // Another unit may have kernels of the same names.
        let function = |level: &str| format!("revamp.native.{unit:016x}.{level}.");
        let mut text = self.head.clone();
        for level in levels.clone() {
            let (name, processor) = processors.levels[level];
            let attributes = emit::ATTRIBUTES + level;
            for (_, kernel) in &self.kernels {
                let own = format!(") #{attributes}");
                let code = kernel.text.replace("revamp.native.LEVEL.", &function(name));
                text.push_str(&code.replace(&format!(") #{}", emit::ATTRIBUTES), &own));
            }
            let _ = writeln!(
                text,
                "attributes #{attributes} = {{ nounwind \"target-cpu\"=\"{processor}\" {} \"no-trapping-math\"=\"true\" }}",
                processors.attributes
            );
        }
        text.push_str(&self.tail);
        if levels.start != 0 {
            return text;
        }
        let (first, _) = processors.levels[0];
        let mut rows = Vec::new();
        for (kernel, made) in &self.kernels {
            for (_, level) in processors.names().enumerate().filter(|(n, _)| !levels.contains(n)) {
                let _ = writeln!(text, "declare hidden i32 @\"{}{kernel}\"(ptr, ptr, ptr)", function(level));
            }
            let names: Vec<&str> = processors.names().collect();
            rows.push(Row {
                kernel: kernel.clone(),
                functions: std::array::from_fn(|n| format!("{}{kernel}", function(names.get(n).unwrap_or(&first)))),
                memory: made.memory,
                tile: made.tile.unwrap_or_default(),
                flags: if self.checked { table::CHECKED } else { 0 },
            });
        }
        text + &table::text("native", &rows, unit, bare)
    }
}

/// The named types of a module.
fn types(ir: &str) -> HashMap<String, String> {
    let named = |line: &str| {
        let (name, ty) = line.strip_prefix('%')?.split_once(" = type ")?;
        Some((name.trim_matches('"').to_owned(), ty.to_owned()))
    };
    ir.lines().filter_map(named).collect()
}

/// The kernels: functions with the attribute, which passes of LLVM move to a group.
fn kernel_names(ir: &str) -> HashSet<String> {
    let marked = |line: &&str| line.starts_with("attributes #") && line.contains(KERNEL);
    let groups: HashSet<&str> = ir.lines().filter(marked).filter_map(|line| line.split(' ').nth(1)).collect();
    let is_kernel = |line: &&str| line.contains(KERNEL) || line.split(' ').any(|word| groups.contains(word));
    let defined = ir.lines().filter(|line| line.starts_with("define "));
    defined.filter(is_kernel).filter_map(|line| text::globals(line).next()).map(str::to_owned).collect()
}

/// The tile_static variables: they have no initial value.
fn shared(ir: &str) -> BTreeMap<String, (String, u64)> {
    let mut all = BTreeMap::new();
    for line in ir.lines().filter(|l| l.starts_with('@')) {
        let Some((name, rest)) = line[1..].split_once(" = ") else { continue };
        let Some((_, rest)) = rest.split_once(" global ") else { continue };
        let Some((ty, rest)) = text::split_type(rest) else { continue };
        let value = rest.trim_start();
        if value.starts_with("undef") || value.starts_with("poison") {
            let align = rest.split("align ").nth(1).and_then(|a| a.split([',', ' ']).next()?.parse().ok());
            all.insert(name.to_owned(), (ty.to_owned(), align.unwrap_or(16)));
        }
    }
    all
}

/// The functions that the module calls and does not have: the C library's, LLVM's, and what `emit` knows.
fn declared(ir: &str) -> HashSet<String> {
    let name = |line: &str| Some(line.split_once('@')?.1.split('(').next()?.to_owned());
    ir.lines().filter(|l| l.starts_with("declare ")).filter_map(name).collect()
}

/// Tags of loads from views' and arrays' own members.
fn views(ir: &str) -> HashSet<String> {
    let number = |line: &str| line.split(" = ").next().unwrap_or_default().to_owned();
    let faces: HashSet<String> = ir.lines().filter(|line| is_type_of_view(line)).map(number).collect();
    let tag = |line: &str| {
        let (number, rest) = line.split_once(" = !{")?;
        let base = rest.split([',', '}']).next()?;
        (number.starts_with('!') && faces.contains(base)).then(|| number.to_owned())
    };
    ir.lines().filter_map(tag).collect()
}

/// The lines of a module that its native code needs too.
fn kept_lines(ir: &str, around: &Surroundings) -> String {
    let mut text = String::with_capacity(ir.len());
    let mut inside = false;
    for line in ir.lines() {
        if line.starts_with("define ") {
            inside = true;
        }
        let global = line.strip_prefix('@').and_then(|l| l.split(" = ").next());
        let dropped = inside
            || line.starts_with("; ")
            || global
                .is_some_and(|g| around.shared.contains_key(g) || g.starts_with("llvm.") || g.starts_with("__hip"));
        if line == "}" {
            inside = false;
        }
        if !dropped {
            // The device's externs are hidden; these are the C library's.
            let line = if line.starts_with("declare ") { line.replacen(" hidden ", " ", 1) } else { line.to_owned() };
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}
