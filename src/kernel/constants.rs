//! Evaluates constants, specialization constants and operations on them.

use super::grammar;
use super::parsed::{Instruction, ParsedModule};
use crate::error::Result;
use crate::grow::Grow;
use rspirv::spirv::{Decoration, Op};
use std::collections::{HashMap, HashSet};

/// The type of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarType {
    /// Boolean.
    Bool,
    /// Integer, with its number of bits.
    Int(u32),
    /// Floating point, with its number of bits.
    Float(u32),
}

/// A scalar's type and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scalar {
    /// Type.
    pub(super) ty: ScalarType,
    /// The value's bits; unused upper bits are zero.
    pub(super) bits: u64,
}

/// The value of a constant.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// A scalar.
    Scalar(Scalar),
    /// A vector, or a short array of scalars.
    Vector(Vec<Scalar>),
    /// Any larger composite: the ids of its parts.
    Parts(Vec<u32>),
}

/// The constants whose value is known, by id.
pub(super) type ConstantValues = HashMap<u32, Value>;

/// The length of the longest composite of scalars that is kept by value.
const MAX_VECTOR: usize = 16;

/// The bits given for specialization constants, by SpecId.
pub(super) type SpecOverrides = HashMap<u32, u64>;

/// The scalar type with this id.
pub(super) fn scalar_type(code: &ParsedModule, id: u32) -> Option<ScalarType> {
    let inst = code.def(id)?;
    match inst.op? {
        Op::TypeBool => Some(ScalarType::Bool),
        Op::TypeInt if matches!(inst.word(2), 8 | 16 | 32 | 64) => Some(ScalarType::Int(inst.word(2))),
        Op::TypeFloat if matches!(inst.word(2), 8 | 16 | 32 | 64) => Some(ScalarType::Float(inst.word(2))),
        _ => None,
    }
}

/// `bits` truncated to `width` bits.
fn truncate(bits: u64, width: u32) -> u64 {
    if width >= 64 { bits } else { bits & ((1 << width) - 1) }
}

/// The lower `width` bits of `bits` as a signed number.
fn signed(bits: u64, width: u32) -> i64 {
    let shift = 64 - width.clamp(1, 64);
    ((bits << shift) as i64) >> shift
}

impl Scalar {
    fn of(ty: ScalarType, bits: u64) -> Self {
        let bits = match ty {
            ScalarType::Bool => u64::from(bits != 0),
            ScalarType::Int(width) | ScalarType::Float(width) => truncate(bits, width),
        };
        Self { ty, bits }
    }
}

/// Evaluates the constants among `insts`, which are in module order. The result lacks constants that cannot be evaluated.
pub(super) fn evaluate<'a>(
    code: &ParsedModule,
    insts: impl Iterator<Item = Instruction<'a>>,
    given: &SpecOverrides,
) -> Result<ConstantValues> {
    let mut values = ConstantValues::new();
    for inst in insts {
        if let Some((id, value)) = inst.result().and_then(|id| Some((id, constant(code, inst, &values, given)?))) {
            values.make_room(1)?;
            values.insert(id, value);
        }
    }
    Ok(values)
}

/// The instructions that the values of `ids` depend on, in module order.
pub(super) fn dependencies(code: &ParsedModule, ids: &[u32]) -> Vec<usize> {
    let mut wanted: HashSet<u32> = ids.iter().copied().collect();
    let mut found = Vec::new();
    for inst in code.globals().rev() {
        if inst.op.is_some_and(|op| op.is_constant()) && inst.result().is_some_and(|id| wanted.contains(&id)) {
            found.push(inst.index);
            // Some of these words are literals instead of ids, which only makes the list longer.
            wanted.extend(&inst.words[3.min(inst.words.len())..]);
        }
    }
    found.reverse();
    found
}

/// The SpecId of `inst`, if it is a scalar specialization constant.
pub(super) fn spec_id(code: &ParsedModule, inst: Instruction<'_>) -> Option<u32> {
    let scalar = matches!(inst.op?, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse);
    if scalar { code.literal(inst.result()?, Decoration::SpecId) } else { None }
}

