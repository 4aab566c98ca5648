//! Calls of `min` and `max`, which are macros on Windows and take two numbers of any types.

use crate::findings::{Edit, Finding};
use crate::functions::is_no_type;
use crate::source::Source;
use crate::syntax::{Code, Kind};
use std::ops::Range;

/// The finding of a `min` or `max` at a token. It is edited unless its arguments are seen to have different types.
pub fn finding(source: &Source, code: &Code, at: usize, reason: &str) -> Finding {
    let name = code.text(at).trim_start_matches('_');
    let replacement = format!("std::{name}, with both of one type");
    let finding = Finding::new(code.tokens[at].line, format!("{}(", code.text(at)), reason, replacement);
    let parts = code.pair(at + 1).map(|close| code.split(at + 2..close)).unwrap_or_default();
    let numbers: Vec<Option<Number>> = parts.into_iter().map(|part| number(source, code, part)).collect();
    let fits = match numbers[..] {
        [Some(Number::Enumerator), _] | [_, Some(Number::Enumerator)] => false,
        [Some(a), Some(b)] => a == b,
        _ => true,
    };
    let edit = fits.then(|| Edit::new(code.tokens[at].range.clone(), format!("std::{name}")));
    finding.with(edit)
}

/// The type of a number here, after the edits of the table. Of two the greater is that of their sum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Number {
    Small(char, u8),
    Enumerator,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Float,
    Double,
}

/// The names of a type, in any order of their words.
const TYPES: &[(Number, &str)] = &[
    (Number::Int, "int INT BOOL INT32 LONG LONG32 HRESULT int32_t __int32"),
    (Number::Unsigned, "unsigned UINT DWORD UINT32 ULONG ULONG32 DWORD32 uint32_t"),
    (Number::Long, "long int64_t ptrdiff_t intptr_t SSIZE_T LONG_PTR INT_PTR"),
    (Number::UnsignedLong, "size_t uint64_t uintptr_t SIZE_T ULONG_PTR DWORD_PTR UINT_PTR"),
    (Number::LongLong, "__int64 LONGLONG INT64 LONG64"),
    (Number::UnsignedLongLong, "ULONGLONG UINT64 DWORD64 DWORDLONG QWORD ULONG64"),
    (Number::Float, "float FLOAT"),
    (Number::Double, "double DOUBLE"),
    (Number::Small('s', 2), "short INT16 SHORT int16_t __int16"),
    (Number::Small('u', 2), "WORD USHORT UINT16 uint16_t"),
    (Number::Small('s', 1), "INT8 int8_t __int8"),
    (Number::Small('u', 1), "BYTE UCHAR UINT8 BOOLEAN uint8_t"),
    (Number::Small('c', 1), "char CHAR"),
];

/// Words of a declaration that leave the size and the sign of its type alone.
const QUALIFIERS: [&str; 10] =
    ["const", "volatile", "static", "constexpr", "extern", "inline", "mutable", "signed", "std", "::"];

/// The type that words say, the last of them first.
fn of_words<'w>(words: impl Iterator<Item = &'w str>) -> Option<Number> {
    let (mut longs, mut is_unsigned, mut rest) = (0, false, None);
    for word in words.filter(|word| !QUALIFIERS.contains(word)) {
        match word {
            "long" => longs += 1,
            "unsigned" => is_unsigned = true,
            _ if rest.is_none() => rest = Some(word),
            _ => return None,
        }
    }
    let named = |word: &str| TYPES.iter().find(|(_, names)| names.split(' ').any(|name| name == word)).map(|(n, _)| *n);
    match (rest.map(|word| named(word).ok_or(())).transpose().ok()?, longs, is_unsigned) {
        (None, 0, false) => None,
        (Some(Number::Int), 0, false) => Some(Number::Int),
        (None | Some(Number::Int), 0, true) => Some(Number::Unsigned),
        (None | Some(Number::Int), 1, false) => Some(Number::Long),
        (None | Some(Number::Int), 1, true) => Some(Number::UnsignedLong),
        (None | Some(Number::Int), 2, false) | (Some(Number::LongLong), 0, false) => Some(Number::LongLong),
        (None | Some(Number::Int), 2, true) | (Some(Number::LongLong), 0, true) => Some(Number::UnsignedLongLong),
        (Some(Number::Small(_, size)), 0, true) => Some(Number::Small('u', size)),
        (Some(number), 0, false) => Some(number),
        _ => None,
    }
}

