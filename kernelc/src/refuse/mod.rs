//! What C++ AMP forbids and Clang, which compiles the device's code as HIP, does not: found in Clang's own tree of the source.
//!
//! The check of a source is a process of its own, this program under the name [`CHILD`]: it loads libclang (`libclang`), parses
//! the source as the check pass would, and decides on cursors, types and places alone. `rules` has C++ AMP's rules, with what
//! `types` knows of types; `errors` judges Clang's errors. The process gives the driver a `report`, of which nothing is left to
//! decide but which lines to print.

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
use crate::diagnostics::{self, Place};
use crate::files::{self, Running};
use report::Report;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;

/// The first argument of the process that checks.
pub const CHILD: &str = "--revamp-check-amp";

/// The check of a source, under way.
pub struct Check<'a> {
    running: Running,
    /// What the words of the source have shown.
    misplaced: &'a [Finding],
    /// The same source where restrict(amp) is the host's too.
    both: Option<Running>,
}

/// What the check found.
pub struct Checked {
    /// What is to be printed.
    pub text: String,
    /// How many errors that is.
    pub errors: usize,
    warnings: Vec<(AmpWarning, Place, Finding)>,
    /// An error may be about a function that only the host has.
    pub names_host_function: bool,
    /// Amp code would name other functions if restrict(amp) were the host's too.
    pub overloaded: bool,
}

impl<'a> Check<'a> {
    /// Starts it. `strict`: revamp's extensions are refused too. `compare`: it is looked whether functions are overloaded on
    /// restriction. `misplaced`: what [`misplaced`] has found.
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
            // Host threads run what the host's pass makes.
            let side =
                |argument| if argument == "--cuda-device-only" { OsStr::new("--cuda-host-only") } else { argument };
            command.args(pass.get_args().map(|argument| if amp_is_both { side(argument) } else { argument }));
            let name = format!("libclang, checking {},", unit.source.display());
            Ok::<_, String>(Running::heard(&mut command)?.named(name))
        };
        let running = child(false)?;
        let both = if compare { Some(child(true)?) } else { None };
        Ok(Self { running, misplaced, both })
    }

    /// Waits for its end.
    pub fn end(self) -> Result<Checked, String> {
        let report = reported(self.running)?;
        let overloaded = match self.both {
            Some(both) => reported(both)?.chosen != report.chosen,
            None => false,
        };
        let mut text: String = report.clang.iter().map(|error| error.text.as_str()).collect();
        let line = |error: &Finding| (error.place.file.clone(), error.place.line);
        // What Clang says of a line is enough.
        let of_clang: HashSet<_> = report.clang.iter().map(line).collect();
        let misplaced: Vec<&Finding> = self.misplaced.iter().filter(|error| !of_clang.contains(&line(error))).collect();
        text.extend(misplaced.iter().map(|e| diagnostics::shown(&e.place, &e.place, "error", &e.text)));
        text.extend(report.amp.iter().map(|error| error.text.as_str()));
        let errors = report.clang.len() + misplaced.len() + report.amp.len();
        if errors > 0 {
            text += &diagnostics::generated(errors, "checking restrictions");
        }
        let warnings = report.warnings;
        Ok(Checked { text, errors, warnings, names_host_function: report.names_host_function, overloaded })
    }
}

impl Checked {
    /// The warnings that are on, as they are printed, and how many they are. `fatal`: they are errors.
    pub fn warnings(&self, are_on: impl Fn(AmpWarning) -> bool, fatal: bool) -> (String, usize) {
        let on: Vec<_> = self.warnings.iter().filter(|(warning, ..)| are_on(*warning)).collect();
        let (kind, option) = if fatal { ("error", "-Werror,-W") } else { ("warning", "-W") };
        let shown = on.iter().map(|(warning, presumed, Finding { place, text })| {
            diagnostics::shown(presumed, place, kind, &format!("{text} [{option}{}]", warning.name()))
        });
        (shown.collect(), on.len())
    }
}

/// What the process reports at its end.
fn reported(running: Running) -> Result<Report, String> {
    let (code, output, text) = running.output()?;
    let report = (code == 0).then(|| Report::decoded(&output)).flatten();
    report.ok_or_else(|| if text.is_empty() { format!("libclang ended with {code}") } else { text.trim_end().into() })
}

/// The process that checks. Arguments: libclang, its major version, `strict` or `usual`, `overloaded` or `check`, the command
/// line of the check pass.
pub fn child(arguments: &[OsString]) -> i32 {
    // Expressions may be nested deep.
    let arguments = arguments.to_vec();
    let check = std::thread::Builder::new().stack_size(256 << 20).spawn(move || check(&arguments));
    let result = check
        .map_err(|e| e.to_string())
        .and_then(|thread| thread.join().unwrap_or_else(|_| Err("the check of the source failed".into())));
    let written = result.and_then(|report| std::io::stdout().write_all(&report.encoded()).map_err(|e| e.to_string()));
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
        return Err("this is an internal command of revamp-kernelc".into());
    };
    let headers = files::headers()?;
    let major = major.to_str().and_then(|number| number.parse().ok()).unwrap_or_default();
    libclang::load(Path::new(library), major)?;
    let source = line.last().map(|name| Path::new(name).display().to_string()).unwrap_or_default();
    let unit = libclang::parse(line).map_err(|why| format!("{source}: {why}"))?;
    let found = rules::findings(&unit, mode == "strict");
    Ok(errors::Errors::of(unit, &found, &headers, purpose == "overloaded").report())
}
