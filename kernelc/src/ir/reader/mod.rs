//! Reads LLVM IR in its textual form, as LLVM 22 prints it, in one pass over the tokens.
//!
//! A survey of the lines comes first and gives every global, function and named type its place, for all of them may be
//! used before they are defined. A definition has to begin a line, as LLVM prints it. No input makes the reader panic,
//! nest deeply or take more than a fixed multiple of the size of the text.

mod constants;
mod functions;
mod instructions;
mod keywords;
mod metadata;
mod types;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::ir::lexer::{self, Kind, Name, Token};
use crate::ir::module::{Constant, FunctionId, Global, GlobalId, Module};
use functions::Body;
use instructions::Tail;
use types::Named;

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

type Result<T> = std::result::Result<T, ReadError>;

/// Brackets, types and constants nest no deeper.
const MOST_LEVELS: u32 = 128;
/// As long as a chain of aliases may be.
const MOST_ALIASES: usize = 64;

/// Reads a translation unit as `clang -S -emit-llvm` and `opt -S` write it.
pub fn read(text: &str) -> std::result::Result<Module, ReadError> {
    let tokens = lexer::tokens(text).map_err(|error| wrong(text, error.at, error.expected.into()))?;
    let Some(end) = tokens.last().copied() else { return Ok(Module::default()) };
    let mut reader = Reader {
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
    };
    let (globals, functions) = reader.survey()?;
    reader.top()?;
    // A surveyed line that brackets of another definition have swallowed.
    if reader.module.globals.len() != globals || reader.module.functions.len() != functions {
        return Err(reader.wrong("all that is defined"));
    }
    Ok(reader.module)
}

/// What a global name stands for.
enum Symbol<'a> {
    Global(GlobalId),
    Function(FunctionId),
    /// Another name, or something that no kernel holds.
    Alias(Option<Name<'a>>),
}

struct Reader<'a> {
    text: &'a str,
    /// The last is the end.
    tokens: Vec<Token>,
    end: Token,
    /// Where in `tokens` the reader is.
    next: usize,
    /// How deep things nest here.
    level: u32,
    types: HashMap<Name<'a>, Named>,
    symbols: HashMap<Name<'a>, Symbol<'a>>,
    module: Module,
    /// How many nodes of debug metadata had no number.
    unnumbered: usize,
    /// Of the function that is being read.
    body: Body<'a>,
    /// Of the instruction that is being read.
    tail: Tail,
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

// The tokens.
impl<'a> Reader<'a> {
    fn token(&self, at: usize) -> Token {
        self.tokens.get(at).copied().unwrap_or(self.end)
    }

    fn peek(&self) -> Token {
        self.token(self.next)
    }

    fn peek_second(&self) -> Token {
        self.token(self.next + 1)
    }

