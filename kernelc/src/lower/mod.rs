//! From LLVM IR to SPIR-V for Vulkan, kernel by kernel.
//!
//! LLVM's passes have inlined all calls and structured the control flow (`pipelines` says how). Here, in this order:
//! `structured_flow` gives each construct a merge block (by `edges` and `breaks`), `pointers` finds what each pointer
//! may point to, `memory` makes variables for tile_static memory, locals and tables, and `instructions` writes SPIR-V, with
//! `conversions`, `integers`, `atomics`, `calls`, `intrinsics`, `exact`, `quotients`, `printf`. All share the `emitter`, which writes
//! through the `assembler`. A kernel is one module with one entry point, `main`, and one push constant: the 64-bit device
//! address of its argument block.
//!
//! Before that, `barriers` looks for tile barriers that not all threads reach, by `uniformity`: what is the same for all threads of
//! a tile.

mod addresses;
mod assembler;
mod atomics;
mod barriers;
mod bounds;
mod breaks;
mod calls;
mod capture_uses;
mod checked;
mod compile;
mod conversions;
mod division;
mod edges;
mod emitter;
mod exact;
mod facts;
mod global_order;
mod images;
mod instructions;
mod integers;
mod intrinsics;
mod memory;
mod narrow_addresses;
mod narrow_offsets;
mod pointer_sets;
mod pointers;
mod printf;
mod quotients;
mod reach;
mod remarks;
mod scalars;
mod structured_flow;
#[cfg(test)]
mod tests;
mod uniform;
mod uniform_loads;
mod uniformity;

pub use barriers::divergent_barriers;
#[cfg(test)]
pub use compile::compile_module;
pub use compile::{CompiledKernel, compile, kernels};
pub use emitter::Options;
pub use remarks::{Forms, remarks, size};
