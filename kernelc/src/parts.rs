//! Cuts the device code of a source with many kernels into parts. A child process compiles each part. This limits the
//! memory that a process needs, and the parts compile in parallel. The cuts depend only on the code, so the object file
//! is the same for any number of jobs.

use crate::clang::Clang;
use crate::device_abi::begins_kernel;
use crate::files::Running;
use crate::llvm::{Editor, Llvm, Module, Value};
use crate::pipelines;
use std::collections::HashSet;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first argument of the child process that cuts the code.
pub const CHILD: &str = "--revamp-cut-kernels";

/// The largest number of kernels in a part.
const MAX_KERNELS: usize = 16;

/// A part: the file with its code, and the range of its kernels among all kernels of the source.
pub struct Part {
    pub code: PathBuf,
    pub kernels: Range<usize>,
}

/// The parts of the code in this file. If there are few kernels, or `whole` is set, the whole code is a single part.
pub fn of(clang: &Clang, code: &Path, whole: bool) -> Result<Vec<Part>, String> {
    let text = std::fs::read_to_string(code).map_err(|e| format!("cannot read {}: {e}", code.display()))?;
    let kernels = 0..text.lines().filter(|line| begins_kernel(line)).count();
    if whole || kernels.len() <= MAX_KERNELS {
        return Ok(vec![Part { code: code.to_path_buf(), kernels }]);
    }
    let (status, why) = Running::with_diagnostics(clang.child(CHILD)?.arg(code))?.end()?;
    if status != 0 {
        return Err(format!("LLVM could not split the code of {} kernels (exit code {status}): {why}", kernels.len()));
    }
    Ok(part_ranges(kernels).into_iter().map(|kernels| Part { code: file(code, &kernels), kernels }).collect())
}

/// The two halves of a range of kernels; `None` if all kernels of the range fit into one part.
fn halves(kernels: &Range<usize>) -> Option<[Range<usize>; 2]> {
    let middle = kernels.start + kernels.len() / 2;
    (kernels.len() > MAX_KERNELS).then_some([kernels.start..middle, middle..kernels.end])
}

/// Halves the range until each part is small enough.
fn part_ranges(kernels: Range<usize>) -> Vec<Range<usize>> {
    halves(&kernels).map_or_else(|| vec![kernels.clone()], |halves| halves.map(part_ranges).concat())
}

fn file(code: &Path, kernels: &Range<usize>) -> PathBuf {
    code.with_extension(format!("{}.bc", kernels.start))
}

/// The part's suffix in the names of the `REVAMP_KERNEL_DUMP` files; empty for an uncut source.
pub fn dump_suffix(code: &Path) -> String {
    let first = code.file_stem().and_then(|name| Path::new(name).extension());
    first.map_or_else(String::new, |first| format!(".part{}", first.to_string_lossy()))
}

/// The main function of the child process. Arguments: the compiler, `opt`, their version, and the file with the code.
pub fn child(arguments: &[OsString]) -> i32 {
    match cut_file(arguments) {
        Ok(()) => 0,
        Err(why) => {
            eprintln!("{why}");
            1
        }
    }
}

fn cut_file(arguments: &[OsString]) -> Result<(), String> {
    let [compiler, opt, major, code] = arguments else {
        return Err("this command is internal to revamp-kernelc; do not call it directly".into());
    };
    let llvm = Llvm::of_child([compiler, opt, major])?;
    let code = Path::new(code);
    let text = std::fs::read(code).map_err(|e| format!("cannot read {}: {e}", code.display()))?;
    let module = Module::read(llvm, &text, &code.to_string_lossy())?;
    let kernels: Vec<String> = module
        .functions()
        .filter(|function| function.is_kernel() && function.first_block().is_some())
        .map(|kernel| kernel.name())
        .collect();
    cut(module, &kernels, 0..kernels.len(), code)
}

/// Writes the parts of a module that has the kernels `all[kernels]`.
fn cut(module: Module, all: &[String], kernels: Range<usize>, code: &Path) -> Result<(), String> {
    let Some([first, second]) = halves(&kernels) else { return module.write(&file(code, &kernels)) };
    cut(without_kernels(module.clone(), &all[second.clone()])?, all, first.clone(), code)?;
    cut(without_kernels(module, &all[first])?, all, second, code)
}

