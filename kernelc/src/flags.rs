//! The command line of a compiler: what it does, and which of its flags matter to which pass.

use crate::amp_warnings::{self, AmpWarning};
use crate::bounds_option::Bounds;
use crate::system::name_of;
use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// What a command line asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// A program, or a library.
    #[default]
    Link,
    /// `-c`: objects.
    Compile,
    /// Something that is the compiler's own: preprocess, check, print, make assembly.
    Other,
}

/// What is compiled or linked, in its place on the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The next of [`Line::sources`].
    Source,
    /// What only the linker reads: an object or a library.
    Linked(OsString),
    /// A flag of the linker, or a part of one.
    Flag(OsString),
    /// A file that the compiler itself makes an object of (C, assembly), and the language that `-x` says.
    Compiled(OsString, Option<OsString>),
}

/// What Clang makes a precompiled header of.
const HEADERS: [&str; 7] = ["h", "hh", "H", "hp", "hpp", "hxx", "h++"];

impl Input {
    /// It becomes a precompiled header.
    pub fn is_header(&self) -> bool {
        let Input::Compiled(name, language) = self else { return false };
        match language.as_ref().map(|l| l.to_string_lossy()) {
            Some(language) => language.ends_with("-header"),
            None => Path::new(name).extension().and_then(OsStr::to_str).is_some_and(|e| HEADERS.contains(&e)),
        }
    }
}

/// A command line, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// C++ sources.
    pub sources: Vec<PathBuf>,
    /// What is compiled or linked, in order.
    pub inputs: Vec<Input>,
    /// Flags, each with its value.
    pub flags: Vec<Vec<OsString>>,
    /// `-o`.
    pub output: Option<PathBuf>,
    /// What it does.
    pub task: Task,
    /// The language of C++ sources where no flag says it.
    pub standard: Option<&'static str>,
    /// It writes assembly or LLVM IR, which hold no kernels.
    pub assembly: bool,
    /// `-famp-strict`: what C++ AMP does not have is refused in kernels, also where revamp has it.
    pub strict: bool,
    /// `-famp-report`: says what became of kernels.
    pub report: bool,
    /// `-fsyntax-only`: sources are checked, and nothing is made of them.
    pub checks: bool,
    /// Why the line makes no sense: a flag without its value.
    pub wrong: Option<String>,
    /// Warnings of ours that are turned on or off, in order.
    pub amp_warnings: Vec<(AmpWarning, bool)>,
    /// `-famp-jobs=`: how many parts of the kernels are compiled at a time.
    pub jobs: Option<NonZero<usize>>,
    /// `-famp-bounds=`.
    pub bounds: Option<Bounds>,
}

/// What becomes of accesses outside of arrays and array_views where no flag says it. At -O0 they are reported.
pub const DEFAULT_BOUNDS: Bounds = Bounds::Off;

/// What flags of ours begin with, which compilers do not know.
pub const OWN: &str = "-famp-";

/// True of a flag of ours.
pub fn is_own(argument: &OsStr) -> bool {
    [OWN, "-Wamp-", "-Wno-amp-"].iter().any(|begin| argument.as_encoded_bytes().starts_with(begin.as_bytes()))
}

/// The mode of bounds of that name.
fn bounds_named(name: &str) -> Result<Bounds, String> {
    match name {
        "off" => Ok(Bounds::Off),
        "zero" => Ok(Bounds::Zero),
        "report" => Ok(Bounds::Report),
        other => Err(format!("-famp-bounds={other}: unknown mode; use off, zero or report")),
    }
}

fn counts(flag: &str) -> bool {
    ["-fprofile", "-ftest-coverage", "--coverage", "-fcoverage"].iter().any(|begin| flag.starts_with(begin))
}

/// Words for ways to call a function, of which devices have none.
const CONVENTIONS: [&str; 10] = [
    "-U__cdecl",
    "-D__cdecl=",
    "-U__stdcall",
    "-D__stdcall=",
    "-U__fastcall",
    "-D__fastcall=",
    "-U__thiscall",
    "-D__thiscall=",
    "-U__vectorcall",
    "-D__vectorcall=",
];

/// Functions that MinGW's headers define in `<windows.h>` and `<intrin.h>` unless the compiler has them: in the passes for
/// kernels Clang does not say that it has the host's, and refuses to have them defined. With these they are only declared.
const INTRINSICS: [&str; 24] = [
    "-D__INTRINSIC_DEFINED__BitScanForward",
    "-D__INTRINSIC_DEFINED__BitScanForward64",
    "-D__INTRINSIC_DEFINED__BitScanReverse",
    "-D__INTRINSIC_DEFINED__BitScanReverse64",
    "-D__INTRINSIC_DEFINED__InterlockedAnd64",
    "-D__INTRINSIC_DEFINED__InterlockedDecrement64",
    "-D__INTRINSIC_DEFINED__InterlockedExchange64",
    "-D__INTRINSIC_DEFINED__InterlockedExchangeAdd64",
    "-D__INTRINSIC_DEFINED__InterlockedIncrement64",
    "-D__INTRINSIC_DEFINED__InterlockedOr64",
    "-D__INTRINSIC_DEFINED__InterlockedXor64",
    "-D__INTRINSIC_DEFINED___cpuid",
    "-D__INTRINSIC_DEFINED___cpuidex",
    "-D__INTRINSIC_DEFINED___faststorefence",
    "-D__INTRINSIC_DEFINED___int2c",
    "-D__INTRINSIC_DEFINED___readgsbyte",
    "-D__INTRINSIC_DEFINED___readgsdword",
    "-D__INTRINSIC_DEFINED___readgsqword",
    "-D__INTRINSIC_DEFINED___readgsword",
    "-D__INTRINSIC_DEFINED___shiftleft128",
    "-D__INTRINSIC_DEFINED___shiftright128",
    "-D__INTRINSIC_DEFINED___stosb",
    "-D__INTRINSIC_DEFINED__mul128",
    "-D__INTRINSIC_DEFINED__umul128",
];

