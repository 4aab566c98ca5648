//! Compares `revamp-c++` with plain Clang. With the same arguments, both compilers must succeed or fail alike and leave
//! the same files, or revamp-c++ must say why it refuses the arguments. Without Clang 22 on the PATH, the tests do nothing.
//!
//! If the environment has MINUTES, `random_lines` runs for that many minutes, starting from SEED.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A kernel with a type that C++ AMP does not have.
const AMP: &str = "#if defined(STANDARD) && (STANDARD != __cplusplus || !ONE)\n#error passes differ\n#endif\n#line 1\n#include <amp.h>\nusing namespace concurrency;\nvoid f(array_view<int> v) {\n    \
                   parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {\n        char c = 3;\n        \
                   v[i] += c;\n    });\n}\n";

/// A temporary installation of revamp-c++ with an empty library. The sources of these tests do not need the library's code.
struct Installation {
    root: PathBuf,
    clang: PathBuf,
}

fn clang() -> Option<PathBuf> {
    let named = std::env::var_os("REVAMP_CLANG").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("clang++-22")).find(|file| file.is_file());
    named.or(found)
}

impl Installation {
    fn new(name: &str) -> Option<Installation> {
        let clang = clang()?;
        let root = std::env::temp_dir().join(format!("kernelc-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for folder in ["bin", "include", "lib", "tmp"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_revamp-kernelc"), root.join("bin/revamp-c++")).unwrap();
        symlink(sources.join("cpp-shim"), root.join("include/revamp-amp")).unwrap();
        symlink(sources.join("include/revamp.h"), root.join("include/revamp.h")).unwrap();
        let installation = Installation { root, clang };
        let library = installation.root.join("lib/librevamp.so");
        let made = Command::new(&installation.clang)
            .args(["-shared", "-x", "c++", "-", "-o"])
            .arg(library)
            .stdin(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success());
        Some(installation)
    }

    /// Runs a compiler with the arguments `words` in a new folder. Returns the compiler's output and the files that it left.
    fn run(&self, compiler: &Path, words: &[OsString]) -> (Output, BTreeSet<OsString>) {
        let folder = self.root.join("work");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("dir")).unwrap();
        let write = |name: &OsStr, text: &str| std::fs::write(folder.join(name), text).unwrap();
        for (name, text) in [
            ("a.cpp", "int f() { return 1; }\n"),
            ("b.cc", "int g() { return 2; }\n"),
            ("sp ace.cpp", "int h() { return 3; }\n"),
            ("main.cpp", "int main() { return 0; }\n"),
            ("bad.cpp", "int k( { return 4; }\n"),
            ("c.c", "int m(void) { int class = 6; return class; }\n"),
            ("h.hpp", "#define X 1\n"),
            ("amp.cpp", AMP),
            ("sides.cpp", HOST_AND_DEVICE_SOURCE),
            ("text", "int n() { return 7; }\n"),
            ("resp", "-c 'sp ace.cpp' -O1"),
            ("nested", "@resp \"-DY=\\\"a b\\\"\"\n-g"),
            ("circle", "-w @circle"),
        ] {
            write(OsStr::new(name), text);
        }
        write(OsStr::from_bytes(b"n\xff.cpp"), "int o() { return 8; }\n");
        let output = Command::new("timeout")
            .arg("60")
            .arg(compiler)
            .args(words)
            .current_dir(&folder)
            .env("REVAMP_CLANG", &self.clang)
            .env("TMPDIR", self.root.join("tmp"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (output, files(&folder))
    }

    /// Describes how revamp-c++ handles the arguments `words` wrongly; `None` if it handles them correctly.
    fn fault(&self, words: &[OsString]) -> Option<String> {
        let (plain, expected) = self.run(&self.clang, words);
        let (ours, files) = self.run(&self.root.join("bin/revamp-c++"), words);
        let said = String::from_utf8_lossy(&ours.stderr).into_owned();
        let left: Vec<_> = std::fs::read_dir(self.root.join("tmp")).unwrap().flatten().map(|e| e.path()).collect();
        // Clang leaves some temporary files of its own.
        let left = left.iter().any(|path| path.to_string_lossy().contains("/revamp-"));
        let refused = !ours.status.success() && said.contains("revamp-kernelc: error: ");
        let wrong = if ours.status.code().is_none_or(|code| code == 124) || said.contains("panicked") {
            "it crashed or hung"
        } else if left {
            "it left temporary files"
        } else if !ours.status.success() && said.trim().is_empty() {
            "it failed and said nothing"
        } else if refused {
            return None;
        } else if plain.status.success() != ours.status.success() {
            "one succeeds, the other does not"
        } else if comparable_files(&files, &plain) != comparable_files(&expected, &plain) {
            "they leave different files"
        } else {
            return None;
        };
        let plain = String::from_utf8_lossy(&plain.stderr).into_owned();
        Some(format!("{words:?}: {wrong}\nClang: {plain}\n{expected:?}\nrevamp-c++: {said}\n{files:?}"))
    }
}

/// The files to compare. If Clang fails, it may already have written dependency files and precompiled headers, so these do not count.
fn comparable_files<'a>(files: &'a BTreeSet<OsString>, plain: &Output) -> Vec<&'a OsString> {
    files
        .iter()
        .filter(|file| {
            plain.status.success() || ![".d", ".pch"].iter().any(|end| file.as_bytes().ends_with(end.as_bytes()))
        })
        .collect()
}

