//! How often loops begin again.

use super::{Range, Ranges, is, sides};
use crate::ir::IntPredicate;
use crate::llvm::number::{FIRST_INTEGER_PREDICATE, opcode as o, value as k};
use crate::llvm::{Block, Form, Value};

impl<'m> Ranges<'m, '_> {
    /// From 0 to the number of times that a loop begins again.
    pub(super) fn count(&mut self, of: usize) -> Option<Range<'m>> {
        if let Some(known) = self.counts.get(&of) {
            return *known;
        }
        self.counts.insert(of, None);
        let made = self.counted(of);
        self.counts.insert(of, made);
        made
    }

    fn counted(&mut self, of: usize) -> Option<Range<'m>> {
        let one = &self.loops[of];
        let header = *self.places.iter().find(|(_, n)| **n == one.header)?.0;
        let phi = header.first().filter(|first| first.is_phi())?;
        let mut latch = (0..phi.count_incoming()).filter_map(|n| phi.incoming_block(n));
        let latch = latch.rfind(|from| self.places.get(from).is_some_and(|n| one.blocks.contains(n)))?;
        [latch, header].into_iter().find_map(|end| self.counted_by(of, end))
    }

    /// By the exit at the end of a block that each iteration passes.
    fn counted_by(&mut self, of: usize, end: Block<'m>) -> Option<Range<'m>> {
        let inside = &self.loops[of].blocks;
        let branch = end.terminator().filter(|end| is(*end, o::BR) && end.is_conditional())?;
        let stays =
            [0, 1].map(|n| branch.successor(n).and_then(|to| self.places.get(&to)).is_some_and(|n| inside.contains(n)));
        let asked = branch.condition().filter(|asked| stays[0] != stays[1] && is(*asked, o::ICMP))?;
        let mut predicate = Predicate::of(asked)?;
        if stays[1] {
            predicate = predicate.opposite();
        }
        let (left, right) = asked.operand(0).zip(asked.operand(1))?;
        let header = self.loops[of].header;
        for (counter, bound, predicate) in [(left, right, predicate), (right, left, predicate.exchanged())] {
            let is_phi =
                |one: Value<'m>| one.is_phi() && one.block().and_then(|block| self.places.get(&block)) == Some(&header);
            let phi = if is_phi(counter) { Some(counter) } else { self.counter_of(counter, of) };
            let Some((phi, (first, next, step))) = phi.and_then(|phi| Some((phi, self.steps(phi, of)?))) else {
                continue;
            };
            if (counter != phi && counter != next) || !self.is_before(bound, &self.loops[of].blocks) {
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

    /// The phi that a sum adds to.
    fn counter_of(&self, sum: Value<'m>, of: usize) -> Option<Value<'m>> {
        let header = self.loops[of].header;
        let (left, right) = sides(sum, o::ADD)?;
        [left, right]
            .into_iter()
            .find(|one| one.is_phi() && one.block().and_then(|block| self.places.get(&block)) == Some(&header))
    }

    /// How often a loop begins again whose counter goes from one number while it compares so with another one. `next`: the counter of the next
    /// iteration is compared.
    fn iterations(
        &self,
        predicate: Predicate,
        [first, bound]: [Range<'m>; 2],
        step: i64,
        next: bool,
        width: u32,
    ) -> Option<Range<'m>> {
        let up = step > 0;
        let by = step.checked_abs().filter(|by| (1..1 << 30).contains(by))?;
        // The largest distance between both.
        let distance = if up { self.difference(bound, first) } else { self.difference(first, bound) };
        let mut given = distance.given;
        let unsigned =
            matches!(predicate.0, IntPredicate::Ult | IntPredicate::Ule | IntPredicate::Ugt | IntPredicate::Uge);
        if unsigned {
            let [first, bound] = [first, bound].map(|one| self.at_least(one, 0));
            given = self.given(Range { given, ..distance }, [first.given, bound.given]).given;
        }
        let extra = i64::from(!next);
        let (farthest, divided) = match (predicate.0, up) {
            (IntPredicate::Slt | IntPredicate::Ult, true) | (IntPredicate::Sgt | IntPredicate::Ugt, false) => {
                (1, extra)
            }
            (IntPredicate::Sle | IntPredicate::Ule, true) | (IntPredicate::Sge | IntPredicate::Uge, false) => {
                (0, extra)
            }
            // By another step the counter may pass the bound, and flags only say that it does not overflow before another exit ends the loop.
            (IntPredicate::Ne, _) if by == 1 => (0, extra - 1),
            _ => return None,
        };
        if predicate.0 == IntPredicate::Ne {
            // It arrives there, and does not go around.
            let least = if up {
                self.build.binary(o::SUB, bound.low, first.high, "")
            } else {
                self.build.binary(o::SUB, first.low, bound.high, "")
            };
            let arrives = self.compare(IntPredicate::Sge, least, self.number(if next { by } else { 0 }));
            given = self.given(Range { given, ..distance }, [Some(arrives), None]).given;
        } else if by != 1 || farthest == 0 {
            given = self.given(Range { given, ..distance }, [self.stepped(bound, step, width, unsigned), None]).given;
        }
        if next {
            given = self.given(Range { given, ..distance }, [self.stepped(first, step, width, unsigned), None]).given;
        }
        let number = self.build.binary(o::SUB, distance.high, self.number(farthest), "");
        // The exit may be taken in the first iteration.
        let some = self.compare(IntPredicate::Sge, number, self.number(0));
        let quotient = if by == 1 { number } else { self.build.binary(o::SDIV, number, self.number(by), "") };
        // Compared before the step, the loop begins again once more.
        let count = self.build.binary(o::ADD, quotient, self.number(divided), "");
        let count = self.build.select(some, self.most(count, self.number(0)), self.number(0), "");
        Some(self.up_to(count, distance.bits + 1, given))
    }

    /// The condition that a counter does not wrap in the step after `from`; `None`: it never does.
    fn stepped(&self, from: Range<'m>, step: i64, width: u32, unsigned: bool) -> Option<Value<'m>> {
        let after = self.fit(self.sum(from, self.constant(step)), width);
        if unsigned && step < 0 { self.at_least(after, 0).given } else { after.given }
    }
}

/// Of a comparison of integers.
#[derive(Clone, Copy)]
struct Predicate(IntPredicate);

impl Predicate {
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

    /// What holds where this does not.
    fn opposite(self) -> Self {
        Self(Self::ALL[self.0 as usize].1)
    }

    /// The same of the sides in the other order.
    fn exchanged(self) -> Self {
        Self(Self::ALL[self.0 as usize].2)
    }
}
