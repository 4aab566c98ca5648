//! Writes the report of `-famp-report` on the kernels for devices.

use crate::ir::{self, Function, Module};
use crate::llvm;
use crate::lower::{self, CompiledKernel, Forms};
use crate::pipelines::{self, Unrolling};
use crate::report::{self, Remark, UnrollSettings};
use std::collections::BTreeMap;

/// The code of a source's kernels at two stages before optimisation.
pub struct BeforeOptimisation<'m> {
    /// The input of LLVM's passes.
    pub prepared: &'m llvm::Module,
    /// The code after inlining, with the program's control flow; `None` if it could not be made.
    pub values: Option<&'m Module>,
    /// True if the module is large (`inline_all::is_large`).
    pub large: bool,
    /// True if loops that wait for other threads are marked.
    pub has_spin_loops: bool,
}

/// The remarks on `kernels`. Each kernel comes with the module from which it was lowered, and with the unrolling of that module.
pub fn text(
    kernels: &[(Unrolling, &Module, &Function)],
    before: &BeforeOptimisation<'_>,
    compiled: &[CompiledKernel],
) -> Result<String, String> {
    let mut inlined = before.prepared.clone();
    inlined.run(&pipelines::inlined(before.large))?;
    let inlined = ir::snapshot(&inlined);
    let mut text = String::new();
    let mut loops: Vec<(Unrolling, BTreeMap<String, Vec<Remark>>)> = Vec::new();
    for &(unrolling, module, function) in kernels {
        let form =
            |module| lower::kernels(module).find(|other| other.name == function.name).map(|found| (module, found));
        let forms = Forms { inlined: form(&inlined), values: before.values.and_then(form), last: (module, function) };
        if !loops.iter().any(|(existing_unrolling, _)| *existing_unrolling == unrolling) {
            let settings = UnrollSettings { unrolling, large: before.large, has_spin_loops: before.has_spin_loops };
            loops.push((unrolling, report::unrolled(before.prepared, settings, module)?));
        }
        let found = loops
            .iter()
            .find(|(existing_unrolling, _)| *existing_unrolling == unrolling)
            .and_then(|(_, all)| all.get(&function.name));
        let remarks = lower::remarks(&forms).into_iter().chain(found.into_iter().flatten().cloned()).collect();
        let spirv = compiled.iter().find(|kernel| kernel.name == function.name).map_or(&[][..], |kernel| &kernel.spirv);
        text += &report::printed(lower::size(module, function, spirv), remarks);
    }
    Ok(text)
}