impl Drop for Installation {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn files(folder: &Path) -> BTreeSet<OsString> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all.extend(files(&entry.path()).into_iter().map(|name| {
                let mut path = entry.file_name();
                path.push("/");
                path.push(name);
                path
            }));
        } else {
            all.insert(entry.file_name());
        }
    }
    all
}

fn words(line: &str) -> Vec<OsString> {
    // A tilde stands for a blank within a word, and ? for a byte that is not valid UTF-8.
    let word = |word: &str| {
        OsString::from_vec(
            word.bytes()
                .map(|b| {
                    if b == b'~' {
                        b' '
                    } else if b == b'?' {
                        0xff
                    } else {
                        b
                    }
                })
                .collect(),
        )
    };
    line.split_whitespace().map(word).collect()
}

#[test]
fn command_lines_give_the_same_files_as_clang() {
    let Some(installation) = Installation::new("table") else { return };
    let lines = [
        "-c a.cpp",
        "-c a.cpp b.cc",
        "-c a.cpp bad.cpp b.cc",
        "-c a.cpp -o x.o",
        "-ca.cpp",
        "-c a.cpp -ox.o",
        "-c a.cpp --output=dir/x.o",
        "--compile a.cpp --output x.o",
        "-c a.cpp -o",
        "-c a.cpp -o nowhere/x.o",
        "-c a.cpp -o dir",
        "-c a.cpp -o /dev/null",
        "-c a.cpp -o /dev/full",
        "a.cpp main.cpp -o /dev/full",
        "-c sp~ace.cpp n?.cpp",
        "-c a.cpp -o n?.o",
        "-c -on?.o a.cpp",
        "-c -- a.cpp",
        "-c c.c",
        "-c c.c a.cpp",
        "-c c.c -o x.o",
        "-c text",
        "-c -x c++ text",
        "-x c++ text main.cpp -x none -o prog",
        "main.cpp a.cpp b.cc",
        "main.cpp c.c -o prog",
        "main.cpp -o prog -lm -Wl,-z,now -L. -pthread",
        "main.cpp -MD -o prog",
        "main.cpp -MD",
        "-c a.cpp -MD -MF dep.d -MT t",
        "-c a.cpp -MMD -MP",
        "-M a.cpp",
        "-MM a.cpp -o dep.d",
        "-S a.cpp",
        "-S a.cpp -o x.s",
        "-E a.cpp -o x.i",
        "-dM -E a.cpp",
        "-E -x c++ -",
        "-fsyntax-only a.cpp",
        "-emit-llvm -c a.cpp",
        "-### a.cpp",
        "-v",
        "-v -c a.cpp",
        "@resp",
        "@nested -o x.o",
        "@nowhere",
        "-shared -fPIC a.cpp -o lib.so",
        "-r a.cpp -o both.o",
        "-flto -c a.cpp",
        "-g -pipe -s main.cpp",
        "-nosuch -c a.cpp",
        "-fnosuch -c a.cpp",
        "-c nowhere.cpp",
        "-c",
        "-o x",
        "main.cpp nowhere.o",
        "-c a.cpp nowhere.cpp",
        "h.hpp -MD",
        "-print-search-dirs",
        "-dumpversion",
        "-c h.hpp",
        "h.hpp -o /dev/null",
        "h.hpp main.cpp",
        "n?.cpp -c -o",
        "-E a.cpp -x c text",
        "-x c text -x none main.cpp -o x",
    ];
    let faults: Vec<String> = lines.iter().filter_map(|line| installation.fault(&words(line))).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // Each refusal says what to do instead.
    for (line, part) in [
        ("-x c++ -c -", "name a file"),
        ("-c - a.cpp", "name a file"),
        ("-save-temps -c a.cpp", "REVAMP_KERNEL_DUMP"),
        ("-c a.cpp -o -", "cannot be written to standard output"),
        ("-c a.cpp b.cc -o both.o", "several sources"),
        ("@circle", "nested too deep"),
        ("-c a.cpp -gsplit-dwarf", "use -g"),
    ] {
        let (output, files) = installation.run(&installation.root.join("bin/revamp-c++"), &words(line));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("error: ") && said.contains(part), "{line}: {said}");
        assert!(!files.iter().any(|file| file.as_bytes().ends_with(b".o")), "{line}: {files:?}");
    }
}

