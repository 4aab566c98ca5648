//! The device's code of a source with many kernels, cut into parts. Each part is compiled by processes of its own, so that the memory of a
//! process is bounded and parts are compiled side by side. The cuts depend on the code only: the object is the same for any number of jobs.

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

/// The first argument of the child process that cuts.
pub const CHILD: &str = "--revamp-cut-kernels";

/// The most kernels of a part.
const MOST: usize = 16;

/// A part: the file of its code, and the kernels of the source that it has.
pub struct Part {
    pub code: PathBuf,
    pub kernels: Range<usize>,
}

/// The parts of the code in this file: the whole of it if it has few kernels. `whole`: it is not to be cut.
pub fn of(clang: &Clang, code: &Path, whole: bool) -> Result<Vec<Part>, String> {
    let text = std::fs::read_to_string(code).map_err(|e| format!("cannot read {}: {e}", code.display()))?;
    let kernels = 0..text.lines().filter(|line| begins_kernel(line)).count();
    if whole || kernels.len() <= MOST {
        return Ok(vec![Part { code: code.to_path_buf(), kernels }]);
    }
    let (status, why) = Running::quiet(clang.child(CHILD)?.arg(code))?.end()?;
    if status != 0 {
        return Err(format!("LLVM failed ({status}) to cut the code of {} kernels: {why}", kernels.len()));
    }
    Ok(cuts(kernels).into_iter().map(|kernels| Part { code: file(code, &kernels), kernels }).collect())
}

/// The halves of kernels that are too many for one part.
fn halves(kernels: &Range<usize>) -> Option<[Range<usize>; 2]> {
    let middle = kernels.start + kernels.len() / 2;
    (kernels.len() > MOST).then_some([kernels.start..middle, middle..kernels.end])
}

/// Halves as long as there are too many.
fn cuts(kernels: Range<usize>) -> Vec<Range<usize>> {
    halves(&kernels).map_or_else(|| vec![kernels.clone()], |halves| halves.map(cuts).concat())
}

fn file(code: &Path, kernels: &Range<usize>) -> PathBuf {
    code.with_extension(format!("{}.bc", kernels.start))
}

/// What follows the name of the source in the names of the files of `REVAMP_KERNEL_DUMP`: nothing for a whole source.
pub fn mark(code: &Path) -> String {
    let first = code.file_stem().and_then(|name| Path::new(name).extension());
    first.map_or_else(String::new, |first| format!(".part{}", first.to_string_lossy()))
}

/// The whole of the child process. Arguments: the compiler, a program beside it, their version, the file of the code.
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
        return Err("this is an internal command of revamp-kernelc".into());
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

/// Writes the parts of a module that has these kernels of all.
fn cut(module: Module, all: &[String], kernels: Range<usize>, code: &Path) -> Result<(), String> {
    let Some([first, second]) = halves(&kernels) else { return module.write(&file(code, &kernels)) };
    cut(without(module.clone(), &all[second.clone()])?, all, first.clone(), code)?;
    cut(without(module, &all[first])?, all, second, code)
}

fn globals<'m>(edit: Editor<'m>) -> Vec<Value<'m>> {
    edit.functions().chain(edit.globals()).collect()
}

/// A module without the bodies of these kernels. LLVM's lists go on naming them.
fn without(mut module: Module, kernels: &[String]) -> Result<Module, String> {
    // What LLVM knows the value of and other modules have keeps that value.
    let known: HashSet<String> = module.edit(|edit| {
        let known = globals(edit).into_iter().filter(|&global| edit.take_over(global)).map(|one| one.name()).collect();
        for kernel in edit.functions().filter(|function| kernels.contains(&function.name())) {
            edit.leave_to_others(kernel);
        }
        known
    });
    module.run(&pipelines::left_to_others())?;
    module.edit(|edit| {
        let known = globals(edit).into_iter().filter(|global| known.contains(&global.name()));
        known.for_each(|global| edit.leave_to_others(global));
    });
    Ok(module)
}

/// Does work for each of `count` parts, as many at a time as there are jobs: the results, in the order of the parts.
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

/// How many parts are compiled at a time where the command line does not say it: as many as there are idle processors.
pub fn jobs() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // Linux: the fourth word is RUNNING/ALL, and this process is among those that run.
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
        for count in [0, 1, MOST, MOST + 1, 300] {
            let cuts = cuts(0..count);
            assert!(cuts.iter().all(|part| part.len() <= MOST), "{cuts:?}");
            assert_eq!(cuts.into_iter().flatten().collect::<Vec<_>>(), (0..count).collect::<Vec<_>>());
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
        let kernels: String = (0..MOST + 1)
            .map(|n| format!("define spir_kernel void @kernel{n}() {{ call void @function{}() ret void }}\n", n / 2))
            .collect();
        let known = "@known = available_externally constant i32 5\ndefine i32 @five() { %n = load i32, ptr @known ret i32 %n }\n";
        let functions: String = (0..MOST).map(|n| format!("define void @function{n}() {{ ret void }}\n")).collect();
        let clang = Clang::find().unwrap();
        let llvm = Llvm::load([&clang.compiler, &clang.opt], clang.major).unwrap();
        let module = Module::read(llvm, (kernels + &functions + known).as_bytes(), "code").unwrap();
        let all: Vec<String> = (0..MOST + 1).map(|n| format!("kernel{n}")).collect();
        let folder = crate::files::Folder::new().unwrap();
        let code = folder.file("device.ll");
        cut(module, &all, 0..all.len(), &code).unwrap();
        let names = |kernels: Range<usize>| {
            let bytes = std::fs::read(file(&code, &kernels)).unwrap();
            let module = Module::read(llvm, &bytes, "part").unwrap();
            assert!(module.print().contains("@known = available_externally constant i32 5"));
            let defined = module.functions().filter(|function| function.first_block().is_some());
            defined.map(|function| function.name()).filter(|name| name.starts_with("kernel")).collect::<Vec<_>>()
        };
        assert_eq!([names(0..8), names(8..17)].concat(), all);
    }
}
