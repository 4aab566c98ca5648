//! Facts about a kernel's values across the threads of a tile, and the rules that derive a result's fact from the facts of its operands.

use crate::ir::{BinaryOp, CastOp, IntPredicate};
use std::rc::Rc;

/// How uniform a value is across the threads of a tile, from most to least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// The value is the same for all threads.
    Uniform,
    /// The value is the same for all threads, unless a thread meanwhile writes the memory from which the value is loaded.
    Shared,
    /// The value may differ between threads.
    MayDiffer,
    /// The value differs, because it depends on the thread's position in the tile.
    Differs,
}

/// A value for each thread of a tile.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lanes {
    /// Indexed by the number of the thread.
    pub(super) values: Rc<[i64]>,
    /// An unknown multiple of this number, the same for all threads, is added to each value. `None`: nothing is added.
    pub(super) plus: Option<u64>,
}

/// The knowledge about a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fact {
    /// The analysis has not reached the value yet.
    Unseen,
    Constant(i64),
    /// Uniform, and a multiple of this number.
    Uniform(u64),
    Lanes(Lanes),
    Level(Level),
}

impl Fact {
    pub(super) fn level(&self) -> Level {
        match self {
            Fact::Unseen | Fact::Constant(_) | Fact::Uniform(_) => Level::Uniform,
            Fact::Lanes(_) => Level::Differs,
            Fact::Level(level) => *level,
        }
    }

    pub(super) fn lanes(values: Vec<i64>, plus: Option<u64>) -> Fact {
        match (values.first().copied(), plus) {
            (Some(first), None) if values.iter().all(|v| *v == first) => Fact::Constant(first),
            (Some(first), Some(multiple)) if values.iter().all(|v| *v == first) => {
                Fact::Uniform(greatest_common_divisor(multiple, first.unsigned_abs()))
            }
            _ => Fact::Lanes(Lanes { values: values.into(), plus }),
        }
    }

