//! What `revamp-kernelc` and `revamp-c++` do: a C++ source becomes an object that holds its kernels.

use crate::bounds_option::Bounds;
use crate::clang::{Amp, Clang, Pass, Unit};
use crate::diagnostics::{self, Failed};
use crate::files::{self, Folder, Running};
use crate::flags::{self, Input, Line, Task};
use crate::host_pass::HostPass;
use crate::kernel_process::{Compiled, Compiling};
use crate::kernels::Asked;
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

/// The whole of `revamp-kernelc -- compiler arguments...`.
pub fn kernelc(arguments: Vec<OsString>) -> i32 {
    let mut rest = arguments.into_iter();
    let mut only: Vec<PathBuf> = Vec::new();
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
            Some("--only") => only.extend(rest.next().map(PathBuf::from)),
            Some(_) if flags::is_own(&argument) => own.push(argument),
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
    finish(stand_before(&compiler, &launcher, rest.collect(), &only, own))
}

fn print_pass(pass: &OsStr, file: &Path) -> Result<i32, Failed> {
    print!("{}", pass_print::printed(pass, file)?);
    Ok(0)
}

fn stand_before(
    compiler: &OsStr,
    launcher: &[OsString],
    mut arguments: Vec<OsString>,
    only: &[PathBuf],
    own: Vec<OsString>,
) -> Result<i32, Failed> {
    if Path::new(compiler).file_stem().is_some_and(|name| name == "revamp-c++") {
        // It finds kernels itself, and headers that CMake then leaves out of the command line.
        return Ok(Running::start(Command::new(compiler).args(own).args(arguments))?.wait()?);
    }
    let mut line = flags::read(response_files::expanded([own, arguments.clone()].concat())?);
    if let Some(target) = target_of(compiler).filter(|_| line.target().is_none()) {
        line.flags.insert(0, vec![target]);
    }
    arguments.retain(|argument| !flags::is_own(argument));
    let wanted = |source: &Path| only.is_empty() || only.iter().any(|o| same_file(o, source));
    let plain = || {
        let mut words = launcher.iter().map(OsString::as_os_str).chain([compiler]);
        let program = words.next().unwrap_or(compiler);
        Ok(Running::start(Command::new(program).args(words).args(&arguments))?.wait()?)
    };
    // What makes no sense is the compiler's to say.
    if line.task != Task::Compile
        || line.checks
        || line.wrong.is_some()
        || !line.sources.iter().any(|source| wanted(source))
    {
        return plain();
    }
    let [source] = line.sources.as_slice() else {
        return Err(
            String::from("the command line names several C++ sources: revamp-kernelc accepts one per call").into()
        );
    };
    let object = Object::asked(&line, source);
    compile(&Clang::find()?, &line, &object, is_foreign(compiler), Some(&plain))
}

/// The whole of `revamp-c++ arguments...`.
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

/// The compiler and the linker know the system's folders by themselves, in their order: named, `/usr/include` would come before the C++
/// library's, whose `#include_next` then find nothing. The library may lie in a folder of its architecture.
fn is_system(prefix: &Path) -> bool {
    prefix == Path::new("/usr")
}

fn build(arguments: Vec<OsString>) -> Result<i32, Failed> {
    let prefix = files::package()?;
    let mut arguments = response_files::expanded(arguments)?;
    let mut line = flags::read(arguments.iter().cloned());
    arguments.retain(|argument| !flags::is_own(argument));
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
    if let Some(wrong) = line.wrong {
        return Err(wrong.into());
    }
    let clang = Clang::find()?;
    match line.task {
        Task::Other => {
            if line.assembly {
                eprintln!(
                    "revamp-c++: warning: the output is host code without kernels; REVAMP_KERNEL_DUMP=FOLDER keeps the \
                     code of kernels"
                );
            }
            let own = line.flags.iter().take(count).flatten();
            // Clang refuses a standard of C++ for sources in C.
            let standard = line.standard.filter(|_| line.has_only_sources());
            let code =
                Running::start(Command::new(&clang.compiler).args(own).args(standard).args(&arguments))?.wait()?;
            if code == 0 {
                sum_of_sources(&line)?;
            }
            Ok(code)
        }
        Task::Compile => objects(&clang, &line),
        Task::Link => program(&clang, &line, &prefix),
    }
}

