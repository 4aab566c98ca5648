//! Compiles the device's code of a source, which Clang provides as LLVM IR, to kernels. Runs LLVM's passes, checks
//! barriers, lowers the code to SPIR-V, and writes dumps.

use crate::analysis::cfg::{ControlFlowGraph, can_exit};
use crate::analysis::loops::natural_loops;
use crate::bounds_option::Bounds;
use crate::device_abi::DeviceFunction;
use crate::diagnostics::Failed;
use crate::kernel_error::{KernelError, Remedy};
use crate::kernel_report::BeforeOptimisation;
use crate::llvm::{Llvm, Module, Pipeline};
use crate::lower::{CompiledKernel, Options};
use crate::passes::{
    self, calls, disjoint_sums, drop_reassoc, end_thread, inline_all, integer_division, invariant_calls, lock_fences,
    lock_sinking, phi_loads, separate_memories, spin_marks, textures, unreachable_returns, unroll_large,
};
use crate::pipelines::{self, Optimised, Unrolling};
use crate::{diagnostics, files, folded_constants, ir, kernel_report, lower};
use revamp_image::Capture;
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// A kernel of more instructions than this is optimised again with less unrolling.
const MAX_UNROLLED_INSTRUCTIONS: usize = 2000;

/// The command-line options that apply to kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelOptions {
    /// The treatment of accesses outside of arrays.
    pub bounds: Bounds,
    /// True if kernels get debug information.
    pub lines: bool,
    /// `-famp-strict`.
    pub strict: bool,
    /// True if warnings are disabled (`-w`).
    pub silent: bool,
    /// True if warnings are errors (`-Werror`).
    pub fatal: bool,
    /// `-famp-report`.
    pub report: bool,
}

/// The compiler of a source's kernels: LLVM and the options.
pub struct Compiler<'a> {
    pub llvm: Llvm,
    pub kernel_options: KernelOptions,
    pub source: &'a Path,
    /// The folder and the common prefix of the names of the dump files that `REVAMP_KERNEL_DUMP` requests.
    pub dump: Option<PathBuf>,
}

/// Compiles the device's code to kernels.
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
        return steps.lowered_with_separate_memories(module);
    }
    let mut with_images = module.clone();
    steps.pass(&mut module, "textures-as-memory", |module| textures::run(module, false))?;
    let mut kernels = steps.lowered_with_separate_memories(module)?;
    // With bounds checks, kernels access textures in memory only.
    if compiler.kernel_options.bounds == Bounds::Off {
        let steps = Steps { compiler, dump: Dump::new(compiler, ".images"), images: true };
        steps.pass(&mut with_images, "textures-as-images", |module| textures::run(module, true))?;
        // Without this pipeline, the code that reads texels by address would remain, and the kernel would count as large.
        steps.pipeline(&mut with_images, "fold", &pipelines::fold())?;
        let forms = steps.lowered_with_separate_memories(with_images)?;
        for form in forms.into_iter().filter(|form| !form.images.is_empty()) {
            if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == form.name) {
                kernel.with_images = Some(Box::new(form));
            }
        }
    }
    Ok(kernels)
}

/// The device's code before LLVM's passes. Functions are inlined if a pass of revamp required it.
struct Prepared {
    module: Module,
    /// True if the module has loops that wait for other threads, which `spin_marks` has marked.
    has_spin_loops: bool,
}

/// The code after LLVM's passes.
struct OptimisedCode {
    module: Module,
    code: ir::Module,
    /// With `Unrolling::Short`, the code before runtime unrolling.
    before: Option<Module>,
}

impl Compiler<'_> {
    fn failed(&self, why: &str) -> String {
        format!("LLVM failed to compile the kernels of {}: {why}", self.source.display())
    }
}

/// Runs the steps from the device's code to kernels, either with textures in memory or with textures as images.
struct Steps<'a> {
    compiler: &'a Compiler<'a>,
    dump: Dump,
    /// True if textures are read as images. Kernels whose textures cannot be images are then left out.
    images: bool,
}

