//! The reader: its place in the text, what it expects there, and what it has read so far.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::ir::lexer::{self, Kind, Name, Token};
use crate::ir::module::{BlockId, FunctionId, GlobalId, Local, LocalId, LocationId, Module, Type};

/// What the text has instead of LLVM IR.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {found} where {expected} should be")]
pub struct ReadError {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The text at that place, in quotes, or `the end of the text`.
    pub found: String,
    /// What should be there.
    pub expected: Cow<'static, str>,
}

pub(super) type Result<T> = std::result::Result<T, ReadError>;

/// Brackets, types and constants nest no deeper.
const MOST_LEVELS: u32 = 128;
/// What a global name stands for.
pub(super) enum Symbol<'a> {
    Global(GlobalId),
    Function(FunctionId),
    /// Another name, or something that no kernel holds.
    Alias(Option<Name<'a>>),
}

/// A type with what it takes to walk it.
#[derive(Clone)]
pub(super) struct Measured {
    pub(super) ty: Type,
    pub(super) parts: u32,
    pub(super) levels: u32,
}

/// A `%name = type ..`.
pub(super) enum Named {
    /// Its token behind `type`.
    Unread(usize),
    /// In the midst of it: it holds itself.
    Reading,
    Read(Measured),
}

/// The names of the function that is being read.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub(super) locals: Vec<Local>,
    /// Of each local.
    pub(super) uses: Vec<NameUse>,
    pub(super) local_ids: HashMap<Name<'a>, LocalId>,
    /// Of each block, in the order in which they are first mentioned.
    pub(super) block_uses: Vec<NameUse>,
    pub(super) block_ids: HashMap<Name<'a>, BlockId>,
    /// The places of the blocks in the function, in the order of the mentions.
    pub(super) places: Vec<BlockId>,
    /// The next number of a value or block without a name.
    pub(super) number: u64,
}

pub(super) struct NameUse {
    /// The token that mentions it first.
    pub(super) first: usize,
    pub(super) defined: bool,
}

impl<'a> Body<'a> {
    pub(super) fn take_number(&mut self) -> Name<'a> {
        self.number += 1;
        Name::Number(self.number - 1)
    }

    pub(super) fn saw(&mut self, name: &Name<'a>) {
        if let Name::Number(number) = name {
            self.number = number.saturating_add(1);
        }
    }

    pub(super) fn add_local(&mut self, name: Name<'a>, ty: &Type, first: usize, defined: bool) -> LocalId {
        let id = LocalId(self.locals.len());
        self.locals.push(Local { ty: ty.clone(), name: name.to_string() });
        self.uses.push(NameUse { first, defined });
        self.local_ids.insert(name, id);
        id
    }
}

/// What stands behind the operands.
#[derive(Default)]
pub(super) struct Tail {
    pub(super) align: u64,
    pub(super) space: u32,
    pub(super) location: Option<LocationId>,
}

/// The text, where the reader is in it, and what it has read so far.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    /// The last is the end.
    pub(super) tokens: Vec<Token>,
    pub(super) end: Token,
    /// Where in `tokens` the reader is.
    pub(super) next: usize,
    /// How deep things nest here.
    pub(super) level: u32,
    pub(super) types: HashMap<Name<'a>, Named>,
    pub(super) symbols: HashMap<Name<'a>, Symbol<'a>>,
    pub(super) module: Module,
    /// How many nodes of debug metadata had no number.
    pub(super) unnumbered: usize,
    /// Of the function that is being read.
    pub(super) body: Body<'a>,
    /// Of the instruction that is being read.
    pub(super) tail: Tail,
}

fn wrong(text: &str, token: Token, expected: Cow<'static, str>) -> ReadError {
    let (line, column) = token.place(text);
    let whole = token.text(text);
    let found = match whole.char_indices().nth(60) {
        _ if token.kind == Kind::End => "the end of the text".into(),
        Some((end, _)) => format!("'{}...'", whole.get(..end).unwrap_or_default()),
        None => format!("'{whole}'"),
    };
    ReadError { line, column, found, expected }
}

