//! Making the native kernels of a source, beside its other passes.

use super::{Native, Processors, parallel};
use crate::clang::{Amp, Clang, Unit};
use crate::files::{Folder, Running};
use crate::flags::Line;
use crate::lower::Bounds;
use crate::{always_inline, lock_order, spins};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Kernels of so many bytes of LLVM IR are compiled for all processors by one process: to start one takes longer.
const SMALL: usize = 50_000;

/// Native kernels in the making: their objects, if there are any. If it is dropped before its end, nothing of it goes on: the folder that it
/// writes to can be removed.
pub struct Making {
    thread: Option<JoinHandle<Option<Vec<PathBuf>>>>,
    cancelled: Arc<AtomicBool>,
}

/// The device's code, the calls that make them of it, and their files.
struct Calls {
    device: String,
    /// For a look at what kernels are once all they call is inlined.
    inline: Command,
    prepare: Command,
    assemble: Vec<Command>,
    ir: PathBuf,
    prepared: PathBuf,
    modules: Vec<PathBuf>,
    objects: Vec<PathBuf>,
    /// With lines of the source.
    lines: bool,
    dump: Option<PathBuf>,
    target: &'static str,
    unit: u64,
    amp: Amp,
    /// Set when nobody wants the objects any more.
    cancelled: Arc<AtomicBool>,
}

impl Making {
    /// Begins; `None` if the source is to have none. `device` is the code of the device's pass, `long_double` whether the
    /// program's text names that type.
    pub fn start(
        clang: &Clang,
        folder: &Folder,
        unit: &Unit<'_>,
        line: &Line,
        device: &Path,
        long_double: bool,
    ) -> Result<Option<Self>, String> {
        let text = std::fs::read_to_string(device).map_err(|e| format!("cannot read {}: {e}", device.display()))?;
        // The program's function checks, if host threads may run it.
        let checked = (unit.host_checks || text.contains("@__revamp_host_checks(")) && !unit.amp.is_device();
        let Some(target) = line.native_target().filter(|_| wanted(line)) else { return Ok(None) };
        if checked || !(text.contains(" spir_kernel ") || text.contains(" amdgpu_kernel ")) {
            return Ok(None);
        }
        // To devices that type is double. How memory is accessed tells of it, or the program's text.
        let tagged = line.last(|f| f == "-fstrict-aliasing" || f == "-fno-strict-aliasing");
        let untagged = tagged.is_some_and(|f| f == "-fno-strict-aliasing");
        if text.contains("!\"long double\"") || untagged && long_double {
            return Ok(None);
        }
        let lines = line.last(|f| f.starts_with("-g")).is_some_and(|f| f != "-g0");
        let (ir, prepared) = (folder.file("native.ll"), folder.file("native.prepared.ll"));
        let processors = Processors::of(target);
        let modules: Vec<PathBuf> = processors.names().map(|l| folder.file(&format!("native.{l}.ll"))).collect();
        let objects: Vec<PathBuf> = processors.names().map(|l| folder.file(&format!("native.{l}.o"))).collect();
        let dump = std::env::var_os("REVAMP_KERNEL_DUMP").filter(|f| !f.is_empty());
        let large = always_inline::is_large(&text);
        let cancelled = Arc::<AtomicBool>::default();
        let calls = Calls {
            inline: clang.inline(&ir, &prepared, large),
            device: text,
            prepare: clang.prepare_native(&ir, &prepared, lines),
            assemble: modules.iter().zip(&objects).map(|(from, to)| clang.assemble(from, to, target)).collect(),
            ir,
            prepared,
            modules,
            objects,
            lines,
            dump: dump.map(|f| PathBuf::from(f).join(unit.source.file_stem().unwrap_or_default())),
            target,
            unit: unit.id,
            amp: unit.amp,
            cancelled: Arc::clone(&cancelled),
        };
        let thread = Some(std::thread::spawn(move || calls.run_or_tell()));
        Ok(Some(Self { thread, cancelled }))
    }

    /// Waits for the objects. Where they cannot be made, host threads run the program's function, as without them.
    pub fn end(mut self) -> Option<Vec<PathBuf>> {
        self.thread.take()?.join().ok()?
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
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

/// Debuggers, sanitizers and the like look at the lambda itself, and accesses are checked there.
fn wanted(line: &Line) -> bool {
    let optimised = line.last(|f| f.starts_with("-O")).is_some_and(|f| f != "-O0" && f != "-Og");
    optimised && line.bounds() != Bounds::Report && line.last(|f| LOOKS.iter().any(|l| f.starts_with(l))).is_none()
}

impl Calls {
    /// `REVAMP_KERNEL_DUMP` also shows why there is none.
    fn run_or_tell(self) -> Option<Vec<PathBuf>> {
        let dump = self.dump.clone();
        self.run().unwrap_or_else(|why| {
            if let Some(stem) = dump {
                let _ = std::fs::write(beside(&stem, ".native.txt"), why);
            }
            None
        })
    }

    fn run(mut self) -> Result<Option<Vec<PathBuf>>, String> {
        let read =
            |file: &Path| std::fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()));
        let write = |file: &Path, text: &str| {
            std::fs::write(file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))
        };
        if spins::may_be(&self.device) {
            write(&self.ir, &always_inline::marked(&self.device))?;
            ended("opt", &mut self.inline, &self.cancelled)?;
            if lock_order::ordered(&read(&self.prepared)?).is_some() {
                self.device = lock_order::by_operations(&self.device);
            }
        }
        write(&self.ir, &super::for_host(&self.device, self.target))?;
        ended("opt", &mut self.prepare, &self.cancelled)?;
        let native = super::cut(&read(&self.prepared)?);
        if let Some(dump) = &self.dump {
            self.dump(dump, &native)?;
        }
        if native.understood().is_empty() {
            return Ok(None);
        }
        let processors = Processors::of(self.target);
        // Functions of one module have no lines in common.
        let together = !self.lines && native.size() <= SMALL;
        let mut running = Vec::new();
        for level in if together { 0..1 } else { 0..self.modules.len() } {
            let levels = if together { 0..self.modules.len() } else { level..level + 1 };
            let module = native.module(processors, levels, self.unit, self.amp);
            parallel::check(&module)?;
            write(&self.modules[level], &module)?;
            running.push(Running::quiet(&mut self.assemble[level])?.cancelled_by(&self.cancelled));
        }
        self.objects.truncate(running.len());
        for one in running {
            let (code, told) = one.end()?;
            if code != 0 {
                return Err(format!("Clang does not take the native kernels: {told}"));
            }
        }
        Ok(Some(self.objects))
    }

    /// What `REVAMP_KERNEL_DUMP` asks for.
    fn dump(&self, stem: &Path, native: &Native) -> Result<(), String> {
        let mut text = String::new();
        for (kernel, why) in &native.left_out {
            text += &format!("; left out: {kernel}: {why}\n");
        }
        text += &native.module(Processors::of(self.target), 0..1, self.unit, self.amp);
        std::fs::create_dir_all(stem.parent().unwrap_or(Path::new(".")))
            .and_then(|()| std::fs::write(beside(stem, ".native.ll"), text))
            .map_err(|e| format!("REVAMP_KERNEL_DUMP: cannot write a file: {e}"))
    }
}

fn beside(stem: &Path, suffix: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

fn ended(what: &str, command: &mut Command, cancelled: &Arc<AtomicBool>) -> Result<(), String> {
    match Running::quiet(command)?.cancelled_by(cancelled).end()? {
        (0, _) => Ok(()),
        (code, told) => Err(format!("{what} failed ({code}) making native kernels: {told}")),
    }
}