/// The default value of a scalar constant.
pub(super) fn scalar_constant(code: &ParsedModule, inst: Instruction<'_>) -> Option<Scalar> {
    let ty = scalar_type(code, inst.word(1))?;
    let bits = match inst.op? {
        Op::Constant | Op::SpecConstant => u64::from(inst.word(3)) | (u64::from(inst.word(4)) << 32),
        Op::ConstantTrue | Op::SpecConstantTrue => 1,
        Op::ConstantFalse | Op::SpecConstantFalse | Op::ConstantNull => 0,
        _ => return None,
    };
    Some(Scalar::of(ty, bits))
}

fn constant(
    code: &ParsedModule,
    inst: Instruction<'_>,
    values: &ConstantValues,
    given: &SpecOverrides,
) -> Option<Value> {
    if let Some(scalar) = scalar_constant(code, inst) {
        let bits = spec_id(code, inst).and_then(|id| given.get(&id)).copied();
        return Some(Value::Scalar(bits.map_or(scalar, |bits| Scalar::of(scalar.ty, bits))));
    }
    match inst.op? {
        Op::ConstantComposite | Op::SpecConstantComposite => {
            let parts = &inst.words[3..];
            let scalars = || parts.iter().map(|id| scalar(values, *id)).collect::<Option<Vec<_>>>();
            let short = if parts.len() <= MAX_VECTOR { scalars() } else { None };
            Some(short.map_or_else(|| Value::Parts(parts.to_vec()), Value::Vector))
        }
        Op::ConstantNull => {
            let vector = code.def_of(inst.word(1), Op::TypeVector)?;
            let ty = scalar_type(code, vector.word(2))?;
            let len = vector.word(3) as usize;
            (len <= MAX_VECTOR).then(|| Value::Vector(vec![Scalar::of(ty, 0); len]))
        }
        Op::SpecConstantOp => operation(code, inst, values),
        _ => None,
    }
}

/// The scalar value of `id`.
pub(super) fn scalar(values: &ConstantValues, id: u32) -> Option<Scalar> {
    match values.get(&id) {
        Some(Value::Scalar(scalar)) => Some(*scalar),
        _ => None,
    }
}

/// The integer value of `id`.
pub(super) fn integer(values: &ConstantValues, id: u32) -> Option<u64> {
    scalar(values, id).filter(|s| matches!(s.ty, ScalarType::Int(_))).map(|s| s.bits)
}

/// The three integers of `id`.
pub(super) fn integers3(values: &ConstantValues, id: u32) -> Option<[u64; 3]> {
    let part = |s: &Scalar| matches!(s.ty, ScalarType::Int(_)).then_some(s.bits);
    match values.get(&id)? {
        Value::Vector(v) if v.len() == 3 => Some([part(&v[0])?, part(&v[1])?, part(&v[2])?]),
        _ => None,
    }
}

fn operation(code: &ParsedModule, inst: Instruction<'_>, values: &ConstantValues) -> Option<Value> {
    let op = Op::from_u32(inst.word(3))?;
    let operands = inst.words.get(4..)?;
    match op {
        Op::CompositeExtract => return extract(values, operands),
        Op::VectorShuffle => return shuffle(values, operands),
        _ => {}
    }
    let (ty, lanes) = match code.def_of(inst.word(1), Op::TypeVector) {
        Some(vector) => (scalar_type(code, vector.word(2))?, Some(vector.word(3) as usize)),
        None => (scalar_type(code, inst.word(1))?, None),
    };
    if operands.len() > 3 {
        return None;
    }
    let lane = |at: usize| {
        let read = |id: &u32| match values.get(id)? {
            Value::Scalar(scalar) => Some(*scalar),
            Value::Vector(vector) => vector.get(at).copied(),
            Value::Parts(_) => None,
        };
        let arguments = operands.iter().map(read).collect::<Option<Vec<_>>>()?;
        Some(Scalar::of(ty, compute(op, ty, &arguments)?))
    };
    match lanes {
        None => lane(0).map(Value::Scalar),
        Some(n) if n <= MAX_VECTOR => (0..n).map(lane).collect::<Option<Vec<_>>>().map(Value::Vector),
        Some(_) => None,
    }
}