#[test]
fn kernel_flags_are_accepted_or_refused() {
    let Some(installation) = Installation::new("kernels") else { return };
    // The expected message; empty if the line compiles.
    for (line, part) in [
        ("-c amp.cpp", ""),
        ("-famp-bounds=zero -O1 -c amp.cpp", ""),
        ("-famp-bounds=report -g -c amp.cpp -o x.o", ""),
        ("-famp-strict -c amp.cpp", "amp.cpp:5:14: error: the variable 'c': 'char' is not a number type of amp code"),
        ("-c amp.cpp -O2 -famp-bounds=off -famp-strict", "amp.cpp:5:14: error: "),
        ("-c a.cpp amp.cpp -famp-strict", "amp.cpp:5:14: error: "),
        // These lines compile no kernels.
        ("-famp-strict -c a.cpp", ""),
        ("-famp-strict -famp-bounds=zero main.cpp a.cpp -o prog", ""),
        ("-famp-strict -E a.cpp", ""),
        ("-famp-bounds=zero -M a.cpp", ""),
        ("-famp-bounds=some -c a.cpp", "use off, zero or report"),
        ("-famp-bounds= -c a.cpp", "use off, zero or report"),
        ("-famp-jobs=0 -c a.cpp", "must be an integer above 0"),
        ("-famp-bounds -c a.cpp", "unknown option -famp-bounds"),
        ("-Wamp-read-only -Wno-amp-unsynchronized -c amp.cpp", ""),
        ("-Wno-amp-read-only -E a.cpp", ""),
        ("-Wamp-nosuch -c a.cpp", "unknown option -Wamp-nosuch"),
        ("-m32 -c amp.cpp", "-m32: kernels use 64-bit pointers"),
        // All passes accept these options.
        (
            "-fshort-enums -funsigned-char -fwrapv -fno-strict-aliasing -fno-strict-overflow -fno-delete-null-pointer-checks -mms-bitfields \
             -fno-access-control -fno-elide-constructors -fsized-deallocation -fblocks -fno-gnu-keywords \
             -fdollars-in-identifiers -fclang-abi-compat=19 -ftrivial-auto-var-init=zero -fcx-limited-range -fdenormal-fp-math=ieee \
             -fstrict-flex-arrays=1 -finput-charset=utf-8 -fexec-charset=utf-8 -Xclang -fno-signed-char -c amp.cpp",
            "",
        ),
        ("--std=c++20 -Wp,-DSTANDARD=202002L -Xpreprocessor -DONE=1 -c amp.cpp", ""),
        ("-famp-nosuch -c a.cpp", "unknown option -famp-nosuch; the options are -famp-strict"),
    ] {
        let (output, files) = installation.run(&installation.root.join("bin/revamp-c++"), &words(line));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), part.is_empty(), "{line}: {said}");
        assert!(said.contains(part), "{line}: {said}");
        let object = files.contains(OsStr::new("amp.o")) || files.contains(OsStr::new("x.o"));
        assert_eq!(object, line.contains("amp.cpp") && part.is_empty(), "{line}: {files:?}");
    }
}

/// Compiler caches compare the output of -E. This output has no restrictions, so revamp-c++ appends a hash of the sources.
#[test]
fn preprocessed_text_differs_where_the_source_does() {
    let Some(installation) = Installation::new("preprocessed") else { return };
    let sum = |line: &str| {
        let (output, files) = installation.run(&installation.root.join("bin/revamp-c++"), &words(line));
        assert!(output.status.success(), "{line}");
        let text = if files.contains(OsStr::new("x.i")) {
            std::fs::read_to_string(installation.root.join("work/x.i")).unwrap()
        } else {
            String::from_utf8(output.stdout).unwrap()
        };
        text.lines().last().filter(|last| last.starts_with("// sources ")).map(str::to_owned)
    };
    assert_eq!(sum("-E a.cpp"), sum("-E a.cpp -o x.i"));
    assert!(sum("-E a.cpp").is_some() && sum("-E a.cpp") != sum("-E main.cpp") && sum("-dM -E a.cpp").is_none());
}

#[test]
fn options_without_effect_are_reported_once() {
    let Some(installation) = Installation::new("without_effect") else { return };
    for (line, said) in [
        (
            "-flto=thin -O1 -c amp.cpp",
            "warning: -flto=thin: objects with kernels do not support link-time optimisation",
        ),
        ("-ftrapv -fmodules -c amp.cpp", "warning: -ftrapv: applies to host code only"),
    ] {
        let (output, files) = installation.run(&installation.root.join("bin/revamp-c++"), &words(line));
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && files.contains(OsStr::new("amp.o")), "{line}: {messages}");
        assert_eq!(messages.matches(said).count(), 1, "{line}: {messages}");
        let (output, _) = installation.run(&installation.root.join("bin/revamp-c++"), &words(&format!("{line} -w")));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line} -w");
    }
}

