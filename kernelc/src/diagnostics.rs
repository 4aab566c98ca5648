//! Clang's diagnostics of device code, without the errors that C++ AMP does not have.
//!
//! Clang refuses every capture by reference in a device lambda and does not name the type; C++ AMP allows arrays and textures.
//! A variable that the source declares as something else stays an error. Where the declaration is not found or not understood,
//! the launch decides: a reference to anything but a live array is an error there.

use crate::files::{self, Unfinished};
use crate::ir::Frame;
use crate::kernel_error::Remedy;
use revamp_source::tokens::{Clauses, Code};
use std::collections::HashMap;
use std::path::Path;

/// Why it ends without an object: what is to be printed, and the exit code.
pub struct Failed {
    pub text: String,
    pub code: i32,
    /// Of kernels that were refused.
    pub remedy: Remedy,
}

impl Failed {
    /// A pass failed; some say nothing.
    pub fn of_pass(what: &str, code: i32, told: String) -> Self {
        let silent = told.trim().is_empty();
        let text =
            if silent { format!("revamp-kernelc: error: {what} failed ({code}) and said nothing\n") } else { told };
        Self { text, code, remedy: Remedy::None }
    }
}

impl From<String> for Failed {
    fn from(text: String) -> Self {
        Self { text: format!("revamp-kernelc: error: {text}\n"), code: 1, remedy: Remedy::None }
    }
}

impl From<Unfinished> for Failed {
    fn from(why: Unfinished) -> Self {
        String::from(why).into()
    }
}

/// The diagnostics to print and how many of them are errors. `failed`: Clang ended with an error.
pub fn filter(text: &str, failed: bool) -> (String, usize) {
    let mut kept = String::new();
    let (mut errors, mut dropped) = (0, 0);
    let mut allowed = Allowed::default();
    for block in blocks(text) {
        if allowed.has(&block) {
            dropped += 1;
            continue;
        }
        let first = first_of(&block);
        errors += usize::from(severity(first).is_some_and(|kind| kind.ends_with("error")));
        kept.extend(block);
    }
    if failed && errors == 0 && dropped == 0 {
        // It failed for a reason that no diagnostic gives.
        return (text.to_owned(), 1);
    }
    if errors > 0 {
        kept += &generated(errors, "checking kernels");
    }
    (kept, errors)
}

/// Knows errors that C++ AMP does not have.
#[derive(Default)]
pub struct Allowed(Files);

impl Allowed {
    /// True of such an error, by its lines.
    pub fn has(&mut self, block: &[&str]) -> bool {
        let first = first_of(block);
        allowed_capture(first) || local_member(first, block, &mut self.0) || implicit_member(first, block)
    }
}

/// The line of a diagnostic that says what it is.
fn first_of<'a>(block: &[&'a str]) -> &'a str {
    block.iter().copied().find(|line| severity(line).is_some()).unwrap_or_default()
}

/// The errors of `text` whose files, lines and messages are among those of `wanted`, and how many they are: in C++ AMP's words and
/// without notes in its headers, which are in the folder `headers`.
pub fn only(text: &str, wanted: &str, headers: &Path) -> (String, usize) {
    let key = |line: &str| {
        let message = line.split_once("error: ")?.1.trim_end().split(" [-W").next()?.to_owned();
        // Some errors have no place.
        Some((place(line).map(|(file, (row, _))| (file.to_owned(), row)), message))
    };
    let wanted: Vec<_> = wanted.lines().filter_map(key).collect();
    let (mut told, mut errors) = (String::new(), 0);
    let mut allowed = Allowed::default();
    for block in blocks(text) {
        if allowed.has(&block) || !key(first_of(&block)).is_some_and(|k| wanted.contains(&k)) {
            continue;
        }
        errors += 1;
        let mut of_headers = false;
        for line in block {
            let starts = severity(line);
            if let Some(kind) = starts {
                of_headers = kind == "note" && place(line).is_some_and(|(file, _)| files::lies_in(file, headers));
            }
            if !of_headers {
                told += &starts.map_or_else(|| line.to_owned(), |_| in_amp_words(line));
            }
        }
    }
    (told + &generated(errors, "checking kernels"), errors)
}