/// The systems of native kernels, as Clang has them.
const LINUX: &str = "x86_64-pc-linux-gnu";
const LINUX_AARCH64: &str = "aarch64-unknown-linux-gnu";
const WINDOWS: &str = "x86_64-w64-windows-gnu";
/// That of the compiler itself.
const OWN_SYSTEM: Option<&str> = match () {
    () if cfg!(all(target_arch = "x86_64", target_os = "linux")) => Some(LINUX),
    () if cfg!(all(target_arch = "aarch64", target_os = "linux")) => Some(LINUX_AARCH64),
    () => None,
};

/// What says how exact floats must be, both ways: of several the last one counts.
fn is_of_maths(flag: &str) -> bool {
    let of = flag.strip_prefix("-fno-").or_else(|| flag.strip_prefix("-f")).unwrap_or_default();
    const NAMES: [&str; 11] = [
        "fast-math",
        "math-errno",
        "finite-math-only",
        "signed-zeros",
        "associative-math",
        "reciprocal-math",
        "unsafe-math-optimizations",
        "approx-func",
        "honor-nans",
        "honor-infinities",
        "rounding-math",
    ];
    NAMES.contains(&of) || flag.starts_with("-ffp-") || flag.starts_with("-Ofast")
}

/// What flags of all passes begin with: they say how a source is read, how its classes are laid out, or what it may assume.
const OF_ALL_PASSES: [&str; 60] = [
    "-D",
    "-U",
    "-I",
    "-F",
    "-isys",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
    "-iprefix",
    "-iwithprefix",
    "-iwithsysroot",
    "-iframework",
    "-imultilib",
    "-cxx-isystem",
    "-stdlib",
    "-std=",
    "--target",
    "-target",
    "--sysroot",
    "--gcc-install-dir",
    "--gcc-toolchain",
    "-resource-dir",
    "-working-directory",
    "-nostdinc",
    "-nostdlibinc",
    "-nobuiltininc",
    "-undef",
    "-ansi",
    "-trigraphs",
    "-B",
    "-pthread",
    "-ftemplate-",
    "-fconstexpr",
    "-fbracket-depth",
    "-foperator-arrow-depth",
    "-fmacro-prefix-map",
    "-ffile-prefix-map",
    "-finput-charset",
    "-fexec-charset",
    "-fclang-abi-compat",
    "-faligned-new",
    "-ftrivial-auto-var-init",
    "-fno-operator-names",
    "-fno-elide-constructors",
    "-fno-rtti",
    "-frtti",
    "-mms-bitfields",
    "-mno-ms-bitfields",
    "-fcx-",
    "-fno-cx-",
    "-fcomplex-arithmetic",
    "-fdenormal-fp-math",
    "-fallow-editor-placeholders",
    "-fborland-extensions",
    "-fexperimental-new-constant-interpreter",
    "-fstrict-flex-arrays",
    "-fpascal-strings",
    "-fraw-string-literals",
    "-fdefine-target-os-macros",
];

/// The same, which have a form with `-fno-`.
const BOTH_WAYS: [&str; 27] = [
    "access-control",
    "aligned-allocation",
    "assume-sane-operator-new",
    "blocks",
    "char8_t",
    "coroutines",
    "cxx-exceptions",
    "declspec",
    "delayed-template-parsing",
    "delete-null-pointer-checks",
    "digraphs",
    "dollars-in-identifiers",
    "exceptions",
    "gnu-keywords",
    "lax-vector-conversions",
    // Of Visual C++, what is of the language.
    "ms-compatibility",
    "ms-extensions",
    "ms-volatile",
    "pack-struct",
    "short-enums",
    "short-wchar",
    "signed-char",
    "sized-deallocation",
    "strict-aliasing",
    "strict-overflow",
    "unsigned-char",
    "wrapv",
];

/// True of flags that reach all passes.
fn is_of_all_passes(flag: &[OsString]) -> bool {
    let words: Vec<_> = flag.iter().map(|word| word.to_string_lossy()).collect();
    // `-Xclang` is followed by one argument of the compiler behind the driver.
    let named = if words[0] == "-Xclang" { words.last() } else { words.first() };
    let named = named.map_or("", |word| word.as_ref());
    let of = named.strip_prefix("-fno-").or_else(|| named.strip_prefix("-f")).unwrap_or_default();
    is_of_maths(named)
        || OF_ALL_PASSES.iter().any(|begin| named.starts_with(begin)) && !named.starts_with("-target-")
        || BOTH_WAYS
            .iter()
            .any(|name| of.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', '-'])))
}

/// Options that do not apply, and why: what their names begin with.
const WITHOUT_EFFECT: [(&[&str], &str); 5] = [
    (&["-flto", "-ffat-lto-objects"], "objects with kernels do not support link-time optimisation"),
    (&["-ftrapv"], "applies to host code only: in kernels, signed overflow wraps around or is undefined"),
    (&["-fplugin", "-load"], "the plugin sees only host code"),
    (
        &["-fmodules", "-fcxx-modules", "-fmodule-", "-fprebuilt-module"],
        "applies to host code only: kernels include headers as text",
    ),
    (
        &["-malign-double", "-mlong-double", "-mabi="],
        "applies to host code only: kernels use the default layout of classes",
    ),
];

/// Flags whose value is the next argument.
const SEPARATE: [&str; 58] = [
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-A",
    "-F",
    "-e",
    "-rpath",
    "-target",
    "-arch",
    "-isystem",
    "-isystem-after",
    "-iquote",
    "-idirafter",
    "-include",
    "-include-pch",
    "-imacros",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-iframework",
    "-isysroot",
    "-imultilib",
    "-cxx-isystem",
    "-stdlib++-isystem",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xanalyzer",
    "-Xclang",
    "-Xclangas",
    "-Xoffload-linker",
    "-Xopenmp-target",
    "-Xthinlto",
    "-Xcuda-fatbinary",
    "-Xcuda-ptxas",
    "-Xarch_host",
    "-Xarch_device",
    "-mllvm",
    "-framework",
    "-dumpdir",
    "-working-directory",
    "-resource-dir",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "--param",
    "--sysroot",
    "--config",
    "-G",
];
/// Flags of the linker.
const LINKER: [&str; 25] = [
    "-l",
    "-L",
    "-Wl,",
    "-Xlinker",
    "-T",
    "-u",
    "-z",
    "-shared",
    "-static",
    "-rdynamic",
    "-nostdlib",
    "-s",
    "-pie",
    "-no-pie",
    "-nodefaultlibs",
    "-nostartfiles",
    "-fuse-ld=",
    "--ld-path=",
    "-rpath",
    "-rtlib=",
    "--rtlib=",
    "-unwindlib=",
    "--unwindlib=",
    "-framework",
    "-e",
];
const EXTENSIONS: [&str; 10] = ["cpp", "cc", "cxx", "C", "c++", "cp", "CPP", "CXX", "CC", "C++"];

fn is_source(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|e| EXTENSIONS.contains(&e))
}

