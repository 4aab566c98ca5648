//! The process that compiles a source's kernels: this program under the name [`CHILD`].
//!
//! A process of its own, because a fatal error in LLVM ends the process that it happens in, and because LLVM's hidden options are
//! global to a process. The driver meanwhile makes native kernels, and removes the temporary files whatever happens to the child.

use crate::bounds_option::Bounds;
use crate::clang::Clang;
use crate::diagnostics::Failed;
use crate::files::{self, Running};
use crate::image;
use crate::kernels::{self, Asked, Compiler};
use crate::llvm::Llvm;
use crate::parts;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The first argument of the process.
pub const CHILD: &str = "--revamp-compile-kernels";

/// The kernels of a source in the making.
pub struct Compiling {
    running: Running,
    image: PathBuf,
}

/// What they become.
pub struct Compiled {
    /// The image of the kernels; `None` if the source has none.
    pub image: Option<Vec<u8>>,
    /// Warnings.
    pub diagnostics: String,
}

impl Compiled {
    /// What the parts of a source become, as one.
    pub fn joined(mut parts: Vec<Self>) -> Result<Self, String> {
        if let [_] = parts.as_slice() {
            return Ok(parts.remove(0));
        }
        let mut kernels = Vec::new();
        for image in parts.iter().filter_map(|part| part.image.as_deref()) {
            kernels.extend(revamp_image::decode(image).map_err(|why| format!("the kernels of a part: {why}"))?);
        }
        let image = Some(revamp_image::encode(&kernels));
        Ok(Self { image, diagnostics: parts.iter().map(|part| part.diagnostics.as_str()).collect() })
    }
}

impl Compiling {
    /// Starts the process. `ir` is the device's code or a part of it; the image becomes a file beside it. `bare`: kernels go by their bare names.
    pub fn start(clang: &Clang, asked: Asked, bare: bool, source: &Path, ir: &Path) -> Result<Self, String> {
        let image = ir.with_extension("image");
        let mut command = clang.child(CHILD)?;
        command.arg(words(asked, bare)).arg(source).arg(ir).arg(&image);
        let name = format!("LLVM, compiling the kernels of {},", source.display());
        Ok(Self { running: Running::quiet(&mut command)?.named(name), image })
    }

    /// Waits for its end.
    pub fn end(self) -> Result<Compiled, Failed> {
        let (code, diagnostics) = self.running.end()?;
        if code != 0 {
            return Err(Failed::of_pass("compiling kernels", code, diagnostics));
        }
        let image = std::fs::read(&self.image).map_err(|e| format!("cannot read {}: {e}", self.image.display()))?;
        Ok(Compiled { image: Some(image).filter(|bytes| !bytes.is_empty()), diagnostics })
    }
}

/// The modes of bounds, as they are passed.
const BOUNDS: [(&str, Bounds); 3] = [("off", Bounds::Off), ("zero", Bounds::Zero), ("report", Bounds::Report)];

fn words(asked: Asked, bare: bool) -> String {
    let Asked { bounds, lines, strict, silent, fatal, report } = asked;
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

fn asked(words: &str) -> Option<(Asked, bool)> {
    let has = |name: &str| words.split(',').any(|word| word == name);
    let bounds = BOUNDS.iter().find(|(name, _)| has(name))?.1;
    let (lines, strict, report) = (has("lines"), has("strict"), has("remarks"));
    Some((Asked { bounds, lines, strict, silent: has("silent"), fatal: has("fatal"), report }, has("bare")))
}

/// The whole of the process. Arguments: the compiler, a program beside it, their version, what was asked for, the source's name, the device's code, the
/// file to write the image to, which stays empty if there is no kernel.
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
        return Err(String::from("this is an internal command of revamp-kernelc").into());
    };
    let text = |word: &OsStr| word.to_string_lossy().into_owned();
    let Some((asked, bare)) = asked(&text(words)) else {
        return Err(String::from("this is an internal command of revamp-kernelc").into());
    };
    let llvm = Llvm::of_child([compiler, opt, major])?;
    let code = std::fs::read(ir).map_err(|e| format!("cannot read {}: {e}", Path::new(ir).display()))?;
    let dump = files::dump_of(Path::new(source)).map(|stem| files::beside(&stem, &parts::mark(Path::new(ir))));
    let compiler = Compiler { llvm, asked, source: Path::new(source), dump };
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
    fn what_is_asked_for_arrives() {
        for (_, bounds) in BOUNDS {
            for bits in 0..64_u32 {
                let bit = |n: u32| bits >> n & 1 == 1;
                let sent =
                    Asked { bounds, lines: bit(0), strict: bit(1), silent: bit(2), fatal: bit(3), report: bit(4) };
                assert_eq!(asked(&words(sent, bit(5))), Some((sent, bit(5))), "{sent:?}");
            }
        }
        assert_eq!(asked("lines"), None);
    }
}
