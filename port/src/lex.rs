//! The tokens of a source, and its encoding.

/// A token and the line it is on.
pub struct Token {
    pub text: String,
    pub line: usize,
    /// As it is written, of the name of a header.
    pub header: Option<String>,
}

/// The source as text, and whether it was UTF-16.
pub fn text_of(bytes: &[u8]) -> (String, bool) {
    let words = |of: fn([u8; 2]) -> u16| -> Vec<u16> {
        bytes[2..].chunks_exact(2).map(|pair| of([pair[0], pair[1]])).collect()
    };
    match bytes {
        [0xFF, 0xFE, ..] => (String::from_utf16_lossy(&words(u16::from_le_bytes)), true),
        [0xFE, 0xFF, ..] => (String::from_utf16_lossy(&words(u16::from_be_bytes)), true),
        _ => (String::from_utf8_lossy(bytes).into_owned(), false),
    }
}

/// True for what names are made of.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The tokens of a source. Strings are `""`, except the names of headers, which are in lower case and with `/`.
pub fn tokens(source: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let in_include = matches!(&found[..], [.., hash, word] if hash.text == "#" && word.text == "include");
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |n| n + 4),
            'R' if rest.starts_with("R\"") => raw_string(rest),
            '"' | '\'' => quoted(rest, first),
            '<' if in_include => rest.find(['>', '\n']).map_or(rest.len(), |n| n + 1),
            c if is_word(c) => {
                // A digit may be followed by the separator of digits.
                let number = c.is_ascii_digit();
                rest.find(|c| !(is_word(c) || number && (c == '\'' || c == '.'))).unwrap_or(rest.len())
            }
            _ if rest.starts_with("::") || rest.starts_with("->") => 2,
            c => c.len_utf8(),
        };
        let text = &rest[..length];
        let is_comment = text.starts_with("//") || text.starts_with("/*");
        if !first.is_whitespace() && !is_comment {
            let text = match first {
                '"' | '<' if in_include => text.to_lowercase().replace('\\', "/"),
                '"' | '\'' => "\"\"".to_owned(),
                _ if text.starts_with("R\"") => "\"\"".to_owned(),
                _ => text.to_owned(),
            };
            let header = (matches!(first, '"' | '<') && in_include).then(|| rest[..length].to_owned());
            found.push(Token { text, line, header });
        }
        line += text.matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// The length of a string or character that the source begins with.
fn quoted(source: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in source.char_indices().skip(1) {
        if c == '\n' && !escaped {
            return at;
        }
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    source.len()
}

/// The length of a raw string.
fn raw_string(source: &str) -> usize {
    let Some(open) = source.find('(') else { return source.len() };
    let end = format!("){}\"", &source[2..open]);
    source[open..].find(&end).map_or(source.len(), |n| open + n + end.len())
}
