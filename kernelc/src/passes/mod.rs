//! Passes over LLVM modules that LLVM itself does not have, one per file. Each file states what must hold before the
//! pass, the effect of the pass, and why no pass of LLVM does the job.
//!
//! `revamp-kernelc --pass NAME FILE.ll` runs one of [`PASSES`] and prints the module. `kernelc/tests/passes/NAME` has the tests of a pass.

pub mod acquire_release;
pub mod calls;
pub mod disjoint_sums;
pub mod drop_reassoc;
pub mod end_thread;
pub mod expand_copies;
pub mod freeze_divisions;
pub mod host_functions;
pub mod host_target;
pub mod inline_all;
pub mod integer_division;
pub mod invariant_calls;
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

/// A pass, by the kind of its result.
pub enum Pass {
    Plain(fn(&mut Module)),
    /// Returns true if it changed the module.
    ReportsChange(fn(&mut Module) -> bool),
    /// Returns true if it changed the module. It runs LLVM's passes too, which may fail.
    MayFail(fn(&mut Module) -> Result<bool, String>),
}

/// A pass that returns true if it changed the module, with its name.
pub type Named = (&'static str, fn(&mut Module) -> bool);

/// The passes between `pipelines::optimise` and `pipelines::unroll`.
pub const BEFORE_UNROLLING: [Named; 1] = [("freeze-divisions", freeze_divisions::run)];

/// The passes after LLVM's passes.
pub const LAST: [Named; 2] = [("expand-copies", expand_copies::run), ("wide-products", wide_products::run)];

/// The passes by their names on the command line.
pub const PASSES: [(&str, Pass); 23] = [
    ("acquire-release", Pass::Plain(acquire_release::run)),
    ("disjoint-sums", Pass::ReportsChange(disjoint_sums::run)),
    ("drop-reassoc", Pass::Plain(drop_reassoc::run)),
    ("end-thread", Pass::Plain(end_thread::run)),
    ("expand-copies", Pass::ReportsChange(expand_copies::run)),
    ("freeze-divisions", Pass::ReportsChange(freeze_divisions::run)),
    ("host-target", Pass::MayFail(|module| host_target::run(module, "x86_64-pc-linux-gnu").map(|()| true))),
    ("inline-all", Pass::Plain(inline_all::run)),
    ("integer-division", Pass::Plain(integer_division::run)),
    ("invariant-calls", Pass::MayFail(invariant_calls::run)),
    ("lock-fences", Pass::ReportsChange(lock_fences::run)),
    ("lock-sinking", Pass::MayFail(lock_sinking::run)),
    ("phi-loads", Pass::ReportsChange(phi_loads::run)),
    ("separate-memories", Pass::ReportsChange(separate_memories::run)),
    ("spin-marks", Pass::ReportsChange(spin_marks::run)),
    ("spin-marks-removed", Pass::Plain(spin_marks::unmark)),
    ("textures-as-images", Pass::Plain(|module| textures::run(module, true))),
    ("textures-as-memory", Pass::Plain(|module| textures::run(module, false))),
    ("unreachable-returns", Pass::Plain(unreachable_returns::run)),
    ("unroll-large", Pass::ReportsChange(unroll_large::run)),
    ("version-bounds", Pass::MayFail(version_bounds::run)),
    ("wide-products", Pass::ReportsChange(wide_products::run)),
    ("zero-bounds", Pass::MayFail(zero_bounds::run)),
];

impl Pass {
    pub fn run(&self, module: &mut Module) -> Result<(), String> {
        match self {
            Self::Plain(pass) => pass(module),
            Self::ReportsChange(pass) => _ = pass(module),
            Self::MayFail(pass) => _ = pass(module)?,
        }
        Ok(())
    }
}