/// The type of an expression, where the source says it.
pub fn number(source: &Source, code: &Code, range: Range<usize>) -> Option<Number> {
    let (first, last) = (range.start, range.end.checked_sub(1)?);
    let word = code.text(first);
    if range.len() == 1 {
        return if code.is_name(first) { of_name(source, code, word) } else { of_literal(word) };
    }
    if let Some(operands) = operands(code, &range) {
        // Sums of small numbers are int.
        let all: Option<Vec<Number>> = operands.into_iter().map(|part| number(source, code, part)).collect();
        return all?.into_iter().max().map(|number| number.max(Number::Int));
    }
    if word == "-" {
        return number(source, code, first + 1..range.end);
    }
    if let Some(close) = code.pair(first).filter(|&close| word == "(" && close < last) {
        // A cast.
        return of_words((first + 1..close).rev().map(|n| code.text(n)));
    }
    if word == "sizeof" {
        return Some(Number::UnsignedLong);
    }
    let open = code.pair(last).filter(|&open| open >= first && code.text(last) == ")");
    match open {
        Some(open) if open == first => number(source, code, first + 1..last),
        Some(open) if open + 1 == last => {
            let is_size = matches!(code.before(open), "size" | "length") && matches!(code.before(open - 1), "." | "->");
            let is_own = source.names.has_member(code.before(open));
            (is_size && !is_own).then_some(Number::UnsignedLong)
        }
        Some(_) if word == "static_cast" && code.text(first + 1) == "<" => {
            let close = code.angle(first + 1)?;
            of_words((first + 2..close).rev().map(|n| code.text(n)))
        }
        Some(open) if matches!(word, "min" | "max" | "__min" | "__max") && open == first + 1 => {
            let parts = code.split(open + 1..last).into_iter();
            parts.map(|part| number(source, code, part)).collect::<Option<Vec<_>>>()?.into_iter().max()
        }
        Some(open) => of_words((first..open).rev().map(|n| code.text(n))),
        None => None,
    }
}

/// The operands of a sum or a product.
fn operands(code: &Code, range: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let (mut start, mut n) = (range.start, range.start);
    while n < range.end {
        match code.text(n) {
            "(" | "[" => n = code.pair(n)?,
            "+" | "-" | "*" | "/" | "%" if n > start && code.before(n) != "(" => {
                found.push(start..n);
                start = n + 1;
            }
            "<" => n = code.angle(n)?,
            ">" | "&" | "|" | "^" | "?" | "=" | "!" | "~" | "{" => return None,
            _ => {}
        }
        n += 1;
    }
    found.push(start..range.end);
    (found.len() > 1 && found.iter().all(|part| !part.is_empty())).then_some(found)
}

fn of_literal(text: &str) -> Option<Number> {
    let lower = text.to_lowercase();
    let is_hexadecimal = lower.starts_with("0x");
    if !lower.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if !is_hexadecimal && lower.contains(['.', 'e', 'f']) {
        return Some(if lower.ends_with('f') { Number::Float } else { Number::Double });
    }
    let suffix = lower.trim_start_matches("0x").trim_start_matches(|c: char| c.is_ascii_hexdigit() || c == '\'');
    match suffix {
        "" | "i32" => Some(Number::Int),
        "u" | "ui32" => Some(Number::Unsigned),
        "l" => Some(Number::Long),
        "ul" | "lu" => Some(Number::UnsignedLong),
        "ll" | "i64" => Some(Number::LongLong),
        "ull" | "llu" | "ui64" => Some(Number::UnsignedLongLong),
        _ => None,
    }
}

/// The type with which all declarations of a name in the source and its headers declare it.
fn of_name(source: &Source, own: &Code, name: &str) -> Option<Number> {
    let mut found = None;
    for code in source.codes_of_headers().iter().chain([own]) {
        for at in (1..code.tokens.len()).filter(|&n| code.text(n) == name) {
            let one = if code.kind(at) == Kind::Enum && matches!(code.before(at), "{" | ",") {
                Some(Number::Enumerator)
            } else {
                declared(code, at)?
            };
            if one.is_some() && found.is_some() && one != found {
                return None;
            }
            found = found.or(one);
        }
    }
    found
}

/// `Some(None)`: nothing is declared there. `None`: with a type that is no number's.
fn declared(code: &Code, at: usize) -> Option<Option<Number>> {
    let mut first = at;
    while first >= 3 && code.before(first) == "," && code.is_name(first - 2) && !code.is_name(first - 1) {
        first -= 2;
    }
    let is_word = |n: &usize| code.is_name(*n) || code.text(*n) == "::";
    let words: Vec<&str> = (0..first).rev().take_while(is_word).map(|n| code.text(n)).collect();
    match words.first() {
        None | Some(&"::") => Some(None),
        Some(word) if is_no_type(word) => Some(None),
        Some(_) => of_words(words.into_iter().take_while(|word| !is_no_type(word))).map(Some),
    }
}
