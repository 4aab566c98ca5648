//! Calls that the table cannot judge by their names.

use super::minima;
use crate::findings::{Edit, Finding};
use crate::functions::is_no_type;
use crate::lex::Token;
use crate::source::Source;
use crate::syntax::Code;

const PPL: &str = "the Parallel Patterns Library is not part of C++ AMP";

/// Unqualified calls of `min`, `max` and `abs` that the program does not declare.
pub fn minima(source: &Source, code: &Code) -> Vec<Finding> {
    let has_abs_of_floats = source.included.contains("<math.h>")
        || source.included.contains("<stdlib.h>")
        || uses_namespace(source, "direct3d");
    let is_free = |name: &&str| {
        let names = &source.names;
        !names.has(name)
            && names.functions_named(name).is_empty()
            && !names.has_member(name)
            && !has_words(source, &["using", "std", "::", name])
    };
    let std_is_used = uses_namespace(source, "std");
    let of_std = ["min", "max", "abs"].into_iter().filter(is_free).filter(|_| !std_is_used);
    let free: Vec<&str> = of_std.chain(["__min", "__max"].into_iter().filter(|name| !source.names.has(name))).collect();
    let mut all = Vec::new();
    for at in (0..code.tokens.len()).filter(|&at| free.contains(&code.text(at))) {
        let (name, before) = (code.text(at), code.before(at));
        // After a type it is declared, after `::`, `.` and `->` it is somebody's.
        let is_typed = at > 0
            && (code.is_name(at - 1) && !is_no_type(before) || matches!(before, "::" | "." | "->" | ">" | "*" | "&"));
        let is_sum = matches!(before, "*" | "&" | ">")
            && at >= 2
            && (code.text(at - 2).ends_with([')', ']'])
                || code.tokens[at - 2].text.starts_with(|c: char| c.is_ascii_digit()));
        if code.text(at + 1) != "(" || is_typed && !is_sum {
            continue;
        }
        let line = code.tokens[at].line;
        match name {
            "min" | "max" => {
                let reason = "a macro of <windows.h>, or a function that MSVC's headers leave in the global namespace";
                all.push(minima::finding(source, code, at, reason));
            }
            "__min" | "__max" => all.push(minima::finding(source, code, at, "a macro of MSVC")),
            "abs" if !has_abs_of_floats && !in_kernel(code, at) && !gives_integer(source, code, at) => {
                let reason = "with <cmath> alone it is abs(int), which drops fractions";
                let edit = Edit::new(code.tokens[at].range.clone(), "std::abs");
                all.push(Finding::new(line, "abs(", reason, "std::abs, or #include <math.h>").with([edit]));
            }
            _ => {}
        }
    }
    all
}

/// The words follow each other in the source or its headers.
fn has_words(source: &Source, words: &[&str]) -> bool {
    let is_here = |tokens: &[Token]| {
        tokens.windows(words.len()).any(|window| window.iter().map(|t| t.text.as_str()).eq(words.iter().copied()))
    };
    is_here(&source.tokens) || source.headers.iter().any(|header| is_here(&header.tokens))
}

/// A using-directive names the namespace: `using namespace concurrency::direct3d;`.
fn uses_namespace(source: &Source, name: &str) -> bool {
    let is_directive = |tokens: &[Token], at: usize| {
        let before = tokens[..at].iter().rev().skip_while(|t| t.text == "::" || t.is_name() && t.text != "namespace");
        before.map(|t| t.text.as_str()).take(2).eq(["namespace", "using"])
    };
    let is_here = |tokens: &[Token]| {
        (0..tokens.len().saturating_sub(1))
            .any(|at| tokens[at].text == name && tokens[at + 1].text == ";" && is_directive(tokens, at))
    };
    is_here(&source.tokens) || source.headers.iter().any(|header| is_here(&header.tokens))
}

/// The token stands in a `restrict(amp)` function or lambda. Overload resolution considers other `abs` functions there.
fn in_kernel(code: &Code, at: usize) -> bool {
    code.around(at).any(|scope| {
        let of = |n: usize| (code.text(n) == "restrict").then(|| code.pair(n + 1)).flatten().map(|end| n..end);
        scope.head.clone().filter_map(of).flatten().any(|n| code.text(n) == "amp")
    })
}

const INTEGERS: [&str; 12] =
    ["int", "unsigned", "long", "short", "size_t", "UINT", "DWORD", "LONG", "char", "int32_t", "uint32_t", "INT"];

/// What is called at a token becomes a variable of an integer type, or gets one.
fn gives_integer(source: &Source, code: &Code, at: usize) -> bool {
    if code.text(at + 2) == "int" && code.text(at + 3) == "(" || code.joined(at + 2..at + 5) == "( int )" {
        return true;
    }
    let variable = match code.before(at) {
        "=" if at >= 2 => code.text(at - 2),
        _ if code.text(at + 3) == ")" => code.text(at + 2),
        _ => return false,
    };
    let files = source.headers.iter().map(|header| &header.tokens).chain([&source.tokens]);
    let types: Vec<&str> = files.flat_map(|tokens| types_of(tokens, variable)).collect();
    !types.is_empty() && types.iter().all(|of| INTEGERS.contains(of))
}

