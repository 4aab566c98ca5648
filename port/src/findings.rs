//! What is found in a source, and how it is printed.

use std::ops::Range;

/// Bytes of a source and what they become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Its bytes.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// An edit.
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }
}

/// What is to be edited.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The line, from 1.
    pub line: usize,
    /// The words of the source.
    pub found: String,
    /// Why.
    pub reason: String,
    /// What to write instead.
    pub replacement: String,
    /// What `--fix` does; nothing if it takes a person.
    pub edits: Vec<Edit>,
    /// Nothing is to be done where revamp-c++ compiles the source.
    pub is_note: bool,
}

impl Finding {
    /// A finding that takes a person.
    pub fn new(
        line: usize,
        found: impl Into<String>,
        reason: impl Into<String>,
        replacement: impl Into<String>,
    ) -> Self {
        let (found, reason, replacement) = (found.into(), reason.into(), replacement.into());
        Self { line, found, reason, replacement, edits: Vec::new(), is_note: false }
    }

    /// With an edit.
    pub fn with(mut self, edits: impl IntoIterator<Item = Edit>) -> Self {
        self.edits.extend(edits);
        self
    }

    /// Of what only other compilers than revamp-c++ refuse.
    pub fn as_note(mut self) -> Self {
        self.is_note = true;
        self
    }

    /// A line of the report, behind the name of the file.
    pub fn told(&self) -> String {
        let note = if self.is_note { "note: " } else { "" };
        format!("{}: {note}{}: {}; {}", self.line, self.found, self.reason, self.replacement)
    }
}

/// By line and text, each once.
pub fn sorted(mut all: Vec<Finding>) -> Vec<Finding> {
    all.sort_by(|a, b| (a.line, &a.found).cmp(&(b.line, &b.found)));
    all.dedup_by(|again, first| {
        let is_same = (again.line, &again.found) == (first.line, &first.found);
        if is_same {
            first.edits.append(&mut again.edits);
        }
        is_same
    });
    all
}
