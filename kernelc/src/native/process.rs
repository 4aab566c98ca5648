//! The child process that makes the modules of native kernels from the device's code. It runs this program with the
//! argument [`CHILD`]; `kernel_process` gives the reasons for a separate process. The child process compiles small
//! modules itself. Each larger module is compiled in a process of its own ([`CODE`]).

use super::table::Owner;
use super::{Native, Processors};
use crate::clang::Clang;
use crate::llvm::{Llvm, Module};
use crate::passes::{acquire_release, calls, host_target, inline_all, integer_division, lock_fences, zero_bounds};
use crate::report::{self, Remark, Threads};
use crate::{files, ir, pipelines};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first argument of the child process.
pub const CHILD: &str = "--revamp-make-native";
/// The first argument of a process that compiles one module.
pub const CODE: &str = "--revamp-native-code";

/// The exit code if a kernel cannot have native code. The output contains the reason.
pub const REFUSED: i32 = 2;

/// The options for making native kernels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Work {
    /// True if debug information is kept.
    pub lines: bool,
    /// True if accesses are guarded (`zero_bounds`).
    pub zero: bool,
    /// `-famp-report`: the process prints a report on the loops over threads.
    pub report: bool,
    /// The host's target triple.
    pub target: String,
    pub owner: Owner,
    /// The prefix of the files that `REVAMP_KERNEL_DUMP` asks for.
    pub dump: Option<PathBuf>,
}

impl Work {
    fn arguments(&self) -> Vec<OsString> {
        let Owner { unit, bare, part, parts } = self.owner;
        let flags = [("lines", self.lines), ("zero", self.zero), ("bare", bare), ("report", self.report)];
        let flags: Vec<&str> = flags.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
        let dump = self.dump.clone().unwrap_or_default();
        vec![flags.join(",").into(), self.target.clone().into(), format!("{unit} {part} {parts}").into(), dump.into()]
    }

    fn of(arguments: &[OsString]) -> Option<Self> {
        let [flags, target, owner, dump] = arguments else { return None };
        let flags = flags.to_str()?;
        let has = |name: &str| flags.split(',').any(|flag| flag == name);
        let mut numbers = owner.to_str()?.split(' ');
        let mut number = || numbers.next()?.parse::<u64>().ok();
        let (unit, part, parts) = (number()?, number()?, number()?);
        Some(Self {
            lines: has("lines"),
            zero: has("zero"),
            report: has("report"),
            target: target.to_str()?.to_owned(),
            owner: Owner { unit, bare: has("bare"), part: part.try_into().ok()?, parts: parts.try_into().ok()? },
            dump: Some(PathBuf::from(dump)).filter(|dump| !dump.as_os_str().is_empty()),
        })
    }
}

/// The command that starts the child process. If the device's code has kernels, the process makes one object, or it
/// makes a module for each object.
pub fn command(clang: &Clang, work: &Work, device: &Path, objects: &[PathBuf]) -> Result<Command, String> {
    let mut command = clang.child(CHILD)?;
    command.args(work.arguments()).arg(device).args(objects);
    Ok(command)
}

/// The command that starts a process that compiles the module of an object.
pub fn code_command(clang: &Clang, target: &str, object: &Path) -> Result<Command, String> {
    let mut command = clang.child(CODE)?;
    command.arg(target).arg(object);
    Ok(command)
}

/// The file of the module from which an object is compiled.
pub fn module_of(object: &Path) -> PathBuf {
    object.with_extension("bc")
}

/// The main function of the child process. Arguments: the compiler, `opt`, their version, the arguments of `Work`, the
/// device's code, the objects.
pub fn child(arguments: &[OsString]) -> i32 {
    status(run_child(arguments))
}

/// The main function of a process that compiles one module. Arguments: the compiler, `opt`, their version, the host's
/// target, the object.
pub fn code_child(arguments: &[OsString]) -> i32 {
    status(run_code_child(arguments))
}

