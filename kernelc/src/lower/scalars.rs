//! Scalarization: a value of IR is a list of scalars (its leaves), each with an id of its own in SPIR-V.

use super::assembler::Scalar;
use crate::ir::Type;

/// The type of a scalar of IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarKind {
    /// An integer of 1 to 64 bits; `integers` describes its form in a register.
    Int(u32),
    Half,
    Float,
    Double,
    /// A device address of 64 bits, or an offset of 32 bits into a group.
    Pointer,
}

/// A scalar and its offset within its value, in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub(super) kind: ScalarKind,
    pub(super) offset: u64,
}

impl ScalarKind {
    /// The register type of this kind; for a pointer, the type of a device address.
    pub(super) fn register(self) -> Scalar {
        match self {
            ScalarKind::Int(1) => Scalar::Bool,
            ScalarKind::Int(bits) if bits <= 32 => Scalar::U32,
            ScalarKind::Int(_) | ScalarKind::Pointer => Scalar::U64,
            ScalarKind::Half => Scalar::F16,
            ScalarKind::Float => Scalar::F32,
            ScalarKind::Double => Scalar::F64,
        }
    }

    /// The type of this kind in memory; `None` for integers of widths that memory does not have, such as 24 bits.
    pub(super) fn memory(self) -> Option<Scalar> {
        Some(match self {
            ScalarKind::Int(bits) if bits <= 8 => Scalar::U8,
            ScalarKind::Int(16) => Scalar::U16,
            ScalarKind::Int(32) => Scalar::U32,
            ScalarKind::Int(64) | ScalarKind::Pointer => Scalar::U64,
            ScalarKind::Int(_) => return None,
            other => other.register(),
        })
    }
}

/// The scalars of a type in the order of their offsets; `None` for types that kernels cannot have.
pub(super) fn leaves(ty: &Type) -> Option<Vec<Leaf>> {
    let mut all = Vec::new();
    collect_leaves(ty, 0, &mut all)?;
    Some(all)
}

fn collect_leaves(ty: &Type, offset: u64, all: &mut Vec<Leaf>) -> Option<()> {
    // Limits the number of scalars of one value.
    if all.len() > 4096 {
        return None;
    }
    let kind = match ty {
        Type::Void => return Some(()),
        Type::Int(bits @ 1..=64) => ScalarKind::Int(*bits),
        Type::Int(_) | Type::Other => return None,
        Type::Half => ScalarKind::Half,
        Type::Float => ScalarKind::Float,
        Type::Double => ScalarKind::Double,
        Type::Pointer(_) => ScalarKind::Pointer,
        Type::Array(count, element) => {
            let step = element.size()?;
            for n in 0..*count {
                collect_leaves(element, offset + n * step, all)?;
            }
            return Some(());
        }
        Type::Vector(count, element) => {
            let step = element.store_size()?;
            for n in 0..u64::from(*count) {
                collect_leaves(element, offset + n * step, all)?;
            }
            return Some(());
        }
        Type::Struct { fields, .. } => {
            for (n, field) in fields.iter().enumerate() {
                collect_leaves(field, offset + ty.field_offset(n)?, all)?;
            }
            return Some(());
        }
    };
    all.push(Leaf { kind, offset });
    Some(())
}

/// The range of the leaves that form the member of `ty` at `path`.
pub(super) fn leaf_range(ty: &Type, path: &[u32]) -> Option<std::ops::Range<usize>> {
    let mut from = 0;
    let mut ty = ty.clone();
    for &n in path {
        let (before, next) = match &ty {
            Type::Array(count, element) if u64::from(n) < *count => {
                (leaves(element)?.len() * n as usize, (**element).clone())
            }
            Type::Vector(count, element) if n < *count => (leaves(element)?.len() * n as usize, (**element).clone()),
            Type::Struct { fields, .. } => {
                let before =
                    fields.iter().take(n as usize).map(|f| leaves(f).map(|l| l.len())).sum::<Option<usize>>()?;
                (before, fields.get(n as usize)?.clone())
            }
            _ => return None,
        };
        from += before;
        ty = next;
    }
    let count = leaves(&ty)?.len();
    Some(from..from + count)
}

/// The known alignment of an address `offset` bytes after an address of alignment `align`.
pub(super) fn aligned_at(align: u64, offset: u64) -> u64 {
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros()) }
}
