//! Replaces `unreachable` in kernels by a return.
//!
//! - Precondition: none.
//! - Effect: in kernels, each `unreachable` becomes `ret void` at the same source location.
//! - Why: `unreachable` follows, for example, the last possible iteration of a fully unrolled loop. `structurizecfg`
//!   does not structure control flow around a second exit of the function. LLVM's `mergereturn` merges exits of one kind only.

use crate::llvm::{Form, Module, number};

pub fn run(module: &mut Module) {
    module.edit(|edit| {
        for kernel in edit.functions().filter(|function| function.is_kernel()) {
            for instruction in kernel.instructions() {
                if instruction.form() == Form::Instruction(number::opcode::UNREACHABLE) {
                    edit.return_at(instruction);
                }
            }
        }
    });
}
