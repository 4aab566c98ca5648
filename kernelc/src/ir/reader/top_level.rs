//! The top level of a file: global variables, aliases, named types, and the survey that declares all of them first.

use super::cursor::{Named, Reader, Result, Symbol};
use crate::ir::lexer::{Kind, Name};
use crate::ir::module::{Constant, FunctionId, Global, GlobalId, Module};

/// As long as a chain of aliases may be.
const MOST_ALIASES: usize = 64;

/// Reads a translation unit as `clang -S -emit-llvm` and `opt -S` write it.
pub fn read(text: &str) -> Result<Module> {
    let Some(mut reader) = Reader::new(text)? else { return Ok(Module::default()) };
    let (globals, functions) = reader.survey()?;
    reader.top()?;
    // A surveyed line that brackets of another definition have swallowed.
    if reader.module.globals.len() != globals || reader.module.functions.len() != functions {
        return Err(reader.wrong("all that is defined"));
    }
    Ok(reader.module)
}

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
    pub(super) fn symbol(&self) -> Result<Constant> {
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
