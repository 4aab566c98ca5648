//! Demangling, as far as messages need it.

/// The name of a function without its parameters: `foo` of `_Z3fooi`, `a::b` of `_ZN1a1bEv`. Other names are returned as they
/// are.
pub(crate) fn demangled(name: &str) -> String {
    parts(name).unwrap_or_else(|| name.to_string())
}

fn parts(name: &str) -> Option<String> {
    match name {
        "_Znwm" => return Some("operator new".into()),
        "_Znam" => return Some("operator new[]".into()),
        "_ZdlPv" | "_ZdlPvm" => return Some("operator delete".into()),
        "_ZdaPv" | "_ZdaPvm" => return Some("operator delete[]".into()),
        _ => {}
    }
    let mut rest = name.strip_prefix("_Z")?;
    rest = rest.strip_prefix('L').unwrap_or(rest);
    let nested = rest.strip_prefix('N');
    rest = nested.unwrap_or(rest);
    rest = rest.trim_start_matches(['K', 'V', 'R', 'O']);
    let mut found = Vec::new();
    if let Some(after) = rest.strip_prefix("St") {
        found.push("std");
        rest = after;
    }
    while let Some((identifier, after)) = identifier(rest) {
        found.push(identifier);
        rest = after;
        if nested.is_none() {
            break;
        }
    }
    if found.is_empty() { None } else { Some(found.join("::")) }
}

/// An identifier with its length before it, as symbols have them, and what follows.
pub(crate) fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    rest.is_char_boundary(length).then(|| rest.split_at(length))
}
