//! Lets atomic operations order memory themselves.
//!
//! - Precondition: the code is for the host's processor, and has locks (`lock_fences::has_locks`).
//! - Effect: relaxed operations that read and write are acquire and release operations.
//! - Why: processors order them so anyway, so fences beside them would cost without need. LLVM has no pass that strengthens orderings.

use crate::llvm::Module;

pub fn run(module: &mut Module) {
    module.edit(|edit| {
        for one in edit.functions().flat_map(|function| function.instructions()) {
            edit.acquire_release(one);
        }
    });
}