/// What Clang makes an object of, by its name. All else it gives to the linker.
fn is_compiled(path: &Path) -> bool {
    const NAMES: [&str; 23] = [
        "c", "i", "ii", "iim", "m", "mi", "mm", "M", "s", "S", "asm", "cu", "cui", "hip", "hipi", "cl", "cppm", "ccm",
        "cxxm", "c++m", "ll", "bc", "ast",
    ];
    path.extension().and_then(OsStr::to_str).is_some_and(|e| NAMES.contains(&e) || HEADERS.contains(&e))
}

/// Flags by which a compiler does something else than objects and programs.
fn is_other(flag: &str) -> bool {
    const FLAGS: [&str; 22] = [
        "-E",
        "-S",
        "-M",
        "-MM",
        "-emit-llvm",
        "-emit-ast",
        "-emit-interface-stubs",
        "-extract-api",
        "-verify-pch",
        "-module-file-info",
        "--version",
        "--help",
        "--help-hidden",
        "-help",
        "-###",
        "-dumpversion",
        "-dumpmachine",
        "--precompile",
        "--analyze",
        "-cc1",
        "-cc1as",
        "--preprocess",
    ];
    FLAGS.contains(&flag) || flag == "--assemble" || flag.starts_with("-print") || flag.starts_with("--print")
}

/// Long names of options, and the short ones that all else here knows.
const LONG_NAMES: [(&str, &str); 9] = [
    ("--std", "-std"),
    ("--stdlib", "-stdlib"),
    ("--define-macro", "-D"),
    ("--undefine-macro", "-U"),
    ("--include-directory", "-I"),
    ("--include-directory-after", "-idirafter"),
    ("--include", "-include"),
    ("--imacros", "-imacros"),
    ("--no-standard-includes", "-nostdinc"),
];

/// An argument by its short name: `--std=c++20` is `-std=c++20`, `--define-macro=X` is `-DX`.
fn by_short_name(argument: OsString) -> OsString {
    let Some(text) = argument.to_str() else { return argument };
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let Some((_, short)) = LONG_NAMES.iter().find(|(long, _)| *long == name) else { return argument };
    let sign = if short.starts_with("-std") { "=" } else { "" };
    value.map_or_else(|| (*short).into(), |value| format!("{short}{sign}{value}").into())
}

/// The preprocessor's options that one argument holds: `-Wp,-DX,-UY` is `-DX -UY`, and names of dependencies follow their option.
fn of_preprocessor(parts: &str) -> Vec<Vec<OsString>> {
    let mut flags = Vec::new();
    let mut parts = parts.split(',');
    while let Some(part) = parts.next() {
        match part {
            "-MD" | "-MMD" => {
                flags.push(vec![part.into()]);
                flags.extend(parts.next().map(|file| vec!["-MF".into(), file.into()]));
            }
            _ if SEPARATE.contains(&part) => {
                flags.push(std::iter::once(part).chain(parts.next()).map(OsString::from).collect());
            }
            _ => flags.push(vec![part.into()]),
        }
    }
    flags
}

