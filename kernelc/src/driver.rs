//! What `revamp-kernelc` and `revamp-c++` do: a C++ source becomes an object that holds its kernels.

use crate::clang::{Clang, Pass, Unit};
use crate::files::{Folder, Running};
use crate::flags::{self, Line};
use crate::lower::{CompiledKernel, Options, Refusal};
use crate::{diagnostics, image, inline, ir, lower, rewrite};
use std::ffi::{OsStr, OsString};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why it ends without an object: what is to be printed, and the exit code.
struct Failed {
    text: String,
    code: i32,
}

impl From<String> for Failed {
    fn from(text: String) -> Self {
        Self { text: format!("revamp-kernelc: error: {text}\n"), code: 1 }
    }
}

/// The whole of `revamp-kernelc -- compiler arguments...`.
pub fn kernelc(arguments: Vec<OsString>) -> i32 {
    let mut rest = arguments.into_iter();
    let mut only: Vec<PathBuf> = Vec::new();
    let compiler = loop {
        let Some(argument) = rest.next() else { return usage(KERNELC) };
        match argument.to_str() {
            Some("--") => break rest.next(),
            Some("--only") => only.extend(rest.next().map(PathBuf::from)),
            Some("--help" | "-h") => {
                print!("{KERNELC}");
                return 0;
            }
            Some("--version") => return version("revamp-kernelc"),
            _ => return usage(KERNELC),
        }
    };
    let Some(compiler) = compiler else { return usage(KERNELC) };
    let arguments: Vec<OsString> = rest.collect();
    let line = flags::read(arguments.iter().cloned());
    let wanted = |source: &Path| only.is_empty() || only.iter().any(|o| same_file(o, source));
    let plain = || pass_through(&compiler, &arguments);
    match line.sources.as_slice() {
        [source] if line.compiles && !line.other && wanted(source) => {
            let output = line.output.clone().unwrap_or_else(|| object_of(source));
            finish(compile(&line, source, &output, is_foreign(&compiler), Some(&plain)))
        }
        _ => finish(plain()),
    }
}

/// The whole of `revamp-c++ arguments...`.
pub fn cxx(arguments: Vec<OsString>) -> i32 {
    match arguments.first().and_then(|a| a.to_str()) {
        None | Some("--help" | "-h") => {
            print!("{CXX}");
            return i32::from(arguments.is_empty());
        }
        Some("--version") => return version("revamp-c++"),
        _ => {}
    }
    finish(build(arguments))
}

/// Where the package is: this program lies in its `bin`.
fn prefix() -> Result<PathBuf, String> {
    let own = std::env::current_exe().and_then(|p| p.canonicalize()).map_err(|e| format!("cannot find itself: {e}"))?;
    let prefix = own.parent().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
    if prefix.join("include/revamp-amp/amp.h").is_file() {
        return Ok(prefix);
    }
    Err(format!(
        "{} holds no headers of revamp (include/revamp-amp): it is not where it was installed",
        prefix.display()
    ))
}

