//! The table of idioms, `idioms.txt`: what only Microsoft's compiler takes or revamp does not have, why, and what to write instead.

use std::collections::HashSet;
use std::sync::OnceLock;

/// A row of the table: where the pattern's tokens follow each other, the reason and the replacement are printed.
pub struct Row {
    /// The tokens. A `*` at the end of one stands for any rest.
    pub pattern: Vec<&'static str>,
    /// Why.
    pub reason: &'static str,
    /// What to write instead.
    pub replacement: &'static str,
    /// What `--fix` writes, if anything.
    pub edit: Option<&'static str>,
    /// It asks for no edit where revamp-c++ compiles the source.
    pub is_note: bool,
}

impl Row {
    /// The name of the program's own that would take the row's place: of patterns of one name.
    pub fn own_name(&self) -> Option<&'static str> {
        match self.pattern[..] {
            [name] | [name, "(" | "<"] | [name, "(", "\"\""] => Some(name),
            _ => None,
        }
    }

    /// The token is one that the pattern has at a place.
    pub fn fits(&self, place: usize, text: &str) -> bool {
        let word = self.pattern[place];
        word.strip_suffix('*').map_or(word == text, |begin| text.starts_with(begin) && !text.is_empty())
    }
}

/// The macros that `<amp.h>` has of Microsoft's headers.
pub fn supplied() -> &'static HashSet<&'static str> {
    static NAMES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let headers =
        [include_str!("../../cpp-shim/revamp/detail/msvc_words.h"), include_str!("../../cpp-shim/revamp/detail/sal.h")];
    let name = |line: &'static str| line.strip_prefix("#define ")?.split([' ', '(']).next();
    NAMES.get_or_init(|| headers.iter().flat_map(|text| text.lines()).filter_map(name).collect())
}

/// All rows, in the order in which those of one place are printed.
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