impl Steps<'_> {
    /// Runs a pass of revamp and then LLVM's verifier, because LLVM's passes must not get an invalid module.
    fn pass<R>(&self, module: &mut Module, name: &str, pass: impl FnOnce(&mut Module) -> R) -> Result<R, String> {
        let made = pass(module);
        self.dump.step(name, module)?;
        module.verify().map_err(|why| self.compiler.failed(&format!("after {name}: {why}")))?;
        Ok(made)
    }

    fn passes(&self, module: &mut Module, passes: &[passes::Named]) -> Result<(), String> {
        passes.iter().try_for_each(|(name, pass)| self.pass(module, name, pass).map(|_| ()))
    }

    /// Runs passes of LLVM.
    fn pipeline(&self, module: &mut Module, name: &str, pipeline: &Pipeline) -> Result<(), String> {
        module.run(pipeline).map_err(|why| self.compiler.failed(&why))?;
        self.dump.step(name, module)
    }

    /// Lowers the code. If the lowering refuses an address that is selected from several kinds of memory, changes the code and lowers it again.
    /// The changed code selects the loaded values instead, or one address for each kind of memory.
    fn lowered_with_separate_memories(&self, mut module: Module) -> Result<Vec<CompiledKernel>, Failed> {
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

    /// Marks all functions for inlining, optimises the code and lowers it to kernels.
    fn lowered(&self, module: &mut Module) -> Result<Vec<CompiledKernel>, Failed> {
        self.pass(module, "inline-all", inline_all::run)?;
        self.pass(module, "drop-reassoc", drop_reassoc::run)?;
        let large = inline_all::is_large(module);
        // `values` is the module for the barrier check and the report. If it cannot be made, barriers are not checked.
        let report = self.compiler.kernel_options.report && !self.images;
        let needs_values = !self.images && (report || calls::is_called(DeviceFunction::TileBarrier, module));
        let values = if needs_values { self.values(module, large).ok() } else { None };
        let prepared = self.prepared(module, large).and_then(|mut prepared| {
            // Inlining the other calls takes quadratic time.
            if !large {
                self.pass(&mut prepared.module, "invariant-calls", invariant_calls::run)??;
            }
            Ok(prepared)
        });
        self.dump.module("ll", module)?;
        let prepared = prepared?;
        let unroll_variants = self.unroll_variants(&prepared, large)?;
        if let Some(values) = &values {
            self.check_barriers(values)?;
        }
        let KernelOptions { bounds, lines, .. } = self.compiler.kernel_options;
        let options = Options { lines: self.dump.is_enabled() || lines, bounds, rolled: false };
        let best = unroll_variants.best();
        let selected: Vec<_> = best.iter().map(|(_, module, kernel)| (*module, *kernel)).collect();
        let mut kernels = if self.images {
            selected.iter().filter_map(|selection| lower::compile(&[*selection], &options).ok()).flatten().collect()
        } else {
            lower::compile(&selected, &options).map_err(|refusals| refused(&refusals))?
        };
        if !large {
            self.add_rolled_loops(&prepared, &options, &mut kernels)?;
        }
        for (n, kernel) in kernels.iter().enumerate() {
            self.dump.kernel(&n.to_string(), &kernel.spirv, kernel)?;
            if let Some(spirv) = &kernel.rolled {
                self.dump.kernel(&format!("{n}.rolled"), spirv, kernel)?;
            }
        }
        if report {
            let Prepared { module: prepared, has_spin_loops } = &prepared;
            let before =
                BeforeOptimisation { prepared, values: values.as_ref(), large, has_spin_loops: *has_spin_loops };
            let report = kernel_report::text(&best, &before, &kernels);
            eprint!("{}", report.unwrap_or_else(|why| format!("remark: no report: {why}\n")));
        }
        Ok(kernels)
    }

    /// Adds modules with rolled loops to the kernels that have loops. A kernel has none if its loops wait for other threads, because the
    /// passes for such loops expect rotated loops, and none if the rolled loops change what launches must know of the kernel.
    fn add_rolled_loops(
        &self,
        prepared: &Prepared,
        options: &Options,
        kernels: &mut [CompiledKernel],
    ) -> Result<(), String> {
        let is_looping = ir::snapshot(&prepared.module).functions.iter().any(has_loop);
        if prepared.has_spin_loops || !is_looping {
            return Ok(());
        }
        let how = Optimised { large: false, unrolling: Unrolling::Rolled, structured: true };
        let mut module = self.optimised(prepared, how)?.module;
        self.pass(&mut module, "disjoint-sums", disjoint_sums::run)?;
        self.dump.module("rolled.ll", &module)?;
        let code = ir::snapshot(&module);
        let options = &Options { rolled: true, ..options.clone() };
        for function in lower::kernels(&code).filter(|function| has_loop(function) && can_exit(function)) {
            let rolled = lower::compile(&[(&code, function)], options).ok().and_then(|mut made| made.pop());
            let kernel = kernels.iter_mut().find(|kernel| kernel.name == function.name);
            if let (Some(rolled), Some(kernel)) = (rolled, kernel) {
                kernel.rolled = Some(rolled.spirv.clone()).filter(|_| has_same_interface(kernel, &rolled));
            }
        }
        Ok(())
    }

    /// The code after inlining, with the program's control flow.
    fn values(&self, module: &Module, large: bool) -> Result<ir::Module, String> {
        let mut module = module.clone();
        self.pipeline(&mut module, "values", &pipelines::values(large))?;
        Ok(ir::snapshot(&module))
    }

    /// Prepares the code so that LLVM's passes do not break the early end of threads, the order of lock operations, and loops that wait for
    /// other threads.
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

    /// Optimises the code once for each [`Unrolling`] that some kernel needs.
    fn unroll_variants(&self, prepared: &Prepared, large: bool) -> Result<UnrollVariants, Failed> {
        let mut unroll_variants = UnrollVariants(Vec::new());
        let dump = |made: &Module, number: usize| {
            self.dump.module(&if number == 0 { "opt.ll".into() } else { format!("opt.{number}.ll") }, made)
        };
        for unrolling in
            [Unrolling::Short, Unrolling::Much, Unrolling::LlvmDefault, Unrolling::Little, Unrolling::Known]
        {
            let is_allowed = !large || matches!(unrolling, Unrolling::Little | Unrolling::Known);
            if !is_allowed || !unroll_variants.needs(unrolling) {
                continue;
            }
            let how = Optimised { large, unrolling, structured: true };
            let OptimisedCode { module, code, before } = self.optimised(prepared, how)?;
            dump(&module, unroll_variants.0.len())?;
            unroll_variants.0.push((unrolling, code));
            let Some(mut module) = before else { continue };
            if self.pass(&mut module, "unroll-large", unroll_large::run)? {
                self.pipeline(&mut module, "unroll", &pipelines::unroll_large())?;
                self.finish(prepared, &mut module)?;
                dump(&module, unroll_variants.0.len())?;
                unroll_variants.0.insert(0, (Unrolling::Large, ir::snapshot(&module)));
            }
        }
        Ok(unroll_variants)
    }

    /// Runs the passes of revamp that follow LLVM's passes.
    fn finish(&self, prepared: &Prepared, module: &mut Module) -> Result<(), String> {
        self.passes(module, &passes::LAST)?;
        if prepared.has_spin_loops { self.pass(module, "spin-marks-removed", spin_marks::unmark) } else { Ok(()) }
    }

    /// Optimises the code. `pipelines::unroll` follows.
    fn optimise(&self, module: &mut Module, how: Optimised) -> Result<(), String> {
        self.pipeline(module, "optimise", &pipelines::optimise(how))?;
        self.passes(module, &passes::BEFORE_UNROLLING)
    }

    /// Optimises the code, and copies the result.
    fn optimised(&self, prepared: &Prepared, how: Optimised) -> Result<OptimisedCode, String> {
        let mut module = prepared.module.clone();
        self.optimise(&mut module, how)?;
        let before = (how.unrolling == Unrolling::Short && !how.large).then(|| module.clone());
        self.pipeline(&mut module, "unroll", &pipelines::unroll(how))?;
        self.finish(prepared, &mut module)?;
        let code = ir::snapshot(&module);
        if !lower::kernels(&code).any(has_unreachable) {
            return Ok(OptimisedCode { module, code, before });
        }
        // An `unreachable` is a second exit of the kernel. LLVM structures control flow only with one exit, so `unreachable` becomes a return
        // first.
        let mut module = prepared.module.clone();
        let how = Optimised { structured: false, ..how };
        self.optimise(&mut module, how)?;
        self.pipeline(&mut module, "unroll", &pipelines::unroll(how))?;
        self.pass(&mut module, "unreachable-returns", unreachable_returns::run)?;
        self.pipeline(&mut module, "structure", &pipelines::structure())?;
        self.finish(prepared, &mut module)?;
        let code = ir::snapshot(&module);
        Ok(OptimisedCode { module, code, before: None })
    }

    /// Refuses barriers that not all threads of a tile reach. Warns of barriers that not all threads may reach.
    fn check_barriers(&self, values: &ir::Module) -> Result<(), Failed> {
        let (mut text, mut errors) = (String::new(), 0);
        let KernelOptions { strict, silent, fatal, .. } = self.compiler.kernel_options;
        let fatal = strict || !silent && fatal;
        for barrier in lower::divergent_barriers(values) {
            let error = barrier.differs || fatal && (strict || !barrier.by_race);
            let Some(at) = barrier.frames.first().filter(|_| error || !silent && !barrier.by_race) else { continue };
            errors += usize::from(error);
            let (kind, how) = if error { ("error", "is not") } else { ("warning", "may not be") };
            let message = format!(
                "tile barrier operation found in control flow that {how} the same for all threads of the tile (C3561): \
                 all threads of the tile must reach the barrier; put only the work into the conditional code, and the \
                 barrier after it"
            );
            text += &diagnostics::at(at, kind, &message);
            if let Some(c) = &barrier.condition {
                text += &diagnostics::at(c, "note", &format!("this condition depends on {}", barrier.cause));
            }
            text += &diagnostics::calls(&barrier.frames[1..]);
        }
        if errors > 0 {
            text += &diagnostics::error_count_line(errors, "compiling kernels");
            return Err(Failed { text, code: 1, remedy: Remedy::None });
        }
        eprint!("{text}");
        Ok(())
    }
}

