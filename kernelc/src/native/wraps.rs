//! Numbers that count the threads, or the rounds of a loop, and lose upper bits: `(local + 1) % 256`. LLVM takes them for counters of few bits
//! and goes through memory in their order, behind a test that they do not wrap. LLVM 22 leaves the test out where it also tests a counter of
//! more bits for the same address, and reads beyond the wrap. So that the number counts is hidden from it.

use super::analysis::Kernel;
use super::calls::{locals, position};
use crate::device_abi::Position;
use crate::ir::{BinaryOp, CastOp, Constant, Instruction, LocalId, Op, Operand, Type, Value};
use std::collections::{BTreeSet, HashMap};

/// Values are followed so far; beyond that they are taken for counted.
const MOST_STEPS: usize = 100;

/// What is known of values on the way; `None`: being looked at.
type Known = HashMap<LocalId, Option<bool>>;

impl Kernel {
    /// The instructions, by their results, that leave some bits of a counted number, their first operand.
    pub fn wraps(&self) -> BTreeSet<LocalId> {
        let mut known = Known::new();
        let mut is = |one: &Instruction| {
            let Some(number) = cut(one) else { return false };
            // Bits are cut by a shift back.
            let shift = |of: Option<&Instruction>| matches!(of?.op, Op::Binary { op: BinaryOp::Shl, .. }).then_some(());
            let back = !matches!(one.op, Op::Binary { op: BinaryOp::AShr, .. }) || shift(self.made(number)).is_some();
            back && self.counted(&mut known, number, 0)
        };
        self.function.instructions().filter(|one| is(one)).filter_map(|one| one.result).collect()
    }

    /// Sums and products make it of positions and of what loops count.
    fn counted(&self, known: &mut Known, name: LocalId, depth: usize) -> bool {
        let Some(one) = self.made(name) else { return false };
        if let Some(found) = known.get(&name) {
            return found.unwrap_or(true);
        }
        if depth == MOST_STEPS {
            return true;
        }
        known.insert(name, None);
        let mut of = |value: LocalId| self.counted(known, value, depth + 1);
        use BinaryOp as B;
        let found = match &one.op {
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
        known.insert(name, Some(found));
        found
    }
}

/// The number of which an instruction leaves some bits, an `i32` or `i64`: by a remainder, an `and` or arithmetic shift by a constant, or a
/// `trunc` to a type of few bits.
fn cut(one: &Instruction) -> Option<LocalId> {
    use BinaryOp as B;
    let (number, wide) = match &one.op {
        Op::Binary { op: op @ (B::And | B::AShr | B::SRem | B::URem), left, right, .. } => {
            // A shift of 64 bits makes one of 32 a number of them.
            is_small(right).then_some((left, *op != B::AShr))?
        }
        Op::Cast { op: CastOp::Trunc, value, to: Type::Int(..=31) } => (value, true),
        _ => return None,
    };
    let ty = number.ty == Type::Int(32) || wide && number.ty == Type::Int(64);
    number.value.local().filter(|_| ty)
}

fn is_small(number: &Operand) -> bool {
    matches!(number.value, Value::Constant(Constant::Int(number)) if number < i128::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_some_bits() {
        let cuts = |body: &str| {
            let text = format!("define void @k(i32 %b, i64 %l, i1 %t, i32 %c) {{\n  {body}\n  ret void\n}}\n");
            cut(&crate::ir::tests::module(&text).functions[0].blocks[0].instructions[0])
        };
        for (body, number) in [
            ("%a = and i32 %b, 255", 0),
            ("%a = srem i32 %b, 256", 0),
            ("%a = trunc nuw nsw i64 %l to i8", 1),
            ("%a = ashr exact i32 %b, 24", 0),
        ] {
            assert_eq!(cuts(body), Some(LocalId(number)), "{body}");
        }
        for body in [
            "%a = and i32 %b, %c",
            "%a = trunc i64 %l to i32",
            "%a = add i32 %b, 1",
            "%a = and i1 %t, 1",
            "%a = ashr i64 %l, 24",
            "fence acquire",
        ] {
            assert_eq!(cuts(body), None, "{body}");
        }
    }
}
