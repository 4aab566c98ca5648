//! What C++ AMP forbids and Clang, which compiles the device's code as HIP, does not: found in Clang's own tree of the source.
//!
//! The check of a source is a process of its own, this program under the name [`CHILD`]: it loads libclang (`libclang`), parses
//! the source as the check pass would, prints Clang's diagnostics as Clang does and then what `rules` finds, with what `types`
//! knows of types. `messages` translates Clang's errors about HIP's attributes. It takes the place of the check pass, which parses as
//! much. Only where other errors of Clang remain is the pass run as well, for its own words. Where there is no libclang, the pass runs
//! alone, and what only the tree shows is not refused.

mod libclang;
mod messages;
mod rules;
mod types;
mod wording;
mod words;

pub use words::misplaced;

use crate::clang::{Clang, Pass, Unit};
use crate::diagnostics::{self, Allowed};
use crate::files::{self, Running, Unfinished};
use libclang::{Diagnostic, Severity};
use messages::Shown;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first argument of the process that checks.
pub const CHILD: &str = "--revamp-check-amp";
/// What the process ends with if it could not look at the source.
const UNUSABLE: i32 = 75;
/// Stands between Clang's diagnostics and ours.
const OURS: &str = "\u{1}revamp\n";
/// Stands behind ours if an error is about a function that only the host has.
const HOST_MARK: &str = "\u{1}host\n";
/// Stands before the functions that amp code names.
const CHOSEN: &str = "\u{1}chosen\n";

/// The check of a source, under way.
pub struct Check<'a> {
    running: Running,
    /// Clang by itself.
    pass: Command,
    tree: bool,
    strict: bool,
    /// What the words of the source have shown.
    misplaced: &'a str,
    clang: &'a Clang,
    /// The same source where restrict(amp) is the host's too.
    both: Option<Running>,
}

/// What the check found.
pub struct Checked {
    /// What is to be printed.
    pub text: String,
    /// How many errors that is.
    pub errors: usize,
    /// The code to end with.
    pub code: i32,
    /// An error may be about a function that only the host has.
    pub names_host_function: bool,
    /// Amp code would name other functions if restrict(amp) were the host's too.
    pub overloaded: bool,
}

impl<'a> Check<'a> {
    /// Starts it. `strict`: revamp's extensions are refused too. `compare`: it is looked whether functions are overloaded on
    /// restriction. `misplaced`: what [`misplaced`] has found.
    pub fn start(
        clang: &'a Clang,
        unit: &Unit<'_>,
        flags: &[OsString],
        strict: bool,
        compare: bool,
        misplaced: &'a str,
    ) -> Result<Self, String> {
        let mut pass = clang.pass(Pass::Check, unit, flags);
        let Some((library, own)) = library(clang).zip(std::env::current_exe().ok()) else {
            let running = Running::quiet(&mut pass)?;
            return Ok(Self { running, pass, tree: false, strict, misplaced, clang, both: None });
        };
        let child = |amp_is_both: bool| {
            let mut command = Command::new(&own);
            command.arg(CHILD).arg(&library).arg(if strict { "strict" } else { "usual" });
            command.arg(match (compare, unit.amp.is_device()) {
                (true, _) => "compare",
                (false, true) => "overloaded",
                (false, false) => "check",
            });
            command.arg(pass.get_program());
            if amp_is_both {
                command.arg("-DREVAMP_AMP_IS_BOTH");
            }
            // Of all warnings one is wanted: that a restriction stands where none can.
            for argument in pass.get_args() {
                match argument.to_str() {
                    // Host threads run what the host's pass makes.
                    Some("--cuda-device-only") if amp_is_both => command.arg("--cuda-host-only"),
                    Some("-w") => command.args(["-Wno-everything", "-Wignored-attributes"]),
                    _ => command.arg(argument),
                };
            }
            Running::quiet(&mut command)
        };
        let running = child(false)?;
        let both = if compare { Some(child(true)?) } else { None };
        Ok(Self { running, pass, tree: true, strict, misplaced, clang, both })
    }

