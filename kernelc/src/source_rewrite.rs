//! Rewrites what C++ AMP allows and Clang does not, in a copy of the source with the same lines:
//!
//! - `mutable restrict(amp)`: in Clang attributes precede `mutable`;
//! - `tile_static` variables of classes: C++ AMP does not construct them; Clang would, and refuses.

use std::path::Path;

/// The source as Clang accepts it; `None` if there is nothing to rewrite.
pub fn rewritten(source: &str) -> Option<String> {
    let first = mutable_last(source);
    let second = rooms(first.as_deref().unwrap_or(source));
    second.or(first)
}

/// Types that need no construction. Classes may be treated as if they needed it.
const SCALARS: [&str; 20] = [
    "int", "unsigned", "signed", "float", "double", "long", "short", "char", "bool", "size_t", "int8_t", "int16_t",
    "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint", "const",
];

/// Puts `tile_static` variables of classes into a `tile_room`, which constructs nothing.
fn rooms(source: &str) -> Option<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut made = String::new();
    let mut done = 0;
    for (at, found) in source.match_indices("tile_static") {
        let rest = &source[at + found.len()..];
        let line = &source[source[..at].rfind('\n').map_or(0, |n| n + 1)..at];
        let in_code = !line.contains("//") && !line.trim_start().starts_with('#') && line.matches('"').count() % 2 == 0;
        if at < done || !in_code || line.ends_with(word) || !rest.starts_with(char::is_whitespace) {
            continue;
        }
        let Some(end) = rest.find(';') else { break };
        let declaration = &rest[..end];
        let Some(text) = room(declaration) else { continue };
        made += &source[done..at];
        made += &text;
        made.extend(declaration.chars().filter(|&c| c == '\n'));
        done = at + found.len() + end;
    }
    (done > 0).then(|| made + &source[done..])
}

/// The variables of one declaration in a `tile_room`; `None` if they need none or are not understood.
fn room(declaration: &str) -> Option<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if declaration.contains(['=', '{', '"', '*', '&', '#', '/']) {
        return None;
    }
    let mut depth = 0;
    let variables = declaration.split(|c: char| {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    let mut ty: Option<&str> = None;
    let mut text = Vec::new();
    for variable in variables {
        let variable = variable.trim();
        // The dimensions are what ends with a bracket.
        let mut name_end = variable.len();
        while variable[..name_end].trim_end().ends_with(']') {
            name_end = variable[..name_end].rfind('[')?;
        }
        let dimensions = variable[name_end..].trim();
        let named = variable[..name_end].trim_end();
        let name_start =
            named.rfind(|c| !word(c)).map_or(0, |n| n + named[n..].chars().next().map_or(1, char::len_utf8));
        let (before, name) = (named[..name_start].trim(), &named[name_start..]);
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let ty = match ty {
            None => {
                let first: String =
                    before.strip_prefix("std::").unwrap_or(before).chars().take_while(|&c| word(c)).collect();
                if before.is_empty() || SCALARS.contains(&first.as_str()) {
                    return None;
                }
                *ty.insert(before)
            }
            Some(ty) if before.is_empty() => ty,
            Some(_) => return None,
        };
        let ty = ty.split_whitespace().collect::<Vec<_>>().join(" ");
        let dimensions = dimensions.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push(format!(
            "tile_static ::revamp::detail::tile_room<{ty}{dimensions}> revamp_room_{name}; auto &{name} = revamp_room_{name}.value"
        ));
    }
    Some(text.join("; "))
}

/// The source with `restrict(...)` before `mutable`; `None` if there is nothing to rewrite.
fn mutable_last(source: &str) -> Option<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut made = String::new();
    let mut done = 0;
    for (at, found) in source.match_indices("mutable") {
        let rest = &source[at + found.len()..];
        let gap = rest.len() - rest.trim_start().len();
        let Some(after) = rest[gap..].strip_prefix("restrict") else { continue };
        let (true, true) = (gap > 0 && !source[..at].ends_with(word), after.trim_start().starts_with('(')) else {
            continue;
        };
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
    fn classes_get_rooms() {
        let made = |s: &str| rooms(s).unwrap();
        let room = |t: &str, n: &str| {
            format!("tile_static ::revamp::detail::tile_room<{t}> revamp_room_{n}; auto &{n} = revamp_room_{n}.value")
        };
        assert_eq!(made("{ tile_static body b[size]; }"), format!("{{ {}; }}", room("body[size]", "b")));
        assert_eq!(
            made("tile_static pair<int, 2>\n  a[4][N + 1], c;x"),
            format!("{}; {}\n;x", room("pair<int, 2>[4][N + 1]", "a"), room("pair<int, 2>", "c"))
        );
        assert_eq!(
            made("tile_static a::b::T t; tile_static int n;"),
            format!("{}; tile_static int n;", room("a::b::T", "t"))
        );
        for source in [
            "tile_static int a[4], b;",
            "tile_static unsigned int a;",
            "// tile_static body b;",
            "my_tile_static body b;",
            "tile_static body b = f();",
            "tile_static std::uint32_t b;",
            "tile_static body",
            "#define X tile_static body b;",
        ] {
            assert_eq!(rooms(source), None, "{source}");
        }
    }

    #[test]
    fn leaves_the_rest() {
        for source in [
            "mutable int x;",
            "immutable restrict(amp)",
            "mutable restricted",
            "restrict(amp) mutable",
            "mutable restrict(",
        ] {
            assert_eq!(mutable_last(source), None, "{source}");
        }
    }
}