fn extract(values: &ConstantValues, operands: &[u32]) -> Option<Value> {
    let (&whole, path) = operands.split_first()?;
    let mut value = values.get(&whole)?;
    for (depth, &at) in path.iter().enumerate() {
        match value {
            Value::Parts(parts) => value = values.get(parts.get(at as usize)?)?,
            Value::Vector(v) if depth + 1 == path.len() => return v.get(at as usize).copied().map(Value::Scalar),
            _ => return None,
        }
    }
    // A composite of composites is not copied: nested copies could outgrow the module without limit.
    (!matches!(value, Value::Parts(_))).then(|| value.clone())
}

fn shuffle(values: &ConstantValues, operands: &[u32]) -> Option<Value> {
    let [first, second, picks @ ..] = operands else { return None };
    let (Value::Vector(first), Value::Vector(second)) = (values.get(first)?, values.get(second)?) else { return None };
    if picks.len() > MAX_VECTOR {
        return None;
    }
    let pick = |&at: &u32| first.iter().chain(second).nth(at as usize).copied();
    picks.iter().map(pick).collect::<Option<Vec<_>>>().map(Value::Vector)
}

/// One lane of an operation; `None` if the operation is not supported or its result is undefined.
fn compute(op: Op, ty: ScalarType, arguments: &[Scalar]) -> Option<u64> {
    let width = |s: &Scalar| match s.ty {
        ScalarType::Bool => 1,
        ScalarType::Int(width) | ScalarType::Float(width) => width,
    };
    if let [condition, yes, no] = arguments {
        return (op == Op::Select).then_some(if condition.bits != 0 { yes.bits } else { no.bits });
    }
    let first = arguments.first()?;
    let (a, sa) = (first.bits, signed(first.bits, width(first)));
    if arguments.len() == 1 {
        return Some(match op {
            Op::Not => !a,
            Op::SNegate => a.wrapping_neg(),
            Op::LogicalNot => u64::from(a == 0),
            Op::UConvert => a,
            Op::SConvert => sa as u64,
            _ => return None,
        });
    }
    let second = arguments.get(1)?;
    let (b, sb) = (second.bits, signed(second.bits, width(second)));
    let bits = match ty {
        ScalarType::Int(width) => u64::from(width),
        _ => 64,
    };
    let shift = || (b < bits).then_some(b as u32);
    Some(match op {
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b)?,
        Op::SDiv => sa.checked_div(sb)? as u64,
        Op::UMod => a.checked_rem(b)?,
        Op::SRem => sa.checked_rem(sb)? as u64,
        // The result has the sign of the divisor.
        Op::SMod => {
            let rest = sa.checked_rem(sb)?;
            (if rest != 0 && (rest < 0) != (sb < 0) { rest.wrapping_add(sb) } else { rest }) as u64
        }
        Op::ShiftLeftLogical => a << shift()?,
        Op::ShiftRightLogical => a >> shift()?,
        Op::ShiftRightArithmetic => (sa >> shift()?) as u64,
        Op::BitwiseAnd => a & b,
        Op::BitwiseOr => a | b,
        Op::BitwiseXor => a ^ b,
        Op::LogicalAnd => a & b,
        Op::LogicalOr => a | b,
        Op::LogicalEqual | Op::IEqual => u64::from(a == b),
        Op::LogicalNotEqual | Op::INotEqual => u64::from(a != b),
        Op::ULessThan => u64::from(a < b),
        Op::ULessThanEqual => u64::from(a <= b),
        Op::UGreaterThan => u64::from(a > b),
        Op::UGreaterThanEqual => u64::from(a >= b),
        Op::SLessThan => u64::from(sa < sb),
        Op::SLessThanEqual => u64::from(sa <= sb),
        Op::SGreaterThan => u64::from(sa > sb),
        Op::SGreaterThanEqual => u64::from(sa >= sb),
        _ => return None,
    })
}

/// The first of `insts` that has no value, as text for messages.
pub(super) fn unknown(code: &ParsedModule, insts: &[usize], values: &ConstantValues) -> Option<String> {
    let inst =
        insts.iter().map(|&at| code.inst(at)).find(|i| i.result().is_some_and(|id| !values.contains_key(&id)))?;
    let inner = if inst.is(Op::SpecConstantOp) { inst.word(3) } else { inst.opcode };
    Some(format!("{} ({})", code.show(inst.result()?), grammar::op_name(inner)))
}
