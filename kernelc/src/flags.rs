//! The command line of a compiler: what it does, and which of its flags matter to which pass.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// A command line, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// C++ sources.
    pub sources: Vec<PathBuf>,
    /// Objects, libraries and what else goes to the linker, in order; a source's place is an empty string.
    pub inputs: Vec<OsString>,
    /// Flags, each with its value.
    pub flags: Vec<Vec<OsString>>,
    /// `-o`.
    pub output: Option<PathBuf>,
    /// `-c`.
    pub compiles: bool,
    /// It does something else: preprocess, print, make assembly.
    pub other: bool,
}

/// Flags whose value is the next argument.
const SEPARATE: [&str; 24] = [
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
    "-iprefix",
    "-isysroot",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-framework",
];
/// Flags of the linker.
const LINKER: [&str; 14] = [
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
];
const EXTENSIONS: [&str; 7] = ["cpp", "cc", "cxx", "C", "c++", "cp", "CPP"];

fn is_source(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|e| EXTENSIONS.contains(&e))
}

/// Takes a command line apart, without the compiler itself.
pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Line {
    let mut line = Line::default();
    let mut rest = arguments.into_iter();
    let mut language: Option<String> = None;
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy().into_owned();
        match text.as_str() {
            "-c" => line.compiles = true,
            "-E" | "-S" | "-M" | "-MM" | "-fsyntax-only" | "--version" | "-v" | "-###" | "-dumpversion"
            | "-dumpmachine" => {
                line.other = true;
                line.flags.push(vec![argument]);
            }
            "-o" => line.output = rest.next().map(PathBuf::from),
            "-x" => language = rest.next().map(|l| l.to_string_lossy().into_owned()),
            _ if text.starts_with("-x") => language = Some(text[2..].to_owned()),
            _ if text.starts_with("-o") && !text.starts_with("-objc") => line.output = Some(PathBuf::from(&text[2..])),
            _ if text.starts_with("-print") || text.starts_with("--print") => {
                line.other = true;
                line.flags.push(vec![argument]);
            }
            _ if SEPARATE.contains(&text.as_str()) => {
                let flag: Vec<OsString> = std::iter::once(argument).chain(rest.next()).collect();
                // Libraries have their place among the objects.
                if text == "-l" || text == "-Xlinker" { line.inputs.extend(flag) } else { line.flags.push(flag) }
            }
            _ if text.starts_with("-l") || text.starts_with("-Wl,") => line.inputs.push(argument),
            _ if text.len() > 1 && text.starts_with('-') => line.flags.push(vec![argument]),
            _ => {
                let path = PathBuf::from(&argument);
                let is_cpp = match language.as_deref() {
                    Some("c++") => true,
                    None | Some("none") => is_source(&path),
                    Some(_) => false,
                };
                if is_cpp {
                    line.sources.push(path);
                    line.inputs.push(OsString::new());
                } else {
                    line.inputs.push(argument);
                }
            }
        }
    }
    line
}

impl Line {
    fn flags_where(&self, keep: impl Fn(&str) -> bool) -> Vec<OsString> {
        self.flags.iter().filter(|f| keep(&f[0].to_string_lossy())).flatten().cloned().collect()
    }

    /// Whether a flag is given, the last of several deciding.
    pub fn last(&self, is: impl Fn(&str) -> bool) -> Option<String> {
        self.flags.iter().rev().map(|f| f[0].to_string_lossy().into_owned()).find(|f| is(f))
    }

    /// For the device: what says how the source is read, and how its numbers behave.
    pub fn for_device(&self) -> Vec<OsString> {
        self.flags_where(|f| {
            let begins = |all: &[&str]| all.iter().any(|b| f.starts_with(b));
            begins(&[
                "-D",
                "-U",
                "-I",
                "-isys",
                "-iquote",
                "-idirafter",
                "-include",
                "-imacros",
                "-iprefix",
                "-std=",
                "-stdlib=",
            ]) || begins(&[
                "--sysroot",
                "--gcc-install-dir",
                "--gcc-toolchain",
                "-nostdinc",
                "-ansi",
                "-trigraphs",
                "-B",
            ]) || begins(&[
                "-ffp-",
                "-ffast-math",
                "-fno-fast-math",
                "-fno-math-errno",
                "-ffinite-math",
                "-fno-finite-math",
            ]) || begins(&["-fno-signed-zeros", "-fassociative-math", "-freciprocal-math", "-funsafe-math", "-Ofast"])
                || begins(&["-fno-rtti", "-frtti", "-fexceptions", "-fno-exceptions", "-fchar8_t", "-fno-char8_t"])
                || begins(&["-funsigned-char", "-fsigned-char", "-fshort-enums", "-fshort-wchar", "-fpack-struct"])
                || begins(&["-fms-extensions", "-ftemplate-depth", "-fconstexpr", "-fwrapv", "-fno-wrapv"])
                || begins(&["-fmacro-prefix-map", "-ffile-prefix-map", "-pthread", "-fno-operator-names"])
        })
    }

    /// For the host's object. `foreign`: they are meant for GCC, and what Clang does not know is left out.
    pub fn for_host(&self, foreign: bool) -> Vec<OsString> {
        let mut flags = self.flags_where(|f| {
            let begins = |all: &[&str]| all.iter().any(|b| f.starts_with(b));
            let links =
                LINKER.iter().any(|l| if l.len() > 2 { f.starts_with(l) } else { f.starts_with(l) && *l != "-s" })
                    || f == "-s";
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
            !(links || lto || gcc)
        });
        if foreign {
            // Names of warnings that only GCC has.
            flags.splice(
                0..0,
                ["-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument"].map(OsString::from),
            );
        }
        flags
    }

    /// Flags for the link.
    pub fn for_link(&self) -> Vec<OsString> {
        self.flags_where(|f| !f.starts_with("-D") && !f.starts_with("-I") && !f.starts_with("-M") && f != "-include")
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
    fn a_compile_of_cmake() {
        let l = line(
            "-DX=1 -I inc -isystem /a -O3 -g -march=native -std=gnu++17 -fPIC -MD -MT a.o -MF a.d -o a.o -c a.cpp",
        );
        assert!(l.compiles && !l.other);
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
        let order: Vec<_> = l.inputs.iter().map(|i| i.to_string_lossy()).collect();
        assert_eq!(order, ["", "b.o", "-lm", "", "-Wl,-z,now"]);
        assert_eq!((l.sources.len(), l.output.clone()), (2, Some("prog".into())));
        assert_eq!(joined(&l.for_host(false)), "-O2");
        assert_eq!(joined(&l.for_link()), "-O2 -L.");
    }

    #[test]
    fn the_language_is_what_is_said() {
        assert_eq!(line("-x c++ -c a.inc").sources.len(), 1);
        assert_eq!(line("-x c -c a.cpp").sources.len(), 0);
        assert!(line("-E a.cpp").other);
    }
}