/// Takes a command line apart, without the compiler itself.
pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Line {
    let mut line = Line::default();
    let mut rest = arguments.into_iter().map(by_short_name);
    let mut language: Option<OsString> = None;
    let mut task = Task::Link;
    let mut verbose = false;
    let behind =
        |argument: &OsStr, start: &str| argument.as_encoded_bytes().strip_prefix(start.as_bytes()).map(name_of);
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy().into_owned();
        let mut value = |line: &mut Line| {
            let next = rest.next();
            if next.is_none() {
                line.wrong = Some(format!("the value of {text} is missing"));
            }
            next
        };
        match text.as_str() {
            "--" => {
                for input in rest.by_ref() {
                    let plain = if input.as_encoded_bytes().starts_with(b"-") {
                        Path::new(".").join(&input).into()
                    } else {
                        input
                    };
                    line.input(plain, language.as_deref());
                }
            }
            "-c" | "--compile" => task = Task::Compile,
            "-o" | "--output" => line.output = value(&mut line).map(PathBuf::from),
            "-x" | "--language" => language = value(&mut line),
            "-famp-strict" => line.strict = true,
            "-famp-report" => line.report = true,
            "-fsyntax-only" => line.checks = true,
            "-v" => {
                verbose = true;
                line.flags.push(vec![argument]);
            }
            _ if text.starts_with("-famp-bounds=") => match bounds_named(&text["-famp-bounds=".len()..]) {
                Ok(bounds) => line.bounds = Some(bounds),
                Err(wrong) => line.wrong = Some(wrong),
            },
            _ if text.starts_with("-famp-jobs=") => match text["-famp-jobs=".len()..].parse() {
                Ok(jobs) => line.jobs = Some(jobs),
                Err(_) => line.wrong = Some(format!("{text}: the number of jobs is a number above 0")),
            },
            flag if is_own(OsStr::new(flag)) => match amp_warnings::named(flag) {
                Some(warning) => line.amp_warnings.push(warning),
                None => {
                    line.wrong = Some(format!(
                        "unknown option {flag}; the options are -famp-strict, -famp-bounds=off|zero|report, \
                         -famp-report, -famp-jobs=N, -W[no-]amp-read-only and -W[no-]amp-unsynchronized"
                    ));
                }
            },
            flag if is_other(flag) => {
                line.task = Task::Other;
                line.assembly |= ["-S", "--assemble", "-emit-llvm"].contains(&flag);
                line.flags.push(vec![argument]);
            }
            _ if text.starts_with("-x") => language = behind(&argument, "-x"),
            _ if text.starts_with("--language=") => language = behind(&argument, "--language="),
            _ if text.starts_with("--output=") => line.output = behind(&argument, "--output=").map(PathBuf::from),
            _ if text.starts_with("-o") && !text.starts_with("-objc") => {
                line.output = behind(&argument, "-o").map(PathBuf::from);
            }
            _ if text.starts_with("-Wp,") => line.flags.extend(of_preprocessor(&text["-Wp,".len()..])),
            "-Xpreprocessor" => {
                let flag = value(&mut line);
                line.flags.extend(flag.map(|flag| vec![flag]));
            }
            _ if SEPARATE.contains(&text.as_str()) => {
                let flag: Vec<OsString> = std::iter::once(argument.clone()).chain(value(&mut line)).collect();
                // Libraries have their place among the objects.
                if text == "-l" || text == "-Xlinker" {
                    line.inputs.extend(flag.into_iter().map(Input::Flag));
                } else {
                    line.flags.push(flag);
                }
            }
            _ if text.starts_with("-l") || text.starts_with("-Wl,") => line.inputs.push(Input::Flag(argument)),
            _ if text.len() > 1 && text.starts_with('-') => line.flags.push(vec![argument]),
            _ => line.input(argument, language.as_deref()),
        }
    }
    if line.task != Task::Other {
        // Alone it asks what the compiler is.
        line.task = match task {
            _ if verbose && line.inputs.is_empty() => Task::Other,
            // Clang checks what has no kernels.
            _ if line.checks && (line.sources.is_empty() || line.reads_input()) => Task::Other,
            _ if line.checks => Task::Compile,
            task => task,
        };
    }
    if !line.sources.is_empty() {
        line.flags = with_headers_as_text(line.flags);
    }
    line
}

/// Names the headers that a precompiled one was made of in its place: it is one of C++ for one compiler, and fits none of our passes. CMake names
/// both, `-Xclang -include-pch -Xclang FILE -Xclang -include -Xclang HEADER`.
fn with_headers_as_text(flags: Vec<Vec<OsString>>) -> Vec<Vec<OsString>> {
    let mut made: Vec<Vec<OsString>> = Vec::new();
    let mut rest = flags.into_iter().peekable();
    while let Some(mut flag) = rest.next() {
        let to_clang = flag[0] == "-Xclang";
        let name = flag.get(usize::from(to_clang)).cloned().unwrap_or_default();
        if to_clang && (name == "-include" || name == "-include-pch") {
            let value = rest.next_if(|next| next[0] == "-Xclang").and_then(|next| next.into_iter().nth(1));
            flag = std::iter::once(name.clone()).chain(value).collect();
        }
        if name == "-include-pch" {
            let named = rest.peek().is_some_and(|next| next.iter().any(|word| word == "-include"));
            let header = flag.get(1).map(|file| Path::new(file).with_extension(""));
            match header.filter(|header| !named && header.is_file()) {
                Some(header) => flag = vec!["-include".into(), header.into()],
                None => continue,
            }
        }
        made.push(flag);
    }
    made
}

impl Line {
    fn input(&mut self, argument: OsString, language: Option<&OsStr>) {
        let path = PathBuf::from(&argument);
        let language = language.filter(|l| *l != "none");
        if language.map_or_else(|| is_source(&path), |l| l == "c++") {
            self.sources.push(path);
            self.inputs.push(Input::Source);
        } else if language.is_some() || is_compiled(&path) {
            self.inputs.push(Input::Compiled(argument, language.map(OsStr::to_os_string)));
        } else {
            self.inputs.push(Input::Linked(argument));
        }
    }

    /// A file that is to be read and is not there.
    pub fn missing(&self) -> Option<PathBuf> {
        let named = self.inputs.iter().filter_map(|input| match input {
            Input::Linked(file) | Input::Compiled(file, _) => Some(PathBuf::from(file)),
            Input::Source | Input::Flag(_) => None,
        });
        self.sources.iter().cloned().chain(named).find(|file| !file.exists() && file != Path::new("-"))
    }

    /// True if all that is compiled is C++.
    pub fn has_only_sources(&self) -> bool {
        self.compiled().next().is_none()
    }

