//! The passes over LLVM's module that LLVM does not have, one in a file. Each says what must hold before it, what it does, and why no pass
//! of LLVM does it.
//!
//! `revamp-kernelc --pass NAME FILE.ll` runs one of [`PASSES`] and prints the module, and `kernelc/tests/passes/NAME` has its tests.

pub mod calls;
pub mod drop_reassoc;
pub mod end_thread;
pub mod inline_all;
pub mod spin_marks;
pub mod textures;
pub mod unreachable_returns;

use crate::llvm::Module;

/// A pass, and its name on the command line.
type Pass = (&'static str, fn(&mut Module));

pub const PASSES: [Pass; 8] = [
    ("drop-reassoc", drop_reassoc::run),
    ("end-thread", end_thread::run),
    ("inline-all", inline_all::run),
    ("spin-marks", |module| _ = spin_marks::run(module)),
    ("spin-marks-removed", spin_marks::unmark),
    ("textures-as-images", |module| textures::run(module, true)),
    ("textures-as-memory", |module| textures::run(module, false)),
    ("unreachable-returns", unreachable_returns::run),
];
