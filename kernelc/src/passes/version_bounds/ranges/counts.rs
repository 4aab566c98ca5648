//! Computes how often the loops of a nest take their back edges.

use super::{Range, Ranges, is_instruction, operands_of};
use crate::ir::IntPredicate;
use crate::llvm::number::{FIRST_INTEGER_PREDICATE, opcode as o, value as k};
use crate::llvm::{Block, Form, Value};

impl<'m> Ranges<'m, '_> {
    /// The range from 0 to the number of times that a loop takes its back edge.
    pub(super) fn count(&mut self, of: usize) -> Option<Range<'m>> {
        if let Some(known) = self.counts.get(&of) {
            return *known;
        }
        self.counts.insert(of, None);
        let made = self.compute_count(of);
        self.counts.insert(of, made);
        made
    }

    fn compute_count(&mut self, of: usize) -> Option<Range<'m>> {
        let one = &self.loops[of];
        let header = *self.block_indices.iter().find(|(_, n)| **n == one.header)?.0;
        let phi = header.first().filter(|first| first.is_phi())?;
        let mut latch = (0..phi.count_incoming()).filter_map(|n| phi.incoming_block(n));
        let latch = latch.rfind(|from| self.block_indices.get(from).is_some_and(|n| one.blocks.contains(n)))?;
        [latch, header].into_iter().find_map(|end| self.count_from_exit(of, end))
    }

    /// Computes the result of [`Self::count`] from the exit at the end of the block `end`. Each iteration passes this
    /// block.
    fn count_from_exit(&mut self, of: usize, end: Block<'m>) -> Option<Range<'m>> {
        let inside = &self.loops[of].blocks;
        let branch = end.terminator().filter(|end| is_instruction(*end, o::BR) && end.is_conditional())?;
        let stays = [0, 1].map(|n| {
            branch.successor(n).and_then(|to| self.block_indices.get(&to)).is_some_and(|n| inside.contains(n))
        });
        let comparison =
            branch.condition().filter(|comparison| stays[0] != stays[1] && is_instruction(*comparison, o::ICMP))?;
        let mut predicate = Predicate::of(comparison)?;
        if stays[1] {
            predicate = predicate.opposite();
        }
        let (left, right) = comparison.operand(0).zip(comparison.operand(1))?;
        let header = self.loops[of].header;
        for (counter, bound, predicate) in
            [(left, right, predicate), (right, left, predicate.with_exchanged_operands())]
        {
            let is_phi = |one: Value<'m>| {
                one.is_phi() && one.block().and_then(|block| self.block_indices.get(&block)) == Some(&header)
            };
            let phi = if is_phi(counter) { Some(counter) } else { self.counter_of(counter, of) };
            let Some((phi, (first, next, step))) = phi.and_then(|phi| Some((phi, self.steps(phi, of)?))) else {
                continue;
            };
            if (counter != phi && counter != next) || !self.is_invariant(bound, &self.loops[of].blocks) {
                continue;
            }
            let step_number = Some(step).filter(|step| step.form() == Form::Other(k::INTEGER))?.sign_extended();
            let (first, bound) = (self.range(first)?, self.range(bound)?);
            let width = phi.ty()?.width();
            let ends = [first, bound].map(|one| self.fit(one, width));
            return self.iterations(predicate, ends, step_number, counter == next, width);
        }
        None
    }

    /// The phi of the loop's header that is an operand of `sum`.
    fn counter_of(&self, sum: Value<'m>, of: usize) -> Option<Value<'m>> {
        let header = self.loops[of].header;
        let (left, right) = operands_of(sum, o::ADD)?;
        [left, right]
            .into_iter()
            .find(|one| one.is_phi() && one.block().and_then(|block| self.block_indices.get(&block)) == Some(&header))
    }

    /// The range of a loop's back-edge count. The counter starts at `first`, and the loop continues while `predicate`
    /// holds between the counter and `bound`. `next`: the comparison is with the counter of the next iteration.
    fn iterations(
        &self,
        predicate: Predicate,
        [first, bound]: [Range<'m>; 2],
        step: i64,
        next: bool,
        width: u32,
    ) -> Option<Range<'m>> {
        let counts_up = step > 0;
        let step_size = step.checked_abs().filter(|step_size| (1..1 << 30).contains(step_size))?;
        // The distance that the counter covers.
        let distance = if counts_up { self.difference(bound, first) } else { self.difference(first, bound) };
        let mut given = distance.given;
        let unsigned =
            matches!(predicate.0, IntPredicate::Ult | IntPredicate::Ule | IntPredicate::Ugt | IntPredicate::Uge);
        if unsigned {
            let [first, bound] = [first, bound].map(|one| self.at_least(one, 0));
            given = self.given(Range { given, ..distance }, [first.given, bound.given]).given;
        }
        let extra_back_edges = i64::from(!next);
        let (exclusive_bound, extra_iterations) = match (predicate.0, counts_up) {
            (IntPredicate::Slt | IntPredicate::Ult, true) | (IntPredicate::Sgt | IntPredicate::Ugt, false) => {
                (1, extra_back_edges)
            }
            (IntPredicate::Sle | IntPredicate::Ule, true) | (IntPredicate::Sge | IntPredicate::Uge, false) => {
                (0, extra_back_edges)
            }
            // A counter with another step may pass the bound. The no-wrap flags do not exclude this, because another exit
            // may end the loop before an overflow.
            (IntPredicate::Ne, _) if step_size == 1 => (0, extra_back_edges - 1),
            _ => return None,
        };
        if predicate.0 == IntPredicate::Ne {
            // The counter must reach the bound without wrapping around.
            let min_distance = if counts_up {
                self.build.binary(o::SUB, bound.low, first.high, "")
            } else {
                self.build.binary(o::SUB, first.low, bound.high, "")
            };
            let reaches_bound =
                self.compare(IntPredicate::Sge, min_distance, self.number(if next { step_size } else { 0 }));
            given = self.given(Range { given, ..distance }, [Some(reaches_bound), None]).given;
        } else if step_size != 1 || exclusive_bound == 0 {
            given = self
                .given(Range { given, ..distance }, [self.no_wrap_condition(bound, step, width, unsigned), None])
                .given;
        }
        if next {
            given = self
                .given(Range { given, ..distance }, [self.no_wrap_condition(first, step, width, unsigned), None])
                .given;
        }
        let number = self.build.binary(o::SUB, distance.high, self.number(exclusive_bound), "");
        // If the first iteration takes the exit, the count is 0.
        let has_back_edges = self.compare(IntPredicate::Sge, number, self.number(0));
        let quotient =
            if step_size == 1 { number } else { self.build.binary(o::SDIV, number, self.number(step_size), "") };
        // If the comparison precedes the step, the loop takes its back edge once more.
        let count = self.build.binary(o::ADD, quotient, self.number(extra_iterations), "");
        let count = self.build.select(has_back_edges, self.most(count, self.number(0)), self.number(0), "");
        Some(self.up_to(count, distance.bits + 1, given))
    }

    /// The condition that a counter does not wrap in the step after `from`; `None` if it never wraps.
    fn no_wrap_condition(&self, from: Range<'m>, step: i64, width: u32, unsigned: bool) -> Option<Value<'m>> {
        let after = self.fit(self.sum(from, self.constant(step)), width);
        if unsigned && step < 0 { self.at_least(after, 0).given } else { after.given }
    }
}

/// The predicate of an integer comparison.
#[derive(Clone, Copy)]
struct Predicate(IntPredicate);

impl Predicate {
    /// In LLVM's order: each predicate, its opposite, and the predicate for the operands in the opposite order.
    const ALL: [(IntPredicate, IntPredicate, IntPredicate); 10] = [
        (IntPredicate::Eq, IntPredicate::Ne, IntPredicate::Eq),
        (IntPredicate::Ne, IntPredicate::Eq, IntPredicate::Ne),
        (IntPredicate::Ugt, IntPredicate::Ule, IntPredicate::Ult),
        (IntPredicate::Uge, IntPredicate::Ult, IntPredicate::Ule),
        (IntPredicate::Ult, IntPredicate::Uge, IntPredicate::Ugt),
        (IntPredicate::Ule, IntPredicate::Ugt, IntPredicate::Uge),
        (IntPredicate::Sgt, IntPredicate::Sle, IntPredicate::Slt),
        (IntPredicate::Sge, IntPredicate::Slt, IntPredicate::Sle),
        (IntPredicate::Slt, IntPredicate::Sge, IntPredicate::Sgt),
        (IntPredicate::Sle, IntPredicate::Sgt, IntPredicate::Sge),
    ];

    fn of(compared: Value<'_>) -> Option<Self> {
        let number = usize::try_from(compared.integer_predicate() - FIRST_INTEGER_PREDICATE).ok()?;
        Self::ALL.get(number).map(|row| Self(row.0))
    }

    /// The predicate that holds where this one does not.
    fn opposite(self) -> Self {
        Self(Self::ALL[self.0 as usize].1)
    }

    /// The predicate for the operands in the opposite order.
    fn with_exchanged_operands(self) -> Self {
        Self(Self::ALL[self.0 as usize].2)
    }
}
