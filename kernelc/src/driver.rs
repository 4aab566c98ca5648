//! The programs `revamp-kernelc` and `revamp-c++`: they compile a C++ source to an object that holds its kernels.

use crate::bounds_option::Bounds;
use crate::clang::{Amp, Clang, Pass, Unit};
use crate::diagnostics::{self, Failed};
use crate::files::{self, Folder, Running};
use crate::flags::{self, Input, Line, Task};
use crate::host_pass::HostPass;
use crate::kernel_process::{Compiled, Compiling};
use crate::kernels::KernelOptions;
use crate::native::build::{Making, Plan};
use crate::native::by_threads;
use crate::overloads::Functions;
use crate::own_sources::OwnSource;
use crate::parts::{self, Part};
use crate::{image, library, native, own_sources, pass_print, refuse, response_files, source_rewrite};
use revamp_source::tokens::{Clauses, Code};
use revamp_source::wide_formats;
use std::ffi::{OsStr, OsString};
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `revamp-kernelc -- compiler arguments...` and returns its exit code.
pub fn kernelc(arguments: Vec<OsString>) -> i32 {
    let mut rest = arguments.into_iter();
    let mut only_sources: Vec<PathBuf> = Vec::new();
    let mut own: Vec<OsString> = Vec::new();
    let mut launcher: Vec<OsString> = Vec::new();
    let compiler = loop {
        let Some(argument) = rest.next() else { return usage(KERNELC) };
        match argument.to_str() {
            Some("--") => break rest.next(),
            Some("--launcher") => {
                launcher.extend(rest.by_ref().take_while(|word| word != "--"));
                break rest.next();
            }
            Some("--only") => only_sources.extend(rest.next().map(PathBuf::from)),
            Some(_) if flags::is_revamp_flag(&argument) => own.push(argument),
            Some("--help" | "-h") => {
                print!("{KERNELC}");
                return 0;
            }
            Some("--version") => return version("revamp-kernelc"),
            Some("--pass") => match rest.next().zip(rest.next()) {
                Some((pass, file)) => return finish(print_pass(&pass, Path::new(&file))),
                None => return usage(KERNELC),
            },
            _ => return usage(KERNELC),
        }
    };
    let Some(compiler) = compiler else { return usage(KERNELC) };
    finish(compile_or_forward(&compiler, &launcher, rest.collect(), &only_sources, own))
}

fn print_pass(pass: &OsStr, file: &Path) -> Result<i32, Failed> {
    print!("{}", pass_print::run_pass(pass, file)?);
    Ok(0)
}

fn compile_or_forward(
    compiler: &OsStr,
    launcher: &[OsString],
    mut arguments: Vec<OsString>,
    only_sources: &[PathBuf],
    own: Vec<OsString>,
) -> Result<i32, Failed> {
    if Path::new(compiler).file_stem().is_some_and(|name| name == "revamp-c++") {
        // revamp-c++ finds kernels itself. It also finds revamp's headers, whose folder CMake leaves out of the command line of revamp-c++.
        return Ok(Running::start(Command::new(compiler).args(own).args(arguments))?.wait()?);
    }
    let mut line = flags::read(response_files::expand_all([own, arguments.clone()].concat())?);
    if let Some(target) = target_of(compiler).filter(|_| line.target().is_none()) {
        line.flags.insert(0, vec![target]);
    }
    arguments.retain(|argument| !flags::is_revamp_flag(argument));
    let is_selected = |source: &Path| only_sources.is_empty() || only_sources.iter().any(|o| same_file(o, source));
    let project_compiler = || {
        let mut words = launcher.iter().map(OsString::as_os_str).chain([compiler]);
        let program = words.next().unwrap_or(compiler);
        Ok(Running::start(Command::new(program).args(words).args(&arguments))?.wait()?)
    };
    // The compiler itself rejects invalid command lines.
    if line.task != Task::Compile
        || line.syntax_only
        || line.error_message.is_some()
        || !line.sources.iter().any(|source| is_selected(source))
    {
        return project_compiler();
    }
    let [source] = line.sources.as_slice() else {
        return Err(
            String::from("the command line names several C++ sources: revamp-kernelc accepts one per call").into()
        );
    };
    let object = Object::requested(&line, source);
    compile(&Clang::find()?, &line, &object, is_foreign(compiler), Some(&project_compiler))
}

/// Runs `revamp-c++ arguments...` and returns its exit code.
pub fn cxx(arguments: Vec<OsString>) -> i32 {
    match arguments.first().map(|a| a.to_string_lossy()).as_deref() {
        None | Some("--help" | "-h") => {
            print!("{CXX}");
            return i32::from(arguments.is_empty());
        }
        Some("--version") => return version("revamp-c++"),
        _ => {}
    }
    finish(build(arguments))
}

