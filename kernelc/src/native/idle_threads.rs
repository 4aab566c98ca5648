//! Which of a tile's threads have nothing to do in a region: those beyond a bound, in `if (local < half)`. The loop over the
//! threads then ends there.

use super::analysis::Kernel;
use super::calls::{is_expression, is_harmless_call, is_simple, locals, mentioned, position};
use super::variables::Access;
use crate::device_abi::Position;
use crate::ir::{CastOp, Constant, Instruction, IntPredicate, LocalId, Op, Operand, Type, Value};
use std::collections::{BTreeSet, HashMap};

/// Values are followed so far.
const MOST_STEPS: usize = 16;

/// The threads whose place in x is beyond a value do nothing.
pub struct Bound {
    /// The instructions that make the value, each behind what it uses.
    pub chain: Vec<Step>,
    /// The comparison and which of its operands is the value; without one only the first thread has something to do.
    pub value: Option<(LocalId, u32)>,
    /// A thread at the value itself has something to do.
    pub inclusive: bool,
    pub signed: bool,
}

/// An instruction that makes a part of a bound, by its result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Instruction(LocalId),
    /// A load of what the region has stored before: the block and the place of the store.
    Stored(LocalId, (usize, usize)),
    /// A load of a variable that is kept once.
    Kept(LocalId, LocalId),
}

/// A branch on a thread's place in x.
struct Comparison<'k> {
    /// What holds of the place and the value where the branch goes to the first of its targets.
    predicate: IntPredicate,
    made: LocalId,
    value: &'k Operand,
    /// Which operand the value is.
    side: u32,
}

/// The instructions that a thread passes first in a region, with their blocks and places.
type Passed<'k> = Vec<((usize, usize), &'k Instruction)>;

impl Kernel {
    /// The bound of a region, if there is one. `uniform`: the variables that are kept once.
    pub fn bound(&self, start: usize, uniform: &BTreeSet<LocalId>) -> Option<Bound> {
        let region = self.region(start);
        if region.iter().all(|&n| !self.divergent[n]) && self.is_harmless(&region, start) {
            // The first thread does all there is to do.
            return Some(Bound { chain: Vec::new(), value: None, inclusive: false, signed: true });
        }
        let mut way = vec![start];
        while let &[next] = self.flow[*way.last()?].next.as_slice() {
            if way.contains(&next) {
                return None;
            }
            way.push(next);
        }
        let at = *way.last()?;
        let block = |&n: &usize| {
            let instructions = self.function.blocks[n].instructions.iter().enumerate();
            instructions.map(move |(at, one)| ((n, at), one))
        };
        let passed: Passed<'_> = way.iter().flat_map(block).collect();
        let comparison = self.comparison(at)?;
        let &[yes, no] = self.flow[at].next.as_slice() else { return None };
        // Where the condition holds there is work; or where it does not.
        let sides = [(comparison.predicate, no), (opposite(comparison.predicate), yes)];
        sides.into_iter().find_map(|(predicate, idle)| {
            use IntPredicate as I;
            let (inclusive, signed) = match predicate {
                I::Slt => (false, true),
                I::Sle => (true, true),
                I::Ult => (false, false),
                I::Ule | I::Eq => (true, false),
                _ => return None,
            };
            let mut seen = BTreeSet::new();
            let mut open = vec![start, idle];
            while let Some(n) = open.pop() {
                if seen.insert(n) && n != at {
                    open.extend(&self.flow[n].next);
                }
            }
            if seen.iter().any(|&n| n != at && self.divergent[n]) || !self.is_harmless(&seen, start) {
                return None;
            }
            let mut known =
                KnownBefore { kernel: self, passed: &passed, uniform, chain: Vec::new(), answers: HashMap::new() };
            let (is_known, chain) = (known.value(passed.len(), &comparison.value.value, 0), known.chain);
            is_known.then_some(Bound { chain, value: Some((comparison.made, comparison.side)), inclusive, signed })
        })
    }

