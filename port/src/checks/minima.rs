//! Findings on calls of `min` and `max`. On Windows, these are macros, which accept numbers of two different types.

use crate::findings::{Edit, Finding};
use crate::functions::is_non_type_keyword;
use crate::source::Source;
use crate::syntax::{Code, Kind};
use std::ops::Range;

/// The finding for the `min` or `max` at a token. It has an edit unless the call's arguments are known to have different types.
pub fn finding(source: &Source, code: &Code, at: usize, reason: &str) -> Finding {
    let name = code.text(at).trim_start_matches('_');
    let replacement = format!("std::{name}, with both arguments of the same type");
    let finding = Finding::new(code.tokens[at].line, format!("{}(", code.text(at)), reason, replacement);
    let parts = code.pair(at + 1).map(|close| code.split(at + 2..close)).unwrap_or_default();
    let numbers: Vec<Option<ArithmeticType>> =
        parts.into_iter().map(|part| arithmetic_type(source, code, part)).collect();
    let fits = match numbers[..] {
        [Some(ArithmeticType::Enumerator), _] | [_, Some(ArithmeticType::Enumerator)] => false,
        [Some(a), Some(b)] => a == b,
        _ => true,
    };
    let edit = fits.then(|| Edit::new(code.tokens[at].range.clone(), format!("std::{name}")));
    finding.with(edit)
}

/// The arithmetic type of an expression on Linux, after the edits of `idioms.txt`. The variants are ordered for [`ArithmeticType::common`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArithmeticType {
    /// A type smaller than `int`: `c` for char, `s` for signed or `u` for unsigned, and its size in bytes.
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

impl ArithmeticType {
    /// The type of the sum of two numbers: the greater of their types, at least int. No signed type includes all values of an unsigned type of the
    /// same size.
    fn common(self, other: Self) -> Self {
        let greater = self.max(other).max(Self::Int);
        match (self.min(other), greater) {
            (Self::UnsignedLong, Self::LongLong) => Self::UnsignedLongLong,
            _ => greater,
        }
    }
}

/// The one-word names of each type. `type_of_words` handles types of several words.
const TYPES: &[(ArithmeticType, &str)] = &[
    (ArithmeticType::Int, "int INT BOOL INT32 LONG LONG32 HRESULT int32_t __int32"),
    (ArithmeticType::Unsigned, "unsigned UINT DWORD UINT32 ULONG ULONG32 DWORD32 uint32_t"),
    (ArithmeticType::Long, "long int64_t ptrdiff_t intptr_t SSIZE_T LONG_PTR INT_PTR"),
    (ArithmeticType::UnsignedLong, "size_t uint64_t uintptr_t SIZE_T ULONG_PTR DWORD_PTR UINT_PTR"),
    (ArithmeticType::LongLong, "__int64 LONGLONG INT64 LONG64"),
    (ArithmeticType::UnsignedLongLong, "ULONGLONG UINT64 DWORD64 DWORDLONG QWORD ULONG64"),
    (ArithmeticType::Float, "float FLOAT"),
    (ArithmeticType::Double, "double DOUBLE"),
    (ArithmeticType::Small('s', 2), "short INT16 SHORT int16_t __int16"),
    (ArithmeticType::Small('u', 2), "WORD USHORT UINT16 uint16_t"),
    (ArithmeticType::Small('s', 1), "INT8 int8_t __int8"),
    (ArithmeticType::Small('u', 1), "BYTE UCHAR UINT8 BOOLEAN uint8_t"),
    (ArithmeticType::Small('c', 1), "char CHAR"),
];

/// Words of a declaration that do not change the size and the sign of its type.
const QUALIFIERS: [&str; 10] =
    ["const", "volatile", "static", "constexpr", "extern", "inline", "mutable", "signed", "std", "::"];

/// The type that a sequence of words names. `words` yields them from the last to the first.
fn type_of_words<'w>(words: impl Iterator<Item = &'w str>) -> Option<ArithmeticType> {
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
        (Some(ArithmeticType::Int), 0, false) => Some(ArithmeticType::Int),
        (None | Some(ArithmeticType::Int), 0, true) => Some(ArithmeticType::Unsigned),
        (None | Some(ArithmeticType::Int), 1, false) => Some(ArithmeticType::Long),
        (None | Some(ArithmeticType::Int), 1, true) => Some(ArithmeticType::UnsignedLong),
        (None | Some(ArithmeticType::Int), 2, false) | (Some(ArithmeticType::LongLong), 0, false) => {
            Some(ArithmeticType::LongLong)
        }
        (None | Some(ArithmeticType::Int), 2, true) | (Some(ArithmeticType::LongLong), 0, true) => {
            Some(ArithmeticType::UnsignedLongLong)
        }
        (Some(ArithmeticType::Small(_, size)), 0, true) => Some(ArithmeticType::Small('u', size)),
        (Some(arithmetic_type), 0, false) => Some(arithmetic_type),
        _ => None,
    }
}