/// True if a kernel has an `unreachable`.
fn has_unreachable(kernel: &ir::Function) -> bool {
    kernel.instructions().any(|instruction| instruction.op == ir::Op::Unreachable)
}

fn has_loop(function: &ir::Function) -> bool {
    !natural_loops(&ControlFlowGraph::of(&function.blocks)).is_empty()
}

/// True if launches may run either of two modules of a kernel: both access the same captures and images, and report the same accesses.
fn has_same_interface(kernel: &CompiledKernel, other: &CompiledKernel) -> bool {
    let captures = |kernel: &CompiledKernel| -> Vec<Capture> {
        kernel.captures.iter().map(|capture| Capture { thread_bytes: 0, ..*capture }).collect()
    };
    captures(kernel) == captures(other) && kernel.images == other.images && kernel.checks == other.checks
}

fn is_small(kernel: &ir::Function) -> bool {
    kernel.instructions().count() <= MAX_UNROLLED_INSTRUCTIONS
}

/// The number of a thread's arrays that remain in memory.
fn count_arrays(kernel: &ir::Function) -> usize {
    kernel.instructions().filter(|instruction| matches!(instruction.op, ir::Op::Alloca { .. })).count()
}

/// The optimised modules, one for each [`Unrolling`] that was tried.
struct UnrollVariants(Vec<(Unrolling, ir::Module)>);

