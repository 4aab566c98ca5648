//! Checks the literals of a source (numbers and format strings), and its encoding.

use super::minima::{ArithmeticType, arithmetic_type};
use crate::findings::{Edit, Finding};
use crate::source::Source;
use crate::syntax::Code;
use crate::text::Encoding;
use revamp_source::wide_formats;
use std::ops::Range;

/// Finds numbers with suffixes of MSVC.
pub fn numbers(source: &Source, _: &Code) -> Vec<Finding> {
    let suffixes = [("ui64", "ull"), ("i64", "ll"), ("ui32", "u"), ("i32", "")];
    let mut all = Vec::new();
    for token in source.tokens.iter().filter(|t| t.text.starts_with(|c: char| c.is_ascii_digit())) {
        let lower = token.text.to_lowercase();
        let Some((suffix, standard)) = suffixes.iter().find(|(suffix, _)| lower.ends_with(suffix)) else { continue };
        let replacement = format!("{}{standard}", &token.text[..token.text.len() - suffix.len()]);
        let edit = Edit::new(token.range.clone(), replacement.clone());
        all.push(Finding::new(token.line, token.text.clone(), "an MSVC literal suffix", replacement).with([edit]));
    }
    all
}

/// Finds conversions in wide format strings that the C library and MSVC interpret differently, and MSVC's length
/// modifiers.
pub fn formats(source: &Source, _: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    let is_live = |start: usize| source.tokens.iter().any(|t| t.range.contains(&start));
    for wide_formats::Conversion { start, text: found } in
        wide_formats::found(&source.text, &source.wide_format_functions())
    {
        if is_live(start) {
            let line = source.text[..start].matches('\n').count() + 1;
            all.push(Finding::new(line, found, wide_formats::REASON, wide_formats::REPLACEMENT));
        }
    }
    for token in source.tokens.iter().filter(|t| t.text == "\"\"") {
        let written = &source.text[token.range.clone()];
        let mut rest = written;
        while let Some((_, conversion)) = rest.split_once('%') {
            // Skip flags, width and precision.
            let after_flags = conversion.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*".contains(c));
            let begin = &conversion[..conversion.len() - after_flags.len()];
            rest = after_flags.strip_prefix('%').filter(|_| begin.is_empty()).unwrap_or(after_flags);
            let lengths = [("I64", "ll"), ("I32", ""), ("I", "z")];
            let Some((length, standard)) = lengths.iter().find(|(length, _)| after_flags.starts_with(length)) else {
                continue;
            };
            let kind = after_flags[length.len()..].chars().next().filter(|c| "diuxXo".contains(*c));
            let Some(kind) = kind else { continue };
            let start = token.range.end - after_flags.len();
            let edit = Edit::new(start..start + length.len(), *standard);
            let (found, replacement) = (format!("%{begin}{length}{kind}"), format!("%{begin}{standard}{kind}"));
            all.push(Finding::new(token.line, found, "an MSVC length modifier", replacement).with([edit]));
        }
    }
    all
}

/// Finds `%ld` and `%lu` for arguments that have 32 bits here: LONG, DWORD, HRESULT.
pub fn long_conversions(source: &Source, code: &Code) -> Vec<Finding> {
    let mut all = Vec::new();
    for open in (0..code.tokens.len()).filter(|&n| code.text(n) == "(" && n > 0 && code.is_name(n - 1)) {
        let Some(close) = code.pair(open) else { continue };
        let parts = code.split(open + 1..close);
        let is_text = |part: &Range<usize>| part.clone().all(|n| code.text(n) == "\"\"");
        let Some(format) = parts.iter().position(is_text) else { continue };
        let conversions = parts[format].clone().flat_map(|n| conversions(source, code.tokens[n].range.clone()));
        for (conversion, argument) in conversions.zip(&parts[format + 1..]) {
            let written = &source.text[conversion.clone()];
            let is_long = written.len() > 2
                && written.ends_with(['d', 'i', 'u', 'x', 'X', 'o'])
                && written[..written.len() - 1].ends_with('l')
                && !written.contains("ll");
            if is_long
                && matches!(
                    arithmetic_type(source, code, argument.clone()),
                    Some(ArithmeticType::Int | ArithmeticType::Unsigned)
                )
            {
                let length = conversion.end - 2..conversion.end - 1;
                let replacement = format!("{}{}", &written[..written.len() - 2], &written[written.len() - 1..]);
                let line = source.text[..conversion.start].matches('\n').count() + 1;
                let reason = "long has 64 bits here, but the argument has 32 bits";
                all.push(Finding::new(line, written, reason, replacement).with([Edit::new(length, "")]));
            }
        }
    }
    all
}

/// Returns a byte range for each argument that a format string takes, in order: the conversion, or an empty range for
/// a `*`.
fn conversions(source: &Source, literal: Range<usize>) -> Vec<Range<usize>> {
    let text = &source.text[literal.clone()];
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(begin) = text[at..].find('%').map(|n| at + n) {
        let rest = &text[begin + 1..];
        let end = rest.find(|c: char| !"-+ #.*0123456789hljztLqwI".contains(c)).unwrap_or(rest.len());
        let kind = rest[end..].chars().next().map_or(0, char::len_utf8);
        let place = literal.start + begin..literal.start + begin + 1 + end + kind;
        if !rest.starts_with('%') {
            all.extend(rest[..end].matches('*').map(|_| place.start..place.start));
            all.push(place.clone());
        }
        at = place.end - literal.start;
    }
    all
}

/// Reports an encoding other than UTF-8, because compilers on Linux read UTF-8.
pub fn encoding(source: &Source, _: &Code) -> Vec<Finding> {
    match source.encoding {
        Encoding::Utf8 => Vec::new(),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            vec![Finding::new(1, source.encoding.name(), "compilers here read UTF-8", "iconv -f UTF-16 -t UTF-8")]
        }
        Encoding::Windows1252 => {
            let at = source.text.find(|c: char| !c.is_ascii()).unwrap_or(0);
            let line = source.text[..at].matches('\n').count() + 1;
            let reason = "compilers here read UTF-8, so text in another encoding is printed as garbage, and wide text \
                          is rejected";
            let finding = Finding::new(line, source.encoding.name(), reason, "iconv -f WINDOWS-1252 -t UTF-8");
            // In comments, the encoding does not matter.
            let in_strings = source.tokens.iter().any(|t| !source.text[t.range.clone()].is_ascii());
            vec![if in_strings { finding } else { finding.as_note() }]
        }
    }
}
