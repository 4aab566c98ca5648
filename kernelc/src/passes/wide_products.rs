//! Computes the upper half of a product of 64-bit integers from products of 32-bit halves.
//!
//! - Precondition: none. The pass comes after LLVM's passes, which would undo it.
//! - Effect: applies to a 128-bit product of two zero-extended integers that is truncated to at most 64 bits, directly
//!   or after a shift by 64 bits or more. Integers of at most 64 bits replace it. Other 128-bit integers stay.
//! - Why: if a program computes a product from halves, LLVM combines it into one 128-bit product, but devices have no 128-bit integers.

use crate::llvm::number::{opcode as o, ty as t, value as k};
use crate::llvm::{Builder, Editor, Form, Module, Value};

pub fn run(module: &mut Module) -> bool {
    module.edit(|edit| {
        let mut changed = false;
        for one in edit.functions().flat_map(|function| function.instructions()) {
            let Form::Instruction(o::TRUNC) = one.form() else { continue };
            let Some(result) = narrow(edit, one) else { continue };
            edit.replace_uses(one, result);
            edit.erase(one);
            changed = true;
        }
        while changed && erase_unused(edit) {}
        changed
    })
}

/// Erases wide instructions that nothing uses.
fn erase_unused(edit: Editor<'_>) -> bool {
    let unused = |one: &Value<'_>| {
        let kinds = [o::LSHR, o::MUL, o::ZEXT].map(Form::Instruction);
        kinds.contains(&one.form()) && is_wide(*one) && !one.is_used()
    };
    let unused_instructions: Vec<_> =
        edit.functions().flat_map(|function| function.instructions()).filter(unused).collect();
    unused_instructions.iter().for_each(|one| edit.erase(*one));
    !unused_instructions.is_empty()
}

fn is_wide(value: Value<'_>) -> bool {
    value.ty().is_some_and(|ty| ty.kind() == t::INTEGER && ty.width() == 128)
}

/// The value of a truncated product in 64-bit arithmetic; `None` for other truncations.
fn narrow<'m>(edit: Editor<'m>, one: Value<'m>) -> Option<Value<'m>> {
    let (ty, from) = (one.ty()?, one.operand(0)?);
    if !is_wide(from) || ty.kind() != t::INTEGER || ty.width() > 64 {
        return None;
    }
    let build = edit.build_before(one);
    let (product, shift) = match from.form() {
        Form::Instruction(o::LSHR) => (
            from.operand(0)?,
            as_i64(edit, &build, from.operand(1)?)
                .filter(|shift| shift.form() == Form::Other(k::INTEGER))?
                .zero_extended(),
        ),
        _ => (from, 0),
    };
    if product.form() != Form::Instruction(o::MUL) || shift != 0 && !(64..128).contains(&shift) {
        return None;
    }
    let [a, b] = [product.operand(0)?, product.operand(1)?].map(|factor| as_i64(edit, &build, factor));
    let [a, b] = [a?, b?].map(|factor| extended(edit, &build, factor));
    let part = match shift {
        0 => build.binary(o::MUL, a, b, "product"),
        64 => upper(edit, &build, a, b),
        _ => build.binary(o::LSHR, upper(edit, &build, a, b), edit.i64(shift - 64), "upper"),
    };
    Some(if ty.width() < 64 { build.cast(o::TRUNC, part, ty, &one.name()) } else { part })
}

/// A 128-bit integer as an integer of at most 64 bits, if its value fits. Adds no instruction.
fn as_i64<'m>(edit: Editor<'m>, build: &Builder<'m>, wide: Value<'m>) -> Option<Value<'m>> {
    match wide.form() {
        Form::Instruction(o::ZEXT) => wide.operand(0).filter(|from| from.ty().is_some_and(|ty| ty.width() <= 64)),
        Form::Other(k::INTEGER) => {
            let narrow = build.cast(o::TRUNC, wide, edit.integer_type(64), "");
            (build.cast(o::ZEXT, narrow, wide.ty()?, "") == wide).then_some(narrow)
        }
        _ => None,
    }
}

/// An integer of at most 64 bits, zero-extended to 64 bits.
fn extended<'m>(edit: Editor<'m>, build: &Builder<'m>, from: Value<'m>) -> Value<'m> {
    let is_whole = from.ty().is_some_and(|ty| ty.width() == 64);
    if is_whole { from } else { build.cast(o::ZEXT, from, edit.integer_type(64), "factor") }
}

/// The upper 64 bits of a product (Warren, "Hacker's Delight", 8-2).
fn upper<'m>(edit: Editor<'m>, build: &Builder<'m>, a: Value<'m>, b: Value<'m>) -> Value<'m> {
    let op = |opcode, left, right| build.binary(opcode, left, right, "part");
    let (half, mask) = (edit.i64(32), edit.i64(0xffff_ffff));
    let [(a, high_a), (b, high_b)] = [a, b].map(|one| (op(o::AND, one, mask), op(o::LSHR, one, half)));
    let low = op(o::MUL, a, b);
    let middle = op(o::ADD, op(o::MUL, high_a, b), op(o::LSHR, low, half));
    let other = op(o::ADD, op(o::MUL, a, high_b), op(o::AND, middle, mask));
    let carries = op(o::ADD, op(o::LSHR, middle, half), op(o::LSHR, other, half));
    op(o::ADD, op(o::MUL, high_a, high_b), carries)
}
