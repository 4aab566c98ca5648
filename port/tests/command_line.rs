//! Tests of the program `revamp-port` with its options: output, written files and exit status.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is removed at the end of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("revamp-port-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(folder: &Folder, arguments: &[&str]) -> (i32, String, String) {
    let output: Output =
        Command::new(env!("CARGO_BIN_EXE_revamp-port")).args(arguments).current_dir(&folder.0).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A source that needs edits of all kinds, before and after `--fix`.
const BEFORE: &str = "#include \"stdafx.h\"\n#include <Amp.h> // f\u{fc}r alle\n#include \"Sub\\A.h\"\n#pragma warning(disable : 1)\n\
    __forceinline unsigned __int64 f(LPCSTR a, DWORD b) { return 10ui64; }\nLPSTR a, b;\n\
    struct __declspec(align(16)) s sealed { virtual void WINAPI g() abstract; };\n\
    void main() { for each (int x in v) assert(x, \"\u{e9}\"); printf(\"%I64d\", __max(1, 2)); TCHAR t[] = _T(\"DWORD\"); }\n\
    template <class T> void h(std::vector<T> &v) { std::vector<T>::iterator i = v.begin(); static_assert(false, \"\"); }\n";
const AFTER: &str = "#include <amp.h> // f\u{fc}r alle\n#include \"Sub/A.h\"\n\
    inline unsigned long long f(const char * a, std::uint32_t b) { return 10ull; }\nLPSTR a, b;\n\
    struct alignas(16) s final { virtual void g() = 0; };\n\
    int main() { for (int x : v) assert(x && \"\u{e9}\"); printf(\"%lld\", std::max(1, 2)); char t[] = \"DWORD\"; }\n\
    template <class T> void h(std::vector<T> &v) { typename std::vector<T>::iterator i = v.begin(); static_assert(false, \"\"); }\n";

/// The text in each encoding, with LF and with CRLF.
fn in_all_encodings(text: &str) -> Vec<Vec<u8>> {
    let utf_16 =
        |text: &str, of: fn(u16) -> [u8; 2]| format!("\u{FEFF}{text}").encode_utf16().flat_map(of).collect::<Vec<u8>>();
    let latin = |text: &str| text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<u8>>();
    let mut all = Vec::new();
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        all.push(text.clone().into_bytes());
        all.push(format!("\u{FEFF}{text}").into_bytes());
        all.push(utf_16(&text, u16::to_le_bytes));
        all.push(utf_16(&text, u16::to_be_bytes));
        all.push(latin(&text));
        all.push(latin(text.trim_end()));
    }
    all
}

#[test]
fn fixes_keep_encodings_and_ends_of_lines_and_are_made_once() {
    let folder = Folder::new("fix");
    for (before, after) in in_all_encodings(BEFORE).into_iter().zip(in_all_encodings(AFTER)) {
        let file = folder.file("a.cpp", &before);
        let (status, first, errors) = run(&folder, &["--fix", "a.cpp"]);
        assert_eq!(std::fs::read(&file).unwrap(), after, "{}", String::from_utf8_lossy(&before));
        assert_eq!((status, errors.as_str()), (1, ""));
        assert!(first.contains("a.cpp:4: LPSTR: ") && first.contains(": static_assert(false: "), "{first}");
        assert!(!first.contains("__int64") && !first.contains("sealed"), "{first}");
        assert_eq!(run(&folder, &["--fix", "a.cpp"]), (1, first, String::new()));
        assert_eq!(std::fs::read(&file).unwrap(), after);
    }
}

