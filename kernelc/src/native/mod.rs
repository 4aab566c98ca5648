//! Compiles kernels to functions for the host's processor (docs/kernel-compiler-design.md#native-kernels). The input is
//! the device's code (`passes::host_target`). A kernel is split into regions at its barriers, and each region becomes a
//! loop over the threads of a tile, after Meyer et al., "Implementation techniques for SPMD kernels on CPUs".

mod analysis;
pub(crate) mod build;
pub(crate) mod by_threads;
mod calls;
mod emit;
mod flags;
mod forks;
mod function;
mod handles;
mod idle_threads;
mod instructions;
mod join;
mod layout;
mod parallel;
mod prepare;
pub(crate) mod process;
mod scopes;
mod strides;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod variables;
mod wraps;

use crate::device_abi::{KERNEL, is_view};
use crate::ir::{self, Constant, GlobalId, LocalId, Module as Code};
use crate::llvm::number::opcode as o;
use crate::llvm::{Editor, Form, Module, Value};
use crate::passes::version_bounds;
use crate::pipelines;
use analysis::{Kernel, Surroundings};
use handles::Handles;
use layout::Layout;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::rc::Rc;
use table::Row;
pub(crate) use table::{Owner, register_symbol};

/// The processor levels of an architecture. Functions are compiled for each of them.
pub(crate) struct Processors {
    /// For each level: its name, which is a part of the functions' names, and Clang's name of a processor of this
    /// level.
    levels: &'static [(&'static str, &'static str)],
    /// Further attributes of the functions.
    attributes: &'static [(&'static str, &'static str)],
}

const X86_64: Processors = Processors {
    levels: &[("v1", "x86-64"), ("v3", "x86-64-v3"), ("v4", "x86-64-v4")],
    attributes: &[("prefer-vector-width", "512"), ("target-features", "+prefer-no-scatter")],
};
/// One level is enough: all of these processors have vectors of 128 bits.
const AARCH64: Processors = Processors { levels: &[("v1", "generic")], attributes: &[] };

/// The maximum number of instructions for `Native::is_small`.
const SMALL: usize = 1_000;

impl Processors {
    pub fn of(target: &str) -> &'static Self {
        if target.starts_with("aarch64") { &AARCH64 } else { &X86_64 }
    }

    /// Clang's name of the processor of the lowest level.
    fn lowest_processor(&self) -> &'static str {
        self.levels[0].1
    }

    /// Clang's names of the processors.
    pub fn processors(&self) -> impl Iterator<Item = &'static str> {
        self.levels.iter().map(|(_, processor)| *processor)
    }

    /// The names of the levels.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.levels.iter().map(|(name, _)| *name)
    }
}

/// The native functions of a module's kernels.
pub struct Native {
    /// The module with a function for each kernel, not yet for a particular processor. The function's name is
    /// [`Self::FUNCTION`] followed by the kernel's name.
    module: Module,
    kernels: Vec<SplitKernel>,
    /// True if the functions check accesses. They find the bounds in the table after the argument block.
    checked: bool,
    /// Kernels without native code, and the reasons.
    pub left_out: Vec<(String, String)>,
}

/// A kernel that was split into regions.
struct SplitKernel {
    name: String,
    size: usize,
    /// The memory of a tile in bytes; 0 without tiles.
    memory: u64,
    /// The threads of a tile in x, y, z; 0 without tiles.
    tile: [u32; 3],
    /// True if its loops over threads are marked as parallel.
    is_parallel: bool,
}

