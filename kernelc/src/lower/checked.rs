//! What checks of bounds keep while a kernel is written, and the names in what they report.

use super::assembler::Scalar;
use crate::files;
use crate::ir::{Frame, LocalId, LocationId};
use rspirv::spirv::Word;
use std::collections::{BTreeMap, HashMap};

/// Memory as the table has it: where it begins and how large it is.
pub(super) type Span = (Word, Word);

/// What the checks of a kernel have made so far.
#[derive(Default)]
pub(super) struct Checked {
    /// Where the table is, after the block's address.
    pub(super) table: u64,
    pub(super) zeros: Word,
    /// By offset and place in the entry.
    pub(super) slots: BTreeMap<(u32, u64), Span>,
    /// Of pointers that are chosen or merged at run time.
    pub(super) spans: HashMap<LocalId, Span>,
    pub(super) whole: Option<Span>,
    /// The variables in which a thread keeps what it will report.
    pub(super) kept: Vec<(Word, Scalar)>,
    pub(super) sites: Vec<String>,
    /// What the call that names an element was given, behind the pointer.
    pub(super) named: HashMap<LocalId, Element>,
}

#[derive(Clone)]
pub(super) struct Element {
    pub(super) size: u64,
    pub(super) rank: u64,
    pub(super) index: [Word; 3],
    pub(super) extent: [Word; 3],
    /// The index lies in the extent.
    pub(super) inside: Word,
    /// Where the element is named.
    pub(super) location: Option<LocationId>,
}

/// The names of views, as the source has them where they are used.
#[derive(Default)]
pub(super) struct Names {
    files: std::cell::RefCell<HashMap<String, Vec<String>>>,
}

impl Names {
    /// The word at a place in a source; `None` if the file cannot be read.
    pub(super) fn name(&self, frame: &Frame) -> Option<String> {
        let mut files = self.files.borrow_mut();
        let lines = files.entry(frame.file.clone()).or_insert_with(|| {
            let text = files::text_of(&frame.file);
            text.lines().map(str::to_owned).collect()
        });
        word_at(lines.get(frame.line as usize - 1)?, frame.column as usize)
    }
}

/// The identifier at a column, or the one before it.
fn word_at(line: &str, column: usize) -> Option<String> {
    let bytes = line.as_bytes();
    let is_word = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut at = column.checked_sub(1)?.min(bytes.len());
    while !is_word(at) {
        at = at.checked_sub(1)?;
    }
    let mut end = at;
    while is_word(end) {
        end += 1;
    }
    while at > 0 && is_word(at - 1) {
        at -= 1;
    }
    (!bytes[at].is_ascii_digit()).then(|| line[at..end].to_string())
}

#[cfg(test)]
mod tests {
    use super::word_at;

    #[test]
    fn the_name_is_read_from_the_source() {
        let line = "    out[i] = in_1[i + 1] + 7;";
        for (column, name) in [(5, Some("out")), (8, Some("out")), (14, Some("in_1")), (18, Some("in_1")), (28, None)] {
            assert_eq!(word_at(line, column).as_deref(), name, "{column}");
        }
        assert_eq!(word_at("", 3), None);
        assert_eq!(word_at("  [", 3), None);
    }
}
