//! Output of kernels (`REVAMP_DEBUG_PRINTF`). This module extracts the output from the messages of the validation layer, and writes it
//! to standard error.
//!
//! The kernel compiler puts marks around printed text (`revamp_image::printf`), which separate it from text that the layer adds.
//! 64-bit numbers are formatted here, because layers print them wrongly or not at all.

use crate::lock::{Mutex, rank};
use crate::log;
use revamp_image::printf::{Function, decode_text, decode_wide};

/// The text of the first direct3d_errorf or direct3d_abort that no call has reported yet.
static FAILURE: Mutex<Option<String>, { rank::MESSAGES }> = Mutex::new(None);

/// Takes the text of the first direct3d_errorf or direct3d_abort that no call has reported yet.
pub fn take_failure() -> Option<String> {
    FAILURE.lock().take()
}

/// True if the message comes from the layer's printf.
pub(super) fn is_printf(id: &str) -> bool {
    id.to_ascii_lowercase().contains("debug-printf")
}

/// Writes the kernel output in the message to standard error. True if the message contains kernel output.
pub(super) fn print(id: &str, message: &str) -> bool {
    use std::io::Write;
    let Some(printed) = printed(id, message) else { return false };
    if printed.text.contains("message was truncated") && printed.foreign {
        log!(
            Error,
            "a launch printed more than the buffer of the validation layer holds, and the rest is lost; to enlarge the \
             buffer, set VK_LAYER_SETTINGS_PATH to a file that contains the line khronos_validation.printf_buffer_size \
             = 1048576"
        );
        return true;
    }
    // SPIR-V kernels that revamp did not compile print lines without newlines, as is usual in shaders.
    let end = if (printed.foreign || printed.fails) && !printed.text.ends_with('\n') { "\n" } else { "" };
    // Errors are ignored, because standard error may be closed.
    let _ = write!(std::io::stderr(), "{}{end}", printed.text);
    if printed.fails {
        FAILURE.lock().get_or_insert(printed.text);
    }
    true
}

#[derive(Debug, PartialEq, Eq)]
struct Printed {
    text: String,
    /// True if it comes from direct3d_errorf or direct3d_abort.
    fails: bool,
    /// True if it comes from a kernel that revamp has not compiled, or from the layer itself.
    foreign: bool,
}

fn printed(id: &str, message: &str) -> Option<Printed> {
    if !is_printf(id) {
        return None;
    }
    if let Some((function, text)) = decode_text(message) {
        let fails = function == Function::Errorf;
        return Some(Printed { text: decode_wide(text, show), fails, foreign: false });
    }
    // `... | MessageID = 0x92394c89 | text`. A message without a MessageID is no output, but a warning about printf.
    let (_, rest) = message.split_once("MessageID = 0x")?;
    let (_, rest) = rest.split_once(['|', '\n'])?;
    Some(Printed { text: rest.strip_prefix(' ').unwrap_or(rest).to_owned(), fails: false, foreign: true })
}

/// Formats a 64-bit number as C does; `None` if the conversion is not supported.
fn show(conversion: &str, bits: u64) -> Option<String> {
    Conversion::read(conversion)?.show(bits)
}

/// A conversion such as `%-8.3f`, with C's meaning.
#[derive(Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