fn build(arguments: Vec<OsString>) -> Result<i32, Failed> {
    let prefix = prefix()?;
    let mut line = flags::read(arguments.iter().cloned());
    let mut own: Vec<Vec<OsString>> = Vec::new();
    let mut add = |flags: &[&OsStr]| own.push(flags.iter().map(|f| f.to_os_string()).collect());
    if line.last(|f| f.starts_with("-std=")).is_none() {
        add(&[OsStr::new("-std=c++17")]);
    }
    add(&[OsStr::new("-isystem"), prefix.join("include/revamp-amp").as_os_str()]);
    add(&[OsStr::new("-isystem"), prefix.join("include").as_os_str()]);
    add(&[OsStr::new("-pthread")]);
    line.flags.splice(0..0, own);
    let clang = Clang::find()?;
    if line.other {
        let mut command = Command::new(&clang.compiler);
        command
            .args(line.flags.iter().flatten())
            .args(arguments.iter().filter(|a| !a.to_string_lossy().starts_with('-')));
        return Ok(Running::start(&mut command, None)?.wait()?);
    }
    if line.compiles {
        if line.sources.len() > 1 && line.output.is_some() {
            return Err(String::from("-o names one output, there are several sources").into());
        }
        for source in &line.sources {
            let output = line.output.clone().unwrap_or_else(|| object_of(source));
            let code = compile(&line, source, &output, false, None)?;
            if code != 0 {
                return Ok(code);
            }
        }
        return Ok(0);
    }
    if line.inputs.is_empty() {
        return Err(String::from("there is nothing to compile or link").into());
    }
    let folder = Folder::new()?;
    let mut objects = Vec::new();
    for (n, source) in line.sources.iter().enumerate() {
        let object = folder.file(&format!("{n}.o"));
        let code = compile(&line, source, &object, false, None)?;
        if code != 0 {
            return Ok(code);
        }
        objects.push(object.into_os_string());
    }
    let mut made = objects.into_iter();
    let mut command = Command::new(&clang.compiler);
    command.args(line.for_link());
    for input in &line.inputs {
        if input.is_empty() {
            command.args(made.next())
        } else {
            command.arg(input)
        };
    }
    let library = prefix.join("lib");
    command.arg("-L").arg(&library).arg("-lrevamp");
    let mut path = OsString::from("-Wl,-rpath,");
    path.push(&library);
    command.arg(path).arg("-o").arg(line.output.as_deref().unwrap_or(Path::new("a.out")));
    Ok(Running::start(&mut command, None)?.wait()?)
}

fn object_of(source: &Path) -> PathBuf {
    PathBuf::from(source.file_name().unwrap_or_default()).with_extension("o")
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The project's compiler is not Clang.
fn is_foreign(compiler: &OsStr) -> bool {
    let name = Path::new(compiler).file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.contains("clang") {
        return false;
    }
    let version = Command::new(compiler).arg("--version").output();
    !version.is_ok_and(|v| String::from_utf8_lossy(&v.stdout).contains("clang"))
}

fn pass_through(compiler: &OsStr, arguments: &[OsString]) -> Result<i32, Failed> {
    Ok(Running::start(Command::new(compiler).args(arguments), None)?.wait()?)
}

fn finish(result: Result<i32, Failed>) -> i32 {
    result.unwrap_or_else(|failed| {
        eprint!("{}", failed.text);
        failed.code
    })
}

fn text_of(file: &Path) -> String {
    std::fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The object of one source. `plain`: how it is compiled if it holds no kernel.
fn compile(
    line: &Line,
    source: &Path,
    output: &Path,
    foreign: bool,
    plain: Option<&dyn Fn() -> Result<i32, Failed>>,
) -> Result<i32, Failed> {
    let clang = Clang::find()?;
    let folder = Folder::new()?;
    let id = unit_id(source, output, line);
    let device_flags = line.for_device();
    let overlay = overlay(source, &folder)?;
    let mut unit = Unit { id, strict: false, source, overlay: overlay.as_deref() };

    let (check_errors, device_errors) = (folder.file("check.txt"), folder.file("device.txt"));
    let ir = folder.file("device.ll");
    let device = |unit: &Unit<'_>| {
        let mut command = clang.pass(Pass::Device, unit, &device_flags);
        Running::start(command.arg("-o").arg(&ir), Some(&device_errors))
    };
    let checking = Running::start(&mut clang.pass(Pass::Check, &unit, &device_flags), Some(&check_errors))?;
    let compiling = device(&unit)?;
    let code = checking.wait()?;
    let (told, errors) = diagnostics::filter(&text_of(&check_errors), code != 0);
    if code != 0 && errors > 0 {
        return Err(Failed { text: told, code });
    }
    let mut code = compiling.wait()?;
    if code != 0 {
        // The source is right by C++ AMP's rules; so it overloads on restriction.
        unit.strict = true;
        code = device(&unit)?.wait()?;
    }
    if code != 0 {
        return Err(Failed { text: text_of(&device_errors), code });
    }
    let kernels = lowered(&clang, &folder, &ir, line, source)?;
    if kernels.is_empty()
        && let Some(plain) = plain
    {
        return plain();
    }

    let image_file = folder.file("image");
    std::fs::write(&image_file, image::write(&kernels))
        .map_err(|e| format!("cannot write {}: {e}", image_file.display()))?;
    let mut command = clang.pass(Pass::Host, &unit, &line.for_host(foreign));
    command.arg("-Xclang").arg("-fcuda-include-gpubinary").arg("-Xclang").arg(&image_file);
    depends(line, output, &mut command);
    let object = folder.file("host.o");
    let code = Running::start(command.arg("-o").arg(&object), None)?.wait()?;
    if code != 0 {
        return Ok(code);
    }
    let code = Running::start(&mut clang.rename(&object, output), None)?.wait()?;
    if code != 0 {
        let _ = std::fs::remove_file(output);
    }
    Ok(code)
}

/// Where the source needs it, what makes Clang read it otherwise.
fn overlay(source: &Path, folder: &Folder) -> Result<Option<PathBuf>, String> {
    let Some(text) = std::fs::read_to_string(source).ok().and_then(|text| rewrite::rewritten(&text)) else {
        return Ok(None);
    };
    let (copy, file) = (folder.file("source"), folder.file("overlay.yaml"));
    let whole = std::path::absolute(source).unwrap_or_else(|_| source.to_path_buf());
    std::fs::write(&copy, text)
        .and_then(|()| std::fs::write(&file, rewrite::overlay(&whole, &copy)))
        .map_err(|e| format!("cannot write a temporary file: {e}"))?;
    Ok(Some(file))
}

/// A number of the translation unit, the same in each build of it.
fn unit_id(source: &Path, output: &Path, line: &Line) -> u64 {
    let whole = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_path_buf());
    // The default hasher has fixed keys.
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    (whole(source), whole(output), &line.flags).hash(&mut hasher);
    hasher.finish()
}

