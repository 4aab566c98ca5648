//! Gives integer divisions of kernels a result for all operands, the same one on all devices (docs/spec/language.md#integer-division).
//!
//! - Precondition: none. It comes before LLVM's passes, which use that these divisions are undefined.
//! - Effect: by zero, all bits of the quotient and of the remainder are set, as in Direct3D. The most negative number divided by -1 is itself, and the
//!   remainder is 0. Selects give each division a divisor that is always valid, and the result. They are no branches, so loops still become vectors.
//!   LLVM drops them where it knows the divisor.
//! - Why: LLVM leaves these divisions undefined, x86-64 raises a signal, and GPUs differ.

use crate::ir::IntPredicate;
use crate::llvm::number::{opcode as o, ty as t, value as k};
use crate::llvm::{Builder, Editor, Form, Module, Value};

const EQ: i32 = IntPredicate::Eq as i32;

pub fn run(module: &mut Module) {
    module.edit(|edit| {
        for one in edit.functions().flat_map(|function| function.instructions()) {
            let Form::Instruction(opcode @ (o::UDIV | o::SDIV | o::UREM | o::SREM)) = one.form() else { continue };
            let Some(result) = defined(edit, one, opcode) else { continue };
            edit.replace_uses(one, result);
            edit.erase(one);
        }
    });
}

/// The result of a division; `None` if the divisor is a constant for which the division is defined.
fn defined<'m>(edit: Editor<'m>, one: Value<'m>, opcode: i32) -> Option<Value<'m>> {
    let (left, right, ty) = (one.operand(0)?, one.operand(1)?, one.ty()?);
    let signed = [o::SDIV, o::SREM].contains(&opcode);
    let quotient = [o::UDIV, o::SDIV].contains(&opcode);
    let name = one.name();
    let build = edit.build_before(one);
    let (zero, ones) = (edit.zero(ty), edit.ones(ty));
    match right.form() {
        _ if right == zero => return Some(build.binary(o::OR, left, ones, &name)),
        Form::Other(k::UNDEF | k::POISON) => return Some(build.binary(o::OR, left, ones, &name)),
        _ if right == ones && signed && quotient => return Some(build.binary(o::SUB, zero, left, &name)),
        _ if right == ones && signed => return Some(build.binary(o::AND, left, zero, &name)),
        Form::Other(k::INTEGER) => return None,
        _ => {}
    }
    Some(selected(&build, one, [left, right], signed, quotient))
}

fn selected<'m>(
    build: &Builder<'m>,
    one: Value<'m>,
    [left, right]: [Value<'m>; 2],
    signed: bool,
    quotient: bool,
) -> Value<'m> {
    let (edit, name) = (build.edit, one.name());
    let Some(ty) = one.ty() else { return one };
    let part = |what: &str| format!("{name}.{what}");
    let (zero, ones) = (edit.zero(ty), edit.ones(ty));
    // In all elements of a vector.
    let single = if ty.kind() == t::VECTOR {
        edit.splat(edit.integer(ty.element().unwrap_or(ty), 1), ty.vector_length())
    } else {
        edit.integer(ty, 1)
    };
    let by_zero = build.compare(EQ, right, zero, &part("zero"));
    let by_minus = signed.then(|| build.compare(EQ, right, ones, &part("minus")));
    let special = by_minus.map_or(by_zero, |minus| build.binary(o::OR, by_zero, minus, &part("special")));
    let divisor = build.select(special, single, right, &part("by"));
    let mut plain = build.copy(one, &part("plain"));
    edit.set_operand(plain, 1, divisor);
    if let Some(minus) = by_minus.filter(|_| quotient) {
        let negated = build.binary(o::SUB, zero, left, &part("less"));
        plain = build.select(minus, negated, plain, &part("signed"));
    }
    build.select(by_zero, ones, plain, &name)
}
