//! Address arithmetic: the offsets that constant addresses and `getelementptr` add to a base address, and addresses as sums, which can be
//! compared.

use crate::ir::{CastOp, Constant, GlobalId, Instruction, LocalId, Op, Operand, Type, Value};
use std::collections::BTreeMap;

/// The global variable into which a constant address points, and the offset in bytes; `None` for other constants.
pub(super) fn constant_address(constant: &Constant) -> Option<(GlobalId, i64)> {
    match constant {
        Constant::Global(id) => Some((*id, 0)),
        Constant::Expression(op) => match &**op {
            Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value, .. } => {
                let Value::Constant(inner) = &value.value else { return None };
                constant_address(inner)
            }
            Op::Gep { source, base, indices, .. } => {
                let Value::Constant(inner) = &base.value else { return None };
                let (id, at) = constant_address(inner)?;
                let steps = steps(source, indices)?;
                if steps.by.is_empty() { Some((id, at.checked_add(steps.offset)?)) } else { None }
            }
            _ => None,
        },
        _ => None,
    }
}

/// An offset: a constant plus a sum of scaled indices.
pub(super) struct Steps<'a> {
    /// The constant part, in bytes.
    pub(super) offset: i64,
    /// The indices, each with its scale in bytes.
    pub(super) by: Vec<(&'a Operand, u64)>,
}

/// The offset that a `getelementptr` adds to its base; `None` for a type without a size, or for an offset of more than 64 bits.
pub(super) fn steps<'a>(source: &Type, indices: &'a [Operand]) -> Option<Steps<'a>> {
    let mut result = Steps { offset: 0, by: Vec::new() };
    let mut ty = source.clone();
    for (n, index) in indices.iter().enumerate() {
        let scale = if n == 0 {
            ty.size()?
        } else {
            match ty.clone() {
                Type::Array(_, element) => {
                    ty = (*element).clone();
                    ty.size()?
                }
                Type::Vector(_, element) => {
                    ty = (*element).clone();
                    ty.size()?
                }
                Type::Struct { fields, .. } => {
                    let Value::Constant(Constant::Int(field)) = index.value else {
                        let Value::Constant(Constant::Zero) = index.value else { return None };
                        result.offset = result.offset.checked_add(ty.field_offset(0)? as i64)?;
                        ty = fields.first()?.clone();
                        continue;
                    };
                    let field = usize::try_from(field).ok()?;
                    result.offset = result.offset.checked_add(i64::try_from(ty.field_offset(field)?).ok()?)?;
                    ty = fields.get(field)?.clone();
                    continue;
                }
                _ => return None,
            }
        };
        match &index.value {
            Value::Constant(Constant::Int(by)) => {
                // Indices are signed, but the constant of type i1 is 0 or 1.
                let by = if index.ty == Type::Int(1) { -by } else { *by };
                let by = i64::try_from(by).ok()?;
                result.offset = result.offset.checked_add(by.checked_mul(i64::try_from(scale).ok()?)?)?;
            }
            Value::Constant(Constant::Zero | Constant::Undef | Constant::Poison) => {}
            _ if scale == 0 => {}
            _ => result.by.push((index, scale)),
        }
    }
    Some(result)
}

/// An address: a base pointer, indices with their strides in bytes, and a constant offset in bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sum {
    pub(super) base: LocalId,
    pub(super) by: BTreeMap<LocalId, u64>,
    pub(super) offset: i64,
}

impl Sum {
    /// The address that a pointer holds, as a sum; `None` if the pointer is a constant.
    pub(super) fn of(definitions: &[Option<&Instruction>], pointer: &Value) -> Option<Self> {
        let mut sum = Self { base: pointer.local()?, by: BTreeMap::new(), offset: 0 };
        while let Some(Op::Gep { source, base, indices, .. }) =
            definitions[sum.base.0].map(|instruction| &instruction.op)
        {
            let (Some(inner), Some(steps)) = (base.value.local(), steps(source, indices)) else { break };
            for (index, bytes) in &steps.by {
                *sum.by.entry(index.value.local()?).or_default() += bytes;
            }
            sum.offset = sum.offset.checked_add(steps.offset)?;
            sum.base = inner;
        }
        Some(sum)
    }
}