/// Splits the kernels of a module that `pipelines::native` prepared into regions, and makes a native function of each
/// kernel. `checked`: the kernels check accesses.
pub fn split_kernels(mut module: Module, checked: bool) -> Result<Native, String> {
    module.run(&pipelines::internal())?;
    prepare::run(&mut module)?;
    let code = Rc::new(ir::snapshot(&module));
    let shared: BTreeSet<GlobalId> = (0..code.globals.len()).map(GlobalId).filter(|n| is_shared(&code, *n)).collect();
    let globals: Vec<Value<'_>> = module.globals().collect();
    let addresses: HashSet<Value<'_>> = shared.iter().map(|n| globals[n.0]).collect();
    let (mut kernels, mut left_out) = (Vec::new(), Vec::new());
    for (index, function) in module.functions().enumerate().filter(|(_, function)| is_kernel(*function)) {
        let handles = Handles::of(function);
        let view_members =
            (0..handles.locals.len()).map(LocalId).filter(|n| is_view_member(handles.locals[n.0])).collect();
        let reads_block = ["readonly", "readnone"].iter().any(|name| function.parameter_attribute(0, name).is_some());
        let surroundings = Surroundings { shared: shared.clone(), view_members, reads_block };
        let plan = |cut| {
            let kernel = Kernel::new(&code, index, &surroundings, cut)?;
            let layout = Layout::of(&kernel, &surroundings)?;
            Ok((kernel, layout))
        };
        let is_movable = |value| instructions::is_movable(value, &|one| addresses.contains(&one));
        let plan_result = match () {
            () if function.count_parameters() != 1 => Err("the kernel does not have exactly one argument".into()),
            () if !reads_block => Err("the kernel modifies its functor".into()),
            () if !function.instructions().flat_map(Value::operands).all(is_movable) => {
                Err("the kernel computes with the address of a tile_static variable".into())
            }
            () => plan(true).or_else(|_: String| plan(false)),
        };
        match plan_result {
            Ok(plan_result) => kernels.push(plan_result),
            Err(why) => left_out.push((function.name(), why)),
        }
    }
    module.edit(|edit| {
        let functions: Vec<Value<'_>> = edit.functions().collect();
        for (kernel, layout) in &kernels {
            let from = functions[kernel.index];
            let to = declared(edit, &(Native::FUNCTION.to_owned() + kernel.name()), from);
            emit::emit(edit, kernel, layout, [from, to])?;
        }
        discard(edit, &functions);
        Ok::<(), String>(())
    })?;
    module.run(&pipelines::unused())?;
    module.verify()?;
    if checked {
        version_bounds::run(&mut module)?;
    }
    parallel::check(&module)?;
    let kernels = kernels.iter().map(|(kernel, layout)| SplitKernel::of(kernel, layout)).collect();
    Ok(Native { module, kernels, checked, left_out })
}

fn is_kernel(function: Value<'_>) -> bool {
    function.first_block().is_some() && function.has_attribute(KERNEL)
}

/// True if a variable is tile_static. Only tile_static variables have no initial value.
fn is_shared(code: &Code, variable: GlobalId) -> bool {
    let global = &code.globals[variable.0];
    !global.constant && matches!(global.initializer, Some(Constant::Undef | Constant::Poison))
}

/// True if an instruction loads a member of a view, or of the part of an array that kernels see, according to its TBAA metadata.
fn is_view_member(one: Value<'_>) -> bool {
    let tag = if one.form() == Form::Instruction(o::LOAD) { one.metadata("tbaa") } else { None };
    let class = tag.and_then(|tag| tag.operands().first().copied().flatten()?.as_node());
    let name = class.and_then(|class| class.operands().first().copied().flatten());
    name.is_some_and(|name| is_view(&name.as_text()))
}

impl SplitKernel {
    fn of(kernel: &Kernel, layout: &Layout) -> Self {
        let memory = if layout.tile.is_some() { layout.memory } else { 0 };
        Self {
            name: kernel.name().to_owned(),
            size: kernel.size(),
            memory,
            tile: layout.tile.unwrap_or_default(),
            is_parallel: emit::is_parallel(kernel, layout),
        }
    }
}

impl Native {
    /// The prefix of the functions' names.
    const FUNCTION: &str = "revamp.native.";

    /// True if the kernels are so small that one process compiles them for all processors: starting another process takes longer.
    pub(crate) fn is_small(&self) -> bool {
        self.kernels.iter().map(|kernel| kernel.size).sum::<usize>() <= SMALL
    }

    /// The names of the kernels with native code.
    pub fn kernel_names(&self) -> Vec<&str> {
        self.kernels.iter().map(|kernel| kernel.name.as_str()).collect()
    }