impl<'a> Reader<'a> {
    /// Before the first token; `None` for an empty text.
    pub(super) fn new(text: &'a str) -> Result<Option<Self>> {
        let tokens = lexer::tokens(text).map_err(|error| wrong(text, error.at, error.expected.into()))?;
        let Some(end) = tokens.last().copied() else { return Ok(None) };
        Ok(Some(Self {
            text,
            tokens,
            end,
            next: 0,
            level: 0,
            types: HashMap::new(),
            symbols: HashMap::new(),
            module: Module::default(),
            unnumbered: 0,
            body: Body::default(),
            tail: Tail::default(),
        }))
    }

    pub(super) fn token(&self, at: usize) -> Token {
        self.tokens.get(at).copied().unwrap_or(self.end)
    }

    pub(super) fn peek(&self) -> Token {
        self.token(self.next)
    }

    pub(super) fn peek_second(&self) -> Token {
        self.token(self.next + 1)
    }

    pub(super) fn peek_text(&self) -> &'a str {
        self.peek().text(self.text)
    }

    /// The keyword here; empty if it is something else.
    pub(super) fn word(&self) -> &'a str {
        match self.peek().kind {
            Kind::Word => self.peek_text(),
            _ => "",
        }
    }

    /// The name here, which is a local or a global one or a label.
    pub(super) fn name(&self) -> Name<'a> {
        let text = self.peek_text();
        Name::of(match self.peek().kind {
            Kind::Local | Kind::Global => text.get(1..).unwrap_or_default(),
            _ => text,
        })
    }

    pub(super) fn position(&self) -> usize {
        self.next
    }

    /// Goes elsewhere; returns where it was.
    pub(super) fn seek(&mut self, position: usize) -> usize {
        std::mem::replace(&mut self.next, position)
    }

    /// The text from a position to the token before this.
    pub(super) fn text_from(&self, position: usize) -> &'a str {
        lexer::span(self.text, self.token(position), self.token(self.next.saturating_sub(1)))
    }

    pub(super) fn bump(&mut self) {
        // The end stays.
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
    }

    pub(super) fn at(&self, mark: u8) -> bool {
        self.peek().kind == Kind::Mark(mark)
    }

    pub(super) fn eat(&mut self, mark: u8) -> bool {
        let here = self.at(mark);
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.word() == word;
        if here {
            self.bump();
        }
        here
    }

    pub(super) fn expect(&mut self, mark: u8) -> Result<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.wrong(format!("'{}'", char::from(mark)))) }
    }

    pub(super) fn expect_word(&mut self, word: &'static str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.wrong(format!("'{word}'"))) }
    }

    pub(super) fn unsigned(&mut self, expected: &'static str) -> Result<u64> {
        match (self.peek().kind, self.peek_text().parse()) {
            (Kind::Number, Ok(number)) => {
                self.bump();
                Ok(number)
            }
            _ => Err(self.wrong(expected)),
        }
    }

    pub(super) fn wrong(&self, expected: impl Into<Cow<'static, str>>) -> ReadError {
        self.wrong_at(self.next, expected)
    }

    pub(super) fn wrong_at(&self, position: usize, expected: impl Into<Cow<'static, str>>) -> ReadError {
        wrong(self.text, self.token(position), expected.into())
    }

    pub(super) fn enter(&mut self) -> Result<()> {
        self.level += 1;
        if self.level > MOST_LEVELS { Err(self.wrong("less nesting")) } else { Ok(()) }
    }

    pub(super) fn leave(&mut self) {
        self.level = self.level.saturating_sub(1);
    }

    /// Goes past the brackets that open here, if any do, and what is in them.
    pub(super) fn skip_brackets(&mut self) -> Result<()> {
        let start = self.next;
        let mut open = 0_usize;
        loop {
            match self.peek().kind {
                Kind::Mark(b'(' | b'[' | b'{') => open += 1,
                _ if open == 0 => return Ok(()),
                Kind::Mark(b')' | b']' | b'}') => open -= 1,
                Kind::End => return Err(self.wrong_at(start, "a bracket that is closed")),
                _ => {}
            }
            self.bump();
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// Goes to the next line that no bracket of this one runs into.
    pub(super) fn skip_line(&mut self) -> Result<()> {
        while !self.peek().first {
            self.skip_one()?;
        }
        Ok(())
    }

    /// Goes past a token, or brackets and what is in them.
    pub(super) fn skip_one(&mut self) -> Result<()> {
        match self.peek().kind {
            Kind::Mark(b'(' | b'[' | b'{') => self.skip_brackets(),
            _ => {
                self.bump();
                Ok(())
            }
        }
    }
}
