//! A simplified lexer for C++ sources. It is precise enough to find `restrict(...)` clauses and the arguments of calls.

use crate::brackets::Brackets;
use std::collections::HashMap;
use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A number, a string or a character.
    Literal,
    /// One character of punctuation; `::` and `->` are one token.
    Mark,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub struct Token<'s> {
    /// The kind of the token.
    pub kind: Kind,
    /// The text of the token.
    pub text: &'s str,
    /// The offset of the token's first byte in the source.
    pub start: usize,
    /// True if the token belongs to a preprocessor directive.
    pub directive: bool,
}

impl Token<'_> {
    /// The offset of the first byte after the token.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The length in bytes of the comment at the start of `rest`; 0 if none starts there.
fn comment(rest: &str) -> usize {
    if rest.starts_with("//") {
        // A backslash at the end of the line continues the comment on the next line.
        let mut at = 0;
        loop {
            let Some(n) = rest[at..].find('\n') else { return rest.len() };
            at += n;
            if !rest[..at].trim_end_matches('\r').ends_with('\\') {
                return at;
            }
            at += 1;
        }
    }
    if let Some(text) = rest.strip_prefix("/*") {
        return text.find("*/").map_or(rest.len(), |n| n + 4);
    }
    0
}

/// The length in bytes of the string or character literal at the start of `rest`.
fn quoted(rest: &str, quote: u8) -> usize {
    let mut escaped = false;
    for (n, c) in rest.bytes().enumerate().skip(1) {
        if !escaped && (c == quote || c == b'\n') {
            return n + 1;
        }
        // A backslash before the end of a line continues the literal, also if the line ends with "\r\n".
        escaped = !escaped && c == b'\\' || escaped && c == b'\r';
    }
    rest.len()
}

/// The length in bytes of the raw string whose quote is the first byte of `rest`.
fn raw(rest: &str) -> usize {
    let Some(open) = rest.find('(') else { return rest.len() };
    let end = format!("){}\"", &rest[1..open]);
    rest[open..].find(&end).map_or(rest.len(), |n| open + n + end.len())
}

/// Splits a source into tokens. Skips comments and a leading byte order mark.
pub fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let mut all: Vec<Token<'_>> = Vec::new();
    let mark = if source.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    let (mut at, mut directive, mut fresh) = (mark, false, true);
    let word = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'$' || c >= 0x80;
    while at < bytes.len() {
        let (c, rest) = (bytes[at], &source[at..]);
        let start = at;
        let skipped = comment(rest);
        if skipped > 0 {
            at += skipped;
            continue;
        }
        if c.is_ascii_whitespace() {
            if c == b'\n' {
                directive &= source[..at].trim_end_matches('\r').ends_with('\\');
                fresh = true;
            }
            at += 1;
            continue;
        }
        directive |= fresh && c == b'#';
        fresh = false;
        let kind = if c == b'"' || c == b'\'' {
            at += quoted(rest, c);
            Kind::Literal
        } else if c.is_ascii_digit() {
            let is_exponent = |c: u8| matches!(c, b'e' | b'E' | b'p' | b'P');
            while at < bytes.len()
                && (word(bytes[at])
                    || matches!(bytes[at], b'.' | b'\'')
                    || matches!(bytes[at], b'+' | b'-') && is_exponent(bytes[at - 1]))
            {
                at += 1;
            }
            Kind::Literal
        } else if word(c) {
            while at < bytes.len() && word(bytes[at]) {
                at += 1;
            }
            let prefix = &source[start..at];
            if at < bytes.len() && bytes[at] == b'"' && prefix.ends_with('R') && prefix.len() <= 3 {
                at += raw(&source[at..]);
                Kind::Literal
            } else {
                Kind::Word
            }
        } else {
            at += if rest.starts_with("::") || rest.starts_with("->") { 2 } else { 1 };
            Kind::Mark
        };
        all.push(Token { kind, text: &source[start..at], start, directive });
    }
    all
}

/// The tokens of a source with their matching brackets.
pub struct Code<'s> {
    /// All tokens.
    pub tokens: Vec<Token<'s>>,
    brackets: Brackets,
}

impl<'s> Code<'s> {
    /// Reads a source.
    pub fn read(source: &'s str) -> Self {
        let tokens = tokens(source);
        let brackets = Brackets::of(tokens.iter().map(|token| token.text));
        Self { tokens, brackets }
    }

