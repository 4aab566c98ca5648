//! The kernels of a source, from the device's code that Clang made: LLVM's passes, the look at barriers, the lowering, and what of
//! it is kept for a look.

use crate::analysis::cfg::ends;
use crate::bounds_option::Bounds;
use crate::device_abi::DeviceFunction;
use crate::diagnostics::Failed;
use crate::kernel_error::{KernelError, Remedy};
use crate::kernel_report::Before;
use crate::llvm::{Llvm, Module, Pipeline};
use crate::lower::{CompiledKernel, Options};
use crate::passes::{
    calls, drop_reassoc, end_thread, inline_all, integer_division, lock_fences, lock_sinking, phi_loads,
    separate_memories, spin_marks, textures, unreachable_returns, unroll_large, wide_products,
};
use crate::pipelines::{self, Optimised, Unrolling};
use crate::{diagnostics, files, folded_constants, ir, kernel_report, lower};
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// A kernel of more instructions than this is optimised again with less unrolling.
const UNROLLED: usize = 2000;

/// What the command line says of kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// What becomes of accesses outside of arrays.
    pub bounds: Bounds,
    /// Debug information.
    pub lines: bool,
    /// `-famp-strict`.
    pub strict: bool,
    /// No warnings.
    pub silent: bool,
    /// Warnings are errors.
    pub fatal: bool,
    /// `-famp-report`.
    pub report: bool,
}

/// How a source's kernels are made.
pub struct Compiler<'a> {
    pub llvm: Llvm,
    pub asked: Asked,
    pub source: &'a Path,
    /// How the names of the files begin that `REVAMP_KERNEL_DUMP` asks for.
    pub dump: Option<PathBuf>,
}

/// The kernels of the device's code.
pub fn lowered(compiler: &Compiler<'_>, code: &[u8]) -> Result<Vec<CompiledKernel>, Failed> {
    let mut module =
        Module::read(compiler.llvm, code, &compiler.source.to_string_lossy()).map_err(|why| compiler.failed(&why))?;
    let steps = Steps { compiler, dump: Dump::new(compiler, ""), images: false };
    steps.pass(&mut module, "integer-division", integer_division::run)?;
    if folded_constants::may_be_in(&module) {
        let refusals = folded_constants::refused(&ir::snapshot(&module));
        if !refusals.is_empty() {
            return Err(refused(&refusals));
        }
    }
    if !calls::is_called(DeviceFunction::WithImages, &module) {
        return steps.lowered_apart(module);
    }
    let mut with_images = module.clone();
    steps.pass(&mut module, "textures-as-memory", |module| textures::run(module, false))?;
    let mut kernels = steps.lowered_apart(module)?;
    // Where bounds are checked, all accesses are to memory.
    if compiler.asked.bounds == Bounds::Off {
        let steps = Steps { compiler, dump: Dump::new(compiler, ".images"), images: true };
        steps.pass(&mut with_images, "textures-as-images", |module| textures::run(module, true))?;
        // What reads texels by address would count as a large kernel.
        steps.pipeline(&mut with_images, "fold", &pipelines::fold())?;
        let forms = steps.lowered_apart(with_images)?;
        for form in forms.into_iter().filter(|form| !form.images.is_empty()) {
            if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == form.name) {
                kernel.with_images = Some(Box::new(form));
            }
        }
    }
    Ok(kernels)
}

/// The device's code on its way to kernels, inlined where that was needed.
struct Prepared {
    module: Module,
    /// Loops of it wait for other threads, and are marked so.
    has_spin_loops: bool,
}

/// The code after LLVM's passes.
struct Made {
    module: Module,
    code: ir::Module,
    /// With `Unrolling::Short`, the code before runtime unrolling.
    before: Option<Module>,
}

impl Compiler<'_> {
    fn failed(&self, why: &str) -> String {
        format!("LLVM, compiling the kernels of {}: {why}", self.source.display())
    }
}

/// The steps from the device's code to kernels of one form.
struct Steps<'a> {
    compiler: &'a Compiler<'a>,
    dump: Dump,
    /// Textures are images, and kernels whose textures cannot be images are left out.
    images: bool,
}

