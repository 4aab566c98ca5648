//! Constants and constant expressions.

use super::cursor::{Reader, Result};
use super::keywords::{binary_op, cast_op};
use crate::ir::lexer::{Kind, unescaped_bytes};
use crate::ir::module::{Constant, Op, Operand, Type, Value};

/// A `splat` of more elements is kept as text.
const MOST_SPLAT: u32 = 1024;

/// Whether a constant may begin with this word; any other between a type and its value is an attribute.
fn is_constant_word(word: &str) -> bool {
    matches!(
        word,
        "true"
            | "false"
            | "null"
            | "none"
            | "undef"
            | "poison"
            | "zeroinitializer"
            | "splat"
            | "getelementptr"
            | "ptrauth"
            | "blockaddress"
            | "dso_local_equivalent"
            | "no_cfi"
            | "extractelement"
            | "insertelement"
            | "shufflevector"
            | "select"
            | "icmp"
            | "fcmp"
    ) || is_number_word(word)
        || cast_op(word).is_some()
        || binary_op(word).is_some()
}

/// `u0xFF`, `s0xFF`: an integer in hexadecimal.
fn is_number_word(word: &str) -> bool {
    word.starts_with("u0x") || word.starts_with("s0x")
}

/// The bits of a double that has the value of a half.
fn half_to_double(half: u16) -> u64 {
    let sign = u64::from(half >> 15) << 63;
    let (exponent, mantissa) = (u64::from(half >> 10 & 0x1F), u64::from(half & 0x3FF));
    sign | match exponent {
        // A multiple of 2^-24; exact.
        0 => (mantissa as f64 / 16_777_216.0).to_bits(),
        0x1F => 0x7FF << 52 | mantissa << 42,
        _ => (exponent + 1023 - 15) << 52 | mantissa << 42,
    }
}

