//! Kernels as functions of the host's processor (docs/kernel-compiler-design.md#native-kernels), made of the device's code (`passes::host_target`). A kernel is cut into regions at its barriers, and each region becomes a loop over the
//! threads of a tile, after Meyer et al., "Implementation techniques for SPMD kernels on CPUs".

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

/// The processors of an architecture that functions are made for.
pub(crate) struct Processors {
    /// The name of the function, Clang's name of the processor.
    levels: &'static [(&'static str, &'static str)],
    /// More attributes of the functions.
    attributes: &'static [(&'static str, &'static str)],
}

const X86_64: Processors = Processors {
    levels: &[("v1", "x86-64"), ("v3", "x86-64-v3"), ("v4", "x86-64-v4")],
    attributes: &[("prefer-vector-width", "512"), ("target-features", "+prefer-no-scatter")],
};
/// Vectors of 128 bits are part of all of them.
const AARCH64: Processors = Processors { levels: &[("v1", "generic")], attributes: &[] };

/// Of `Native::is_small`: instructions.
const SMALL: usize = 1_000;

impl Processors {
    pub fn of(target: &str) -> &'static Self {
        if target.starts_with("aarch64") { &AARCH64 } else { &X86_64 }
    }

    /// The least of them, as LLVM names it.
    fn least(&self) -> &'static str {
        self.levels[0].1
    }

    /// Clang's names of them.
    pub fn processors(&self) -> impl Iterator<Item = &'static str> {
        self.levels.iter().map(|(_, processor)| *processor)
    }

    /// The names of the functions.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.levels.iter().map(|(name, _)| *name)
    }
}

/// The functions that were made of a module's kernels.
pub struct Native {
    /// With a function for each kernel, of no processor yet, named [`Self::FUNCTION`] and the kernel.
    module: Module,
    kernels: Vec<Cut>,
    /// They check accesses, by the table behind the argument block.
    checked: bool,
    /// Kernels that were not understood, and why.
    pub left_out: Vec<(String, String)>,
}

/// A kernel that was cut.
struct Cut {
    name: String,
    size: usize,
    /// Bytes of a tile's memory, and its threads in x, y, z; 0 without tiles.
    memory: u64,
    tile: [u32; 3],
    /// Its loops over threads are marked as parallel.
    is_parallel: bool,
}

