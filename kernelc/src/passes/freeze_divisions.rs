//! Freezes the results of integer divisions, so that `loop-reduce` does not compute them in 64 bits.
//!
//! - Precondition: none. `unroll`, which includes `loop-reduce`, follows.
//! - Effect: a `freeze` of the result of each `udiv` and `urem` of at most 32 bits replaces its other uses.
//! - Why: for an index such as `k % 6`, `loop-reduce` divides a 64-bit counter, because it widens the address's parts. Devices have no 64-bit
//!   division, and drivers call a function of some hundred instructions. LLVM does not look through a `freeze`.

use crate::llvm::number::{opcode as o, ty as t};
use crate::llvm::{Form, Module, Value};

/// Returns true if there are such divisions.
pub fn run(module: &mut Module) -> bool {
    module.edit(|edit| {
        let divisions: Vec<Value<'_>> =
            edit.functions().flat_map(|function| function.instructions()).filter(|one| is_narrow(*one)).collect();
        for division in &divisions {
            let Some(next) = division.next_instruction() else { continue };
            let frozen = edit.build_before(next).freeze(*division);
            edit.replace_uses(*division, frozen);
            edit.set_operand(frozen, 0, *division);
        }
        !divisions.is_empty()
    })
}

/// True for an unsigned division of at most 32 bits.
fn is_narrow(one: Value<'_>) -> bool {
    let is_division = [o::UDIV, o::UREM].map(Form::Instruction).contains(&one.form());
    is_division && one.ty().is_some_and(|ty| ty.kind() == t::INTEGER && ty.width() <= 32)
}
