//! `direct3d_printf` and `direct3d_errorf` as instructions of NonSemantic.DebugPrintf, whose text the validation layer and
//! other tools print.
//!
//! Those tools know `%d %i %u %x %X %o` and `%f %F %e %E %g %G %a %A` of 32 bits, and `%lx`. Conversions of C are rewritten to
//! these, text that is known at compile time (`%s`, `%c`) becomes part of the format, and the rest is refused. A number of 64
//! bits is printed as its conversion and its bits, which the library formats ([`revamp_image::printf`]).

use super::addresses::constant_address;
use super::assembler::Scalar;
use super::emitter::{Emitter, Lowered};
use super::memory::{self, Address};
use crate::ir::{Constant, Module, Operand, Type, Value};
use crate::kernel_error::KernelError;
use revamp_image::printf::{Function, encode_text, encode_wide};
use rspirv::spirv::Word;

/// A call of `function`.
pub(super) fn call(e: &mut Emitter, function: Function, arguments: &[Operand]) -> Lowered<()> {
    let called = match function {
        Function::Printf => "direct3d_printf",
        Function::Errorf => "direct3d_errorf",
    };
    let refuse = |what: String| KernelError::new(format!("{called}: {what}"));
    let [format, arguments @ ..] = arguments else { return Err(e.internal("a format is expected")) };
    let Some(format) = literal(e.module, format) else {
        return Err(refuse("the format must be a string literal".into()));
    };
    let (mut text, mut words) = (Vec::new(), Vec::new());
    let mut given = arguments.iter().enumerate();
    for piece in pieces(&format).map_err(refuse)? {
        match piece {
            Piece::Text(bytes) => text.extend(bytes),
            Piece::Conversion(conversion) => {
                let Some((n, argument)) = given.next() else {
                    return Err(refuse(format!("'{}' has no argument", conversion.shown())));
                };
                let Converted { spelling, word } = convert(e, &conversion, argument)?
                    .map_err(|what| refuse(format!("'{}' {what} (argument {})", conversion.shown(), n + 1)))?;
                text.extend(spelling);
                words.extend(word);
            }
        }
    }
    let text = String::from_utf8(text).map_err(|_| refuse("the text is not UTF-8".into()))?;
    if text.contains('\0') {
        return Err(refuse("the text has a zero character".into()));
    }
    e.asm.print(&encode_text(function, &text), &words);
    Ok(())
}