    /// Waits for its end.
    pub fn end(mut self) -> Result<Checked, String> {
        let (mut code, mut told) = match self.running.end() {
            // Where a signal ended the process, Clang's plain pass checks instead.
            Err(Unfinished::BySignal(_)) if self.tree => (UNUSABLE, String::new()),
            other => other?,
        };
        if self.tree && code == UNUSABLE || !self.tree && self.strict {
            if self.strict {
                return Err(format!(
                    "-famp-strict needs libclang of the LLVM that {} belongs to (Debian and Ubuntu: apt-get install libclang1-{})",
                    self.clang.compiler.display(),
                    crate::clang::VERSION
                ));
            }
            self.tree = false;
            (code, told) = Running::quiet(&mut self.pass)?.end()?;
        }
        let (clangs, ours) = told.split_once(OURS).unwrap_or((&told, ""));
        let (ours, chosen) = ours.split_once(CHOSEN).unwrap_or((ours, ""));
        let (ours, names_host_function) = ours.split_once(HOST_MARK).map_or((ours, false), |(ours, _)| (ours, true));
        // Without libclang it is unknown: the driver then tries.
        let names_host_function = names_host_function || !self.tree;
        let overloaded = self.both.take().is_some_and(|both| {
            // What cannot be looked at is as it was.
            both.end().is_ok_and(|(_, told)| told.split_once(CHOSEN).is_some_and(|(_, others)| others != chosen))
        });
        let (mut text, mut errors) = diagnostics::filter(clangs, code != 0);
        if self.tree && errors > 0 {
            let (_, told) = Running::quiet(&mut self.pass)?.end()?;
            let (words, count) = diagnostics::only(&told, clangs, &files::headers()?);
            if count > 0 {
                (text, errors) = (words, count);
            }
        }
        let line_of = |error| diagnostics::place_of_error(error).map(|(file, (row, _))| (file.to_owned(), row));
        let said: HashSet<(String, usize)> = text.lines().filter_map(line_of).collect();
        let mut more = 0;
        for line in self.misplaced.lines().chain(ours.lines()) {
            let Some((file, (row, column))) = diagnostics::place_of_error(line) else { continue };
            // What Clang says of the line is enough.
            if !said.contains(&(file.to_owned(), row)) {
                text += &format!("{line}\n{}", diagnostics::excerpt(file, row, column));
                more += 1;
            }
        }
        if more > 0 {
            text += &diagnostics::generated(more, "checking restrictions");
        }
        errors += more;
        Ok(Checked {
            text,
            errors,
            code: if errors > 0 && code == 0 { 1 } else { code },
            names_host_function,
            overloaded,
        })
    }
}

/// libclang beside the compiler: of the same LLVM, so that it reads the same language.
fn library(clang: &Clang) -> Option<PathBuf> {
    let place = if cfg!(windows) { "bin" } else { "lib" };
    let folder = clang.compiler.canonicalize().ok()?.parent()?.parent()?.join(place);
    let known = |name: &OsStr| {
        name.to_str().is_some_and(|n| {
            n.starts_with("libclang") && n.contains(std::env::consts::DLL_SUFFIX) && !n.contains("cpp")
        })
    };
    let all = std::fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.file_name());
    let name = all.filter(|name| known(name)).max_by_key(|name| std::cmp::Reverse(name.len()))?;
    Some(folder.join(name))
}

/// The process that checks. Arguments: libclang, `strict` or `usual`, `compare`, `overloaded` or `check`, the command
/// line of the check pass.
pub fn child(arguments: &[OsString]) -> i32 {
    // Expressions may be nested deep.
    let arguments = arguments.to_vec();
    let run = || std::thread::Builder::new().stack_size(256 << 20).spawn(move || look(&arguments)).ok()?.join().ok();
    run().unwrap_or(UNUSABLE)
}

fn look(arguments: &[OsString]) -> i32 {
    let [library, mode, purpose, line @ ..] = arguments else { return UNUSABLE };
    let Ok(headers) = files::headers() else { return UNUSABLE };
    if libclang::load(Path::new(library)).is_err() {
        return UNUSABLE;
    }
    let Some(unit) = libclang::parse(line) else { return UNUSABLE };
    let found = rules::findings(&unit, mode == "strict");
    let mut told = Told::default();
    for one in unit.diagnostics() {
        told.of(one, purpose, &found, &headers);
    }
    let Told { clangs, ours, names_host_function, .. } = told.with(&found);
    let failed = !clangs.is_empty();
    let host = if names_host_function { HOST_MARK } else { "" };
    eprint!("{clangs}{OURS}{ours}{host}");
    if purpose == "compare" {
        let chosen = found
            .chosen
            .iter()
            .map(|(at, to)| format!("{}:{}:{} {}:{}:{}\n", at.file, at.line, at.column, to.file, to.line, to.column));
        eprint!("{CHOSEN}{}", chosen.collect::<String>());
    }
    i32::from(failed)
}

