//! Sizes of types: as their decorations lay them out, and as Workgroup memory holds them.

use super::code::{Code, Inst};
use super::values::{self, ScalarType, Values};
use crate::error::Result;
use crate::grow::Grow;
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::collections::{BTreeSet, HashMap};

/// How a type lies in memory.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Layout {
    /// Bytes by Offset, ArrayStride and MatrixStride; a run-time array counts nothing.
    pub(super) size: u64,
    /// Stride of the run-time array it is or ends with.
    pub(super) stride: Option<u64>,
    /// Bytes when packed by the alignment of scalars.
    packed: u64,
    /// Alignment of its largest scalar.
    align: u64,
    /// For matrices: columns and rows.
    matrix: Option<(u64, u64)>,
}

impl Layout {
    fn scalar(size: u64) -> Self {
        Self { size, packed: size, align: size, ..Self::default() }
    }
}

/// The layout of every type that has one, with array lengths from `values`.
///
/// Types stand behind what they are made of, so one pass is enough and nothing recurs.
pub(super) fn layouts(code: &Code, values: &Values) -> Result<HashMap<u32, Layout>> {
    let mut layouts = HashMap::new();
    for inst in code.globals() {
        if let Some((id, layout)) = inst.result().and_then(|id| Some((id, layout(code, inst, values, &layouts)?))) {
            layouts.make_room(1)?;
            layouts.insert(id, layout);
        }
    }
    Ok(layouts)
}

fn layout(code: &Code, inst: Inst<'_>, values: &Values, known: &HashMap<u32, Layout>) -> Option<Layout> {
    let id = inst.word(1);
    match inst.op? {
        Op::TypeBool => Some(Layout::scalar(4)),
        Op::TypeInt | Op::TypeFloat => match values::scalar_type(code, id)? {
            ScalarType::Int(width) | ScalarType::Float(width) => Some(Layout::scalar(u64::from(width / 8))),
            ScalarType::Bool => None,
        },
        Op::TypePointer => (inst.word(2) == StorageClass::PhysicalStorageBuffer as u32).then(|| Layout::scalar(8)),
        Op::TypeVector => {
            let (part, count) = (known.get(&inst.word(2))?, u64::from(inst.word(3)));
            let size = part.size.saturating_mul(count);
            Some(Layout { size, packed: size, ..*part })
        }
        Op::TypeMatrix => {
            let (column, count) = (known.get(&inst.word(2))?, u64::from(inst.word(3)));
            let size = column.size.saturating_mul(count);
            let rows = column.size / column.align.max(1);
            Some(Layout { size, packed: size, matrix: Some((count, rows)), ..*column })
        }
        Op::TypeArray => {
            let (part, count) = (known.get(&inst.word(2))?, values::integer(values, inst.word(3))?);
            let stride = code.literal(id, Decoration::ArrayStride).map_or(part.size, u64::from);
            Some(Layout {
                size: stride.saturating_mul(count),
                packed: part.packed.saturating_mul(count),
                align: part.align,
                ..Layout::default()
            })
        }
        Op::TypeRuntimeArray => {
            let part = known.get(&inst.word(2))?;
            let stride = code.literal(id, Decoration::ArrayStride).map_or(part.size, u64::from);
            Some(Layout { stride: Some(stride), align: part.align, ..Layout::default() })
        }
        Op::TypeStruct => {
            let mut whole = Layout { align: 1, ..Layout::default() };
            for (member, &ty) in inst.words[2..].iter().enumerate() {
                let part = known.get(&ty)?;
                let offset = code.member_literal(id, member as u32, Decoration::Offset).map_or(whole.size, u64::from);
                whole.size = whole.size.max(offset.saturating_add(member_size(code, id, member as u32, part)));
                whole.stride = whole.stride.max(part.stride);
                whole.align = whole.align.max(part.align);
                whole.packed = align_up(whole.packed, part.align).saturating_add(part.packed);
            }
            whole.packed = align_up(whole.packed, whole.align);
            Some(whole)
        }
        _ => None,
    }
}

/// Bytes of a struct's member: a matrix's stride is a decoration of the member.
pub(super) fn member_size(code: &Code, id: u32, member: u32, part: &Layout) -> u64 {
    let Some((columns, rows)) = part.matrix else { return part.size };
    let Some(stride) = code.member_literal(id, member, Decoration::MatrixStride) else { return part.size };
    let row_major = code.member_decoration(id, member, Decoration::RowMajor).is_some();
    u64::from(stride).saturating_mul(if row_major { rows } else { columns })
}

fn align_up(value: u64, align: u64) -> u64 {
    value.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX)
}

/// Bytes of Workgroup memory that `variables` need.
pub(super) fn workgroup_bytes(code: &Code, layouts: &HashMap<u32, Layout>, variables: &BTreeSet<u32>) -> u64 {
    let (mut sum, mut shared) = (0_u64, 0_u64);
    for &id in variables {
        let Some((class, pointee)) = code.variable(id) else { continue };
        let Some(layout) = layouts.get(&pointee).filter(|_| class == StorageClass::Workgroup as u32) else { continue };
        if code.decoration(pointee, Decoration::Block).is_some() {
            // Blocks with explicit layout alias each other (SPV_KHR_workgroup_memory_explicit_layout).
            shared = shared.max(layout.size);
        } else {
            sum = align_up(sum, layout.align).saturating_add(layout.packed);
        }
    }
    sum.saturating_add(shared)
}
