//! Response files: `@file` stands for the arguments that the file holds.

use crate::system::os_string;
use std::ffi::OsString;
use std::path::PathBuf;

/// The deepest nesting of response files.
const MAX_DEPTH: usize = 64;
/// The largest number of arguments in all response files together.
const MAX_ARGUMENTS: usize = 1 << 20;

/// The arguments, with each response file replaced by its contents. `@name` stays if there is no such file, as in Clang and GCC.
pub fn expand_all(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let mut all = Vec::new();
    expand(arguments, 0, &mut all)?;
    Ok(all)
}

fn expand(arguments: Vec<OsString>, depth: usize, all: &mut Vec<OsString>) -> Result<(), String> {
    for argument in arguments {
        let file = argument.as_encoded_bytes().strip_prefix(b"@").map(|name| PathBuf::from(os_string(name)));
        let Some(file) = file.filter(|file| file.is_file()) else {
            all.push(argument);
            continue;
        };
        if depth == MAX_DEPTH || all.len() > MAX_ARGUMENTS {
            return Err(format!(
                "response file {} is nested too deeply, or has too many arguments; check that response files do not \
                 name each other",
                file.display()
            ));
        }
        let text = std::fs::read(&file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
        expand(words(&text), depth + 1, all)?;
    }
    Ok(())
}

/// The words of a text by GNU's rules: single and double quotes group, a backslash escapes the next character.
fn words(text: &[u8]) -> Vec<OsString> {
    let mut all = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            // A backslash at the end of a line joins the line with the next one.
            (b'\\', _) => match bytes.next() {
                Some(b'\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (_, None) if byte.is_ascii_whitespace() => all.extend(word.take().map(|word| os_string(&word))),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    all.extend(word.map(|word| os_string(&word)));
    all
}

#[cfg(test)]
mod tests {
    use super::{expand_all, words};
    use std::ffi::OsString;

    #[test]
    fn words_follow_the_quoting_rules_of_gnu() {
        for (text, expected) in [
            ("a  b\n\tc", vec!["a", "b", "c"]),
            ("'a b' \"c 'd'\" e\\ f", vec!["a b", "c 'd'", "e f"]),
            ("-DX=\\\"y\\\" '' \"a\\\"b\"", vec!["-DX=\"y\"", "", "a\"b"]),
            ("a\\\nb 'open", vec!["ab", "open"]),
            ("\u{feff}a", vec!["a"]),
            ("", vec![]),
        ] {
            assert_eq!(words(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn nested_files_are_expanded_and_cycles_are_refused() {
        let folder = std::env::temp_dir().join(format!("kernelc-response-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let at = |name: &str| OsString::from(format!("@{}/{name}", folder.display()));
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("inner", "-c 'a b.cpp'");
        write("outer", &format!("-O2 {} @nowhere", at("inner").display()));
        write("circle", &at("circle").to_string_lossy());
        assert_eq!(expand_all(vec![at("outer"), "-g".into()]).unwrap(), ["-O2", "-c", "a b.cpp", "@nowhere", "-g"]);
        assert!(expand_all(vec![at("circle")]).unwrap_err().contains("nested too deep"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