#[test]
fn a_dry_run_shows_the_difference_and_changes_nothing() {
    let folder = Folder::new("dry");
    let file = folder.file("a.cpp", "int a;\r\nBYTE b;\r\n#pragma once\r\n#pragma warning(pop)");
    let expected = "--- a.cpp\n+++ a.cpp\n@@ -1,4 +1,3 @@\n int a;\r\n-BYTE b;\r\n+unsigned char b;\r\n #pragma once\r\n-#pragma warning(pop)\n\
                    \\ No newline at end of file\n";
    for options in [&["--dry-run", "a.cpp"][..], &["--fix", "--dry-run", "a.cpp"]] {
        assert_eq!(run(&folder, options), (1, expected.to_owned(), String::new()));
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "int a;\r\nBYTE b;\r\n#pragma once\r\n#pragma warning(pop)");
    folder.file("a.cpp", "int a;\n");
    assert_eq!(run(&folder, &["--dry-run", "a.cpp"]), (0, String::new(), String::new()));
}

#[test]
fn a_second_fix_changes_nothing() {
    let folder = Folder::new("programs");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/port");
    for program in std::fs::read_dir(programs).unwrap() {
        let mut names = Vec::new();
        for file in std::fs::read_dir(program.unwrap().path()).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            folder.file(&name, std::fs::read(file.path()).unwrap());
            names.push(name);
        }
        names.sort();
        let arguments: Vec<&str> = std::iter::once("--fix").chain(names.iter().map(String::as_str)).collect();
        let all = || names.iter().map(|name| std::fs::read(folder.0.join(name)).unwrap()).collect::<Vec<_>>();
        let (before, first) = (all(), run(&folder, &arguments));
        let fixed = all();
        assert_ne!(fixed, before);
        assert_eq!(run(&folder, &arguments), first);
        assert_eq!(all(), fixed);
        names.iter().for_each(|name| std::fs::remove_file(folder.0.join(name)).unwrap());
    }
}

#[test]
fn a_ported_tree_needs_no_edits() {
    let folder = Folder::new("ported");
    folder.file(
        "Config.h",
        "#pragma once\n#if defined(_WIN32)\n#define ON_WINDOWS 1\n#else\n#define ON_WINDOWS 0\n#endif\n",
    );
    folder.file(
        "a.cpp",
        "#ifdef _MSC_VER\n#include \"stdafx.h\"\n#include <windows.h>\n#else\n#include <chrono>\n#endif\n#include \"config.h\"\n#if ON_WINDOWS\n\
         DWORD now() { return GetTickCount(); }\n#elif !defined(__linux__)\n#error \"where?\"\n#endif\n#if LEVEL > 1\n__int64 level;\n#endif\n",
    );
    // Two findings: the header's name has a capital letter, and the branch that depends on LEVEL may be live.
    let (status, report, _) = run(&folder, &["a.cpp"]);
    let lines: Vec<&str> = report.lines().map(|line| &line[..line.find(": ").unwrap()]).collect();
    assert_eq!((status, lines), (1, vec!["a.cpp:7", "a.cpp:14"]), "{report}");
    run(&folder, &["--fix", "-ULEVEL", "a.cpp"]);
    assert_eq!(run(&folder, &["-U", "LEVEL", "a.cpp", "Config.h"]), (0, String::new(), String::new()));
    assert_eq!(run(&folder, &["-DLEVEL=1", "a.cpp"]).0, 0);
    assert_eq!(run(&folder, &["-DLEVEL=2", "a.cpp"]).0, 1);
    let (status, report, _) = run(&folder, &["-D_WIN32", "-D", "_MSC_VER=1929", "-ULEVEL", "a.cpp"]);
    assert!(status == 1 && report.contains("GetTickCount") && report.contains("stdafx.h"), "{report}");
    // An edit that only GCC needs.
    folder.file("b.cpp", "float f(float x) restrict(cpu);\nfloat f(float y) restrict(amp);\n");
    let (status, report, _) = run(&folder, &["b.cpp"]);
    assert!(status == 0 && report.starts_with("b.cpp:2: note: f(: "), "{report}");
}

