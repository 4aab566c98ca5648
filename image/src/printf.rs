//! The text that kernels print. The compiler encodes it in the format string of a DebugPrintf instruction, and the library
//! decodes it from the message that a Vulkan layer prints.
//!
//! The compiler puts control characters around the text, so that the library finds the text in the message of any layer.
//! Layers print 64-bit numbers wrongly or not at all. Therefore the format string makes the layer print C's conversion and the
//! number's bits between two marks, such as `%d:ffffffffffffffff`. The library then formats the number.

/// The mark before a text of `Function::Printf`.
const PRINTF_MARK: char = '\u{2}';
/// The mark before a text of `Function::Errorf`.
const ERRORF_MARK: char = '\u{1}';
/// The mark after a text.
const END: char = '\u{3}';
/// The marks before and after a 64-bit number.
const WIDE: char = '\u{4}';
const WIDE_END: char = '\u{5}';

/// Which function printed a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// direct3d_printf.
    Printf,
    /// direct3d_errorf or direct3d_abort: the launch fails.
    Errorf,
}

/// The format string of the DebugPrintf instruction that prints `format`.
pub fn encode_text(function: Function, format: &str) -> String {
    let begin = match function {
        Function::Printf => PRINTF_MARK,
        Function::Errorf => ERRORF_MARK,
    };
    format!("{begin}{format}{END}")
}

/// The part of a format string that prints the bits of one 64-bit number. `format_options` (flags, width and precision) and `letter` form
/// C's conversion.
pub fn encode_wide(format_options: &str, letter: char) -> String {
    format!("{WIDE}%%{format_options}{letter}:%lx{WIDE_END}")
}

/// The text in a message, without the marks around it; `None` if the message has no mark. The end of the text may be cut off.
pub fn decode_text(message: &str) -> Option<(Function, &str)> {
    let start = message.find([PRINTF_MARK, ERRORF_MARK])?;
    let function = if message[start..].starts_with(ERRORF_MARK) { Function::Errorf } else { Function::Printf };
    // The mark is one byte.
    let text = &message[start + 1..];
    Some((function, text.rfind(END).map_or(text, |end| &text[..end])))
}

/// Formats each 64-bit number in a text by `format_number`, which gets the conversion and the bits. A damaged number, or a number for
/// which `format_number` returns `None`, stays as it is.
pub fn decode_wide(text: &str, format_number: impl Fn(&str, u64) -> Option<String>) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(WIDE) {
        all.push_str(before);
        let (number, remainder) = after.split_once(WIDE_END).unwrap_or((after, ""));
        let parts = number.rsplit_once(':');
        let shown = parts.and_then(|(conversion, bits)| format_number(conversion, u64::from_str_radix(bits, 16).ok()?));
        all.push_str(shown.as_deref().unwrap_or(number));
        rest = remainder;
    }
    all + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text that DebugPrintf prints for a format string.
    fn printed(format: &str, bits: u64) -> String {
        format.replace("%lx", &format!("{bits:x}")).replace("%%", "%")
    }

    fn format_number(conversion: &str, bits: u64) -> Option<String> {
        (conversion != "%n").then(|| format!("<{conversion} {bits}>"))
    }

    /// Programs that are already built print these marks.
    #[test]
    fn the_format_is_stable() {
        assert_eq!(encode_text(Function::Printf, "a\n"), "\u{2}a\n\u{3}");
        assert_eq!(encode_text(Function::Errorf, "wrong"), "\u{1}wrong\u{3}");
        assert_eq!(encode_wide("-8", 'd'), "\u{4}%%-8d:%lx\u{5}");
    }

    #[test]
    fn texts_are_found_in_messages() {
        assert_eq!(decode_text("id | \u{2}a | 3\n\u{3} |"), Some((Function::Printf, "a | 3\n")));
        assert_eq!(decode_text("\u{1}wrong\u{3}"), Some((Function::Errorf, "wrong")));
        assert_eq!(decode_text("\u{2}cut of"), Some((Function::Printf, "cut of")));
        assert_eq!(decode_text("\u{2}\u{3}"), Some((Function::Printf, "")));
        assert_eq!(decode_text("x = 3"), None);
    }

    #[test]
    fn damaged_numbers_stay_as_they_are() {
        for text in ["%d", "%d:", "%d:x", "%n:1", "", ":", "\u{e9}", "%d:11111111111111111"] {
            assert_eq!(decode_wide(&format!("a\u{4}{text}\u{5}b"), format_number), format!("a{text}b"));
        }
        assert_eq!(decode_wide("\u{4}%d:ff", format_number), "<%d 255>", "the end is cut off");
    }

    proptest! {
        #[test]
        fn decoding_reverses_encoding(before in "[a-z |\n]*", after in "[a-z |\n]*", format_options in "[-+ #0]?[0-9]{0,2}", bits: u64) {
            let format = format!("{before}{}{after}", encode_wide(&format_options, 'x'));
            for function in [Function::Printf, Function::Errorf] {
                let message = format!("id = 1 | {} |", printed(&encode_text(function, &format), bits));
                let (found, text) = decode_text(&message).unwrap();
                prop_assert_eq!(found, function);
                prop_assert_eq!(decode_wide(text, format_number), format!("{before}<%{format_options}x {bits}>{after}"));
            }
        }

        #[test]
        fn any_message_does_no_harm(message in "[\u{1}-\u{5}%:a-f0-9\u{e9}]*") {
            if let Some((_, text)) = decode_text(&message) {
                decode_wide(text, format_number);
            }
        }
    }
}
