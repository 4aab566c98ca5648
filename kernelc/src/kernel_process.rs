//! The child process that compiles a source's kernels: this program with [`CHILD`] as its first argument.
//!
//! The driver does not compile kernels itself, because a fatal error in LLVM ends the whole process, and because LLVM's hidden options
//! are global to a process. While the child runs, the driver starts to compile native kernels. The driver removes the temporary files even
//! if the child fails.

use crate::bounds_option::Bounds;
use crate::clang::Clang;
use crate::diagnostics::Failed;
use crate::files::{self, Running};
use crate::image;
use crate::kernels::{self, Compiler, KernelOptions};
use crate::llvm::Llvm;
use crate::parts;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The first argument of the process.
pub const CHILD: &str = "--revamp-compile-kernels";

/// The running process.
pub struct Compiling {
    running: Running,
    image: PathBuf,
}

/// The result of the child process.
pub struct Compiled {
    /// The image of the kernels; `None` if the source has none.
    pub image: Option<Vec<u8>>,
    /// Warnings.
    pub diagnostics: String,
}

impl Compiled {
    /// Joins the results for the parts of a source.
    pub fn joined(mut parts: Vec<Self>) -> Result<Self, String> {
        if let [_] = parts.as_slice() {
            return Ok(parts.remove(0));
        }
        let mut kernels = Vec::new();
        for image in parts.iter().filter_map(|part| part.image.as_deref()) {
            kernels.extend(
                revamp_image::decode(image)
                    .map_err(|why| format!("the kernels of a part of the source cannot be read: {why}"))?,
            );
        }
        let image = Some(revamp_image::encode(&kernels));
        Ok(Self { image, diagnostics: parts.iter().map(|part| part.diagnostics.as_str()).collect() })
    }
}

impl Compiling {
    /// Starts the process. `ir`: a file with the device's code or a part of it; the process writes the image to the same folder. `bare`: kernels
    /// get their bare names (`revamp_image::bare_name`).
    pub fn start(
        clang: &Clang,
        kernel_options: KernelOptions,
        bare: bool,
        source: &Path,
        ir: &Path,
    ) -> Result<Self, String> {
        let image = ir.with_extension("image");
        let mut command = clang.child(CHILD)?;
        command.arg(words(kernel_options, bare)).arg(source).arg(ir).arg(&image);
        let name = format!("LLVM, compiling the kernels of {},", source.display());
        Ok(Self { running: Running::with_diagnostics(&mut command)?.named(name), image })
    }

    /// Waits for the end of the process.
    pub fn end(self) -> Result<Compiled, Failed> {
        let (code, diagnostics) = self.running.end()?;
        if code != 0 {
            return Err(Failed::of_pass("compiling kernels", code, diagnostics));
        }
        let image = std::fs::read(&self.image).map_err(|e| format!("cannot read {}: {e}", self.image.display()))?;
        Ok(Compiled { image: Some(image).filter(|bytes| !bytes.is_empty()), diagnostics })
    }
}

/// The names of the modes of bounds checks in the process's arguments.
const BOUNDS: [(&str, Bounds); 3] = [("off", Bounds::Off), ("zero", Bounds::Zero), ("report", Bounds::Report)];

fn words(kernel_options: KernelOptions, bare: bool) -> String {
    let KernelOptions { bounds, lines, strict, silent, fatal, report } = kernel_options;
    let mode = BOUNDS.iter().filter(|(_, mode)| *mode == bounds).map(|(name, _)| (*name, true));
    let flags = [
        ("lines", lines),
        ("strict", strict),
        ("silent", silent),
        ("fatal", fatal),
        ("remarks", report),
        ("bare", bare),
    ];
    mode.chain(flags).filter(|(_, set)| *set).map(|(name, _)| name).collect::<Vec<_>>().join(",")
}

fn kernel_options(words: &str) -> Option<(KernelOptions, bool)> {
    let has = |name: &str| words.split(',').any(|word| word == name);
    let bounds = BOUNDS.iter().find(|(name, _)| has(name))?.1;
    let (lines, strict, report) = (has("lines"), has("strict"), has("remarks"));
    Some((KernelOptions { bounds, lines, strict, silent: has("silent"), fatal: has("fatal"), report }, has("bare")))
}

/// Compiles kernels in the child process, and returns the exit code. The arguments are the compiler, `opt`, their version, the options
/// (`words`), the source's name, the file with the device's code, and the file for the image. The image is empty if there are no kernels.
pub fn child(arguments: &[OsString]) -> i32 {
    match compile(arguments) {
        Ok(()) => 0,
        Err(failed) => {
            eprint!("{}", failed.text);
            failed.code
        }
    }
}

fn compile(arguments: &[OsString]) -> Result<(), Failed> {
    let [compiler, opt, major, words, source, ir, image] = arguments else {
        return Err(String::from("this command is internal to revamp-kernelc; do not call it directly").into());
    };
    let text = |word: &OsStr| word.to_string_lossy().into_owned();
    let Some((kernel_options, bare)) = kernel_options(&text(words)) else {
        return Err(String::from("this command is internal to revamp-kernelc; do not call it directly").into());
    };
    let llvm = Llvm::of_child([compiler, opt, major])?;
    let code = std::fs::read(ir).map_err(|e| format!("cannot read {}: {e}", Path::new(ir).display()))?;
    let dump = files::dump_of(Path::new(source)).map(|stem| files::beside(&stem, &parts::dump_suffix(Path::new(ir))));
    let compiler = Compiler { llvm, kernel_options, source: Path::new(source), dump };
    let mut kernels = kernels::lowered(&compiler, &code)?;
    if bare {
        for kernel in &mut kernels {
            kernel.name = revamp_image::bare_name(&kernel.name);
        }
    }
    let bytes = if kernels.is_empty() { Vec::new() } else { image::encode(&kernels) };
    std::fs::write(image, bytes).map_err(|e| format!("cannot write {}: {e}", Path::new(image).display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_reach_the_child_process() {
        for (_, bounds) in BOUNDS {
            for bits in 0..64_u32 {
                let bit = |n: u32| bits >> n & 1 == 1;
                let sent = KernelOptions {
                    bounds,
                    lines: bit(0),
                    strict: bit(1),
                    silent: bit(2),
                    fatal: bit(3),
                    report: bit(4),
                };
                assert_eq!(kernel_options(&words(sent, bit(5))), Some((sent, bit(5))), "{sent:?}");
            }
        }
        assert_eq!(kernel_options("lines"), None);
    }
}
