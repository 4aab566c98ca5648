//! Types.

use std::rc::Rc;

use super::cursor::{Measured, Named, Reader, Result};
use crate::ir::lexer::{Kind, Name};
use crate::ir::module::Type;

/// A named type may be the field of another, and so a short file may spell a type of any size; one of more parts than
/// this is refused.
const MOST_PARTS: u32 = 1 << 16;
/// As deep as a type may be.
const MOST_LEVELS: u32 = 128;

fn simple(ty: Type) -> Measured {
    Measured { ty, parts: 1, levels: 1 }
}

/// Whether a type begins with this word.
pub(super) fn is_type_word(word: &str) -> bool {
    let integer = |word: &str| word.strip_prefix('i').is_some_and(|bits| bits.bytes().all(|b| b.is_ascii_digit()));
    match word {
        "void" | "half" | "bfloat" | "float" | "double" | "fp128" | "x86_fp80" | "ppc_fp128" | "x86_amx" | "label"
        | "token" | "metadata" | "ptr" | "target" | "opaque" => true,
        _ => word.len() > 1 && integer(word),
    }
}

impl<'a> Reader<'a> {
    /// A type. That of a function is not one here: its parameters are left.
    pub(super) fn ty(&mut self) -> Result<Type> {
        Ok(self.measured()?.ty)
    }

    /// Whether a type begins here.
    pub(super) fn at_type(&self) -> bool {
        match self.peek().kind {
            Kind::Word => is_type_word(self.word()),
            Kind::Local | Kind::Mark(b'[' | b'{' | b'<') => true,
            _ => false,
        }
    }

    fn measured(&mut self) -> Result<Measured> {
        self.enter()?;
        let token = self.peek();
        let found = match token.kind {
            Kind::Word => self.type_word()?,
            Kind::Local => {
                let name = self.name();
                self.bump();
                self.named(name)?
            }
            Kind::Mark(b'[') => {
                self.bump();
                let count = self.unsigned("the length of an array")?;
                self.expect_word("x")?;
                let element = self.measured()?;
                self.expect(b']')?;
                self.whole(element.parts, element.levels, Type::Array(count, Rc::new(element.ty)))?
            }
            Kind::Mark(b'{') => self.fields(false)?,
            Kind::Mark(b'<') => {
                self.bump();
                if self.at(b'{') {
                    let fields = self.fields(true)?;
                    self.expect(b'>')?;
                    fields
                } else {
                    self.vector()?
                }
            }
            _ => return Err(self.wrong("a type")),
        };
        self.leave();
        Ok(found)
    }

    /// A type of parts that are measured.
    fn whole(&self, parts: u32, levels: u32, ty: Type) -> Result<Measured> {
        let (parts, levels) = (parts.saturating_add(1), levels.saturating_add(1));
        if parts > MOST_PARTS || levels > MOST_LEVELS {
            return Err(self.wrong("a smaller type"));
        }
        Ok(Measured { ty, parts, levels })
    }

    fn type_word(&mut self) -> Result<Measured> {
        let word = self.word();
        if !is_type_word(word) {
            return Err(self.wrong("a type"));
        }
        let start = self.position();
        self.bump();
        Ok(simple(match word {
            "void" => Type::Void,
            "half" => Type::Half,
            "float" => Type::Float,
            "double" => Type::Double,
            "ptr" => Type::Pointer(self.optional_space()?.unwrap_or(0)),
            "target" => {
                self.skip_brackets()?;
                Type::Other(self.text_from(start).into())
            }
            _ => match word.strip_prefix('i').map(str::parse) {
                Some(Ok(bits @ 1..=0x80_0000)) => Type::Int(bits),
                Some(_) => return Err(self.wrong_at(start, "an integer type of 1 to 8388608 bits")),
                None => Type::Other(word.into()),
            },
        }))
    }

    /// Behind the `<`.
    fn vector(&mut self) -> Result<Measured> {
        let start = self.position().saturating_sub(1);
        let scalable = self.eat_word("vscale");
        if scalable {
            self.expect_word("x")?;
        }
        let count = self.unsigned("the length of a vector")?;
        self.expect_word("x")?;
        let element = self.measured()?;
        self.expect(b'>')?;
        match u32::try_from(count) {
            Ok(count @ 1..) if !scalable => {
                self.whole(element.parts, element.levels, Type::Vector(count, Rc::new(element.ty)))
            }
            _ => Ok(simple(Type::Other(self.text_from(start).into()))),
        }
    }

    fn fields(&mut self, packed: bool) -> Result<Measured> {
        self.expect(b'{')?;
        let (mut fields, mut parts, mut levels) = (Vec::new(), 0_u32, 0);
        if !self.eat(b'}') {
            loop {
                let field = self.measured()?;
                parts = parts.saturating_add(field.parts);
                levels = levels.max(field.levels);
                fields.push(field.ty);
                if parts > MOST_PARTS {
                    return Err(self.wrong("a smaller type"));
                }
                if !self.eat(b',') {
                    break;
                }
            }
            self.expect(b'}')?;
        }
        self.whole(parts, levels, Type::Struct { packed, fields: fields.into() })
    }

    /// What `%name` stands for. Definitions may come later in the file.
    fn named(&mut self, name: Name<'a>) -> Result<Measured> {
        let start = match self.types.get(&name) {
            Some(Named::Read(measured)) => return Ok(measured.clone()),
            Some(Named::Unread(start)) => *start,
            Some(Named::Reading) => return Err(self.wrong_at(self.position() - 1, "a type that does not hold itself")),
            None => return Err(self.wrong_at(self.position() - 1, "a type that is defined")),
        };
        self.types.insert(name.clone(), Named::Reading);
        let after = self.seek(start);
        let measured =
            if self.word() == "opaque" { simple(Type::Other(format!("%{name}").into())) } else { self.measured()? };
        self.seek(after);
        self.types.insert(name, Named::Read(measured.clone()));
        Ok(measured)
    }

    /// `addrspace(n)`, if it is here.
    pub(super) fn optional_space(&mut self) -> Result<Option<u32>> {
        if !self.eat_word("addrspace") {
            return Ok(None);
        }
        self.expect(b'(')?;
        let at = self.position();
        let space = self.unsigned("the number of an address space")?;
        self.expect(b')')?;
        match u32::try_from(space) {
            Ok(space) => Ok(Some(space)),
            Err(_) => Err(self.wrong_at(at, "the number of an address space")),
        }
    }
}