/// True if the package is installed in the system's folders, which the compiler and the linker search automatically. An option that names
/// `/usr/include` would put this folder before the folders of the C++ library, and the library's `#include_next` would fail. An option for
/// the linker could name the wrong folder, because librevamp may be in the folder of its architecture.
fn is_system(prefix: &Path) -> bool {
    prefix == Path::new("/usr")
}

fn build(arguments: Vec<OsString>) -> Result<i32, Failed> {
    let prefix = files::package()?;
    let mut arguments = response_files::expand_all(arguments)?;
    let mut line = flags::read(arguments.iter().cloned());
    arguments.retain(|argument| !flags::is_revamp_flag(argument));
    let mut package = vec![prefix.join(files::HEADERS)];
    if !is_system(&prefix) {
        package.push(prefix.join("include"));
    }
    let mut own: Vec<Vec<OsString>> =
        package.into_iter().map(|folder| vec!["-isystem".into(), folder.into()]).collect();
    own.push(vec!["-pthread".into()]);
    let count = own.len();
    line.flags.splice(0..0, own);
    line.standard = line.last(|f| f.starts_with("-std=") || f == "-ansi").is_none().then_some("-std=c++17");
    if let Some(error_message) = line.error_message {
        return Err(error_message.into());
    }
    let clang = Clang::find()?;
    match line.task {
        Task::Other => {
            if line.assembly {
                eprintln!(
                    "revamp-c++: warning: the output is host code without kernels; set REVAMP_KERNEL_DUMP=FOLDER to \
                     keep the code of kernels"
                );
            }
            let own = line.flags.iter().take(count).flatten();
            // Clang rejects a C++ standard for C sources.
            let standard = line.standard.filter(|_| line.has_only_sources());
            let code =
                Running::start(Command::new(&clang.compiler).args(own).args(standard).args(&arguments))?.wait()?;
            if code == 0 {
                append_source_hash(&line)?;
            }
            Ok(code)
        }
        Task::Compile => objects(&clang, &line),
        Task::Link => program(&clang, &line, &prefix),
    }
}

/// Appends a comment with a hash of the program's sources to the output of `-E`. Compiler caches compare this output. Restrictions are macros that
/// expand to nothing, so without the hash a cache would not notice a changed restriction.
fn append_source_hash(line: &Line) -> Result<(), String> {
    let has_flag = |flag: &str| line.last(|f| f == flag).is_some();
    let [source] = line.sources.as_slice() else { return Ok(()) };
    if !(has_flag("-E") || has_flag("--preprocess"))
        || line.last(|f| f.starts_with("-d")).is_some()
        || has_flag("-M")
        || has_flag("-MM")
    {
        return Ok(());
    }
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    own_sources::gathered(source, line).iter().for_each(|own| own.bytes.hash(&mut hasher));
    let comment = format!("// sources {:016x}\n", hasher.finish());
    match line.output.as_ref().filter(|output| *output != Path::new("-")) {
        Some(output) => {
            let file = std::fs::OpenOptions::new().append(true).open(output);
            file.and_then(|mut file| file.write_all(comment.as_bytes()))
                .map_err(|e| format!("cannot write {}: {e}", output.display()))
        }
        None => std::io::stdout().write_all(comment.as_bytes()).map_err(|e| format!("cannot write: {e}")),
    }
}

/// Returns an error if the command line asks for something that revamp-c++ does not support.
fn refuse(line: &Line) -> Result<(), Failed> {
    if line.reads_standard_input() {
        return Err(String::from(
            "standard input cannot be compiled, because several passes read the source: name a file",
        )
        .into());
    }
    if line.last(|f| f.starts_with("-save-temps") || f == "--save-temps").is_some() {
        let text = "-save-temps is not supported, because several passes compile the source: set \
                    REVAMP_KERNEL_DUMP=FOLDER to keep the files of kernels, and use -S or -E to see the host code";
        return Err(String::from(text).into());
    }
    if line.last(|f| f == "-gsplit-dwarf" || f.starts_with("-gsplit-dwarf=s")).is_some() {
        return Err(String::from(
            "-gsplit-dwarf is not supported, because objects with kernels must contain their debug information: use -g",
        )
        .into());
    }
    if let Some(file) = line.missing() {
        return Err(format!("no such file: {}", file.display()).into());
    }
    if let Some(file) =
        line.sources.iter().map(PathBuf::as_path).chain(line.compiled()).find(|file| is_preprocessed(file))
    {
        let text = "is the output of -E, which contains only host code: compile the original source; if the source \
                    launches no kernels, clang++ can compile this file";
        return Err(format!("{} {text}", file.display()).into());
    }
    Ok(())
}