    /// The module for some levels. If the first level is one of them, the module also has the table of all functions,
    /// and the function that registers the table with the unit's image.
    pub(crate) fn module(
        &self,
        processors: &Processors,
        levels: Range<usize>,
        owner: &Owner,
    ) -> Result<Module, String> {
        // Another unit may have kernels of the same names.
        let prefix = |level: &str| format!("{}{:016x}.{level}.", Self::FUNCTION, owner.unit);
        let of_level = |(level, processor): &(&str, &str)| {
            let mut module = self.module.clone();
            module.edit(|edit| {
                for function in edit.functions().filter(|function| function.first_block().is_some()) {
                    let Some(kernel) = function.name().strip_prefix(Self::FUNCTION).map(str::to_owned) else {
                        continue;
                    };
                    edit.rename(function, &(prefix(level) + &kernel));
                    for (name, value) in [("target-cpu", *processor)].iter().chain(processors.attributes) {
                        edit.add_text_attribute(function, name, value);
                    }
                }
            });
            module
        };
        let [first, more @ ..] = &processors.levels[levels.clone()] else {
            return Err("no processor was given".into());
        };
        let mut module = of_level(first);
        more.iter().try_for_each(|level| module.link(of_level(level)))?;
        if levels.start == 0 {
            let levels: Vec<&str> = processors.names().collect();
            let row = |kernel: &SplitKernel| Row {
                kernel: kernel.name.clone(),
                functions: std::array::from_fn(|n| prefix(levels.get(n).unwrap_or(&levels[0])) + &kernel.name),
                memory: kernel.memory,
                tile: kernel.tile,
                flags: if self.checked { table::CHECKED } else { 0 },
            };
            let rows: Vec<Row> = self.kernels.iter().map(row).collect();
            let table =
                module.parse_in_same_context(&(table::declared(&rows) + &table::text("native", &rows, owner)))?;
            module.link(table)?;
        }
        parallel::check(&module)?;
        Ok(module)
    }
}

/// Declares the native function of a kernel.
fn declared<'m>(edit: Editor<'m>, name: &str, kernel: Value<'m>) -> Value<'m> {
    let pointer = edit.pointer_type();
    let function = edit.external(name, Some(edit.integer_type(32)), &[pointer; 3], false);
    edit.hide(function, kernel);
    edit.add_attribute(function, "nounwind");
    edit.add_text_attribute(function, "no-trapping-math", "true");
    let known_attributes =
        ["align", "dereferenceable"].map(|name| kernel.parameter_attribute(0, name).map(|number| (name, number)));
    let block: Vec<(&str, u64)> = ["noalias", "noundef", "readonly"]
        .map(|name| (name, 0))
        .into_iter()
        .chain(known_attributes.into_iter().flatten())
        .collect();
    edit.set_parameter_attributes(function, 0, &block);
    edit.set_parameter_attributes(function, 1, &[("noalias", 0), ("noundef", 0), ("align", 64)]);
    let place = [("noalias", 0), ("noundef", 0), ("readonly", 0), ("align", 4), ("dereferenceable", 16)];
    edit.set_parameter_attributes(function, 2, &place);
    function
}

/// Gives internal linkage to globals that native code does not need, so that `globaldce` deletes them. These are the
/// functions of `functions` that have a body, LLVM's lists, and globals that Clang adds for HIP. tile_static variables
/// are deleted too.
fn discard<'m>(edit: Editor<'m>, functions: &[Value<'m>]) {
    for function in functions {
        match function.first_block() {
            Some(_) => edit.discard(*function),
            // Clang hides external functions in device code. These are the C library's, so they must be visible.
            None => edit.export(*function),
        }
    }
    let is_llvm_or_hip = |variable: &Value<'m>| {
        let name = variable.name();
        ["llvm.", "__hip"].iter().any(|prefix| name.starts_with(prefix))
    };
    edit.globals().filter(is_llvm_or_hip).collect::<Vec<_>>().into_iter().for_each(|variable| edit.discard(variable));
}
