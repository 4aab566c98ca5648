//! Finds calls and objects that need an edit only in some contexts, which the rows of `idioms.txt` cannot describe.

use super::minima;
use crate::findings::{Edit, Finding};
use crate::functions::is_non_type_keyword;
use crate::lex::Token;
use crate::source::Source;
use crate::syntax::Code;

const PPL: &str = "the Parallel Patterns Library is not part of C++ AMP";

/// Finds unqualified calls of `min`, `max` and `abs`, unless the program declares the function.
pub fn minima(source: &Source, code: &Code) -> Vec<Finding> {
    let has_abs_of_floats = source.included.contains("<math.h>")
        || source.included.contains("<stdlib.h>")
        || uses_namespace(source, "direct3d");
    let is_undeclared = |name: &&str| {
        let names = &source.names;
        !names.has(name)
            && names.functions_named(name).is_empty()
            && !names.has_member(name)
            && !has_words(source, &["using", "std", "::", name])
    };
    let std_is_used = uses_namespace(source, "std");
    let std_names = ["min", "max", "abs"].into_iter().filter(is_undeclared).filter(|_| !std_is_used);
    let undeclared: Vec<&str> =
        std_names.chain(["__min", "__max"].into_iter().filter(|name| !source.names.has(name))).collect();
    let mut all = Vec::new();
    for at in (0..code.tokens.len()).filter(|&at| undeclared.contains(&code.text(at))) {
        let (name, before) = (code.text(at), code.before(at));
        // After a type, the name is a declaration. After `::`, it is qualified. After `.` or `->`, it is a member.
        let is_typed = at > 0
            && (code.is_name(at - 1) && !is_non_type_keyword(before)
                || matches!(before, "::" | "." | "->" | ">" | "*" | "&"));
        let is_operand = matches!(before, "*" | "&" | ">")
            && at >= 2
            && (code.text(at - 2).ends_with([')', ']'])
                || code.tokens[at - 2].text.starts_with(|c: char| c.is_ascii_digit()));
        if code.text(at + 1) != "(" || is_typed && !is_operand {
            continue;
        }
        let line = code.tokens[at].line;
        match name {
            "min" | "max" => {
                let reason = "a macro of <windows.h>, or a function that MSVC's headers leave in the global namespace";
                all.push(minima::finding(source, code, at, reason));
            }
            "__min" | "__max" => all.push(minima::finding(source, code, at, "a macro of MSVC")),
            "abs" if !has_abs_of_floats && !in_kernel(code, at) && !result_is_integer(source, code, at) => {
                let reason = "with only <cmath>, abs is abs(int), which drops the fraction";
                let edit = Edit::new(code.tokens[at].range.clone(), "std::abs");
                all.push(Finding::new(line, "abs(", reason, "std::abs, or #include <math.h>").with([edit]));
            }
            _ => {}
        }
    }
    all
}

/// True if the source or one of its headers has these words in sequence.
fn has_words(source: &Source, words: &[&str]) -> bool {
    let occurs_in = |tokens: &[Token]| {
        tokens.windows(words.len()).any(|window| window.iter().map(|t| t.text.as_str()).eq(words.iter().copied()))
    };
    occurs_in(&source.tokens) || source.headers.iter().any(|header| occurs_in(&header.tokens))
}

/// True if a using-directive names the namespace: `using namespace concurrency::direct3d;`.
fn uses_namespace(source: &Source, name: &str) -> bool {
    let is_directive = |tokens: &[Token], at: usize| {
        let before = tokens[..at].iter().rev().skip_while(|t| t.text == "::" || t.is_name() && t.text != "namespace");
        before.map(|t| t.text.as_str()).take(2).eq(["namespace", "using"])
    };
    let occurs_in = |tokens: &[Token]| {
        (0..tokens.len().saturating_sub(1))
            .any(|at| tokens[at].text == name && tokens[at + 1].text == ";" && is_directive(tokens, at))
    };
    occurs_in(&source.tokens) || source.headers.iter().any(|header| occurs_in(&header.tokens))
}

/// True if the token is in a `restrict(amp)` function or lambda, where overload resolution considers other `abs` functions.
fn in_kernel(code: &Code, at: usize) -> bool {
    code.around(at).any(|scope| {
        let of = |n: usize| (code.text(n) == "restrict").then(|| code.pair(n + 1)).flatten().map(|end| n..end);
        scope.head.clone().filter_map(of).flatten().any(|n| code.text(n) == "amp")
    })
}

const INTEGERS: [&str; 12] =
    ["int", "unsigned", "long", "short", "size_t", "UINT", "DWORD", "LONG", "char", "int32_t", "uint32_t", "INT"];

/// True if the result of the call at a token is assigned to an integer variable, or if the argument is an integer.
fn result_is_integer(source: &Source, code: &Code, at: usize) -> bool {
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

/// The last word of each type with which a name is declared: `int` for both names of `int a, b;`.
fn types_of<'t>(tokens: &'t [Token], name: &str) -> Vec<&'t str> {
    let text = |n: usize| tokens[n].text.as_str();
    let declared = (1..tokens.len()).filter(|&n| text(n) == name);
    let of = |mut n: usize| {
        while n >= 3 && text(n - 1) == "," && tokens[n - 2].is_name() {
            n -= 2;
        }
        tokens[n - 1].is_name().then(|| text(n - 1)).filter(|word| !is_non_type_keyword(word))
    };
    declared.filter_map(of).collect()
}

/// Finds `assert` with a text as the second argument.
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

/// Finds tasks that are constructed from a lambda: `task<int> t([] { ... })`.
pub fn tasks(_: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in (0..code.tokens.len()).filter(|&at| code.text(at) == "task" && code.text(at + 1) == "<") {
        let Some(end) = code.angle(at + 1) else { continue };
        let open = if code.is_name(end + 1) { end + 2 } else { end + 1 };
        if matches!(code.text(open), "(" | "{") && code.text(open + 1) == "[" {
            let replacement = "use std::async; completion_future::to_task() returns a task";
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

/// Finds calls of `system` with a command of Windows: `system("pause")`.
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
                "remove the call, or use a command of this system",
            ));
        }
    }
    all
}

/// Finds `parallel_for_each` over iterators.
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

/// Finds file streams that are opened with a wide file name.
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

/// True if the argument that begins at a token is a wide literal, or a variable whose nearest preceding declaration has a wide type.
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
            && (matches!(code.before(n), "&" | "*") || code.is_name(n - 1) && !is_non_type_keyword(code.before(n)))
    };
    let Some(declared) = (1..at).rev().find(|&n| is_declared(n)) else { return false };
    let types = (0..declared).rev().take(4).take_while(|&n| !matches!(code.text(n), "(" | "," | ";" | "{" | "}"));
    types.into_iter().any(|n| matches!(code.text(n), "wstring" | "wchar_t" | "LPCWSTR" | "LPWSTR" | "PCWSTR" | "WCHAR"))
}