/// True if the file is output of `-E` that contains revamp's headers. Such output has only host code, no kernels.
fn is_preprocessed(file: &Path) -> bool {
    let names_header =
        |line: &[u8]| line.starts_with(b"# ") && line.windows(18).any(|part| part == b"revamp-amp/amprt.h");
    std::fs::read(file).is_ok_and(|text| text.starts_with(b"# ") && text.split(|&byte| byte == b'\n').any(names_header))
}

/// `-c`: compiles each source to an object. If one source fails, the others are still compiled, as Clang does.
fn objects(clang: &Clang, line: &Line) -> Result<i32, Failed> {
    refuse(line)?;
    let other_inputs = || line.inputs.iter().filter(|input| **input != Input::Source);
    let compiled = other_inputs().filter(|input| matches!(input, Input::Compiled(..))).count();
    match (line.sources.len() + compiled, line.output.as_ref().filter(|_| !line.syntax_only)) {
        (0, _) => return Err(String::from("no source is named").into()),
        (2.., Some(_)) => {
            return Err(String::from(
                "-o with -c names one output, but the command line has several sources: omit -o, or compile the \
                 sources one by one",
            )
            .into());
        }
        (_, Some(output)) if output == Path::new("-") => {
            return Err(
                String::from("-o -: an object with kernels cannot be written to standard output: name a file").into()
            );
        }
        _ => {}
    }
    let mut first_failure = 0;
    for source in &line.sources {
        let code = finish(compile(clang, line, &Object::requested(line, source), false, None));
        first_failure = if first_failure == 0 { code } else { first_failure };
    }
    if compiled > 0 {
        let mut command = Command::new(&clang.compiler);
        command.args(line.flags.iter().flatten()).arg(if line.syntax_only { "-fsyntax-only" } else { "-c" });
        if let Some(output) = &line.output {
            command.arg("-o").arg(output);
        }
        add_inputs(&mut command, other_inputs(), || None);
        let code = Running::start(&mut command)?.wait()?;
        first_failure = if first_failure == 0 { code } else { first_failure };
    }
    Ok(first_failure)
}

/// Adds the inputs to a command of Clang, with the next result of `object` in place of each source.
fn add_inputs<'a>(
    command: &mut Command,
    inputs: impl Iterator<Item = &'a Input>,
    mut object: impl FnMut() -> Option<PathBuf>,
) {
    // `-x` applies until the next `-x`.
    let mut language_is_set = false;
    for input in inputs {
        let language = match input {
            Input::Compiled(_, language) => language.as_deref(),
            _ => None,
        };
        if language_is_set && language.is_none() && !matches!(input, Input::Flag(_)) {
            command.args(["-x", "none"]);
            language_is_set = false;
        }
        if let Some(language) = language {
            command.arg("-x").arg(language);
            language_is_set = true;
        }
        match input {
            Input::Source => drop(command.args(object())),
            Input::Linked(word) | Input::Flag(word) | Input::Compiled(word, _) => drop(command.arg(word)),
        }
    }
}

/// Builds a program from sources, objects and libraries.
fn program(clang: &Clang, line: &Line, prefix: &Path) -> Result<i32, Failed> {
    refuse(line)?;
    if line.inputs.is_empty() {
        return Err(String::from("no source, object or library is named").into());
    }
    let folder = Folder::new()?;
    let mut object_files = Vec::new();
    for (n, source) in line.sources.iter().enumerate() {
        let object = Object {
            source,
            file: folder.file(&format!("{n}.o")),
            requested: line.output.clone().unwrap_or_else(|| object_of(source)),
        };
        let code = compile(clang, line, &object, false, None)?;
        if code != 0 {
            return Ok(code);
        }
        object_files.push(object.file);
    }
    let mut object_files = object_files.into_iter();
    let mut command = Command::new(&clang.compiler);
    command.args(line.for_link());
    add_inputs(&mut command, line.inputs.iter(), || object_files.next());
    // If all inputs are headers, Clang precompiles them and links nothing.
    let links = line.inputs.iter().any(|input| !input.is_header());
    if links && line.last(|f| f == "-r").is_none() {
        command.arg("-lrevamp");
        let package = package_for(line, prefix);
        if !is_system(&package) {
            let library = package.join("lib");
            command.arg("-L").arg(&library);
            // Windows searches for libraries in the folder of the program.
            if !line.is_for_windows() {
                let mut path = OsString::from("-Wl,-rpath,");
                path.push(&library);
                command.arg(path);
            }
        }
    }
    if let Some(output) = &line.output {
        command.arg("-o").arg(output);
    }
    Ok(Running::start(&mut command)?.wait()?)
}

