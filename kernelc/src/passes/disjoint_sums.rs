//! Turns `or disjoint` back into sums.
//!
//! - Precondition: none. The pass comes after LLVM's passes, which would undo it.
//! - Effect: an integer `or disjoint` becomes an `add`.
//! - Why: LLVM turns a sum whose operands have no common bit into an `or`. Drivers fold sums into addresses: the constant of a sum becomes
//!   the offset of the access. They do not fold an `or`.

use crate::llvm::Module;
use crate::llvm::number::{opcode as o, ty as t};
use crate::llvm::{Form, Value};

pub fn run(module: &mut Module) -> bool {
    module.edit(|edit| {
        let is_sum = |one: &Value<'_>| {
            one.form() == Form::Instruction(o::OR)
                && one.is_disjoint()
                && one.ty().is_some_and(|ty| ty.kind() == t::INTEGER && ty.width() > 1)
        };
        let sums: Vec<_> = edit.functions().flat_map(|function| function.instructions()).filter(is_sum).collect();
        for &one in &sums {
            let (Some(left), Some(right)) = (one.operand(0), one.operand(1)) else { continue };
            let sum = edit.build_before(one).binary_without_overflow(o::ADD, left, right, &one.name());
            edit.replace_uses(one, sum);
            edit.erase(one);
        }
        !sums.is_empty()
    })
}
