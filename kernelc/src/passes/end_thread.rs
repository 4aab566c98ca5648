//! Lowers calls of the function that ends a thread to returns of the kernel.
//!
//! - Precondition: all calls are inlined. A call that is left elsewhere than in a kernel is refused later.
//! - Effect: in kernels, such a call with the `unreachable` behind it becomes `ret void` at the same source location.
//! - Why: to LLVM the call is any function that does not return, and nothing but `unreachable` may follow it. SPIR-V has no such call.

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