/// The folder of the package for the target system. If the target is another system, this folder is a subfolder of this system's package.
fn package_for(line: &Line, prefix: &Path) -> PathBuf {
    let other = match line.target() {
        Some(_) if line.is_for_windows() && !cfg!(windows) => prefix.join("x86_64-w64-mingw32"),
        Some(target) => prefix.join(target),
        None => return prefix.to_path_buf(),
    };
    if other.is_dir() { other } else { prefix.to_path_buf() }
}

/// The object of one source.
struct Object<'a> {
    source: &'a Path,
    /// The file to write.
    file: PathBuf,
    /// The output that the user requested: this object, or the program that is linked from the object. Dependency files name this output.
    requested: PathBuf,
}

impl<'a> Object<'a> {
    fn requested(line: &Line, source: &'a Path) -> Self {
        let file = line.output.clone().unwrap_or_else(|| object_of(source));
        Self { source, requested: file.clone(), file }
    }
}

fn object_of(source: &Path) -> PathBuf {
    PathBuf::from(source.file_name().unwrap_or_default()).with_extension("o")
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Clang's flag for the target in the name of a cross compiler, such as x86_64-w64-mingw32-g++-posix.
fn target_of(compiler: &OsStr) -> Option<OsString> {
    let name = Path::new(compiler).file_name()?.to_str()?;
    let end = ["-g++", "-c++", "-gcc", "-clang"].iter().filter_map(|end| name.find(end)).min()?;
    let target = &name[..end];
    (target.matches('-').count() >= 2).then(|| format!("--target={target}").into())
}

/// True if the project's compiler is not Clang.
fn is_foreign(compiler: &OsStr) -> bool {
    let name = Path::new(compiler).file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.contains("clang") {
        return false;
    }
    let version = Command::new(compiler).arg("--version").output();
    !version.is_ok_and(|v| String::from_utf8_lossy(&v.stdout).contains("clang"))
}

fn finish(result: Result<i32, Failed>) -> i32 {
    result.unwrap_or_else(|failed| {
        eprint!("{}", failed.text);
        failed.code
    })
}

/// Checks a source and compiles its device code. Returns the [`Unit`] of the host pass and the [`Unit`] of the device pass.
fn device_code<'a>(
    clang: &Clang,
    requested: Unit<'a>,
    text: &Text,
    line: &Line,
    ir: &Path,
) -> Result<(Unit<'a>, Unit<'a>), Failed> {
    let flags = line.for_device();
    let device = |unit: &Unit<'_>| Running::with_diagnostics(clang.pass(Pass::Device, unit, &flags).arg("-o").arg(ir));
    let compile = |unit: &Unit<'_>| -> Result<(i32, String), String> { Ok(device(unit)?.end()?) };
    let check =
        |unit: &Unit<'_>, compare| refuse::Check::start(clang, unit, &flags, line.strict, compare, &text.misplaced);
    let mut unit = requested;
    let checking = check(&unit, text.possibly_overloaded && !text.overloaded)?;
    let compiling = device(&unit)?;
    let mut checked = match checking.end() {
        Ok(checked) => checked,
        Err(why) => {
            // If libclang rejects the command line, Clang's message says why.
            let (_, words) = compiling.end()?;
            return Err(Failed::of_pass("libclang", 1, words + &Failed::from(why).text));
        }
    };
    if checked.errors > 0 && text.possibly_overloaded && checked.names_host_function {
        // In a restrict(amp, cpu) function, overload resolution preferred a host function to a restrict(amp, cpu) one.
        unit.amp = Amp::DeviceBeforeHost;
        let other = check(&unit, false)?.end()?;
        checked = if other.errors == 0 { other } else { checked };
    } else if checked.overloaded {
        unit.amp = Amp::Device;
    }
    if checked.errors > 0 {
        return Err(Failed::of_pass("Clang", 1, checked.text));
    }
    let fatal = line.last(|f| f == "-Werror").is_some();
    let (warnings, count) = checked.warnings(|warning| line.warns_of(warning), fatal);
    if fatal && count > 0 {
        let text = warnings + &diagnostics::error_count_line(count, "checking array_views");
        return Err(Failed::of_pass("Clang", 1, text));
    }
    eprint!("{warnings}");
    let (mut code, mut diagnostics) = if unit.amp == requested.amp { compiling.end()? } else { compile(&unit)? };
    // The source is valid C++ AMP, so a failure has one of two reasons. Either functions of the same signature differ
    // by restriction, or Clang emits a function before it knows the function's callers.
    let mut device_unit = unit;
    if code != 0 && unit.amp == Amp::Both {
        // `host_object` finds out whether the host pass fails, too.
        device_unit.amp = Amp::Device;
        (code, diagnostics) = compile(&device_unit)?;
    }
    if code != 0 && device_unit.amp == Amp::Device {
        device_unit.amp = Amp::DeviceBeforeHost;
        (code, diagnostics) = compile(&device_unit)?;
    }
    if code != 0 {
        return Err(Failed::of_pass("Clang", code, diagnostics));
    }
    Ok((unit, device_unit))
}

