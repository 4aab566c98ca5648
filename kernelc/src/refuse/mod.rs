//! Finds code that C++ AMP forbids although Clang, which compiles device code as HIP, accepts it. The check reads Clang's AST of the source.
//!
//! A child process, this program with the argument [`CHILD`], checks a source. The child loads libclang (`libclang`),
//! parses the source as the check pass would, and examines only cursors, types and places. `rules` contains C++ AMP's
//! rules, and `types` contains predicates about types. `errors` decides about Clang's errors. The child sends a
//! `report` to the driver, and the driver only decides which lines to print.

mod constants;
mod errors;
mod libclang;
mod report;
mod restrictions;
mod rules;
mod special_members;
mod text;
mod tree;
mod types;
mod wording;
mod words;

pub use report::Finding;
pub use words::misplaced;

use crate::amp_warnings::AmpWarning;
use crate::clang::{Clang, Pass, Unit};
use crate::diagnostics::{self, SourceLocation};
use crate::files::{self, Running};
use report::Report;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;

/// The first argument of the child process.
pub const CHILD: &str = "--revamp-check-amp";

/// A running check of a source.
pub struct Check<'a> {
    running: Running,
    /// The errors that [`misplaced`] found.
    misplaced: &'a [Finding],
    /// A second check that also treats restrict(amp) code as host code.
    amp_as_host: Option<Running>,
}

/// What the check found.
pub struct Checked {
    /// The text to print.
    pub text: String,
    /// The number of errors in the text.
    pub errors: usize,
    warnings: Vec<(AmpWarning, SourceLocation, Finding)>,
    /// True if an error may be about a host-only function.
    pub names_host_function: bool,
    /// True if overload resolution in amp code would select other functions if restrict(amp) code were host code too.
    pub overloaded: bool,
}

impl<'a> Check<'a> {
    /// Starts the check. `strict`: refuse revamp's extensions too. `compare`: find out whether functions are overloaded
    /// on restriction. `misplaced`: the findings of [`misplaced`].
    pub fn start(
        clang: &Clang,
        unit: &Unit<'_>,
        flags: &[OsString],
        strict: bool,
        compare: bool,
        misplaced: &'a [Finding],
    ) -> Result<Self, String> {
        let pass = clang.pass(Pass::Check, unit, flags);
        let child = |amp_is_both: bool| {
            let mut command = files::child(CHILD)?;
            command.arg(&clang.libclang).arg(clang.major.to_string());
            command.arg(if strict { "strict" } else { "usual" });
            command.arg(if !compare && unit.amp.is_device() { "overloaded" } else { "check" });
            command.arg(pass.get_program());
            if amp_is_both {
                command.arg("-DREVAMP_AMP_IS_BOTH");
            }
            // The second check replaces the device's pass by the host's pass, whose code host threads run.
            let as_host_argument =
                |argument| if argument == "--cuda-device-only" { OsStr::new("--cuda-host-only") } else { argument };
            command
                .args(pass.get_args().map(|argument| if amp_is_both { as_host_argument(argument) } else { argument }));
            let name = format!("libclang, checking {},", unit.source.display());
            Ok::<_, String>(Running::with_output(&mut command)?.named(name))
        };
        let running = child(false)?;
        let amp_as_host = if compare { Some(child(true)?) } else { None };
        Ok(Self { running, misplaced, amp_as_host })
    }

    /// Waits for the end of the check.
    pub fn end(self) -> Result<Checked, String> {
        let report = wait_for_report(self.running)?;
        let overloaded = match self.amp_as_host {
            Some(amp_as_host) => wait_for_report(amp_as_host)?.resolved_functions != report.resolved_functions,
            None => false,
        };
        let mut text: String = report.clang.iter().map(|error| error.text.as_str()).collect();
        let line = |error: &Finding| (error.place.file.clone(), error.place.line);
        // If Clang reports an error in a line, no other error of that line is shown.
        let clang_lines: HashSet<_> = report.clang.iter().map(line).collect();
        let misplaced: Vec<&Finding> =
            self.misplaced.iter().filter(|error| !clang_lines.contains(&line(error))).collect();
        text.extend(misplaced.iter().map(|e| diagnostics::shown(&e.place, &e.place, "error", &e.text)));
        text.extend(report.amp.iter().map(|error| error.text.as_str()));
        let errors = report.clang.len() + misplaced.len() + report.amp.len();
        if errors > 0 {
            text += &diagnostics::error_count_line(errors, "checking restrictions");
        }
        let warnings = report.warnings;
        Ok(Checked { text, errors, warnings, names_host_function: report.names_host_function, overloaded })
    }
}

impl Checked {
    /// The text of the enabled warnings, and their number. `fatal`: warnings are errors.
    pub fn warnings(&self, is_enabled: impl Fn(AmpWarning) -> bool, fatal: bool) -> (String, usize) {
        let enabled: Vec<_> = self.warnings.iter().filter(|(warning, ..)| is_enabled(*warning)).collect();
        let (kind, option) = if fatal { ("error", "-Werror,-W") } else { ("warning", "-W") };
        let shown = enabled.iter().map(|(warning, presumed, Finding { place, text })| {
            diagnostics::shown(presumed, place, kind, &format!("{text} [{option}{}]", warning.name()))
        });
        (shown.collect(), enabled.len())
    }
}

/// Waits for a child process, and returns its report.
fn wait_for_report(running: Running) -> Result<Report, String> {
    let (code, output, text) = running.output()?;
    let report = (code == 0).then(|| Report::decode(&output)).flatten();
    report.ok_or_else(|| if text.is_empty() { format!("libclang ended with {code}") } else { text.trim_end().into() })
}

/// The child process that checks. Arguments: libclang, its major version, `strict` or `usual`, `overloaded` or `check`,
/// the command line of the check pass.
pub fn child(arguments: &[OsString]) -> i32 {
    // The large stack is for deeply nested expressions.
    let arguments = arguments.to_vec();
    let check = std::thread::Builder::new().stack_size(256 << 20).spawn(move || check(&arguments));
    let result = check
        .map_err(|e| e.to_string())
        .and_then(|thread| thread.join().unwrap_or_else(|_| Err("the check of the source failed".into())));
    let written = result.and_then(|report| std::io::stdout().write_all(&report.encode()).map_err(|e| e.to_string()));
    match written {
        Ok(()) => 0,
        Err(why) => {
            eprintln!("{why}");
            1
        }
    }
}

fn check(arguments: &[OsString]) -> Result<Report, String> {
    let [library, major, mode, purpose, line @ ..] = arguments else {
        return Err("this command is internal to revamp-kernelc; do not call it directly".into());
    };
    let headers = files::headers()?;
    let major = major.to_str().and_then(|number| number.parse().ok()).unwrap_or_default();
    libclang::load(Path::new(library), major)?;
    let source = line.last().map(|name| Path::new(name).display().to_string()).unwrap_or_default();
    let unit = libclang::parse(line).map_err(|why| format!("{source}: {why}"))?;
    let rule_results = rules::findings(&unit, mode == "strict");
    Ok(errors::Errors::of(unit, &rule_results, &headers, purpose == "overloaded").report())
}
