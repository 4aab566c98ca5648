//! Modules for tests, from LLVM's own text.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::{Module, snapshot};
use crate::clang::Clang;
use crate::llvm::{self, Llvm};
use std::sync::OnceLock;

/// LLVM beside the Clang that is installed. `scripts/needs` asks for both.
fn llvm() -> Llvm {
    static LOADED: OnceLock<Llvm> = OnceLock::new();
    *LOADED.get_or_init(|| {
        let clang = Clang::find().unwrap_or_else(|why| panic!("the tests of IR need Clang and libLLVM: {why}"));
        Llvm::load([&clang.compiler, &clang.opt], clang.major).unwrap()
    })
}

/// Reads what may be wrong: LLVM's parser and verifier say why.
pub fn read(text: &str) -> Result<Module, String> {
    llvm::Module::read(llvm(), text.as_bytes(), "text").map(|module| snapshot(&module))
}

/// Reads what is correct.
pub fn module(text: &str) -> Module {
    read(text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}