impl Steps<'_> {
    /// Runs a pass of ours. LLVM's passes must not get what LLVM's verifier refuses.
    fn pass<R>(&self, module: &mut Module, name: &str, pass: impl FnOnce(&mut Module) -> R) -> Result<R, String> {
        let made = pass(module);
        self.dump.step(name, module)?;
        module.verify().map_err(|why| self.compiler.failed(&format!("after {name}: {why}")))?;
        Ok(made)
    }

    /// Runs passes of LLVM.
    fn pipeline(&self, module: &mut Module, name: &str, pipeline: &Pipeline) -> Result<(), String> {
        module.run(pipeline).map_err(|why| self.compiler.failed(&why))?;
        self.dump.step(name, module)
    }

    /// The kernels of code in which addresses may be chosen of those of two memories: of what is read there instead, or of one
    /// address for each memory, if so.
    fn lowered_apart(&self, mut module: Module) -> Result<Vec<CompiledKernel>, Failed> {
        let refused = match self.lowered(&mut module) {
            Err(failed) if failed.remedy == Remedy::SeparateMemories => failed,
            done => return done,
        };
        let large = inline_all::is_large(&module);
        if self.pipeline(&mut module, "inline", &pipelines::inline(large)).is_err() {
            return Err(refused);
        }
        self.pipeline(&mut module, "differences", &pipelines::differences())?;
        self.pass(&mut module, "phi-loads", phi_loads::run)?;
        self.pass(&mut module, "separate-memories", separate_memories::run)?;
        self.pipeline(&mut module, "address-spaces", &pipelines::address_spaces())?;
        self.lowered(&mut module)
    }

    /// The kernels. The code is marked for inlining.
    fn lowered(&self, module: &mut Module) -> Result<Vec<CompiledKernel>, Failed> {
        self.pass(module, "inline-all", inline_all::run)?;
        self.pass(module, "drop-reassoc", drop_reassoc::run)?;
        let large = inline_all::is_large(module);
        // What cannot be looked at is not refused.
        let report = self.compiler.asked.report && !self.images;
        let look = !self.images && (report || calls::is_called(DeviceFunction::TileBarrier, module));
        let values = if look { self.values(module, large).ok() } else { None };
        let prepared = self.prepared(module, large);
        self.dump.module("ll", module)?;
        let prepared = prepared?;
        let levels = self.levels(&prepared, large)?;
        if let Some(values) = &values {
            self.barriers_reached(values)?;
        }
        let Asked { bounds, lines, .. } = self.compiler.asked;
        let options = Options { lines: self.dump.is_asked() || lines, bounds };
        let best = levels.best();
        let of_size: Vec<_> = best.iter().map(|(_, module, kernel)| (*module, *kernel)).collect();
        let kernels = if self.images {
            of_size.iter().filter_map(|one| lower::compile(&[*one], &options).ok()).flatten().collect()
        } else {
            lower::compile(&of_size, &options).map_err(|refusals| refused(&refusals))?
        };
        for (n, kernel) in kernels.iter().enumerate() {
            self.dump.kernel(n, kernel)?;
        }
        if report {
            let Prepared { module: prepared, has_spin_loops } = &prepared;
            let before = Before { prepared, values: values.as_ref(), large, has_spin_loops: *has_spin_loops };
            let report = kernel_report::text(&best, &before, &kernels);
            eprint!("{}", report.unwrap_or_else(|why| format!("remark: no report: {why}\n")));
        }
        Ok(kernels)
    }

    /// The code whose calls are inlined and whose control flow is still the user's.
    fn values(&self, module: &Module, large: bool) -> Result<ir::Module, String> {
        let mut module = module.clone();
        self.pipeline(&mut module, "values", &pipelines::values(large))?;
        Ok(ir::snapshot(&module))
    }

    /// Gives the ends of threads, the order of locks, and loops that wait for other threads forms that LLVM leaves as they are.
    fn prepared(&self, module: &Module, large: bool) -> Result<Prepared, String> {
        let inline = pipelines::inline(large);
        let mut prepared = Prepared { module: module.clone(), has_spin_loops: false };
        if calls::is_called(DeviceFunction::EndThread, module) {
            self.pipeline(&mut prepared.module, "inline", &inline)?;
            self.pass(&mut prepared.module, "end-thread", end_thread::run)?;
        }
        if !calls::has_atomics(&prepared.module) {
            return Ok(prepared);
        }
        let mut values = prepared.module.clone();
        self.pipeline(&mut values, "inline", &inline)?;
        if self.pass(&mut values, "lock-fences", lock_fences::run)? {
            prepared.module = values.clone();
        }
        let sunk = self.pass(&mut values, "lock-sinking", lock_sinking::run)?;
        if sunk.map_err(|why| self.compiler.failed(&why))? {
            prepared.module = values.clone();
        }
        if self.pass(&mut values, "spin-marks", spin_marks::run)? {
            prepared = Prepared { module: values, has_spin_loops: true };
        }
        Ok(prepared)
    }

    /// The code unrolled in as many ways as its kernels need.
    fn levels(&self, prepared: &Prepared, large: bool) -> Result<Levels, Failed> {
        let mut levels = Levels(Vec::new());
        let dump = |made: &Module, number: usize| {
            self.dump.module(&if number == 0 { "opt.ll".into() } else { format!("opt.{number}.ll") }, made)
        };
        for unrolling in [Unrolling::Short, Unrolling::Much, Unrolling::Some, Unrolling::Little, Unrolling::Known] {
            let tried = !large || matches!(unrolling, Unrolling::Little | Unrolling::Known);
            if !tried || !levels.lack(unrolling) {
                continue;
            }
            let how = Optimised { large, unrolling, structured: true };
            let Made { module, code, before } = self.optimised(prepared, how)?;
            dump(&module, levels.0.len())?;
            levels.0.push((unrolling, code));
            let Some(mut module) = before else { continue };
            if self.pass(&mut module, "unroll-large", unroll_large::run)? {
                self.pipeline(&mut module, "unroll", &pipelines::unroll_large())?;
                self.finish(prepared, &mut module)?;
                dump(&module, levels.0.len())?;
                levels.0.insert(0, (Unrolling::Large, ir::snapshot(&module)));
            }
        }
        Ok(levels)
    }

    /// What comes after LLVM's passes.
    fn finish(&self, prepared: &Prepared, module: &mut Module) -> Result<(), String> {
        self.pass(module, "wide-products", wide_products::run)?;
        if prepared.has_spin_loops { self.pass(module, "spin-marks-removed", spin_marks::unmark) } else { Ok(()) }
    }

    /// Optimises the code, and copies the result.
    fn optimised(&self, prepared: &Prepared, how: Optimised) -> Result<Made, String> {
        let mut module = prepared.module.clone();
        let mut before = None;
        if how.unrolling == Unrolling::Short && !how.large {
            self.pipeline(&mut module, "optimise", &pipelines::optimise(how))?;
            before = Some(module.clone());
            self.pipeline(&mut module, "unroll", &pipelines::unroll(how))?;
        } else {
            self.pipeline(&mut module, "optimise", &pipelines::optimise_and_unroll(how))?;
        }
        self.finish(prepared, &mut module)?;
        let code = ir::snapshot(&module);
        if !lower::kernels(&code).any(has_unreachable) {
            return Ok(Made { module, code, before });
        }
        // A second end of the kernel, around which nothing was structured.
        let mut module = prepared.module.clone();
        let how = Optimised { structured: false, ..how };
        self.pipeline(&mut module, "optimise", &pipelines::optimise_and_unroll(how))?;
        self.pass(&mut module, "unreachable-returns", unreachable_returns::run)?;
        self.pipeline(&mut module, "structure", &pipelines::structure())?;
        self.finish(prepared, &mut module)?;
        let code = ir::snapshot(&module);
        Ok(Made { module, code, before: None })
    }

    /// Refuses barriers that not all threads of a tile reach, or warns of them.
    fn barriers_reached(&self, values: &ir::Module) -> Result<(), Failed> {
        let (mut text, mut errors) = (String::new(), 0);
        let Asked { strict, silent, fatal, .. } = self.compiler.asked;
        let fatal = strict || !silent && fatal;
        for found in lower::divergent_barriers(values) {
            let error = found.differs || fatal && (strict || !found.by_race);
            let Some(at) = found.frames.first().filter(|_| error || !silent && !found.by_race) else { continue };
            errors += usize::from(error);
            let (kind, how) = if error { ("error", "is not") } else { ("warning", "may not be") };
            let message = format!(
                "tile barrier operation found in control flow that {how} the same for all threads of the tile (C3561): \
                 all of them must reach it; put only the work into the condition, and the barrier after it"
            );
            text += &diagnostics::at(at, kind, &message);
            if let Some(c) = &found.condition {
                text += &diagnostics::at(c, "note", &format!("this condition depends on {}", found.cause));
            }
            text += &diagnostics::calls(&found.frames[1..]);
        }
        if errors > 0 {
            text += &diagnostics::generated(errors, "compiling kernels");
            return Err(Failed { text, code: 1, remedy: Remedy::None });
        }
        eprint!("{text}");
        Ok(())
    }
}