impl Conversion {
    fn read(text: &str) -> Option<Self> {
        let mut one = Self::default();
        let mut rest = text.strip_prefix('%')?;
        while let Some(flag) = rest.chars().next().filter(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => one.left = true,
                '+' => one.plus = true,
                ' ' => one.space = true,
                '#' => one.alternate = true,
                _ => one.zeros = true,
            }
            rest = &rest[1..];
        }
        let letter = rest.chars().next_back()?;
        let numbers = rest.strip_suffix(letter)?;
        let (width, precision) = numbers.split_once('.').map_or((numbers, None), |(w, p)| (w, Some(p)));
        // The limit keeps kernels from exhausting the memory.
        let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse().ok().filter(|n| *n <= 4096) };
        one.width = number(width)?;
        one.precision = match precision {
            Some(text) => Some(number(text)?),
            None => None,
        };
        one.letter = letter;
        Some(one)
    }

    fn show(&self, bits: u64) -> Option<String> {
        let value = f64::from_bits(bits);
        let (negative, digits) = match self.letter {
            'd' | 'i' => ((bits as i64) < 0, self.integer((bits as i64).unsigned_abs().to_string())),
            'u' => (false, self.integer(bits.to_string())),
            'x' if self.alternate && bits != 0 => (false, format!("0x{}", self.integer(format!("{bits:x}")))),
            'X' if self.alternate && bits != 0 => (false, format!("0X{}", self.integer(format!("{bits:X}")))),
            'x' => (false, self.integer(format!("{bits:x}"))),
            'X' => (false, self.integer(format!("{bits:X}"))),
            'o' if self.alternate => (false, format!("0{}", self.integer(format!("{bits:o}")).trim_start_matches('0'))),
            'o' => (false, self.integer(format!("{bits:o}"))),
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' => (value.is_sign_negative(), self.float(value.abs())),
            _ => return None,
        };
        let signed = !"uxXo".contains(self.letter);
        let sign = match () {
            () if negative => "-",
            () if signed && self.plus => "+",
            () if signed && self.space => " ",
            () => "",
        };
        let (prefix, digits) = match digits.get(..2) {
            Some(prefix @ ("0x" | "0X")) if self.alternate => (prefix, &digits[2..]),
            _ => ("", digits.as_str()),
        };
        let length = sign.len() + prefix.len() + digits.len();
        let fill = self.width.saturating_sub(length);
        let is_float = "fFeEgG".contains(self.letter);
        let zeros = self.zeros && !self.left && if is_float { value.is_finite() } else { self.precision.is_none() };
        Some(match () {
            () if self.left => format!("{sign}{prefix}{digits}{}", " ".repeat(fill)),
            () if zeros => format!("{sign}{prefix}{}{digits}", "0".repeat(fill)),
            () => format!("{}{sign}{prefix}{digits}", " ".repeat(fill)),
        })
    }

    /// An integer with at least as many digits as the precision demands.
    fn integer(&self, digits: String) -> String {
        match self.precision {
            Some(0) if digits == "0" => String::new(),
            Some(least) => "0".repeat(least.saturating_sub(digits.len())) + &digits,
            None => digits,
        }
    }

    /// A floating-point number without its sign.
    fn float(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let text = match self.letter.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".into(),
            _ if value.is_infinite() => "inf".into(),
            'f' => format!("{value:.precision$}") + if precision == 0 && self.alternate { "." } else { "" },
            'e' => self.scientific(value, precision),
            _ => {
                let digits = precision.max(1);
                let rounded = format!("{value:.*e}", digits - 1);
                let exponent: i64 = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
                if exponent < -4 || exponent >= digits as i64 {
                    self.scientific(value, digits - 1)
                } else {
                    self.trimmed(format!("{value:.*}", (digits as i64 - 1 - exponent) as usize))
                }
            }
        };
        if self.letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text }
    }

    fn scientific(&self, value: f64, precision: usize) -> String {
        let text = format!("{value:.precision$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
        let digits = self.trimmed(digits.to_owned());
        format!("{digits}e{sign}{exponent:0>2}")
    }

    /// Applies two rules of C: `%g` drops trailing zeros, and `#` keeps the decimal point.
    fn trimmed(&self, digits: String) -> String {
        match (self.alternate, digits.contains('.')) {
            (true, false) => digits + ".",
            (false, true) if matches!(self.letter, 'g' | 'G') => {
                digits.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            _ => digits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_output_is_extracted_from_messages() {
        let id = "UNASSIGNED-DEBUG-PRINTF";
        let before = "Validation Information: [ UNASSIGNED-DEBUG-PRINTF ] Object 0: handle = 0x1, type = \
                      VK_OBJECT_TYPE_DEVICE; | MessageID = 0x92394c89 | ";
        let of = |text: &str, fails, foreign, expected: &str| {
            let message = format!("{before}{text}");
            assert_eq!(printed(id, &message), Some(Printed { text: expected.into(), fails, foreign }), "{message}");
        };
        of("\u{2}a | 3\n\u{3}", false, false, "a | 3\n");
        of("\u{1}wrong\u{3}", true, false, "wrong");
        of("\u{2}cut of", false, false, "cut of");
        of(
            "\u{2}\u{4}%d:ffffffffffffffff\u{5} and \u{4}%.3f:3ff8000000000000\u{5}.\u{3}",
            false,
            false,
            "-1 and 1.500.",
        );
        of("\u{2}\u{4}%d:ff", false, false, "255");
        of("\u{2}\u{4}%d", false, false, "%d");
        of("x = 3", false, true, "x = 3");
        assert_eq!(printed("VVL-DEBUG-PRINTF", "\u{2}\u{3}").map(|p| p.text), Some(String::new()));
        assert_eq!(printed("UNASSIGNED-Debug-Printf", "Debug Printf disabled."), None);
        assert_eq!(printed("VUID-x", "\u{2}a\u{3}"), None);
    }

    #[test]
    fn damaged_conversions_are_shown_as_they_are() {
        for text in ["d:1", "%:1", "%n:1", "%99999d:1", "%d:x", "%d", "%.99999f:0", "\u{e9}:1"] {
            assert_eq!(decode_wide(&format!("a\u{4}{text}\u{5}b"), show), format!("a{text}b"));
        }
    }

    /// A C++ statement that prints the number with the C library.
    fn c_statement(conversion: &str, bits: u64) -> String {
        let (look, letter) = conversion.split_at(conversion.len() - 1);
        let (number, length) = if "diuxXo".contains(letter) {
            (format!("{bits:#x}ull"), "ll")
        } else {
            (format!("__builtin_bit_cast(double, {bits:#x}ull)"), "")
        };
        format!("    std::printf(\"{look}{length}{letter}\\n\", {number});\n")
    }

    #[test]
    fn numbers_look_as_those_of_the_c_library() {
        let looks = [
            "", "5", "-5", "05", "+", " ", "+09", "-12", "#", "#14", "#014", ".0", ".1", ".3", "12.4", "-12.4",
            "012.4", "#.0", "+ .7",
        ];
        let integers = [0_u64, 1, 7, 8, 255, 12345, 5_000_000_000, u64::MAX, u64::MAX - 7, 1 << 63];
        let floats = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            1.0 / 3.0,
            2.5,
            0.5,
            99999.95,
            999_999.5,
            1e5,
            1e6,
            123_456_789.0,
            1e-4,
            1e-5,
            1.25e-7,
            1e100,
            5e-324,
            f64::MAX,
            f64::INFINITY,
            -f64::INFINITY,
            f64::NAN,
        ];
        let mut cases = Vec::new();
        for look in looks {
            cases.extend("diuxXo".chars().flat_map(|c| integers.map(|i| (format!("%{look}{c}"), i))));
            cases.extend("fFeEgG".chars().flat_map(|c| floats.map(|f| (format!("%{look}{c}"), f.to_bits()))));
        }
        // If rounding adds a digit, glibc 2.36 drops the trailing zeros, which `#` should keep.
        cases.retain(|(how, bits)| {
            !(how.contains('#') && how.ends_with(['g', 'G']) && f64::from_bits(*bits) == 999_999.5)
        });
        let body: String = cases.iter().map(|(how, bits)| c_statement(how, *bits)).collect();
        let source = format!("#include <cstdio>\nint main() {{\n{body}}}\n");
        let program = std::env::temp_dir().join(format!("revamp-printf-{}", std::process::id()));
        let file = program.with_extension("cpp");
        std::fs::write(&file, source).unwrap();
        let made =
            std::process::Command::new("c++").args(["-std=c++17", "-w", "-O0", "-o"]).arg(&program).arg(&file).status();
        assert!(made.unwrap().success());
        let output = std::process::Command::new(&program).output().unwrap();
        let _ = (std::fs::remove_file(&program), std::fs::remove_file(&file));
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text.lines().count(), cases.len());
        for ((how, bits), expected) in cases.iter().zip(text.lines()) {
            let shown = show(how, *bits);
            assert_eq!(shown.as_deref(), Some(expected), "{how} of {bits:#x}");
        }
    }
}
