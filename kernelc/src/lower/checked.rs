//! The state of bounds checks while a kernel is emitted, and the names of views for the reports of these checks.

use super::assembler::Scalar;
use crate::files;
use crate::ir::{Frame, LocalId, LocationId};
use rspirv::spirv::Word;
use std::collections::{BTreeMap, HashMap};

/// A memory range that the table after the argument block lists ([`revamp_image::table`]): its start address and its
/// size in bytes.
pub(super) type Span = (Word, Word);

/// The state of a kernel's bounds checks.
#[derive(Default)]
pub(super) struct Checked {
    /// The offset of the table from the address of the argument block.
    pub(super) table: u64,
    /// The address of the zeros in the table.
    pub(super) zeros: Word,
    /// The spans of captured pointers, by the offset of the pointer in the argument block and the offset of the span in
    /// the pointer's table entry.
    pub(super) slots: BTreeMap<(u32, u64), Span>,
    /// The spans of pointers that are selected or merged at run time.
    pub(super) spans: HashMap<LocalId, Span>,
    /// The argument block, the table and everything appended to them.
    pub(super) whole: Option<Span>,
    /// The variables in which a thread stores its report.
    pub(super) report_variables: Vec<(Word, Scalar)>,
    /// The descriptions of the accesses that can be reported.
    pub(super) sites: Vec<String>,
    /// The elements that calls in the headers describe, by the result of the call.
    pub(super) elements: HashMap<LocalId, Element>,
}

/// An element of a view, as a call in the headers describes it (`name_element`).
#[derive(Clone)]
pub(super) struct Element {
    pub(super) size: u64,
    pub(super) rank: u64,
    pub(super) index: [Word; 3],
    pub(super) extent: [Word; 3],
    /// The condition that the index lies in the extent.
    pub(super) inside: Word,
    /// The source location of the call that describes the element.
    pub(super) location: Option<LocationId>,
}

/// Reads the names of views from the source lines that use them.
#[derive(Default)]
pub(super) struct Names {
    files: std::cell::RefCell<HashMap<String, Vec<String>>>,
}

impl Names {
    /// The identifier at a frame's line and column; `None` if the file cannot be read.
    pub(super) fn name(&self, frame: &Frame) -> Option<String> {
        let mut files = self.files.borrow_mut();
        let lines = files.entry(frame.file.clone()).or_insert_with(|| {
            let text = files::text_of(&frame.file);
            text.lines().map(str::to_owned).collect()
        });
        word_at(lines.get(frame.line as usize - 1)?, frame.column as usize)
    }
}

/// The identifier at a column or, if there is none, the nearest one before it.
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