/// Whether a kernel has an end that no thread gets to.
fn has_unreachable(kernel: &ir::Function) -> bool {
    kernel.instructions().any(|instruction| instruction.op == ir::Op::Unreachable)
}

fn is_small(kernel: &ir::Function) -> bool {
    kernel.instructions().count() <= UNROLLED
}

/// How many arrays of a thread are memory.
fn arrays(kernel: &ir::Function) -> usize {
    kernel.instructions().filter(|instruction| matches!(instruction.op, ir::Op::Alloca { .. })).count()
}

/// The same code, unrolled in several ways.
struct Levels(Vec<(Unrolling, ir::Module)>);

impl Levels {
    /// The ways that a kernel of the first module is there in.
    fn of<'m>(
        &'m self,
        kernel: &'m ir::Function,
    ) -> impl Iterator<Item = (Unrolling, &'m ir::Module, &'m ir::Function)> {
        self.0.iter().filter_map(|(unrolling, module)| {
            Some((*unrolling, module, lower::kernels(module).find(|other| other.name == kernel.name)?))
        })
    }

    /// Whether some kernel needs this way too.
    fn lack(&self, unrolling: Unrolling) -> bool {
        let Some((_, first)) = self.0.first() else { return true };
        lower::kernels(first).any(|kernel| match unrolling {
            Unrolling::Much => is_small(kernel) && arrays(kernel) > 0,
            Unrolling::Known => !self.of(kernel).any(|(_, _, kernel)| ends(kernel)),
            _ => !self.of(kernel).any(|(_, _, kernel)| is_small(kernel)),
        })
    }

    /// The kernels: each from the first way in which it is small, or from the one that leaves less arrays in memory.
    fn best(&self) -> Vec<(Unrolling, &ir::Module, &ir::Function)> {
        let Some((_, first)) = self.0.first() else { return Vec::new() };
        let choose = |kernel| {
            let ending = || self.of(kernel).filter(|(_, _, kernel)| ends(kernel));
            let small = ending().find(|(_, _, kernel)| is_small(kernel));
            let last = || ending().filter(|(way, ..)| *way != Unrolling::Known).last();
            let (way, module, best) = small.or_else(last).or_else(|| self.of(kernel).last())?;
            let less = |(other, _, kernel): &(Unrolling, &ir::Module, &ir::Function)| {
                matches!(way, Unrolling::Short | Unrolling::Large)
                    && *other == Unrolling::Much
                    && is_small(kernel)
                    && arrays(kernel) < arrays(best)
            };
            Some(self.of(kernel).find(less).unwrap_or((way, module, best)))
        };
        lower::kernels(first).filter_map(choose).collect()
    }
}

