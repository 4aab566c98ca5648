//! Replaces the headers' query whether kernels read textures as images by a constant: 1 if they do, otherwise 0.
//!
//! - Precondition: the code comes from Clang's front end and has a branch for each answer.
//! - Effect: each of these calls becomes the constant 1 or 0. Calls that read images become `noinline`.
//! - Why: only the kernel compiler knows the answer. LLVM does not unroll a loop with calls that may be inlined, and
//!   `inline_all` also marks the declared functions that read images.

use super::calls::called;
use crate::device_abi::DeviceFunction;
use crate::llvm::Module;

/// `images`: true if textures are read as images.
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
