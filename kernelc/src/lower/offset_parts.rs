//! Splits the offset of an address into parts, of which one becomes a constant when the driver unrolls loops.
//!
//! In a loop over the elements of a block, as in `data[block * 4 + i]`, the driver can use one register for the addresses of all elements,
//! and constant offsets from it. `narrow_offsets` computes the offset of an address in 32 bits, and extends it to 64 bits. The driver
//! cannot take the constant out of the extended sum, because the 32-bit sum may wrap. So each part of the sum is extended separately.
//!
//! This is correct if no part is negative: each part is then at most their sum, which is below 2^32.

use super::addresses::Steps;
use crate::ir::{BinaryOp, CastOp, Constant, Flags, Function, Instruction, LocalId, Op, Operand, Type, Value};
use std::collections::HashSet;

/// The maximum depth of sums and products in an index.
const MAX_DEPTH: u32 = 4;
/// The maximum number of terms of an offset.
const MAX_TERMS: usize = 8;
/// The maximum number of bytes that a term counts. So the sum of all terms has at most 64 bits.
const MAX_BYTES: u64 = 1 << 24;
/// The maximum number of values from which a counted value is calculated.
const MAX_VALUES: usize = 64;

/// A part of an offset: a 32-bit number without a sign, and the number of bytes that it counts.
#[derive(Clone)]
pub(super) struct Term {
    pub(super) value: Operand,
    pub(super) bytes: u64,
}

/// The parts of the offset of a pointer from a captured pointer.
#[derive(Clone, Default)]
pub(super) struct OffsetParts {
    /// The terms that become constant when loops are unrolled.
    pub(super) counted: Vec<Term>,
    pub(super) others: Vec<Term>,
    /// The constant part, in bytes.
    pub(super) constant: u64,
}

impl OffsetParts {
    /// These parts and those of `steps`; `None` if a part of `steps` may be negative, or if there are too many parts.
    pub(super) fn plus(&self, counters: &Counters<'_>, steps: &Steps<'_>) -> Option<Self> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(u64::try_from(steps.offset).ok()?)?;
        for &(index, bytes) in &steps.by {
            let Op::Cast { op: CastOp::ZExt, value, .. } = counters.definition(&index.value)? else { return None };
            (value.ty == Type::Int(32)).then_some(())?;
            sum.add(counters, value, bytes, MAX_DEPTH)?;
        }
        Some(sum)
    }

    fn add(&mut self, counters: &Counters<'_>, value: &Operand, bytes: u64, depth: u32) -> Option<()> {
        if let Value::Constant(Constant::Int(number)) = value.value {
            self.constant = self.constant.checked_add(u64::from(number as u32).checked_mul(bytes)?)?;
            return Some(());
        }
        if let Some(Op::Binary { op, left, right, flags: Flags { nuw: true, .. } }) =
            counters.definition(&value.value).filter(|_| depth > 0)
        {
            let factor = match (op, &right.value) {
                (BinaryOp::Add, _) => {
                    self.add(counters, left, bytes, depth - 1)?;
                    return self.add(counters, right, bytes, depth - 1);
                }
                (BinaryOp::Mul, Value::Constant(Constant::Int(by))) => Some(u64::from(*by as u32)),
                (BinaryOp::Shl, Value::Constant(Constant::Int(by @ 0..=31))) => Some(1 << by),
                _ => None,
            };
            if let Some(factor) = factor {
                return self.add(counters, left, bytes.checked_mul(factor)?, depth - 1);
            }
        }
        if bytes > MAX_BYTES || self.counted.len() + self.others.len() == MAX_TERMS {
            return None;
        }
        let part = if counters.are_in(&value.value) { &mut self.counted } else { &mut self.others };
        part.push(Term { value: value.clone(), bytes });
        Some(())
    }
}

/// The values of a kernel that are calculated from constants and from the counters of loops with constant bounds.
pub(super) struct Counters<'m> {
    definitions: Vec<Option<&'m Instruction>>,
    /// The values that are compared with constants.
    bounded: HashSet<LocalId>,
    /// The values that are compared with others.
    unbounded: HashSet<LocalId>,
}

impl<'m> Counters<'m> {
    pub(super) fn of(function: &'m Function) -> Self {
        let mut counters =
            Self { definitions: function.definitions(), bounded: HashSet::new(), unbounded: HashSet::new() };
        for instruction in function.instructions() {
            let Op::ICmp { left, right, .. } = &instruction.op else { continue };
            for (one, other) in [(left, right), (right, left)] {
                let Some(local) = one.value.local() else { continue };
                let is_bound = matches!(other.value, Value::Constant(_));
                (if is_bound { &mut counters.bounded } else { &mut counters.unbounded }).insert(local);
            }
        }
        counters
    }

    fn definition(&self, value: &Value) -> Option<&'m Op> {
        self.definitions[value.local()?.0].map(|made| &made.op)
    }

    /// True if `value` is calculated from constants and counters, with at least one counter.
    fn are_in(&self, value: &Value) -> bool {
        let (mut stack, mut seen) = (vec![value], HashSet::new());
        while let Some(value) = stack.pop() {
            if !value.local().is_some_and(|local| seen.insert(local)) {
                continue;
            }
            match self.definition(value).filter(|_| seen.len() <= MAX_VALUES) {
                Some(op @ (Op::Phi { .. } | Op::Binary { .. } | Op::Cast { .. })) => stack.extend(op.operands()),
                _ => return false,
            }
        }
        seen.is_disjoint(&self.unbounded) && !seen.is_disjoint(&self.bounded)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LOADS, compile_form, count};
    use rspirv::spirv::Op;

    /// The number of conversions of a kernel whose loop writes the element `%e`.
    fn conversions(rolled: bool, element: &str, bound: &str) -> usize {
        let body = format!(
            "{LOADS}  %n = call i32 @__revamp_global_id(i32 0)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
{element}  %w = zext i32 %e to i64
  %p = getelementptr inbounds float, ptr addrspace(4) %a, i64 %w
  store float 1.0, ptr addrspace(4) %p, align 4
  %j = add nuw i32 %i, 1
  %c = icmp ult i32 %j, {bound}
  br i1 %c, label %loop, label %end
end:
  ret void"
        );
        count(&compile_form(&body, rolled), Op::UConvert)
    }

    #[test]
    fn the_part_of_a_counter_is_extended_alone() {
        let sum = "  %e = add nuw i32 %n, %i\n";
        // The 64-bit address has one conversion, and each part of the narrow address has another.
        assert_eq!(conversions(true, sum, "4"), 3);
        assert_eq!(conversions(false, sum, "4"), 2, "the kernel compiler unrolls");
        assert_eq!(conversions(true, sum, "%n"), 2, "the trip count is unknown");
        let scaled = "  %x = add nuw i32 %n, 3\n  %y = add nuw i32 %x, %i\n  %e = shl nuw i32 %y, 1\n";
        assert_eq!(conversions(true, scaled, "4"), 3);
    }

    #[test]
    fn other_sums_are_extended_as_a_whole() {
        assert_eq!(conversions(true, "  %e = add nsw i32 %n, %i\n", "4"), 2, "the sum may wrap");
        assert_eq!(conversions(true, "  %e = sub nuw i32 %n, %i\n", "4"), 2);
        assert_eq!(conversions(true, "  %e = mul nuw i32 %i, 2\n", "4"), 2, "there is only one part");
        assert_eq!(conversions(true, "  %x = mul nuw i32 %n, %i\n  %e = add nuw i32 %x, %n\n", "4"), 2);
    }
}