/// The characters of a string literal, without the terminating zero.
fn literal(module: &Module, operand: &Operand) -> Option<Vec<u8>> {
    let Value::Constant(constant) = &operand.value else { return None };
    let (global, at) = constant_address(constant)?;
    let global = &module.globals[global.0];
    let bytes = match &global.initializer {
        Some(Constant::Bytes(bytes)) if global.constant => &bytes[..],
        Some(Constant::Zero) if global.constant => &[0],
        _ => return None,
    };
    let rest = bytes.get(usize::try_from(at).ok()?..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    Some(rest[..end].to_vec())
}

/// A part of a format.
#[derive(Debug, PartialEq)]
enum Piece {
    /// Literal text, including `%%`.
    Text(Vec<u8>),
    Conversion(Conversion),
}

/// `%-8.3f` and the like.
#[derive(Debug, PartialEq)]
struct Conversion {
    /// Flags, width and precision.
    look: String,
    length: String,
    letter: char,
}

impl Conversion {
    fn shown(&self) -> String {
        format!("%{}{}{}", self.look, self.length, self.letter)
    }
}

fn pieces(format: &[u8]) -> Result<Vec<Piece>, String> {
    let mut all = Vec::new();
    let mut rest = format;
    while let Some(percent) = rest.iter().position(|&c| c == b'%') {
        let (text, conversion) = rest.split_at(percent);
        if !text.is_empty() {
            all.push(Piece::Text(text.to_vec()));
        }
        let take = |from: &[u8], what: &[u8]| from.iter().take_while(|c| what.contains(c)).count();
        let look = 1 + take(&conversion[1..], b"-+ #0'123456789.*$");
        let letter = look + take(&conversion[look..], b"hlqjztL");
        let text = |from: usize, to: usize| String::from_utf8_lossy(&conversion[from..to]).into_owned();
        let Some(&last) = conversion.get(letter) else {
            return Err(format!("'{}' is not complete", text(0, conversion.len())));
        };
        let one = Conversion { look: text(1, look), length: text(look, letter), letter: char::from(last) };
        rest = &conversion[letter + 1..];
        if one.letter == '%' {
            all.push(Piece::Text(b"%%".to_vec()));
            continue;
        }
        if one.look.contains(['*', '$']) {
            return Err(format!("'{}': width and precision of device code must be numbers", one.shown()));
        }
        if one.look.contains('\'') {
            return Err(format!("'{}': device code does not group digits", one.shown()));
        }
        all.push(Piece::Conversion(one));
    }
    if !rest.is_empty() {
        all.push(Piece::Text(rest.to_vec()));
    }
    Ok(all)
}

/// A conversion for debugPrintf, and the id of its argument; no id if the text is known at compile time.
struct Converted {
    spelling: Vec<u8>,
    word: Option<Word>,
}

/// Converts a conversion of C for debugPrintf. The inner error is the part of the message after the conversion.
fn convert(e: &mut Emitter, conversion: &Conversion, argument: &Operand) -> Lowered<Result<Converted, String>> {
    let Conversion { look, length, letter } = conversion;
    if let 's' | 'c' = letter {
        let known = match (letter, &argument.value) {
            ('s', _) => literal(e.module, argument),
            (_, Value::Constant(Constant::Int(code))) => Some(vec![*code as u8]),
            _ => None,
        };
        let Some(text) = known.filter(|_| length.is_empty()) else {
            return Ok(Err(match letter {
                's' => "of device code prints string literals only".into(),
                _ => "of device code prints constants only: print the number with '%d'".into(),
            }));
        };
        if !look.is_empty() {
            return Ok(Err("of device code has no width or precision".into()));
        }
        let escaped = text.iter().flat_map(|&c| if c == b'%' { vec![c, c] } else { vec![c] }).collect();
        return Ok(Ok(Converted { spelling: escaped, word: None }));
    }
    let takes = match (letter, length.as_str()) {
        ('d' | 'i' | 'u' | 'x' | 'X' | 'o', "" | "h" | "hh") => "an int",
        ('d' | 'i' | 'u' | 'x' | 'X' | 'o', "l" | "ll" | "q" | "j" | "z" | "t") => "an integer of 64 bits",
        ('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A', "" | "l") => "a float or double",
        ('p', "") => "a pointer",
        ('n', _) => return Ok(Err("writes to memory, which device code cannot do".into())),
        _ => return Ok(Err("is not a conversion that device code supports".into())),
    };
    let (is, fits) = match argument.ty {
        Type::Int(32) => ("an int", takes == "an int"),
        Type::Int(64) => ("an integer of 64 bits", takes == "an integer of 64 bits"),
        Type::Float => ("a float", takes == "a float or double"),
        Type::Double => ("a double", takes == "a float or double"),
        Type::Pointer(_) => ("a pointer", takes == "a pointer"),
        _ => ("neither a number nor a pointer", false),
    };
    if !fits {
        return Ok(Err(format!("takes {takes}, but the argument is {is}")));
    }
    if *letter == 'p' {
        if !look.is_empty() {
            return Ok(Err("of device code has no width".into()));
        }
        // A variable that is used only here has no SPIR-V variable.
        let is_variable = matches!(&argument.value, Value::Constant(c) if constant_address(c).is_some());
        return Ok(match if is_variable { None } else { Some(e.address(argument)?) } {
            Some(Address::Device(word)) => Ok(Converted { spelling: b"0x%lx".into(), word: Some(word) }),
            _ => {
                Err("prints addresses of the accelerator's memory, where tile_static and local variables are not"
                    .into())
            }
        });
    }
    let word = e.word(argument)?;
    let spelling = match argument.ty {
        Type::Double if matches!(letter, 'a' | 'A') => {
            return Ok(Err("of device code takes floats only, and this is a double".into()));
        }
        Type::Double | Type::Int(64) => encode_wide(look, *letter),
        _ => format!("%{look}{letter}"),
    };
    let word = match argument.ty {
        Type::Double => memory::recast(&mut e.asm, word, Scalar::F64, Scalar::U64),
        _ => word,
    };
    Ok(Ok(Converted { spelling: spelling.into_bytes(), word: Some(word) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_taken_apart() {
        let conversion = |look: &str, length: &str, letter| {
            Piece::Conversion(Conversion { look: look.into(), length: length.into(), letter })
        };
        let text = |t: &str| Piece::Text(t.into());
        assert_eq!(
            pieces(b"a %-8.3f%% %llu\n").unwrap(),
            [text("a "), conversion("-8.3", "", 'f'), text("%%"), text(" "), conversion("", "ll", 'u'), text("\n")]
        );
        assert_eq!(pieces(b"").unwrap(), []);
        assert_eq!(pieces(b"x").unwrap(), [text("x")]);
        for (format, part) in
            [(&b"%"[..], "'%' is not complete"), (b"a%5l", "'%5l' is not complete"), (b"%*d", "'%*d'")]
        {
            assert!(pieces(format).unwrap_err().contains(part), "{format:?}");
        }
    }
}
