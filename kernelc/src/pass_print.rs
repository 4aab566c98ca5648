//! Runs one pass over the module in a file: `revamp-kernelc --pass NAME FILE.ll`.

use crate::clang::Clang;
use crate::llvm::{Llvm, Module};
use crate::passes::PASSES;
use std::ffi::OsStr;
use std::path::Path;

/// The text of a file's module after the pass.
pub fn run_pass(name: &OsStr, file: &Path) -> Result<String, String> {
    let Some((name, pass)) = PASSES.iter().find(|(pass_name, _)| *pass_name == name) else {
        let all: Vec<&str> = PASSES.iter().map(|(name, _)| *name).collect();
        return Err(format!("--pass: unknown pass {}; the passes are {}", name.to_string_lossy(), all.join(", ")));
    };
    let clang = Clang::find()?;
    let llvm = Llvm::load([&clang.compiler, &clang.opt], clang.major)?;
    let code = std::fs::read(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    let mut module = Module::read(llvm, &code, &file.to_string_lossy())?;
    pass.run(&mut module)?;
    module.verify().map_err(|why| format!("after {name}: {why}"))?;
    Ok(module.print())
}
