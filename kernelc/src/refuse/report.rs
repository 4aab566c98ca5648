//! What the process that checks a source reports to the driver.

use crate::amp_warnings::AmpWarning;
use crate::diagnostics::Place;

/// An error, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub place: Place,
    pub text: String,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Errors of Clang, as they are printed: with their notes and lines of the source.
    pub clang: Vec<Finding>,
    /// Errors in C++ AMP's words, as they are printed: with the line of the source.
    pub amp: Vec<Finding>,
    /// Warnings: which, where that is by `#line`, and where and what it is.
    pub warnings: Vec<(AmpWarning, Place, Finding)>,
    /// An error may be about a function that only the host has.
    pub names_host_function: bool,
    /// Where amp code names a function, and where that is declared.
    pub chosen: Vec<(Place, Place)>,
}

impl Report {
    /// The bytes that [`Report::decoded`] reads.
    pub fn encoded(&self) -> Vec<u8> {
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
        fields.number(self.chosen.len());
        for (at, function) in &self.chosen {
            fields.place(at);
            fields.place(function);
        }
        fields.0
    }

    /// `None` if the bytes are no report.
    pub fn decoded(bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        let mut findings = || {
            let count = rest.number()?;
            (0..count).map(|_| Some(Finding { place: rest.place()?, text: rest.text()? })).collect::<Option<Vec<_>>>()
        };
        let (clang, amp) = (findings()?, findings()?);
        let count = rest.number()?;
        let warning = |rest: &mut Rest<'_>| {
            let name = rest.text()?;
            let warning = AmpWarning::ALL.into_iter().find(|one| one.name() == name)?;
            Some((warning, rest.place()?, Finding { place: rest.place()?, text: rest.text()? }))
        };
        let warnings = (0..count).map(|_| warning(&mut rest)).collect::<Option<_>>()?;
        let names_host_function = rest.number()? == 1;
        let count = rest.number()?;
        let chosen = (0..count).map(|_| Some((rest.place()?, rest.place()?))).collect::<Option<_>>()?;
        rest.0.is_empty().then_some(Self { clang, amp, warnings, names_host_function, chosen })
    }
}

/// Fields one behind the other: numbers of four bytes, and texts behind their lengths.
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

    fn place(&mut self, place: &Place) {
        self.text(&place.file);
        self.0.extend(place.line.to_le_bytes());
        self.0.extend(place.column.to_le_bytes());
    }
}

/// The fields that are left to read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
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

    fn place(&mut self) -> Option<Place> {
        Some(Place { file: self.text()?, line: self.number()?, column: self.number()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_arrive_whole_or_not_at_all() {
        let place = |line| Place { file: "a \u{e9}.cpp".into(), line, column: 3 };
        let report = Report {
            clang: vec![Finding { place: place(1), text: "error: x\n  note\n".into() }],
            amp: vec![
                Finding { place: place(2), text: String::new() },
                Finding { place: Place::default(), text: "y".into() },
            ],
            warnings: vec![(AmpWarning::Unsynchronized, place(6), Finding { place: place(7), text: "z".into() })],
            names_host_function: true,
            chosen: vec![(place(4), place(5))],
        };
        let bytes = report.encoded();
        assert_eq!(Report::decoded(&bytes), Some(report));
        assert_eq!(Report::decoded(&Report::default().encoded()), Some(Report::default()));
        assert!((0..bytes.len()).all(|length| Report::decoded(&bytes[..length]).is_none()));
        assert_eq!(Report::decoded(&[bytes, vec![0]].concat()), None);
    }
}
