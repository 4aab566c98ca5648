//! Lowers reads of textures to image instructions (decision 34). In the headers, a texture read is a call. If the
//! kernel compiler knows which captured texture the call reads, the call becomes an image instruction on a descriptor.
//! Otherwise, the kernel has no variant with images.

use super::assembler::Scalar;
use super::capture_uses::Origin;
use super::emitter::{Emitter, Lowered};
use crate::device_abi::ImageRead;
use crate::ir::{CastOp, Op, Operand, Value};
use crate::kernel_error::KernelError;
use revamp_image::{IMAGE_SET, ImageUse, SamplerUse};
use rspirv::dr;
use rspirv::spirv::{self, Op as S, Word};

/// The number of arguments that describe the sampler.
const SAMPLER_ARGUMENTS: usize = 2;

/// Lowers a call by which the headers read an image. The arguments of the call, in order: the texture's address; the number of dimensions
/// (for gathers, the component); filter and address mode (not for fetches); coordinates x, y and z; level of detail.
pub(super) fn read(e: &mut Emitter, reading: ImageRead, arguments: &[Operand]) -> Lowered<Vec<Word>> {
    let texel = match reading {
        ImageRead::FetchInts => Scalar::I32,
        ImageRead::FetchUnsigned => Scalar::U32,
        _ => Scalar::F32,
    };
    let is_sampled = matches!(reading, ImageRead::Sample | ImageRead::Gather);
    let (sampler, coordinate_type) = if is_sampled { (SAMPLER_ARGUMENTS, Scalar::F32) } else { (0, Scalar::U32) };
    let [texels, number, rest @ ..] = arguments else {
        return Err(e.internal("a call that reads an image has unexpected arguments"));
    };
    let (Some(number), Some((sampler, [x, y, z, level]))) =
        (number.unsigned(), rest.split_at_checked(sampler).and_then(|(s, r)| Some((s, r.first_chunk::<4>()?))))
    else {
        return Err(e.internal("a call that reads an image has unexpected arguments"));
    };
    let rank = if reading == ImageRead::Gather { 2 } else { number.clamp(1, 3) as usize };
    let image = image_use(e, reading, texels, sampler)?;
    let mut at = Vec::new();
    for coordinate in [x, y, z].into_iter().take(rank) {
        at.push(e.word(coordinate)?);
    }
    let at = if let [one] = at[..] {
        one
    } else {
        let ty = e.asm.vector(coordinate_type, rank as u32);
        e.asm.op(S::CompositeConstruct, ty, &at)
    };
    let descriptor = descriptor(e, image, reading, rank, texel);
    let mut operands = vec![dr::Operand::IdRef(descriptor), dr::Operand::IdRef(at)];
    let op = match reading {
        ImageRead::Sample => S::ImageSampleExplicitLod,
        ImageRead::Gather => S::ImageGather,
        _ => S::ImageFetch,
    };
    if reading == ImageRead::Gather {
        operands.push(dr::Operand::IdRef(e.asm.constant(Scalar::U32, number)));
    } else {
        operands.push(dr::Operand::ImageOperands(spirv::ImageOperands::LOD));
        operands.push(dr::Operand::IdRef(e.word(level)?));
    }
    let four = e.asm.vector(texel, 4);
    let all = e.asm.id();
    e.asm.push(dr::Instruction::new(op, Some(four), Some(all), operands));
    let mut words = Vec::new();
    for n in 0..4 {
        let (ty, id) = (e.asm.scalar(texel), e.asm.id());
        let operands = vec![dr::Operand::IdRef(all), dr::Operand::LiteralBit32(n)];
        e.asm.push(dr::Instruction::new(S::CompositeExtract, Some(ty), Some(id), operands));
        words.push(if texel == Scalar::I32 { e.asm.make(S::Bitcast, Scalar::U32, &[id]) } else { id });
    }
    Ok(words)
}

/// The captured texture that a call reads, and the sampler.
fn image_use(e: &Emitter, reading: ImageRead, texels: &Operand, sampler: &[Operand]) -> Lowered<ImageUse> {
    let untraced = |what: &str| {
        Err(KernelError::new(format!(
            "the kernel compiler cannot tell which captured {what} is read: use one captured {what} directly, not a \
             choice between two"
        )))
    };
    let origin = match definition(e, texels) {
        // The address must be the captured pointer itself, not an address computed from it.
        Some((Op::Load { .. }, local)) => e.pointers.origins_of(local),
        _ => return untraced("texture"),
    };
    let (offset, indirect) = match origin.iter().collect::<Vec<_>>()[..] {
        [&Origin::Capture(offset, depth @ 0..=1)] => (offset, depth > 0),
        _ => return untraced("texture"),
    };
    let sampler = match sampler {
        [] => None,
        [filter, address] => Some(match (filter.unsigned(), address.unsigned()) {
            (Some(filter), Some(address)) => SamplerUse::Fixed { filter: filter as u32, address: address as u32 },
            _ => match (captured(e, filter), captured(e, address)) {
                // The class `sampler` stores the address mode after the filter.
                (Some(at), Some(next)) if next == at + 4 => SamplerUse::Captured(at),
                _ => return untraced("sampler"),
            },
        }),
        _ => return Err(e.internal("a call that samples an image has an unexpected number of sampler arguments")),
    };
    Ok(ImageUse { offset, indirect, sampler, gathers: reading == ImageRead::Gather })
}

/// The instruction that defines a value, with its result. Casts and freezes are skipped.
fn definition<'m>(e: &Emitter<'m>, operand: &Operand) -> Option<(&'m Op, crate::ir::LocalId)> {
    let mut value = &operand.value;
    loop {
        let Value::Local(local) = value else { return None };
        let made = e.function.instructions().find(|i| i.result == Some(*local))?;
        match &made.op {
            Op::Cast { op: CastOp::AddrSpaceCast | CastOp::BitCast, value: from, .. } | Op::Freeze { value: from } => {
                value = &from.value;
            }
            op => return Some((op, *local)),
        }
    }
}

/// The offset in the argument block from which a number is loaded; `None` if the number is not loaded from the block.
fn captured(e: &Emitter, operand: &Operand) -> Option<u32> {
    match definition(e, operand)? {
        (Op::Load { pointer: Operand { value: Value::Local(pointer), .. }, .. }, _) => {
            e.pointers.argument_block_offset(*pointer)
        }
        _ => None,
    }
}

/// Loads the image, or the combined image and sampler, of a descriptor.
fn descriptor(e: &mut Emitter, image: ImageUse, reading: ImageRead, rank: usize, texel: Scalar) -> Word {
    let asm = &mut e.asm;
    let ty = asm.image(texel, rank, matches!(reading, ImageRead::Sample | ImageRead::Gather));
    let known = e.images.iter().find(|(known, _)| *known == image).map(|(_, variable)| *variable);
    let variable = known.unwrap_or_else(|| {
        let made = asm.variable(spirv::StorageClass::UniformConstant, ty, None);
        asm.bind(made, IMAGE_SET, e.images.len() as u32);
        e.images.push((image, made));
        made
    });
    asm.op(S::Load, ty, &[variable])
}
