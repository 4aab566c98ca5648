//! Finds the source line of the program that called the library, in the text of a backtrace.

use std::backtrace::Backtrace;

/// The file and line of the innermost frame of the program. This frame comes after the function of the C API, and is not in
/// the headers of C++ AMP or of the standard library. `None` if the program has no debug information.
pub fn of_program(backtrace: &Backtrace) -> Option<String> {
    find(&backtrace.to_string())
}

/// [`of_program`] for the text of a backtrace. The text has a line `N: function` for each frame. A line `at FILE:LINE:COLUMN`
/// follows if the file and line are known.
fn find(text: &str) -> Option<String> {
    let mut is_after_api_frame = false;
    for line in text.lines().map(str::trim) {
        if let Some(source_position) = line.strip_prefix("at ") {
            if is_after_api_frame && !is_header(source_position) {
                return Some(without_column(source_position).to_owned());
            }
        } else if let Some((_, function)) = line.split_once(": ") {
            is_after_api_frame |= is_exported(function);
        }
    }
    None
}

fn is_exported(function: &str) -> bool {
    function.starts_with("revamp_") && !function.contains("::")
}

/// True for source files that are not part of the program.
fn is_header(source_position: &str) -> bool {
    ["/revamp-amp/", "/cpp-shim/", "/usr/include/", "/include/c++/", "src/capi/", "/rustc/"]
        .iter()
        .any(|part| source_position.contains(part))
}

fn without_column(source_position: &str) -> &str {
    match source_position.rsplit_once(':') {
        Some((line, column)) if column.bytes().all(|c| c.is_ascii_digit()) && line.contains(':') => line,
        _ => source_position,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_outside_the_headers_is_returned() {
        let text = "   0: revamp::trace::events::Span::begin\n             at ./src/trace/events.rs:200:9\n   \
                    1: revamp_array_view_synchronize\n             at ./src/capi/array_view.rs:9:5\n   \
                    2: synchronize\n             at /opt/include/revamp-amp/revamp/detail/view.h:973:15\n   \
                    3: main\n             at /home/a/b.cpp:12:10\n   4: start\n             at /home/a/c.cpp:1:1\n";
        assert_eq!(find(text).as_deref(), Some("/home/a/b.cpp:12"));
    }

    #[test]
    fn without_debug_information_there_is_no_line() {
        assert_eq!(find("   0: revamp::x\n             at ./src/x.rs:1:1\n   1: revamp_dispatch\n   2: main\n"), None);
        assert_eq!(find(""), None);
    }
}
