//! The report of `-famp-report` on kernels for devices.

use crate::ir::{self, Function, Module};
use crate::llvm;
use crate::lower::{self, CompiledKernel, Forms};
use crate::pipelines::{self, Unrolling};
use crate::report::{self, Remark, Way};
use std::collections::BTreeMap;

/// The kernels of a source in the forms that come before the last one.
pub struct Before<'m> {
    /// As LLVM's passes get them.
    pub prepared: &'m llvm::Module,
    /// Inlined, with the program's control flow.
    pub values: Option<&'m Module>,
    pub large: bool,
    /// Loops that wait for other threads are marked.
    pub has_spin_loops: bool,
}

/// The remarks on all kernels, each with the module that it was lowered from.
pub fn text(
    kernels: &[(Unrolling, &Module, &Function)],
    before: &Before<'_>,
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
        if !loops.iter().any(|(known, _)| *known == unrolling) {
            let way = Way { unrolling, large: before.large, has_spin_loops: before.has_spin_loops };
            loops.push((unrolling, report::unrolled(before.prepared, way, module)?));
        }
        let found = loops.iter().find(|(known, _)| *known == unrolling).and_then(|(_, all)| all.get(&function.name));
        let remarks = lower::remarks(&forms).into_iter().chain(found.into_iter().flatten().cloned()).collect();
        let spirv = compiled.iter().find(|kernel| kernel.name == function.name).map_or(&[][..], |kernel| &kernel.spirv);
        text += &report::printed(lower::size(module, function, spirv), remarks);
    }
    Ok(text)
}
