//! Kernels as functions for single threads: host threads run them in builds without native kernels (-O0, sanitizers, bounds reports).
//!
//! Clang compiles the source as device code for the host's processor (`Pass::OnHost`). Overloads are then resolved as for a device, while
//! debug records, sanitizers and the C library are the host's (cpp-shim/revamp/detail/device_on_host.h). A child process makes all
//! definitions internal, because the host's object may define functions of the same names, and adds the table of the kernels. Clang
//! assembles the result.

use super::table::{self, Owner, Row};
use crate::clang::{Clang, Pass, Unit};
use crate::device_abi::{HOST_KERNEL_MARK, begins_kernel, is_of_headers};
use crate::files::{self, Background, Folder, Running};
use crate::flags::Line;
use crate::llvm::number::opcode;
use crate::llvm::{Form, Llvm, Module, Pipeline, Value};
use crate::passes::integer_division;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The first argument of the child process.
pub const CHILD: &str = "--revamp-by-threads";

/// The background work that makes the object.
pub struct Making {
    work: Background<Result<PathBuf, String>>,
    /// The file for the reason if the object cannot be made.
    dump: Option<PathBuf>,
}

impl Making {
    /// Starts the work. `None` if there are no kernels, or if host threads run no kernels on the target. `device`: the
    /// code of the device's pass. `foreign`: the object is for GCC.
    pub fn start(
        clang: &Clang,
        folder: &Folder,
        unit: &Unit<'_>,
        line: &Line,
        device: &Path,
        foreign: bool,
    ) -> Result<Option<Self>, String> {
        let text = std::fs::read_to_string(device).map_err(|e| format!("cannot read {}: {e}", device.display()))?;
        if line.native_target().is_none() || !text.lines().any(begins_kernel) {
            return Ok(None);
        }
        if !unit.amp.is_device() && line.instruments() {
            // Tools that count executed lines look at the program's own function, which host threads can run.
            return Ok(None);
        }
        let file = |name: &str| folder.file(name);
        let (code, module, object) = (file("by_threads.bc"), file("by_threads.ll"), file("by_threads.o"));
        let flags = line.on_host(foreign);
        let mut compile = clang.pass(Pass::OnHost, unit, &flags);
        compile.arg("-o").arg(&code);
        let mut edit = clang.child(CHILD)?;
        edit.arg(&code).arg(&module).arg(format!("{:016x}", unit.id)).arg(unit.amp.is_device().to_string());
        let mut assemble = clang.assemble_as_is(&module, &object, &flags);
        let work = Background::start(move |cancelled| {
            for (program, command) in [("Clang", &mut compile), ("LLVM", &mut edit), ("Clang", &mut assemble)] {
                run_to_end(program, command, cancelled)?;
            }
            Ok(object)
        });
        let dump = files::dump_of(unit.source).map(|stem| files::beside(&stem, ".by_threads.txt"));
        Ok(Some(Self { work, dump }))
    }

    /// Waits for the object. `None` if it cannot be made: host threads then run the program's function.
    pub fn end(self) -> Option<PathBuf> {
        let made = self.work.end().unwrap_or_else(|| Err("the kernel compiler panicked".into()));
        made.map_err(|why| Self::write_reason(self.dump.as_deref(), &why)).ok()
    }

    fn write_reason(dump: Option<&Path>, why: &str) {
        let Some(file) = dump else { return };
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = std::fs::write(file, why);
    }
}

fn run_to_end(program: &str, command: &mut Command, cancelled: &Arc<AtomicBool>) -> Result<(), String> {
    match Running::with_diagnostics(command)?.cancelled_by(cancelled).end()? {
        (0, _) => Ok(()),
        (code, diagnostics) => Err(format!(
            "{program} could not compile the kernels for one thread at a time (exit code {code}): {diagnostics}"
        )),
    }
}

/// Runs the child process. Arguments: the compiler, `opt`, their version, the input module, the output file, the unit's number, and `true`
/// if kernels are registered by bare names.
pub fn child(arguments: &[OsString]) -> i32 {
    match edit_module(arguments) {
        Ok(()) => 0,
        Err(why) => {
            eprintln!("{why}");
            1
        }
    }
}

fn edit_module(arguments: &[OsString]) -> Result<(), String> {
    const INTERNAL_COMMAND: &str = "this command is internal to revamp-kernelc; do not call it directly";
    let [compiler, opt, major, input, output, unit, bare] = arguments else { return Err(INTERNAL_COMMAND.into()) };
    let unit = unit.to_str().and_then(|unit| u64::from_str_radix(unit, 16).ok());
    let unit = unit.ok_or(INTERNAL_COMMAND)?;
    let (input, output) = (Path::new(input), Path::new(output));
    let llvm = Llvm::of_child([compiler, opt, major])?;
    let code = std::fs::read(input).map_err(|e| format!("cannot read {}: {e}", input.display()))?;
    let mut module = Module::read(llvm, &code, &input.to_string_lossy())?;
    // This pass runs first, because LLVM's passes may exploit that a division by zero is undefined.
    integer_division::run(&mut module);
    let kernels = run(&mut module)?;
    module.verify()?;
    let owner = Owner { bare: bare == "true", ..Owner::of_unit(unit) };
    let text = module.print() + &table(&kernels, &owner);
    std::fs::write(output, text).map_err(|e| format!("cannot write {}: {e}", output.display()))
}