/// What is said of a source.
#[derive(Default)]
struct Told {
    /// Clang's errors that are shown as Clang has them, in its form.
    clangs: String,
    /// The others, a line for each.
    ours: String,
    names_host_function: bool,
    allowed: Allowed,
    /// Clang's errors that are shown as Clang has them, unless another error is shown for their line.
    kept: Vec<(libclang::Place, String)>,
    /// Clang's errors in our words.
    worded: Vec<(libclang::Place, String)>,
    /// Lines whose error of Clang is reported already, by a rule or in our words.
    already: HashSet<(String, u32)>,
}

impl Told {
    fn of(&mut self, one: Diagnostic, purpose: &OsStr, found: &rules::Found, headers: &Path) {
        if one.severity == Severity::Warning && is_misplaced(&one.text) {
            let shared = one.text.contains("'shared'");
            let text =
                if shared { "only variables are tile_static" } else { "only functions and lambdas have restrict(...)" };
            self.ours += &said(&one.place, "error", text);
        }
        if !matches!(one.severity, Severity::Error | Severity::Fatal) {
            return;
        }
        // Captures by reference are ours to judge: of arrays C++ AMP allows them.
        let name = diagnostics::captured_by_reference(&one.text);
        if name.is_some_and(|name| found.arrays.contains(&(one.place.file.clone(), name.to_owned()))) {
            return;
        }
        // Here implicit members of a class may be the device's alone, which the host has too; libraries' host code that uses them is
        // for the host's pass to judge. What is made for the device fails in its pass.
        if purpose == "overloaded" && one.at.is_of_system() {
            return;
        }
        let lacking = one
            .notes
            .iter()
            .find(|note| note.text.contains("(the implicit ") && note.text.contains(") not viable: call to __"));
        if let Some(why) = lacking.and_then(|note| found.lacks(&note.place, &note.text)) {
            let text =
                format!("{}: amp code cannot have what the compiler makes of the class: {why} (C3930)", one.text);
            self.ours += &said(&one.place, "error", &text);
        }
        let mut block =
            said(&one.place, if one.severity == Severity::Fatal { "fatal error" } else { "error" }, &one.text);
        block.extend(one.notes.iter().map(|note| said(&note.place, "note", &note.text)));
        let named = one.at.referenced().into_iter().chain(one.notes.iter().map(|note| note.at));
        self.names_host_function |= named.into_iter().any(types::is_host_function);
        // Members of local classes have the restriction around them, unless they have one of their own.
        let marked = || one.notes.iter().any(|n| found.marked_cpu.contains(&n.place));
        if self.allowed.has(&block.split_inclusive('\n').collect::<Vec<_>>()) && !marked() {
            self.clangs += &block;
            return;
        }
        match messages::shown(&one, found, headers) {
            Shown::Clangs => self.kept.push((one.place, block)),
            Shown::Ours(place, text) => self.worded.push((place, text)),
            Shown::Follows if self.worded.is_empty() => self.kept.push((one.place, block)),
            Shown::Follows => {}
            Shown::Already => drop(self.already.insert((one.place.file, one.place.line))),
        }
    }

    /// Adds the findings of the rules. A line has one translated error at most, and then no other error of Clang.
    fn with(mut self, found: &rules::Found) -> Self {
        let line = |place: &libclang::Place| (place.file.clone(), place.line);
        let mut ours: Vec<_> = found.findings.iter().map(|f| (&f.place, &f.text)).collect();
        for (place, text) in &self.worded {
            // Of two errors the first in the line is shown: the second may be a consequence.
            let ruled = ours.iter().any(|(other, _)| line(other) == line(place) && other.column <= place.column);
            if self.already.insert(line(place)) && !ruled {
                ours.retain(|(other, _)| line(other) != line(place));
                ours.push((place, text));
            }
        }
        ours.sort();
        self.ours.extend(ours.into_iter().map(|(place, text)| said(place, "error", text)));
        let kept = self.kept.iter().filter(|(place, _)| !self.already.contains(&line(place)));
        self.clangs.extend(kept.map(|(_, block)| block.as_str()));
        self
    }
}

/// The warning about an attribute of ours that stands where it means nothing.
fn is_misplaced(text: &str) -> bool {
    ["'device'", "'host'", "'shared'"].iter().any(|name| text.contains(name)) && text.contains("attribute")
}

fn said(place: &libclang::Place, kind: &str, text: &str) -> String {
    if place.line == 0 {
        return format!("{kind}: {text}\n");
    }
    format!("{}:{}:{}: {kind}: {text}\n", place.file, place.line, place.column)
}