/// A text of Clang with restrictions for HIP's attributes.
pub fn in_amp_words(text: &str) -> String {
    const WORDS: [(&str, &str); 8] = [
        ("__host__ __device__ function", "restrict(amp, cpu) function"),
        ("__host__ function", "cpu function"),
        ("__device__ function", "amp function"),
        ("__host__ variable", "variable of the host"),
        ("__host__", "restrict(cpu)"),
        ("__device__", "restrict(amp)"),
        ("__shared__", "tile_static"),
        ("host variable", "variable of the host"),
    ];
    WORDS.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The lines of each diagnostic, with "In file included from" before it and its notes after it.
fn blocks(text: &str) -> Vec<Vec<&str>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    let mut pending = Vec::new();
    for line in text.split_inclusive('\n') {
        let starts = severity(line).is_some_and(|kind| kind != "note");
        if line.starts_with("In file included from") || line.starts_with("                 from") {
            pending.push(line);
        } else if starts || all.is_empty() && !is_count(line) {
            pending.push(line);
            all.push(std::mem::take(&mut pending));
        } else if let Some(last) = all.last_mut().filter(|_| !is_count(line)) {
            last.append(&mut pending);
            last.push(line);
        }
    }
    all
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

/// The variable whose capture by reference this message of Clang refuses.
pub fn captured_by_reference(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("capture host variable '")?;
    rest.split_once("' by reference in device").map(|(name, _)| name)
}

/// True for the error about a capture by reference of what may be an array.
fn allowed_capture(line: &str) -> bool {
    let Some((_, message)) = line.split_once(": error: ") else { return false };
    let Some(name) = captured_by_reference(message) else { return false };
    let Some((file, (row, _))) = place(line) else { return true };
    let source = files::text_of(file);
    let before: Vec<&str> = source.lines().take(row).collect();
    // The nearest declaration that is understood.
    before.iter().rev().find_map(|line| declared(line, name)).unwrap_or(true)
}

/// True for the error that amp code calls a host function, if the function is a member of a class local to that code: such
/// members have the restriction of the function around them, which Clang does not know.
fn local_member(first: &str, block: &[&str], files: &mut Files) -> bool {
    if !first.contains("error: ") {
        return false;
    }
    let referred = first.contains("error: reference to __host__ ");
    let Some((file, call)) = place(first) else { return false };
    let callees = block
        .iter()
        .filter(|line| line.contains("call to __host__ function from") || referred && line.contains(" declared here"));
    let callees: Vec<_> = callees.filter_map(|line| place(line)).filter(|(other, _)| *other == file).collect();
    if callees.is_empty() {
        return false;
    }
    let AmpCode { starts, bodies } = files.entry(file.to_owned()).or_insert_with(|| AmpCode::of(file));
    let offset = |(row, column): (usize, usize)| Some(starts.get(row.checked_sub(1)?)? + column.saturating_sub(1));
    let Some(call) = offset(call) else { return false };
    callees
        .into_iter()
        .filter_map(|(_, at)| offset(at))
        .any(|callee| bodies.iter().any(|body| body.contains(&call) && body.contains(&callee)))
}

/// Where a file has amp code.
#[derive(Default)]
struct AmpCode {
    /// Where its lines begin.
    starts: Vec<usize>,
    bodies: Vec<std::ops::Range<usize>>,
}

/// The files that diagnostics name: there may be a thousand in one.
type Files = HashMap<String, AmpCode>;

impl AmpCode {
    /// What cannot be read has none.
    fn of(file: &str) -> Self {
        let source = files::text_of(file);
        let lines = source.as_bytes().iter().enumerate().filter(|(_, c)| **c == b'\n').map(|(n, _)| n + 1);
        Self { starts: std::iter::once(0).chain(lines).collect(), bodies: amp_bodies(&source) }
    }
}

/// The file, the line and the column of an error, by the line that it begins with.
pub fn place_of_error(line: &str) -> Option<(&str, (usize, usize))> {
    severity(line).filter(|kind| kind.ends_with("error")).and_then(|_| place(line))
}

/// The file, the line and the column that a diagnostic begins with.
fn place(line: &str) -> Option<(&str, (usize, usize))> {
    let (place, _) = [": error: ", ": fatal error: ", ": note: "].iter().find_map(|kind| line.split_once(kind))?;
    let mut parts = place.rsplitn(3, ':');
    let (column, row) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((parts.next()?, (row, column)))
}

/// The bodies of functions and lambdas that are restrict(amp), with their braces.
fn amp_bodies(source: &str) -> Vec<std::ops::Range<usize>> {
    let code = Code::read(source);
    let mut clauses = Clauses::default();
    clauses.learn(&code);
    let body = |at: usize| {
        let (clause, _) = clauses.at(&code, at).filter(|(_, restriction)| restriction.amp)?;
        let begin = (clause.end..code.tokens.len()).find(|&n| ["{", ";"].contains(&code.text(n)))?;
        let end = code.pair(begin).filter(|_| code.text(begin) == "{")?;
        Some(code.tokens[begin].start..code.tokens[end].end())
    };
    (0..code.tokens.len()).filter_map(body).collect()
}

/// True for the error that a class has no member for this side because Clang gave an implicit one the other: it follows those
/// of bases and members, of which there may be one for each side.
fn implicit_member(first: &str, block: &[&str]) -> bool {
    first.contains("error: ")
        && block.iter().any(|line| {
            line.contains("note: candidate")
                && line.contains("(the implicit ")
                && line.contains(") not viable: call to __")
        })
}

/// Types that cannot be captured by reference.
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

/// A diagnostic of ours at a place, as Clang shows it.
pub fn at(place: &Frame, kind: &str, message: &str) -> String {
    let Frame { file, line, column, .. } = place;
    format!("{file}:{line}:{column}: {kind}: {message}\n{}", excerpt(file, *line as usize, *column as usize))
}

/// The calls that led to a place, down to the user's code: below it are parallel_for_each's own functions.
pub fn calls(frames: &[Frame]) -> String {
    let own = frames.iter().filter(|f| !f.file.contains("revamp/detail/launch.h"));
    own.map(|f| format!("{}:{}:{}: note: called from here, in '{}'\n", f.file, f.line, f.column, f.function)).collect()
}

/// The last line where there are errors.
pub fn generated(errors: usize, when: &str) -> String {
    format!("{errors} error{} generated when {when}.\n", if errors == 1 { "" } else { "s" })
}

/// A line of the source with a mark, as Clang shows it.
pub fn excerpt(file: &str, line: usize, column: usize) -> String {
    let bytes = std::fs::read(Path::new(file)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let Some(found) = text.lines().nth(line.wrapping_sub(1)) else { return String::new() };
    // Tabs stay tabs, so that the mark stands below its place.
    let gap: String = found.chars().take(column.saturating_sub(1)).map(|c| if c == '\t' { c } else { ' ' }).collect();
    format!("{line:5} | {found}\n      | {gap}^\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_local_classes_are_amp_code_too() {
        let file = std::env::temp_dir().join(format!("revamp-local-{}.cpp", std::process::id()));
        let source = "struct far { int get(); }; // restrict(amp) {\n\
                      int f() restrict(amp) { struct near { int get(); }; return near().get() + far().get(); }\n";
        std::fs::write(&file, source).unwrap();
        let name = file.display();
        let told = |row: usize, column: usize| {
            format!(
                "{name}:2:65: error: reference to __host__ function 'get' in __device__ function\n    2 | x\n\
                 {name}:{row}:{column}: note: 'get' declared here\n"
            )
        };
        assert_eq!(filter(&(told(2, 43) + "1 error generated.\n"), true), (String::new(), 0));
        let (text, errors) = filter(&(told(1, 18) + "1 error generated.\n"), true);
        assert!(errors == 1 && text.contains("declared here"), "{text}");
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn wanted_errors_are_in_amp_words_and_without_notes_in_the_headers() {
        let of_throw = "a.cpp:3:1: error: cannot use 'throw' in __device__ function\n    3 | throw 1; // __device__\n";
        let note = "/usr/include/revamp-amp/revamp/detail/launch.h:3:1: note: called by 'run'\n    3 |     run();\n";
        let own = "/home/revamp-amp/a.hpp:9:1: note: called by 'f'\n    9 | f();\n";
        let headers = Path::new("/usr/include/revamp-amp");
        let other = "a.cpp:4:1: error: expected expression\n";
        let told = format!("{of_throw}{note}{own}{other}2 errors generated.\n");
        let (text, errors) = only(&told, "a.cpp:3:7: error: cannot use 'throw' in __device__ function\n", headers);
        let expected = "a.cpp:3:1: error: cannot use 'throw' in amp function\n    3 | throw 1; // __device__\n";
        assert_eq!((text, errors), (format!("{expected}{own}{}", generated(1, "checking kernels")), 1));
        assert_eq!(only(&told, "a.cpp:5:1: error: expected expression\n", headers).1, 0);
        assert_eq!(only(&told, "b.cpp:4:1: error: expected expression\n", headers).1, 0);
        let without = "error: too many errors\n";
        assert_eq!(only(&format!("{told}{without}"), &format!("{other}{without}"), headers).1, 2);
    }

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
