//! The tokens of a source as the checks see them: string literals have no text, and the name of a header is one token.

use revamp_source::tokens::{self, Kind};
use std::ops::Range;

/// A token with its position.
#[derive(Clone, Debug)]
pub struct Token {
    /// `""` for a string or character literal. The name of a header is in lower case, with `/` for `\`. Other tokens are as written.
    pub text: String,
    /// The line in which the token begins, from 1.
    pub line: usize,
    /// The token's byte range.
    pub range: Range<usize>,
    /// True if the token belongs to a preprocessor directive.
    pub directive: bool,
    /// True if the token begins a directive.
    pub begins_directive: bool,
    /// True for the name of a header.
    pub header: bool,
    /// True for a wide string or character literal.
    pub wide: bool,
}

/// True for characters with which names and numbers begin.
pub fn is_word_start(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Token {
    /// True for a name or a keyword.
    pub fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| is_word_start(c) && !c.is_ascii_digit())
    }
}

/// The tokens of a source.
pub fn lex(source: &str) -> Vec<Token> {
    let raw = tokens::tokens(source);
    let lines = line_starts(source);
    let mut all: Vec<Token> = Vec::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        let first = &raw[at];
        if first.directive && first.text == "\\" {
            // A line continuation.
            at += 1;
            continue;
        }
        let begins_directive = first.directive && first.text == "#" && begins_line(source, all.last(), first.start);
        let header_end = (first.directive && names_header(&all)).then(|| header_end(source, first)).flatten();
        let mut token = Token {
            text: first.text.to_owned(),
            line: lines.partition_point(|&start| start <= first.start),
            range: first.start..first.end(),
            directive: first.directive,
            begins_directive,
            header: header_end.is_some(),
            wide: false,
        };
        let prefixed = matches!(first.text, "L" | "u" | "U" | "u8")
            && raw
                .get(at + 1)
                .is_some_and(|next| next.kind == Kind::Literal && next.start == first.end() && quoted(next.text));
        if let Some(end) = header_end {
            token.range.end = end;
            token.text = source[token.range.clone()].to_lowercase().replace('\\', "/");
            while at < raw.len() && raw[at].start < end {
                at += 1;
            }
        } else if prefixed {
            token.range.end = raw[at + 1].end();
            token.wide = first.text == "L";
            token.text = "\"\"".to_owned();
            at += 2;
        } else {
            if first.kind == Kind::Literal && (quoted(first.text) || first.text.contains('"')) {
                token.wide = first.text.starts_with('L');
                token.text = "\"\"".to_owned();
            }
            at += 1;
        }
        all.push(token);
    }
    all
}

/// Splits the tokens into directives and the ranges between them.
pub fn parts(tokens: &[Token]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let begins = token.begins_directive || at > 0 && token.directive != tokens[at - 1].directive;
        match found.last_mut() {
            Some(last) if !begins => last.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

fn quoted(text: &str) -> bool {
    text.starts_with(['"', '\''])
}

/// The byte offsets where lines begin.
pub fn line_starts(source: &str) -> Vec<usize> {
    std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// True if a line begins between a token and a byte, and is not a continuation of the line before.
fn begins_line(source: &str, before: Option<&Token>, start: usize) -> bool {
    let Some(before) = before else { return true };
    let between = &source[before.range.end..start];
    between.match_indices('\n').any(|(at, _)| !between[..at].trim_end_matches('\r').ends_with('\\'))
}

/// True if the next token is the name of a header.
fn names_header(before: &[Token]) -> bool {
    matches!(before, [.., hash, word] if hash.begins_directive && matches!(word.text.as_str(), "include" | "import"))
}

/// The byte after the name of the header that begins at `first`.
fn header_end(source: &str, first: &tokens::Token<'_>) -> Option<usize> {
    let close = match first.text.as_bytes().first()? {
        b'<' => '>',
        b'"' => '"',
        _ => return None,
    };
    let rest = source[first.start + 1..].lines().next()?;
    Some(first.start + 1 + rest.find(close)? + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_a_source() {
        let source = "#include <Sub\\A.h> // <b.h>\n#define M \\\n  #x\nf(L\"a\", 'b', 1'000, R\"x(\")x\"); // end";
        let found = lex(source);
        let texts: Vec<&str> = found.iter().map(|t| t.text.as_str()).collect();
        let expected = "# include <sub/a.h> # define M # x f ( \"\" , \"\" , 1'000 , \"\" ) ;";
        assert_eq!(texts.join(" "), expected);
        assert_eq!(found.iter().filter(|t| t.begins_directive).count(), 2);
        assert!(found[2].header && found[10].wide && !found[12].wide);
        assert_eq!((found[6].line, found[8].line), (3, 4));
        assert_eq!(&source[found[2].range.clone()], "<Sub\\A.h>");
        assert!(lex("R\"(open").len() == 1 && lex("\"open\nint x;").len() == 4 && lex("/* open").is_empty());
    }
}
