//! Parses a compiler's command line, and selects the flags for each pass.

use crate::amp_warnings::{self, AmpWarning};
use crate::bounds_option::Bounds;
use crate::system::os_string;
use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// The task of a command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// Links a program or a library.
    #[default]
    Link,
    /// `-c`: compiles objects.
    Compile,
    /// A task that Clang does alone: preprocess, check, print, write assembly.
    Other,
}

/// An input to compile or link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The next source in [`Line::sources`].
    Source,
    /// A file that only the linker reads: an object or a library.
    Linked(OsString),
    /// A flag of the linker, or one word of such a flag.
    Flag(OsString),
    /// A file that Clang compiles alone (C, assembly, headers), and the language that `-x` names.
    Compiled(OsString, Option<OsString>),
}

/// The extensions of headers, which Clang precompiles.
const HEADERS: [&str; 7] = ["h", "hh", "H", "hp", "hpp", "hxx", "h++"];

impl Input {
    /// True if Clang makes a precompiled header of the input.
    pub fn is_header(&self) -> bool {
        let Input::Compiled(name, language) = self else { return false };
        match language.as_ref().map(|l| l.to_string_lossy()) {
            Some(language) => language.ends_with("-header"),
            None => Path::new(name).extension().and_then(OsStr::to_str).is_some_and(|e| HEADERS.contains(&e)),
        }
    }
}

/// A parsed command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// C++ sources.
    pub sources: Vec<PathBuf>,
    /// All inputs to compile or link, in order.
    pub inputs: Vec<Input>,
    /// Flags, each with its value.
    pub flags: Vec<Vec<OsString>>,
    /// `-o`.
    pub output: Option<PathBuf>,
    /// The task.
    pub task: Task,
    /// The flag for the C++ standard if the command line has none.
    pub standard: Option<&'static str>,
    /// True if the output is assembly or LLVM IR, which hold no kernels.
    pub assembly: bool,
    /// `-famp-strict`: kernels may use only C++ AMP, without revamp's extensions.
    pub strict: bool,
    /// `-famp-report`: prints remarks on the kernels.
    pub report: bool,
    /// `-fsyntax-only`: sources are checked, and no output is written.
    pub syntax_only: bool,
    /// Why the command line is invalid, such as a flag without its value.
    pub error_message: Option<String>,
    /// The warnings of revamp that the command line turns on or off, in order.
    pub amp_warnings: Vec<(AmpWarning, bool)>,
    /// `-famp-jobs=`: the number of parts of a source's kernels that are compiled at a time.
    pub jobs: Option<NonZero<usize>>,
    /// `-famp-bounds=`.
    pub bounds: Option<Bounds>,
}

/// The mode of bounds checks if the command line has no `-famp-bounds`. At -O0 the default is `Report` instead.
pub const DEFAULT_BOUNDS: Bounds = Bounds::Off;

/// The prefix of revamp's flags, which compilers do not know.
pub const REVAMP_PREFIX: &str = "-famp-";

/// True if the flag is revamp's.
pub fn is_revamp_flag(argument: &OsStr) -> bool {
    [REVAMP_PREFIX, "-Wamp-", "-Wno-amp-"].iter().any(|begin| argument.as_encoded_bytes().starts_with(begin.as_bytes()))
}

/// The mode of `-famp-bounds` that is called `name`.
fn bounds_named(name: &str) -> Result<Bounds, String> {
    match name {
        "off" => Ok(Bounds::Off),
        "zero" => Ok(Bounds::Zero),
        "report" => Ok(Bounds::Report),
        other => Err(format!("-famp-bounds={other}: unknown mode; use off, zero or report")),
    }
}

/// True if the flag makes the program measure coverage or profile itself.
fn instruments(flag: &str) -> bool {
    ["-fprofile", "-ftest-coverage", "--coverage", "-fcoverage"].iter().any(|begin| flag.starts_with(begin))
}

/// Flags that remove the keywords for calling conventions, which devices do not have.
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

/// Flags that make MinGW's `<windows.h>` and `<intrin.h>` only declare these functions. The headers define each function that the compiler
/// does not report as a builtin. In the passes for kernels, Clang does not report the host's builtins, but rejects definitions of them.
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