impl UnrollVariants {
    /// Returns the versions of `kernel`, a kernel of the first module, in all modules that contain it.
    fn of<'m>(
        &'m self,
        kernel: &'m ir::Function,
    ) -> impl Iterator<Item = (Unrolling, &'m ir::Module, &'m ir::Function)> {
        self.0.iter().filter_map(|(unrolling, module)| {
            Some((*unrolling, module, lower::kernels(module).find(|other| other.name == kernel.name)?))
        })
    }

    /// True if some kernel also needs a module with this unrolling.
    fn needs(&self, unrolling: Unrolling) -> bool {
        let Some((_, first)) = self.0.first() else { return true };
        lower::kernels(first).any(|kernel| match unrolling {
            Unrolling::Much => is_small(kernel) && count_arrays(kernel) > 0,
            Unrolling::Known => !self.of(kernel).any(|(_, _, kernel)| can_exit(kernel)),
            _ => !self.of(kernel).any(|(_, _, kernel)| is_small(kernel)),
        })
    }

    /// Chooses a module for each kernel: usually the first module in which the kernel is small. Prefers the module with
    /// `Unrolling::Much` if the kernel has fewer arrays in memory there.
    fn best(&self) -> Vec<(Unrolling, &ir::Module, &ir::Function)> {
        let Some((_, first)) = self.0.first() else { return Vec::new() };
        let choose = |kernel| {
            let candidates = || self.of(kernel).filter(|(_, _, kernel)| can_exit(kernel));
            let small = candidates().find(|(_, _, kernel)| is_small(kernel));
            let last = || candidates().filter(|(unroll_mode, ..)| *unroll_mode != Unrolling::Known).last();
            let (unroll_mode, module, best) = small.or_else(last).or_else(|| self.of(kernel).last())?;
            let has_fewer_arrays = |(other, _, kernel): &(Unrolling, &ir::Module, &ir::Function)| {
                matches!(unroll_mode, Unrolling::Short | Unrolling::Large)
                    && *other == Unrolling::Much
                    && is_small(kernel)
                    && count_arrays(kernel) < count_arrays(best)
            };
            Some(self.of(kernel).find(has_fewer_arrays).unwrap_or((unroll_mode, module, best)))
        };
        lower::kernels(first).filter_map(choose).collect()
    }
}

