//! Runs the modules in `tests/passes/NAME` through the pass NAME. The checks are a small subset of LLVM's FileCheck.
//!
//! `; CHECK: TEXT` matches a line after the previous match. `; CHECK-NEXT: TEXT` matches the line right after the
//! previous match. `; CHECK-NOT: TEXT` requires that no line up to the next match has the text. As in FileCheck, several
//! spaces count as one. Unlike in FileCheck, `{{...}}` matches any text. `scripts/needs` checks that Clang and libLLVM exist.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::Path;
use std::process::Command;

/// A check: its kind, its text and its line number.
type Check<'t> = (&'t str, &'t str, usize);

fn checks(text: &str) -> Vec<Check<'_>> {
    let lines = text.lines().enumerate();
    let checks = lines.filter_map(|(n, line)| Some((n, line.trim_start().strip_prefix("; CHECK")?.split_once(':')?)));
    let is_supported =
        |kind: &str, text: &str| ["", "-NOT", "-NEXT"].contains(&kind) && !text.replace("{{...}}", "").contains("{{");
    checks
        .map(|(n, (kind, text))| {
            assert!(is_supported(kind, text), "line {}: CHECK{kind} or its pattern is not known here", n + 1);
            (kind, text.trim(), n + 1)
        })
        .collect()
}

/// True if a line contains all parts of a pattern, in the same order.
fn matches_pattern(line: &str, pattern: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (line, pattern) = (words(line), words(pattern));
    let mut at = 0;
    let mut parts = pattern.split("{{...}}");
    parts.all(|part| line[at..].find(part).map(|found| at += found + part.len()).is_some())
}

/// The first check that fails, and the index of the line where the search for it began.
fn first_failure<'t>(lines: &[&str], checks: &[Check<'t>]) -> Option<(Check<'t>, usize)> {
    let (mut at, mut forbidden) = (0, Vec::new());
    let end = ("", "", 0);
    for check in checks.iter().copied().chain([end]) {
        let (kind, text, _) = check;
        let found = match kind {
            "-NOT" => {
                forbidden.push(check);
                continue;
            }
            "-NEXT" => Some(at).filter(|&at| lines.get(at).is_some_and(|line| matches_pattern(line, text))),
            _ if check == end => Some(lines.len()),
            _ => (at..lines.len()).find(|&n| matches_pattern(lines[n], text)),
        };
        let Some(found) = found else { return Some((check, at)) };
        let between = &lines[at..found];
        if let Some(not) =
            forbidden.drain(..).find(|(_, text, _)| between.iter().any(|line| matches_pattern(line, text)))
        {
            return Some((not, at));
        }
        at = found + 1;
    }
    None
}

#[test]
fn passes_produce_the_checked_output() {
    let mut count = 0;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    for folder in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_revamp-kernelc"));
            let done = command.arg("--pass").arg(folder.file_name().unwrap()).arg(&file).output().unwrap();
            assert!(done.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&done.stderr));
            let (text, printed) = (std::fs::read_to_string(&file).unwrap(), String::from_utf8(done.stdout).unwrap());
            let checks = checks(&text);
            assert!(!checks.is_empty(), "{}: no checks", file.display());
            let lines: Vec<&str> = printed.lines().collect();
            if let Some(((kind, pattern, line), from)) = first_failure(&lines, &checks) {
                let rest = lines[from..].join("\n");
                panic!("{}:{line}: CHECK{kind}: {pattern}\nsearched from line {}:\n{rest}", file.display(), from + 1);
            }
            count += 1;
        }
    }
    assert!(count > 20);
}

#[test]
fn checks_fail_where_the_text_differs() {
    let lines = ["a  b", "c", "d e f", "c"];
    for (text, line) in [
        ("; CHECK: a b\n; CHECK-NEXT: c\n; CHECK: d {{...}} f\n; CHECK-NEXT: c", None),
        ("; CHECK: c\n; CHECK: a", Some(2)),
        ("; CHECK: a\n; CHECK-NEXT: d", Some(2)),
        ("; CHECK: a\n; CHECK-NOT: d\n; CHECK: c\n; CHECK-NOT: x", None),
        ("; CHECK: a\n; CHECK-NOT: c\n; CHECK: d", Some(2)),
        ("; CHECK: d\n; CHECK-NOT: c", Some(2)),
    ] {
        assert_eq!(first_failure(&lines, &checks(text)).map(|((_, _, line), _)| line), line, "{text}");
    }
}