/// The host pass begins before the check of the source has ended.
#[test]
fn messages_of_the_host_pass_appear_once_and_only_for_valid_sources() {
    let Some(installation) = Installation::new("sides") else { return };
    for (line, succeeds, warnings, errors) in [
        ("-c sides.cpp", true, 0, 0),
        ("-DHOST_WARNING -c sides.cpp", true, 1, 0),
        ("-DHOST_ERROR -DHOST_WARNING -c sides.cpp", false, 1, 1),
        ("-DHOST_WARNING -DAMP_ERROR -c sides.cpp", false, 0, 0),
        // Here, amp functions are device-only. Only the check of the source detects this.
        ("-DHOST_WARNING -DOVERLOADED -O2 -c sides.cpp", true, 1, 0),
        // The overload is found only after the device pass and the host pass have failed.
        ("-DHOST_WARNING -DIN_A_MACRO -O2 -c sides.cpp", true, 1, 0),
        ("-DHOST_ERROR -DHOST_WARNING -DIN_A_MACRO -O2 -c sides.cpp", false, 1, 1),
    ] {
        let (output, files) = installation.run(&installation.root.join("bin/revamp-c++"), &words(line));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), succeeds, "{line}: {said}");
        assert_eq!(said.matches("warning: of the host").count(), warnings, "{line}: {said}");
        assert_eq!(said.matches("'of_the_host'").count(), errors, "{line}: {said}");
        assert_eq!(files.contains(OsStr::new("sides.o")), succeeds, "{line}: {files:?}");
    }
}

#[test]
fn wide_formats_cause_a_warning() {
    let Some(installation) = Installation::new("formats") else { return };
    let folder = installation.root.join("kept");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("f.cpp");
    let text = "#include <cwchar>\nvoid f(wchar_t *b, const wchar_t *w) {\n    std::swprintf(b, 9, L\"%s\", w);\n    std::swprintf(b, 9, L\"%ls\", w);\n}\n";
    std::fs::write(&file, text).unwrap();
    for (line, count) in [("-c", 1), ("-c -w", 0), ("-c -Wno-format", 0)] {
        let (output, _) = installation
            .run(&installation.root.join("bin/revamp-c++"), &[words(line), vec![file.clone().into()]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert_eq!(said.matches("f.cpp:3:26: warning: '%s': in a wide format").count(), count, "{line}: {said}");
        assert_eq!(said.matches("warning: ").count(), count, "{line}: {said}");
    }
}

#[test]
fn dynamic_exception_specifications_cause_a_warning() {
    let Some(installation) = Installation::new("throws") else { return };
    let file = installation.root.join("kept.cpp");
    let text = "#include <amp.h>\nint f(int x) throw(int) restrict(amp, cpu) { return x; }\nvoid g(concurrency::array_view<int> v) {\n    parallel_for_each(v.extent, [=](concurrency::index<1> i) restrict(amp) { v[i] = f(1); });\n}\n";
    std::fs::write(&file, text).unwrap();
    for (line, code, said) in [
        ("-c -std=c++17", true, "warning: ISO C++17 does not allow dynamic exception specifications"),
        ("-c -std=c++17 -Werror", false, "error: ISO C++17 does not allow dynamic exception specifications"),
    ] {
        let (output, _) = installation
            .run(&installation.root.join("bin/revamp-c++"), &[words(line), vec![file.clone().into()]].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), code, "{text}");
        assert_eq!(text.matches(said).count(), 1, "{text}");
    }
}

/// Plain Clang would report that a function is defined twice.
#[test]
fn syntax_is_checked_as_amp() {
    let Some(installation) = Installation::new("syntax") else { return };
    let text = "#include <amp.h>\nint f() restrict(amp) { return 1; }\nint f() { return 2; }\nint g();\nvoid h(concurrency::array_view<int> v) {\n    int unused;\n    parallel_for_each(v.extent, [=](concurrency::index<1> i) restrict(amp) { v[i] = CALLED(); });\n}\n";
    std::fs::write(installation.root.join("kept.cpp"), text).unwrap();
    std::fs::write(installation.root.join("kept.c"), "int of_c(void) { return; }\n").unwrap();
    for (line, code, said) in [
        ("-Wall -DCALLED=f kept.cpp", true, "kept.cpp:6:9: warning: unused variable 'unused'"),
        ("-o none -DCALLED=f kept.cpp kept.cpp", true, ""),
        ("-DCALLED=g kept.cpp", false, "kept.cpp:7:85: error: 'g' is a cpu function"),
        ("-DCALLED=f kept.cpp kept.c", false, "kept.c:1:"),
    ] {
        let line = format!("-fsyntax-only {}", line.replace("kept", &installation.root.join("kept").to_string_lossy()));
        let (output, files) = installation.run(&installation.root.join("bin/revamp-c++"), &words(&line));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.success(), code, "{line}: {text}");
        assert!(text.contains(said) && (!said.is_empty() || text.is_empty()), "{line}: {text}");
        let made = |file: &OsString| file == "none" || file.to_string_lossy().contains("kept");
        assert!(!files.iter().any(made), "{line}: {files:?}");
    }
}

