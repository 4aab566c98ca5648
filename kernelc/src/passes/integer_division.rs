//! Makes integer division in kernels defined for all operands, with the same result on all devices (docs/spec/language.md#integer-division).
//!
//! - Precondition: none. The pass comes before LLVM's passes, which exploit that these divisions are undefined.
//! - Effect: division by zero sets all bits of the quotient and of the remainder, as in Direct3D. The most negative
//!   number divided by -1 gives the most negative number, with the remainder 0. Selects give each division a valid
//!   divisor and choose the result. Selects are not branches, so loops still vectorise. LLVM drops the selects where it
//!   knows the divisor.
//! - Why: LLVM leaves these divisions undefined, x86-64 raises a signal, and GPUs differ.

use crate::ir::IntPredicate;
use crate::llvm::number::{opcode as o, ty as t, value as k};
use crate::llvm::{Builder, Editor, Form, Module, Value};

const EQ: i32 = IntPredicate::Eq as i32;

pub fn run(module: &mut Module) {
    module.edit(|edit| {
        for division in edit.functions().flat_map(|function| function.instructions()) {
            let Form::Instruction(opcode @ (o::UDIV | o::SDIV | o::UREM | o::SREM)) = division.form() else { continue };
            let Some(result) = defined_result(edit, division, opcode) else { continue };
            edit.replace_uses(division, result);
            edit.erase(division);
        }
    });
}

/// The result of a division; `None` if the divisor is a constant for which the division is defined.
fn defined_result<'m>(edit: Editor<'m>, division: Value<'m>, opcode: i32) -> Option<Value<'m>> {
    let (left, right, ty) = (division.operand(0)?, division.operand(1)?, division.ty()?);
    let signed = [o::SDIV, o::SREM].contains(&opcode);
    let is_quotient = [o::UDIV, o::SDIV].contains(&opcode);
    let name = division.name();
    let build = edit.build_before(division);
    let (zero, ones) = (edit.zero(ty), edit.ones(ty));
    match right.form() {
        _ if right == zero => return Some(build.binary(o::OR, left, ones, &name)),
        Form::Other(k::UNDEF | k::POISON) => return Some(build.binary(o::OR, left, ones, &name)),
        _ if right == ones && signed && is_quotient => return Some(build.binary(o::SUB, zero, left, &name)),
        _ if right == ones && signed => return Some(build.binary(o::AND, left, zero, &name)),
        Form::Other(k::INTEGER) => return None,
        _ => {}
    }
    Some(select_result(&build, division, [left, right], signed, is_quotient))
}

fn select_result<'m>(
    build: &Builder<'m>,
    division: Value<'m>,
    [left, right]: [Value<'m>; 2],
    signed: bool,
    is_quotient: bool,
) -> Value<'m> {
    let (edit, name) = (build.edit, division.name());
    let Some(ty) = division.ty() else { return division };
    let part_name = |what: &str| format!("{name}.{what}");
    let (zero, ones) = (edit.zero(ty), edit.ones(ty));
    // The number 1, in all elements of a vector.
    let scalar_one = if ty.kind() == t::VECTOR {
        edit.splat(edit.integer(ty.element().unwrap_or(ty), 1), ty.vector_length())
    } else {
        edit.integer(ty, 1)
    };
    let divides_by_zero = build.compare(EQ, right, zero, &part_name("zero"));
    let divides_by_minus_one = signed.then(|| build.compare(EQ, right, ones, &part_name("minus")));
    let special = divides_by_minus_one
        .map_or(divides_by_zero, |minus| build.binary(o::OR, divides_by_zero, minus, &part_name("special")));
    let divisor = build.select(special, scalar_one, right, &part_name("by"));
    let mut plain = build.copy(division, &part_name("plain"));
    edit.set_operand(plain, 1, divisor);
    if let Some(minus) = divides_by_minus_one.filter(|_| is_quotient) {
        let negated = build.binary(o::SUB, zero, left, &part_name("less"));
        plain = build.select(minus, negated, plain, &part_name("signed"));
    }
    build.select(divides_by_zero, ones, plain, &name)
}
