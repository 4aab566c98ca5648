//! Finds keywords of MSVC that are ordinary names in standard C++.

use crate::findings::{Edit, Finding};
use crate::source::Source;
use crate::syntax::Code;

/// Finds `class a sealed`, `class a abstract`, and functions with these words.
pub fn sealed_and_abstract(_: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for at in 1..code.tokens.len() {
        let word = code.text(at);
        if !matches!(word, "sealed" | "abstract") {
            continue;
        }
        let (before, after) = (code.before(at), code.text(at + 1));
        let of_class = matches!(after, "{" | ":" | "sealed" | "abstract") && is_class_head(code, at);
        let of_function = matches!(before, ")" | "const" | "override" | "noexcept" | "sealed")
            && matches!(after, ";" | "{" | "abstract" | "override");
        let token = &code.tokens[at];
        let (replacement, new) = match (word, of_class, of_function) {
            ("sealed", true, _) | ("sealed", _, true) => ("final", "final"),
            ("abstract", true, _) => ("remove it, because a pure virtual function makes the class abstract", ""),
            ("abstract", _, true) => ("= 0", "= 0"),
            _ => continue,
        };
        // The edit that drops a keyword also drops the blank before it.
        let start = if new.is_empty() { code.tokens[at - 1].range.end } else { token.range.start };
        all.push(
            Finding::new(token.line, word, "an MSVC keyword", replacement)
                .with([Edit::new(start..token.range.end, new)]),
        );
    }
    all
}

fn is_class_head(code: &Code, at: usize) -> bool {
    (0..at)
        .rev()
        .take_while(|&n| !matches!(code.text(n), ";" | "{" | "}" | "="))
        .any(|n| matches!(code.text(n), "class" | "struct"))
}