/// The source has three errors: an error of Clang, an error of C++ AMP that Clang found, and an error that a rule found.
#[test]
fn errors_follow_line_directives() {
    let Some(installation) = Installation::new("line-directives") else { return };
    let source = "#include <amp.h>\nusing namespace concurrency;\n#line 100 \"gen.y\"\nint of_cpu() { return unknown; }\n\
                  void f(array_view<int> v) {\n    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {\n        \
                  v[i] += of_cpu();\n        static int n;\n    });\n}\n";
    std::fs::write(installation.root.join("generated.cpp"), source).unwrap();
    let words = [OsString::from("-c"), installation.root.join("generated.cpp").into()];
    let (output, _) = installation.run(&installation.root.join("bin/revamp-c++"), &words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("gen.y:100:23: error: ") && !said.contains("generated.cpp"), "{said}");
    for expected in [
        "\n  100 | int of_cpu() { return unknown; }\n      |                       ^",
        "\ngen.y:103:17: error: 'of_cpu' is a cpu function",
        "\n  103 |         v[i] += of_cpu();\n      |                 ^\n",
        "\ngen.y:104:20: error: 'n': a static",
        "\n  104 |         static int n;\n      |                    ^\n",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn killed_and_missing_compilers_are_reported() {
    let Some(mut installation) = Installation::new("killed") else { return };
    let real = installation.clang.clone();
    let script = format!("#!/bin/sh\ncase $1 in --version) exec {} --version;; esac\nkill -9 $$\n", real.display());
    installation.clang = put_script(&installation.root, "clang++", &script);
    put_library(&installation.root, &real, "libclang.so", "", Some(&libclang(&real)));
    let said = |installation: &Installation| {
        let (output, files) = installation.run(&installation.root.join("bin/revamp-c++"), &words("-c a.cpp"));
        assert!(!output.status.success() && !files.contains(OsStr::new("a.o")));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = said(&installation);
    assert!(text.contains("was ended by signal 9"), "{text}");
    installation.clang = "/nowhere/clang++".into();
    let text = said(&installation);
    assert!(text.contains("REVAMP_CLANG is /nowhere/clang++"), "{text}");
}

#[test]
fn another_clang_is_refused_with_both_versions() {
    let Some(installation) = Installation::new("versions") else { return };
    let said = |folder: &str, name: &OsStr| {
        let output = Command::new(installation.root.join("bin/revamp-c++"))
            .args(["-c", "a.cpp"])
            .env("REVAMP_CLANG", name)
            .env("PATH", installation.root.join(folder))
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for version in ["14.0.6", "19.1.7", "23.1.4"] {
        let folder = installation.root.join(version);
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("clang++");
        std::fs::write(&program, format!("#!/bin/sh\necho Debian clang version {version}\n")).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let major = version.split_once('.').unwrap().0;
        let refused = format!("{} is Clang {major}, but kernels need Clang 22; install Clang 22 ", program.display());
        for name in [OsStr::new(""), OsStr::new("clang++"), program.as_os_str()] {
            let text = said(version, name);
            assert!(text.contains(&refused), "{name:?}: {text}");
        }
    }
    let text = said("nowhere", OsStr::new(""));
    assert!(text.contains("Clang 22, which compiles kernels, was not found; install Clang 22 "), "{text}");
}

/// Waits until a condition holds. Returns false after half a minute.
fn becomes_true(mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    condition()
}

/// The state of a process in `/proc`; `None` if the process does not exist or has ended.
fn state(id: &str) -> Option<char> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).ok()?;
    text.rsplit_once(") ")?.1.chars().next().filter(|state| *state != 'Z')
}

/// Sends a signal to a process.
fn end(process: &str, signal: &str) {
    let _ = Command::new("sh").args(["-c", &format!("kill -{signal} {process}")]).stderr(Stdio::null()).status();
}

/// Compiles C code to a library `name` for a Clang in `root/bin`. Functions that the code does not define come from the library `other`.
#[cfg(target_os = "linux")]
fn put_library(root: &Path, clang: &Path, name: &str, code: &str, other: Option<&Path>) {
    let source = root.join("library.c");
    let headers =
        "#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n";
    std::fs::write(&source, format!("{headers}{code}\n")).unwrap();
    let mut command = Command::new(clang);
    command.args(["-shared", "-fPIC", "-w", "-x", "c"]).arg(&source).args(["-x", "none", "-Wl,--no-as-needed"]);
    let folder = other.and_then(Path::parent).map(|folder| format!("-Wl,-rpath,{}", folder.display()));
    assert!(command.args(other).args(folder).arg("-o").arg(root.join("lib").join(name)).status().unwrap().success());
}

/// Compiles a library that replaces libLLVM. `body`: the body of LLVMGetVersion, the only function of this library.
#[cfg(target_os = "linux")]
fn put_llvm(root: &Path, clang: &Path, body: &str) {
    let code = format!("void LLVMGetVersion(unsigned *a, unsigned *b, unsigned *c) {{ {body} }}");
    put_library(root, clang, "libLLVM.so.22.1", &code, None);
}

/// The libclang that belongs to a Clang.
#[cfg(target_os = "linux")]
fn libclang(clang: &Path) -> PathBuf {
    let folder = clang.canonicalize().unwrap().parent().unwrap().with_file_name("lib");
    let files = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path());
    let is_libclang = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy();
        name.starts_with("libclang") && name.contains(".so") && !name.contains("cpp")
    };
    files.filter(is_libclang).min().unwrap()
}