#[test]
fn headers_get_the_includes_of_their_sources() {
    let folder = Folder::new("headers");
    std::fs::create_dir_all(folder.0.join("include")).unwrap();
    folder.file("include/own.h", "typedef unsigned char BYTE;\n");
    folder.file("a.h", "std::map<int, BYTE> m;\n");
    folder.file("a.cpp", "#include <map>\n#include <own.h>\n#include \"a.h\"\n");
    assert_eq!(run(&folder, &["-I", "include", "a.h", "a.cpp"]), (0, String::new(), String::new()));
    // A macro that passes a wide format to a function.
    folder.file("include/trace.h", "void trace(const wchar_t *format, ...);\n");
    folder.file(
        "b.cpp",
        "#include <trace.h>\n#define TRACE(...) trace(__VA_ARGS__)\nvoid f() { TRACE(L\"%s\", L\"\"); }\n",
    );
    let (status, report, _) = run(&folder, &["-I", "include", "b.cpp"]);
    assert!(status == 1 && report.starts_with("b.cpp:3: %s: "), "{report}");
    let (status, report, _) = run(&folder, &["a.h"]);
    assert!(status == 1 && report.contains("BYTE") && report.contains("#include <map>"), "{report}");
}

#[test]
fn names_of_dropped_headers_are_still_listed() {
    let folder = Folder::new("dropped");
    let header = folder.file("framework.h", "#pragma once\n#include <windows.h>\n");
    folder.file("a.cpp", "#include \"framework.h\"\nint f() { return Frobnicate(FROBNICATED); }\n");
    let (status, report, _) = run(&folder, &["--fix", "a.cpp", "framework.h"]);
    assert_eq!(std::fs::read_to_string(header).unwrap(), "#pragma once\n");
    assert!(
        status == 1 && report.contains("a.cpp:2: FROBNICATED: ") && report.contains("a.cpp:2: Frobnicate: "),
        "{report}"
    );
}

#[test]
fn headers_of_the_include_option_are_read() {
    let folder = Folder::new("forced");
    folder.file("pch.h", "#pragma once\n#include <numeric>\ntypedef unsigned char BYTE;\n");
    folder.file("a.cpp", "BYTE f(BYTE *p) { std::iota(p, p + 1, BYTE(1)); return *p; }\n");
    assert_eq!(run(&folder, &["-include", "pch.h", "pch.h", "a.cpp"]), (0, String::new(), String::new()));
    let (status, report, _) = run(&folder, &["a.cpp"]);
    assert!(status == 1 && report.contains("BYTE") && report.contains("#include <numeric>"), "{report}");
}

#[test]
fn wrong_arguments_and_files_are_reported() {
    let folder = Folder::new("wrong");
    // UTF-16 with an odd byte at its end.
    let odd: Vec<u8> = "\u{FEFF}BYTE b;".encode_utf16().flat_map(u16::to_le_bytes).chain([b'x']).collect();
    let file = folder.file("odd.cpp", &odd);
    let (status, _, errors) = run(&folder, &["--fix", "odd.cpp"]);
    assert!(
        status == 2
            && errors.contains("odd.cpp: the file is not valid UTF-16, so it is left unchanged")
            && std::fs::read(file).unwrap() == odd,
        "{errors}"
    );
    for (arguments, message) in [
        (&[][..], "no file is named"),
        (&["--fox"], "unknown option --fox"),
        (&["none.cpp"], "none.cpp: No such file"),
        (&["-include", "none.h", "odd.cpp"], "none.h: no such file"),
        (&["--fix", "none.cpp"], "none.cpp: No such file"),
        (&["--dry-run", "none.cpp"], "none.cpp: No such file"),
    ] {
        let (status, _, errors) = run(&folder, arguments);
        assert!(status == 2 && errors.contains(message) && errors.matches(message).count() == 1, "{errors}");
    }
    let (status, help, _) = run(&folder, &["--help"]);
    assert!(status == 0 && help.starts_with("usage: revamp-port "));
}
