//! Sizes of types: in buffers, by their layout decorations, and in Workgroup memory.

use super::constants::{self, ConstantValues, ScalarType};
use super::parsed::{Instruction, ParsedModule};
use crate::error::Result;
use crate::grow::Grow;
use rspirv::spirv::{Decoration, Op, StorageClass};
use std::collections::{BTreeSet, HashMap};

/// The memory layout of a type.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TypeLayout {
    /// Bytes according to Offset, ArrayStride and MatrixStride; a run-time array counts as 0.
    pub(super) size: u64,
    /// Stride, if the type is a run-time array or ends with one.
    pub(super) stride: Option<u64>,
    /// Bytes in scalar block layout, where only the alignment of scalars counts.
    packed: u64,
    /// Alignment of its largest scalar.
    align: u64,
    /// The numbers of columns and rows of a matrix.
    matrix: Option<(u64, u64)>,
}

impl TypeLayout {
    fn scalar(size: u64) -> Self {
        Self { size, packed: size, align: size, ..Self::default() }
    }
}

/// The layout of every type that has one, with array lengths from `values`.
///
/// Each type is declared after its component types, so one pass without recursion suffices.
pub(super) fn layouts(code: &ParsedModule, values: &ConstantValues) -> Result<HashMap<u32, TypeLayout>> {
    let mut layouts = HashMap::new();
    for inst in code.globals() {
        if let Some((id, layout)) = inst.result().and_then(|id| Some((id, layout(code, inst, values, &layouts)?))) {
            layouts.make_room(1)?;
            layouts.insert(id, layout);
        }
    }
    Ok(layouts)
}

fn layout(
    code: &ParsedModule,
    inst: Instruction<'_>,
    values: &ConstantValues,
    known: &HashMap<u32, TypeLayout>,
) -> Option<TypeLayout> {
    let id = inst.word(1);
    match inst.op? {
        Op::TypeBool => Some(TypeLayout::scalar(4)),
        Op::TypeInt | Op::TypeFloat => match constants::scalar_type(code, id)? {
            ScalarType::Int(width) | ScalarType::Float(width) => Some(TypeLayout::scalar(u64::from(width / 8))),
            ScalarType::Bool => None,
        },
        Op::TypePointer => (inst.word(2) == StorageClass::PhysicalStorageBuffer as u32).then(|| TypeLayout::scalar(8)),
        Op::TypeVector => {
            let (part, count) = (known.get(&inst.word(2))?, u64::from(inst.word(3)));
            let size = part.size.saturating_mul(count);
            Some(TypeLayout { size, packed: size, ..*part })
        }
        Op::TypeMatrix => {
            let (column, count) = (known.get(&inst.word(2))?, u64::from(inst.word(3)));
            let size = column.size.saturating_mul(count);
            let rows = column.size / column.align.max(1);
            Some(TypeLayout { size, packed: size, matrix: Some((count, rows)), ..*column })
        }
        Op::TypeArray => {
            let (part, count) = (known.get(&inst.word(2))?, constants::integer(values, inst.word(3))?);
            let stride = code.literal(id, Decoration::ArrayStride).map_or(part.size, u64::from);
            Some(TypeLayout {
                size: stride.saturating_mul(count),
                packed: part.packed.saturating_mul(count),
                align: part.align,
                ..TypeLayout::default()
            })
        }
        Op::TypeRuntimeArray => {
            let part = known.get(&inst.word(2))?;
            let stride = code.literal(id, Decoration::ArrayStride).map_or(part.size, u64::from);
            Some(TypeLayout { stride: Some(stride), align: part.align, ..TypeLayout::default() })
        }
        Op::TypeStruct => {
            let mut whole = TypeLayout { align: 1, ..TypeLayout::default() };
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

/// Bytes of a struct's member. The stride of a matrix is a decoration of the member, not of its type.
pub(super) fn member_size(code: &ParsedModule, id: u32, member: u32, part: &TypeLayout) -> u64 {
    let Some((columns, rows)) = part.matrix else { return part.size };
    let Some(stride) = code.member_literal(id, member, Decoration::MatrixStride) else { return part.size };
    let row_major = code.member_decoration(id, member, Decoration::RowMajor).is_some();
    u64::from(stride).saturating_mul(if row_major { rows } else { columns })
}

fn align_up(value: u64, align: u64) -> u64 {
    value.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX)
}

/// Bytes of Workgroup memory that `variables` need.
pub(super) fn workgroup_bytes(
    code: &ParsedModule,
    layouts: &HashMap<u32, TypeLayout>,
    variables: &BTreeSet<u32>,
) -> u64 {
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
