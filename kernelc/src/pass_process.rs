//! Passes over a module in a file: `revamp-kernelc --pass NAME FILE.ll`, and the process that prepares native kernels: this program under
//! the name [`CHILD`], a process of its own for the reasons of `kernel_process`.

use crate::clang::Clang;
use crate::llvm::{Llvm, Module};
use crate::passes::{
    PASSES, acquire_release, calls, host_target, inline_all, integer_division, lock_fences, zero_bounds,
};
use crate::pipelines;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The first argument of the process.
pub const CHILD: &str = "--revamp-run-passes";

/// How the process prepares the device's code for host threads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Debug information is kept.
    pub lines: bool,
    /// Accesses are guarded (`zero_bounds`).
    pub zero: bool,
}

/// As they are passed.
const WORKS: [(&str, Work); 4] = [
    ("plain", Work { lines: false, zero: false }),
    ("lines", Work { lines: true, zero: false }),
    ("zero", Work { lines: false, zero: true }),
    ("lines-zero", Work { lines: true, zero: true }),
];

/// What the process returns if a kernel cannot be made, and the error says why.
pub const REFUSED: i32 = 2;

/// A call of the process.
pub fn command(clang: &Clang, work: Work, target: &str, input: &Path, output: &Path) -> Result<Command, String> {
    let (name, _) = WORKS.iter().find(|(_, known)| *known == work).ok_or("work that has no name")?;
    let mut command = clang.child(CHILD)?;
    command.arg(name).arg(target).arg(input).arg(output);
    Ok(command)
}

/// The whole of the process. Arguments: the compiler, a program beside it, their version, the work, the host's target, the device's code, the file to write the module to.
pub fn child(arguments: &[OsString]) -> i32 {
    match worked(arguments) {
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

fn worked(arguments: &[OsString]) -> Result<(), Failed> {
    let [compiler, opt, major, work, target, input, output] = arguments else {
        return Err("it is called by itself only".into());
    };
    let major = major.to_str().and_then(|major| major.parse().ok());
    let Some((major, (_, work))) = major.zip(WORKS.iter().find(|(name, _)| name == work)) else {
        return Err("it is called by itself only".into());
    };
    let llvm = Llvm::load([Path::new(compiler), Path::new(opt)], major)?;
    let mut module = Module::read(llvm, &bytes(Path::new(input))?, &Path::new(input).to_string_lossy())?;
    if calls::has_atomics(&module) {
        order_locks(&mut module)?;
    }
    if !work.lines {
        module.strip_debug();
    }
    host_target::run(&mut module, &target.to_string_lossy())?;
    module.verify()?;
    integer_division::run(&mut module);
    inline_all::run(&mut module);
    if work.zero {
        module.run(&pipelines::inline(inline_all::is_large(&module)))?;
        zero_bounds::run(&mut module).map_err(|why| Failed { why, code: REFUSED })?;
    }
    module.run(&pipelines::native())?;
    module.verify()?;
    let written = std::fs::write(output, module.print());
    Ok(written.map_err(|e| format!("cannot write {}: {e}", Path::new(output).display()))?)
}

/// Where the device's code has locks, lets atomic operations order memory.
fn order_locks(module: &mut Module) -> Result<(), String> {
    let mut inlined = module.clone();
    inline_all::run(&mut inlined);
    inlined.run(&pipelines::inline(inline_all::is_large(&inlined)))?;
    if lock_fences::has_locks(&inlined) {
        acquire_release::run(module);
    }
    Ok(())
}

fn bytes(file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|e| format!("cannot read {}: {e}", file.display()))
}

/// The text of a file's module after a pass.
pub fn printed(name: &OsStr, file: &Path) -> Result<String, String> {
    let Some((name, pass)) = PASSES.iter().find(|(known, _)| *known == name) else {
        let all: Vec<&str> = PASSES.iter().map(|(name, _)| *name).collect();
        return Err(format!("--pass: there is no pass {}; there are {}", name.to_string_lossy(), all.join(", ")));
    };
    let clang = Clang::find()?;
    let llvm = Llvm::load([&clang.compiler, &clang.opt], clang.major)?;
    let mut module = Module::read(llvm, &bytes(file)?, &file.to_string_lossy())?;
    pass.run(&mut module)?;
    module.verify().map_err(|why| format!("after {name}: {why}"))?;
    Ok(module.print())
}
