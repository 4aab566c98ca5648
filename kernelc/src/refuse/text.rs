//! The severity and the text of Clang's diagnostics.

use crate::diagnostics::in_amp_words;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    Note,
    Warning,
    Error,
    Fatal,
}

impl std::fmt::Display for Severity {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(match self {
            Self::Fatal => "fatal error",
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// A text of Clang. Other code can only display the text, so no decision depends on the wording.
#[derive(Clone)]
pub(super) struct Text(String);

impl std::fmt::Display for Text {
    /// Writes the text in C++ AMP's words.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&in_amp_words(&self.0))
    }
}

impl Text {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// The part after the first colon, where a note about a candidate says why it is not viable.
    pub(super) fn reason(&self) -> Option<Text> {
        self.0.split_once(": ").map(|(_, reason)| Text(reason.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shown_in_amp_words() {
        let text =
            Text::new("candidate function not viable: call to __host__ function from __device__ function".into());
        assert_eq!(text.to_string(), "candidate function not viable: call to cpu function from amp function");
        assert_eq!(text.reason().unwrap().to_string(), "call to cpu function from amp function");
        assert!(Text::new("'x::y' declared here".into()).reason().is_none());
    }
}