/// The command-line options that apply to kernels.
fn options_for_kernels(line: &Line) -> KernelOptions {
    KernelOptions {
        bounds: line.bounds(),
        lines: line.last(|f| f.starts_with("-g")).is_some_and(|f| f != "-g0"),
        strict: line.strict,
        silent: line.last(|f| f == "-w").is_some(),
        fatal: line.last(|f| f == "-Werror").is_some(),
        report: line.reports(),
    }
}

/// Compiles the kernels of a source part by part, and their native code. If the source has a single part, the native code may still be
/// compiling when this function returns.
fn kernels(
    clang: &Clang,
    line: &Line,
    [source, ir]: [&Path; 2],
    bare_names: bool,
    plan: Option<&Plan<'_>>,
) -> Result<(Compiled, Vec<Making>), Failed> {
    // Messages about kernels, and dumps of kernels, are in the order of the source.
    let parts = parts::of(clang, ir, line.reports())?;
    let verbose = line.last(|f| f == "-v").is_some();
    let (all, done) = (parts.last().map_or(0, |part| part.kernels.end), AtomicUsize::new(0));
    let compile = |number: usize| -> Result<(Compiled, Option<Making>), Failed> {
        let Part { code, kernels } = &parts[number];
        let making = plan.map(|plan| plan.start(number, &parts)).transpose()?;
        let compiled = Compiling::start(clang, options_for_kernels(line), bare_names, source, code)?.end()?;
        if parts.len() > 1 {
            making.iter().for_each(Making::wait);
        }
        let count = done.fetch_add(kernels.len(), Ordering::Relaxed) + kernels.len();
        if verbose && all > 0 {
            eprintln!("revamp-c++: {count} of {all} kernels compiled");
        }
        Ok((compiled, making))
    };
    let jobs = line.jobs.map_or_else(parts::jobs, usize::from);
    let (mut compiled, mut native, mut failed) = (Vec::new(), Vec::new(), None::<Failed>);
    for part in parts::each(jobs, parts.len(), compile) {
        match part {
            Ok((part_output, making)) => {
                compiled.push(part_output);
                native.extend(making);
            }
            Err(next_failure) => match &mut failed {
                Some(failed) => failed.text += &next_failure.text,
                None => failed = Some(next_failure),
            },
        }
    }
    match failed {
        Some(failed) => Err(failed),
        None => Ok((Compiled::joined(compiled)?, native)),
    }
}

/// Waits for the native code of all parts. Returns the object files if all parts have native code.
fn native_objects(making: Vec<Making>) -> Result<Option<Vec<PathBuf>>, String> {
    let objects = making.into_iter().map(Making::end).collect::<Result<Option<Vec<_>>, _>>()?;
    Ok(objects.filter(|parts| !parts.is_empty()).map(|parts| parts.concat()))
}