/// The target triples of native kernels.
const LINUX: &str = "x86_64-pc-linux-gnu";
const LINUX_AARCH64: &str = "aarch64-unknown-linux-gnu";
const WINDOWS: &str = "x86_64-w64-windows-gnu";
/// The triple of the system on which the compiler runs.
const THIS_SYSTEM: Option<&str> = match () {
    () if cfg!(all(target_arch = "x86_64", target_os = "linux")) => Some(LINUX),
    () if cfg!(all(target_arch = "aarch64", target_os = "linux")) => Some(LINUX_AARCH64),
    () => None,
};

/// True if a flag sets how exact floating-point operations must be. All passes get these flags in the order of the command line, because a
/// later flag overrides an earlier one.
fn is_floating_point_flag(flag: &str) -> bool {
    let base_name = flag.strip_prefix("-fno-").or_else(|| flag.strip_prefix("-f")).unwrap_or_default();
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
    NAMES.contains(&base_name) || flag.starts_with("-ffp-") || flag.starts_with("-Ofast")
}

/// The prefixes of flags for all passes. These flags define how Clang reads a source, how it lays out classes, or what
/// it may assume about the source.
const ALL_PASSES_PREFIXES: [&str; 60] = [
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

/// The names of flags for all passes that have the two forms `-fNAME` and `-fno-NAME`.
const NEGATABLE: [&str; 27] = [
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
    // Flags for compatibility with Visual C++ that change the language.
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

/// True if a flag is for all passes.
fn applies_to_all_passes(flag: &[OsString]) -> bool {
    let words: Vec<_> = flag.iter().map(|word| word.to_string_lossy()).collect();
    // `-Xclang` is followed by one argument for Clang's cc1.
    let named = if words[0] == "-Xclang" { words.last() } else { words.first() };
    let named = named.map_or("", |word| word.as_ref());
    let base_name = named.strip_prefix("-fno-").or_else(|| named.strip_prefix("-f")).unwrap_or_default();
    is_floating_point_flag(named)
        || ALL_PASSES_PREFIXES.iter().any(|begin| named.starts_with(begin)) && !named.starts_with("-target-")
        || NEGATABLE.iter().any(|name| {
            base_name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', '-']))
        })
}

/// The prefixes of options that do not apply to kernels or to any code, each group with the reason.
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
const FLAGS_WITH_SEPARATE_VALUE: [&str; 58] = [
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
const LINKER_FLAGS: [&str; 25] = [
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

/// True if Clang compiles files with this extension. Clang passes all other files to the linker.
fn is_compiled(path: &Path) -> bool {
    const NAMES: [&str; 23] = [
        "c", "i", "ii", "iim", "m", "mi", "mm", "M", "s", "S", "asm", "cu", "cui", "hip", "hipi", "cl", "cppm", "ccm",
        "cxxm", "c++m", "ll", "bc", "ast",
    ];
    path.extension().and_then(OsStr::to_str).is_some_and(|e| NAMES.contains(&e) || HEADERS.contains(&e))
}

/// True if the flag makes a compiler produce something other than objects and programs.
fn is_other_task(flag: &str) -> bool {
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

/// Long names of options, and the short names that the rest of this module uses.
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

/// Replaces the long name of an option by the short name: `--std=c++20` becomes `-std=c++20`, `--define-macro=X` becomes `-DX`.
fn by_short_name(argument: OsString) -> OsString {
    let Some(text) = argument.to_str() else { return argument };
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    let Some((_, short)) = LONG_NAMES.iter().find(|(long, _)| *long == name) else { return argument };
    let sign = if short.starts_with("-std") { "=" } else { "" };
    value.map_or_else(|| (*short).into(), |value| format!("{short}{sign}{value}").into())
}

/// The options in an argument of `-Wp,`: `-Wp,-DX,-UY` means `-DX -UY`, and `-Wp,-MD,FILE` means `-MD -MF FILE`.
fn preprocessor_flags(parts: &str) -> Vec<Vec<OsString>> {
    let mut flags = Vec::new();
    let mut parts = parts.split(',');
    while let Some(part) = parts.next() {
        match part {
            "-MD" | "-MMD" => {
                flags.push(vec![part.into()]);
                flags.extend(parts.next().map(|file| vec!["-MF".into(), file.into()]));
            }
            _ if FLAGS_WITH_SEPARATE_VALUE.contains(&part) => {
                flags.push(std::iter::once(part).chain(parts.next()).map(OsString::from).collect());
            }
            _ => flags.push(vec![part.into()]),
        }
    }
    flags
}

/// Parses the arguments of a command line, without the name of the compiler.
pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Line {
    let mut line = Line::default();
    let mut rest = arguments.into_iter().map(by_short_name);
    let mut language: Option<OsString> = None;
    let mut task = Task::Link;
    let mut verbose = false;
    let after_prefix =
        |argument: &OsStr, start: &str| argument.as_encoded_bytes().strip_prefix(start.as_bytes()).map(os_string);
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy().into_owned();
        let mut value = |line: &mut Line| {
            let next = rest.next();
            if next.is_none() {
                line.error_message = Some(format!("the value of {text} is missing"));
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
            "-fsyntax-only" => line.syntax_only = true,
            "-v" => {
                verbose = true;
                line.flags.push(vec![argument]);
            }
            _ if text.starts_with("-famp-bounds=") => match bounds_named(&text["-famp-bounds=".len()..]) {
                Ok(bounds) => line.bounds = Some(bounds),
                Err(error_message) => line.error_message = Some(error_message),
            },
            _ if text.starts_with("-famp-jobs=") => match text["-famp-jobs=".len()..].parse() {
                Ok(jobs) => line.jobs = Some(jobs),
                Err(_) => line.error_message = Some(format!("{text}: the number of jobs must be an integer above 0")),
            },
            flag if is_revamp_flag(OsStr::new(flag)) => match amp_warnings::named(flag) {
                Some(warning) => line.amp_warnings.push(warning),
                None => {
                    line.error_message = Some(format!(
                        "unknown option {flag}; the options are -famp-strict, -famp-bounds=off|zero|report, \
                         -famp-report, -famp-jobs=N, -W[no-]amp-read-only and -W[no-]amp-unsynchronized"
                    ));
                }
            },
            flag if is_other_task(flag) => {
                line.task = Task::Other;
                line.assembly |= ["-S", "--assemble", "-emit-llvm"].contains(&flag);
                line.flags.push(vec![argument]);
            }
            _ if text.starts_with("-x") => language = after_prefix(&argument, "-x"),
            _ if text.starts_with("--language=") => language = after_prefix(&argument, "--language="),
            _ if text.starts_with("--output=") => line.output = after_prefix(&argument, "--output=").map(PathBuf::from),
            _ if text.starts_with("-o") && !text.starts_with("-objc") => {
                line.output = after_prefix(&argument, "-o").map(PathBuf::from);
            }
            _ if text.starts_with("-Wp,") => line.flags.extend(preprocessor_flags(&text["-Wp,".len()..])),
            "-Xpreprocessor" => {
                let flag = value(&mut line);
                line.flags.extend(flag.map(|flag| vec![flag]));
            }
            _ if FLAGS_WITH_SEPARATE_VALUE.contains(&text.as_str()) => {
                let flag: Vec<OsString> = std::iter::once(argument.clone()).chain(value(&mut line)).collect();
                // The order of libraries and objects matters.
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
        // Without inputs, `-v` prints the compiler's version.
        line.task = match task {
            _ if verbose && line.inputs.is_empty() => Task::Other,
            // Without C++ sources there are no kernels, so Clang alone does the check.
            _ if line.syntax_only && (line.sources.is_empty() || line.reads_standard_input()) => Task::Other,
            _ if line.syntax_only => Task::Compile,
            task => task,
        };
    }
    if !line.sources.is_empty() {
        line.flags = with_headers_as_text(line.flags);
    }
    line
}

/// Replaces precompiled headers by their source headers. A precompiled header fits only one compiler and language, so our passes cannot use
/// it. CMake names both headers: `-Xclang -include-pch -Xclang PRECOMPILED -Xclang -include -Xclang HEADER`.
fn with_headers_as_text(flags: Vec<Vec<OsString>>) -> Vec<Vec<OsString>> {
    let mut result: Vec<Vec<OsString>> = Vec::new();
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
        result.push(flag);
    }
    result
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

    /// The first input file that does not exist.
    pub fn missing(&self) -> Option<PathBuf> {
        let named = self.inputs.iter().filter_map(|input| match input {
            Input::Linked(file) | Input::Compiled(file, _) => Some(PathBuf::from(file)),
            Input::Source | Input::Flag(_) => None,
        });
        self.sources.iter().cloned().chain(named).find(|file| !file.exists() && file != Path::new("-"))
    }

    /// True if Clang compiles nothing but the C++ sources.
    pub fn has_only_sources(&self) -> bool {
        self.compiled().next().is_none()
    }

    /// The files that Clang compiles alone.
    pub fn compiled(&self) -> impl Iterator<Item = &Path> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Compiled(file, _) => Some(Path::new(file)),
            Input::Source | Input::Linked(_) | Input::Flag(_) => None,
        })
    }

    /// True if an input is standard input.
    pub fn reads_standard_input(&self) -> bool {
        let named = |input: &Input| matches!(input, Input::Linked(file) | Input::Compiled(file, _) if file == "-");
        self.sources.iter().any(|source| source == Path::new("-")) || self.inputs.iter().any(named)
    }

    fn flags_where(&self, keep: impl Fn(&str) -> bool) -> Vec<OsString> {
        self.flags.iter().filter(|f| keep(&f[0].to_string_lossy())).flatten().cloned().collect()
    }

    /// The last flag for which `is` is true.
    pub fn last(&self, is: impl Fn(&str) -> bool) -> Option<String> {
        self.flags.iter().rev().map(|f| f[0].to_string_lossy().into_owned()).find(|f| is(f))
    }

    /// The target triple, if a flag names it.
    pub fn target(&self) -> Option<String> {
        self.flags.iter().rev().find_map(|flag| match flag.as_slice() {
            [one] => one.to_string_lossy().strip_prefix("--target=").map(str::to_owned),
            [name, value] if name == "-target" || name == "--target" => Some(value.to_string_lossy().into_owned()),
            _ => None,
        })
    }

    /// The option that makes pointers smaller than 64 bits, if any.
    pub fn narrow_pointers(&self) -> Option<String> {
        self.last(|f| ["-m16", "-m32", "-mx32", "-m64"].contains(&f)).filter(|f| f != "-m64")
    }

    /// True if the target is Windows.
    pub fn is_for_windows(&self) -> bool {
        self.target().map_or(cfg!(windows), |target| target.contains("windows") || target.contains("mingw"))
    }

    /// True if thread-local variables must be emulated: GCC's runtime for Windows emulates its own thread-local variables, for example in
    /// std::call_once.
    fn emulates_thread_local_variables(&self) -> bool {
        self.is_for_windows()
            && self.target().is_some_and(|target| target.contains("gnu") || target.contains("mingw"))
            && self.last(|f| f.starts_with("-stdlib=")).is_none_or(|library| library == "-stdlib=libstdc++")
    }

    /// The target triple of native kernels, if the target has them: Linux on x86-64 and aarch64, and Windows on x86-64 with GNU's tools.
    pub fn native_target(&self) -> Option<&'static str> {
        let Some(target) = self.target() else {
            return THIS_SYSTEM;
        };
        match target {
            _ if target.starts_with("aarch64") && target.contains("linux") => Some(LINUX_AARCH64),
            _ if !target.starts_with("x86_64") => None,
            _ if target.contains("linux") => Some(LINUX),
            _ if self.is_for_windows() && !target.contains("msvc") => Some(WINDOWS),
            _ => None,
        }
    }

    /// True if the command line turns on a warning of revamp.
    pub fn warns_of(&self, warning: AmpWarning) -> bool {
        let enabled = self.amp_warnings.iter().rev().find(|(one, _)| *one == warning).is_some_and(|(_, on)| *on);
        enabled && self.last(|f| f == "-w").is_none()
    }

    /// The last flag for the level of optimisation. `-ObjC` sets a language.
    pub fn optimisation(&self) -> Option<String> {
        self.last(|f| f.starts_with("-O") && !f.starts_with("-ObjC"))
    }

    /// The treatment of accesses outside of arrays and array_views.
    pub fn bounds(&self) -> Bounds {
        let optimised = self.optimisation().is_some_and(|f| f != "-O0");
        self.bounds.unwrap_or(if optimised { DEFAULT_BOUNDS } else { Bounds::Report })
    }

    /// True if remarks on kernels are wanted. Builds that cannot pass options set the environment variable.
    pub fn reports(&self) -> bool {
        self.report || std::env::var_os("REVAMP_KERNEL_REPORT").is_some_and(|value| value == "1")
    }

    /// The flags for the device pass: the flags for all passes, which define how the source is read and how its numbers behave.
    pub fn for_device(&self) -> Vec<OsString> {
        let flags = self.flags.iter().filter(|flag| applies_to_all_passes(flag)).flatten().cloned();
        let flags: Vec<OsString> = flags.collect();
        let windows = self.is_for_windows();
        let words = CONVENTIONS.into_iter().chain(INTRINSICS).filter(|_| windows);
        self.standard.into_iter().chain(words).map(OsString::from).chain(flags).collect()
    }

    /// The options that do not apply to kernels or to any code, with the reasons. Returns one option for each reason.
    pub fn without_effect(&self) -> Vec<(String, &'static str)> {
        let named = |flag: &Vec<OsString>| {
            flag[usize::from(flag[0] == "-Xclang" && flag.len() > 1)].to_string_lossy().into_owned()
        };
        let names: Vec<String> = self.flags.iter().map(named).collect();
        let has_prefix = |all: &[&str], name: &&String| all.iter().any(|begin| name.starts_with(begin));
        let first = |(all, why): &(&[&str], &'static str)| {
            names.iter().find(|name| has_prefix(all, name)).map(|n| (n.clone(), *why))
        };
        WITHOUT_EFFECT.iter().filter_map(first).collect()
    }

    /// The flags for the host pass. `foreign`: the flags are meant for GCC, so flags that Clang does not know are left out.
    pub fn for_host(&self, foreign: bool) -> Vec<OsString> {
        self.for_host_where(foreign, |_| true)
    }

    /// The flags for code that runs a kernel on host threads, one thread of the kernel at a time: the flags of the host
    /// pass, except flags for dependency files and coverage.
    pub fn on_host(&self, foreign: bool) -> Vec<OsString> {
        let writes_dependencies = |f: &str| f.starts_with("-M") || f.starts_with("-Wp,-M");
        self.for_host_where(foreign, |f| !writes_dependencies(f) && !instruments(f))
    }

    /// True if the program measures coverage or profiles itself.
    pub fn instruments(&self) -> bool {
        self.last(instruments).is_some()
    }

    fn for_host_where(&self, foreign: bool, keep: impl Fn(&str) -> bool) -> Vec<OsString> {
        let mut flags = self.flags_where(|f| {
            let has_prefix = |all: &[&str]| all.iter().any(|b| f.starts_with(b));
            // -s and -e are also prefixes of flags for the compiler.
            let is_for_linker =
                LINKER_FLAGS.iter().any(|l| if ["-s", "-e"].contains(l) { f == *l } else { f.starts_with(l) })
                    && !["-undef", "-nostdlibinc"].contains(&f);
            // With link-time optimisation, Clang would write objects in another format.
            let is_lto =
                has_prefix(&["-flto", "-fno-lto", "-ffat-lto-objects", "-fno-fat-lto-objects", "-fuse-linker-plugin"]);
            let is_gcc_only = foreign
                && has_prefix(&[
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
            !(is_for_linker || is_lto || is_gcc_only) && keep(f)
        });
        flags.splice(0..0, self.standard.map(OsString::from));
        if self.emulates_thread_local_variables() {
            flags.insert(0, "-femulated-tls".into());
        }
        if self.native_target() == Some(WINDOWS) {
            // When GNU's linker joins objects, it treats the section .llvm_addrsig as a part of the program.
            flags.insert(0, "-fno-addrsig".into());
        }
        if foreign {
            // Clang must not warn of flags for warnings and optimisations that only GCC has.
            flags.splice(
                0..0,
                ["-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument"].map(OsString::from),
            );
        }
        flags
    }

    /// The flags for the link. Includes the preprocessor's flags if the same command also compiles something.
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
        let cmake_command = "-Xclang -include-pch -Xclang /b/pch.hxx.pch -Xclang -include -Xclang /b/pch.hxx -c a.cpp";
        assert_eq!(read(cmake_command), "-include /b/pch.hxx");
        let header = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(read(&format!("-include-pch {header}.pch -O2 -c a.cpp")), format!("-include {header} -O2"));
        assert_eq!(read("-Xclang -fno-pch-timestamp -include a.h -c a.cpp"), "-Xclang -fno-pch-timestamp -include a.h");
        // Flags that create a precompiled header stay.
        assert!(
            read("-Xclang -emit-pch -Xclang -include -Xclang a.hxx -x c++-header -c a.cxx").contains("-Xclang a.hxx")
        );
    }

    #[test]
    fn flags_depend_on_the_target() {
        for (text, target, windows, native) in [
            ("-c a.cpp", None, cfg!(windows), THIS_SYSTEM),
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
            let emulates_tls = windows && target.is_some();
            assert_eq!(joined(&l.for_host(false)).contains("-femulated-tls"), emulates_tls, "{text}");
        }
        let with_libcxx = line("--target=x86_64-w64-windows-gnu -stdlib=libc++ -c a.cpp");
        assert!(!joined(&with_libcxx.for_host(false)).contains("-femulated-tls"));
    }

    #[test]
    fn a_compile_command_of_cmake() {
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
    fn language_flags_reach_the_device_pass() {
        let given_flags =
            "-fdelayed-template-parsing -fms-compatibility -fms-compatibility-version=19 -fno-ms-extensions -fchar8_t";
        let l = line(&format!("-c a.cpp {given_flags}"));
        assert_eq!((joined(&l.for_device()), joined(&l.for_host(false))), (given_flags.into(), given_flags.into()));
        let host_only_flags = "-fms-runtime-lib=dll -fms-hotpatch -fms-omit-default-lib -fms-kernel";
        assert_eq!(joined(&line(&format!("-c a.cpp {host_only_flags}")).for_device()), "");
    }

    /// Which passes an option reaches.
    #[derive(Debug, PartialEq)]
    enum PassesReached {
        All,
        /// Only the host pass, as the manual says: the option changes neither the meaning of a source nor the layout of classes.
        Host,
        /// Only the host pass, or no pass; a message says so.
        Reported,
    }

    #[test]
    fn each_option_reaches_all_passes_or_host_code_or_is_reported() {
        let groups: [(PassesReached, &str); 3] = [
            (
                PassesReached::All,
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
                PassesReached::Host,
                "-O0 -O1 -O2 -O3 -Os -Oz -Og -g -g0 -g1 -g3 -ggdb -gdwarf-4 -gz -gline-tables-only -Wall -Wextra -Werror -Wno-unused -pedantic \
                 -pedantic-errors -w -fdiagnostics-color -fsanitize=address -fno-sanitize=all -fsanitize-recover=all -fno-omit-frame-pointer \
                 -fstack-protector-strong -fcf-protection -fPIC -fpic -fPIE -fvisibility=hidden -fvisibility-inlines-hidden -ffunction-sections \
                 -fdata-sections -fno-plt -fno-semantic-interposition -fno-threadsafe-statics -funroll-loops -fvectorize -finline-functions \
                 -fno-inline -fno-builtin -fopenmp -pg --coverage -fprofile-arcs -ftest-coverage -fprofile-instr-generate -march=native -mtune=generic \
                 -mavx2 -mfma -mcmodel=large -mllvm~-x -MD -MMD -MF~a -MT~a -MQ~a -MP -MJ~a -pipe -Xassembler~a -fdebug-prefix-map=a=b \
                 -fno-ident -ftime-trace -fuse-cxa-atexit -fcommon -Xclang~-target-feature -ferror-limit=3 -Qunused-arguments",
            ),
            (
                PassesReached::Reported,
                "-flto -flto=thin -ffat-lto-objects -ftrapv -fplugin=a.so -fplugin-arg-a-b -Xclang~-load -fmodules -fmodule-file=a \
                 -fprebuilt-module-path=a -malign-double -mlong-double-64 -mabi=a",
            ),
        ];
        for (expected, options) in groups {
            for option in options.split_whitespace() {
                let words = option.split('~').map(OsString::from).chain(["-c".into(), "a.cpp".into()]);
                let l = read(words);
                let written = option.replace('~', " ");
                let contains_option = |flags: &[OsString]| joined(flags).contains(&written);
                let effect = match (
                    contains_option(&l.for_device()),
                    contains_option(&l.for_host(false)),
                    l.without_effect().len(),
                ) {
                    (true, true, 0) => Some(PassesReached::All),
                    (false, true, 0) => Some(PassesReached::Host),
                    (false, _, 1) => Some(PassesReached::Reported),
                    _ => None,
                };
                assert_eq!(effect.as_ref(), Some(&expected), "{option}");
                assert_eq!((l.sources.len(), l.inputs.len()), (1, 1), "{option} consumes a wrong number of arguments");
            }
        }
    }

    #[test]
    fn other_spellings_give_the_same_flags() {
        for (text, canonical) in [
            ("--std=c++20 --stdlib=libc++", "-std=c++20 -stdlib=libc++"),
            ("--define-macro=X=1 --undefine-macro=Y --define-macro Z", "-DX=1 -UY -D Z"),
            ("--include-directory=a --include-directory b --include=c", "-Ia -I b -includec"),
            ("-Wp,-DX=1,-UY -Wp,-MD,a.d -Xpreprocessor -DZ", "-DX=1 -UY -MD -MF a.d -DZ"),
            ("-Wp,-include,a", "-include a"),
        ] {
            assert_eq!(line(&format!("-c a.cpp {text}")).flags, line(&format!("-c a.cpp {canonical}")).flags, "{text}");
        }
    }

    #[test]
    fn floating_point_flags_reach_the_device_pass() {
        let given_flags =
            "-ffast-math -fno-associative-math -fno-reciprocal-math -fsigned-zeros -fmath-errno -ffp-contract=off";
        assert_eq!(joined(&line(&format!("-c a.cpp {given_flags} -fno-gcse")).for_device()), given_flags);
    }

    #[test]
    fn flags_that_only_gcc_has_are_removed() {
        let l = line("-c a.cc -Wduplicated-cond -flto=auto -fno-gnu-unique -fmax-errors=3 -fvisibility=hidden");
        assert_eq!(
            joined(&l.for_host(true)),
            "-Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wduplicated-cond -fvisibility=hidden"
        );
        assert!(joined(&l.for_host(false)).contains("-fno-gnu-unique"));
    }

    #[test]
    fn linker_inputs_keep_their_order() {
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
    fn the_option_x_sets_the_language() {
        assert_eq!(line("-x c++ -c a.inc").sources.len(), 1);
        assert_eq!(line("-x c -c a.cpp").sources.len(), 0);
        let c = |language: Option<&str>| vec![Input::Compiled("a".into(), language.map(OsString::from))];
        assert_eq!(line("-x c a").inputs, c(Some("c")));
        assert_eq!(line("-x c -x none a").inputs, [Input::Linked("a".into())]);
        assert_eq!(line("-E a.cpp").task, Task::Other);
    }

    #[test]
    fn options_of_output_and_input_are_parsed() {
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
            line("-c a.cpp -o").error_message.is_some()
                && line("a.cpp -I").error_message.is_some()
                && line("a.cpp").error_message.is_none()
        );
        // The value of a flag is not a source.
        for flag in super::FLAGS_WITH_SEPARATE_VALUE {
            assert!(line(&format!("{flag} a.cpp")).sources.is_empty(), "{flag}");
        }
        assert!(
            line("-x c++ -c -").reads_standard_input()
                && line("-c -").reads_standard_input()
                && !line("-c a.cpp").reads_standard_input()
        );
        assert_eq!((line("-v").task, line("-v a.cpp").task), (Task::Other, Task::Link));
        assert_eq!(line("-o \u{fffd} a.cpp").output, Some("\u{fffd}".into()));
    }

    #[test]
    fn bounds_are_reported_without_optimisation() {
        for (text, expected) in [
            ("-c a.cpp", Bounds::Report),
            ("-O0 -c a.cpp", Bounds::Report),
            ("-O2 -O0 -c a.cpp", Bounds::Report),
            ("-ObjC -c a.cpp", Bounds::Report),
            ("-O0 -ObjC++ -c a.cpp", Bounds::Report),
            ("-O2 -ObjC++ -c a.cpp", DEFAULT_BOUNDS),
            ("-O2 -c a.cpp", DEFAULT_BOUNDS),
            ("-O -c a.cpp", DEFAULT_BOUNDS),
            ("-famp-bounds=off -c a.cpp", Bounds::Off),
            ("-O2 -famp-bounds=zero -c a.cpp", Bounds::Zero),
            ("-famp-bounds=zero -famp-bounds=report -O3 -c a.cpp", Bounds::Report),
        ] {
            let l = line(text);
            assert_eq!((l.bounds(), &l.error_message), (expected, &None), "{text}");
            assert!(!joined(&l.for_host(false)).contains("-famp-"), "Clang does not know it: {text}");
        }
        assert!(
            line("-famp-bounds=some -c a.cpp")
                .error_message
                .is_some_and(|error_message| error_message.contains("off, zero or report"))
        );
    }

    #[test]
    fn links_that_also_compile_keep_preprocessor_flags() {
        assert_eq!(joined(&line("-DX -MD a.cpp b.c").for_link()), "-DX -MD");
        assert_eq!(joined(&line("-DX -MD a.cpp b.o").for_link()), "");
    }
}
