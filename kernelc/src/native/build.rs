//! Making the native kernels of a source, beside its other passes.

use super::Processors;
use super::process::{self, Work};
use super::table::Owner;
use crate::bounds_option::Bounds;
use crate::clang::{Clang, Unit};
use crate::device_abi::{DeviceFunction, begins_kernel};
use crate::files::{self, Background, Folder, Running};
use crate::flags::Line;
use crate::parts::{self, Part};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How the native kernels of a source are made.
pub struct Plan<'a> {
    clang: &'a Clang,
    folder: &'a Folder,
    work: Work,
}

/// Native kernels in the making: their objects, if there are any.
pub struct Making {
    work: Background<Result<Made, String>>,
    zero: bool,
}

/// The objects, if there are any, and the report on them.
#[derive(Default)]
struct Made {
    objects: Option<Vec<PathBuf>>,
    report: String,
}

/// The calls that make them of the device's code, and their files.
struct Calls {
    prepare: Command,
    /// Compiles a module that the first process has left.
    code: Vec<Command>,
    objects: Vec<PathBuf>,
    /// They check accesses.
    zero: bool,
    /// What the first process prints is the report.
    reports: bool,
    dump: Option<PathBuf>,
}

impl<'a> Plan<'a> {
    /// `None` if the source is to have none. `device` is the code of the device's pass, `long_double` whether the program's text names that
    /// type.
    pub fn of(
        clang: &'a Clang,
        folder: &'a Folder,
        unit: &Unit<'_>,
        line: &Line,
        device: &Path,
        long_double: bool,
    ) -> Result<Option<Self>, String> {
        let text = std::fs::read_to_string(device).map_err(|e| format!("cannot read {}: {e}", device.display()))?;
        // The program's function checks, if host threads may run it.
        let checked = (unit.host_checks || DeviceFunction::HostChecks.is_named_in(&text)) && !unit.amp.is_device();
        let zero = line.bounds() == Bounds::Zero;
        let kernels = text.lines().any(begins_kernel);
        let none = |why: &str| if zero && kernels { Err(format!("{UNCHECKED}: {why}")) } else { Ok(None) };
        let Some(target) = line.native_target() else {
            return none("native kernels are not available for this target");
        };
        if line.last(looks).is_some() {
            return none("native kernels are not available with sanitizers, coverage or profiling");
        }
        if !wanted(line) {
            return Ok(None);
        }
        if checked || !kernels {
            return Ok(None);
        }
        // To devices that type is double. How memory is accessed tells of it, or the program's text.
        let tagged = line.last(|f| f == "-fstrict-aliasing" || f == "-fno-strict-aliasing");
        let untagged = tagged.is_some_and(|f| f == "-fno-strict-aliasing");
        if text.contains("!\"long double\"") || untagged && long_double {
            return none("native kernels are not available where kernels use long double");
        }
        let lines = line.last(|f| f.starts_with("-g")).is_some_and(|f| f != "-g0");
        let owner = Owner { bare: unit.amp.is_device(), ..Owner::of_unit(unit.id) };
        let (report, target, dump) = (line.reports(), target.to_owned(), files::dump_of(unit.source));
        Ok(Some(Self { clang, folder, work: Work { lines, zero, report, target, owner, dump } }))
    }

    /// Begins to make those of one of the parts.
    pub fn start(&self, number: usize, parts: &[Part]) -> Result<Making, String> {
        let (clang, mut work) = (self.clang, self.work.clone());
        (work.owner.part, work.owner.parts) = (number, parts.len());
        work.dump = work.dump.map(|stem| files::beside(&stem, &parts::mark(&parts[number].code)));
        let object = |level| self.folder.file(&format!("native.{number}.{level}.o"));
        let objects: Vec<PathBuf> = Processors::of(&work.target).names().map(object).collect();
        let calls = Calls {
            prepare: process::command(clang, &work, &parts[number].code, &objects)?,
            code: objects
                .iter()
                .map(|object| process::code_command(clang, &work.target, object))
                .collect::<Result<_, _>>()?,
            objects,
            zero: work.zero,
            reports: work.report,
            dump: work.dump,
        };
        Ok(Making { zero: work.zero, work: Background::start(move |cancelled| calls.run_or_tell(cancelled)) })
    }
}

impl Making {
    /// Waits, with nothing to show.
    pub fn wait(&self) {
        self.work.wait();
    }

    /// Waits for the objects. Where they cannot be made, host threads run the program's function, as without them; an error if they
    /// must be, since they alone check bounds.
    pub fn end(self) -> Result<Option<Vec<PathBuf>>, String> {
        let panicked =
            if self.zero { Err(format!("{UNCHECKED}: the kernel compiler panicked")) } else { Ok(Made::default()) };
        let made = self.work.end().unwrap_or(panicked)?;
        eprint!("{}", made.report);
        Ok(made.objects)
    }
}

/// What looks at the program's function itself, or counts in it.
const LOOKS: [&str; 7] = [
    "-fsanitize=",
    "-fprofile-arcs",
    "-ftest-coverage",
    "--coverage",
    "-fprofile-instr-generate",
    "-finstrument-functions",
    "-pg",
];

/// Why a source is refused.
const UNCHECKED: &str = "-famp-bounds=zero: native kernels, which check bounds on host threads, cannot be made; \
                         compile with -famp-bounds=report or without the option";

fn looks(flag: &str) -> bool {
    LOOKS.iter().any(|begin| flag.starts_with(begin))
}

/// Debuggers look at the lambda itself. With `Bounds::Report` it checks accesses, with `Bounds::Zero` native kernels do.
fn wanted(line: &Line) -> bool {
    let optimised = line.last(|f| f.starts_with("-O")).is_some_and(|f| f != "-O0" && f != "-Og");
    match line.bounds() {
        Bounds::Off => optimised,
        Bounds::Zero => true,
        Bounds::Report => false,
    }
}

impl Calls {
    /// `REVAMP_KERNEL_DUMP` also shows why there is none.
    fn run_or_tell(self, cancelled: &Arc<AtomicBool>) -> Result<Made, String> {
        let (dump, zero) = (self.dump.clone(), self.zero);
        self.run(cancelled).or_else(|why| {
            if let Some(stem) = dump {
                let _ = std::fs::write(files::beside(&stem, ".native.txt"), &why);
            }
            if zero { Err(format!("{UNCHECKED}: {why}")) } else { Ok(Made::default()) }
        })
    }

    fn run(mut self, cancelled: &Arc<AtomicBool>) -> Result<Made, String> {
        let report = match Running::quiet(&mut self.prepare)?.cancelled_by(cancelled).end()? {
            (0, said) => {
                if self.reports {
                    said
                } else {
                    String::new()
                }
            }
            (process::REFUSED, diagnostics) => return Err(diagnostics),
            (code, diagnostics) => return Err(format!("LLVM failed ({code}) to make native kernels: {diagnostics}")),
        };
        // Without kernels there is neither an object nor a module, and one object may be for several processors.
        let mut running = Vec::new();
        for (object, code) in self.objects.iter().zip(&mut self.code) {
            if process::module_of(object).is_file() {
                running.push(Running::quiet(code)?.cancelled_by(cancelled));
            }
        }
        for one in running {
            let (code, diagnostics) = one.end()?;
            if code != 0 {
                return Err(format!("LLVM rejected the native kernels ({code}): {diagnostics}"));
            }
        }
        self.objects.retain(|object| object.is_file());
        let objects = Some(self.objects).filter(|objects| !objects.is_empty());
        Ok(Made { objects, report })
    }
}
