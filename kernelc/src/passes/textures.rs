//! Answers the headers' question whether textures are read as images.
//!
//! - Precondition: Clang's code, in which both answers are branches.
//! - Effect: the question's call is the constant 1 or 0. Calls that read images are `noinline`.
//! - Why: the answer is the kernel compiler's. LLVM unrolls no loop that calls what may be inlined, and `inline_all` marks declarations too.

use super::calls::called;
use crate::device_abi::DeviceFunction;
use crate::llvm::Module;

/// `images`: the answer.
pub fn run(module: &mut Module, images: bool) {
    module.edit(|edit| {
        for call in edit.functions().flat_map(|function| function.instructions()) {
            match (called(call), call.ty()) {
                (Some(DeviceFunction::WithImages), Some(ty)) => {
                    edit.replace_uses(call, edit.integer(ty, u64::from(images)));
                    edit.erase(call);
                }
                (Some(DeviceFunction::ReadImage(_)), _) => edit.add_attribute(call, "noinline"),
                _ => {}
            }
        }
    });
}
