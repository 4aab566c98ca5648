//! Finds the interface of an entry point: bindings, push constants, specialization constants.

use super::access::{self, InferredAccess};
use super::constants::{self, ConstantValues, ScalarType};
use super::entry_point::EntryPoint;
use super::interface::{Binding, BindingKind, ImageType, PushBlock, PushMember, SampledType, SpecConstant, SpecKind};
use super::parsed::{Instruction, ParsedModule};
use super::type_layout::{self, TypeLayout};
use super::usage::Access;
use crate::error::{Error, Result};
use crate::grow::Grow;
use revamp_image::arguments;
use rspirv::spirv::{Decoration, Dim, ImageFormat, Op, StorageClass};
use std::collections::{BTreeMap, HashMap};

/// Resources of the entry point, by (set, binding).
pub(super) fn bindings(
    code: &ParsedModule,
    entry: &EntryPoint,
    values: &ConstantValues,
    layouts: &HashMap<u32, TypeLayout>,
) -> Result<Vec<Binding>> {
    let inferred = InferredAccess::new(code, entry)?;
    let arrays = arrays(code, values)?;
    let mut found: BTreeMap<(u32, u32), Binding> = BTreeMap::new();
    // Many variables may share one block type; its members are searched once.
    let mut block_access: HashMap<u32, Option<Access>> = HashMap::new();
    for &id in &entry.variables {
        let Some((class, pointee)) = code.variable(id) else { continue };
        if ![StorageClass::UniformConstant, StorageClass::Uniform, StorageClass::StorageBuffer]
            .iter()
            .any(|&c| c as u32 == class)
        {
            continue;
        }
        if is_arguments(code, id) {
            continue;
        }
        let Elements { element, count, levels } = arrays.get(&pointee).copied().unwrap_or(Elements::one(pointee));
        let mut kind = kind(code, class, element);
        if levels > 1 {
            kind = BindingKind::Other("array of descriptor arrays");
        }
        if count == 0 {
            kind = BindingKind::Other("descriptor array without a fixed length");
        }
        let number = |decoration, name: &str| {
            code.literal(id, decoration).ok_or_else(|| {
                Error::invalid(format!(
                    "resource {} of the SPIR-V module has no {name} decoration, so nothing can be bound to it; write \
                     layout(set = N, binding = M) at its declaration",
                    code.show(id)
                ))
            })
        };
        let (set, binding) =
            (number(Decoration::DescriptorSet, "DescriptorSet")?, number(Decoration::Binding, "Binding")?);
        let layout = layouts.get(&element).copied().unwrap_or_default();
        let access = match kind {
            BindingKind::StorageBuffer => {
                let by_block =
                    *block_access.entry(element).or_insert_with(|| access::declared(code, element, Some(element)));
                access::declared(code, id, None).or(by_block).unwrap_or_else(|| inferred.access(id))
            }
            BindingKind::StorageImage(_) | BindingKind::Other("storage texel buffer") => {
                access::declared(code, id, None).unwrap_or(Access::ReadWrite)
            }
            _ => Access::Read,
        };
        let (min_size, stride) = match kind {
            BindingKind::StorageBuffer | BindingKind::UniformBuffer => (layout.size, layout.stride),
            _ => (0, None),
        };
        let name = buffer_name(code, id, element);
        let new = Binding { set, binding, name, kind, access, min_size, stride, count, first: 0 };
        match found.get_mut(&(set, binding)) {
            None => _ = found.insert((set, binding), new),
            Some(old) => merge(old, new)?,
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    let mut descriptors = 0;
    for b in &mut found {
        b.first = descriptors;
        descriptors += b.count as usize;
    }
    Ok(found)
}

/// True if variable `id` is the argument block of a compiled kernel.
fn is_arguments(code: &ParsedModule, id: u32) -> bool {
    code.variable(id).is_some_and(|(class, _)| class == StorageClass::Uniform as u32)
        && code.literal(id, Decoration::DescriptorSet) == Some(0)
        && code.literal(id, Decoration::Binding) == Some(0)
        && code.name(id).is_some_and(|name| name == arguments::NAME)
}

/// The uniform variable that is the entry point's argument block.
pub(super) fn arguments(code: &ParsedModule, entry: &EntryPoint) -> Option<u32> {
    entry.variables.iter().copied().find(|&id| is_arguments(code, id))
}

/// Merges two variables with the same binding, which are two views of one buffer.
fn merge(old: &mut Binding, new: Binding) -> Result<()> {
    if old.kind != new.kind || old.count != new.count {
        return Err(Error::unsupported(format!(
            "set {}, binding {} of the SPIR-V module is declared as {} and as {}; give each variable its own binding",
            old.set,
            old.binding,
            show(old),
            show(&new),
        )));
    }
    if old.access != new.access {
        old.access = Access::ReadWrite;
    }
    old.min_size = old.min_size.max(new.min_size);
    old.stride = old.stride.max(new.stride);
    old.name = old.name.take().or(new.name);
    Ok(())
}

fn show(binding: &Binding) -> String {
    format!("{} {}", binding.count, binding.kind.name())
}

/// The name of the variable, or of its block if the variable has none (GLSL blocks without an instance name).
fn buffer_name(code: &ParsedModule, id: u32, element: u32) -> Option<String> {
    code.name(id).or_else(|| code.name(element))
}

/// The innermost elements of an array type.
#[derive(Clone, Copy)]
struct Elements {
    /// The type of the elements.
    element: u32,
    /// The number of elements; 0 if the length is not fixed.
    count: u32,
    /// The number of nested arrays.
    levels: u32,
}

impl Elements {
    /// The elements of a type that is not an array.
    fn one(element: u32) -> Self {
        Self { element, count: 1, levels: 0 }
    }
}

/// The elements of each array type.
///
/// Each type is declared after its component types, so one pass suffices for any nesting depth.
fn arrays(code: &ParsedModule, values: &ConstantValues) -> Result<HashMap<u32, Elements>> {
    let mut arrays: HashMap<u32, Elements> = HashMap::new();
    for inst in code.globals() {
        let len = match inst.op {
            // Only ordinary constants count: a specialization constant may change the length after the bindings were checked.
            Some(Op::TypeArray) if code.def_of(inst.word(3), Op::Constant).is_some() => {
                constants::integer(values, inst.word(3)).and_then(|len| u32::try_from(len).ok())
            }
            Some(Op::TypeArray) => None,
            Some(Op::TypeRuntimeArray) => None,
            _ => continue,
        };
        let Elements { element, count, levels } =
            arrays.get(&inst.word(2)).copied().unwrap_or(Elements::one(inst.word(2)));
        arrays.make_room(1)?;
        let count = count.saturating_mul(len.unwrap_or(0));
        arrays.insert(inst.word(1), Elements { element, count, levels: levels.saturating_add(1) });
    }
    Ok(arrays)
}

fn kind(code: &ParsedModule, class: u32, ty: u32) -> BindingKind {
    let has = |decoration| code.decoration(ty, decoration).is_some();
    if class == StorageClass::StorageBuffer as u32
        || (class == StorageClass::Uniform as u32 && has(Decoration::BufferBlock))
    {
        return BindingKind::StorageBuffer;
    }
    if class == StorageClass::Uniform as u32 {
        return BindingKind::UniformBuffer;
    }
    match code.def(ty).and_then(|inst| Some((inst, inst.op?))) {
        Some((inst, Op::TypeSampledImage)) => match code.def_of(inst.word(2), Op::TypeImage) {
            Some(image) if image.word(3) == Dim::DimBuffer as u32 => BindingKind::Other("uniform texel buffer"),
            Some(image) => image_type(code, image).map_or(
                BindingKind::Other("combined image sampler of an unsupported type"),
                BindingKind::CombinedImageSampler,
            ),
            None => BindingKind::Other("combined image sampler"),
        },
        Some((image, Op::TypeImage)) => match (image.word(3), image.word(7)) {
            (dim, _) if dim == Dim::DimSubpassData as u32 => BindingKind::Other("input attachment"),
            (dim, 2) if dim == Dim::DimBuffer as u32 => BindingKind::Other("storage texel buffer"),
            (dim, _) if dim == Dim::DimBuffer as u32 => BindingKind::Other("uniform texel buffer"),
            (_, 2) => image_type(code, image)
                .map_or(BindingKind::Other("storage image of an unsupported type"), BindingKind::StorageImage),
            _ => image_type(code, image)
                .map_or(BindingKind::Other("sampled image of an unsupported type"), BindingKind::SampledImage),
        },
        Some((_, Op::TypeSampler)) => BindingKind::Sampler,
        Some((_, Op::TypeAccelerationStructureKHR)) => BindingKind::Other("acceleration structure"),
        Some((_, Op::TypeTensorARM)) => BindingKind::Other("tensor"),
        _ => BindingKind::Other("descriptor of an unknown type"),
    }
}

/// The type of an image to which textures can be bound: 1 to 3 dimensions, 32-bit components, no array, cube, comparison or
/// multisampling.
fn image_type(code: &ParsedModule, image: Instruction<'_>) -> Option<ImageType> {
    let dimensions = match image.word(3) {
        dim if dim == Dim::Dim1D as u32 => 1,
        dim if dim == Dim::Dim2D as u32 => 2,
        dim if dim == Dim::Dim3D as u32 => 3,
        _ => return None,
    };
    let (depth, arrayed, multisampled) = (image.word(4), image.word(5), image.word(6));
    if depth == 1 || arrayed != 0 || multisampled != 0 {
        return None;
    }
    let component = code.def(image.word(2)).filter(|component| component.word(2) == 32)?;
    let sampled = match (component.op?, component.words.get(3)) {
        (Op::TypeFloat, _) => SampledType::Float,
        (Op::TypeInt, Some(1)) => SampledType::Int,
        (Op::TypeInt, _) => SampledType::Uint,
        _ => return None,
    };
    let format = ImageFormat::from_u32(image.word(8)).filter(|&format| format != ImageFormat::Unknown);
    Some(ImageType { dimensions, sampled, format })
}

/// The push-constant variable of the entry point and its struct type.
pub(super) fn push_variable(code: &ParsedModule, entry: &EntryPoint) -> Result<Option<(u32, u32)>> {
    let mut found = entry.variables.iter().filter_map(|&id| {
        let (class, pointee) = code.variable(id)?;
        (class == StorageClass::PushConstant as u32).then_some((id, pointee))
    });
    let first = found.next();
    if let (Some((a, _)), Some((b, _))) = (first, found.next()) {
        return Err(Error::unsupported(format!(
            "the kernel uses two push-constant blocks, {} and {}; Vulkan allows one: put their members into one block",
            code.show(a),
            code.show(b)
        )));
    }
    if let Some((id, ty)) = first.filter(|&(_, ty)| code.def_of(ty, Op::TypeStruct).is_none()) {
        return Err(Error::invalid(format!(
            "push-constant variable {} has type %{ty}, expected a struct; check the module with spirv-val",
            code.show(id)
        )));
    }
    Ok(first)
}

/// The push-constant block.
pub(super) fn push(
    code: &ParsedModule,
    entry: &EntryPoint,
    layouts: &HashMap<u32, TypeLayout>,
) -> Result<Option<PushBlock>> {
    let Some((variable, block)) = push_variable(code, entry)? else { return Ok(None) };
    let too_big = || {
        Error::invalid(format!(
            "push-constant block {} has a member without a fixed size, or beyond 4 GiB; use members of fixed size with \
             Offset decorations, and pass big data in a storage buffer",
            code.show(variable)
        ))
    };
    let types = code.def_of(block, Op::TypeStruct).map_or(&[][..], |inst| &inst.words[2..]);
    let (mut members, mut end, mut plain_end) = (Vec::new(), 0_u64, 0_u64);
    for (at, ty) in types.iter().enumerate() {
        let at = at as u32;
        let layout = layouts.get(ty).filter(|layout| layout.stride.is_none()).ok_or_else(too_big)?;
        let size = type_layout::member_size(code, block, at, layout);
        let offset = code.member_literal(block, at, Decoration::Offset).map_or(plain_end, u64::from);
        plain_end = offset.saturating_add(size);
        end = end.max(plain_end);
        members.push(PushMember {
            offset: u32::try_from(offset).map_err(|_| too_big())?,
            size: u32::try_from(size).map_err(|_| too_big())?,
            name: code.member_name(block, at),
        });
    }
    // Leaves room for the members that `split` appends.
    let size = u32::try_from(end).ok().filter(|&size| size < u32::MAX - 64).ok_or_else(too_big)?;
    let is_address = match (types, members.as_slice()) {
        ([ty], [member]) => member.offset == 0 && member.size == 8 && is_address(code, *ty),
        _ => false,
    };
    Ok(Some(PushBlock { size, members, is_address }))
}

fn is_address(code: &ParsedModule, ty: u32) -> bool {
    let Some(inst) = code.def(ty) else { return false };
    match inst.op {
        Some(Op::TypePointer) => inst.word(2) == StorageClass::PhysicalStorageBuffer as u32,
        Some(Op::TypeInt) => inst.word(2) == 64,
        Some(Op::TypeVector) => {
            inst.word(3) == 2 && constants::scalar_type(code, inst.word(2)) == Some(ScalarType::Int(32))
        }
        _ => false,
    }
}

/// Specialization constants, sorted by id. Constants that share an id are listed once.
pub(super) fn spec_constants(code: &ParsedModule) -> Result<Vec<SpecConstant>> {
    let mut found: BTreeMap<u32, SpecConstant> = BTreeMap::new();
    for inst in code.globals() {
        let (Some(id), Some(result)) = (constants::spec_id(code, inst), inst.result()) else { continue };
        let Some(scalar) = constants::scalar_constant(code, inst) else {
            return Err(Error::unsupported(format!(
                "specialization constant {id} ({}) has a type that revamp does not support; use a boolean, or an \
                 integer or floating-point number of 8 to 64 bits",
                code.show(result)
            )));
        };
        let kind = match scalar.ty {
            ScalarType::Bool => SpecKind::Bool,
            ScalarType::Int(width) => SpecKind::Int(width / 8),
            ScalarType::Float(width) => SpecKind::Float(width / 8),
        };
        let new = SpecConstant { id, name: code.name(result), kind, default: scalar.bits };
        let old = found.entry(id).or_insert_with(|| new.clone());
        if old.kind.size() != new.kind.size() {
            return Err(Error::unsupported(format!(
                "specialization constant {id} is declared with {} and with {}; give each constant its own id",
                old.kind, new.kind
            )));
        }
    }
    Ok(found.into_values().collect())
}
