//! Lowers `direct3d_printf` and `direct3d_errorf` to instructions of NonSemantic.DebugPrintf. The validation layer and other tools print
//! the text of these instructions.
//!
//! These tools support the 32-bit conversions `%d %i %u %x %X %o` and `%f %F %e %E %g %G %a %A`, and `%lx`. C's
//! conversions are rewritten to these. Text that is known at compile time (`%s`, `%c`) becomes part of the format. All
//! other conversions are rejected. For a 64-bit number, the kernel prints the conversion and the bits of the number,
//! and the library formats them ([`revamp_image::printf`]).

use super::addresses::constant_address;
use super::assembler::Scalar;
use super::emitter::{Emitter, Lowered};
use super::memory::{self, Address};
use crate::ir::{Constant, Module, Operand, Type, Value};
use crate::kernel_error::KernelError;
use revamp_image::printf::{Function, encode_text, encode_wide};
use rspirv::spirv::Word;

/// Lowers a call of `function`.
pub(super) fn call(e: &mut Emitter, function: Function, arguments: &[Operand]) -> Lowered<()> {
    let function_name = match function {
        Function::Printf => "direct3d_printf",
        Function::Errorf => "direct3d_errorf",
    };
    let refuse = |what: String| KernelError::new(format!("{function_name}: {what}"));
    let [format, arguments @ ..] = arguments else { return Err(e.internal("a call that prints has no format")) };
    let Some(format) = literal(e.module, format) else {
        return Err(refuse("the format must be a string literal".into()));
    };
    let (mut text, mut words) = (Vec::new(), Vec::new());
    let mut remaining_arguments = arguments.iter().enumerate();
    for piece in pieces(&format).map_err(refuse)? {
        match piece {
            Piece::Text(bytes) => text.extend(bytes),
            Piece::Conversion(conversion) => {
                let Some((n, argument)) = remaining_arguments.next() else {
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

/// A conversion such as `%-8.3f`.
#[derive(Debug, PartialEq)]
struct Conversion {
    /// Flags, width and precision.
    modifiers: String,
    length: String,
    letter: char,
}

impl Conversion {
    fn shown(&self) -> String {
        format!("%{}{}{}", self.modifiers, self.length, self.letter)
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
        let modifiers = 1 + take(&conversion[1..], b"-+ #0'123456789.*$");
        let letter = modifiers + take(&conversion[modifiers..], b"hlqjztL");
        let text = |from: usize, to: usize| String::from_utf8_lossy(&conversion[from..to]).into_owned();
        let Some(&last) = conversion.get(letter) else {
            return Err(format!("'{}' is not complete", text(0, conversion.len())));
        };
        let parsed =
            Conversion { modifiers: text(1, modifiers), length: text(modifiers, letter), letter: char::from(last) };
        rest = &conversion[letter + 1..];
        if parsed.letter == '%' {
            all.push(Piece::Text(b"%%".to_vec()));
            continue;
        }
        if parsed.modifiers.contains(['*', '$']) {
            return Err(format!("'{}': in device code, width and precision must be numbers", parsed.shown()));
        }
        if parsed.modifiers.contains('\'') {
            return Err(format!("'{}': device code does not group digits", parsed.shown()));
        }
        all.push(Piece::Conversion(parsed));
    }
    if !rest.is_empty() {
        all.push(Piece::Text(rest.to_vec()));
    }
    Ok(all)
}

/// A conversion for debugPrintf, and the id of its argument; `None` if the text is known at compile time.
struct Converted {
    spelling: Vec<u8>,
    word: Option<Word>,
}

/// Rewrites a conversion of C for debugPrintf. The inner error is the part of the error message that follows the conversion.
fn convert(e: &mut Emitter, conversion: &Conversion, argument: &Operand) -> Lowered<Result<Converted, String>> {
    let Conversion { modifiers, length, letter } = conversion;
    if let 's' | 'c' = letter {
        let known_text = match (letter, &argument.value) {
            ('s', _) => literal(e.module, argument),
            (_, Value::Constant(Constant::Int(code))) => Some(vec![*code as u8]),
            _ => None,
        };
        let Some(text) = known_text.filter(|_| length.is_empty()) else {
            return Ok(Err(match letter {
                's' => "can only print string literals in device code".into(),
                _ => "can only print constants in device code: print the number with '%d'".into(),
            }));
        };
        if !modifiers.is_empty() {
            return Ok(Err("cannot have a width or precision in device code".into()));
        }
        let escaped = text.iter().flat_map(|&c| if c == b'%' { vec![c, c] } else { vec![c] }).collect();
        return Ok(Ok(Converted { spelling: escaped, word: None }));
    }
    let expected_type = match (letter, length.as_str()) {
        ('d' | 'i' | 'u' | 'x' | 'X' | 'o', "" | "h" | "hh") => "an int",
        ('d' | 'i' | 'u' | 'x' | 'X' | 'o', "l" | "ll" | "q" | "j" | "z" | "t") => "an integer of 64 bits",
        ('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A', "" | "l") => "a float or double",
        ('p', "") => "a pointer",
        ('n', _) => return Ok(Err("writes to memory, which device code cannot do".into())),
        _ => return Ok(Err("is not a conversion that device code supports".into())),
    };
    let (actual_type, fits) = match argument.ty {
        Type::Int(32) => ("an int", expected_type == "an int"),
        Type::Int(64) => ("an integer of 64 bits", expected_type == "an integer of 64 bits"),
        Type::Float => ("a float", expected_type == "a float or double"),
        Type::Double => ("a double", expected_type == "a float or double"),
        Type::Pointer(_) => ("a pointer", expected_type == "a pointer"),
        _ => ("neither a number nor a pointer", false),
    };
    if !fits {
        return Ok(Err(format!("takes {expected_type}, but the argument is {actual_type}")));
    }
    if *letter == 'p' {
        if !modifiers.is_empty() {
            return Ok(Err("cannot have a width in device code".into()));
        }
        // A global variable that only print calls use has no SPIR-V variable, and therefore no address.
        let is_variable = matches!(&argument.value, Value::Constant(c) if constant_address(c).is_some());
        return Ok(match if is_variable { None } else { Some(e.address(argument)?) } {
            Some(Address::Device(word)) => Ok(Converted { spelling: b"0x%lx".into(), word: Some(word) }),
            _ => {
                Err("prints only addresses in the memory of the accelerator, but tile_static and local variables have \
                     no such address"
                    .into())
            }
        });
    }
    let word = e.word(argument)?;
    let spelling = match argument.ty {
        Type::Double if matches!(letter, 'a' | 'A') => {
            return Ok(Err("takes only a float in device code, but the argument is a double".into()));
        }
        Type::Double | Type::Int(64) => encode_wide(modifiers, *letter),
        _ => format!("%{modifiers}{letter}"),
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
    fn a_format_is_split_into_pieces() {
        let conversion = |modifiers: &str, length: &str, letter| {
            Piece::Conversion(Conversion { modifiers: modifiers.into(), length: length.into(), letter })
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
