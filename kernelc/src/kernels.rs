//! The kernels of a source, from the device's code that Clang made: LLVM's passes, the look at barriers, the lowering, and what of
//! it is kept for a look.

use crate::bounds_option::Bounds;
use crate::device_abi::DeviceFunction;
use crate::diagnostics::Failed;
use crate::kernel_error::{KernelError, Remedy};
use crate::llvm::{Llvm, Module, Pipeline};
use crate::lower::{CompiledKernel, Options};
use crate::pipelines::{self, Optimised, Unrolling};
use crate::{
    always_inline, choices, diagnostics, folded_constants, ir, large_loops, lock_order, locks, lower, spins, ways,
};
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
}

/// How a source's kernels are made.
pub struct Compiler<'a> {
    pub llvm: Llvm,
    pub asked: Asked,
    pub source: &'a Path,
}

/// The kernels of the device's code.
pub fn lowered(compiler: &Compiler<'_>, ir: &str) -> Result<Vec<CompiledKernel>, Failed> {
    if folded_constants::may_be_in(ir) {
        let refusals = folded_constants::refused(&ir::snapshot(&compiler.read(ir)?));
        if !refusals.is_empty() {
            return Err(refused(&refusals));
        }
    }
    if !DeviceFunction::WithImages.is_named_in(ir) {
        return compiler.lowered_apart(ir, false);
    }
    let mut kernels = compiler.lowered_apart(&with_images(ir, false), false)?;
    // Where bounds are checked, all accesses are to memory.
    if compiler.asked.bounds == Bounds::Off {
        // What reads texels by address would count as a large kernel.
        let folded = compiler.run(&pipelines::fold(), &with_images(ir, true))?;
        let forms = compiler.lowered_apart(&folded, true)?;
        for form in forms.into_iter().filter(|form| !form.images.is_empty()) {
            if let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.name == form.name) {
                kernel.with_images = Some(Box::new(form));
            }
        }
    }
    Ok(kernels)
}

