//! Formats diagnostics as Clang does: with locations, source lines and the number of errors.

use crate::files::Unfinished;
use crate::ir::Frame;
use crate::kernel_error::Remedy;
use std::ops::Range;
use std::path::Path;

/// Why a compilation produced no object: the text to print, and the exit code.
pub struct Failed {
    pub text: String,
    pub code: i32,
    /// A transformation after which refused kernels may compile.
    pub remedy: Remedy,
}

impl Failed {
    /// The failure of a pass. If the pass printed nothing, a message says so.
    pub fn of_pass(what: &str, code: i32, text: String) -> Self {
        let silent = text.trim().is_empty();
        let text = if silent {
            format!(
                "revamp-kernelc: error: {what} failed ({code}) without a message; please report this error with the \
                 source\n"
            )
        } else {
            text
        };
        Self { text, code, remedy: Remedy::None }
    }
}

impl From<String> for Failed {
    fn from(text: String) -> Self {
        Self { text: format!("revamp-kernelc: error: {text}\n"), code: 1, remedy: Remedy::None }
    }
}

impl From<Unfinished> for Failed {
    fn from(why: Unfinished) -> Self {
        String::from(why).into()
    }
}

/// Replaces HIP's attributes in a message of Clang by C++ AMP's terms.
pub fn in_amp_words(text: &str) -> String {
    const WORDS: [(&str, &str); 8] = [
        ("__host__ __device__ function", "restrict(amp, cpu) function"),
        ("__host__ function", "cpu function"),
        ("__device__ function", "amp function"),
        ("__host__ variable", "variable of the host"),
        ("__host__", "restrict(cpu)"),
        ("__device__", "restrict(amp)"),
        ("__shared__", "tile_static"),
        ("host variable", "variable of the host"),
    ];
    WORDS.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// A location in a source. For code from a macro, this is the location where the macro is expanded. Columns count bytes, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLocation {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// A diagnostic of revamp in Clang's format. It names the location `presumed`, which `#line` directives determine, and quotes the source
/// line at `place`.
pub fn shown(presumed: &SourceLocation, place: &SourceLocation, kind: &str, message: &str) -> String {
    let SourceLocation { file, line, column } = presumed;
    format!("{file}:{line}:{column}: {kind}: {message}\n{}", excerpt(presumed, place))
}

/// A diagnostic at the location of an instruction.
pub fn at(place: &Frame, kind: &str, message: &str) -> String {
    let Frame { file, line, column, .. } = place;
    let place = SourceLocation { file: file.clone(), line: *line, column: *column };
    shown(&place, &place, kind, message)
}

/// Notes that list the calls that led to a location, without parallel_for_each's own functions.
pub fn calls(frames: &[Frame]) -> String {
    let program_frames = frames.iter().filter(|f| !f.file.contains("revamp/detail/launch.h"));
    program_frames
        .map(|f| format!("{}:{}:{}: note: called from here, in '{}'\n", f.file, f.line, f.column, f.function))
        .collect()
}

/// The line after the last error, with the number of errors.
pub fn error_count_line(errors: usize, when: &str) -> String {
    format!("{errors} error{} generated when {when}.\n", if errors == 1 { "" } else { "s" })
}

/// The source line at `place`, with the line number of `presumed` and a caret below.
fn excerpt(presumed: &SourceLocation, place: &SourceLocation) -> String {
    let bytes = std::fs::read(Path::new(&place.file)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().nth((place.line as usize).wrapping_sub(1));
    line.map(|line| marked(line, presumed, &[], None)).unwrap_or_default()
}

/// A source line with a caret at `place` and the `ranges` of columns underlined. `fix`: a column, and the text that corrects the line there.
pub fn marked(line: &str, place: &SourceLocation, ranges: &[Range<u32>], fix: Option<(u32, &str)>) -> String {
    // Tabs stay tabs, so that the caret is below the right column.
    let end = line.len() + 1;
    let columns = || (1..).zip(line.bytes()).filter(|(at, _)| line.is_char_boundary(*at as usize - 1));
    let past_end = (u32::try_from(end).unwrap_or(u32::MAX)..=place.column).map(|at| (at, b' '));
    let blank = |byte| if byte == b'\t' { '\t' } else { ' ' };
    let mark = |(at, byte): (u32, u8)| match byte {
        _ if at == place.column => '^',
        _ if ranges.iter().any(|range| range.contains(&at)) => '~',
        byte => blank(byte),
    };
    let marks: String = columns().chain(past_end).map(mark).collect();
    let mut shown = format!("{:5} | {line}\n      | {}\n", place.line, marks.trim_end());
    if let Some((at, fix_text)) = fix {
        let gap: String = columns().take_while(|(n, _)| *n < at).map(|(_, byte)| blank(byte)).collect();
        shown += &format!("      | {gap}{fix_text}\n");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_below_the_marked_columns() {
        let line = "\t\u{e9} = \"x\" + 1.0f";
        let shown = |column, ranges: &[Range<u32>], fix| {
            marked(line, &SourceLocation { file: String::new(), line: 2, column }, ranges, fix)
        };
        let first = "    2 | \t\u{e9} = \"x\" + 1.0f\n      | \t";
        assert_eq!(shown(11, &[7..10, 13..u32::MAX], None), format!("{first}    ~~~ ^ ~~~~\n"));
        assert_eq!(shown(17, &[], Some((17, ";"))), format!("{first}{0:14}^\n      | \t{0:14};\n", ""));
        let nowhere = SourceLocation { file: "nowhere".into(), line: 1, column: 1 };
        assert_eq!(excerpt(&nowhere, &nowhere), "");
    }
}