/// The last words of the types with which a name is declared: `int a, b;`.
fn types_of<'t>(tokens: &'t [Token], name: &str) -> Vec<&'t str> {
    let text = |n: usize| tokens[n].text.as_str();
    let declared = (1..tokens.len()).filter(|&n| text(n) == name);
    let of = |mut n: usize| {
        while n >= 3 && text(n - 1) == "," && tokens[n - 2].is_name() {
            n -= 2;
        }
        tokens[n - 1].is_name().then(|| text(n - 1)).filter(|word| !is_no_type(word))
    };
    declared.filter_map(of).collect()
}

/// `assert` with a text.
pub fn asserts(_: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in (0..code.tokens.len()).filter(|&at| code.text(at) == "assert" && code.text(at + 1) == "(") {
        let Some(close) = code.pair(at + 1) else { continue };
        let parts = code.split(at + 2..close);
        let [_, text] = &parts[..] else { continue };
        let edits = if text.len() == 1 && code.text(text.start) == "\"\"" {
            vec![Edit::new(code.tokens[text.start - 1].range.clone(), " &&")]
        } else {
            Vec::new()
        };
        let finding = Finding::new(
            code.tokens[at].line,
            "assert(condition, text)",
            "the macro takes one argument",
            "assert(condition && \"text\")",
        );
        all.push(finding.with(edits));
    }
    all
}

/// Tasks that are made of a function: `task<int> t([] { ... })`.
pub fn tasks(_: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in (0..code.tokens.len()).filter(|&at| code.text(at) == "task" && code.text(at + 1) == "<") {
        let Some(end) = code.angle(at + 1) else { continue };
        let open = if code.is_name(end + 1) { end + 2 } else { end + 1 };
        if matches!(code.text(open), "(" | "{") && code.text(open + 1) == "[" {
            let replacement = "std::async; completion_future::to_task gives a task";
            all.push(Finding::new(code.tokens[at].line, "task<...>([", PPL, replacement));
        }
    }
    all
}

/// Commands of Windows.
const COMMANDS: [&str; 16] = [
    "pause", "cls", "color", "title", "dir", "del", "copy", "start", "mode", "chcp", "type", "ver", "rd", "md",
    "tasklist", "cmd",
];

/// `system("pause")`.
pub fn commands(source: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in (0..code.tokens.len())
        .filter(|&at| code.text(at) == "system" && code.text(at + 1) == "(" && code.text(at + 2) == "\"\"")
    {
        let written = source.text[code.tokens[at + 2].range.clone()].trim_matches('"').to_lowercase();
        let command = written.split([' ', '.', '/']).next().unwrap_or_default();
        if COMMANDS.contains(&command) {
            let reason = "a command of Windows";
            all.push(Finding::new(
                code.tokens[at].line,
                format!("system(\"{command}"),
                reason,
                "drop it, or a command of this system",
            ));
        }
    }
    all
}

/// `parallel_for_each` over iterators.
pub fn loops(_: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in (0..code.tokens.len()).filter(|&at| code.text(at) == "parallel_for_each" && code.text(at + 1) == "(") {
        let Some(close) = code.pair(at + 1) else { continue };
        let parts = code.split(at + 2..close);
        let Some(first) = parts.first() else { continue };
        let is_begin =
            first.clone().any(|n| matches!(code.text(n), "begin" | "cbegin" | "rbegin") && code.text(n + 1) == "(");
        if is_begin && parts.len() >= 3 {
            let replacement = "std::for_each(std::execution::par, ...), or a loop";
            all.push(Finding::new(code.tokens[at].line, "parallel_for_each(begin", PPL, replacement));
        }
    }
    all
}

/// Files that are opened by wide names.
pub fn streams(_: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in 0..code.tokens.len() {
        let is_file =
            matches!(code.text(at), "ifstream" | "ofstream" | "fstream" | "wifstream" | "wofstream" | "wfstream");
        let open = if code.is_name(at + 1) { at + 2 } else { at + 1 };
        if is_file && matches!(code.text(open), "(" | "{") && is_wide(code, open + 1) {
            let replacement = "std::filesystem::path(name), or a name in UTF-8";
            all.push(Finding::new(
                code.tokens[at].line,
                format!("{}(wide name", code.text(at)),
                "file names are narrow strings here",
                replacement,
            ));
        }
        let is_open = code.text(at) == "open" && code.text(at + 1) == "(" && matches!(code.before(at), "." | "->");
        if is_open && is_wide(code, at + 2) {
            let replacement = "std::filesystem::path(name), or a name in UTF-8";
            all.push(Finding::new(
                code.tokens[at].line,
                "open(wide name",
                "file names are narrow strings here",
                replacement,
            ));
        }
    }
    all
}

/// The argument that begins here is wide text: a literal, or a variable whose nearest declaration before says so.
fn is_wide(code: &Code, at: usize) -> bool {
    if code.tokens.get(at).is_some_and(|t| t.wide) {
        return true;
    }
    let is_whole =
        matches!(code.text(at + 1), ")" | "," | "}") || code.text(at + 1) == "." && code.text(at + 2) == "c_str";
    if !code.is_name(at) || !is_whole {
        return false;
    }
    let is_declared = |n: usize| {
        code.text(n) == code.text(at)
            && (matches!(code.before(n), "&" | "*") || code.is_name(n - 1) && !is_no_type(code.before(n)))
    };
    let Some(declared) = (1..at).rev().find(|&n| is_declared(n)) else { return false };
    let types = (0..declared).rev().take(4).take_while(|&n| !matches!(code.text(n), "(" | "," | ";" | "{" | "}"));
    types.into_iter().any(|n| matches!(code.text(n), "wstring" | "wchar_t" | "LPCWSTR" | "LPWSTR" | "PCWSTR" | "WCHAR"))
}