/// Formats the errors of kernels as Clang's diagnostics.
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
    text += &diagnostics::error_count_line(refusals.len(), "compiling kernels");
    let separable = refusals.iter().any(|refusal| refusal.remedy == Remedy::SeparateMemories);
    Failed { text, code: 1, remedy: if separable { Remedy::SeparateMemories } else { Remedy::None } }
}

/// Writes the files that `REVAMP_KERNEL_DUMP` requests.
struct Dump {
    stem: Option<PathBuf>,
    /// The number of steps so far.
    steps: Cell<usize>,
}

impl Dump {
    fn new(compiler: &Compiler<'_>, of: &str) -> Self {
        Self { stem: compiler.dump.as_deref().map(|stem| files::beside(stem, of)), steps: Cell::new(0) }
    }

    fn is_enabled(&self) -> bool {
        self.stem.is_some()
    }

    /// Dumps the module after the step `name`.
    fn step(&self, name: &str, module: &Module) -> Result<(), String> {
        self.steps.set(self.steps.get() + 1);
        self.module(&format!("pass.{:02}.{name}.ll", self.steps.get()), module)
    }

    fn path(&self, suffix: &str) -> Result<Option<PathBuf>, String> {
        let Some(stem) = &self.stem else { return Ok(None) };
        let folder = stem.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot create folder {}: {e}", folder.display()))?;
        Ok(Some(files::beside(stem, &format!(".{suffix}"))))
    }

    fn module(&self, suffix: &str, module: &Module) -> Result<(), String> {
        let Some(to) = self.path(suffix)? else { return Ok(()) };
        std::fs::write(&to, module.print())
            .map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot write {}: {e}", to.display()))
    }

    fn kernel(&self, number: &str, spirv: &[u32], kernel: &CompiledKernel) -> Result<(), String> {
        let (Some(binary), Some(assembly)) =
            (self.path(&format!("{number}.spv"))?, self.path(&format!("{number}.spvasm"))?)
        else {
            return Ok(());
        };
        let bytes: Vec<u8> = spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
        use rspirv::binary::Disassemble;
        let module = rspirv::dr::load_words(spirv).map(|m| m.disassemble());
        let text = module.unwrap_or_else(|e| format!("; {e}\n"));
        let text = format!("; {}\n; {}\n; captures: {:?}\n{text}\n", kernel.location, kernel.name, kernel.captures);
        let write = |to: &Path, what: &[u8]| {
            std::fs::write(to, what).map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot write {}: {e}", to.display()))
        };
        write(&binary, &bytes)?;
        write(&assembly, text.as_bytes())
    }
}