/// The code where the headers' question is answered, whether textures are read as images.
fn with_images(text: &str, images: bool) -> String {
    let is = |call: &str, wanted: fn(DeviceFunction) -> bool| DeviceFunction::named(call).any(wanted);
    let answer = |line: &str| match line.split_once(" = ") {
        Some((name, call)) if is(call, |function| function == DeviceFunction::WithImages) => {
            format!("{name} = add i32 0, {}\n", u8::from(images))
        }
        // LLVM unrolls no loops with calls of what may be inlined (`always_inline`).
        Some((_, call)) if call.contains("call ") && is(call, DeviceFunction::reads_image) => {
            match line.rsplit_once(") #") {
                Some((call, rest)) => {
                    let location = rest.split_once(',').map(|(_, rest)| format!(",{rest}")).unwrap_or_default();
                    format!("{call}) noinline{location}\n")
                }
                None => format!("{line}\n"),
            }
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(answer).collect()
}

/// Fast maths without leave to reassociate, as `nvcc --use_fast_math` has it. In LLVM's order values may be needed for longer: a move
/// more in each iteration of a short loop.
fn in_order(ir: String) -> String {
    let (fast, free) = (" fast ", " reassoc ");
    if !ir.contains(fast) && !ir.contains(free) {
        return ir;
    }
    let parts = " nnan ninf nsz arcp contract afn ";
    let line = |line: &str| match line.starts_with("  ") {
        true => line.replacen(fast, parts, 1).replacen(free, " ", 1),
        false => line.to_owned(),
    };
    ir.split_inclusive('\n').map(line).collect()
}

/// The device's code on its way to kernels, inlined where that was needed.
struct Prepared {
    text: String,
    /// Loops of it wait for other threads, and are marked so.
    spins: bool,
}

/// The code after LLVM's passes.
struct Made {
    module: Module,
    code: ir::Module,
    /// With `Unrolling::Short`, the text before runtime unrolling.
    before: Option<String>,
}

impl Compiler<'_> {
    fn read(&self, text: &str) -> Result<Module, String> {
        Module::read(self.llvm, text.as_bytes(), &self.source.to_string_lossy()).map_err(|why| self.failed(&why))
    }

    fn failed(&self, why: &str) -> String {
        format!("LLVM, compiling the kernels of {}: {why}", self.source.display())
    }

    fn pass(&self, module: &mut Module, pipeline: &Pipeline) -> Result<(), String> {
        module.run(pipeline).map_err(|why| self.failed(&why))
    }

    /// What a pipeline makes of a module's text.
    fn passed(&self, pipeline: &Pipeline, text: &str) -> Result<Module, String> {
        let mut module = self.read(text)?;
        self.pass(&mut module, pipeline)?;
        Ok(module)
    }

    /// The same as text.
    fn run(&self, pipeline: &Pipeline, text: &str) -> Result<String, String> {
        Ok(self.passed(pipeline, text)?.print())
    }

    /// The kernels of code in which addresses may be chosen of those of two memories: of what is read there instead, or of one
    /// address for each memory, if so.
    fn lowered_apart(&self, ir: &str, images: bool) -> Result<Vec<CompiledKernel>, Failed> {
        let (text, refused) = match self.lowered_as(ir, images) {
            (text, Err(failed)) if failed.remedy == Remedy::SeparateMemories => (text, failed),
            (_, done) => return done,
        };
        let Ok(mut text) = self.run(&pipelines::inline(always_inline::is_large(&text)), &text) else {
            return Err(refused);
        };
        text = choices::of_values(&text).unwrap_or(text);
        text = ways::apart(&text).unwrap_or(text);
        self.lowered_as(&self.run(&pipelines::address_spaces(), &text)?, images).1
    }

    /// The kernels, and the code that they were made of; those whose textures cannot be images are left out where they shall be.
    fn lowered_as(&self, ir: &str, images: bool) -> (String, Result<Vec<CompiledKernel>, Failed>) {
        let text = in_order(always_inline::marked(ir));
        let kernels = self.kernels_of(&text, images);
        (text, kernels)
    }

    fn kernels_of(&self, text: &str, images: bool) -> Result<Vec<CompiledKernel>, Failed> {
        let dump = Dump::new(self.source, images);
        let large = always_inline::is_large(text);
        // What cannot be looked at is not refused.
        let values = if lower::has_barriers(text) && !images { self.values(text, large).ok() } else { None };
        let prepared = self.prepared(text, large);
        dump.write("ll", text)?;
        let levels = self.levels(&prepared?, large, &dump)?;
        if let Some(values) = values {
            self.barriers_reached(&values)?;
        }
        let options = Options { lines: dump.0.is_some() || self.asked.lines, bounds: self.asked.bounds };
        let of_size = levels.best();
        let kernels = if images {
            of_size.iter().filter_map(|one| lower::compile(&[*one], &options).ok()).flatten().collect()
        } else {
            lower::compile(&of_size, &options).map_err(|refusals| refused(&refusals))?
        };
        for (n, kernel) in kernels.iter().enumerate() {
            dump.kernel(n, kernel)?;
        }
        Ok(kernels)
    }

    /// The code whose calls are inlined and whose control flow is still the user's.
    fn values(&self, text: &str, large: bool) -> Result<ir::Module, String> {
        Ok(ir::snapshot(&self.passed(&pipelines::values(large), text)?))
    }

    /// Gives the ends of threads, the order of locks, and loops that wait for other threads forms that LLVM leaves as they are.
    fn prepared(&self, text: &str, large: bool) -> Result<Prepared, String> {
        let inline = pipelines::inline(large);
        let mut prepared = Prepared { text: text.to_owned(), spins: false };
        if always_inline::ends_threads(text) {
            prepared.text = always_inline::returning(&self.run(&inline, text)?);
        }
        if !spins::may_be(text) {
            return Ok(prepared);
        }
        let mut values = self.run(&inline, &prepared.text)?;
        if let Some(ordered) = lock_order::ordered(&values) {
            values = ordered;
            prepared.text.clone_from(&values);
        }
        if let Some((split, locks)) = locks::split(&values) {
            // Between, no value crosses blocks.
            let memory = self.run(&pipelines::variables(), &split)?;
            values = self.run(&pipelines::no_variables(), &locks::moved(&memory, &locks))?;
            prepared.text.clone_from(&values);
        }
        if let Some(marked) = spins::marked(&values) {
            prepared = Prepared { text: marked, spins: true };
        }
        Ok(prepared)
    }

    /// The code unrolled in as many ways as its kernels need.
    fn levels(&self, prepared: &Prepared, large: bool, dump: &Dump) -> Result<Levels, Failed> {
        let mut levels = Levels(Vec::new());
        let finished = |made: &Module, mut code: ir::Module, number: usize| -> Result<ir::Module, String> {
            dump.module(&if number == 0 { "opt.ll".into() } else { format!("opt.{number}.ll") }, made)?;
            if prepared.spins {
                spins::unmark(&mut code);
            }
            Ok(code)
        };
        for unrolling in [Unrolling::Short, Unrolling::Much, Unrolling::Some, Unrolling::Little, Unrolling::Known] {
            let tried = !large || matches!(unrolling, Unrolling::Little | Unrolling::Known);
            if !tried || !levels.lack(unrolling) {
                continue;
            }
            let how = Optimised { large, unrolling, structured: true };
            let Made { module, code, before } = self.optimised(&prepared.text, how)?;
            levels.0.push((unrolling, finished(&module, code, levels.0.len())?));
            if let Some(marked) = before.and_then(|before| large_loops::marked(&before)) {
                let module = self.passed(&pipelines::unroll_large(), &marked)?;
                levels.0.insert(0, (Unrolling::Large, finished(&module, ir::snapshot(&module), levels.0.len())?));
            }
        }
        Ok(levels)
    }

    /// Optimises the code, and copies the result.
    fn optimised(&self, input: &str, how: Optimised) -> Result<Made, String> {
        let mut module = self.read(input)?;
        let mut before = None;
        if how.unrolling == Unrolling::Short && !how.large {
            self.pass(&mut module, &pipelines::optimise(how))?;
            before = Some(module.print());
            self.pass(&mut module, &pipelines::unroll(how))?;
        } else {
            self.pass(&mut module, &pipelines::optimise_and_unroll(how))?;
        }
        let code = ir::snapshot(&module);
        if !lower::kernels(&code).any(has_unreachable) {
            return Ok(Made { module, code, before });
        }
        // A second end of the kernel, around which nothing was structured.
        let ends = self.run(&pipelines::optimise_and_unroll(Optimised { structured: false, ..how }), input)?;
        let module = self.passed(&pipelines::structure(), &always_inline::without_unreachable(&ends))?;
        let code = ir::snapshot(&module);
        Ok(Made { module, code, before: None })
    }

    /// Refuses barriers that not all threads of a tile reach, or warns of them.
    fn barriers_reached(&self, values: &ir::Module) -> Result<(), Failed> {
        let (mut text, mut errors) = (String::new(), 0);
        let Asked { strict, silent, fatal, .. } = self.asked;
        let fatal = strict || !silent && fatal;
        for found in lower::divergent_barriers(values) {
            let error = found.differs || fatal && (strict || !found.by_race);
            let Some(at) = found.frames.first().filter(|_| error || !silent && !found.by_race) else { continue };
            errors += usize::from(error);
            let (kind, how) = if error { ("error", "is not") } else { ("warning", "may not be") };
            let message = format!(
                "tile barrier operation found in control flow that {how} the same for all threads of the tile (C3561): all of \
                 them must reach it; put the condition around the work alone, and leave the barrier out of it"
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
            Unrolling::Known => !self.of(kernel).any(|(_, _, kernel)| lower::ends(kernel)),
            _ => !self.of(kernel).any(|(_, _, kernel)| is_small(kernel)),
        })
    }

    /// The kernels: each from the first way in which it is small, or from the one that leaves less arrays in memory.
    fn best(&self) -> Vec<(&ir::Module, &ir::Function)> {
        let Some((_, first)) = self.0.first() else { return Vec::new() };
        let choose = |kernel| {
            let ending = || self.of(kernel).filter(|(_, _, kernel)| lower::ends(kernel));
            let small = ending().find(|(_, _, kernel)| is_small(kernel));
            let last = || ending().filter(|(way, ..)| *way != Unrolling::Known).last();
            let (way, module, best) = small.or_else(last).or_else(|| self.of(kernel).last())?;
            let less = |(other, _, kernel): &(Unrolling, &ir::Module, &ir::Function)| {
                matches!(way, Unrolling::Short | Unrolling::Large)
                    && *other == Unrolling::Much
                    && is_small(kernel)
                    && arrays(kernel) < arrays(best)
            };
            Some(self.of(kernel).find(less).map_or((module, best), |(_, module, best)| (module, best)))
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
struct Dump(Option<PathBuf>);

impl Dump {
    fn new(source: &Path, images: bool) -> Self {
        let folder = std::env::var_os("REVAMP_KERNEL_DUMP").filter(|f| !f.is_empty());
        let mut stem = source.file_stem().unwrap_or_default().to_os_string();
        stem.push(if images { ".images" } else { "" });
        Self(folder.map(|f| PathBuf::from(f).join(stem)))
    }

    fn path(&self, suffix: &str) -> Result<Option<PathBuf>, String> {
        let Some(stem) = &self.0 else { return Ok(None) };
        let folder = stem.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot make {}: {e}", folder.display()))?;
        let mut name = stem.as_os_str().to_os_string();
        name.push(".");
        name.push(suffix);
        Ok(Some(name.into()))
    }

    fn module(&self, suffix: &str, module: &Module) -> Result<(), String> {
        if self.0.is_some() { self.write(suffix, &module.print()) } else { Ok(()) }
    }

    fn write(&self, suffix: &str, text: &str) -> Result<(), String> {
        let Some(to) = self.path(suffix)? else { return Ok(()) };
        std::fs::write(&to, text).map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot write {}: {e}", to.display()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_maths_keeps_the_order() {
        let ir = "@s = c\" fast \"\n  %a = fmul fast float %b, %c\n  %d = fadd reassoc nsz float %a, %b\n";
        let kept = "@s = c\" fast \"\n  %a = fmul nnan ninf nsz arcp contract afn float %b, %c\n  %d = fadd nsz float %a, %b\n";
        assert_eq!(in_order(ir.into()), kept);
    }
}
