//! Drops the fast-math flag `reassoc`, as `nvcc --use_fast_math` does.
//!
//! - Precondition: none.
//! - Effect: no instruction has `reassoc`. The other flags stay. Calls with operand bundles keep `reassoc`, but kernels have no such calls.
//! - Why: LLVM reassociates wherever the flag allows it. In LLVM's order, values may be live for longer, which costs a move in each
//!   iteration of a short loop. LLVM has no pass that drops a flag. Leaving out the pass `reassociate` would also keep integer operations
//!   in the source's order.

use crate::llvm::{Module, number};

pub fn run(module: &mut Module) {
    module.edit(|edit| {
        for one in edit.functions().flat_map(|function| function.instructions()).filter(|one| one.can_be_fast()) {
            let flags = one.fast_flags();
            if flags & number::REASSOCIATE != 0 {
                edit.set_fast_flags(one, flags & !number::REASSOCIATE);
            }
        }
    });
}