/// Names in the file of dependencies: the object that is made is not the one that is asked for.
fn depends(line: &Line, output: &Path, command: &mut Command) {
    if line.last(|f| f == "-MD" || f == "-MMD").is_none() {
        return;
    }
    if line.last(|f| f.starts_with("-MF")).is_none() {
        command.arg("-MF").arg(output.with_extension("d"));
    }
    if line.last(|f| f.starts_with("-MT") || f.starts_with("-MQ")).is_none() {
        command.arg("-MT").arg(output);
    }
}

/// The kernels of the device's code.
fn lowered(
    clang: &Clang,
    folder: &Folder,
    ir: &Path,
    line: &Line,
    source: &Path,
) -> Result<Vec<CompiledKernel>, Failed> {
    let (optimised, errors) = (folder.file("device.opt.ll"), folder.file("opt.txt"));
    let write = |file: &Path, text: String| {
        std::fs::write(file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))
    };
    let text = inline::marked(&text_of(ir));
    let (ends_threads, large) = (inline::ends_threads(&text), inline::is_large(&text));
    write(ir, text)?;
    let mut input = ir.to_path_buf();
    let mut code = 0;
    if ends_threads {
        input = folder.file("device.inlined.ll");
        code = Running::start(&mut clang.inline(ir, &input, large), Some(&errors))?.wait()?;
        write(&input, inline::returning(&text_of(&input)))?;
    }
    if code == 0 {
        code = Running::start(&mut clang.optimise(&input, &optimised, large), Some(&errors))?.wait()?;
    }
    let dump = Dump::new(source);
    dump.copy(ir, "ll")?;
    if code != 0 {
        return Err(Failed { text: text_of(&errors), code });
    }
    dump.copy(&optimised, "opt.ll")?;
    let module = ir::read(&text_of(&optimised))
        .map_err(|e| format!("the intermediate code of {} is not understood: {e}", source.display()))?;
    let options = Options { lines: dump.0.is_some() || line.last(|f| f.starts_with("-g")).is_some_and(|f| f != "-g0") };
    let kernels = lower::compile(&module, &options).map_err(|refusals| Failed { text: refused(&refusals), code: 1 })?;
    for (n, kernel) in kernels.iter().enumerate() {
        dump.kernel(n, kernel)?;
    }
    Ok(kernels)
}

