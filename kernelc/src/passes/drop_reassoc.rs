//! Drops the fast-maths flag `reassoc`, as `nvcc --use_fast_math` has it.
//!
//! - Precondition: none.
//! - Effect: no instruction has `reassoc`. The other flags stay. A call with operand bundles keeps it; kernels have none.
//! - Why: LLVM reassociates wherever the flag allows it. In LLVM's order, values may be live for longer: one more move in each iteration of
//!   a short loop. LLVM has no pass that drops a flag, and to leave out `reassociate` would keep integers in the source's order too.

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