    fn peek_text(&self) -> &'a str {
        self.peek().text(self.text)
    }

    /// The keyword here; empty if it is something else.
    fn word(&self) -> &'a str {
        match self.peek().kind {
            Kind::Word => self.peek_text(),
            _ => "",
        }
    }

    /// The name here, which is a local or a global one or a label.
    fn name(&self) -> Name<'a> {
        let text = self.peek_text();
        Name::of(match self.peek().kind {
            Kind::Local | Kind::Global => text.get(1..).unwrap_or_default(),
            _ => text,
        })
    }

    fn position(&self) -> usize {
        self.next
    }

    /// Goes elsewhere; returns where it was.
    fn seek(&mut self, position: usize) -> usize {
        std::mem::replace(&mut self.next, position)
    }

    /// The text from a position to the token before this.
    fn text_from(&self, position: usize) -> &'a str {
        lexer::span(self.text, self.token(position), self.token(self.next.saturating_sub(1)))
    }

    fn bump(&mut self) {
        // The end stays.
        if self.next + 1 < self.tokens.len() {
            self.next += 1;
        }
    }

    fn at(&self, mark: u8) -> bool {
        self.peek().kind == Kind::Mark(mark)
    }

    fn eat(&mut self, mark: u8) -> bool {
        let here = self.at(mark);
        if here {
            self.bump();
        }
        here
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let here = self.word() == word;
        if here {
            self.bump();
        }
        here
    }

    fn expect(&mut self, mark: u8) -> Result<()> {
        if self.eat(mark) { Ok(()) } else { Err(self.wrong(format!("'{}'", char::from(mark)))) }
    }

    fn expect_word(&mut self, word: &'static str) -> Result<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.wrong(format!("'{word}'"))) }
    }

    fn unsigned(&mut self, expected: &'static str) -> Result<u64> {
        match (self.peek().kind, self.peek_text().parse()) {
            (Kind::Number, Ok(number)) => {
                self.bump();
                Ok(number)
            }
            _ => Err(self.wrong(expected)),
        }
    }

    fn wrong(&self, expected: impl Into<Cow<'static, str>>) -> ReadError {
        self.wrong_at(self.next, expected)
    }

    fn wrong_at(&self, position: usize, expected: impl Into<Cow<'static, str>>) -> ReadError {
        wrong(self.text, self.token(position), expected.into())
    }

    fn enter(&mut self) -> Result<()> {
        self.level += 1;
        if self.level > MOST_LEVELS { Err(self.wrong("less nesting")) } else { Ok(()) }
    }

    fn leave(&mut self) {
        self.level = self.level.saturating_sub(1);
    }

    /// Goes past the brackets that open here, if any do, and what is in them.
    fn skip_brackets(&mut self) -> Result<()> {
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
    fn skip_line(&mut self) -> Result<()> {
        while !self.peek().first {
            self.skip_one()?;
        }
        Ok(())
    }

    /// Goes past a token, or brackets and what is in them.
    fn skip_one(&mut self) -> Result<()> {
        match self.peek().kind {
            Kind::Mark(b'(' | b'[' | b'{') => self.skip_brackets(),
            _ => {
                self.bump();
                Ok(())
            }
        }
    }
}

// The top of the file.
impl<'a> Reader<'a> {
    /// Finds all types, globals and functions; returns how many globals and functions there are.
    fn survey(&mut self) -> Result<(usize, usize)> {
        let (mut globals, mut functions) = (0, 0);
        for position in 0..self.tokens.len() {
            let token = self.token(position);
            if !token.first {
                continue;
            }
            self.next = position;
            let assigned = self.token(position + 1).kind == Kind::Mark(b'=');
            match token.kind {
                Kind::Local if assigned && self.token(position + 2).text(self.text) == "type" => {
                    let name = self.name();
                    if self.types.insert(name, Named::Unread(position + 3)).is_some() {
                        return Err(self.wrong("a type that is not defined before"));
                    }
                }
                Kind::Global if assigned => {
                    let name = self.name();
                    let symbol = match self.alias() {
                        Some(target) => Symbol::Alias(target),
                        None => {
                            globals += 1;
                            Symbol::Global(GlobalId(globals - 1))
                        }
                    };
                    self.declare(position, name, symbol)?;
                }
                Kind::Word if matches!(self.word(), "define" | "declare") => {
                    self.bump();
                    while self.peek().kind != Kind::Global && !self.peek().first {
                        self.bump();
                    }
                    if self.peek().kind == Kind::Global {
                        let name = self.name();
                        self.declare(position, name, Symbol::Function(FunctionId(functions)))?;
                        functions += 1;
                    }
                }
                _ => {}
            }
        }
        self.next = 0;
        Ok((globals, functions))
    }

    fn declare(&mut self, position: usize, name: Name<'a>, symbol: Symbol<'a>) -> Result<()> {
        match self.symbols.insert(name, symbol) {
            None => Ok(()),
            Some(_) => Err(self.wrong_at(position, "a name that is not defined before")),
        }
    }