/// Puts a script into `root/bin` as a program.
#[cfg(target_os = "linux")]
fn put_script(root: &Path, name: &str, script: &str) -> PathBuf {
    let file = root.join("bin").join(name);
    std::fs::write(&file, script).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    file
}

/// Puts scripts that run the real Clang and its `opt` into a folder to which a test can add libraries. Returns the path of the real Clang.
#[cfg(target_os = "linux")]
fn put_clang(installation: &mut Installation) -> PathBuf {
    let real = installation.clang.clone();
    installation.clang =
        put_script(&installation.root, "clang++", &format!("#!/bin/sh\nexec {} \"$@\"\n", real.display()));
    let opt = real.canonicalize().unwrap().with_file_name("opt");
    put_script(&installation.root, "opt", &format!("#!/bin/sh\nexec {} \"$@\"\n", opt.display()));
    real
}

#[cfg(target_os = "linux")]
#[test]
fn a_clang_without_its_libclang_compiles_nothing() {
    let Some(mut installation) = Installation::new("libclang") else { return };
    let real = put_clang(&mut installation);
    let ours = installation.root.join("bin/revamp-c++");
    let said = |installation: &Installation| {
        let (output, files) = installation.run(&ours, &words("-O2 -c amp.cpp"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && !files.contains(OsStr::new("amp.o")), "{said}");
        said
    };
    let (root, missing) = (installation.root.display(), said(&installation));
    let expected = format!(
        "revamp-kernelc: error: libclang of Clang 22, which checks C++ AMP's restrictions, was not found for \
         {root}/bin/clang++ (in {root}/lib, {root}/lib64); install it (Debian and Ubuntu: apt-get install \
         libclang1-22)\n"
    );
    assert_eq!(missing, expected);
    let library = libclang(&real);
    let name = "libclang.so";
    // Tries a library that is not libclang, a libclang of another version, one that cannot parse, and two that crash.
    put_library(&installation.root, &real, name, "", None);
    assert!(
        said(&installation).contains("lib/libclang.so cannot be used: the library has no clang_getClangVersion"),
        "{}",
        said(&installation)
    );
    for (code, expected) in [
        (
            "struct { void *text; unsigned flags; } clang_getClangVersion() { return (typeof(clang_getClangVersion())){\"clang version 21.1\"}; }",
            "lib/libclang.so cannot be used: the library belongs to clang version 21.1, but the compiler is Clang 22",
        ),
        ("int clang_parseTranslationUnit2FullArgv() { return 1; }", "amp.cpp: libclang cannot parse the source"),
        ("int clang_parseTranslationUnit2FullArgv() { return 2; }", "amp.cpp: libclang crashed"),
        ("void *clang_createIndex() { abort(); }", "libclang, checking amp.cpp, was ended by signal 6"),
    ] {
        put_library(&installation.root, &real, name, code, Some(&library));
        let said = said(&installation);
        assert!(said.starts_with("revamp-kernelc: error: ") && said.contains(expected), "{expected}: {said}");
    }
    // If libclang rejects an option, Clang explains why.
    put_library(&installation.root, &real, name, "", Some(&library));
    let (output, _) = installation.run(&ours, &words("-std=c++99 -c amp.cpp"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("error: invalid value 'c++99' in '-std=c++99'\n"), "{said}");
    assert!(said.ends_with("\nrevamp-kernelc: error: amp.cpp: libclang cannot parse the source\n"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_fatal_llvm_error_is_reported_and_leaves_no_files() {
    let Some(mut installation) = Installation::new("fatal") else { return };
    let real = put_clang(&mut installation);
    put_library(&installation.root, &real, "libclang.so", "", Some(&libclang(&real)));
    put_llvm(&installation.root, &real, "fputs(\"LLVM ERROR: out of registers\\n\", stderr); abort();");
    let ours = installation.root.join("bin/revamp-c++");
    let (output, files) = installation.run(&ours, &words("-O2 -c amp.cpp"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && !files.contains(OsStr::new("amp.o")), "{said}");
    let expected = "revamp-kernelc: error: LLVM, compiling the kernels of amp.cpp, was ended by signal 6\nLLVM ERROR: out of registers\n";
    assert!(said.contains(expected), "{said}");
    let left: Vec<_> = std::fs::read_dir(installation.root.join("tmp")).unwrap().flatten().map(|e| e.path()).collect();
    assert!(left.is_empty(), "it left {left:?}");
    // Tries a libLLVM of another version, and a library that is not libLLVM.
    for (body, expected) in
        [("*a = 21;", "is LLVM 21, but "), ("*a = 22;", "cannot be used: the library has no LLVMContextCreate")]
    {
        put_llvm(&installation.root, &real, body);
        let (output, _) = installation.run(&ours, &words("-O2 -c amp.cpp"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains("revamp-kernelc: error: ") && said.contains(expected),
            "{said}"
        );
    }
}

/// In each stage, a process starts a child, writes the ids of itself and the child into a file, and hangs.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_all_stages_and_leaves_no_files() {
    let Some(mut installation) = Installation::new("signals") else { return };
    let (real, root) = (installation.clang.clone(), installation.root.clone());
    let script = |hanging_command_pattern: &str| {
        let at = root.display();
        format!(
            "#!/bin/sh\ncase \"$*\" in {hanging_command_pattern})\nsleep 200 & echo $$ $! >{at}/ids.new; mv {at}/ids.new {at}/ids; wait;; esac\nexec {} \"$@\"\n",
            real.display()
        )
    };
    put_library(&root, &real, "libclang.so", "", Some(&libclang(&real)));
    let library = root.join("lib/libLLVM.so.22.1");
    // C code that does the same as the scripts. A process with another task than WORK hangs too, but writes no ids.
    let hanging_code = format!(
        "char words[9999] = {{}}; read(open(\"/proc/self/cmdline\", O_RDONLY), words, 9998); \
         if (!strstr(words + strlen(words) + 1, \"WORK\")) for (;;) pause(); \
         int child = fork(); if (!child) execlp(\"sleep\", \"sleep\", \"200\", (char *)0); FILE *f = fopen(\"{0}/ids.new\", \"w\"); \
         fprintf(f, \"%d %d\\n\", getpid(), child); fclose(f); rename(\"{0}/ids.new\", \"{0}/ids\"); for (;;) pause();",
        root.display()
    );
    for (stage, in_clang, in_llvm) in [
        ("check or device", "*--cuda-device-only*", None),
        ("host", "*--cuda-host-only*", None),
        ("kernels", "no", Some("--revamp-compile-kernels")),
        ("native kernels", "no", Some("--revamp-make-native")),
        ("link", "*-lrevamp*", None),
    ] {
        installation.clang = put_script(&root, "clang++", &script(in_clang));
        match in_llvm {
            Some(work) => put_llvm(&root, &real, &hanging_code.replace("WORK", work)),
            None => drop(std::fs::remove_file(&library)),
        }
        let signals = if stage == "native kernels" { &["TERM", "INT", "HUP", "KILL"][..] } else { &["TERM"] };
        for &signal in signals {
            let _ = std::fs::remove_file(root.join("ids"));
            let source = root.join("amp.cpp");
            std::fs::write(&source, AMP.to_owned() + "int main() {}\n").unwrap();
            let mut child = Command::new(root.join("bin/revamp-c++"))
                .args(["-O2", "-o"])
                .args([&root.join("prog"), &source])
                .env("REVAMP_CLANG", &installation.clang)
                .env("TMPDIR", root.join("tmp"))
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut ended = false;
            let is_hanging = becomes_true(|| {
                ended = child.try_wait().unwrap().is_some();
                ended || root.join("ids").exists()
            });
            assert!(is_hanging && !ended, "{stage}: no process hung");
            let ids = std::fs::read_to_string(root.join("ids")).unwrap();
            end(&child.id().to_string(), signal);
            assert!(becomes_true(|| child.try_wait().unwrap().is_some()), "{stage}, signal {signal}: it did not end");
            // After SIGKILL, the driver cannot end the children of its children.
            let count = if signal == "KILL" { 1 } else { 2 };
            let running_ids: Vec<_> =
                ids.split_whitespace().take(count).filter(|id| !becomes_true(|| state(id).is_none())).collect();
            ids.split_whitespace().for_each(|id| end(id, "KILL"));
            assert!(running_ids.is_empty(), "{stage}, signal {signal}: process {running_ids:?} of {ids:?} goes on");
            let left: Vec<_> = std::fs::read_dir(root.join("tmp")).unwrap().flatten().map(|e| e.path()).collect();
            assert!(signal == "KILL" || left.is_empty(), "{stage}, signal {signal}: it left {left:?}");
        }
    }
}

#[test]
fn preprocessed_output_is_host_code() {
    let Some(installation) = Installation::new("preprocessed-output") else { return };
    let ours = installation.root.join("bin/revamp-c++");
    let folder = installation.root.join("kept");
    std::fs::create_dir_all(&folder).unwrap();
    let names = ["amp.ii", "amp2.cpp", "a.ii"].map(|name| folder.join(name).into_os_string());
    for (source, file) in [("amp.cpp", 0), ("amp.cpp", 1), ("a.cpp", 2)] {
        let (output, _) = installation.run(&ours, &[words("-E -o"), vec![names[file].clone(), source.into()]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for (file, is_accepted) in [(0, false), (1, false), (2, true)] {
        for link in ["-c", "-shared -fPIC"] {
            let line = [words(link), vec![names[file].clone()]].concat();
            let (output, _) = installation.run(&ours, &line);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.success(), is_accepted, "{line:?}: {said}");
            assert!(is_accepted || said.contains("is the output of -E"), "{line:?}: {said}");
        }
        // The output is host code, in the language version that -c uses.
        let (output, _) = installation
            .run(&installation.clang, &[words("-std=c++17 -fsyntax-only"), vec![names[file].clone()]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let (output, _) = installation.run(&ours, &words("-dM -E a.cpp"));
    assert!(String::from_utf8_lossy(&output.stdout).contains("#define __STRICT_ANSI__ 1"));
}

/// A source that differs between host and device.
const HOST_AND_DEVICE_SOURCE: &str = "\
#include <amp.h>
using namespace concurrency;
#ifdef OVERLOADED
struct value { int get() restrict(amp) { return 1; } int get() { return 2; } };
#elif defined(IN_A_MACRO)
#define JOINED(a, b) a##b
#define AMP JOINED(rest, rict)(amp)
struct value { int get() AMP { return 1; } int get() { return 2; } };
#else
struct value { int get() restrict(amp, cpu) { return 1; } };
#endif
void launch(array_view<int> v) {
    parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {
#ifdef AMP_ERROR
        static int of_amp;
#endif
        v[i] = value().get();
    });
}
#ifndef __HIP_DEVICE_COMPILE__
#ifdef HOST_WARNING
#warning of the host
#endif
#ifdef HOST_ERROR
int host() { return of_the_host; }
#endif
#endif
";

/// The words of random command lines. A word that is listed several times is chosen more often.
const WORDS: [&str; 73] = [
    "a.cpp",
    "a.cpp",
    "a.cpp",
    "b.cc",
    "main.cpp",
    "main.cpp",
    "sp~ace.cpp",
    "n?.cpp",
    "bad.cpp",
    "nowhere.cpp",
    "c.c",
    "h.hpp",
    "text",
    "-",
    "-c",
    "-c",
    "-c",
    "-c",
    "-S",
    "-E",
    "-fsyntax-only",
    "-M",
    "-MM",
    "-MD",
    "-MMD",
    "-MF dep.d",
    "-MT t",
    "-MP",
    "-o x",
    "-o x.o",
    "-ox",
    "-o",
    "--output=x",
    "--output x",
    "-o dir/x",
    "-o nodir/x",
    "-o dir",
    "-o /dev/null",
    "-o n?",
    "-O2",
    "-g",
    "-std=c++20",
    "-DX",
    "-D X=1",
    "-UX",
    "-I.",
    "-I dir",
    "-include h.hpp",
    "-pipe",
    "-shared",
    "-fPIC",
    "-flto",
    "-pthread",
    "-v",
    "-###",
    "-dM",
    "-w",
    "-x c++",
    "-xc++",
    "-x c",
    "-x none",
    "--",
    "-lm",
    "-L.",
    "-Wl,-z,now",
    "-nosuch",
    "-fnosuch",
    "@resp",
    "@nested",
    "@nowhere",
    "-s",
    "-emit-llvm",
    "-print-search-dirs",
];

/// Tries random command lines, which depend only on the seed: for MINUTES minutes if MINUTES is set, otherwise a few lines.
#[test]
fn random_lines() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (minutes, seed) = (number("MINUTES"), number("SEED").unwrap_or(1));
    let Some(installation) = Installation::new("random") else { return };
    let end = Instant::now() + Duration::from_secs(60 * minutes.unwrap_or(0));
    let folder = std::env::var_os("FUZZ_OUT").map_or_else(std::env::temp_dir, PathBuf::from);
    let mut state = seed;
    let mut random = |below: usize| {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % below as u64) as usize
    };
    let mut tried = 0;
    while if minutes.is_some() { Instant::now() < end } else { tried < 12 } {
        let line: Vec<&str> = (0..1 + random(6)).map(|_| WORDS[random(WORDS.len())]).collect();
        let line = line.join(" ");
        if let Some(fault) = installation.fault(&words(&line)) {
            let file = folder.join("kernelc-command-line.txt");
            std::fs::write(&file, format!("{line}\n{fault}\n")).unwrap();
            panic!("{} (line {tried} of seed {seed}): {line}\n{fault}", file.display());
        }
        tried += 1;
    }
    println!("kernelc-command-line: {tried} lines tried, 0 found, seed {seed}");
}

/// The 17 kernels are compiled in parts of 8 and 9.
#[test]
fn kernels_are_compiled_in_parts_and_the_object_is_the_same() {
    let Some(installation) = Installation::new("parts") else { return };
    let kernel = |n: usize| {
        format!(
            "void f{n}(array_view<int> v) {{ parallel_for_each(v.extent, [=](index<1> i) restrict(amp) {{ v[i] += {n}; }}); }}\n"
        )
    };
    let kernels: String = (0..17).map(kernel).collect();
    let source = installation.root.join("many.cpp");
    std::fs::write(&source, format!("#include <amp.h>\nusing namespace concurrency;\n{kernels}")).unwrap();
    let object = |jobs: &str| {
        let mut line = words(&format!("-O1 -v {jobs} -o many.o -c"));
        line.push(source.clone().into());
        let (output, _) = installation.run(&installation.root.join("bin/revamp-c++"), &line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains("revamp-c++: 17 of 17 kernels compiled"), "{jobs}: {said}");
        std::fs::read(installation.root.join("work/many.o")).unwrap()
    };
    let [one, three] = ["-famp-jobs=1", "-famp-jobs=3"].map(object);
    assert!(one == three, "the objects differ");
}
