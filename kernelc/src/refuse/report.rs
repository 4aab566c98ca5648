//! The report that the child process of a check sends to the driver.

use crate::amp_warnings::AmpWarning;
use crate::diagnostics::SourceLocation;

/// An error, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub place: SourceLocation,
    pub text: String,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Errors of Clang, as they are printed: with their notes and lines of the source.
    pub clang: Vec<Finding>,
    /// Errors in C++ AMP's words, as they are printed: with the line of the source.
    pub amp: Vec<Finding>,
    /// For each warning: its option, its place according to `#line` directives, and its text with its place in the file.
    pub warnings: Vec<(AmpWarning, SourceLocation, Finding)>,
    /// True if an error may be about a host-only function.
    pub names_host_function: bool,
    /// For each name of a function in amp code: its place, and the place of the function's declaration.
    pub resolved_functions: Vec<(SourceLocation, SourceLocation)>,
}

impl Report {
    /// The bytes that [`Report::decode`] reads.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        for findings in [&self.clang, &self.amp] {
            fields.number(findings.len());
            for Finding { place, text } in findings {
                fields.place(place);
                fields.text(text);
            }
        }
        fields.number(self.warnings.len());
        for (warning, presumed, Finding { place, text }) in &self.warnings {
            fields.text(warning.name());
            fields.place(presumed);
            fields.place(place);
            fields.text(text);
        }
        fields.number(self.names_host_function.into());
        fields.number(self.resolved_functions.len());
        for (at, function) in &self.resolved_functions {
            fields.place(at);
            fields.place(function);
        }
        fields.0
    }

    /// `None` if the bytes are no report.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = UnreadFields(bytes);
        let mut findings = || {
            let count = rest.number()?;
            (0..count).map(|_| Some(Finding { place: rest.place()?, text: rest.text()? })).collect::<Option<Vec<_>>>()
        };
        let (clang, amp) = (findings()?, findings()?);
        let count = rest.number()?;
        let warning = |rest: &mut UnreadFields<'_>| {
            let name = rest.text()?;
            let warning = AmpWarning::ALL.into_iter().find(|one| one.name() == name)?;
            Some((warning, rest.place()?, Finding { place: rest.place()?, text: rest.text()? }))
        };
        let warnings = (0..count).map(|_| warning(&mut rest)).collect::<Option<_>>()?;
        let names_host_function = rest.number()? == 1;
        let count = rest.number()?;
        let resolved_functions = (0..count).map(|_| Some((rest.place()?, rest.place()?))).collect::<Option<_>>()?;
        rest.0.is_empty().then_some(Self { clang, amp, warnings, names_host_function, resolved_functions })
    }
}

/// The encoded fields: numbers of four bytes, and texts preceded by their lengths.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn number(&mut self, number: usize) {
        self.0.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend(text.as_bytes());
    }

    fn place(&mut self, place: &SourceLocation) {
        self.text(&place.file);
        self.0.extend(place.line.to_le_bytes());
        self.0.extend(place.column.to_le_bytes());
    }
}

/// The fields that are still to be read.
struct UnreadFields<'a>(&'a [u8]);

impl UnreadFields<'_> {
    fn number(&mut self) -> Option<u32> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*bytes))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(bytes.to_vec()).ok()
    }

    fn place(&mut self) -> Option<SourceLocation> {
        Some(SourceLocation { file: self.text()?, line: self.number()?, column: self.number()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_arrive_whole_or_not_at_all() {
        let place = |line| SourceLocation { file: "a \u{e9}.cpp".into(), line, column: 3 };
        let report = Report {
            clang: vec![Finding { place: place(1), text: "error: x\n  note\n".into() }],
            amp: vec![
                Finding { place: place(2), text: String::new() },
                Finding { place: SourceLocation::default(), text: "y".into() },
            ],
            warnings: vec![(AmpWarning::Unsynchronized, place(6), Finding { place: place(7), text: "z".into() })],
            names_host_function: true,
            resolved_functions: vec![(place(4), place(5))],
        };
        let bytes = report.encode();
        assert_eq!(Report::decode(&bytes), Some(report));
        assert_eq!(Report::decode(&Report::default().encode()), Some(Report::default()));
        assert!((0..bytes.len()).all(|length| Report::decode(&bytes[..length]).is_none()));
        assert_eq!(Report::decode(&[bytes, vec![0]].concat()), None);
    }
}
