//! Computes the upper half of a product of 64-bit integers by products of 32-bit halves.
//!
//! - Precondition: none. It comes after LLVM's passes, which would undo it.
//! - Effect: truncations of products of two zero-extended integers of at most 64 bits, shifted by 64 bits or more or not at all, are integers of at
//!   most 64 bits. Other integers of 128 bits stay.
//! - Why: LLVM makes one product of 128 bits of these halves where a program writes them, and devices have no integers of that size.

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
    let found: Vec<_> = edit.functions().flat_map(|function| function.instructions()).filter(unused).collect();
    found.iter().for_each(|one| edit.erase(*one));
    !found.is_empty()
}

fn is_wide(value: Value<'_>) -> bool {
    value.ty().is_some_and(|ty| ty.kind() == t::INTEGER && ty.width() == 128)
}

/// A truncation, if it is one of a part of a product.
fn narrow<'m>(edit: Editor<'m>, one: Value<'m>) -> Option<Value<'m>> {
    let (ty, from) = (one.ty()?, one.operand(0)?);
    if !is_wide(from) || ty.kind() != t::INTEGER || ty.width() > 64 {
        return None;
    }
    let build = edit.build_before(one);
    let (product, by) = match from.form() {
        Form::Instruction(o::LSHR) => (
            from.operand(0)?,
            number(edit, &build, from.operand(1)?).filter(|by| by.form() == Form::Other(k::INTEGER))?.zero_extended(),
        ),
        _ => (from, 0),
    };
    if product.form() != Form::Instruction(o::MUL) || by != 0 && !(64..128).contains(&by) {
        return None;
    }
    let [a, b] = [product.operand(0)?, product.operand(1)?].map(|factor| number(edit, &build, factor));
    let part = match by {
        0 => build.binary(o::MUL, a?, b?, "product"),
        64 => upper(edit, &build, a?, b?),
        _ => build.binary(o::LSHR, upper(edit, &build, a?, b?), edit.i64(by - 64), "upper"),
    };
    Some(if ty.width() < 64 { build.cast(o::TRUNC, part, ty, &one.name()) } else { part })
}

/// A wide integer of at most 64 bits, as one of 64.
fn number<'m>(edit: Editor<'m>, build: &Builder<'m>, wide: Value<'m>) -> Option<Value<'m>> {
    let long = edit.integer_type(64);
    match wide.form() {
        Form::Instruction(o::ZEXT) => {
            let from = wide.operand(0)?;
            let width = from.ty()?.width();
            (width <= 64).then(|| if width < 64 { build.cast(o::ZEXT, from, long, "factor") } else { from })
        }
        Form::Other(k::INTEGER) => {
            let narrow = build.cast(o::TRUNC, wide, long, "");
            (build.cast(o::ZEXT, narrow, wide.ty()?, "") == wide).then_some(narrow)
        }
        _ => None,
    }
}

/// The upper 64 bits of a product (Warren, "Hacker's Delight", 8-2).
fn upper<'m>(edit: Editor<'m>, build: &Builder<'m>, a: Value<'m>, b: Value<'m>) -> Value<'m> {
    let op = |opcode, left, right| build.binary(opcode, left, right, "part");
    let (half, mask) = (edit.i64(32), edit.i64(0xffff_ffff));
    let [(a, high_a), (b, high_b)] = [a, b].map(|one| (op(o::AND, one, mask), op(o::LSHR, one, half)));
    let low = op(o::MUL, a, b);
    let middle = op(o::ADD, op(o::MUL, high_a, b), op(o::LSHR, low, half));
    let other = op(o::ADD, op(o::MUL, a, high_b), op(o::AND, middle, mask));
    let carried = op(o::ADD, op(o::LSHR, middle, half), op(o::LSHR, other, half));
    op(o::ADD, op(o::MUL, high_a, high_b), carried)
}
