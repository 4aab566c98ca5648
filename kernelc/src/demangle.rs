//! Demangles function names for messages.

/// The name of a function without its parameters: `foo` for `_Z3fooi`, `a::b` for `_ZN1a1bEv`. A name that is not
/// mangled is returned unchanged.
pub(crate) fn demangled(name: &str) -> String {
    try_demangle(name).unwrap_or_else(|| name.to_string())
}

fn try_demangle(name: &str) -> Option<String> {
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
    let mut identifiers = Vec::new();
    if let Some(after) = rest.strip_prefix("St") {
        identifiers.push("std");
        rest = after;
    }
    while let Some((identifier, after)) = identifier(rest) {
        identifiers.push(identifier);
        rest = after;
        if nested.is_none() {
            break;
        }
    }
    if identifiers.is_empty() { None } else { Some(identifiers.join("::")) }
}

/// Splits a part of a symbol that begins with the length of an identifier. Returns the identifier and the rest.
pub(crate) fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    rest.is_char_boundary(length).then(|| rest.split_at(length))
}
