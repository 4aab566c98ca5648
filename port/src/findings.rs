//! Findings in a source, and their printed form.

use std::ops::Range;

/// A replacement of bytes of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced bytes.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// Replaces `range` by `text`.
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }
}

/// A place in a source that needs an edit.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The line, from 1.
    pub line: usize,
    /// The words of the source that need the edit.
    pub found: String,
    /// Why they need it.
    pub reason: String,
    /// The suggested replacement.
    pub replacement: String,
    /// The edits that `--fix` makes; empty if a person must edit.
    pub edits: Vec<Edit>,
    /// True if no edit is needed when revamp-c++ compiles the source.
    pub is_note: bool,
}

impl Finding {
    /// A finding without mechanical edits.
    pub fn new(
        line: usize,
        found: impl Into<String>,
        reason: impl Into<String>,
        replacement: impl Into<String>,
    ) -> Self {
        let (found, reason, replacement) = (found.into(), reason.into(), replacement.into());
        Self { line, found, reason, replacement, edits: Vec::new(), is_note: false }
    }

    /// Adds mechanical edits.
    pub fn with(mut self, edits: impl IntoIterator<Item = Edit>) -> Self {
        self.edits.extend(edits);
        self
    }

    /// Makes the finding a note: only compilers other than revamp-c++ need the edit.
    pub fn as_note(mut self) -> Self {
        self.is_note = true;
        self
    }

    /// The finding's line of the report, without the name of the file.
    pub fn report_line(&self) -> String {
        let note = if self.is_note { "note: " } else { "" };
        format!("{}: {note}{}: {}; {}", self.line, self.found, self.reason, self.replacement)
    }
}

/// Sorts findings by line and text, and merges equal ones.
pub fn sorted(mut all: Vec<Finding>) -> Vec<Finding> {
    all.sort_by(|a, b| (a.line, &a.found).cmp(&(b.line, &b.found)));
    all.dedup_by(|duplicate, first| {
        let is_same = (duplicate.line, &duplicate.found) == (first.line, &first.found);
        if is_same {
            first.edits.append(&mut duplicate.edits);
        }
        is_same
    });
    all
}