    /// The text of the token at `at`; empty after the last token.
    pub fn text(&self, at: usize) -> &'s str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// The text of the token before `at`.
    pub fn before(&self, at: usize) -> &'s str {
        at.checked_sub(1).map_or("", |n| self.text(n))
    }

    /// True if the token is an identifier or a keyword.
    pub fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    /// The index of the bracket that matches the bracket at `at`.
    pub fn pair(&self, at: usize) -> Option<usize> {
        self.brackets.pair(at)
    }

    /// The index of the `>` that matches the `<` at `at`.
    pub fn angle(&self, at: usize) -> Option<usize> {
        self.brackets.angle(at, |n| self.text(n))
    }

    /// The index of the `<` that matches the `>` at `at`.
    pub fn angle_back(&self, at: usize) -> Option<usize> {
        self.brackets.angle_back(at, |n| self.text(n))
    }

    /// The index of a declaration's first token after `template <...>`, access specifiers and `[[...]]` attributes. The declaration begins at
    /// `begin`.
    pub fn after_prefixes(&self, begin: usize) -> usize {
        let mut at = begin;
        loop {
            at = match self.text(at) {
                "template" if self.text(at + 1) == "<" => self.angle(at + 1).unwrap_or(at + 1) + 1,
                "public" | "protected" | "private" if self.text(at + 1) == ":" => at + 2,
                "[" if self.text(at + 1) == "[" => self.pair(at).unwrap_or(at) + 1,
                _ => return at,
            };
        }
    }
}

/// The callers that a restriction allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Restriction {
    /// Device code may call the function.
    pub amp: bool,
    /// Host code may call the function.
    pub cpu: bool,
}

/// Macros of the headers and of the program that expand to a restriction, or to text that ends with one.
pub struct Clauses {
    /// Macros whose whole body is a restriction.
    whole: HashMap<String, Restriction>,
    /// Macros that end with a restriction, such as `#define KERNEL [=](index<1> i) restrict(amp)`.
    ends: HashMap<String, Restriction>,
}

impl Default for Clauses {
    /// The restrictions that the headers define.
    fn default() -> Self {
        let both = Restriction { amp: true, cpu: true };
        let known = [
            ("__GPU", both),
            ("__GPU_ONLY", Restriction { cpu: false, ..both }),
            ("__CPU_ONLY", Restriction { amp: false, ..both }),
        ];
        Self { whole: known.map(|(name, restriction)| (name.to_owned(), restriction)).into(), ends: HashMap::new() }
    }
}

impl Clauses {
    /// Adds the macros of a source that are a restriction, or end with one.
    pub fn learn(&mut self, code: &Code<'_>) {
        for at in 0..code.tokens.len() {
            if code.text(at) != "#" || !code.tokens[at].directive || code.text(at + 1) != "define" {
                continue;
            }
            let name = code.text(at + 2).to_owned();
            let is_end = |n: usize| code.tokens.get(n).is_none_or(|next| !next.directive || next.text == "#");
            let end = (at + 3..).find(|&n| is_end(n)).unwrap_or(at + 3);
            let last = (at + 3..end).find_map(|n| self.at(code, n).filter(|(clause, _)| clause.end == end));
            match last {
                // The clause directly follows the name, so the macro has no parameters and the clause is its whole body.
                Some((clause, restriction)) if clause.start == at + 3 => drop(self.whole.insert(name, restriction)),
                Some((_, restriction)) => drop(self.ends.insert(name, restriction)),
                None => {}
            }
        }
    }

    /// The restriction clause before a function body, and the range of its tokens. The clause begins at `at`, or a
    /// macro at `at` ends with it.
    pub fn before_body(&self, code: &Code<'_>, at: usize) -> Option<(Range<usize>, Restriction)> {
        self.at(code, at).or_else(|| self.ends.get(code.text(at)).map(|found| (at..at + 1, *found)))
    }

    /// The restriction that begins at a token, and the range of its tokens.
    pub fn at(&self, code: &Code<'_>, at: usize) -> Option<(Range<usize>, Restriction)> {
        if code.text(at) != "restrict" {
            return self.whole.get(code.text(at)).map(|found| (at..at + 1, *found));
        }
        if code.text(at + 1) != "(" {
            return None;
        }
        let close = code.pair(at + 1)?;
        let mut found = Restriction { amp: false, cpu: false };
        for n in at + 2..close {
            match code.text(n) {
                "amp" => found.amp = true,
                "cpu" => found.cpu = true,
                "auto" => found = Restriction { amp: true, cpu: true },
                "," => {}
                _ => return None,
            }
        }
        (found.amp || found.cpu).then_some((at..close + 1, found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let found = tokens("\u{FEFF}#define A\nint \u{e4};");
        assert!(found[0].directive && found[0].text == "#" && found[0].start == 3);
        assert_eq!(found.iter().map(|t| t.text).collect::<Vec<_>>(), ["#", "define", "A", "int", "\u{e4}", ";"]);
    }

    #[test]
    fn numbers_include_the_signs_of_exponents() {
        let texts = |source| tokens(source).iter().map(|t| t.text).collect::<Vec<_>>();
        assert_eq!(texts("1e-5f-0x1p+3+1'0.5E2+e-1"), ["1e-5f", "-", "0x1p+3", "+", "1'0.5E2", "+", "e", "-", "1"]);
    }

    #[test]
    fn a_backslash_continues_a_string_on_the_next_line() {
        for source in ["\"a\\\nb\" c", "\"a\\\r\nb\" c"] {
            assert_eq!(tokens(source).len(), 2, "{source:?}");
        }
        assert_eq!(tokens("\"\\\\\" a").len(), 2);
    }
}
