//! The text that kernels print: in the format of the instruction, and in the message that tools make of it.
//!
//! The compiler marks the beginning and the end of its text with characters that are not printed, so that the library finds
//! it in the message of whatever layer. A number of 64 bits, which layers print wrongly or not at all, is printed as the
//! conversion that C has for it and its bits, `%d:ffffffffffffffff`, between marks; the library formats it.

const PRINTS: char = '\u{2}';
const FAILS: char = '\u{1}';
const END: char = '\u{3}';
/// Before and after a number of 64 bits.
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

/// The format of an instruction whose text is `format`.
pub fn encode_text(function: Function, format: &str) -> String {
    let begin = match function {
        Function::Printf => PRINTS,
        Function::Errorf => FAILS,
    };
    format!("{begin}{format}{END}")
}

/// The part of a format that prints one number of 64 bits, given by its bits: `look` (flags, width and precision) and
/// `letter` are those of C's conversion.
pub fn encode_wide(look: &str, letter: char) -> String {
    format!("{WIDE}%%{look}{letter}:%lx{WIDE_END}")
}

/// The text in a message, without the marks around it; `None` if the message has none. What was cut off at its end may lack.
pub fn decode_text(message: &str) -> Option<(Function, &str)> {
    let start = message.find([PRINTS, FAILS])?;
    let function = if message[start..].starts_with(FAILS) { Function::Errorf } else { Function::Printf };
    // Both marks have one byte.
    let text = &message[start + 1..];
    Some((function, text.rfind(END).map_or(text, |end| &text[..end])))
}

/// The text with its numbers of 64 bits as `show` formats them, from the conversion and the bits. What is damaged, or what
/// `show` does not know, stays as it is.
pub fn decode_wide(text: &str, show: impl Fn(&str, u64) -> Option<String>) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(WIDE) {
        all.push_str(before);
        let (number, behind) = after.split_once(WIDE_END).unwrap_or((after, ""));
        let parts = number.rsplit_once(':');
        let shown = parts.and_then(|(conversion, bits)| show(conversion, u64::from_str_radix(bits, 16).ok()?));
        all.push_str(shown.as_deref().unwrap_or(number));
        rest = behind;
    }
    all + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What debugPrintf makes of a format.
    fn printed(format: &str, bits: u64) -> String {
        format.replace("%lx", &format!("{bits:x}")).replace("%%", "%")
    }

    fn show(conversion: &str, bits: u64) -> Option<String> {
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
            assert_eq!(decode_wide(&format!("a\u{4}{text}\u{5}b"), show), format!("a{text}b"));
        }
        assert_eq!(decode_wide("\u{4}%d:ff", show), "<%d 255>", "the end is cut off");
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(before in "[a-z |\n]*", after in "[a-z |\n]*", look in "[-+ #0]?[0-9]{0,2}", bits: u64) {
            let format = format!("{before}{}{after}", encode_wide(&look, 'x'));
            for function in [Function::Printf, Function::Errorf] {
                let message = format!("id = 1 | {} |", printed(&encode_text(function, &format), bits));
                let (found, text) = decode_text(&message).unwrap();
                prop_assert_eq!(found, function);
                prop_assert_eq!(decode_wide(text, show), format!("{before}<%{look}x {bits}>{after}"));
            }
        }

        #[test]
        fn any_message_does_no_harm(message in "[\u{1}-\u{5}%:a-f0-9\u{e9}]*") {
            if let Some((_, text)) = decode_text(&message) {
                decode_wide(text, show);
            }
        }
    }
}