/// Compiles one source to an object. `project_compiler`: the project's compiler, which compiles the source if it has no kernels and no overloads on
/// restriction.
fn compile(
    clang: &Clang,
    line: &Line,
    object: &Object<'_>,
    foreign: bool,
    project_compiler: Option<&dyn Fn() -> Result<i32, Failed>>,
) -> Result<i32, Failed> {
    let source = object.source;
    let folder = Folder::new()?;
    let id = unit_id(object, line);
    let text = read(&own_sources::gathered(source, line), &folder, line.strict)?;
    if let Some(flag) = line.narrow_pointers().filter(|_| text.launches) {
        return Err(format!(
            "{flag}: kernels use 64-bit pointers, so the host code that launches kernels must use 64-bit pointers too; \
             remove the option"
        )
        .into());
    }
    let amp = if text.overloaded { Amp::Device } else { Amp::Both };
    let reports = line.bounds() == Bounds::Report;
    // Host code gets bounds checks only with -famp-bounds=report. The default at -O0 adds them to kernels only.
    let host_checks = line.bounds == Some(Bounds::Report);
    let unit = Unit {
        id,
        amp,
        source,
        reports,
        host_checks,
        overlay: text.overlay.as_deref(),
        library: text.library.as_deref(),
    };
    let ir = folder.file("device.ll");
    let (image_file, host) = (folder.file("image"), folder.file("host.o"));
    let pass = |unit: &Unit<'_>| {
        let mut command = clang.pass(Pass::Host, unit, &line.for_host(foreign));
        command.arg("-Xclang").arg("-fcuda-include-gpubinary").arg("-Xclang").arg(&image_file);
        set_dependency_names(line, object, &mut command);
        set_coverage_paths(line, object, &mut command);
        command.arg("-o").arg(&host);
        if line.syntax_only {
            command.args(["-Xclang", "-fsyntax-only"]);
        }
        command
    };
    // The host pass starts before the source is checked. Its work is lost if the check fails.
    let mut running_pass =
        (text.launches && !line.syntax_only).then(|| HostPass::start(&mut pass(&unit), line, &image_file)).flatten();
    let requested_mapping = unit.amp;
    let (unit, device_unit) = device_code(clang, unit, &text, line, &ir)?;
    if line.syntax_only {
        eprint!("{}", text.formats(line));
        return host_object(&pass, [unit, device_unit], None, &[], &image_file);
    }
    if unit.amp != requested_mapping {
        drop(running_pass.take());
    }
    if running_pass.is_none() {
        running_pass = HostPass::start(&mut pass(&unit), line, &image_file);
    }
    let plan = Plan::of(clang, &folder, &device_unit, line, &ir, text.long_double)?;
    // Without native kernels, kernels are compiled as functions for single threads, which host threads run.
    let by_threads = if plan.is_none() {
        by_threads::Making::start(clang, &folder, &device_unit, line, &ir, foreign)?
    } else {
        None
    };
    // Functions and local classes may be template arguments of a kernel. If the device pass maps restrict(amp) to
    // device functions, the symbols of these arguments differ between the host pass and the device pass. Kernels then
    // get bare names, without these differences (`revamp_image::bare_name`).
    let bare_names = device_unit.amp.is_device();
    let (compiled, making) = kernels(clang, line, [source, &ir], bare_names, plan.as_ref())?;
    eprint!("{}", compiled.diagnostics);
    if compiled.image.is_none() {
        // For the project's compiler, functions that differ only by restriction are redefinitions of one function.
        if let Some(project_compiler) = project_compiler.filter(|_| !unit.amp.is_device()) {
            drop(running_pass);
            return project_compiler();
        }
    }
    if line.last(|f| f == "-w").is_none() && compiled.image.is_some() {
        for (flag, why) in line.without_effect() {
            eprintln!("revamp-c++: warning: {flag}: {why}");
        }
    }
    let image = compiled.image.unwrap_or_else(|| image::encode(&[]));
    eprint!("{}", text.formats(line));
    let code = host_object(&pass, [unit, device_unit], running_pass, &image, &image_file)?;
    if code != 0 {
        return Ok(code);
    }
    let renamed = folder.file("renamed.o");
    let native = native_objects(making)?;
    let native = native.or_else(|| by_threads?.end().map(|object| vec![object]));
    let register = native.as_ref().map(|_| native::register_symbol(id, 0));
    let windows = line.is_for_windows();
    // Objects for Windows do not need `Clang::multi_target_objcopy`: GNU's objcopy supports them, too.
    let other = line.target().is_some() && !windows;
    let code = Running::start(&mut clang.rename(&host, &renamed, register.as_deref(), other, windows))?.wait()?;
    if code != 0 {
        return Ok(code);
    }
    let Some((native, target)) = native.zip(line.native_target()) else {
        folder.hand_over(&renamed, &object.file)?;
        return Ok(0);
    };
    let joined = folder.file("joined.o");
    let all: Vec<&Path> = std::iter::once(&renamed).chain(&native).map(PathBuf::as_path).collect();
    let code = Running::start(&mut clang.join(&all, &joined, target, line.target().is_none()))?.wait()?;
    if code == 0 {
        folder.hand_over(&joined, &object.file)?;
    }
    Ok(code)
}

