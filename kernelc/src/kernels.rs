//! The kernels of a source, from the device's code that Clang made: `opt`, the look at barriers, the lowering, and what of it
//! is kept for a look.

use crate::clang::{Clang, Optimised, Unrolling};
use crate::device_abi::DeviceFunction;
use crate::diagnostics::Failed;
use crate::files::{Folder, Running};
use crate::flags::Line;
use crate::lower::{Bounds, CompiledKernel, KernelError, Options};
use crate::{always_inline, choices, diagnostics, ir, large_loops, lock_order, locks, lower, spins, ways};
use std::path::{Path, PathBuf};

/// What a pass wrote.
fn text_of(file: &Path) -> Result<String, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}

/// A kernel of more instructions than this is optimised again with less unrolling.
const UNROLLED: usize = 2000;

/// The kernels of the device's code.
pub fn lowered(
    clang: &Clang,
    folder: &Folder,
    ir: &Path,
    line: &Line,
    source: &Path,
) -> Result<Vec<CompiledKernel>, Failed> {
    let text = text_of(ir)?;
    if !DeviceFunction::named(&text).any(|function| function == DeviceFunction::WithImages) {
        return lowered_apart(clang, folder, ir, line, source, false);
    }
    let write = |images| {
        std::fs::write(ir, with_images(&text, images)).map_err(|e| format!("cannot write {}: {e}", ir.display()))
    };
    write(false)?;
    let mut kernels = lowered_apart(clang, folder, ir, line, source, false)?;
    // Where bounds are checked, all accesses are to memory.
    if line.bounds() == Bounds::Off {
        write(true)?;
        // What reads texels by address would count as a large kernel.
        let folded = folder.file("device.images.ll");
        let (code, told) = Running::quiet(&mut clang.fold(ir, &folded))?.end()?;
        if code != 0 {
            return Err(Failed::of_pass("opt", code, told));
        }
        let forms = lowered_apart(clang, folder, &folded, line, source, true)?;
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

/// The kernels of code in which addresses may be chosen of those of two memories: of what is read there instead, or of one address
/// for each memory, if so.
fn lowered_apart(
    clang: &Clang,
    folder: &Folder,
    ir: &Path,
    line: &Line,
    source: &Path,
    images: bool,
) -> Result<Vec<CompiledKernel>, Failed> {
    let refused = match lowered_as(clang, folder, ir, line, source, images) {
        Err(failed) if lower::is_of_memories(&failed.text) => failed,
        done => return done,
    };
    let inlined = folder.file("device.choices.ll");
    let (code, _) = Running::quiet(&mut clang.inline(ir, &inlined, always_inline::is_large(&text_of(ir)?)))?.end()?;
    if code != 0 {
        return Err(refused);
    }
    let mut text = text_of(&inlined)?;
    text = choices::of_values(&text).unwrap_or(text);
    text = ways::apart(&text).unwrap_or(text);
    std::fs::write(&inlined, text).map_err(|e| format!("cannot write {}: {e}", inlined.display()))?;
    // Of loads from what may be one kind of memory LLVM makes a load from a chosen address.
    let apart = folder.file("device.apart.ll");
    let (code, told) = Running::quiet(&mut clang.passes("function(infer-address-spaces)", &inlined, &apart))?.end()?;
    if code != 0 {
        return Err(Failed::of_pass("opt", code, told));
    }
    lowered_as(clang, folder, &apart, line, source, images)
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

/// The kernels; those whose textures cannot be images are left out where they shall be.
fn lowered_as(
    clang: &Clang,
    folder: &Folder,
    ir: &Path,
    line: &Line,
    source: &Path,
    images: bool,
) -> Result<Vec<CompiledKernel>, Failed> {
    let optimised = folder.file("device.opt.ll");
    let write = |file: &Path, text: String| {
        std::fs::write(file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))
    };
    let text = in_order(always_inline::marked(&text_of(ir)?));
    let (ends_threads, large) = (always_inline::ends_threads(&text), always_inline::is_large(&text));
    let (barriers, may_spin) = (lower::has_barriers(&text), spins::may_be(&text));
    write(ir, text)?;
    let values = folder.file("device.values.ll");
    let valuing = if barriers && !images { Some(Running::quiet(&mut clang.values(ir, &values, large))?) } else { None };
    let mut input = ir.to_path_buf();
    let (mut code, mut told) = (0, String::new());
    if ends_threads {
        input = folder.file("device.inlined.ll");
        (code, told) = Running::quiet(&mut clang.inline(ir, &input, large))?.end()?;
        if code == 0 {
            write(&input, always_inline::returning(&text_of(&input)?))?;
        }
    }
    let mut spins = false;
    if code == 0 && may_spin {
        let values = folder.file("device.spins.ll");
        (code, told) = Running::quiet(&mut clang.inline(&input, &values, large))?.end()?;
        if let Some(text) = if code == 0 { lock_order::ordered(&text_of(&values)?) } else { None } {
            write(&values, text)?;
            input = values.clone();
        }
        if let Some((text, locks)) = if code == 0 { locks::split(&text_of(&values)?) } else { None } {
            // Between, no value crosses blocks.
            let memory = folder.file("device.locks.ll");
            write(&values, text)?;
            (code, told) = Running::quiet(&mut clang.passes("function(reg2mem)", &values, &memory))?.end()?;
            if code == 0 {
                write(&memory, locks::moved(&text_of(&memory)?, &locks))?;
                (code, told) = Running::quiet(&mut clang.passes("function(sroa)", &memory, &values))?.end()?;
                input = values.clone();
            }
        }
        if let Some(text) = if code == 0 { spins::marked(&text_of(&values)?) } else { None } {
            spins = true;
            write(&values, text)?;
            input = values;
        }
    }
    let dump = Dump::new(source, images);
    dump.copy(ir, "ll")?;
    if code != 0 {
        return Err(Failed::of_pass("opt", code, told));
    }
    let checked = line.bounds() != Bounds::Off;
    let module = || -> Result<ir::Module, Failed> {
        if spins {
            write(&optimised, spins::unmarked(&text_of(&optimised)?))?;
        }
        Ok(ir::read(&text_of(&optimised)?)
            .map_err(|e| format!("the intermediate code of {} is not understood: {e}", source.display()))?)
    };
    // With it the text from before loops of a length known at run time only are unrolled.
    let optimised_with = |unrolling: Unrolling| -> Result<(ir::Module, String), Failed> {
        let mut how = Optimised { large, unrolling, checked, structured: true };
        let (mut code, mut told) = Running::quiet(&mut clang.optimise(&input, &optimised, how))?.end()?;
        if code == 0 && always_inline::has_unreachable(&text_of(&optimised)?) {
            // A second end of the kernel, around which nothing was structured.
            how.structured = false;
            let ends = folder.file("device.ends.ll");
            (code, told) = Running::quiet(&mut clang.optimise(&input, &ends, how))?.end()?;
            if code == 0 {
                write(&ends, always_inline::without_unreachable(&text_of(&ends)?))?;
                (code, told) = Running::quiet(&mut clang.structure(&ends, &optimised))?.end()?;
            }
        }
        if code != 0 {
            return Err(Failed::of_pass("opt", code, large_loops::without_module(told)));
        }
        Ok((module()?, told))
    };
    let with_large_loops = |before: &str| -> Result<Option<ir::Module>, Failed> {
        let Some(marked) = large_loops::marked(before) else { return Ok(None) };
        let loops = folder.file("device.loops.ll");
        write(&loops, marked)?;
        let (code, told) = Running::quiet(&mut clang.unroll(&loops, &optimised))?.end()?;
        if code != 0 {
            return Err(Failed::of_pass("opt", code, told));
        }
        module().map(Some)
    };
    let mut levels = Levels(Vec::new());
    let dumped =
        |number: usize| dump.copy(&optimised, &if number == 0 { "opt.ll".into() } else { format!("opt.{number}.ll") });
    for unrolling in [Unrolling::Short, Unrolling::Much, Unrolling::Some, Unrolling::Little, Unrolling::Known] {
        let tried = !large || matches!(unrolling, Unrolling::Little | Unrolling::Known);
        if !tried || !levels.lack(unrolling) {
            continue;
        }
        let (module, before) = optimised_with(unrolling)?;
        levels.0.push((unrolling, module));
        dumped(levels.0.len() - 1)?;
        if let Some(module) = with_large_loops(&before)? {
            levels.0.insert(0, (Unrolling::Large, module));
            dumped(levels.0.len() - 1)?;
        }
    }
    if let Some(valuing) = valuing {
        // What cannot be looked at is not refused.
        if valuing.end()?.0 == 0 {
            barriers_reached(&values, line)?;
        }
    }
    let options = Options {
        lines: dump.0.is_some() || line.last(|f| f.starts_with("-g")).is_some_and(|f| f != "-g0"),
        bounds: line.bounds(),
    };
    let of_size = levels.best();
    let kernels = if images {
        of_size.iter().filter_map(|one| lower::compile(&[*one], &options).ok()).flatten().collect()
    } else {
        lower::compile(&of_size, &options).map_err(|refusals| Failed { text: refused(&refusals), code: 1 })?
    };
    for (n, kernel) in kernels.iter().enumerate() {
        dump.kernel(n, kernel)?;
    }
    Ok(kernels)
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

/// Refuses barriers that not all threads of a tile reach, or warns of them.
fn barriers_reached(values: &Path, line: &Line) -> Result<(), Failed> {
    let Ok(module) = ir::read(&text_of(values)?) else { return Ok(()) };
    let (mut text, mut errors) = (String::new(), 0);
    let silent = line.last(|f| f == "-w").is_some();
    let fatal = line.strict || !silent && line.last(|f| f == "-Werror").is_some();
    for found in lower::divergent_barriers(&module) {
        let error = found.differs || fatal && (line.strict || !found.by_race);
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
        return Err(Failed { text, code: 1 });
    }
    eprint!("{text}");
    Ok(())
}

/// What kernels cannot be compiled for, as Clang says such things.
pub fn refused(refusals: &[KernelError]) -> String {
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
    text + &diagnostics::generated(refusals.len(), "compiling kernels")
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

    fn copy(&self, from: &Path, suffix: &str) -> Result<(), String> {
        let Some(to) = self.path(suffix)? else { return Ok(()) };
        std::fs::copy(from, &to)
            .map(drop)
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
