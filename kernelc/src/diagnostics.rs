//! The form of diagnostics, which is Clang's: places, lines of the source, counts.

use crate::files::Unfinished;
use crate::ir::Frame;
use crate::kernel_error::Remedy;
use std::ops::Range;
use std::path::Path;

/// Why it ends without an object: what is to be printed, and the exit code.
pub struct Failed {
    pub text: String,
    pub code: i32,
    /// Of kernels that were refused.
    pub remedy: Remedy,
}

impl Failed {
    /// A pass failed; some say nothing.
    pub fn of_pass(what: &str, code: i32, text: String) -> Self {
        let silent = text.trim().is_empty();
        let text = if silent {
            format!(
                "revamp-kernelc: error: {what} failed ({code}) without a message; please report it with the source\n"
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

/// A text of Clang with restrictions for HIP's attributes.
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

/// A place in a source, where macros are expanded. Columns count bytes, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// A diagnostic of ours in Clang's form. `presumed` is printed, which `#line` moves; the line at `place` is shown.
pub fn shown(presumed: &Place, place: &Place, kind: &str, message: &str) -> String {
    let Place { file, line, column } = presumed;
    format!("{file}:{line}:{column}: {kind}: {message}\n{}", excerpt(presumed, place))
}

/// The same at the place of an instruction.
pub fn at(place: &Frame, kind: &str, message: &str) -> String {
    let Frame { file, line, column, .. } = place;
    let place = Place { file: file.clone(), line: *line, column: *column };
    shown(&place, &place, kind, message)
}

/// The calls that led to a place, down to the user's code: below it are parallel_for_each's own functions.
pub fn calls(frames: &[Frame]) -> String {
    let own = frames.iter().filter(|f| !f.file.contains("revamp/detail/launch.h"));
    own.map(|f| format!("{}:{}:{}: note: called from here, in '{}'\n", f.file, f.line, f.column, f.function)).collect()
}

/// The last line where there are errors.
pub fn generated(errors: usize, when: &str) -> String {
    format!("{errors} error{} generated when {when}.\n", if errors == 1 { "" } else { "s" })
}

/// The line at `place` with a mark, behind the number that it presumably has.
fn excerpt(presumed: &Place, place: &Place) -> String {
    let bytes = std::fs::read(Path::new(&place.file)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().nth((place.line as usize).wrapping_sub(1));
    line.map(|line| marked(line, presumed, &[], None)).unwrap_or_default()
}

/// A line with a mark at its place, ranges of columns underlined, and below them what would be written at a column to correct it.
pub fn marked(line: &str, place: &Place, ranges: &[Range<u32>], fix: Option<(u32, &str)>) -> String {
    // Tabs stay tabs, so that the mark stands below its place.
    let end = line.len() + 1;
    let columns = || (1..).zip(line.bytes()).filter(|(at, _)| line.is_char_boundary(*at as usize - 1));
    let behind = (u32::try_from(end).unwrap_or(u32::MAX)..=place.column).map(|at| (at, b' '));
    let blank = |byte| if byte == b'\t' { '\t' } else { ' ' };
    let mark = |(at, byte): (u32, u8)| match byte {
        _ if at == place.column => '^',
        _ if ranges.iter().any(|range| range.contains(&at)) => '~',
        byte => blank(byte),
    };
    let marks: String = columns().chain(behind).map(mark).collect();
    let mut shown = format!("{:5} | {line}\n      | {}\n", place.line, marks.trim_end());
    if let Some((at, written)) = fix {
        let gap: String = columns().take_while(|(n, _)| *n < at).map(|(_, byte)| blank(byte)).collect();
        shown += &format!("      | {gap}{written}\n");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_marks_below_their_places() {
        let line = "\t\u{e9} = \"x\" + 1.0f";
        let shown = |column, ranges: &[Range<u32>], fix| {
            marked(line, &Place { file: String::new(), line: 2, column }, ranges, fix)
        };
        let first = "    2 | \t\u{e9} = \"x\" + 1.0f\n      | \t";
        assert_eq!(shown(11, &[7..10, 13..u32::MAX], None), format!("{first}    ~~~ ^ ~~~~\n"));
        assert_eq!(shown(17, &[], Some((17, ";"))), format!("{first}{0:14}^\n      | \t{0:14};\n", ""));
        let nowhere = Place { file: "nowhere".into(), line: 1, column: 1 };
        assert_eq!(excerpt(&nowhere, &nowhere), "");
    }
}