fn globals<'m>(edit: Editor<'m>) -> Vec<Value<'m>> {
    edit.functions().chain(edit.globals()).collect()
}

/// Removes the bodies of these kernels from the module. LLVM's global lists still name the kernels.
fn without_kernels(mut module: Module, kernels: &[String]) -> Result<Module, String> {
    // `elim-avail-extern` would also drop the globals that are already available_externally, and LLVM would lose their
    // values. Therefore these globals become external definitions while the pass runs.
    let available_globals: HashSet<String> = module.edit(|edit| {
        let available_globals =
            globals(edit).into_iter().filter(|&global| edit.make_external(global)).map(|one| one.name()).collect();
        for kernel in edit.functions().filter(|function| kernels.contains(&function.name())) {
            edit.make_available_externally(kernel);
        }
        available_globals
    });
    module.run(&pipelines::drop_available_externally())?;
    module.edit(|edit| {
        let available_globals = globals(edit).into_iter().filter(|global| available_globals.contains(&global.name()));
        available_globals.for_each(|global| edit.make_available_externally(global));
    });
    Ok(module)
}

/// Runs `work` for each of `count` parts, at most `jobs` at a time. Returns the results in the order of the parts.
pub fn each<T: Send>(jobs: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(count) {
            scope.spawn(|| {
                loop {
                    let part = next.fetch_add(1, Ordering::Relaxed);
                    if part >= count {
                        return;
                    }
                    let result = work(part);
                    results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((part, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_by_key(|(part, _)| *part);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The number of parts to compile in parallel when the command line gives none: the number of idle processors.
pub fn jobs() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // On Linux, the fourth word of this file is RUNNING/ALL, and RUNNING includes this process.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let running = load.split_whitespace().nth(3).and_then(|word| word.split('/').next()?.parse::<usize>().ok());
    (processors + 1).saturating_sub(running.unwrap_or(1)).max(1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn cuts_cover_all_kernels_in_order() {
        for count in [0, 1, MAX_KERNELS, MAX_KERNELS + 1, 300] {
            let part_ranges = part_ranges(0..count);
            assert!(part_ranges.iter().all(|part| part.len() <= MAX_KERNELS), "{part_ranges:?}");
            assert_eq!(part_ranges.into_iter().flatten().collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn results_have_the_order_of_parts() {
        for jobs in [1, 3, 20] {
            assert_eq!(each(jobs, 7, |part| part * part), [0, 1, 4, 9, 16, 25, 36]);
        }
    }

    #[test]
    fn parts_have_the_kernels_and_what_they_call() {
        let kernels: String = (0..MAX_KERNELS + 1)
            .map(|n| format!("define spir_kernel void @kernel{n}() {{ call void @function{}() ret void }}\n", n / 2))
            .collect();
        let available_globals = "@known = available_externally constant i32 5\ndefine i32 @five() { %n = load i32, ptr @known ret i32 %n }\n";
        let functions: String =
            (0..MAX_KERNELS).map(|n| format!("define internal void @function{n}() {{ ret void }}\n")).collect();
        let clang = Clang::find().unwrap();
        let llvm = Llvm::load([&clang.compiler, &clang.opt], clang.major).unwrap();
        let module = Module::read(llvm, (kernels + &functions + available_globals).as_bytes(), "code").unwrap();
        let all: Vec<String> = (0..MAX_KERNELS + 1).map(|n| format!("kernel{n}")).collect();
        let folder = crate::files::Folder::new().unwrap();
        let code = folder.file("device.ll");
        cut(module, &all, 0..all.len(), &code).unwrap();
        let names = |kernels: Range<usize>| {
            let bytes = std::fs::read(file(&code, &kernels)).unwrap();
            let module = Module::read(llvm, &bytes, "part").unwrap();
            assert!(module.print().contains("@known = available_externally constant i32 5"));
            let defined = module.functions().filter(|function| function.first_block().is_some());
            let (kernels_here, others) =
                defined.map(|function| function.name()).partition::<Vec<_>, _>(|name| name.starts_with("kernel"));
            let called: Vec<_> = (kernels.start / 2..kernels.end.div_ceil(2)).map(|n| format!("function{n}")).collect();
            assert_eq!(others, [&called[..], &["five".into()]].concat());
            kernels_here
        };
        assert_eq!([names(0..8), names(8..17)].concat(), all);
    }
}