/// Why kernels cannot be compiled, as Clang says such things.
pub fn refused(refusals: &[KernelError]) -> Failed {
    let mut text = String::new();
    for r in refusals {
        match r.frames.split_first() {
            Some((place, callers)) => {
                text += &diagnostics::at(place, "error", &r.message);
                text += &diagnostics::calls(callers);
            }
            None => text += &format!("error: {}\n", r.message),
        }
    }
    text += &diagnostics::generated(refusals.len(), "compiling kernels");
    let separable = refusals.iter().any(|refusal| refusal.remedy == Remedy::SeparateMemories);
    Failed { text, code: 1, remedy: if separable { Remedy::SeparateMemories } else { Remedy::None } }
}

/// What `REVAMP_KERNEL_DUMP` asks for.
struct Dump {
    stem: Option<PathBuf>,
    /// The steps so far.
    steps: Cell<usize>,
}

impl Dump {
    fn new(compiler: &Compiler<'_>, of: &str) -> Self {
        Self { stem: compiler.dump.as_deref().map(|stem| files::beside(stem, of)), steps: Cell::new(0) }
    }

    fn is_asked(&self) -> bool {
        self.stem.is_some()
    }

    /// The module after a step.
    fn step(&self, name: &str, module: &Module) -> Result<(), String> {
        self.steps.set(self.steps.get() + 1);
        self.module(&format!("pass.{:02}.{name}.ll", self.steps.get()), module)
    }

    fn path(&self, suffix: &str) -> Result<Option<PathBuf>, String> {
        let Some(stem) = &self.stem else { return Ok(None) };
        let folder = stem.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot make {}: {e}", folder.display()))?;
        Ok(Some(files::beside(stem, &format!(".{suffix}"))))
    }

    fn module(&self, suffix: &str, module: &Module) -> Result<(), String> {
        let Some(to) = self.path(suffix)? else { return Ok(()) };
        std::fs::write(&to, module.print())
            .map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot write {}: {e}", to.display()))
    }

    fn kernel(&self, number: usize, kernel: &CompiledKernel) -> Result<(), String> {
        let (Some(binary), Some(assembly)) =
            (self.path(&format!("{number}.spv"))?, self.path(&format!("{number}.spvasm"))?)
        else {
            return Ok(());
        };
        let bytes: Vec<u8> = kernel.spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
        use rspirv::binary::Disassemble;
        let module = rspirv::dr::load_words(&kernel.spirv).map(|m| m.disassemble());
        let text = module.unwrap_or_else(|e| format!("; {e}\n"));
        let text = format!("; {}\n; {}\n; captures: {:?}\n{text}\n", kernel.location, kernel.name, kernel.captures);
        let write = |to: &Path, what: &[u8]| {
            std::fs::write(to, what).map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot write {}: {e}", to.display()))
        };
        write(&binary, &bytes)?;
        write(&assembly, text.as_bytes())
    }
}