    /// The comparison of the place in x with another value that a block's branch depends on.
    fn comparison(&self, block: usize) -> Option<Comparison<'_>> {
        let Op::CondBr { condition, .. } = &self.function.blocks[block].instructions.last()?.op else { return None };
        let made = condition.value.local()?;
        let Op::ICmp { predicate, left, right } = &self.made(made)?.op else { return None };
        if !matches!(left.ty, Type::Int(32 | 64)) {
            return None;
        }
        let (predicate, value, side) = match (self.is_place(&left.value, 0), self.is_place(&right.value, 0)) {
            (true, false) => (*predicate, right, 1),
            (false, true) => (swapped(*predicate), left, 0),
            _ => return None,
        };
        Some(Comparison { predicate, made, value, side })
    }

    /// A value is the thread's place in x within its tile, perhaps in more bits.
    fn is_place(&self, value: &Value, depth: usize) -> bool {
        let made = value.local().and_then(|name| self.made(name));
        let Some(one) = made.filter(|_| depth < MOST_STEPS) else { return false };
        match &one.op {
            Op::Call { .. } => position(&self.code, one) == Some((Position::Local, Some(0))),
            Op::Cast { op: CastOp::SExt | CastOp::ZExt, value, .. } => self.is_place(&value.value, depth + 1),
            Op::Load { .. } => {
                self.read(one).and_then(Self::single).is_some_and(|value| self.is_place(value, depth + 1))
            }
            _ => false,
        }
    }

    /// Cuts loops with barriers before a branch that only some threads, up to a bound, do something behind.
    pub fn cut_before_bounds(&mut self) {
        let starts = self.starts();
        let kept = self.variables.iter().filter(|(_, v)| v.plain && !v.varies && v.rematerialised.is_none());
        let uniform: BTreeSet<LocalId> = kept.map(|(name, _)| *name).collect();
        let wanted: Vec<usize> = (0..self.flow.len())
            .filter(|n| !starts.contains(n) && !self.parted.contains(n) && self.flow[*n].next.len() == 2)
            .filter(|&n| self.comparison(n).is_some() && self.is_repeated(n))
            .filter(|&n| !self.may_part(n) && self.bound(n, &uniform).is_some())
            .collect();
        for header in wanted {
            self.cut_before(header);
        }
    }

    /// A block is in a loop with barriers.
    fn is_repeated(&self, block: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<usize> = self.exits(block).into_iter().flatten().collect();
        while let Some(at) = open.pop() {
            if at == block {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.flow[at].next.iter().chain(&self.flow[at].barrier));
            }
        }
        false
    }

    /// What these blocks of a region do the first thread does for all.
    fn is_harmless(&self, blocks: &BTreeSet<usize>, start: usize) -> bool {
        let exits = self.exits(start);
        let live = |name: &LocalId| exits.iter().flatten().any(|&exit| self.live[exit].contains(name));
        let harmless = |one: &Instruction| match (Access::of(one), &one.op) {
            (Some(access), Op::Store { .. }) => access
                .address
                .local()
                .and_then(|name| Some((name, self.variables.get(&name)?)))
                .is_some_and(|(name, v)| v.plain && (!v.varies || v.rematerialised.is_some() || !live(&name))),
            (Some(_), _) => true,
            (None, Op::Call { .. }) => is_harmless_call(&self.code, one),
            (None, Op::Br { .. } | Op::CondBr { .. } | Op::Switch { .. } | Op::Ret { .. } | Op::Unreachable) => true,
            (None, op) => is_simple(op) || matches!(op, Op::Alloca { .. }),
        };
        self.instructions(blocks).all(harmless)
    }
}

/// Which values of a region are known before it, with the instructions that make them.
struct KnownBefore<'k> {
    kernel: &'k Kernel,
    passed: &'k [((usize, usize), &'k Instruction)],
    uniform: &'k BTreeSet<LocalId>,
    chain: Vec<Step>,
    /// The answer for each value that was looked at: each is looked at once.
    answers: HashMap<LocalId, bool>,
}

impl KnownBefore<'_> {
    /// Whether a value is made of numbers and of uniform variables as they are at the begin of the region. The chain gets what makes it. `end`: how many
    /// instructions are before.
    fn value(&mut self, end: usize, value: &Value, depth: usize) -> bool {
        let Some(name) = value.local() else {
            let address = |constant: &Constant| matches!(constant, Constant::Global(_)).then_some(());
            return !is_expression(value) && mentioned(value, &address).is_none();
        };
        if let Some(answer) = self.answers.get(&name) {
            return *answer;
        }
        let made = self.passed[..end].iter().position(|(_, i)| i.result == Some(name));
        let step = made.filter(|_| depth < MOST_STEPS).and_then(|at| self.step(at, name, depth + 1));
        self.chain.extend(step);
        self.answers.insert(name, step.is_some());
        step.is_some()
    }

    /// What makes the value of the instruction at a place.
    fn step(&mut self, at: usize, name: LocalId, depth: usize) -> Option<Step> {
        let one = self.passed[at].1;
        if !matches!(one.op, Op::Load { .. }) {
            let known = is_simple(&one.op) && locals(one).all(|used| self.value(at, &Value::Local(used), depth));
            return known.then_some(Step::Instruction(name));
        }
        let variable = Access::of(one)?.address.local()?;
        let stored = self.passed[..at].iter().rev().find_map(|(place, one)| {
            let access = Access::of(one).filter(|a| a.address.local() == Some(variable))?;
            Some((*place, access.value?))
        });
        let Some((place, value)) = stored else {
            return self.uniform.contains(&variable).then_some(Step::Kept(name, variable));
        };
        let plain = self.kernel.variables.get(&variable).is_some_and(|v| v.plain);
        (plain && self.value(at, value, depth)).then_some(Step::Stored(name, place))
    }
}

/// What holds of a comparison's sides when they are changed.
fn swapped(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate as I;
    match predicate {
        I::Eq | I::Ne => predicate,
        I::Slt => I::Sgt,
        I::Sle => I::Sge,
        I::Sgt => I::Slt,
        I::Sge => I::Sle,
        I::Ult => I::Ugt,
        I::Ule => I::Uge,
        I::Ugt => I::Ult,
        I::Uge => I::Ule,
    }
}

fn opposite(predicate: IntPredicate) -> IntPredicate {
    use IntPredicate as I;
    match predicate {
        I::Eq => I::Ne,
        I::Ne => I::Eq,
        I::Slt => I::Sge,
        I::Sle => I::Sgt,
        I::Sgt => I::Sle,
        I::Sge => I::Slt,
        I::Ult => I::Uge,
        I::Ule => I::Ugt,
        I::Ugt => I::Ule,
        I::Uge => I::Ult,
    }
}
