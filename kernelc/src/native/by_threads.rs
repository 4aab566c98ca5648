//! Kernels as functions for single threads: host threads run them in builds without native kernels (-O0, sanitizers, bounds reports).
//!
//! Clang compiles the source as device code for the host's processor (`Pass::OnHost`), so overloads are resolved as for a device, and debug
//! records, sanitizers and the C library are the host's (cpp-shim/revamp/detail/device_on_host.h). A child process then makes all
//! definitions internal, since the host's object may define functions of the same names, and adds the table of the kernels. Clang
//! assembles the result.

use super::register_symbol;
use crate::clang::{Clang, Pass, Unit};
use crate::device_abi::{ASSUMED, begins_kernel, is_of_headers};
use crate::files::{Folder, Running};
use crate::flags::Line;
use crate::llvm::number::opcode;
use crate::llvm::{Form, Llvm, Module, Pipeline, Value};
use crate::passes::integer_division;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The first argument of the child process.
pub const CHILD: &str = "--revamp-by-threads";

/// A row of the table: `NativeKernel` in src/capi/image.rs.
const ROW: &str = "{ ptr, ptr, ptr, ptr, i64, [4 x i32] }";

/// In the row: the functions run single threads.
const BY_THREADS: u32 = 2;

/// The object in the making. If it is dropped before its end, nothing of it goes on.
pub struct Making {
    thread: Option<JoinHandle<Result<PathBuf, String>>>,
    cancelled: Arc<AtomicBool>,
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
        let cancelled = Arc::<AtomicBool>::default();
        let flag = Arc::clone(&cancelled);
        let work = move || {
            for (what, command) in [("Clang", &mut compile), ("LLVM", &mut edit), ("Clang", &mut assemble)] {
                ended(what, command, &flag)?;
            }
            Ok(object)
        };
        let dump = std::env::var_os("REVAMP_KERNEL_DUMP").filter(|folder| !folder.is_empty());
        let mut name = unit.source.file_stem().unwrap_or_default().to_os_string();
        name.push(".by_threads.txt");
        let dump = dump.map(|folder| PathBuf::from(folder).join(name));
        Ok(Some(Self { thread: Some(std::thread::spawn(work)), cancelled, dump }))
    }

    /// Waits for the object. Where it cannot be made, host threads run the program's function, as without it.
    pub fn end(mut self) -> Option<PathBuf> {
        let made = self.thread.take().and_then(|thread| thread.join().ok());
        made.unwrap_or_else(|| Err("the kernel compiler panicked".into())).map_err(|why| self.tell(&why)).ok()
    }

    fn tell(&self, why: &str) {
        let Some(file) = &self.dump else { return };
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        let _ = std::fs::write(file, why);
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn ended(what: &str, command: &mut Command, cancelled: &Arc<AtomicBool>) -> Result<(), String> {
    match Running::quiet(command)?.cancelled_by(cancelled).end()? {
        (0, _) => Ok(()),
        (code, told) => Err(format!("{what} failed ({code}) making kernels for single threads: {told}")),
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
    const ALONE: &str = "it is called by itself only";
    let [compiler, opt, major, input, output, unit, bare] = arguments else { return Err(ALONE.into()) };
    let unit = unit.to_str().and_then(|unit| u64::from_str_radix(unit, 16).ok());
    let major = major.to_str().and_then(|major| major.parse().ok());
    let (unit, major) = unit.zip(major).ok_or(ALONE)?;
    let (input, output) = (Path::new(input), Path::new(output));
    let llvm = Llvm::load([Path::new(compiler), Path::new(opt)], major)?;
    let code = std::fs::read(input).map_err(|e| format!("cannot read {}: {e}", input.display()))?;
    let mut module = Module::read(llvm, &code, &input.to_string_lossy())?;
    // First: LLVM's passes may use that a division by zero is undefined.
    integer_division::run(&mut module);
    let kernels = run(&mut module)?;
    module.verify()?;
    let text = module.print() + &table(&kernels, unit, bare == "true");
    std::fs::write(output, text).map_err(|e| format!("cannot write {}: {e}", output.display()))
}

/// What becomes of the headers' functions at -O0. LLVM leaves the program's own as they are, since they are `optnone`.
const HEADERS: &str =
    "cgscc(inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)),globaldce";

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
            edit.internalize(variable);
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
    const MOST: usize = 24;
    let calls = |one: Value<'_>| one.form() == Form::Instruction(opcode::CALL);
    function.first_block().is_some() && function.instructions().count() <= MOST && !function.instructions().any(calls)
}

/// The table of the kernels, and the function that registers it with the unit's image.
fn table(kernels: &[String], unit: u64, bare: bool) -> String {
    let (mut text, mut rows) = (String::new(), Vec::new());
    for (n, kernel) in kernels.iter().enumerate() {
        let name = if bare { revamp_image::bare_name(kernel) } else { kernel.clone() };
        let _ = writeln!(text, "@by_threads.name.{n} = internal constant [{} x i8] c\"{name}\\00\"", name.len() + 1);
        let functions = format!("ptr @\"{kernel}\", ").repeat(3);
        rows.push(format!(
            "{ROW} {{ ptr @by_threads.name.{n}, {functions}i64 0, [4 x i32] [i32 0, i32 0, i32 0, i32 {BY_THREADS}] }}"
        ));
    }
    let (count, rows, register) = (rows.len(), rows.join(", "), register_symbol(unit));
    text + &format!(
        "@by_threads.table = internal constant [{count} x {ROW}] [{rows}]\n\
         declare ptr @revamp_image_register(ptr)\n\
         declare void @revamp_image_add_native(ptr, ptr, i64)\n\
         define hidden ptr @{register}(ptr %wrapper) nounwind {{\n  \
         %image = call ptr @revamp_image_register(ptr %wrapper)\n  \
         call void @revamp_image_add_native(ptr %image, ptr @by_threads.table, i64 {count})\n  \
         ret ptr %image\n}}\n"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn definitions_become_internal_and_only_the_headers_are_optimised() {
        let code = "
            @kept = global i32 7
            @llvm.compiler.used = appending global [2 x ptr] [ptr @kernel, ptr @kept], section \"llvm.metadata\"
            $kernel = comdat any
            define weak_odr void @kernel(ptr %block) #0 comdat {
              call void @program(ptr %block)
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
              store ptr %view, ptr %at
              %same = load ptr, ptr %at
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
        assert!(!text.contains("@unused") && !text.contains("comdat"), "{text}");
        // The program's variable stays, the header's does not.
        assert!(text.contains("%n = alloca") && !text.contains("%at = alloca"), "{text}");
        let element = module.functions().find(|function| function.name().starts_with("_ZN6revamp")).unwrap();
        assert!(is_short(element) && text.contains("alwaysinline"), "{text}");
        Module::read(llvm, (text + &table(&["kernel".into()], 5, false)).as_bytes(), "with its table").unwrap();
    }
}