    /// A number of which the value is a multiple, if the value is uniform.
    fn multiple(&self) -> Option<u64> {
        match self {
            Fact::Constant(value) => Some(value.unsigned_abs()),
            Fact::Uniform(multiple) => Some(*multiple),
            Fact::Level(Level::Uniform | Level::Shared) => Some(1),
            _ => None,
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The low `bits` bits of a number, sign-extended.
pub(super) fn wrapped(value: i128, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    // Only the low bits count.
    ((value as u64) << shift) as i64 >> shift
}

fn zero_extended(value: i64, bits: u32) -> u64 {
    let shift = 64 - bits.clamp(1, 64);
    (value as u64) << shift >> shift
}

/// The fact for the result of an operation that the analysis does not model, from the facts of its operands.
pub(super) fn mixed(facts: &[Fact]) -> Fact {
    if facts.contains(&Fact::Unseen) {
        return Fact::Unseen;
    }
    match facts.iter().map(Fact::level).max().unwrap_or(Level::Uniform) {
        Level::Uniform => Fact::Uniform(1),
        Level::Shared => Fact::Level(Level::Shared),
        _ => Fact::Level(Level::MayDiffer),
    }
}

pub(super) fn times(fact: &Fact, size: Option<u64>) -> Fact {
    match size.and_then(|size| i64::try_from(size).ok()) {
        Some(size) => binary(BinaryOp::Mul, false, fact, &Fact::Constant(size), 64),
        None => mixed(std::slice::from_ref(fact)),
    }
}

/// The fact for a value that is one of two values, the same one for all threads.
pub(super) fn joined(a: &Fact, b: &Fact) -> Fact {
    if a == b {
        return a.clone();
    }
    if let (Fact::Lanes(x), Fact::Lanes(y)) = (a, b) {
        let difference = y.values[0].wrapping_sub(x.values[0]);
        if x.values.iter().zip(y.values.iter()).all(|(x, y)| y.wrapping_sub(*x) == difference) {
            let multiple = greatest_common_divisor(x.plus.unwrap_or(0), y.plus.unwrap_or(0));
            let multiple = greatest_common_divisor(multiple, difference.unsigned_abs());
            return Fact::Lanes(Lanes { values: x.values.clone(), plus: Some(multiple) });
        }
        return Fact::Level(Level::MayDiffer);
    }
    match (a.multiple(), b.multiple()) {
        (Some(x), Some(y)) => match a.level().max(b.level()) {
            Level::Uniform => Fact::Uniform(greatest_common_divisor(x, y)),
            level => Fact::Level(level),
        },
        _ if a.level() == Level::Differs && b.level() == Level::Differs => Fact::Level(Level::MayDiffer),
        _ => Fact::Level(a.level().max(b.level()).min(Level::MayDiffer)),
    }
}

pub(super) fn select(condition: &Fact, yes: Fact, no: Fact) -> Fact {
    if [condition, &yes, &no].contains(&&Fact::Unseen) {
        return Fact::Unseen;
    }
    match condition {
        Fact::Constant(0) => no,
        Fact::Constant(_) => yes,
        _ if yes == no && matches!(yes, Fact::Constant(_)) => yes,
        Fact::Lanes(Lanes { values, plus: None }) => {
            match (per_thread_values(&yes, values.len()), per_thread_values(&no, values.len())) {
                (Some(yes), Some(no)) => {
                    let picked =
                        values.iter().zip(yes.iter().zip(&no)).map(|(c, (y, n))| if *c != 0 { *y } else { *n });
                    Fact::lanes(picked.collect(), None)
                }
                // `a && b`, if `a` differs and `b` is uniform.
                _ if are_distinct_uniform(&yes, &no) => Fact::Level(Level::Differs),
                _ => Fact::Level(Level::MayDiffer),
            }
        }
        Fact::Lanes(_) | Fact::Level(Level::Differs) if are_distinct_uniform(&yes, &no) => Fact::Level(Level::Differs),
        Fact::Lanes(_) | Fact::Level(Level::Differs | Level::MayDiffer) => Fact::Level(Level::MayDiffer),
        Fact::Level(Level::Shared) => match joined(&yes, &no) {
            fact if fact.level() > Level::Shared => fact,
            _ => Fact::Level(Level::Shared),
        },
        // All threads select the same operand: `a && b` differs if `b` does.
        _ => match (&yes, &no) {
            (Fact::Constant(-1..=1), other) | (other, Fact::Constant(-1..=1)) if other.level() == Level::Differs => {
                Fact::Level(Level::Differs)
            }
            _ => joined(&yes, &no),
        },
    }
}

/// True if the values are different, one of them is a constant, and the other is a constant or uniform.
fn are_distinct_uniform(yes: &Fact, no: &Fact) -> bool {
    yes != no
        && (matches!(yes, Fact::Constant(_)) && no.multiple().is_some()
            || matches!(no, Fact::Constant(_)) && yes.multiple().is_some())
}

/// The value of each thread, if it is known.
fn per_thread_values(fact: &Fact, threads: usize) -> Option<Vec<i64>> {
    match fact {
        Fact::Constant(value) => Some(vec![*value; threads]),
        Fact::Lanes(Lanes { values, plus: None }) => Some(values.to_vec()),
        _ => None,
    }
}

pub(super) fn binary(op: BinaryOp, disjoint: bool, left: &Fact, right: &Fact, bits: u32) -> Fact {
    use BinaryOp::{Add, And, Mul, Or, Shl, Sub, Xor};
    if *left == Fact::Unseen || *right == Fact::Unseen {
        return Fact::Unseen;
    }
    let op = if op == Or && disjoint { Add } else { op };
    if let (Fact::Constant(a), Fact::Constant(b)) = (left, right) {
        return computed(op, *a, *b, bits).map_or(Fact::Uniform(1), Fact::Constant);
    }
    let threads =
        [left, right].iter().find_map(|fact| if let Fact::Lanes(l) = fact { Some(l.values.len()) } else { None });
    if let Some((a, b)) = threads.and_then(|n| per_thread_values(left, n).zip(per_thread_values(right, n))) {
        let each: Option<Vec<i64>> = a.iter().zip(&b).map(|(a, b)| computed(op, *a, *b, bits)).collect();
        return each.map_or(Fact::Level(Level::MayDiffer), |values| Fact::lanes(values, None));
    }
    if bits == 1 && matches!(op, And | Or | Xor) {
        return logic_result(left, right);
    }
    match op {
        Add | Sub => sum(left, right, op == Sub, bits),
        Mul | Shl => {
            let factor = match (left, right) {
                (other, Fact::Constant(c)) if op == Mul => Some((other, *c)),
                (Fact::Constant(c), other) if op == Mul => Some((other, *c)),
                (other, Fact::Constant(c)) if (0..32).contains(c) => Some((other, 1 << c)),
                _ => None,
            };
            match factor {
                Some((Fact::Lanes(lanes), by)) => {
                    let values = lanes.values.iter().map(|v| wrapped(i128::from(*v) * i128::from(by), bits)).collect();
                    Fact::lanes(values, lanes.plus.map(|m| m.wrapping_mul(by.unsigned_abs())))
                }
                Some((Fact::Uniform(multiple), by)) => Fact::Uniform(multiple.wrapping_mul(by.unsigned_abs())),
                _ => match (left, right) {
                    (Fact::Uniform(a), Fact::Uniform(b)) if op == Mul => Fact::Uniform(a.wrapping_mul(*b)),
                    _ => mixed(&[left.clone(), right.clone()]),
                },
            }
        }
        _ => divided(op, left, right).unwrap_or_else(|| mixed(&[left.clone(), right.clone()])),
    }
}

/// The fact for `a && b` and similar operations on conditions. If one operand differs, the result differs for some
/// values of the other operand.
fn logic_result(left: &Fact, right: &Fact) -> Fact {
    match (left.level(), right.level()) {
        (Level::Differs, _) | (_, Level::Differs) => Fact::Level(Level::Differs),
        _ => mixed(&[left.clone(), right.clone()]),
    }
}

fn sum(left: &Fact, right: &Fact, minus: bool, bits: u32) -> Fact {
    let signed = |v: i64| if minus { v.wrapping_neg() } else { v };
    let wrap = |v: i128| wrapped(v, bits);
    match (left, right) {
        (Fact::Lanes(a), Fact::Lanes(b)) => {
            let values =
                a.values.iter().zip(b.values.iter()).map(|(a, b)| wrap(i128::from(*a) + i128::from(signed(*b))));
            let multiple = greatest_common_divisor(a.plus.unwrap_or(0), b.plus.unwrap_or(0));
            Fact::lanes(values.collect(), (a.plus.is_some() || b.plus.is_some()).then_some(multiple))
        }
        (Fact::Lanes(a), Fact::Constant(b)) => {
            Fact::lanes(a.values.iter().map(|a| wrap(i128::from(*a) + i128::from(signed(*b)))).collect(), a.plus)
        }
        (Fact::Constant(a), Fact::Lanes(b)) => {
            Fact::lanes(b.values.iter().map(|b| wrap(i128::from(*a) + i128::from(signed(*b)))).collect(), b.plus)
        }
        (Fact::Lanes(lanes), other) | (other, Fact::Lanes(lanes)) if other.multiple().is_some() => {
            let negative = minus && matches!(right, Fact::Lanes(_));
            let values = lanes.values.iter().map(|v| if negative { wrap(-i128::from(*v)) } else { *v }).collect();
            let multiple = greatest_common_divisor(lanes.plus.unwrap_or(0), other.multiple().unwrap_or(1));
            Fact::lanes(values, Some(multiple))
        }
        _ => match (left.multiple(), right.multiple(), left.level().max(right.level())) {
            (Some(a), Some(b), Level::Uniform) => Fact::Uniform(greatest_common_divisor(a, b)),
            _ => mixed(&[left.clone(), right.clone()]),
        },
    }
}

/// The fact for a quotient or remainder by a constant, if a uniform multiple is added to the dividends.
fn divided(op: BinaryOp, left: &Fact, right: &Fact) -> Option<Fact> {
    use BinaryOp::{AShr, And, LShr, SDiv, SRem, UDiv, URem};
    let (Fact::Lanes(Lanes { values, plus: Some(multiple) }), Fact::Constant(by)) = (left, right) else { return None };
    let (divisor, remainder) = match op {
        UDiv | SDiv => (*by, false),
        URem | SRem => (*by, true),
        LShr | AShr if (0..32).contains(by) => (1 << by, false),
        And if *by > 0 && (by + 1) & by == 0 => (by + 1, true),
        _ => return None,
    };
    let unsigned = u64::try_from(divisor).ok().filter(|d| *d > 0 && values.iter().all(|v| *v >= 0))?;
    // All dividends lie between the same two multiples of the divisor.
    let one = *multiple > 0 && unsigned % multiple == 0 && values.iter().all(|v| v.unsigned_abs() < *multiple);
    if one {
        return Some(if remainder { left.clone() } else { Fact::Uniform(1) });
    }
    if multiple % unsigned != 0 {
        return None;
    }
    let each = |v: &i64| if remainder { v % divisor } else { v / divisor };
    let plus = (!remainder).then(|| multiple / divisor.unsigned_abs());
    Some(Fact::lanes(values.iter().map(each).collect(), plus))
}

/// The result of an operation on constants, wrapped to `bits` bits; `None` if it is undefined or not an integer operation.
fn computed(op: BinaryOp, a: i64, b: i64, bits: u32) -> Option<i64> {
    use BinaryOp::{AShr, Add, And, LShr, Mul, Or, SDiv, SRem, Shl, Sub, UDiv, URem, Xor};
    let (x, y) = (zero_extended(a, bits), zero_extended(b, bits));
    let distance = u32::try_from(b).ok().filter(|d| *d < bits);
    Some(match op {
        Add => wrapped(i128::from(a) + i128::from(b), bits),
        Sub => wrapped(i128::from(a) - i128::from(b), bits),
        Mul => wrapped(i128::from(a).wrapping_mul(i128::from(b)), bits),
        UDiv => wrapped(i128::from(x.checked_div(y)?), bits),
        URem => wrapped(i128::from(x.checked_rem(y)?), bits),
        SDiv => wrapped(i128::from(a.checked_div(b)?), bits),
        SRem => wrapped(i128::from(a.checked_rem(b)?), bits),
        Shl => wrapped(i128::from(x) << distance?, bits),
        LShr => wrapped(i128::from(x >> distance?), bits),
        AShr => a >> distance?,
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        _ => return None,
    })
}

pub(super) fn compare(predicate: IntPredicate, left: &Fact, right: &Fact, bits: u32) -> Fact {
    if *left == Fact::Unseen || *right == Fact::Unseen {
        return Fact::Unseen;
    }
    let threads =
        [left, right].iter().find_map(|fact| if let Fact::Lanes(l) = fact { Some(l.values.len()) } else { None });
    if let Some((a, b)) =
        per_thread_values(left, threads.unwrap_or(1)).zip(per_thread_values(right, threads.unwrap_or(1)))
    {
        // True is -1: like every constant, it is sign-extended from its bits.
        let values = a.iter().zip(&b).map(|(a, b)| -i64::from(holds(predicate, *a, *b, bits)));
        return Fact::lanes(values.collect(), None);
    }
    // A condition that differs is compared with a constant.
    for (one, other) in [(left, right), (right, left)] {
        if *one == Fact::Level(Level::Differs) && matches!(other, Fact::Constant(_)) {
            return Fact::Level(Level::Differs);
        }
    }
    let Fact::Lanes(Lanes { values, plus: Some(multiple) }) = sum(left, right, true, bits) else {
        return mixed(&[left.clone(), right.clone()]);
    };
    use IntPredicate::{Eq, Ne, Sgt, Sle, Ugt, Ule};
    let modulus = i64::try_from(multiple).unwrap_or(i64::MAX);
    // `16 * k + v < 0` is `k < 0` if all v are from 0 to 15. The same holds for other ranges from a multiple of 16 up to the next.
    let within = |all: &dyn Fn(i64) -> i64| {
        let low = values.iter().map(|v| all(*v)).min().unwrap_or(0);
        modulus > 0 && values.iter().all(|v| all(*v) - low.div_euclid(modulus) * modulus < modulus)
    };
    let uniform = match predicate {
        Eq | Ne => modulus > 0 && values.iter().all(|v| v % modulus != 0),
        Sgt | Ugt | Sle | Ule => within(&|v| -v),
        _ => within(&|v| v),
    };
    if uniform { Fact::Uniform(1) } else { Fact::Level(Level::Differs) }
}

fn holds(predicate: IntPredicate, a: i64, b: i64, bits: u32) -> bool {
    use IntPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    let (x, y) = (zero_extended(a, bits), zero_extended(b, bits));
    match predicate {
        Eq => a == b,
        Ne => a != b,
        Ugt => x > y,
        Uge => x >= y,
        Ult => x < y,
        Ule => x <= y,
        Sgt => a > b,
        Sge => a >= b,
        Slt => a < b,
        Sle => a <= b,
    }
}

pub(super) fn cast(op: CastOp, value: &Fact, from: u32, to: u32) -> Fact {
    match (op, value) {
        (_, Fact::Unseen) => Fact::Unseen,
        (CastOp::Trunc, Fact::Constant(v)) => Fact::Constant(wrapped(i128::from(*v), to)),
        (CastOp::ZExt, Fact::Constant(v)) => Fact::Constant(wrapped(i128::from(zero_extended(*v, from)), to)),
        (CastOp::SExt, Fact::Constant(v)) => Fact::Constant(wrapped(i128::from(*v), from)),
        (CastOp::Trunc, Fact::Lanes(l)) => {
            Fact::lanes(l.values.iter().map(|v| wrapped(i128::from(*v), to)).collect(), l.plus)
        }
        (CastOp::ZExt, Fact::Lanes(l)) => {
            // If a uniform multiple is added, the analysis assumes that the sum does not wrap around.
            let exact = l.plus.is_none();
            let each = |v: &i64| if exact { wrapped(i128::from(zero_extended(*v, from)), to) } else { *v };
            Fact::lanes(l.values.iter().map(each).collect(), l.plus)
        }
        (CastOp::SExt, Fact::Lanes(l)) => {
            let exact = l.plus.is_none();
            let each = |v: &i64| if exact { wrapped(i128::from(*v), from) } else { *v };
            Fact::lanes(l.values.iter().map(each).collect(), l.plus)
        }
        (
            CastOp::Trunc
            | CastOp::ZExt
            | CastOp::SExt
            | CastOp::PtrToInt
            | CastOp::PtrToAddr
            | CastOp::IntToPtr
            | CastOp::BitCast
            | CastOp::AddrSpaceCast,
            other,
        ) => other.clone(),
        (_, other) => mixed(std::slice::from_ref(other)),
    }
}