fn status(result: Result<(), Failed>) -> i32 {
    match result {
        Ok(()) => 0,
        Err(Failed { why, code }) => {
            eprintln!("{why}");
            code
        }
    }
}

struct Failed {
    why: String,
    code: i32,
}

impl<T: Into<String>> From<T> for Failed {
    fn from(why: T) -> Self {
        Self { why: why.into(), code: 1 }
    }
}

fn run_child(arguments: &[OsString]) -> Result<(), Failed> {
    let internal_command = "this command is internal to revamp-kernelc; do not call it directly";
    let ([compiler, opt, major], rest) = arguments.split_first_chunk().ok_or(internal_command)?;
    let (work, rest) = rest.split_at_checked(4).ok_or(internal_command)?;
    let (device, objects) = rest.split_first().ok_or(internal_command)?;
    let work = Work::of(work).ok_or(internal_command)?;
    let llvm = Llvm::of_child([compiler, opt, major])?;
    let module = prepared(llvm, &work, device)?;
    let native = super::split_kernels(module, work.zero)?;
    if let Some(dump) = &work.dump {
        write_dump(dump, &native, &work)?;
    }
    if let Some((kernel, why)) = native.left_out.first().filter(|_| work.zero) {
        return Err(Failed { why: format!("{kernel}: {why}"), code: REFUSED });
    }
    make_objects(&work, &native, objects)?;
    // The report is last, because it sets LLVM's options for the rest of the process.
    if work.report {
        let remark_text = report(llvm, &work, device, &native);
        eprint!(
            "{}",
            remark_text.unwrap_or_else(|failed| format!("remark: no report on native code: {}\n", failed.why))
        );
    }
    Ok(())
}

/// Makes an object, or a module for each object.
fn make_objects(work: &Work, native: &Native, objects: &[OsString]) -> Result<(), Failed> {
    // A part without kernels still registers the kernels of the next part.
    if native.kernel_names().is_empty() && work.owner.parts == 1 {
        return Ok(());
    }
    // A DISubprogram belongs to one function of a module, so with debug information each level has a module of its own.
    let in_one_module = !work.lines && native.is_small();
    for (level, object) in objects.iter().enumerate().take(if in_one_module { 1 } else { objects.len() }) {
        let levels = if in_one_module { 0..objects.len() } else { level..level + 1 };
        let mut module = native.module(Processors::of(&work.target), levels, &work.owner)?;
        if in_one_module {
            compile(&mut module, &work.target, object)?;
        } else {
            module.write(&module_of(Path::new(object)))?;
        }
    }
    Ok(())
}