impl Reader<'_> {
    /// A constant and its type.
    pub(super) fn constant_operand(&mut self) -> Result<Operand> {
        let ty = self.ty()?;
        let value = Value::Constant(self.constant(&ty)?);
        Ok(Operand { ty, value })
    }

    /// Goes past attributes between a type and its value.
    pub(super) fn skip_attributes(&mut self) -> Result<()> {
        loop {
            match self.peek().kind {
                Kind::Word if !is_constant_word(self.word()) => self.skip_attribute()?,
                Kind::Text => self.skip_attribute()?,
                _ => return Ok(()),
            }
        }
    }

    /// Goes past one: `noundef`, `align 8`, `range(i32 0, 5)`, `"key"="value"`.
    pub(super) fn skip_attribute(&mut self) -> Result<()> {
        let word = self.word();
        self.bump();
        if matches!(word, "align" | "alignstack") && self.peek().kind == Kind::Number {
            self.bump();
        } else if self.at(b'(') {
            self.skip_brackets()?;
        } else if self.eat(b'=') {
            self.bump();
        }
        Ok(())
    }

    /// A constant of a type.
    pub(super) fn constant(&mut self, ty: &Type) -> Result<Constant> {
        self.enter()?;
        let found = match self.peek().kind {
            Kind::Number => self.number(ty)?,
            Kind::Global => {
                if !matches!(ty, Type::Pointer(_) | Type::Other(_)) {
                    return Err(self.wrong("a constant of that type"));
                }
                let symbol = self.symbol()?;
                self.bump();
                symbol
            }
            Kind::Bytes => self.bytes(ty)?,
            Kind::Mark(b'[' | b'{' | b'<') => self.aggregate(ty)?,
            Kind::Word => self.constant_word(ty)?,
            _ => return Err(self.wrong("a constant")),
        };
        self.leave();
        Ok(found)
    }

    /// Takes the token as text.
    fn other(&mut self) -> Constant {
        let text = self.peek_text();
        self.bump();
        Constant::Other(text.into())
    }

    fn number(&mut self, ty: &Type) -> Result<Constant> {
        let text = self.peek_text();
        let constant = match ty {
            Type::Int(_) => integer(text),
            Type::Half | Type::Float | Type::Double => float(text),
            Type::Other(_) => Some(Constant::Other(text.into())),
            _ => None,
        };
        let Some(constant) = constant else { return Err(self.wrong("a constant of that type")) };
        self.bump();
        Ok(constant)
    }

    fn bytes(&mut self, ty: &Type) -> Result<Constant> {
        let quoted = self.peek_text().trim_start_matches('c');
        let bytes = unescaped_bytes(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
        match ty {
            Type::Array(count, element) if **element == Type::Int(8) && *count == bytes.len() as u64 => {
                self.bump();
                Ok(Constant::Bytes(bytes.into()))
            }
            _ => Err(self.wrong("a constant of that type")),
        }
    }

    /// Elements in brackets.
    fn aggregate(&mut self, ty: &Type) -> Result<Constant> {
        let start = self.position();
        let opening = self.peek().kind;
        self.bump();
        let packed = opening == Kind::Mark(b'<') && self.eat(b'{');
        let closing = match opening {
            Kind::Mark(b'[') => b']',
            Kind::Mark(b'{') => b'}',
            _ if packed => b'}',
            _ => b'>',
        };
        let mut elements = Vec::new();
        while !self.at(closing) {
            elements.push(self.constant_operand()?);
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(closing)?;
        if packed {
            self.expect(b'>')?;
        }
        let count = elements.len() as u64;
        let fits = match (closing, ty) {
            (b']', Type::Array(most, element)) => count == *most && elements.iter().all(|one| one.ty == **element),
            (b'>', Type::Vector(most, element)) => {
                count == u64::from(*most) && elements.iter().all(|one| one.ty == **element)
            }
            (b'}', Type::Struct { packed: wanted, fields }) => {
                packed == *wanted && elements.iter().map(|one| &one.ty).eq(fields.iter())
            }
            (_, Type::Other(_)) => return Ok(Constant::Other(self.text_from(start).into())),
            _ => false,
        };
        if fits {
            Ok(Constant::Aggregate(elements.into()))
        } else {
            Err(self.wrong_at(start, "a constant of that type"))
        }
    }

    fn constant_word(&mut self, ty: &Type) -> Result<Constant> {
        let start = self.position();
        let word = self.word();
        match word {
            "true" | "false" if *ty == Type::Int(1) => {
                self.bump();
                Ok(Constant::Int(i128::from(word == "true")))
            }
            "null" if matches!(ty, Type::Pointer(_) | Type::Other(_)) => {
                self.bump();
                Ok(Constant::Zero)
            }
            "zeroinitializer" => {
                self.bump();
                Ok(Constant::Zero)
            }
            "undef" => {
                self.bump();
                Ok(Constant::Undef)
            }
            "poison" => {
                self.bump();
                Ok(Constant::Poison)
            }
            "none" => Ok(self.other()),
            "splat" => self.splat(ty),
            "getelementptr" => {
                self.bump();
                let flags = self.flags()?;
                self.expect(b'(')?;
                let (op, made) = self.gep(flags.inbounds, Self::constant_operand)?;
                self.expect(b')')?;
                self.expression(start, op, &made, ty)
            }
            "blockaddress" | "ptrauth" => {
                self.bump();
                self.skip_brackets()?;
                Ok(Constant::Other(self.text_from(start).into()))
            }
            "dso_local_equivalent" | "no_cfi" => {
                self.bump();
                self.bump();
                Ok(Constant::Other(self.text_from(start).into()))
            }
            "extractelement" | "insertelement" | "shufflevector" | "select" | "icmp" | "fcmp" => {
                while !self.at(b'(') && !self.peek().first {
                    self.bump();
                }
                self.skip_brackets()?;
                Ok(Constant::Other(self.text_from(start).into()))
            }
            _ if is_number_word(word) => self.number(ty),
            _ => {
                if let Some(op) = cast_op(word) {
                    self.bump();
                    self.flags()?;
                    self.expect(b'(')?;
                    let value = self.constant_operand()?;
                    self.expect_word("to")?;
                    let to = self.ty()?;
                    self.expect(b')')?;
                    self.expression(start, Op::Cast { op, value, to: to.clone() }, &to, ty)
                } else if let Some(op) = binary_op(word) {
                    self.bump();
                    let flags = self.flags()?.flags;
                    self.expect(b'(')?;
                    let left = self.constant_operand()?;
                    self.expect(b',')?;
                    let right = self.constant_operand()?;
                    self.expect(b')')?;
                    let made = left.ty.clone();
                    if right.ty != made {
                        return Err(self.wrong_at(start, "operands of one type"));
                    }
                    self.expression(start, Op::Binary { op, left, right, flags }, &made, ty)
                } else {
                    Err(self.wrong("a constant of that type"))
                }
            }
        }
    }

    fn expression(&self, start: usize, op: Op, made: &Type, wanted: &Type) -> Result<Constant> {
        if made == wanted {
            Ok(Constant::Expression(Box::new(op)))
        } else {
            Err(self.wrong_at(start, "a constant of that type"))
        }
    }

    /// `splat (T v)`.
    fn splat(&mut self, ty: &Type) -> Result<Constant> {
        let start = self.position();
        self.bump();
        self.expect(b'(')?;
        let one = self.constant_operand()?;
        self.expect(b')')?;
        match ty {
            Type::Vector(count, element) if **element == one.ty => Ok(if *count <= MOST_SPLAT {
                Constant::Aggregate(vec![one; *count as usize].into())
            } else {
                Constant::Other(self.text_from(start).into())
            }),
            Type::Other(_) => Ok(Constant::Other(self.text_from(start).into())),
            _ => Err(self.wrong_at(start, "a constant of that type")),
        }
    }
}

/// Decimal, or hexadecimal behind `u0x` or `s0x`; one of more than 128 bits is text.
fn integer(text: &str) -> Option<Constant> {
    if let Some(digits) = text.strip_prefix("u0x").or_else(|| text.strip_prefix("s0x")) {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let negative = text.starts_with('s') && digits.bytes().next().is_some_and(|first| first >= b'8');
        return plain.then(|| match u128::from_str_radix(digits, 16) {
            Ok(bits) if negative && digits.len() < 32 => Constant::Int((bits as i128) - (1 << (digits.len() * 4))),
            Ok(bits) => Constant::Int(bits as i128),
            Err(_) => Constant::Other(text.into()),
        });
    }
    let digits = text.trim_start_matches('-');
    if digits.is_empty() || text.len() - digits.len() > 1 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = text.parse().ok().or_else(|| text.parse::<u128>().ok().map(|bits| bits as i128));
    Some(value.map_or_else(|| Constant::Other(text.into()), Constant::Int))
}

/// Decimal, or the bits of a double or a half; those of other formats are text.
fn float(text: &str) -> Option<Constant> {
    let Some(digits) = text.strip_prefix("0x") else {
        let decimal = text.contains('.') && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        return text.parse::<f64>().ok().filter(|_| decimal).map(|value| Constant::Float(value.to_bits()));
    };
    let hexadecimal = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match digits.as_bytes().first()? {
        b'H' => {
            let digits = digits.get(1..).filter(|digits| hexadecimal(digits))?;
            u16::from_str_radix(digits, 16).ok().map(|half| Constant::Float(half_to_double(half)))
        }
        b'K' | b'L' | b'M' | b'R' => Some(Constant::Other(text.into())),
        _ if hexadecimal(digits) => u64::from_str_radix(digits, 16).ok().map(Constant::Float),
        _ => None,
    }
}
