//! Finds conversions in wide format strings that MSVC and the C library read differently. MSVC reads `%s` as wide text and `%S` as narrow
//! text; the C library of this system does the reverse.

use crate::tokens::{Code, Kind};

/// Functions of C and of Microsoft's library that take a wide format.
const FUNCTIONS: [&str; 26] = [
    "wprintf",
    "fwprintf",
    "swprintf",
    "vwprintf",
    "vfwprintf",
    "vswprintf",
    "wscanf",
    "fwscanf",
    "swscanf",
    "wprintf_s",
    "fwprintf_s",
    "swprintf_s",
    "vwprintf_s",
    "vfwprintf_s",
    "vswprintf_s",
    "_snwprintf",
    "_snwprintf_s",
    "_vsnwprintf",
    "_vsnwprintf_s",
    "_swprintf",
    "wscanf_s",
    "fwscanf_s",
    "swscanf_s",
    "_wprintf_p",
    "_scwprintf",
    "wsprintfW",
];

/// The reason for the warning.
pub const REASON: &str = "in a wide format string, the C library reads `%s` and `%c` as narrow text and `%S` and `%C` as wide \
                          text; MSVC does the reverse";
/// The conversions that MSVC and the C library read alike.
pub const REPLACEMENT: &str =
    "`%ls`, `%lc` for wide text and `%hs`, `%hc` for narrow text, which both libraries read alike";

/// A conversion that MSVC and the C library read differently.
pub struct Conversion {
    /// The offset of the string literal that contains the conversion, in bytes.
    pub start: usize,
    /// The text of the conversion in the source, for example `%-8s`.
    pub text: String,
}

/// Appends to `names` the functions and macros of a source that take a wide format, such as
/// `void trace(const wchar_t *format, ...);` and `#define TRACE(...) trace(__VA_ARGS__)`.
pub fn declared(source: &str, mut names: Vec<String>) -> Vec<String> {
    let code = Code::read(source);
    for at in 0..code.tokens.len() {
        let Some(end) = code.pair(at + 1).filter(|&end| code.text(at + 1) == "(" && code.text(end - 1) == ".") else {
            continue;
        };
        let has = |word: &str| (at + 2..end).any(|n| code.text(n) == word);
        let has_format = ["wchar_t", "LPCWSTR", "PCWSTR", "WCHAR"].into_iter().any(has);
        let is_macro = code.before(at) == "define" && {
            let body =
                (end + 1..code.tokens.len()).take_while(|&n| code.tokens[n].directive && code.text(n) != "define");
            let passes_on =
                |n: usize| names.iter().any(|name| name == code.text(n)) || FUNCTIONS.contains(&code.text(n));
            body.clone().any(|n| code.text(n) == "__VA_ARGS__") && body.clone().any(passes_on)
        };
        if code.tokens[at].kind == Kind::Word && (has_format || is_macro) {
            names.push(code.text(at).to_owned());
        }
    }
    names
}

/// The conversions without a width modifier (`l` or `h`) in the wide formats of calls. The called functions are [`FUNCTIONS`] and those in `more`.
pub fn found(source: &str, more: &[String]) -> Vec<Conversion> {
    let code = Code::read(source);
    let mut all = Vec::new();
    for at in 0..code.tokens.len() {
        let is_member = matches!(code.before(at), "." | "->");
        let Some(end) = code.pair(at + 1).filter(|_| code.text(at + 1) == "(") else { continue };
        if is_member || !FUNCTIONS.contains(&code.text(at)) && !more.iter().any(|name| name == code.text(at)) {
            continue;
        }
        for n in at + 2..end {
            let wide = code.tokens[n].kind == Kind::Literal
                && code.text(n).starts_with('"')
                && code.before(n) == "L"
                && code.tokens[n - 1].end() == code.tokens[n].start;
            if wide {
                let start = code.tokens[n].start;
                all.extend(conversions(code.text(n)).into_iter().map(|text| Conversion { start, text }));
            }
        }
    }
    all
}

/// The conversions of text and characters in `format` that have no width modifier (`l` or `h`).
fn conversions(format: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = format;
    while let Some(begin) = rest.find('%') {
        let after_percent = &rest[begin + 1..];
        let flags = after_percent.find(|c: char| !"-+ #0'.*123456789$".contains(c)).unwrap_or(after_percent.len());
        let kind = after_percent[flags..].chars().next();
        if let Some('s' | 'S' | 'c' | 'C') = kind {
            all.push(format!("%{}", &after_percent[..=flags]));
        }
        // This also skips the second `%` of `%%`.
        rest = &after_percent[(flags + kind.map_or(0, char::len_utf8)).min(after_percent.len())..];
    }
    all
}

/// The warnings about a source, in the format of compiler diagnostics.
pub fn warnings(path: &std::path::Path, source: &str) -> String {
    let mut text = String::new();
    for Conversion { start, text: conversion } in found(source, &declared(source, Vec::new())) {
        let before = &source[..start];
        let (line, column) = (before.matches('\n').count() + 1, start - before.rfind('\n').map_or(0, |n| n + 1) + 1);
        text +=
            &format!("{}:{line}:{column}: warning: '{conversion}': {REASON}; write {REPLACEMENT}\n", path.display());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_conversions_without_width_modifier() {
        for (source, expected) in [
            ("swprintf(b, 9, L\"%s\", w);", &["%s"][..]),
            ("std::wprintf(L\"%d %-8.3S and %c%%s %ls %hs %lc\", 1);", &["%-8.3S", "%c"]),
            ("swprintf_s(b, L\"a\" L\"%s\", f(L\"%d\"));", &["%s"]),
            ("swprintf(b, 9, \"%s\", n); printf(\"%s\", n); s.wprintf(L\"%s\"); x = L\"%s\"; // wprintf(L\"%s\")", &[]),
            (
                "void trace(const wchar_t *format, ...);\nvoid log(const char *format, ...);\n#define TRACE(format, ...) trace(format, __VA_ARGS__)\n\
                 TRACE(L\"%s\", w); trace(L\"%c\", c); log(L\"%S\");",
                &["%s", "%c"],
            ),
            ("wprintf(L\"100%%s %", &[]),
            ("wprintf(L\"%\");", &[]),
        ] {
            let found: Vec<String> = found(source, &declared(source, Vec::new())).into_iter().map(|c| c.text).collect();
            assert_eq!(found, expected, "{source}");
        }
        let warned = warnings(std::path::Path::new("a.cpp"), "int x;\n  wprintf(L\"%s\", x);\n");
        assert!(warned.starts_with("a.cpp:2:12: warning: '%s': ") && warned.contains("`%ls`"), "{warned}");
    }
}
