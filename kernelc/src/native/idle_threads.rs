//! Finds a bound beyond which a tile's threads have nothing to do in a region, as in `if (local < half)`. The loop over the threads then
//! ends at the bound.

use super::analysis::Kernel;
use super::calls::{find_in_constant, is_expression, is_harmless_call, is_speculatable, locals, position};
use super::variables::Access;
use crate::device_abi::Position;
use crate::ir::{CastOp, Constant, Instruction, IntPredicate, LocalId, Op, Operand, Type, Value};
use std::collections::{BTreeSet, HashMap};

/// The maximum depth of the search through operands.
const MAX_STEPS: usize = 16;

/// A bound of a region: threads whose position in x is beyond a value do nothing.
pub struct Bound {
    /// The instructions that make the value, each after its operands.
    pub chain: Vec<Step>,
    /// The comparison, and the index of its operand that is the value; `None`: only the first thread has work.
    pub value: Option<(LocalId, u32)>,
    /// True if the thread whose position equals the value has work.
    pub inclusive: bool,
    pub signed: bool,
}

/// An instruction that makes a part of a bound, by its result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Instruction(LocalId),
    /// A load of a value that the region has stored before, with the block and index of the store.
    Stored(LocalId, (usize, usize)),
    /// A load of a variable that is kept once, and the variable.
    Kept(LocalId, LocalId),
}

/// A branch on a thread's position in x.
struct Comparison<'k> {
    /// The relation between the position and the value for which the branch takes its first target.
    predicate: IntPredicate,
    made: LocalId,
    value: &'k Operand,
    /// The index of the operand that is the value.
    side: u32,
}

/// The instructions that a thread executes first in a region, with their blocks and indices.
type Passed<'k> = Vec<((usize, usize), &'k Instruction)>;

impl Kernel {
    /// The bound of a region, if there is one. `uniform`: the variables that are kept once.
    pub fn bound(&self, start: usize, uniform: &BTreeSet<LocalId>) -> Option<Bound> {
        let region = self.region(start);
        if region.iter().all(|&n| !self.divergent[n]) && self.is_harmless(&region, start) {
            // The first thread does the work of all threads.
            return Some(Bound { chain: Vec::new(), value: None, inclusive: false, signed: true });
        }
        let mut path = vec![start];
        while let &[next] = self.flow[*path.last()?].next.as_slice() {
            if path.contains(&next) {
                return None;
            }
            path.push(next);
        }
        let at = *path.last()?;
        let block = |&n: &usize| {
            let instructions = self.function.blocks[n].instructions.iter().enumerate();
            instructions.map(move |(at, instruction)| ((n, at), instruction))
        };
        let passed: Passed<'_> = path.iter().flat_map(block).collect();
        let comparison = self.comparison(at)?;
        let &[yes, no] = self.flow[at].next.as_slice() else { return None };
        // Threads are idle either if the condition does not hold, or if it holds.
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

    /// The comparison on which a block's branch depends, if it compares the position in x with another value.
    fn comparison(&self, block: usize) -> Option<Comparison<'_>> {
        let Op::CondBr { condition, .. } = &self.function.blocks[block].instructions.last()?.op else { return None };
        let made = condition.value.local()?;
        let Op::ICmp { predicate, left, right } = &self.definition(made)?.op else { return None };
        if !matches!(left.ty, Type::Int(32 | 64)) {
            return None;
        }
        let (predicate, value, side) = match (self.is_local_x(&left.value, 0), self.is_local_x(&right.value, 0)) {
            (true, false) => (*predicate, right, 1),
            (false, true) => (swapped(*predicate), left, 0),
            _ => return None,
        };
        Some(Comparison { predicate, made, value, side })
    }

    /// True if a value is the thread's position in x within its tile, possibly extended to more bits.
    fn is_local_x(&self, value: &Value, depth: usize) -> bool {
        let made = value.local().and_then(|name| self.definition(name));
        let Some(instruction) = made.filter(|_| depth < MAX_STEPS) else { return false };
        match &instruction.op {
            Op::Call { .. } => position(&self.code, instruction) == Some((Position::Local, Some(0))),
            Op::Cast { op: CastOp::SExt | CastOp::ZExt, value, .. } => self.is_local_x(&value.value, depth + 1),
            Op::Load { .. } => {
                self.read(instruction).and_then(Self::single).is_some_and(|value| self.is_local_x(value, depth + 1))
            }
            _ => false,
        }
    }

