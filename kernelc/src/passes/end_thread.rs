//! Lowers calls of the function that ends a thread to returns from the kernel.
//!
//! - Precondition: all calls are inlined. A call that remains outside of kernels is refused later.
//! - Effect: in kernels, `ret void` replaces the call and the `unreachable` after it, at the source location of the `unreachable`.
//! - Why: to LLVM, the function is an ordinary function that does not return, so `unreachable` follows each call.
//!   SPIR-V has no functions that do not return.

use super::calls::called;
use crate::device_abi::DeviceFunction;
use crate::llvm::{Form, Module, number};

pub fn run(module: &mut Module) {
    module.edit(|edit| {
        for block in edit.functions().filter(|function| function.is_kernel()).flat_map(|kernel| kernel.blocks()) {
            let mut call = None;
            for instruction in block.instructions() {
                match call.filter(|_| instruction.form() == Form::Instruction(number::opcode::UNREACHABLE)) {
                    Some(call) => {
                        edit.return_at(instruction);
                        edit.erase(call);
                    }
                    None => call = Some(instruction).filter(|one| called(*one) == Some(DeviceFunction::EndThread)),
                }
            }
        }
    });
}