/// Cuts the kernels of a module that `pipelines::native` prepared, and makes a function of each. `checked`: they check accesses.
pub fn cut(mut module: Module, checked: bool) -> Result<Native, String> {
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
        let reads_block = ["readonly", "readnone"].iter().any(|name| function.number_of(0, name).is_some());
        let around = Surroundings { shared: shared.clone(), view_members, reads_block };
        let plan = |cut| {
            let kernel = Kernel::new(&code, index, &around, cut)?;
            let layout = Layout::of(&kernel, &around)?;
            Ok((kernel, layout))
        };
        let is_movable = |value| instructions::is_movable(value, &|one| addresses.contains(&one));
        let made = match () {
            () if function.count_parameters() != 1 => Err("it has other arguments than a functor".into()),
            () if !reads_block => Err("it changes its functor".into()),
            () if !function.instructions().flat_map(Value::operands).all(is_movable) => {
                Err("it computes with the address of a tile_static variable".into())
            }
            () => plan(true).or_else(|_: String| plan(false)),
        };
        match made {
            Ok(made) => kernels.push(made),
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
    let kernels = kernels.iter().map(|(kernel, layout)| Cut::of(kernel, layout)).collect();
    Ok(Native { module, kernels, checked, left_out })
}

fn is_kernel(function: Value<'_>) -> bool {
    function.first_block().is_some() && function.has_attribute(KERNEL)
}

/// Whether a variable is tile_static: it has no initial value.
fn is_shared(code: &Code, variable: GlobalId) -> bool {
    let global = &code.globals[variable.0];
    !global.constant && matches!(global.initializer, Some(Constant::Undef | Constant::Poison))
}

/// Whether an instruction loads a member of a view or of what kernels see of an array, as its type-based alias information says.
fn is_view_member(one: Value<'_>) -> bool {
    let tag = if one.form() == Form::Instruction(o::LOAD) { one.metadata("tbaa") } else { None };
    let class = tag.and_then(|tag| tag.operands().first().copied().flatten()?.as_node());
    let name = class.and_then(|class| class.operands().first().copied().flatten());
    name.is_some_and(|name| is_view(&name.as_text()))
}

impl Cut {
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
    /// How the names of functions begin.
    const FUNCTION: &str = "revamp.native.";

    /// Whether they are so few that one process compiles them for all processors: to start one takes longer.
    pub(crate) fn is_small(&self) -> bool {
        self.kernels.iter().map(|kernel| kernel.size).sum::<usize>() <= SMALL
    }

    /// The names of the kernels that were understood.
    pub fn understood(&self) -> Vec<&str> {
        self.kernels.iter().map(|kernel| kernel.name.as_str()).collect()
    }

    /// The module for some levels. That of the first holds the table of all, and what registers it with the unit's image.
    pub(crate) fn module(
        &self,
        processors: &Processors,
        levels: Range<usize>,
        owner: &Owner,
    ) -> Result<Module, String> {
        // Another unit may have kernels of the same names.
        let begin = |level: &str| format!("{}{:016x}.{level}.", Self::FUNCTION, owner.unit);
        let of_level = |(level, processor): &(&str, &str)| {
            let mut module = self.module.clone();
            module.edit(|edit| {
                for function in edit.functions().filter(|function| function.first_block().is_some()) {
                    let Some(kernel) = function.name().strip_prefix(Self::FUNCTION).map(str::to_owned) else {
                        continue;
                    };
                    edit.rename(function, &(begin(level) + &kernel));
                    for (name, value) in [("target-cpu", *processor)].iter().chain(processors.attributes) {
                        edit.add_text_attribute(function, name, value);
                    }
                }
            });
            module
        };
        let [first, more @ ..] = &processors.levels[levels.clone()] else { return Err("no processors".into()) };
        let mut module = of_level(first);
        more.iter().try_for_each(|level| module.link(of_level(level)))?;
        if levels.start == 0 {
            let levels: Vec<&str> = processors.names().collect();
            let row = |kernel: &Cut| Row {
                kernel: kernel.name.clone(),
                functions: std::array::from_fn(|n| begin(levels.get(n).unwrap_or(&levels[0])) + &kernel.name),
                memory: kernel.memory,
                tile: kernel.tile,
                flags: if self.checked { table::CHECKED } else { 0 },
            };
            let rows: Vec<Row> = self.kernels.iter().map(row).collect();
            let table = module.beside(&(table::declared(&rows) + &table::text("native", &rows, owner)))?;
            module.link(table)?;
        }
        parallel::check(&module)?;
        Ok(module)
    }
}

/// Declares the function of a kernel.
fn declared<'m>(edit: Editor<'m>, name: &str, kernel: Value<'m>) -> Value<'m> {
    let pointer = edit.pointer_type();
    let function = edit.external(name, Some(edit.integer_type(32)), &[pointer; 3], false);
    edit.hide(function, kernel);
    edit.add_attribute(function, "nounwind");
    edit.add_text_attribute(function, "no-trapping-math", "true");
    let known = ["align", "dereferenceable"].map(|name| kernel.number_of(0, name).map(|number| (name, number)));
    let block: Vec<(&str, u64)> = ["noalias", "noundef", "readonly"]
        .map(|name| (name, 0))
        .into_iter()
        .chain(known.into_iter().flatten())
        .collect();
    edit.set_parameter_attributes(function, 0, &block);
    edit.set_parameter_attributes(function, 1, &[("noalias", 0), ("noundef", 0), ("align", 64)]);
    let place = [("noalias", 0), ("noundef", 0), ("readonly", 0), ("align", 4), ("dereferenceable", 16)];
    edit.set_parameter_attributes(function, 2, &place);
    function
}

/// Internalises what native code does not need, so that `globaldce` deletes it: functions that are defined, LLVM's lists, tile_static variables, what Clang adds for HIP.
fn discard<'m>(edit: Editor<'m>, functions: &[Value<'m>]) {
    for function in functions {
        match function.first_block() {
            Some(_) => edit.discard(*function),
            // The device's externs are hidden; these are the C library's.
            None => edit.export(*function),
        }
    }
    let of_others = |variable: &Value<'m>| {
        let name = variable.name();
        ["llvm.", "__hip"].iter().any(|begin| name.starts_with(begin))
    };
    edit.globals().filter(of_others).collect::<Vec<_>>().into_iter().for_each(|variable| edit.discard(variable));
}