/// Behind the output of `-E`, a comment that differs where the program's sources do: restrictions are macros that leave nothing there, and a cache
/// of compilations, which looks at this output, would take another source for the same.
fn sum_of_sources(line: &Line) -> Result<(), String> {
    let is = |flag: &str| line.last(|f| f == flag).is_some();
    let [source] = line.sources.as_slice() else { return Ok(()) };
    if !(is("-E") || is("--preprocess")) || line.last(|f| f.starts_with("-d")).is_some() || is("-M") || is("-MM") {
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

/// What revamp-c++ does not do.
fn refuse(line: &Line) -> Result<(), Failed> {
    if line.reads_input() {
        return Err(String::from("the source is standard input, which can be read only once, and several passes read the source: name a file").into());
    }
    if line.last(|f| f.starts_with("-save-temps") || f == "--save-temps").is_some() {
        let text = "-save-temps is not supported, since several passes compile the source: REVAMP_KERNEL_DUMP=FOLDER keeps the files of \
                    kernels, and -S and -E show the host's code";
        return Err(String::from(text).into());
    }
    if line.last(|f| f == "-gsplit-dwarf" || f.starts_with("-gsplit-dwarf=s")).is_some() {
        return Err(String::from(
            "-gsplit-dwarf is not supported, since objects with kernels hold their debug information: use -g",
        )
        .into());
    }
    if let Some(file) = line.missing() {
        return Err(format!("no such file: {}", file.display()).into());
    }
    if let Some(file) =
        line.sources.iter().map(PathBuf::as_path).chain(line.compiled()).find(|file| is_preprocessed(file))
    {
        let text = "is the output of -E, which contains only host code: compile the original source, or this file with \
                    clang++ if it launches no kernels";
        return Err(format!("{} {text}", file.display()).into());
    }
    Ok(())
}

/// True of the output of `-E` that holds the headers of revamp: they were read as the host's pass without kernels reads them.
fn is_preprocessed(file: &Path) -> bool {
    let headers = |line: &[u8]| line.starts_with(b"# ") && line.windows(18).any(|part| part == b"revamp-amp/amprt.h");
    std::fs::read(file).is_ok_and(|text| text.starts_with(b"# ") && text.split(|&byte| byte == b'\n').any(headers))
}

/// `-c`: an object of each source; the others are made also where one fails, as Clang does.
fn objects(clang: &Clang, line: &Line) -> Result<i32, Failed> {
    refuse(line)?;
    let others = || line.inputs.iter().filter(|input| **input != Input::Source);
    let compiled = others().filter(|input| matches!(input, Input::Compiled(..))).count();
    match (line.sources.len() + compiled, line.output.as_ref().filter(|_| !line.checks)) {
        (0, _) => return Err(String::from("no source is named").into()),
        (2.., Some(_)) => {
            return Err(String::from(
                "-o with -c names one output, but there are several sources: leave -o out, or compile them one by one",
            )
            .into());
        }
        (_, Some(output)) if output == Path::new("-") => {
            return Err(String::from("-o -: an object with kernels cannot go to standard output: name a file").into());
        }
        _ => {}
    }
    let mut worst = 0;
    for source in &line.sources {
        let code = finish(compile(clang, line, &Object::asked(line, source), false, None));
        worst = if worst == 0 { code } else { worst };
    }
    if compiled > 0 {
        let mut command = Command::new(&clang.compiler);
        command.args(line.flags.iter().flatten()).arg(if line.checks { "-fsyntax-only" } else { "-c" });
        if let Some(output) = &line.output {
            command.arg("-o").arg(output);
        }
        give(&mut command, others(), || None);
        let code = Running::start(&mut command)?.wait()?;
        worst = if worst == 0 { code } else { worst };
    }
    Ok(worst)
}

/// Gives inputs to Clang, `object` in place of each source.
fn give<'a>(
    command: &mut Command,
    inputs: impl Iterator<Item = &'a Input>,
    mut object: impl FnMut() -> Option<PathBuf>,
) {
    // A language that is named holds until another one is.
    let mut named = false;
    for input in inputs {
        let language = match input {
            Input::Compiled(_, language) => language.as_deref(),
            _ => None,
        };
        if named && language.is_none() && !matches!(input, Input::Flag(_)) {
            command.args(["-x", "none"]);
            named = false;
        }
        if let Some(language) = language {
            command.arg("-x").arg(language);
            named = true;
        }
        match input {
            Input::Source => drop(command.args(object())),
            Input::Linked(word) | Input::Flag(word) | Input::Compiled(word, _) => drop(command.arg(word)),
        }
    }
}

/// A program of sources, objects and libraries.
fn program(clang: &Clang, line: &Line, prefix: &Path) -> Result<i32, Failed> {
    refuse(line)?;
    if line.inputs.is_empty() {
        return Err(String::from("no source, object or library is named").into());
    }
    let folder = Folder::new()?;
    let mut made = Vec::new();
    for (n, source) in line.sources.iter().enumerate() {
        let object = Object {
            source,
            file: folder.file(&format!("{n}.o")),
            asked: line.output.clone().unwrap_or_else(|| object_of(source)),
        };
        let code = compile(clang, line, &object, false, None)?;
        if code != 0 {
            return Ok(code);
        }
        made.push(object.file);
    }
    let mut made = made.into_iter();
    let mut command = Command::new(&clang.compiler);
    command.args(line.for_link());
    give(&mut command, line.inputs.iter(), || made.next());
    // Headers alone are compiled, and nothing is linked.
    let links = line.inputs.iter().any(|input| !input.is_header());
    if links && line.last(|f| f == "-r").is_none() {
        command.arg("-lrevamp");
        let package = package_for(line, prefix);
        if !is_system(&package) {
            let library = package.join("lib");
            command.arg("-L").arg(&library);
            // Windows looks for libraries beside the program.
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

/// Where the package for the system that is compiled for lies: below the one of this system, if it is another.
fn package_for(line: &Line, prefix: &Path) -> PathBuf {
    let other = match line.target() {
        Some(_) if line.is_for_windows() && !cfg!(windows) => prefix.join("x86_64-w64-mingw32"),
        Some(target) => prefix.join(target),
        None => return prefix.to_path_buf(),
    };
    if other.is_dir() { other } else { prefix.to_path_buf() }
}

/// What is made of one source.
struct Object<'a> {
    source: &'a Path,
    /// Where it goes.
    file: PathBuf,
    /// The output that was asked for: the same, or what is linked of it. Dependencies are told of this.
    asked: PathBuf,
}

impl<'a> Object<'a> {
    fn asked(line: &Line, source: &'a Path) -> Self {
        let file = line.output.clone().unwrap_or_else(|| object_of(source));
        Self { source, asked: file.clone(), file }
    }
}

fn object_of(source: &Path) -> PathBuf {
    PathBuf::from(source.file_name().unwrap_or_default()).with_extension("o")
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// For Clang, the system that a cross compiler has in its name: x86_64-w64-mingw32-g++-posix.
fn target_of(compiler: &OsStr) -> Option<OsString> {
    let name = Path::new(compiler).file_name()?.to_str()?;
    let end = ["-g++", "-c++", "-gcc", "-clang"].iter().filter_map(|end| name.find(end)).min()?;
    let target = &name[..end];
    (target.matches('-').count() >= 2).then(|| format!("--target={target}").into())
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

fn finish(result: Result<i32, Failed>) -> i32 {
    result.unwrap_or_else(|failed| {
        eprint!("{}", failed.text);
        failed.code
    })
}

/// Checks a source, and makes the device's code of it. Gives the source as it is compiled for the host, and as for the device.
fn device_code<'a>(
    clang: &Clang,
    asked: Unit<'a>,
    text: &Text,
    line: &Line,
    ir: &Path,
) -> Result<(Unit<'a>, Unit<'a>), Failed> {
    let flags = line.for_device();
    let device = |unit: &Unit<'_>| Running::quiet(clang.pass(Pass::Device, unit, &flags).arg("-o").arg(ir));
    let compile = |unit: &Unit<'_>| -> Result<(i32, String), String> { Ok(device(unit)?.end()?) };
    let check =
        |unit: &Unit<'_>, compare| refuse::Check::start(clang, unit, &flags, line.strict, compare, &text.misplaced);
    let mut unit = asked;
    let checking = check(&unit, text.may_be && !text.overloaded)?;
    let compiling = device(&unit)?;
    let mut checked = match checking.end() {
        Ok(checked) => checked,
        Err(why) => {
            // If libclang cannot take the command line, Clang says why.
            let (_, words) = compiling.end()?;
            return Err(Failed::of_pass("libclang", 1, words + &Failed::from(why).text));
        }
    };
    if checked.errors > 0 && text.may_be && checked.names_host_function {
        // A function of both sides took one of the host's before one of both.
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
        let text = warnings + &diagnostics::generated(count, "checking array_views");
        return Err(Failed::of_pass("Clang", 1, text));
    }
    eprint!("{warnings}");
    let (mut code, mut diagnostics) = if unit.amp == asked.amp { compiling.end()? } else { compile(&unit)? };
    // The source is right by C++ AMP's rules. Functions of one signature differ by restriction, or there is what Clang makes
    // before it knows who calls it.
    let mut of_device = unit;
    if code != 0 && unit.amp == Amp::Both {
        // `host_object` finds out whether the host's pass fails the same way.
        of_device.amp = Amp::Device;
        (code, diagnostics) = compile(&of_device)?;
    }
    if code != 0 && of_device.amp == Amp::Device {
        of_device.amp = Amp::DeviceBeforeHost;
        (code, diagnostics) = compile(&of_device)?;
    }
    if code != 0 {
        return Err(Failed::of_pass("Clang", code, diagnostics));
    }
    Ok((unit, of_device))
}

/// What the command line says of kernels.
fn asked_of_kernels(line: &Line) -> Asked {
    Asked {
        bounds: line.bounds(),
        lines: line.last(|f| f.starts_with("-g")).is_some_and(|f| f != "-g0"),
        strict: line.strict,
        silent: line.last(|f| f == "-w").is_some(),
        fatal: line.last(|f| f == "-Werror").is_some(),
        report: line.reports(),
    }
}

/// Compiles the kernels of a source, part by part, and their native code, which of a single part may not be ready yet.
fn kernels(
    clang: &Clang,
    line: &Line,
    [source, ir]: [&Path; 2],
    bare: bool,
    plan: Option<&Plan<'_>>,
) -> Result<(Compiled, Vec<Making>), Failed> {
    // What is said of kernels, and kept of them, has their order in the source.
    let parts = parts::of(clang, ir, line.reports())?;
    let verbose = line.last(|f| f == "-v").is_some();
    let (all, done) = (parts.last().map_or(0, |part| part.kernels.end), AtomicUsize::new(0));
    let compile = |number: usize| -> Result<(Compiled, Option<Making>), Failed> {
        let Part { code, kernels } = &parts[number];
        let making = plan.map(|plan| plan.start(number, &parts)).transpose()?;
        let compiled = Compiling::start(clang, asked_of_kernels(line), bare, source, code)?.end()?;
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
            Ok((one, making)) => {
                compiled.push(one);
                native.extend(making);
            }
            Err(more) => match &mut failed {
                Some(failed) => failed.text += &more.text,
                None => failed = Some(more),
            },
        }
    }
    match failed {
        Some(failed) => Err(failed),
        None => Ok((Compiled::joined(compiled)?, native)),
    }
}

/// Waits for the native code of all parts: its objects, if all parts have one.
fn native_objects(making: Vec<Making>) -> Result<Option<Vec<PathBuf>>, String> {
    let objects = making.into_iter().map(Making::end).collect::<Result<Option<Vec<_>>, _>>()?;
    Ok(objects.filter(|parts| !parts.is_empty()).map(|parts| parts.concat()))
}

/// The object of one source. `plain`: how it is compiled if it holds no kernel and overloads nothing on restriction.
fn compile(
    clang: &Clang,
    line: &Line,
    object: &Object<'_>,
    foreign: bool,
    plain: Option<&dyn Fn() -> Result<i32, Failed>>,
) -> Result<i32, Failed> {
    let source = object.source;
    let folder = Folder::new()?;
    let id = unit_id(object, line);
    let text = read(&own_sources::gathered(source, line), &folder, line.strict)?;
    if let Some(flag) = line.narrow_pointers().filter(|_| text.launches) {
        return Err(format!(
            "{flag}: kernels use 64-bit pointers, so their host code must use them too: remove the option"
        )
        .into());
    }
    let amp = if text.overloaded { Amp::Device } else { Amp::Both };
    let reports = line.bounds() == Bounds::Report;
    // Not where it is the default of -O0: host code is then left as it was written.
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
        depends(line, object, &mut command);
        coverage(line, object, &mut command);
        command.arg("-o").arg(&host);
        if line.checks {
            command.args(["-Xclang", "-fsyntax-only"]);
        }
        command
    };
    // Begun for nothing where the source turns out to be wrong.
    let mut beside =
        (text.launches && !line.checks).then(|| HostPass::start(&mut pass(&unit), line, &image_file)).flatten();
    let as_asked = unit.amp;
    let (unit, of_device) = device_code(clang, unit, &text, line, &ir)?;
    if line.checks {
        eprint!("{}", text.formats(line));
        return host_object(&pass, [unit, of_device], None, &[], &image_file);
    }
    if unit.amp != as_asked {
        drop(beside.take());
    }
    if beside.is_none() {
        beside = HostPass::start(&mut pass(&unit), line, &image_file);
    }
    let plan = Plan::of(clang, &folder, &of_device, line, &ir, text.long_double)?;
    let by_threads =
        if plan.is_none() { by_threads::Making::start(clang, &folder, &of_device, line, &ir, foreign)? } else { None };
    // Functions and local classes may be arguments of a kernel's template, which the host's pass names otherwise.
    let bare = of_device.amp.is_device();
    let (compiled, making) = kernels(clang, line, [source, &ir], bare, plan.as_ref())?;
    eprint!("{}", compiled.diagnostics);
    if compiled.image.is_none() {
        // The project's compiler takes functions that differ by restriction for one that is defined twice.
        if let Some(plain) = plain.filter(|_| !unit.amp.is_device()) {
            drop(beside);
            return plain();
        }
    }
    if line.last(|f| f == "-w").is_none() && compiled.image.is_some() {
        for (flag, why) in line.without_effect() {
            eprintln!("revamp-c++: warning: {flag}: {why}");
        }
    }
    let image = compiled.image.unwrap_or_else(|| image::encode(&[]));
    eprint!("{}", text.formats(line));
    let code = host_object(&pass, [unit, of_device], beside, &image, &image_file)?;
    if code != 0 {
        return Ok(code);
    }
    let renamed = folder.file("renamed.o");
    let native = native_objects(making)?;
    let native = native.or_else(|| by_threads?.end().map(|object| vec![object]));
    let register = native.as_ref().map(|_| native::register_symbol(id, 0));
    let windows = line.is_for_windows();
    // Windows' objects are known to both.
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

/// Ends the host's pass, and gives its exit code. `units`: the source as it is compiled for the host and for the device. `beside`: the pass is
/// under way, and reads the image from a pipe.
fn host_object(
    pass: &dyn Fn(&Unit<'_>) -> Command,
    units: [Unit<'_>; 2],
    beside: Option<HostPass>,
    image: &[u8],
    file: &Path,
) -> Result<i32, Failed> {
    let [unit, of_device] = units;
    let written = || std::fs::write(file, image).map_err(|e| format!("cannot write {}: {e}", file.display()));
    // The device's pass failed where restrict(amp) is the host's too. If functions differ by restriction, the host's pass fails the same way,
    // and is run again as the device's was.
    let may_differ = unit.amp == Amp::Both && of_device.amp.is_device();
    let (code, diagnostics) = match beside {
        Some(beside) => beside.end(image)?,
        None => {
            written()?;
            let mut command = pass(&unit);
            if !may_differ {
                return Ok(Running::start(&mut command)?.wait()?);
            }
            Running::quiet(&mut command)?.end()?
        }
    };
    if code == 0 || !may_differ {
        eprint!("{diagnostics}");
        return Ok(code);
    }
    std::fs::remove_file(file).map_err(|e| format!("cannot remove {}: {e}", file.display()))?;
    written()?;
    Ok(Running::start(&mut pass(&of_device))?.wait()?)
}

/// What the text of a program says that Clang does not.
struct Text {
    /// Functions differ by restriction.
    overloaded: bool,
    /// They may, and only Clang's tree shows it.
    may_be: bool,
    /// What makes Clang read some files otherwise.
    overlay: Option<PathBuf>,
    /// What makes the C++ library one of both sides, if functions may differ by restriction.
    library: Option<PathBuf>,
    /// Restrictions that stand where none can.
    misplaced: Vec<refuse::Finding>,
    /// It names the type `long double`.
    long_double: bool,
    /// It launches kernels by name.
    launches: bool,
    /// Warnings of wide formats.
    formats: String,
}

impl Text {
    /// Warnings of wide formats, where the line does not ask for silence.
    fn formats(&self, line: &Line) -> &str {
        let silent = line.last(|f| matches!(f, "-w" | "-Wno-format" | "-Wformat")).is_some_and(|f| f != "-Wformat");
        if silent || line.is_for_windows() { "" } else { &self.formats }
    }
}

/// Reads what the program brings.
fn read(sources: &[OwnSource], folder: &Folder, strict: bool) -> Result<Text, String> {
    let codes: Vec<Code<'_>> = sources.iter().map(|source| Code::read(&source.text)).collect();
    let mut clauses = Clauses::default();
    codes.iter().for_each(|code| clauses.learn(code));
    let mut functions = Functions::default();
    let members: Vec<Vec<usize>> = codes.iter().map(|code| functions.add(code, &clauses)).collect();
    let overloaded = functions.overloaded();
    let may_be = functions.may_be_overloaded();
    let specialized = codes.iter().flat_map(source_rewrite::specialized_members).collect();
    let mut types = source_rewrite::FunctionTypes::default();
    codes.iter().for_each(|code| types.learn(code, &clauses));
    let (mut copies, mut misplaced) = (Vec::new(), Vec::new());
    let failed = |e| format!("cannot write a temporary file: {e}");
    for (n, ((source, code), members)) in sources.iter().zip(&codes).zip(&members).enumerate() {
        misplaced.extend(refuse::misplaced(&source.path, &source.text, code, &clauses, strict));
        let text = source_rewrite::rewritten(source, code, &clauses, members, may_be, &specialized, &types);
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
    let written = |name: &str, text: String| {
        let file = folder.file(name);
        std::fs::write(&file, text).map_err(failed).map(|()| file)
    };
    let overlay =
        (!copies.is_empty()).then(|| written("overlay.yaml", source_rewrite::overlay(&copies))).transpose()?;
    let library = may_be.then(|| written("library.h", library::for_both(sources))).transpose()?;
    let names =
        |code: &Code<'_>| (1..code.tokens.len()).any(|at| code.text(at) == "double" && code.before(at) == "long");
    let long_double = codes.iter().any(names);
    let launches = sources.iter().any(|source| source.text.contains("parallel_for_each"));
    let formats = sources.iter().map(|source| wide_formats::warnings(&source.path, &source.text)).collect();
    Ok(Text { overloaded, may_be, overlay, library, misplaced, long_double, launches, formats })
}

/// A number of the translation unit, the same in each build of it.
fn unit_id(object: &Object<'_>, line: &Line) -> u64 {
    let whole = |p: &Path| std::path::absolute(p).unwrap_or_else(|_| p.to_path_buf());
    // The default hasher has fixed keys.
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    (whole(object.source), whole(&object.asked), &line.flags).hash(&mut hasher);
    hasher.finish()
}

/// Names in the file of dependencies: the object that is made is not the one that is asked for.
fn depends(line: &Line, object: &Object<'_>, command: &mut Command) {
    if line.last(|f| f == "-MD" || f == "-MMD").is_none() {
        return;
    }
    if line.last(|f| f.starts_with("-MF")).is_none() {
        command.arg("-MF").arg(object.asked.with_extension("d"));
    }
    if line.last(|f| f.starts_with("-MT") || f.starts_with("-MQ")).is_none() {
        command.arg("-MT").arg(&object.asked);
    }
}

/// The files of coverage, where Clang has them: beside the object that is asked for, or beside the program, whose name is the first part.
fn coverage(line: &Line, object: &Object<'_>, command: &mut Command) {
    if line.last(|f| ["--coverage", "-coverage", "-ftest-coverage", "-fprofile-arcs"].contains(&f)).is_none() {
        return;
    }
    let mut files = object.asked.with_extension("");
    if object.file != object.asked {
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

Stands before a C++ compiler (CMake: revamp_add_kernels). Where the arguments compile a C++ source (-c) that launches C++ AMP
kernels, Clang compiles it and the object holds the kernels as SPIR-V; everything else is run as it is, so are sources without
kernels. --only: just these sources. --launcher: what stands before COMPILER where that runs (ccache). COMPILER may be GCC: its
objects and these link together.

-famp-strict           refuses in kernels what C++ AMP does not have, also where revamp has it (char, goto, ...), for sources
                       that MSVC compiles too
-famp-bounds=MODE      accesses outside of arrays and array_views: off (undefined), zero (reads give 0, writes do nothing) or
                       report (the launch fails and names the line); without it report at -O0, else off
-famp-report           says at lines of the program what became of each kernel, as Clang's -Rpass does
-famp-jobs=N           compiles the kernels of a source in up to N places at a time; without it where processors are idle
--pass NAME FILE.ll    prints a module of LLVM IR after a pass of the compiler

Needs Clang 22 and libLLVM of the same LLVM: the program that the environment variable REVAMP_CLANG names, else clang++-22, else clang++.
REVAMP_KERNEL_DUMP=FOLDER keeps, of each source, the LLVM IR (.ll, .opt.ll) and each kernel (.N.spv, .N.spvasm).
";

const CXX: &str = "\
usage: revamp-c++ ARGUMENTS...

A C++ compiler for programs that use C++ AMP: takes Clang's arguments, finds the headers and the library automatically,
and puts the kernels into the program as SPIR-V:

    revamp-c++ -O2 prog.cpp -o prog

-famp-strict           refuses in kernels what C++ AMP does not have, also where revamp has it (char, goto, ...), for sources
                       that MSVC compiles too
-famp-bounds=MODE      accesses outside of arrays and array_views: off (undefined), zero (reads give 0, writes do nothing) or
                       report (the launch fails and names the line); without it report at -O0, else off
-famp-report           says at lines of the program what became of each kernel, as Clang's -Rpass does
-famp-jobs=N           compiles the kernels of a source in up to N places at a time; without it where processors are idle

Needs Clang 22 and libLLVM of the same LLVM: the program that the environment variable REVAMP_CLANG names, else clang++-22, else clang++.
REVAMP_KERNEL_DUMP=FOLDER keeps, of each source, the LLVM IR (.ll, .opt.ll) and each kernel (.N.spv, .N.spvasm).
";
