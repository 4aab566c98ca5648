//! Turns relaxed atomic operations into acquire-release operations in code with locks.
//!
//! - Precondition: the code is for the host's processor, and has locks (`lock_fences::has_locks`).
//! - Effect: relaxed read-modify-write operations become acquire-release operations.
//! - Why: on the host's processors, these operations have acquire-release order anyway, so separate fences would only
//!   cost time. LLVM has no pass that strengthens orderings.

use crate::llvm::Module;

pub fn run(module: &mut Module) {
    module.edit(|edit| {
        for one in edit.functions().flat_map(|function| function.instructions()) {
            edit.acquire_release(one);
        }
    });
}