/// What kernels cannot be compiled for, as Clang says such things.
fn refused(refusals: &[Refusal]) -> String {
    let mut text = String::new();
    for r in refusals {
        let mut frames = r.frames.iter();
        match frames.next() {
            Some(f) => {
                text += &format!("{}:{}:{}: error: {}\n", f.file, f.line, f.column, r.message);
                text += &excerpt(&f.file, f.line, f.column);
            }
            None => text += &format!("error: {}\n", r.message),
        }
        // Down to the user's code: below it are parallel_for_each's own functions.
        for f in frames.filter(|f| !f.file.contains("revamp/detail/launch.h")) {
            text += &format!("{}:{}:{}: note: called from here, in '{}'\n", f.file, f.line, f.column, f.function);
        }
    }
    let count = refusals.len();
    text + &format!("{count} error{} generated when compiling kernels.\n", if count == 1 { "" } else { "s" })
}

/// A line of the source with a mark, as Clang shows it.
fn excerpt(file: &str, line: u32, column: u32) -> String {
    let text = text_of(Path::new(file));
    let Some(found) = text.lines().nth((line as usize).wrapping_sub(1)) else { return String::new() };
    // Tabs stay tabs, so that the mark stands below its place.
    let gap: String =
        found.chars().take((column as usize).saturating_sub(1)).map(|c| if c == '\t' { c } else { ' ' }).collect();
    format!("{line:5} | {found}\n      | {gap}^\n")
}

/// What `REVAMP_KERNEL_DUMP` asks for.
struct Dump(Option<PathBuf>);

impl Dump {
    fn new(source: &Path) -> Self {
        let folder = std::env::var_os("REVAMP_KERNEL_DUMP").filter(|f| !f.is_empty());
        Self(folder.map(|f| PathBuf::from(f).join(source.file_stem().unwrap_or_default())))
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

fn usage(text: &str) -> i32 {
    eprint!("{text}");
    2
}

fn version(name: &str) -> i32 {
    println!("{name} {}", env!("CARGO_PKG_VERSION"));
    0
}

const KERNELC: &str = "\
usage: revamp-kernelc [--only SOURCE]... -- COMPILER ARGUMENTS...

Stands before a C++ compiler (CMake: revamp_add_kernels). Where the arguments compile a C++ source (-c) that launches C++ AMP
kernels, Clang compiles it and the object holds the kernels as SPIR-V; everything else is run as it is, so are sources without
kernels. --only: just these sources. COMPILER may be GCC: its objects and these link together.

Needs Clang 22 or later with opt of the same LLVM (22 is the oldest that was tried): the program that the environment variable
REVAMP_CLANG names, else clang++-22, clang++-23 and so on, else clang++.
REVAMP_KERNEL_DUMP=FOLDER keeps, of each source, the LLVM IR (.ll, .opt.ll) and each kernel (.N.spv, .N.spvasm).
";

const CXX: &str = "\
usage: revamp-c++ ARGUMENTS...

A C++ compiler for programs that use C++ AMP: takes Clang's arguments, finds the headers and the library by itself, and puts
the kernels into the program as SPIR-V:

    revamp-c++ -O2 prog.cpp -o prog

Needs Clang 22 or later with opt of the same LLVM (22 is the oldest that was tried): the program that the environment variable
REVAMP_CLANG names, else clang++-22, clang++-23 and so on, else clang++.
REVAMP_KERNEL_DUMP=FOLDER keeps, of each source, the LLVM IR (.ll, .opt.ll) and each kernel (.N.spv, .N.spvasm).
";