    /// What the compiler itself makes an object of.
    pub fn compiled(&self) -> impl Iterator<Item = &Path> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Compiled(file, _) => Some(Path::new(file)),
            Input::Source | Input::Linked(_) | Input::Flag(_) => None,
        })
    }

    /// Standard input is named.
    pub fn reads_input(&self) -> bool {
        let named = |input: &Input| matches!(input, Input::Linked(file) | Input::Compiled(file, _) if file == "-");
        self.sources.iter().any(|source| source == Path::new("-")) || self.inputs.iter().any(named)
    }

    fn flags_where(&self, keep: impl Fn(&str) -> bool) -> Vec<OsString> {
        self.flags.iter().filter(|f| keep(&f[0].to_string_lossy())).flatten().cloned().collect()
    }

    /// Whether a flag is given, the last of several deciding.
    pub fn last(&self, is: impl Fn(&str) -> bool) -> Option<String> {
        self.flags.iter().rev().map(|f| f[0].to_string_lossy().into_owned()).find(|f| is(f))
    }

    /// The system that is compiled for, if a flag names it.
    pub fn target(&self) -> Option<String> {
        self.flags.iter().rev().find_map(|flag| match flag.as_slice() {
            [one] => one.to_string_lossy().strip_prefix("--target=").map(str::to_owned),
            [name, value] if name == "-target" || name == "--target" => Some(value.to_string_lossy().into_owned()),
            _ => None,
        })
    }

    /// An option that makes pointers of 32 bits.
    pub fn narrow_pointers(&self) -> Option<String> {
        self.last(|f| ["-m16", "-m32", "-mx32", "-m64"].contains(&f)).filter(|f| f != "-m64")
    }

    /// It is compiled for Windows.
    pub fn is_for_windows(&self) -> bool {
        self.target().map_or(cfg!(windows), |target| target.contains("windows") || target.contains("mingw"))
    }

    /// GCC's runtime for Windows keeps a thread's variables, std::call_once's among them, where only code that says so finds them.
    fn emulates_thread_variables(&self) -> bool {
        self.is_for_windows()
            && self.target().is_some_and(|target| target.contains("gnu") || target.contains("mingw"))
            && self.last(|f| f.starts_with("-stdlib=")).is_none_or(|library| library == "-stdlib=libstdc++")
    }

    /// The system that native kernels are made for, if there are any for what is compiled for: Linux on x86-64 and aarch64,
    /// and x86-64 with GNU's tools for Windows.
    pub fn native_target(&self) -> Option<&'static str> {
        let Some(target) = self.target() else {
            return OWN_SYSTEM;
        };
        match target {
            _ if target.starts_with("aarch64") && target.contains("linux") => Some(LINUX_AARCH64),
            _ if !target.starts_with("x86_64") => None,
            _ if target.contains("linux") => Some(LINUX),
            _ if self.is_for_windows() && !target.contains("msvc") => Some(WINDOWS),
            _ => None,
        }
    }

    /// A warning of ours is on.
    pub fn warns_of(&self, warning: AmpWarning) -> bool {
        let chosen = self.amp_warnings.iter().rev().find(|(one, _)| *one == warning).is_some_and(|(_, on)| *on);
        chosen && self.last(|f| f == "-w").is_none()
    }

    /// What becomes of accesses outside of arrays and array_views.
    pub fn bounds(&self) -> Bounds {
        let optimised = self.last(|f| f.starts_with("-O")).is_some_and(|f| f != "-O0");
        self.bounds.unwrap_or(if optimised { DEFAULT_BOUNDS } else { Bounds::Report })
    }

    /// Whether to say what became of kernels. Builds that cannot pass options have a variable.
    pub fn reports(&self) -> bool {
        self.report || std::env::var_os("REVAMP_KERNEL_REPORT").is_some_and(|value| value == "1")
    }

    /// For the device: what says how the source is read, and how its numbers behave.
    pub fn for_device(&self) -> Vec<OsString> {
        let flags = self.flags.iter().filter(|flag| is_of_all_passes(flag)).flatten().cloned();
        let flags: Vec<OsString> = flags.collect();
        let windows = self.is_for_windows();
        let words = CONVENTIONS.into_iter().chain(INTRINSICS).filter(|_| windows);
        self.standard.into_iter().chain(words).map(OsString::from).chain(flags).collect()
    }

    /// Of the options that do not apply to kernels or not at all, once for each reason: the option, and the reason.
    pub fn without_effect(&self) -> Vec<(String, &'static str)> {
        let named = |flag: &Vec<OsString>| {
            flag[usize::from(flag[0] == "-Xclang" && flag.len() > 1)].to_string_lossy().into_owned()
        };
        let names: Vec<String> = self.flags.iter().map(named).collect();
        let begins = |all: &[&str], name: &&String| all.iter().any(|begin| name.starts_with(begin));
        let first = |(all, why): &(&[&str], &'static str)| {
            names.iter().find(|name| begins(all, name)).map(|n| (n.clone(), *why))
        };
        WITHOUT_EFFECT.iter().filter_map(first).collect()
    }

    /// For the host's object. `foreign`: they are meant for GCC, and what Clang does not know is left out.
    pub fn for_host(&self, foreign: bool) -> Vec<OsString> {
        self.for_host_where(foreign, |_| true)
    }

    /// For kernels that run on host threads one by one: the host's, without files of dependencies and what counts how often lines run.
    pub fn on_host(&self, foreign: bool) -> Vec<OsString> {
        let depends = |f: &str| f.starts_with("-M") || f.starts_with("-Wp,-M");
        self.for_host_where(foreign, |f| !depends(f) && !counts(f))
    }

    /// The program counts how often its lines run.
    pub fn counts(&self) -> bool {
        self.last(counts).is_some()
    }

    fn for_host_where(&self, foreign: bool, keep: impl Fn(&str) -> bool) -> Vec<OsString> {
        let mut flags = self.flags_where(|f| {
            let begins = |all: &[&str]| all.iter().any(|b| f.starts_with(b));
            // The two are how others begin.
            let links = LINKER.iter().any(|l| if ["-s", "-e"].contains(l) { f == *l } else { f.starts_with(l) })
                && !["-undef", "-nostdlibinc"].contains(&f);
            // Objects of link-time optimisation are not of one format.
            let lto =
                begins(&["-flto", "-fno-lto", "-ffat-lto-objects", "-fno-fat-lto-objects", "-fuse-linker-plugin"]);
            let gcc = foreign
                && begins(&[
                    "-fno-gnu-unique",
                    "-fgnu-unique",
                    "-fmax-errors",
                    "-fanalyzer",
                    "-fno-analyzer",
                    "-fconcepts",
                    "-fmodules-ts",
                    "-fmodule-mapper",
                    "-fdeps-",
                    "-fimplicit-constexpr",
                    "-fno-implicit-constexpr",
                    "-fipa",
                    "-fno-ipa",
                    "-ftree",
                    "-fno-tree",
                    "-fgcse",
                    "-fno-gcse",
                    "-fgraphite",
                    "-floop-",
                    "-fprofile-partial",
                    "-fsched",
                    "-fno-sched",
                    "-freorder",
                    "-fno-reorder",
                    "-fvect-cost-model",
                    "-fsimd-cost-model",
                    "-fweb",
                    "-fno-web",
                    "-fno-extended-identifiers",
                    "-fextended-identifiers",
                    "-fcompare-debug",
                    "-fdump-",
                    "-fopt-info",
                    "-fno-var-tracking",
                    "-fvar-tracking",
                    "-fnon-call-exceptions",
                    "-fno-plt-unwind",
                    "-fcallgraph",
                    "-fstack-usage",
                    "-fconserve-stack",
                    "-fpermissive",
                    "-fcontracts",
                    "-fharden",
                    "-fhardened",
                    "-Wa,--noexecstack",
                    "-mno-direct-extern-access",
                    "-fno-nonansi",
                    "-fnew-inheriting",
                    "-fext-numeric",
                    "-fno-ext-numeric",
                    "-fno-enforce-eh-specs",
                    "-fcommon-",
                    "-fdelete-null",
                    "-fisolate",
                    "-fpartial-inlining",
                    "-fno-partial-inlining",
                    "-fira",
                    "-fno-ira",
                    "-flra",
                    "-flive-range",
                    "-fpredictive",
                    "-fpeel-loops",
                    "-fno-peel-loops",
                    "-fsplit-loops",
                    "-funswitch-loops",
                    "-fno-printf-return-value",
                    "-fbit-tests",
                ]);
            !(links || lto || gcc) && keep(f)
        });
        flags.splice(0..0, self.standard.map(OsString::from));
        if self.emulates_thread_variables() {
            flags.insert(0, "-femulated-tls".into());
        }
        if self.native_target() == Some(WINDOWS) {
            // When objects are joined, GNU's linker takes that section for one of the program.
            flags.insert(0, "-fno-addrsig".into());
        }
        if foreign {
            // Names of warnings that only GCC has.
            flags.splice(
                0..0,
                ["-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument"].map(OsString::from),
            );
        }
        flags
    }

    /// Flags for the link. Those of the preprocessor go with them where the same call compiles something too.
    pub fn for_link(&self) -> Vec<OsString> {
        let compiles = self.inputs.iter().any(|input| matches!(input, Input::Compiled(..)));
        let words = |f: &str| f.starts_with("-D") || f.starts_with("-I") || f == "-include";
        self.flags_where(|f| compiles || !f.starts_with("-M") && !words(f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        read(text.split_whitespace().map(OsString::from))
    }
    fn joined(flags: &[OsString]) -> String {
        flags.join(OsStr::new(" ")).to_string_lossy().into_owned()
    }

    #[test]
    fn precompiled_headers_are_read_as_text() {
        let read = |text: &str| joined(&line(text).for_host(false));
        let cmakes = "-Xclang -include-pch -Xclang /b/pch.hxx.pch -Xclang -include -Xclang /b/pch.hxx -c a.cpp";
        assert_eq!(read(cmakes), "-include /b/pch.hxx");
        let header = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(read(&format!("-include-pch {header}.pch -O2 -c a.cpp")), format!("-include {header} -O2"));
        assert_eq!(read("-Xclang -fno-pch-timestamp -include a.h -c a.cpp"), "-Xclang -fno-pch-timestamp -include a.h");
        // What makes one stays.
        assert!(
            read("-Xclang -emit-pch -Xclang -include -Xclang a.hxx -x c++-header -c a.cxx").contains("-Xclang a.hxx")
        );
    }

    #[test]
    fn the_system_that_is_compiled_for() {
        for (text, target, windows, native) in [
            ("-c a.cpp", None, cfg!(windows), OWN_SYSTEM),
            ("--target=x86_64-w64-windows-gnu -c a.cpp", Some("x86_64-w64-windows-gnu"), true, Some(WINDOWS)),
            ("-target x86_64-w64-mingw32 -c a.cpp", Some("x86_64-w64-mingw32"), true, Some(WINDOWS)),
            ("-target x --target=aarch64-linux-gnu -c a.cpp", Some("aarch64-linux-gnu"), false, Some(LINUX_AARCH64)),
            ("--target=arm64-apple-darwin -c a.cpp", Some("arm64-apple-darwin"), false, None),
            ("--target=x86_64-unknown-linux-gnu -c a.cpp", Some("x86_64-unknown-linux-gnu"), false, Some(LINUX)),
        ] {
            let l = line(text);
            assert_eq!(
                (l.target().as_deref(), l.is_for_windows(), l.native_target()),
                (target, windows, native),
                "{text}"
            );
            let device = joined(&l.for_device());
            assert_eq!(device.contains("-D__cdecl="), windows, "{device}");
            assert_eq!(device.contains("-D__INTRINSIC_DEFINED___cpuid "), windows, "{device}");
            assert_eq!(device.contains("-target"), target.is_some(), "{device}");
            let of_gcc = windows && target.is_some();
            assert_eq!(joined(&l.for_host(false)).contains("-femulated-tls"), of_gcc, "{text}");
        }
        let of_llvm = line("--target=x86_64-w64-windows-gnu -stdlib=libc++ -c a.cpp");
        assert!(!joined(&of_llvm.for_host(false)).contains("-femulated-tls"));
    }

    #[test]
    fn a_compile_of_cmake() {
        let l = line(
            "-DX=1 -I inc -isystem /a -O3 -g -march=native -std=gnu++17 -fPIC -MD -MT a.o -MF a.d -o a.o -c a.cpp",
        );
        assert_eq!(l.task, Task::Compile);
        assert_eq!((l.sources, l.output), (vec!["a.cpp".into()], Some("a.o".into())));
        let l = line(
            "-DX=1 -I inc -isystem /a -O3 -g -march=native -std=gnu++17 -fPIC -MD -MT a.o -MF a.d -o a.o -c a.cpp",
        );
        assert_eq!(joined(&l.for_device()), "-DX=1 -I inc -isystem /a -std=gnu++17");
        assert_eq!(
            joined(&l.for_host(false)),
            "-DX=1 -I inc -isystem /a -O3 -g -march=native -std=gnu++17 -fPIC -MD -MT a.o -MF a.d"
        );
    }

    #[test]
    fn kernels_are_in_the_language_of_the_host() {
        let said =
            "-fdelayed-template-parsing -fms-compatibility -fms-compatibility-version=19 -fno-ms-extensions -fchar8_t";
        let l = line(&format!("-c a.cpp {said}"));
        assert_eq!((joined(&l.for_device()), joined(&l.for_host(false))), (said.into(), said.into()));
        let of_the_host = "-fms-runtime-lib=dll -fms-hotpatch -fms-omit-default-lib -fms-kernel";
        assert_eq!(joined(&line(&format!("-c a.cpp {of_the_host}")).for_device()), "");
    }

    /// Which passes an option reaches.
    #[derive(Debug, PartialEq)]
    enum Reach {
        All,
        /// Host code alone, as the manual says: it neither changes what a source means nor how classes are laid out.
        Host,
        /// Host code alone, or nothing; a message says so.
        Told,
    }

    #[test]
    fn each_option_reaches_all_passes_or_host_code_or_is_told() {
        let groups: [(Reach, &str); 3] = [
            (
                Reach::All,
                "-DX -D~X -UX -Ia -I~a -isystem~a -iquote~a -idirafter~a -isysroot~a --sysroot=a -iframework~a -Fa -iprefix~a -iwithprefix~a \
                 -cxx-isystem~a -stdlib++-isystem~a -include~a -imacros~a -nostdinc -nostdinc++ -nostdlibinc -nobuiltininc -undef -std=c++20 \
                 -stdlib=libc++ -ansi -trigraphs -pthread -Ba --gcc-toolchain=a -resource-dir~a -working-directory~a --target=x86_64-linux-gnu \
                 -target~a -fno-exceptions -fexceptions -fno-cxx-exceptions -fno-rtti -frtti -fshort-enums -fno-short-enums -fpack-struct \
                 -fpack-struct=4 -funsigned-char -fno-unsigned-char -fsigned-char -fno-signed-char -fshort-wchar -fwrapv -fno-wrapv \
                 -fstrict-overflow -fno-strict-overflow -fno-strict-aliasing -fno-delete-null-pointer-checks -fchar8_t -fno-char8_t \
                 -fno-operator-names -fno-access-control -fno-elide-constructors -fsized-deallocation -fno-aligned-allocation -faligned-new=8 \
                 -fdollars-in-identifiers -fno-gnu-keywords -fblocks -fcoroutines -fdeclspec -fms-extensions -fno-ms-extensions \
                 -fms-compatibility -fms-compatibility-version=19 -fms-volatile -fdelayed-template-parsing -fno-delayed-template-parsing \
                 -ftemplate-depth=99 -fconstexpr-depth=9 -fconstexpr-steps=9 -fbracket-depth=9 -fmacro-prefix-map=a=b -ffile-prefix-map=a=b \
                 -finput-charset=utf-8 -fexec-charset=utf-8 -fclang-abi-compat=19 -ftrivial-auto-var-init=zero -mms-bitfields -ffast-math \
                 -fno-fast-math -Ofast -ffinite-math-only -fno-signed-zeros -fassociative-math -freciprocal-math -funsafe-math-optimizations \
                 -fno-math-errno -fapprox-func -fno-honor-nans -ffp-contract=off -ffp-model=precise -fcx-limited-range -fcomplex-arithmetic=full \
                 -fdenormal-fp-math=ieee -Xclang~-fdeclspec -Xclang~-fno-signed-char",
            ),
            (
                Reach::Host,
                "-O0 -O1 -O2 -O3 -Os -Oz -Og -g -g0 -g1 -g3 -ggdb -gdwarf-4 -gz -gline-tables-only -Wall -Wextra -Werror -Wno-unused -pedantic \
                 -pedantic-errors -w -fdiagnostics-color -fsanitize=address -fno-sanitize=all -fsanitize-recover=all -fno-omit-frame-pointer \
                 -fstack-protector-strong -fcf-protection -fPIC -fpic -fPIE -fvisibility=hidden -fvisibility-inlines-hidden -ffunction-sections \
                 -fdata-sections -fno-plt -fno-semantic-interposition -fno-threadsafe-statics -funroll-loops -fvectorize -finline-functions \
                 -fno-inline -fno-builtin -fopenmp -pg --coverage -fprofile-arcs -ftest-coverage -fprofile-instr-generate -march=native -mtune=generic \
                 -mavx2 -mfma -mcmodel=large -mllvm~-x -MD -MMD -MF~a -MT~a -MQ~a -MP -MJ~a -pipe -Xassembler~a -fdebug-prefix-map=a=b \
                 -fno-ident -ftime-trace -fuse-cxa-atexit -fcommon -Xclang~-target-feature -ferror-limit=3 -Qunused-arguments",
            ),
            (
                Reach::Told,
                "-flto -flto=thin -ffat-lto-objects -ftrapv -fplugin=a.so -fplugin-arg-a-b -Xclang~-load -fmodules -fmodule-file=a \
                 -fprebuilt-module-path=a -malign-double -mlong-double-64 -mabi=a",
            ),
        ];
        for (expected, options) in groups {
            for option in options.split_whitespace() {
                let words = option.split('~').map(OsString::from).chain(["-c".into(), "a.cpp".into()]);
                let l = read(words);
                let written = option.replace('~', " ");
                let holds = |flags: &[OsString]| joined(flags).contains(&written);
                let reach = match (holds(&l.for_device()), holds(&l.for_host(false)), l.without_effect().len()) {
                    (true, true, 0) => Some(Reach::All),
                    (false, true, 0) => Some(Reach::Host),
                    (false, _, 1) => Some(Reach::Told),
                    _ => None,
                };
                assert_eq!(reach.as_ref(), Some(&expected), "{option}");
                assert_eq!((l.sources.len(), l.inputs.len()), (1, 1), "{option} takes or leaves a word");
            }
        }
    }

    #[test]
    fn other_spellings_of_the_same() {
        for (text, same) in [
            ("--std=c++20 --stdlib=libc++", "-std=c++20 -stdlib=libc++"),
            ("--define-macro=X=1 --undefine-macro=Y --define-macro Z", "-DX=1 -UY -D Z"),
            ("--include-directory=a --include-directory b --include=c", "-Ia -I b -includec"),
            ("-Wp,-DX=1,-UY -Wp,-MD,a.d -Xpreprocessor -DZ", "-DX=1 -UY -MD -MF a.d -DZ"),
            ("-Wp,-include,a", "-include a"),
        ] {
            assert_eq!(line(&format!("-c a.cpp {text}")).flags, line(&format!("-c a.cpp {same}")).flags, "{text}");
        }
    }

    #[test]
    fn kernels_have_all_that_is_said_of_maths() {
        let said =
            "-ffast-math -fno-associative-math -fno-reciprocal-math -fsigned-zeros -fmath-errno -ffp-contract=off";
        assert_eq!(joined(&line(&format!("-c a.cpp {said} -fno-gcse")).for_device()), said);
    }

    #[test]
    fn flags_of_gcc() {
        let l = line("-c a.cc -Wduplicated-cond -flto=auto -fno-gnu-unique -fmax-errors=3 -fvisibility=hidden");
        assert_eq!(
            joined(&l.for_host(true)),
            "-Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wduplicated-cond -fvisibility=hidden"
        );
        assert!(joined(&l.for_host(false)).contains("-fno-gnu-unique"));
    }

    #[test]
    fn what_is_linked_keeps_its_order() {
        let l = line("-O2 a.cpp b.o -lm c.cxx -Wl,-z,now -L. -oprog");
        let linked = |text: &str| Input::Linked(text.into());
        let flag = |text: &str| Input::Flag(text.into());
        assert_eq!(l.inputs, [Input::Source, linked("b.o"), flag("-lm"), Input::Source, flag("-Wl,-z,now")]);
        assert_eq!((l.sources.len(), l.output.clone()), (2, Some("prog".into())));
        assert_eq!(joined(&l.for_host(false)), "-O2");
        assert_eq!(joined(&l.for_link()), "-O2 -L.");
        let l = line("-O2 a.cpp -fuse-ld=lld --ld-path=/ld -rpath /x -e main -rtlib=libgcc -nodefaultlibs -s");
        assert_eq!(joined(&l.for_host(false)), "-O2");
        assert!(joined(&l.for_link()).contains("-fuse-ld=lld --ld-path=/ld -rpath /x -e main"));
    }

    #[test]
    fn the_language_is_what_is_said() {
        assert_eq!(line("-x c++ -c a.inc").sources.len(), 1);
        assert_eq!(line("-x c -c a.cpp").sources.len(), 0);
        let c = |language: Option<&str>| vec![Input::Compiled("a".into(), language.map(OsString::from))];
        assert_eq!(line("-x c a").inputs, c(Some("c")));
        assert_eq!(line("-x c -x none a").inputs, [Input::Linked("a".into())]);
        assert_eq!(line("-E a.cpp").task, Task::Other);
    }

    #[test]
    fn spellings() {
        for text in ["-c a.cpp -o x", "-ox a.cpp -c", "--output=x --compile a.cpp", "--output x -c -- a.cpp"] {
            let l = line(text);
            assert_eq!(
                (l.task, l.output, l.sources),
                (Task::Compile, Some("x".into()), vec!["a.cpp".into()]),
                "{text}"
            );
        }
        assert_eq!(line("-c -- -a.cpp").sources, [PathBuf::from("./-a.cpp")]);
        assert!(
            line("-c a.cpp -o").wrong.is_some() && line("a.cpp -I").wrong.is_some() && line("a.cpp").wrong.is_none()
        );
        // Values are no sources.
        for flag in super::SEPARATE {
            assert!(line(&format!("{flag} a.cpp")).sources.is_empty(), "{flag}");
        }
        assert!(line("-x c++ -c -").reads_input() && line("-c -").reads_input() && !line("-c a.cpp").reads_input());
        assert_eq!((line("-v").task, line("-v a.cpp").task), (Task::Other, Task::Link));
        assert_eq!(line("-o \u{fffd} a.cpp").output, Some("\u{fffd}".into()));
    }

    #[test]
    fn bounds_are_reported_where_nothing_is_optimised() {
        for (text, expected) in [
            ("-c a.cpp", Bounds::Report),
            ("-O0 -c a.cpp", Bounds::Report),
            ("-O2 -O0 -c a.cpp", Bounds::Report),
            ("-O2 -c a.cpp", DEFAULT_BOUNDS),
            ("-O -c a.cpp", DEFAULT_BOUNDS),
            ("-famp-bounds=off -c a.cpp", Bounds::Off),
            ("-O2 -famp-bounds=zero -c a.cpp", Bounds::Zero),
            ("-famp-bounds=zero -famp-bounds=report -O3 -c a.cpp", Bounds::Report),
        ] {
            let l = line(text);
            assert_eq!((l.bounds(), &l.wrong), (expected, &None), "{text}");
            assert!(!joined(&l.for_host(false)).contains("-famp-"), "Clang does not know it: {text}");
        }
        assert!(line("-famp-bounds=some -c a.cpp").wrong.is_some_and(|wrong| wrong.contains("off, zero or report")));
    }

    #[test]
    fn what_also_compiles_keeps_the_flags_of_the_preprocessor() {
        assert_eq!(joined(&line("-DX -MD a.cpp b.c").for_link()), "-DX -MD");
        assert_eq!(joined(&line("-DX -MD a.cpp b.o").for_link()), "");
    }
}
