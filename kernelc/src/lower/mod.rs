//! Lowers each kernel of a module from LLVM IR to SPIR-V for Vulkan.
//!
//! LLVM's passes have inlined all calls and structured the control flow (see `pipelines`). The steps here, in order:
//!
//! 1. `structured_flow`, which uses `alternatives`, `edges` and `breaks`, gives each construct a merge block. `quotient_groups` orders
//!    the instructions of blocks with quotients of floats, and `late_arithmetic` orders other arithmetic. `tile_phis` aligns the pointers of
//!    loops in tile_static memory.
//! 2. `pointers` finds the memory that each pointer may point to. `private_stores` orders stores to local variables.
//! 3. `memory` creates SPIR-V variables for tile_static memory, local variables and constant tables.
//! 4. `instructions` emits SPIR-V, with `conversions`, `integers`, `clamps`, `atomics`, `calls`, `intrinsics`, `exact`, `quotients`,
//!    `vector_stores`, `tile_loads`, `selected_loads` and `printf`. `narrow_offsets` and `offset_parts` give addresses a form that drivers fold.
//!
//! All steps that emit SPIR-V share the `emitter`, which writes through the `assembler`. Each kernel becomes one SPIR-V module with one
//! entry point, `main`, and one push constant: the 64-bit device address of the argument block.
//!
//! Before these steps, `barriers` looks for tile barriers that not all threads reach. `barriers` uses `uniformity`, which finds the values
//! that are the same for all threads of a tile.

mod addresses;
mod alternatives;
mod assembler;
mod atomics;
mod barriers;
mod bounds;
mod breaks;
mod calls;
mod capture_uses;
mod checked;
mod clamps;
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
mod late_arithmetic;
mod late_loads;
mod memory;
mod narrow_addresses;
mod narrow_offsets;
mod offset_parts;
mod pointer_sets;
mod pointers;
mod printf;
mod private_stores;
mod quotient_groups;
mod quotients;
mod reach;
mod remarks;
mod scalars;
mod selected_loads;
mod store_groups;
mod structured_flow;
#[cfg(test)]
mod tests;
mod tile_loads;
mod tile_phis;
mod uniform;
mod uniform_loads;
mod uniformity;
mod vector_stores;

pub use barriers::divergent_barriers;
#[cfg(test)]
pub use compile::compile_module;
pub use compile::{CompiledKernel, compile, kernels};
pub use emitter::Options;
pub use remarks::{Forms, remarks, size};