/// Completes the host pass and returns its exit code. `units`: the units of the host pass and of the device pass. If the host pass is already
/// running, it reads the image from a pipe.
fn host_object(
    pass: &dyn Fn(&Unit<'_>) -> Command,
    units: [Unit<'_>; 2],
    running_pass: Option<HostPass>,
    image: &[u8],
    file: &Path,
) -> Result<i32, Failed> {
    let [unit, device_unit] = units;
    let write_file = || std::fs::write(file, image).map_err(|e| format!("cannot write {}: {e}", file.display()));
    // `may_differ`: functions may differ only by restriction, because the device pass failed with `Amp::Both`. If they
    // do, the host pass fails, too, and is repeated with the mapping of the device pass.
    let may_differ = unit.amp == Amp::Both && device_unit.amp.is_device();
    let (code, diagnostics) = match running_pass {
        Some(running_pass) => running_pass.end(image)?,
        None => {
            write_file()?;
            let mut command = pass(&unit);
            if !may_differ {
                return Ok(Running::start(&mut command)?.wait()?);
            }
            Running::with_diagnostics(&mut command)?.end()?
        }
    };
    if code == 0 || !may_differ {
        eprint!("{diagnostics}");
        return Ok(code);
    }
    std::fs::remove_file(file).map_err(|e| format!("cannot remove {}: {e}", file.display()))?;
    write_file()?;
    Ok(Running::start(&mut pass(&device_unit))?.wait()?)
}

/// Properties of a program's text that are found without Clang.
struct Text {
    /// True if functions differ only by restriction.
    overloaded: bool,
    /// True if functions may differ only by restriction; Clang's syntax tree shows whether they do.
    possibly_overloaded: bool,
    /// The overlay file by which Clang reads rewritten sources in place of the originals.
    overlay: Option<PathBuf>,
    /// The header that makes the C++ library host+device code, if functions may differ by restriction.
    library: Option<PathBuf>,
    /// Restrictions where C++ AMP allows none.
    misplaced: Vec<refuse::Finding>,
    /// True if the text names the type `long double`.
    long_double: bool,
    /// True if the text contains `parallel_for_each`.
    launches: bool,
    /// Warnings about wide format strings.
    formats: String,
}

impl Text {
    /// Warnings about wide format strings, unless the command line disables them.
    fn formats(&self, line: &Line) -> &str {
        let silent = line.last(|f| matches!(f, "-w" | "-Wno-format" | "-Wformat")).is_some_and(|f| f != "-Wformat");
        if silent || line.is_for_windows() { "" } else { &self.formats }
    }
}

/// Reads the program's own sources, and writes rewritten copies for Clang.
fn read(sources: &[OwnSource], folder: &Folder, strict: bool) -> Result<Text, String> {
    let codes: Vec<Code<'_>> = sources.iter().map(|source| Code::read(&source.text)).collect();
    let mut clauses = Clauses::default();
    codes.iter().for_each(|code| clauses.learn(code));
    let mut functions = Functions::default();
    let members: Vec<Vec<usize>> = codes.iter().map(|code| functions.add(code, &clauses)).collect();
    let overloaded = functions.overloaded();
    let possibly_overloaded = functions.may_be_overloaded();
    let specialized = codes.iter().flat_map(source_rewrite::specialized_members).collect();
    let mut types = source_rewrite::FunctionTypes::default();
    codes.iter().for_each(|code| types.learn(code, &clauses));
    let (mut copies, mut misplaced) = (Vec::new(), Vec::new());
    let failed = |e| format!("cannot write a temporary file: {e}");
    for (n, ((source, code), members)) in sources.iter().zip(&codes).zip(&members).enumerate() {
        misplaced.extend(refuse::misplaced(&source.path, &source.text, code, &clauses, strict));
        let text =
            source_rewrite::rewritten(source, code, &clauses, members, possibly_overloaded, &specialized, &types);
        let Some(text) = text else { continue };
        if source.path.to_str().is_none() {
            let name = source.path.display();
            return Err(format!(
                "{name}: the name of a source with restrict or tile_static must be valid UTF-8: rename the file"
            ));
        }
        let copy = folder.file(&format!("source{n}"));
        std::fs::write(&copy, text).map_err(failed)?;
        copies.push((source.path.clone(), copy));
    }
    let write_file = |name: &str, text: String| {
        let file = folder.file(name);
        std::fs::write(&file, text).map_err(failed).map(|()| file)
    };
    let overlay =
        (!copies.is_empty()).then(|| write_file("overlay.yaml", source_rewrite::overlay(&copies))).transpose()?;
    let library =
        possibly_overloaded.then(|| write_file("library.h", library::host_device_header(sources))).transpose()?;
    let names_long_double =
        |code: &Code<'_>| (1..code.tokens.len()).any(|at| code.text(at) == "double" && code.before(at) == "long");
    let long_double = codes.iter().any(names_long_double);
    let launches = sources.iter().any(|source| source.text.contains("parallel_for_each"));
    let formats = sources.iter().map(|source| wide_formats::warnings(&source.path, &source.text)).collect();
    Ok(Text { overloaded, possibly_overloaded, overlay, library, misplaced, long_double, launches, formats })
}

/// A number for the translation unit that is the same in each build.
fn unit_id(object: &Object<'_>, line: &Line) -> u64 {
    let absolute_path = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_path_buf());
    // The default hasher has fixed keys.
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    (absolute_path(object.source), absolute_path(&object.requested), &line.flags).hash(&mut hasher);
    hasher.finish()
}

/// Sets the names in the dependency file, because Clang would name its own output, a temporary object.
fn set_dependency_names(line: &Line, object: &Object<'_>, command: &mut Command) {
    if line.last(|f| f == "-MD" || f == "-MMD").is_none() {
        return;
    }
    if line.last(|f| f.starts_with("-MF")).is_none() {
        command.arg("-MF").arg(object.requested.with_extension("d"));
    }
    if line.last(|f| f.starts_with("-MT") || f.starts_with("-MQ")).is_none() {
        command.arg("-MT").arg(&object.requested);
    }
}

/// Sets the paths of coverage files as Clang does. With `-c`, the files go to the folder of the object. In a command
/// that also links, they go to the folder of the program, and their names begin with the program's name.
fn set_coverage_paths(line: &Line, object: &Object<'_>, command: &mut Command) {
    if line.last(|f| ["--coverage", "-coverage", "-ftest-coverage", "-fprofile-arcs"].contains(&f)).is_none() {
        return;
    }
    let mut files = object.requested.with_extension("");
    if object.file != object.requested {
        files = line.output.clone().unwrap_or_else(|| "a".into());
        files.as_mut_os_string().push("-");
        files.as_mut_os_string().push(object.source.file_stem().unwrap_or_default());
    }
    let files = std::path::absolute(&files).unwrap_or(files);
    let folder = line.last(|f| f.starts_with("-fprofile-dir=")).unwrap_or_default();
    for (option, folder, ending) in [
        ("-coverage-notes-file=", "", ".gcno"),
        ("-coverage-data-file=", folder.trim_start_matches("-fprofile-dir="), ".gcda"),
    ] {
        let mut word = OsString::from(option);
        word.push(folder);
        word.push(&files);
        word.push(ending);
        command.arg("-Xclang").arg(word);
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
usage: revamp-kernelc [--only SOURCE]... [-famp-...] [--launcher COMMAND...] -- COMPILER ARGUMENTS...
       revamp-kernelc --pass NAME FILE.ll

Wraps a C++ compiler (CMake: revamp_add_kernels). If the arguments compile a C++ source (-c) that launches C++ AMP kernels, Clang
compiles it, and the object holds the kernels as SPIR-V. Otherwise COMPILER runs unchanged. --only: handle only these sources.
--launcher: a command that runs COMPILER, such as ccache. COMPILER may be GCC: objects of both compilers link together.

-famp-strict           refuses revamp's extensions of C++ AMP in kernels (char, goto, ...), for sources that MSVC compiles too
-famp-bounds=MODE      accesses outside of arrays and array_views: off (undefined), zero (reads give 0, writes do nothing) or
                       report (the launch fails and names the line); default: report at -O0, else off
-famp-report           prints remarks on each kernel, with their source lines, as Clang's -Rpass does
-famp-jobs=N           compiles the kernels of a source in up to N parallel jobs (default: the number of idle processors)
--pass NAME FILE.ll    prints a module of LLVM IR after a pass of the compiler

Needs Clang 22 (the program that the environment variable REVAMP_CLANG names, else clang++-22, else clang++) and its libLLVM.
REVAMP_KERNEL_DUMP=FOLDER keeps the LLVM IR of each source (.ll, .opt.ll) and each kernel (.N.spv, .N.spvasm).
";

const CXX: &str = "\
usage: revamp-c++ ARGUMENTS...

A C++ compiler for programs that use C++ AMP: takes Clang's arguments, finds the headers and the library automatically,
and puts the kernels into the program as SPIR-V:

    revamp-c++ -O2 prog.cpp -o prog

-famp-strict           refuses revamp's extensions of C++ AMP in kernels (char, goto, ...), for sources that MSVC compiles too
-famp-bounds=MODE      accesses outside of arrays and array_views: off (undefined), zero (reads give 0, writes do nothing) or
                       report (the launch fails and names the line); default: report at -O0, else off
-famp-report           prints remarks on each kernel, with their source lines, as Clang's -Rpass does
-famp-jobs=N           compiles the kernels of a source in up to N parallel jobs (default: the number of idle processors)

Needs Clang 22 (the program that the environment variable REVAMP_CLANG names, else clang++-22, else clang++) and its libLLVM.
REVAMP_KERNEL_DUMP=FOLDER keeps the LLVM IR of each source (.ll, .opt.ll) and each kernel (.N.spv, .N.spvasm).
";
