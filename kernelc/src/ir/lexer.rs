//! The text of an `.ll` file as tokens.
//!
//! A token knows whether it is the first on its line: LLVM prints one instruction or definition a line, and what the
//! reader does not know it skips by lines.

use std::borrow::Cow;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword, an instruction, a type, `$comdat`, `...`.
    Word,
    /// A word, number or quoted name with a colon behind it, which the token does not cover: a block, a field.
    Label,
    /// `%name`.
    Local,
    /// `@name`.
    Global,
    /// `!name`, `!5`; a `!` before anything else is a [`Kind::Mark`].
    Meta,
    /// `#5`, `#dbg_value`.
    Hash,
    /// `"..."`.
    Text,
    /// `c"..."`.
    Bytes,
    /// Begins with a digit or a sign.
    Number,
    /// Any other character.
    Mark(u8),
    /// The end of the file.
    End,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Kind,
    /// Nothing but blanks stands before it on its line.
    pub first: bool,
    start: u32,
    end: u32,
}

impl Token {
    /// The characters of the token.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        span(text, *self, *self)
    }

    /// Line and column of the token, from 1.
    pub fn place(&self, text: &str) -> (u32, u32) {
        let before = text.get(..self.start as usize).unwrap_or(text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }
}

/// The text from one token to another, both included.
pub(super) fn span(text: &str, from: Token, to: Token) -> &str {
    text.get(from.start as usize..to.end as usize).unwrap_or_default()
}

/// A name of a local, a global, a block or a type. `%5` and `%"5"` are two names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name<'a> {
    Number(u64),
    Text(Cow<'a, str>),
}

impl<'a> Name<'a> {
    /// Of a name as it is written behind its `%` or `@`.
    pub fn of(written: &'a str) -> Self {
        if let Some(quoted) = written.strip_prefix('"') {
            return Name::Text(unescaped(quoted.strip_suffix('"').unwrap_or(quoted)));
        }
        // A sign would make `+5` a number.
        match written.parse() {
            Ok(number) if written.bytes().all(|byte| byte.is_ascii_digit()) => Name::Number(number),
            _ => Name::Text(Cow::Borrowed(written)),
        }
    }
}

impl std::fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Number(number) => number.fmt(f),
            Name::Text(text) => text.fmt(f),
        }
    }
}

/// What stands between the quotes of a name. What is not UTF-8 keeps its escapes, so that two names stay two.
pub(super) fn unescaped(written: &str) -> Cow<'_, str> {
    if !written.contains('\\') {
        return Cow::Borrowed(written);
    }
    String::from_utf8(unescaped_bytes(written)).map_or(Cow::Borrowed(written), Cow::Owned)
}

/// `\xx` is a byte in hexadecimal, `\\` a backslash.
pub(super) fn unescaped_bytes(written: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    loop {
        rest = match *rest {
            [] => return bytes,
            [b'\\', b'\\', ref after @ ..] => {
                bytes.push(b'\\');
                after
            }
            [b'\\', high, low, ref after @ ..] if digit(high).is_some() && digit(low).is_some() => {
                bytes.push(digit(high).unwrap_or(0) << 4 | digit(low).unwrap_or(0));
                after
            }
            [byte, ref after @ ..] => {
                bytes.push(byte);
                after
            }
        };
    }
}

/// Why a text has no tokens: where it goes wrong and what is missing there.
pub(super) struct LexError {
    pub at: Token,
    pub expected: &'static str,
}

/// All tokens of a text; the last is [`Kind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, LexError> {
    let nowhere = Token { kind: Kind::End, first: true, start: 0, end: 0 };
    if u32::try_from(text.len()).is_err() {
        return Err(LexError { at: nowhere, expected: "less than 4 GiB of text" });
    }
    // A token to five bytes is about what Clang writes.
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, tokens: Vec::with_capacity(text.len() / 5 + 1) };
    lexer.all()?;
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<Token>,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'$' | b'.' | b'_')
}

impl Lexer<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
    }

    fn token(&self, kind: Kind, first: bool, start: usize) -> Token {
        // The text is less than 4 GiB.
        Token { kind, first, start: start as u32, end: self.at as u32 }
    }

    fn all(&mut self) -> Result<(), LexError> {
        let mut first = true;
        loop {
            let start = self.at;
            let Some(byte) = self.peek() else {
                self.tokens.push(self.token(Kind::End, true, start));
                return Ok(());
            };
            self.at += 1;
            let kind = match byte {
                b'\n' => {
                    first = true;
                    continue;
                }
                b' ' | b'\t' | b'\r' | 0 => continue,
                b';' => {
                    self.skip_while(|byte| byte != b'\n');
                    continue;
                }
                b'%' => self.name(Kind::Local, byte)?,
                b'@' => self.name(Kind::Global, byte)?,
                b'!' => {
                    self.skip_while(|byte| is_name(byte) || byte == b'\\');
                    if self.at == start + 1 { Kind::Mark(byte) } else { Kind::Meta }
                }
                b'#' => {
                    self.skip_while(is_name);
                    Kind::Hash
                }
                b'"' => {
                    self.quoted(start)?;
                    self.labelled(Kind::Text)
                }
                b'c' if self.peek() == Some(b'"') => {
                    self.at += 1;
                    self.quoted(start)?;
                    Kind::Bytes
                }
                b'+' => {
                    self.number();
                    Kind::Number
                }
                b'-' if self.peek().is_some_and(|next| next.is_ascii_digit()) => {
                    self.number();
                    self.labelled(Kind::Number)
                }
                b'0'..=b'9' => {
                    self.number();
                    self.labelled(Kind::Number)
                }
                _ if is_name(byte) => {
                    self.skip_while(is_name);
                    self.labelled(Kind::Word)
                }
                _ => {
                    // The rest of a character that is not ASCII, so that a token never splits one.
                    self.skip_while(|byte| byte & 0xC0 == 0x80);
                    Kind::Mark(byte)
                }
            };
            self.tokens.push(self.token(kind, first, start));
            first = false;
            if kind == Kind::Label {
                self.at += 1;
            }
        }
    }

    /// What is behind `%` or `@`: quoted or not.
    fn name(&mut self, kind: Kind, sigil: u8) -> Result<Kind, LexError> {
        let start = self.at;
        if self.peek() == Some(b'"') {
            self.at += 1;
            self.quoted(start)?;
            return Ok(kind);
        }
        self.skip_while(is_name);
        Ok(if self.at == start { Kind::Mark(sigil) } else { kind })
    }

    /// Up to and with the closing quote.
    fn quoted(&mut self, start: usize) -> Result<(), LexError> {
        self.skip_while(|byte| byte != b'"');
        if self.peek().is_none() {
            return Err(LexError { at: self.token(Kind::Text, false, start), expected: "a closing quote" });
        }
        self.at += 1;
        Ok(())
    }

    /// Digits, letters and, behind an `e`, a plus sign.
    fn number(&mut self) {
        self.skip_while(is_name);
        let exponent = self.at.checked_sub(1).and_then(|last| self.bytes.get(last));
        if self.peek() == Some(b'+') && matches!(exponent, Some(b'e' | b'E')) {
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
    }

    fn labelled(&self, kind: Kind) -> Kind {
        if self.peek() == Some(b':') { Kind::Label } else { kind }
    }
}
