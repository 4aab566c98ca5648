//! What Clang says of the device's code, without the one error that C++ AMP does not know: capturing an array by reference.
//!
//! Clang refuses every capture by reference in a device lambda and does not name the type. What the source declares as
//! something else than an array or texture stays an error; where its declaration is not found or not understood, the launch
//! finds out: there a reference to what is no live array is an error.

use std::path::Path;

/// The diagnostics to print and how many of them are errors. `failed`: Clang ended with an error.
pub fn filter(text: &str, failed: bool) -> (String, usize) {
    let mut kept = String::new();
    let (mut errors, mut dropped, mut dropping) = (0, 0, false);
    // "In file included from" stands before what it is about.
    let mut pending = String::new();
    for line in text.split_inclusive('\n') {
        match severity(line) {
            Some("note") => {}
            Some(kind) => {
                dropping = allowed_capture(line);
                let is_error = kind.ends_with("error");
                if dropping {
                    dropped += 1;
                    pending.clear();
                    continue;
                }
                errors += usize::from(is_error);
            }
            None if line.starts_with("In file included from") || line.starts_with("                 from") => {
                pending += line;
                continue;
            }
            None if is_count(line) => continue,
            None => {}
        }
        if !dropping {
            kept += &std::mem::take(&mut pending);
            kept += line;
        }
    }
    if failed && errors == 0 && dropped == 0 {
        // It failed in a way of its own.
        return (text.to_owned(), 1);
    }
    if errors > 0 {
        kept += &format!("{errors} error{} generated when checking kernels.\n", if errors == 1 { "" } else { "s" });
    }
    (kept, errors)
}

/// `file:line:column: error: ...` gives `error`.
fn severity(line: &str) -> Option<&'static str> {
    ["fatal error", "error", "warning", "note"].into_iter().find(|kind| {
        let word = format!(": {kind}: ");
        line.find(&word).is_some_and(|at| !line[..at].starts_with(' ') && line[..at].contains(':')) || {
            line.starts_with(&format!("{kind}: "))
        }
    })
}

fn is_count(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(" generated") && !line.contains(" | ")
}

/// It is the error about a captured reference, and the variable may well be an array.
fn allowed_capture(line: &str) -> bool {
    let Some((place, rest)) = line.split_once(": error: capture host variable '") else { return false };
    let Some((name, rest)) = rest.split_once('\'') else { return false };
    if !rest.starts_with(" by reference in device") {
        return false;
    }
    let mut parts = place.rsplitn(3, ':');
    let (_column, row, file) = (parts.next(), parts.next().and_then(|r| r.parse::<usize>().ok()), parts.next());
    let (Some(row), Some(file)) = (row, file) else { return true };
    let source = std::fs::read(Path::new(file)).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    let before: Vec<&str> = source.lines().take(row).collect();
    // The nearest declaration that is understood.
    before.iter().rev().find_map(|line| declared(line, name)).unwrap_or(true)
}

/// Types that no kernel takes by reference.
const VALUES: [&str; 24] = [
    "int",
    "unsigned",
    "float",
    "double",
    "bool",
    "char",
    "short",
    "long",
    "size_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "string",
    "vector",
    "array_view",
    "index",
    "extent",
    "accelerator",
    "accelerator_view",
];

/// If the line declares `name` with a known type: whether it is an array.
fn declared(line: &str, name: &str) -> Option<bool> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices(name).find_map(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        if after.starts_with(word) || before.ends_with(word) {
            return None;
        }
        let before = type_before(before);
        let next = after.trim_start().chars().next()?;
        if !['=', '(', '{', ';', ',', ')', '['].contains(&next) {
            return None;
        }
        // `found = name;` declares something else.
        if before.contains('=') {
            return None;
        }
        let mut rest = before.trim().trim_start_matches("const ").trim_start_matches("static ").trim_start();
        while let Some((scope, inner)) = rest.split_once("::") {
            if !scope.chars().all(word) {
                break;
            }
            rest = inner;
        }
        let kind: String = rest.chars().take_while(|&c| word(c)).collect();
        match kind.as_str() {
            "array" | "texture" => Some(true),
            kind if VALUES.contains(&kind) => Some(false),
            _ => None,
        }
    })
}

/// What stands for the type of a name: in a list of parameters after the comma before it, in a list of variables before the
/// first.
fn type_before(before: &str) -> &str {
    let (mut depth, mut comma, mut begin) = (0, None, 0);
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' | '>' | ']' | '}' => depth += 1,
            '(' | '<' | '[' | '{' if depth > 0 => depth -= 1,
            '(' | '{' | ';' => {
                begin = at + 1;
                break;
            }
            ',' if depth == 0 && comma.is_none() => comma = Some(at + 1),
            _ => {}
        }
    }
    match comma {
        Some(at) if !before[at..].trim().is_empty() => &before[at..],
        _ => &before[begin..],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations() {
        assert_eq!(declared("  concurrency::array<float, 2> a(4, 4), b(2, 2);", "b"), Some(true));
        assert_eq!(declared("void f(const array<int> &a, int n) {", "a"), Some(true));
        assert_eq!(declared("void f(const array<int> &a, int n) {", "n"), Some(false));
        assert_eq!(declared("void f(array_view<int, 2> view, array<int, 2> &a) {", "a"), Some(true));
        assert_eq!(declared("void f(int n, const array<int, 2> &a, array<int> &b) {", "b"), Some(true));
        assert_eq!(declared("void f(array<int> &a, const std::vector<int> &b) {", "b"), Some(false));
        assert_eq!(declared("  int total = 0;", "total"), Some(false));
        assert_eq!(declared("  std::vector<float> v(10);", "v"), Some(false));
        assert_eq!(declared("  auto a = make();", "a"), None);
        assert_eq!(declared("  total += 3;", "total"), None);
        assert_eq!(declared("  const std::vector<int> found = a;", "a"), None);
        assert_eq!(declared("  matrix m;", "m"), None);
        assert_eq!(declared("  // int a;", "a"), None);
    }

    #[test]
    fn only_captures_of_arrays_are_dropped() {
        let file = std::env::temp_dir().join(format!("revamp-diagnostics-{}.cpp", std::process::id()));
        std::fs::write(&file, "array<int> a(3);\nint n = 0;\nf([&] { a, n; });\n").unwrap();
        let name = file.display();
        let capture = |v: &str| {
            format!(
                "{name}:3:3: error: capture host variable '{v}' by reference in device or host device lambda function\n    3 | \
                 f\n      | ^\nlaunch.h:1:1: note: called by 'x'\n"
            )
        };
        let (text, errors) = filter(&(capture("a") + "1 error generated when compiling for spirv64.\n"), true);
        assert_eq!((text.as_str(), errors), ("", 0));
        let (text, errors) = filter(&(capture("a") + &capture("n") + "2 errors generated.\n"), true);
        assert!(errors == 1 && text.contains("'n'") && text.contains("note") && !text.contains("'a'"), "{text}");
        assert!(text.ends_with("1 error generated when checking kernels.\n"), "{text}");
        let (text, errors) = filter("x.h:1:2: error: no\n", true);
        assert!(errors == 1 && text.starts_with("x.h:1:2"));
        assert_eq!(filter("clang crashed\n", true).1, 1);
        std::fs::remove_file(file).unwrap();
    }
}
