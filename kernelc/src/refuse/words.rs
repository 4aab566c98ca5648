//! Finds restrictions and `tile_static` in places where C++ AMP's grammar does not allow them, but Clang accepts them
//! as attributes.

use super::report::Finding;
use crate::diagnostics::SourceLocation;
use revamp_source::tokens::{Clauses, Code};
use std::path::Path;

/// The misplaced restrictions and `tile_static` of a source.
pub fn misplaced(path: &Path, source: &str, code: &Code<'_>, clauses: &Clauses, strict: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut at = 0;
    while at < code.tokens.len() {
        if let Some(end) = end_of_excluded_text(code, at) {
            at = end;
            continue;
        }
        let token = code.tokens[at];
        let why = match token.text {
            _ if token.directive => None,
            "restrict" => clauses.at(code, at).and_then(|(clause, _)| restriction(code, at, clause.end, strict)),
            "tile_static" => combined_tile_static(code, at),
            _ => None,
        };
        if let Some(why) = why {
            let before = &source[..token.start];
            let column = before.len() - before.rfind('\n').map_or(0, |n| n + 1) + 1;
            let line = before.matches('\n').count() + 1;
            let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let place = SourceLocation { file: path.display().to_string(), line: number(line), column: number(column) };
            findings.push(Finding { place, text: why.into() });
        }
        at += 1;
    }
    findings
}

/// The end of the text that `#if 0` excludes, if the `#if 0` begins at `at`.
fn end_of_excluded_text(code: &Code<'_>, at: usize) -> Option<usize> {
    if code.text(at) != "#" || code.text(at + 1) != "if" || code.text(at + 2) != "0" || !code.tokens[at].directive {
        return None;
    }
    let mut depth = 0_usize;
    for n in at..code.tokens.len() {
        if code.text(n) != "#" || !code.tokens[n].directive {
            continue;
        }
        match code.text(n + 1) {
            "if" | "ifdef" | "ifndef" => depth += 1,
            "endif" => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && matches!(code.text(n + 1), "else" | "elif" | "elifdef" | "elifndef") {
            return Some(n + 1);
        }
    }
    None
}

/// Why the restriction at `at` is misplaced; `None` if it is not.
fn restriction(code: &Code<'_>, at: usize, end: usize, strict: bool) -> Option<&'static str> {
    let next = code.text(end);
    if code.before(at) == "]" {
        let text = "restrict(...) must follow the parameters of a lambda: write [...](...) restrict(...)";
        return (next == "(" || strict).then_some(text);
    }
    if strict && next == "mutable" {
        return Some("restrict(...) must follow 'mutable'");
    }
    // A macro may turn its argument into anything.
    if matches!(code.before(at), "(" | ",") {
        return None;
    }
    let declaration = (0..at).rev().map(|n| code.text(n)).take_while(|text| ![";", "{", "}"].contains(text));
    let has_parameters = declaration.into_iter().any(|text| text == ")");
    (!has_parameters).then_some("restrict(...) must follow the parameters of a function")
}

/// Why the `tile_static` at `at` is misplaced; `None` if it is not.
fn combined_tile_static(code: &Code<'_>, at: usize) -> Option<&'static str> {
    let is_storage_class = |text: &str| matches!(text, "static" | "extern" | "register" | "thread_local" | "typedef");
    (is_storage_class(code.before(at)) || is_storage_class(code.text(at + 1)))
        .then_some("'tile_static' is a storage class: it cannot be combined with another storage class")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misplaced_restrictions_and_tile_static_are_found() {
        for (source, usual, strict) in [
            ("int restrict(amp) f();", "1:5", "1:5"),
            (";\n restrict(amp, cpu) int f();", "2:2", "2:2"),
            ("int f() {} restrict(amp)\nint g();", "1:12", "1:12"),
            ("using t = int restrict(cpu);", "1:15", "1:15"),
            ("auto l = [] restrict(amp) (int x) {};", "1:13", "1:13"),
            ("auto l = [] restrict(amp) {};", "", "1:13"),
            ("auto l = [](int) restrict(amp) mutable {};", "", "1:18"),
            ("static tile_static int x;", "1:8", "1:8"),
            ("tile_static extern int x;", "1:1", "1:1"),
            // Correct code, and code that cannot be judged.
            ("int f() restrict(amp); int g() const restrict(amp) restrict(cpu) { }", "", ""),
            (
                "#define A restrict(amp)\n#define B(x) restrict(amp) int x()\nint f() A; M(int f(), restrict(amp))",
                "",
                "",
            ),
            ("#if 0\nint restrict(amp) f();\n#if 1\n#endif\n#else\nint g();\n#endif", "", ""),
            ("#if 0\nint restrict(amp) f();\n#elifdef A\nint restrict(amp) g();\n#endif", "4:5", "4:5"),
            (
                "#if 0\n#if 1\n#elifndef A\n#endif\nint restrict(amp) f();\n#elifndef A\nint restrict(amp) g();\n#endif",
                "7:5",
                "7:5",
            ),
            ("int *restrict(p); int restrict = 3; tile_static int x; static int y;", "", ""),
            ("using f = int(int) restrict(amp); typedef int (*g)(int) restrict(cpu);", "", ""),
        ] {
            for (expected, strict) in [(usual, false), (strict, true)] {
                let code = Code::read(source);
                let mut clauses = Clauses::default();
                clauses.learn(&code);
                let findings = misplaced(Path::new("a"), source, &code, &clauses, strict);
                let place = |f: &Finding| format!("{}:{}", f.place.line, f.place.column);
                let places: Vec<String> = findings.iter().map(place).collect();
                assert_eq!(places.join(" "), expected, "{source}: {findings:?}");
            }
        }
    }
}
