//! Makes the native kernels of a source, in parallel with the other passes over the source.

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

/// The background work that makes native kernels. Its result: the objects of the native kernels, if there are any.
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

/// The commands that make native kernels from the device's code, and the files that they write.
struct Commands {
    prepare: Command,
    /// For each object, the command that compiles the module that `prepare` has written.
    code: Vec<Command>,
    objects: Vec<PathBuf>,
    /// True if native kernels check accesses.
    zero: bool,
    /// True if the output of `prepare` is the report.
    reports: bool,
    dump: Option<PathBuf>,
}

impl<'a> Plan<'a> {
    /// Returns `None` if the source gets no native kernels. `device`: the code of the device's pass. `long_double`: the program's text
    /// contains `long double`.
    pub fn of(
        clang: &'a Clang,
        folder: &'a Folder,
        unit: &Unit<'_>,
        line: &Line,
        device: &Path,
        long_double: bool,
    ) -> Result<Option<Self>, String> {
        let text = std::fs::read_to_string(device).map_err(|e| format!("cannot read {}: {e}", device.display()))?;
        // True if host threads run the program's function, which checks accesses itself.
        let checked = (unit.host_checks || DeviceFunction::HostChecks.is_used_in(&text)) && !unit.amp.is_device();
        let zero = line.bounds() == Bounds::Zero;
        let kernels = text.lines().any(begins_kernel);
        let no_plan = |why: &str| if zero && kernels { Err(format!("{UNCHECKED}: {why}")) } else { Ok(None) };
        let Some(target) = line.native_target() else {
            return no_plan("native kernels are not available for this target");
        };
        if line.last(is_instrumentation).is_some() {
            return no_plan("native kernels are not available with sanitizers, coverage or profiling");
        }
        if !wants_native_kernels(line) {
            return Ok(None);
        }
        if checked || !kernels {
            return Ok(None);
        }
        // For devices, long double is double. The metadata of memory accesses shows whether kernels use long double. Without metadata, the
        // program's text shows it.
        let tagged = line.last(|f| f == "-fstrict-aliasing" || f == "-fno-strict-aliasing");
        let untagged = tagged.is_some_and(|f| f == "-fno-strict-aliasing");
        if text.contains("!\"long double\"") || untagged && long_double {
            return no_plan("native kernels are not available if kernels use long double");
        }
        let lines = line.last(|f| f.starts_with("-g")).is_some_and(|f| f != "-g0");
        let owner = Owner { bare: unit.amp.is_device(), ..Owner::of_unit(unit.id) };
        let (report, target, dump) = (line.reports(), target.to_owned(), files::dump_of(unit.source));
        Ok(Some(Self { clang, folder, work: Work { lines, zero, report, target, owner, dump } }))
    }

    /// Starts to make the native kernels of one part.
    pub fn start(&self, number: usize, parts: &[Part]) -> Result<Making, String> {
        let (clang, mut work) = (self.clang, self.work.clone());
        (work.owner.part, work.owner.parts) = (number, parts.len());
        work.dump = work.dump.map(|stem| files::beside(&stem, &parts::dump_suffix(&parts[number].code)));
        let object = |level| self.folder.file(&format!("native.{number}.{level}.o"));
        let objects: Vec<PathBuf> = Processors::of(&work.target).names().map(object).collect();
        let commands = Commands {
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
        Ok(Making {
            zero: work.zero,
            work: Background::start(move |cancelled| commands.run_or_write_reason(cancelled)),
        })
    }
}

impl Making {
    /// Waits until the work has ended. Ignores its result.
    pub fn wait(&self) {
        self.work.wait();
    }

    /// Waits for the objects. If they cannot be made, the result is `None`, and host threads run the program's function. With
    /// `-famp-bounds=zero` the result is an error instead, because only native kernels check bounds.
    pub fn end(self) -> Result<Option<Vec<PathBuf>>, String> {
        let panicked =
            if self.zero { Err(format!("{UNCHECKED}: the kernel compiler panicked")) } else { Ok(Made::default()) };
        let made = self.work.end().unwrap_or(panicked)?;
        eprint!("{}", made.report);
        Ok(made.objects)
    }
}

/// Flags of tools that inspect or instrument the program's function itself.
const INSTRUMENTATION: [&str; 7] = [
    "-fsanitize=",
    "-fprofile-arcs",
    "-ftest-coverage",
    "--coverage",
    "-fprofile-instr-generate",
    "-finstrument-functions",
    "-pg",
];

/// The beginning of the error for a source that is refused.
const UNCHECKED: &str = "-famp-bounds=zero: native kernels, which check bounds on host threads, cannot be compiled; \
                         use -famp-bounds=report, or omit the option";

fn is_instrumentation(flag: &str) -> bool {
    INSTRUMENTATION.iter().any(|begin| flag.starts_with(begin))
}

/// True if native kernels are wanted. `Bounds::Zero` always needs them, because only native kernels check accesses.
/// `Bounds::Report` never uses them, because the lambda checks accesses. Builds without optimisation do not use them,
/// because debuggers look at the lambda itself.
fn wants_native_kernels(line: &Line) -> bool {
    let optimised = line.optimisation().is_some_and(|f| f != "-O0" && f != "-Og");
    match line.bounds() {
        Bounds::Off => optimised,
        Bounds::Zero => true,
        Bounds::Report => false,
    }
}

impl Commands {
    /// Runs the commands. With `REVAMP_KERNEL_DUMP`, writes the reason to a file if native kernels cannot be made.
    fn run_or_write_reason(self, cancelled: &Arc<AtomicBool>) -> Result<Made, String> {
        let (dump, zero) = (self.dump.clone(), self.zero);
        self.run(cancelled).or_else(|why| {
            if let Some(stem) = dump {
                let _ = std::fs::write(files::beside(&stem, ".native.txt"), &why);
            }
            if zero { Err(format!("{UNCHECKED}: {why}")) } else { Ok(Made::default()) }
        })
    }

    fn run(mut self, cancelled: &Arc<AtomicBool>) -> Result<Made, String> {
        let report = match Running::with_diagnostics(&mut self.prepare)?.cancelled_by(cancelled).end()? {
            (0, output) => {
                if self.reports {
                    output
                } else {
                    String::new()
                }
            }
            (process::REFUSED, diagnostics) => return Err(diagnostics),
            (code, diagnostics) => {
                return Err(format!("LLVM could not compile the native kernels (exit code {code}): {diagnostics}"));
            }
        };
        // An object has no module if there are no kernels, or if the first object is for all processors.
        let mut running = Vec::new();
        for (object, code) in self.objects.iter().zip(&mut self.code) {
            if process::module_of(object).is_file() {
                running.push(Running::with_diagnostics(code)?.cancelled_by(cancelled));
            }
        }
        for child in running {
            let (code, diagnostics) = child.end()?;
            if code != 0 {
                return Err(format!("LLVM rejected the native kernels (exit code {code}): {diagnostics}"));
            }
        }
        self.objects.retain(|object| object.is_file());
        let objects = Some(self.objects).filter(|objects| !objects.is_empty());
        Ok(Made { objects, report })
    }
}
