//! The passes over LLVM's module that LLVM does not have, one in a file. Each says what must hold before it, what it does, and why no pass
//! of LLVM does it.
//!
//! `revamp-kernelc --pass NAME FILE.ll` runs one of [`PASSES`] and prints the module, and `kernelc/tests/passes/NAME` has its tests.

pub mod acquire_release;
pub mod calls;
pub mod drop_reassoc;
pub mod end_thread;
pub mod host_functions;
pub mod host_target;
pub mod inline_all;
pub mod integer_division;
pub mod lock_fences;
pub mod lock_sinking;
pub mod phi_loads;
pub mod separate_memories;
pub mod spin_marks;
pub mod textures;
pub mod unreachable_returns;
pub mod unroll_large;
pub mod version_bounds;
pub mod wide_products;
pub mod zero_bounds;

use crate::llvm::Module;

/// A pass by what it answers.
pub enum Pass {
    Plain(fn(&mut Module)),
    /// Whether it changed the module.
    Answers(fn(&mut Module) -> bool),
    /// The same; it runs LLVM's passes too, which may fail.
    MayFail(fn(&mut Module) -> Result<bool, String>),
}

/// The passes by their names on the command line.
pub const PASSES: [(&str, Pass); 19] = [
    ("acquire-release", Pass::Plain(acquire_release::run)),
    ("drop-reassoc", Pass::Plain(drop_reassoc::run)),
    ("end-thread", Pass::Plain(end_thread::run)),
    ("host-target", Pass::MayFail(|module| host_target::run(module, "x86_64-pc-linux-gnu").map(|()| true))),
    ("inline-all", Pass::Plain(inline_all::run)),
    ("integer-division", Pass::Plain(integer_division::run)),
    ("lock-fences", Pass::Answers(lock_fences::run)),
    ("lock-sinking", Pass::MayFail(lock_sinking::run)),
    ("phi-loads", Pass::Answers(phi_loads::run)),
    ("separate-memories", Pass::Answers(separate_memories::run)),
    ("spin-marks", Pass::Answers(spin_marks::run)),
    ("spin-marks-removed", Pass::Plain(spin_marks::unmark)),
    ("textures-as-images", Pass::Plain(|module| textures::run(module, true))),
    ("textures-as-memory", Pass::Plain(|module| textures::run(module, false))),
    ("unreachable-returns", Pass::Plain(unreachable_returns::run)),
    ("unroll-large", Pass::Answers(unroll_large::run)),
    ("version-bounds", Pass::MayFail(version_bounds::run)),
    ("wide-products", Pass::Answers(wide_products::run)),
    ("zero-bounds", Pass::MayFail(zero_bounds::run)),
];

impl Pass {
    pub fn run(&self, module: &mut Module) -> Result<(), String> {
        match self {
            Self::Plain(pass) => pass(module),
            Self::Answers(pass) => _ = pass(module),
            Self::MayFail(pass) => _ = pass(module)?,
        }
        Ok(())
    }
}