    /// `@a = alias T, ptr @b`: the other name, if that is all there is. Nothing if this is no alias.
    fn alias(&mut self) -> Option<Option<Name<'a>>> {
        self.bump();
        self.bump();
        while !self.peek().first && !matches!(self.word(), "global" | "constant" | "alias" | "ifunc") {
            self.bump();
        }
        let kind = self.word();
        if self.peek().first || !matches!(kind, "alias" | "ifunc") {
            return None;
        }
        // The commas within a type are in brackets. No line is left: the survey comes to each by itself.
        let mut open = 0_usize;
        while !(self.peek().first || open == 0 && self.at(b',')) {
            match self.peek().kind {
                Kind::Mark(b'(' | b'[' | b'{') => open += 1,
                Kind::Mark(b')' | b']' | b'}') => open = open.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
        self.bump();
        let plain = kind == "alias" && self.eat_word("ptr") && self.optional_space().is_ok();
        Some((plain && self.peek().kind == Kind::Global).then(|| self.name()))
    }

    /// The constant that a global name is.
    fn symbol(&self) -> Result<Constant> {
        let mut name = &self.name();
        for _ in 0..MOST_ALIASES {
            match self.symbols.get(name) {
                Some(Symbol::Global(id)) => return Ok(Constant::Global(*id)),
                Some(Symbol::Function(id)) => return Ok(Constant::Function(*id)),
                Some(Symbol::Alias(Some(other))) => name = other,
                Some(Symbol::Alias(None)) => return Ok(Constant::Other(self.peek_text().into())),
                None => return Err(self.wrong("a name that is declared")),
            }
        }
        Err(self.wrong("an alias of something"))
    }

    fn top(&mut self) -> Result<()> {
        loop {
            match (self.peek().kind, self.word()) {
                (Kind::End, _) => return Ok(()),
                (Kind::Word, "define") => self.function(true)?,
                (Kind::Word, "declare") => self.function(false)?,
                (Kind::Global, _) => self.global()?,
                (Kind::Meta, _) => self.metadata()?,
                (Kind::Local, _) => {
                    // A type that nothing uses is read all the same, for its mistakes.
                    self.ty()?;
                    self.bump();
                    self.skip_line()?;
                }
                (Kind::Word, "target" | "source_filename" | "attributes" | "module" | "uselistorder") => {
                    self.bump();
                    self.skip_line()?;
                }
                // A comdat: `$name = comdat any`.
                (Kind::Word, word) if word.starts_with('$') => {
                    self.bump();
                    self.skip_line()?;
                }
                // Of a summary: `^0 = module: (..)`.
                (Kind::Mark(b'^'), _) => {
                    self.bump();
                    self.skip_line()?;
                }
                _ => return Err(self.wrong("a definition")),
            }
        }
    }

    /// `@name = ..`
    fn global(&mut self) -> Result<()> {
        let name = self.name();
        match self.symbols.get(&name) {
            Some(Symbol::Alias(_)) => {
                self.bump();
                return self.skip_line();
            }
            Some(Symbol::Global(id)) if id.0 == self.module.globals.len() => {}
            _ => return Err(self.wrong("a definition at the beginning of a line")),
        }
        self.bump();
        self.expect(b'=')?;
        let (mut space, mut external) = (0, false);
        let constant = loop {
            match self.word() {
                "global" => break false,
                "constant" => break true,
                "addrspace" => {
                    space = self.optional_space()?.unwrap_or(0);
                    continue;
                }
                "external" | "extern_weak" => external = true,
                "" => return Err(self.wrong("'global' or 'constant'")),
                _ => {}
            }
            self.bump();
            if self.at(b'(') {
                self.skip_brackets()?;
            }
        };
        self.bump();
        let ty = self.ty()?;
        let initializer = if external { None } else { Some(self.constant(&ty)?) };
        let mut align = 0;
        while self.eat(b',') {
            if self.eat_word("align") {
                align = self.unsigned("an alignment")?;
                continue;
            }
            while !self.at(b',') && !self.peek().first {
                self.skip_one()?;
            }
        }
        self.skip_line()?;
        self.module.globals.push(Global { name: name.to_string(), ty, space, constant, initializer, align });
        Ok(())
    }
}
