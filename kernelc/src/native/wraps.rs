//! Hides counters of threads or loop iterations from LLVM if an instruction drops their upper bits, as in `(local + 1) % 256`. LLVM treats
//! the result as a narrow counter. After a run-time check that the counter does not wrap, LLVM makes the accesses that
//! it indexes consecutive. LLVM 22 drops this check if it also checks a wider counter for the same address. The
//! accesses then read beyond the wrap.

use super::analysis::Kernel;
use super::calls::{locals, position};
use crate::device_abi::Position;
use crate::ir::{BinaryOp, CastOp, Constant, Instruction, LocalId, Op, Operand, Type, Value};
use std::collections::{BTreeSet, HashMap};

/// The maximum depth of the search through operands. Beyond it, a value is assumed to be a counter.
const MAX_STEPS: usize = 100;

/// For each value examined so far: true if it is a counter. `None` while the value is being examined.
type Known = HashMap<LocalId, Option<bool>>;

impl Kernel {
    /// The results of instructions that keep only some bits of their first operand, which is a counter.
    pub fn truncated_counters(&self) -> BTreeSet<LocalId> {
        let mut answers = Known::new();
        let mut drops_bits = |one: &Instruction| {
            let Some(number) = truncated_operand(one) else { return false };
            // An arithmetic right shift drops bits of the number only if it reverses a left shift.
            let is_left_shift =
                |of: Option<&Instruction>| matches!(of?.op, Op::Binary { op: BinaryOp::Shl, .. }).then_some(());
            let drops_counter_bits = !matches!(one.op, Op::Binary { op: BinaryOp::AShr, .. })
                || is_left_shift(self.definition(number)).is_some();
            drops_counter_bits && self.is_counter(&mut answers, number, 0)
        };
        self.function.instructions().filter(|one| drops_bits(one)).filter_map(|one| one.result).collect()
    }

    /// True if a value is computed by sums, products and similar operations from positions or loop counters.
    fn is_counter(&self, answers: &mut Known, name: LocalId, depth: usize) -> bool {
        let Some(one) = self.definition(name) else { return false };
        if let Some(answer) = answers.get(&name) {
            return answer.unwrap_or(true);
        }
        if depth == MAX_STEPS {
            return true;
        }
        answers.insert(name, None);
        let mut of = |value: LocalId| self.is_counter(answers, value, depth + 1);
        use BinaryOp as B;
        let answer = match &one.op {
            Op::Call { .. } => position(&self.code, one).is_some_and(|(position, _)| position != Position::Group),
            Op::Binary {
                op: B::Add | B::Sub | B::Mul | B::Shl | B::LShr | B::AShr | B::UDiv | B::SDiv | B::Or,
                ..
            }
            | Op::Cast { op: CastOp::SExt | CastOp::ZExt | CastOp::Trunc, .. }
            | Op::Freeze { .. } => locals(one).any(of),
            Op::Load { .. } => {
                let variable = self.read(one).filter(|variable| variable.plain);
                variable.is_some_and(|v| v.stores.iter().filter_map(|store| store.value.local()).any(&mut of))
            }
            _ => false,
        };
        answers.insert(name, Some(answer));
        answer
    }
}

/// The `i32` or `i64` operand of which an instruction keeps only some bits. The instruction is a remainder, `and` or
/// arithmetic shift with a constant, or a `trunc` to fewer than 32 bits.
fn truncated_operand(one: &Instruction) -> Option<LocalId> {
    use BinaryOp as B;
    let (number, allows_i64) = match &one.op {
        Op::Binary { op: op @ (B::And | B::AShr | B::SRem | B::URem), left, right, .. } => {
            // A 64-bit arithmetic shift is a sign extension of a 32-bit number.
            is_small(right).then_some((left, *op != B::AShr))?
        }
        Op::Cast { op: CastOp::Trunc, value, to: Type::Int(..=31) } => (value, true),
        _ => return None,
    };
    let ty = number.ty == Type::Int(32) || allows_i64 && number.ty == Type::Int(64);
    number.value.local().filter(|_| ty)
}

fn is_small(number: &Operand) -> bool {
    matches!(number.value, Value::Constant(Constant::Int(number)) if number < i128::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_that_drop_bits() {
        let operand = |body: &str| {
            let text = format!("define void @k(i32 %b, i64 %l, i1 %t, i32 %c) {{\n  {body}\n  ret void\n}}\n");
            truncated_operand(&crate::ir::tests::module(&text).functions[0].blocks[0].instructions[0])
        };
        for (body, number) in [
            ("%a = and i32 %b, 255", 0),
            ("%a = srem i32 %b, 256", 0),
            ("%a = trunc nuw nsw i64 %l to i8", 1),
            ("%a = ashr exact i32 %b, 24", 0),
        ] {
            assert_eq!(operand(body), Some(LocalId(number)), "{body}");
        }
        for body in [
            "%a = and i32 %b, %c",
            "%a = trunc i64 %l to i32",
            "%a = add i32 %b, 1",
            "%a = and i1 %t, 1",
            "%a = ashr i64 %l, 24",
            "fence acquire",
        ] {
            assert_eq!(operand(body), None, "{body}");
        }
    }
}