    /// In loops with barriers, ends regions before each branch after which only threads up to a bound have work.
    pub fn cut_before_bounds(&mut self) {
        let starts = self.starts();
        let uniform_variables =
            self.variables.iter().filter(|(_, v)| v.plain && !v.varies && v.rematerialised.is_none());
        let uniform: BTreeSet<LocalId> = uniform_variables.map(|(name, _)| *name).collect();
        let cut_points: Vec<usize> = (0..self.flow.len())
            .filter(|n| !starts.contains(n) && !self.divergent_blocks.contains(n) && self.flow[*n].next.len() == 2)
            .filter(|&n| self.comparison(n).is_some() && self.is_repeated(n))
            .filter(|&n| !self.may_diverge(n) && self.bound(n, &uniform).is_some())
            .collect();
        for header in cut_points {
            self.cut_before(header);
        }
    }

    /// True if a block is in a loop with barriers.
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

    /// True if the first thread can execute these blocks of a region for all threads.
    fn is_harmless(&self, blocks: &BTreeSet<usize>, start: usize) -> bool {
        let exits = self.exits(start);
        let live = |name: &LocalId| exits.iter().flatten().any(|&exit| self.live[exit].contains(name));
        let harmless = |instruction: &Instruction| match (Access::of(instruction), &instruction.op) {
            (Some(access), Op::Store { .. }) => access
                .address
                .local()
                .and_then(|name| Some((name, self.variables.get(&name)?)))
                .is_some_and(|(name, v)| v.plain && (!v.varies || v.rematerialised.is_some() || !live(&name))),
            (Some(_), _) => true,
            (None, Op::Call { .. }) => is_harmless_call(&self.code, instruction),
            (None, Op::Br { .. } | Op::CondBr { .. } | Op::Switch { .. } | Op::Ret { .. } | Op::Unreachable) => true,
            (None, op) => is_speculatable(op) || matches!(op, Op::Alloca { .. }),
        };
        self.instructions(blocks).all(harmless)
    }
}

/// Finds the values of a region that are known before it, and the instructions that make them.
struct KnownBefore<'k> {
    kernel: &'k Kernel,
    passed: &'k [((usize, usize), &'k Instruction)],
    uniform: &'k BTreeSet<LocalId>,
    chain: Vec<Step>,
    /// The answers for the values that were examined, so that each is examined once.
    answers: HashMap<LocalId, bool>,
}

impl KnownBefore<'_> {
    /// True if a value is computed from constants and from the uniform variables' values at the beginning of the region. Appends the
    /// instructions that compute the value to the chain. `end`: the number of instructions before the use of the value.
    fn value(&mut self, end: usize, value: &Value, depth: usize) -> bool {
        let Some(name) = value.local() else {
            let address = |constant: &Constant| matches!(constant, Constant::Global(_)).then_some(());
            return !is_expression(value) && find_in_constant(value, &address).is_none();
        };
        if let Some(answer) = self.answers.get(&name) {
            return *answer;
        }
        let made = self.passed[..end].iter().position(|(_, i)| i.result == Some(name));
        let step = made.filter(|_| depth < MAX_STEPS).and_then(|at| self.step(at, name, depth + 1));
        self.chain.extend(step);
        self.answers.insert(name, step.is_some());
        step.is_some()
    }

    /// The step that computes the result of the instruction at an index; `None` if the result is not known before the region.
    fn step(&mut self, at: usize, name: LocalId, depth: usize) -> Option<Step> {
        let instruction = self.passed[at].1;
        if !matches!(instruction.op, Op::Load { .. }) {
            let known = is_speculatable(&instruction.op)
                && locals(instruction).all(|used| self.value(at, &Value::Local(used), depth));
            return known.then_some(Step::Instruction(name));
        }
        let variable = Access::of(instruction)?.address.local()?;
        let stored = self.passed[..at].iter().rev().find_map(|(place, instruction)| {
            let access = Access::of(instruction).filter(|a| a.address.local() == Some(variable))?;
            Some((*place, access.value?))
        });
        let Some((place, value)) = stored else {
            return self.uniform.contains(&variable).then_some(Step::Kept(name, variable));
        };
        let plain = self.kernel.variables.get(&variable).is_some_and(|v| v.plain);
        (plain && self.value(at, value, depth)).then_some(Step::Stored(name, place))
    }
}

/// The predicate that is equivalent after its operands are swapped.
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
