//! Kernels as functions for single threads: host threads run them in builds without native kernels (-O0, sanitizers, bounds reports).
//!
//! Clang compiles the source as device code for the host's processor (`Pass::OnHost`), so overloads are resolved as for a device, and debug
//! records, sanitizers and the C library are the host's (cpp-shim/revamp/detail/device_on_host.h). A child process then makes all
//! definitions internal, since the host's object may define functions of the same names, and adds the table of the kernels. Clang
//! assembles the result.

use super::table::{self, Owner, Row};
use crate::clang::{Clang, Pass, Unit};
use crate::device_abi::{ASSUMED, begins_kernel, is_of_headers};
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

/// The object in the making.
pub struct Making {
    work: Background<Result<PathBuf, String>>,
    /// Where the reason is written if there is none.
    dump: Option<PathBuf>,
}

impl Making {
    /// Begins; `None` if there are no kernels, or no host threads. `device`: the code of the device's pass. `foreign`: the object is for GCC.
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
        if !unit.amp.is_device() && line.counts() {
            // What counts how often lines run looks at the program's own function, which can run.
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
            for (what, command) in [("Clang", &mut compile), ("LLVM", &mut edit), ("Clang", &mut assemble)] {
                ended(what, command, cancelled)?;
            }
            Ok(object)
        });
        let dump = files::dump_of(unit.source).map(|stem| files::beside(&stem, ".by_threads.txt"));
        Ok(Some(Self { work, dump }))
    }

    /// Waits for the object. Where it cannot be made, host threads run the program's function, as without it.
    pub fn end(self) -> Option<PathBuf> {
        let made = self.work.end().unwrap_or_else(|| Err("the kernel compiler panicked".into()));
        made.map_err(|why| Self::tell(self.dump.as_deref(), &why)).ok()
    }

    fn tell(dump: Option<&Path>, why: &str) {
        let Some(file) = dump else { return };
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = std::fs::write(file, why);
    }
}

fn ended(what: &str, command: &mut Command, cancelled: &Arc<AtomicBool>) -> Result<(), String> {
    match Running::quiet(command)?.cancelled_by(cancelled).end()? {
        (0, _) => Ok(()),
        (code, diagnostics) => Err(format!("{what} failed ({code}) to make kernels for single threads: {diagnostics}")),
    }
}

/// The whole of the child process. Arguments: the compiler, a program beside it, their version, the module, the file to write it to, the
/// unit's number, whether kernels are known by bare names.
pub fn child(arguments: &[OsString]) -> i32 {
    match edited(arguments) {
        Ok(()) => 0,
        Err(why) => {
            eprintln!("{why}");
            1
        }
    }
}

fn edited(arguments: &[OsString]) -> Result<(), String> {
    const ALONE: &str = "this is an internal command of revamp-kernelc";
    let [compiler, opt, major, input, output, unit, bare] = arguments else { return Err(ALONE.into()) };
    let unit = unit.to_str().and_then(|unit| u64::from_str_radix(unit, 16).ok());
    let unit = unit.ok_or(ALONE)?;
    let (input, output) = (Path::new(input), Path::new(output));
    let llvm = Llvm::of_child([compiler, opt, major])?;
    let code = std::fs::read(input).map_err(|e| format!("cannot read {}: {e}", input.display()))?;
    let mut module = Module::read(llvm, &code, &input.to_string_lossy())?;
    // First: LLVM's passes may use that a division by zero is undefined.
    integer_division::run(&mut module);
    let kernels = run(&mut module)?;
    module.verify()?;
    let owner = Owner { bare: bare == "true", ..Owner::of_unit(unit) };
    let text = module.print() + &table(&kernels, &owner);
    std::fs::write(output, text).map_err(|e| format!("cannot write {}: {e}", output.display()))
}

/// What becomes of the headers' functions at -O0. LLVM leaves the program's own as they are, since they are `optnone`.
/// The loops are those over the dimensions of an index.
const HEADERS: &str = "cgscc(inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,\
     loop(loop-rotate,loop-unroll-full),sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)),globaldce";

/// Makes all definitions internal, and optimises functions of the headers, since an access of an array_view would take twenty times as long as
/// that of an array otherwise: the names of the kernels.
pub fn run(module: &mut Module) -> Result<Vec<String>, String> {
    // LLVM's pass leaves out what is marked as used: kernels, and what Clang adds for HIP.
    module.run(&Pipeline { passes: "internalize,globaldce".into(), options: Vec::new() })?;
    let kernels = module.edit(|edit| {
        let mut kernels = Vec::new();
        for function in edit.functions().filter(|function| function.first_block().is_some()) {
            if function.has_attribute(ASSUMED) {
                kernels.push(function.name());
            }
            if is_of_headers(&function.name()) {
                edit.remove_attribute(function, "optnone");
                edit.remove_attribute(function, "noinline");
            }
            edit.internalize(function);
        }
        for variable in edit.globals().filter(|variable| variable.initializer().is_some()) {
            // A class's `static const int` needs no definition as long as only its value counts. Without optimisation `std::min` of it uses its
            // address, in the host's object too.
            if !edit.define_if_missing(variable) {
                edit.internalize(variable);
            }
        }
        kernels
    });
    module.run(&Pipeline { passes: HEADERS.into(), options: Vec::new() })?;
    module.edit(|edit| {
        for function in edit.functions().filter(|&function| is_of_headers(&function.name()) && is_short(function)) {
            edit.add_attribute(function, "alwaysinline");
        }
    });
    Ok(kernels)
}

/// Whether a call of a function costs more than what it does.
fn is_short(function: Value<'_>) -> bool {
    const MOST_INSTRUCTIONS: usize = 24;
    let calls = |one: Value<'_>| one.form() == Form::Instruction(opcode::CALL);
    function.first_block().is_some()
        && function.instructions().count() <= MOST_INSTRUCTIONS
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
