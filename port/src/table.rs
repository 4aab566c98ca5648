//! The table of idioms, `idioms.txt`: code that only Microsoft's compiler accepts or that revamp does not support, with the reason and a replacement.

use std::collections::HashSet;
use std::sync::OnceLock;

/// A row of the table. Where a source has the pattern's tokens in sequence, the reason and the replacement are printed.
pub struct Row {
    /// The tokens. A `*` at the end of a token matches any rest of it.
    pub pattern: Vec<&'static str>,
    /// Why an edit is needed.
    pub reason: &'static str,
    /// The suggested replacement.
    pub replacement: &'static str,
    /// The text with which `--fix` replaces the tokens, or a rule in parentheses. `None` if `--fix` makes no edit.
    pub edit: Option<&'static str>,
    /// True if no edit is needed when revamp-c++ compiles the source.
    pub is_note: bool,
}

impl Row {
    /// The only name in the pattern, if there is exactly one. If the program declares this name itself, the row does not apply.
    pub fn single_name(&self) -> Option<&'static str> {
        match self.pattern[..] {
            [name] | [name, "(" | "<"] | [name, "(", "\"\""] => Some(name),
            _ => None,
        }
    }

    /// True if the token matches the pattern's token at this index.
    pub fn fits(&self, index: usize, text: &str) -> bool {
        let word = self.pattern[index];
        word.strip_suffix('*').map_or(word == text, |begin| text.starts_with(begin) && !text.is_empty())
    }
}

/// The macros of Microsoft's headers that `<amp.h>` defines too.
pub fn amp_macros() -> &'static HashSet<&'static str> {
    static NAMES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let headers =
        [include_str!("../../cpp-shim/revamp/detail/msvc_words.h"), include_str!("../../cpp-shim/revamp/detail/sal.h")];
    let name = |line: &'static str| line.strip_prefix("#define ")?.split([' ', '(']).next();
    NAMES.get_or_init(|| headers.iter().flat_map(|text| text.lines()).filter_map(name).collect())
}

/// All rows, in order. If several rows match at one token, the first counts.
pub fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut reason = "";
        let mut found = Vec::new();
        for line in include_str!("idioms.txt").lines() {
            if let Some(text) = line.strip_prefix("== ") {
                reason = text;
                continue;
            }
            if line.starts_with("//") {
                continue;
            }
            let mut cells = line.split(" => ");
            let (Some(patterns), Some(replacement)) = (cells.next(), cells.next()) else { continue };
            let edit = cells.next();
            let (is_note, reason) = reason.strip_prefix("note: ").map_or((false, reason), |rest| (true, rest));
            for pattern in patterns.split("  ") {
                found.push(Row { pattern: pattern.split(' ').collect(), reason, replacement, edit, is_note });
            }
        }
        found
    })
}