/// The type of an expression; `None` if the source does not show it.
pub fn arithmetic_type(source: &Source, code: &Code, range: Range<usize>) -> Option<ArithmeticType> {
    let (first, last) = (range.start, range.end.checked_sub(1)?);
    let word = code.text(first);
    if range.len() == 1 {
        return if code.is_name(first) { type_of_name(source, code, word) } else { type_of_literal(word) };
    }
    if let Some(operands) = operands(code, &range) {
        let all: Option<Vec<ArithmeticType>> =
            operands.into_iter().map(|part| arithmetic_type(source, code, part)).collect();
        return all?.into_iter().reduce(ArithmeticType::common);
    }
    if word == "-" {
        return arithmetic_type(source, code, first + 1..range.end).map(|operand| operand.common(ArithmeticType::Int));
    }
    if let Some(close) = code.pair(first).filter(|&close| word == "(" && close < last) {
        // A C-style cast.
        return type_of_words((first + 1..close).rev().map(|n| code.text(n)));
    }
    if word == "sizeof" {
        return Some(ArithmeticType::UnsignedLong);
    }
    let open = code.pair(last).filter(|&open| open >= first && code.text(last) == ")");
    match open {
        Some(open) if open == first => arithmetic_type(source, code, first + 1..last),
        Some(open) if open + 1 == last => {
            let is_size = matches!(code.before(open), "size" | "length") && matches!(code.before(open - 1), "." | "->");
            let is_program_member = source.names.has_member(code.before(open));
            (is_size && !is_program_member).then_some(ArithmeticType::UnsignedLong)
        }
        Some(_) if word == "static_cast" && code.text(first + 1) == "<" => {
            let close = code.angle(first + 1)?;
            type_of_words((first + 2..close).rev().map(|n| code.text(n)))
        }
        Some(open) if matches!(word, "min" | "max" | "__min" | "__max") && open == first + 1 => {
            let parts = code.split(open + 1..last).into_iter();
            let types: Option<Vec<_>> = parts.map(|part| arithmetic_type(source, code, part)).collect();
            types?.into_iter().reduce(|a, b| if a == b { a } else { a.common(b) })
        }
        Some(open) => type_of_words((first..open).rev().map(|n| code.text(n))),
        None => None,
    }
}

/// The operands of a sum or a product; `None` if the expression is neither.
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

fn type_of_literal(text: &str) -> Option<ArithmeticType> {
    let lower = text.to_lowercase();
    let is_hexadecimal = lower.starts_with("0x");
    if !lower.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if !is_hexadecimal && lower.contains(['.', 'e', 'f']) {
        return Some(if lower.ends_with('f') { ArithmeticType::Float } else { ArithmeticType::Double });
    }
    let suffix = lower.trim_start_matches("0x").trim_start_matches(|c: char| c.is_ascii_hexdigit() || c == '\'');
    match suffix {
        "" | "i32" => Some(ArithmeticType::Int),
        "u" | "ui32" => Some(ArithmeticType::Unsigned),
        "l" => Some(ArithmeticType::Long),
        "ul" | "lu" => Some(ArithmeticType::UnsignedLong),
        "ll" | "i64" => Some(ArithmeticType::LongLong),
        "ull" | "llu" | "ui64" => Some(ArithmeticType::UnsignedLongLong),
        _ => None,
    }
}

/// The type of a name, if all its declarations in the source and its headers agree.
fn type_of_name(source: &Source, source_code: &Code, name: &str) -> Option<ArithmeticType> {
    let mut found = None;
    for code in source.codes_of_headers().iter().chain([source_code]) {
        for at in (1..code.tokens.len()).filter(|&n| code.text(n) == name) {
            let one = if code.kind(at) == Kind::Enum && matches!(code.before(at), "{" | ",") {
                Some(ArithmeticType::Enumerator)
            } else {
                declared_type(code, at)?
            };
            if one.is_some() && found.is_some() && one != found {
                return None;
            }
            found = found.or(one);
        }
    }
    found
}

/// The type with which a name is declared at a token. `Some(None)`: the token declares nothing. `None`: the type is not arithmetic.
fn declared_type(code: &Code, at: usize) -> Option<Option<ArithmeticType>> {
    let mut first = at;
    while first >= 3 && code.before(first) == "," && code.is_name(first - 2) && !code.is_name(first - 1) {
        first -= 2;
    }
    let is_word = |n: &usize| code.is_name(*n) || code.text(*n) == "::";
    let words: Vec<&str> = (0..first).rev().take_while(is_word).map(|n| code.text(n)).collect();
    match words.first() {
        None | Some(&"::") => Some(None),
        Some(word) if is_non_type_keyword(word) => Some(None),
        Some(_) => type_of_words(words.into_iter().take_while(|word| !is_non_type_keyword(word))).map(Some),
    }
}
