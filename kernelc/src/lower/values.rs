//! Values of IR as words of SPIR-V: each scalar of a value is a word of its own, vectors and structs are lists of them.

use super::assembler::Scalar;
use crate::ir::Type;

/// A scalar of IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of 1 to 64 bits. One of 1 is a `Bool`; others lie in 32 or 64 bits, those above their own zero.
    Int(u32),
    Half,
    Float,
    Double,
    /// A device address of 64 bits, or a place in a group of 32.
    Pointer,
}

/// A scalar and where it lies in its value in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub(super) kind: Kind,
    pub(super) offset: u64,
}

impl Kind {
    /// The type of its register; of a pointer that of a device address.
    pub(super) fn register(self) -> Scalar {
        match self {
            Kind::Int(1) => Scalar::Bool,
            Kind::Int(bits) if bits <= 32 => Scalar::U32,
            Kind::Int(_) | Kind::Pointer => Scalar::U64,
            Kind::Half => Scalar::F16,
            Kind::Float => Scalar::F32,
            Kind::Double => Scalar::F64,
        }
    }

    /// How it lies in memory; `None` for integers of odd sizes.
    pub(super) fn memory(self) -> Option<Scalar> {
        Some(match self {
            Kind::Int(bits) if bits <= 8 => Scalar::U8,
            Kind::Int(16) => Scalar::U16,
            Kind::Int(32) => Scalar::U32,
            Kind::Int(64) | Kind::Pointer => Scalar::U64,
            Kind::Int(_) => return None,
            other => other.register(),
        })
    }
}

/// The scalars of a type in the order of their offsets; `None` for types that kernels do not hold.
pub(super) fn leaves(ty: &Type) -> Option<Vec<Leaf>> {
    let mut all = Vec::new();
    gather(ty, 0, &mut all)?;
    Some(all)
}

fn gather(ty: &Type, offset: u64, all: &mut Vec<Leaf>) -> Option<()> {
    // A bound on what one value may be made of.
    if all.len() > 4096 {
        return None;
    }
    let kind = match ty {
        Type::Void => return Some(()),
        Type::Int(bits @ 1..=64) => Kind::Int(*bits),
        Type::Int(_) | Type::Other(_) => return None,
        Type::Half => Kind::Half,
        Type::Float => Kind::Float,
        Type::Double => Kind::Double,
        Type::Pointer(_) => Kind::Pointer,
        Type::Array(count, element) => {
            let step = element.size()?;
            for n in 0..*count {
                gather(element, offset + n * step, all)?;
            }
            return Some(());
        }
        Type::Vector(count, element) => {
            let step = element.store_size()?;
            for n in 0..u64::from(*count) {
                gather(element, offset + n * step, all)?;
            }
            return Some(());
        }
        Type::Struct { fields, .. } => {
            for (n, field) in fields.iter().enumerate() {
                gather(field, offset + ty.field_offset(n)?, all)?;
            }
            return Some(());
        }
    };
    all.push(Leaf { kind, offset });
    Some(())
}

/// Which leaves of `ty` the part at `path` is made of.
pub(super) fn part(ty: &Type, path: &[u32]) -> Option<std::ops::Range<usize>> {
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
