//! The one thing of C++ AMP's grammar that Clang does not read: `mutable restrict(amp)`, where its attributes stand before
//! `mutable`. Exchanged in a copy of the source of the same length, so that lines and nearly all columns stay.

use std::path::Path;

/// The source with `restrict(...)` before `mutable`; `None` if there is nothing to do.
pub fn mutable_last(source: &str) -> Option<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut made = String::new();
    let mut done = 0;
    for (at, found) in source.match_indices("mutable") {
        let rest = &source[at + found.len()..];
        let gap = rest.len() - rest.trim_start().len();
        let Some(after) = rest[gap..].strip_prefix("restrict") else { continue };
        let (true, true) = (gap > 0 && !source[..at].ends_with(word), after.trim_start().starts_with('(')) else { continue };
        let Some(end) = after.find(')') else { continue };
        let clause = at + found.len() + gap;
        let last = clause + "restrict".len() + end + 1;
        made += &source[done..at];
        made += &source[clause..last];
        made += &rest[..gap];
        made += found;
        done = last;
    }
    (done > 0).then(|| made + &source[done..])
}

/// What makes Clang read `copy` where `source` is named (-ivfsoverlay).
pub fn overlay(source: &Path, copy: &Path) -> String {
    let quoted = |path: &Path| {
        let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{text}\"")
    };
    format!(
        "{{\"version\": 0, \"use-external-names\": false, \"roots\": [{{\"type\": \"file\", \"name\": {}, \"external-contents\": \
         {}}}]}}\n",
        quoted(source),
        quoted(copy)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_and_keeps_the_length() {
        let source = "f([=](index<1> i) mutable restrict(amp) {});\n g([] () mutable\n  restrict (amp, cpu) {});";
        let made = mutable_last(source).unwrap();
        assert_eq!(made, "f([=](index<1> i) restrict(amp) mutable {});\n g([] () restrict (amp, cpu)\n  mutable {});");
        assert_eq!(made.len(), source.len());
    }

    #[test]
    fn leaves_the_rest() {
        for source in ["mutable int x;", "immutable restrict(amp)", "mutable restricted", "restrict(amp) mutable", "mutable restrict("] {
            assert_eq!(mutable_last(source), None, "{source}");
        }
    }
}