fn run_code_child(arguments: &[OsString]) -> Result<(), Failed> {
    let [compiler, opt, major, target, object] = arguments else {
        return Err("this command is internal to revamp-kernelc; do not call it directly".into());
    };
    let llvm = Llvm::of_child([compiler, opt, major])?;
    let file = module_of(Path::new(object));
    let text = std::fs::read(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    let mut module = Module::read(llvm, &text, "native kernels")?;
    Ok(compile(&mut module, &target.to_string_lossy(), object)?)
}

fn compile(module: &mut Module, target: &str, object: &OsStr) -> Result<(), String> {
    module.compile(&pipelines::native_code(), Processors::of(target).lowest_processor(), Path::new(object))
}

/// Reads the device's code, converts it to code for the host's processor, and inlines all calls.
fn prepared(llvm: Llvm, work: &Work, device: &OsStr) -> Result<Module, Failed> {
    let code = std::fs::read(device).map_err(|e| format!("cannot read {}: {e}", Path::new(device).display()))?;
    let mut module = Module::read(llvm, &code, &Path::new(device).to_string_lossy())?;
    if calls::has_atomics(&module) {
        order_locks(&mut module)?;
    }
    if !work.lines {
        module.strip_debug();
    }
    host_target::run(&mut module, &work.target)?;
    module.verify()?;
    integer_division::run(&mut module);
    inline_all::run(&mut module);
    if work.zero {
        module.run(&pipelines::inline(inline_all::is_large(&module)))?;
        zero_bounds::run(&mut module).map_err(|why| Failed { why, code: REFUSED })?;
    }
    module.run(&pipelines::native())?;
    module.verify()?;
    Ok(module)
}

/// If the device's code has locks, makes its atomic operations order other memory accesses.
fn order_locks(module: &mut Module) -> Result<(), String> {
    let mut inlined = module.clone();
    inline_all::run(&mut inlined);
    inlined.run(&pipelines::inline(inline_all::is_large(&inlined)))?;
    if lock_fences::has_locks(&inlined) {
        acquire_release::run(module);
    }
    Ok(())
}

/// The remark on a kernel whose loops over threads are not parallel.
const NOT_PARALLEL: &str = "native code: loops over threads are not marked as parallel, because all threads share the memory of an \
                         indexed local variable";

/// The report on the native kernels, made from a copy of them with source locations.
fn report(llvm: Llvm, work: &Work, device: &OsStr, native: &Native) -> Result<String, Failed> {
    let with_lines = Work { lines: true, ..work.clone() };
    let prepared = prepared(llvm, &with_lines, device)?;
    let code = ir::snapshot(&prepared);
    let native_with_lines = super::split_kernels(prepared, work.zero)?;
    let remark_at = |kernel: &str, text: String| {
        let function = code.functions.iter().find(|function| function.name == kernel)?;
        Some(Remark { place: report::place_of(&code, function)?, text })
    };
    let left_out = native.left_out.iter().filter_map(|(kernel, why)| {
        remark_at(kernel, format!("no native code: {why}; host threads run the kernel for one thread at a time"))
    });
    let mut remarks: Vec<Remark> = left_out.collect();
    for kernel in native.kernels.iter().filter(|kernel| !kernel.is_parallel) {
        remarks.extend(remark_at(&kernel.name, NOT_PARALLEL.into()));
    }
    if native.kernel_names().is_empty() {
        return Ok(report::printed(None, remarks));
    }
    let (processors, mut threads) = (Processors::of(&work.target), Threads::default());
    for (level, processor) in processors.processors().enumerate() {
        let mut code = native.module(processors, level..level + 1, &work.owner)?;
        code.run(&pipelines::native_code())?;
        let module = native_with_lines.module(processors, level..level + 1, &work.owner)?;
        threads.add(module, processor, &ir::snapshot(&code), super::parallel::is_over_threads)?;
    }
    remarks.extend(threads.remarks());
    Ok(report::printed(None, remarks))
}

/// Writes the file that `REVAMP_KERNEL_DUMP` asks for.
fn write_dump(stem: &Path, native: &Native, work: &Work) -> Result<(), String> {
    let mut text = String::new();
    for (kernel, why) in &native.left_out {
        text += &format!("; left out: {kernel}: {why}\n");
    }
    text += &native.module(Processors::of(&work.target), 0..1, &work.owner)?.print();
    std::fs::create_dir_all(stem.parent().unwrap_or(Path::new(".")))
        .and_then(|()| std::fs::write(files::beside(stem, ".native.ll"), text))
        .map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot write a file: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_survives_conversion_to_arguments() {
        for bits in 0..16_u32 {
            let bit = |n: u32| bits >> n & 1 == 1;
            let dump = bit(0).then(|| PathBuf::from("a/b"));
            let target = "x86_64-pc-linux-gnu".to_owned();
            let owner = Owner { unit: u64::MAX, bare: bit(2), part: 3, parts: 5 };
            let work = Work { lines: bit(0), zero: bit(1), report: bit(3), target, owner, dump };
            assert_eq!(Work::of(&work.arguments()), Some(work));
        }
        assert_eq!(Work::of(&["lines".into()]), None);
    }
}