/// The passes for the headers' functions at -O0. LLVM skips the program's own functions, which are `optnone`. The loop
/// passes are for loops over the dimensions of an index.
const HEADER_PASSES: &str = "cgscc(inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
     loop(loop-rotate,loop-unroll-full),sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)),globaldce";

/// Makes all definitions internal, optimises functions of the headers, and returns the names of the kernels. Without the optimisation, an
/// access to an array_view would take twenty times as long as an access to an array.
pub fn run(module: &mut Module) -> Result<Vec<String>, String> {
    // LLVM's pass skips globals that are marked as used: kernels, and globals that Clang adds for HIP.
    module.run(&Pipeline { passes: "internalize,globaldce".into(), options: Vec::new() })?;
    let kernels = module.edit(|edit| {
        let mut kernels = Vec::new();
        for function in edit.functions().filter(|function| function.first_block().is_some()) {
            if function.has_attribute(HOST_KERNEL_MARK) {
                kernels.push(function.name());
            }
            if is_of_headers(&function.name()) {
                edit.remove_attribute(function, "optnone");
                edit.remove_attribute(function, "noinline");
            }
            edit.internalize(function);
        }
        for variable in edit.globals().filter(|variable| variable.initializer().is_some()) {
            // A class's `static const int` needs no definition if only its value is used. Without optimisation, `std::min` uses the address
            // of such a constant, in the host's object too.
            if !edit.define_if_missing(variable) {
                edit.internalize(variable);
            }
        }
        kernels
    });
    module.run(&Pipeline { passes: HEADER_PASSES.into(), options: Vec::new() })?;
    module.edit(|edit| {
        for function in edit.functions().filter(|&function| is_of_headers(&function.name()) && is_short(function)) {
            edit.add_attribute(function, "alwaysinline");
        }
    });
    Ok(kernels)
}

/// True if a call of a function costs more than the function's body.
fn is_short(function: Value<'_>) -> bool {
    const MAX_INSTRUCTIONS: usize = 24;
    let calls = |one: Value<'_>| one.form() == Form::Instruction(opcode::CALL);
    function.first_block().is_some()
        && function.instructions().count() <= MAX_INSTRUCTIONS
        && !function.instructions().any(calls)
}

/// The table of the kernels.
fn table(kernels: &[String], owner: &Owner) -> String {
    let row = |kernel: &String| {
        let functions = std::array::from_fn(|_| kernel.clone());
        Row { kernel: kernel.clone(), functions, memory: 0, tile: [0; 3], flags: table::BY_THREADS }
    };
    let rows: Vec<Row> = kernels.iter().map(row).collect();
    table::text("by_threads", &rows, owner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn definitions_become_internal_and_only_the_headers_are_optimised() {
        let code = "
            @kept = global i32 7
            @most = available_externally constant i32 5
            @llvm.compiler.used = appending global [2 x ptr] [ptr @kernel, ptr @kept], section \"llvm.metadata\"
            $kernel = comdat any
            define weak_odr void @kernel(ptr %block) #0 comdat {
              call void @program(ptr @most)
              ret void
            }
            define linkonce_odr void @program(ptr %block) #1 {
              %n = alloca i32
              %element = call ptr @_ZN6revamp7elementEPv(ptr %block)
              store i32 1, ptr %n
              %m = load i32, ptr %n
              store i32 %m, ptr %element
              ret void
            }
            define linkonce_odr ptr @_ZN6revamp7elementEPv(ptr %view) #1 {
              %at = alloca ptr
              %d = alloca i32
              store ptr %view, ptr %at
              store i32 0, ptr %d
              br label %loop
            loop:
              %n = load i32, ptr %d
              %same = load ptr, ptr %at
              %part = getelementptr i32, ptr %same, i32 %n
              store i32 %n, ptr %part
              %next = add i32 %n, 1
              store i32 %next, ptr %d
              %more = icmp slt i32 %next, 2
              br i1 %more, label %loop, label %end
            end:
              ret ptr %same
            }
            define void @unused() { ret void }
            attributes #0 = { noinline optnone \"llvm.assume\"=\"revamp-kernel\" }
            attributes #1 = { noinline optnone }";
        let clang = Clang::find().unwrap();
        let llvm = Llvm::load([&clang.compiler, &clang.opt], clang.major).unwrap();
        let mut module = Module::read(llvm, code.as_bytes(), "code").unwrap();
        assert_eq!(run(&mut module).unwrap(), ["kernel"]);
        let text = module.print();
        for line in text.lines().filter(|line| line.starts_with("define ") || line.starts_with("@kept")) {
            assert!(line.contains("internal"), "{line}");
        }
        assert!(text.contains("@most = weak_odr constant i32 5"), "{text}");
        assert!(!text.contains("@unused") && !text.contains("comdat"), "{text}");
        // The program's variable stays, the header's does not.
        assert!(text.contains("%n = alloca") && !text.contains("%at = alloca"), "{text}");
        let element = module.functions().find(|function| function.name().starts_with("_ZN6revamp")).unwrap();
        assert!(is_short(element) && text.contains("alwaysinline"), "{text}");
        assert!(!text.contains("label %loop"), "{text}");
        Module::read(llvm, (text + &table(&["kernel".into()], &Owner::of_unit(5))).as_bytes(), "with its table")
            .unwrap();
    }
}
