//! Clang's errors in C++ AMP's words. Clang names restrictions by HIP's attributes, and reports a wrong call of revamp's headers inside the
//! headers. This module reports both in C++ AMP's words, at the program's line.
//!
//! Clang's texts decide only what is shown. The compilation fails with each of these errors, whatever the text.

use super::libclang::{Cursor, Diagnostic, Place};
use super::rules::Found;
use super::types::is_function;
use super::wording::{amp_function_text, cpu_call, cpu_function_text, of_library};
use crate::diagnostics::{captured_by_reference, in_amp_words};
use crate::files::lies_in;
use std::path::Path;

/// The start of Clang's error about a use of a host function.
const HOST_REFERENCE: &str = "reference to __host__ function ";

/// How an error of Clang is shown.
pub(super) enum Shown {
    /// As Clang has it.
    Clangs,
    /// As this text, at this place of the program.
    Ours(Place, String),
    /// A rule has said it.
    Already,
    /// A consequence of an earlier error: Clang does not repeat the notes that lead to the program.
    Follows,
}

/// How an error of Clang is shown. `headers`: the folder of C++ AMP's headers.
pub(super) fn shown(one: &Diagnostic, found: &Found, headers: &Path) -> Shown {
    if let Some(shown) = capture(one, found) {
        return shown;
    }
    // For an error in a header: the innermost line of the program that led there.
    let leads = |note: &&Diagnostic| !note.of_system && !note.text.starts_with("in file included from");
    let user = one.notes.iter().find(leads).map(|note| &note.place).filter(|_| one.of_system);
    let of_headers = one.of_system && lies_in(&one.place.file, headers);
    let place = match user {
        // A value of a class that only the host can use leads to calls that the program does not name.
        None if one.of_system && found.refused_host_classes.any() && one.text.starts_with(HOST_REFERENCE) => {
            return Shown::Already;
        }
        None if of_headers => return Shown::Follows,
        None if one.place.line == 0 => return Shown::Clangs,
        None => &one.place,
        Some(place) => place,
    };
    let ours = |text: String| Shown::Ours(place.clone(), text);
    let asserted = asserted(&one.text).map(str::to_owned);
    let launch = || found.uncallable.get(&(place.file.clone(), place.line)).cloned();
    if let Some(text) = asserted.or_else(launch).filter(|_| of_headers) {
        return ours(text);
    }
    if let Some(text) = call(one, user.is_some(), found) {
        return text.map_or(Shown::Already, ours);
    }
    if of_headers {
        return ours(one.text.clone());
    }
    let worded = in_amp_words(&one.text);
    if worded != one.text {
        return ours(worded);
    }
    match one.notes.iter().find(|note| lies_in(&note.place.file, headers)) {
        Some(note) if !one.of_system => ours(of_use(one, note)),
        _ if is_of_no_tile(&one.text) => ours(format!(
            "{}: tiles and barriers are those of tiled launches, over extent.tile<...>() with a tiled_index",
            one.text
        )),
        _ => Shown::Clangs,
    }
}

/// Of a capture that Clang refuses.
fn capture(one: &Diagnostic, found: &Found) -> Option<Shown> {
    let this = one.text.starts_with("capture host side class data member by this pointer");
    let name = if this { "this" } else { captured_by_reference(&one.text)? };
    if found.by_reference.contains(&(one.place.file.clone(), one.place.line, name.to_owned())) {
        return Some(Shown::Already);
    }
    let text = format!(
        "'{name}': by-reference capture or 'this' capture is unsupported if the lambda is amp restricted (C3590); capture values"
    );
    Some(Shown::Ours(one.place.clone(), text))
}

/// Of a call that restrictions forbid: what is said, or nothing where a rule has said it. `within`: the call stands in a library.
fn call(one: &Diagnostic, within: bool, found: &Found) -> Option<Option<String>> {
    let candidate = |text: &str| one.notes.iter().find(|note| note.text.contains(text));
    let called = |note: &Diagnostic| if is_function(note.at.kind()) { note.at.spelling() } else { quoted(&one.text) };
    if let Some(note) = candidate("call to __device__ function from __host__ function") {
        return Some(Some(amp_function_text(&called(note))));
    }
    let named = one.text.starts_with(HOST_REFERENCE);
    let note = candidate("call to __host__ function from ");
    if !named && note.is_none() {
        return None;
    }
    let note = note.or_else(|| one.notes.iter().find(|note| named && note.text.ends_with(" declared here")));
    let function = |at: &Cursor| is_function(at.kind());
    let callee = note.map(|note| note.at).filter(function).or_else(|| one.at.referenced().filter(function));
    let name = callee.map_or_else(|| quoted(&one.text), Cursor::spelling);
    if within {
        return Some(Some(format!("amp code calls what needs '{name}', a cpu function of a library (C3930)")));
    }
    let Some(callee) = callee else { return Some(Some(cpu_call(&name, &of_library(&name)))) };
    if found.refused_host_classes.explain(callee) {
        return Some(None);
    }
    Some(Some(cpu_function_text(callee)))
}

/// The first name in quotation marks.
fn quoted(text: &str) -> String {
    text.split('\'').nth(1).unwrap_or_default().to_owned()
}

/// What a failed static_assert says.
fn asserted(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("static assertion failed")?;
    let after_requirement = || rest.strip_prefix(" due to requirement '")?.split_once("': ").map(|(_, said)| said);
    rest.strip_prefix(": ").or_else(after_requirement)
}

/// Of an error in a use of the headers, whose first note there says why.
fn of_use(one: &Diagnostic, note: &Diagnostic) -> String {
    if note.text.contains("which returns const-qualified type") {
        return "the elements cannot be assigned to: write array_view<T> instead of array_view<const T>".into();
    }
    let why = note.text.split_once("not viable: ").or_else(|| note.text.split_once("ignored: "));
    why.map_or_else(|| one.text.clone(), |(_, why)| format!("{}: {why}", one.text))
}

/// A plain index is asked for what a tiled_index has.
fn is_of_no_tile(text: &str) -> bool {
    let members = ["barrier", "local", "global", "tile", "tile_origin"];
    text.contains("' in 'Concurrency::index<")
        && members.iter().any(|name| text.contains(&format!("no member named '{name}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_assertions_are_whole() {
        assert_eq!(asserted("static assertion failed: give 'f': it is missing"), Some("give 'f': it is missing"));
        let with_requirement = "static assertion failed due to requirement 'n > 0': give 'n': it is missing";
        assert_eq!(asserted(with_requirement), Some("give 'n': it is missing"));
        assert_eq!(asserted("static assertion failed due to requirement 'n > 0'"), None);
        assert_eq!(asserted("expected expression"), None);
    }
}
