//! Textures as images (decision 34): what the headers read of a texture becomes an instruction on a descriptor, if the texture is
//! one that the kernel captures. Where it is not known which, the kernel has no form with images.

use super::assembler::Scalar;
use super::capture_uses::Origin;
use super::emitter::{Emitter, Lowered};
use crate::device_abi::ImageRead;
use crate::ir::{CastOp, Op, Operand, Value};
use crate::kernel_error::KernelError;
use revamp_image::{IMAGE_SET, ImageUse, SamplerUse};
use rspirv::dr;
use rspirv::spirv::{self, Op as S, Word};

/// How many arguments name the sampler.
const SAMPLER: usize = 2;

/// A call of a function by which the headers read images. Its arguments: the texture's address, the number of dimensions (of
/// gathers the component), for all but fetches filter and address mode, coordinates x, y and z, level of detail.
pub(super) fn read(e: &mut Emitter, reading: ImageRead, arguments: &[Operand]) -> Lowered<Vec<Word>> {
    let texel = match reading {
        ImageRead::FetchInts => Scalar::I32,
        ImageRead::FetchUnsigned => Scalar::U32,
        _ => Scalar::F32,
    };
    let is_sampled = matches!(reading, ImageRead::Sample | ImageRead::Gather);
    let (sampler, place) = if is_sampled { (SAMPLER, Scalar::F32) } else { (0, Scalar::U32) };
    let [texels, number, rest @ ..] = arguments else { return Err(e.internal("a read of an image")) };
    let (Some(number), Some((sampler, [x, y, z, level]))) =
        (number.unsigned(), rest.split_at_checked(sampler).and_then(|(s, r)| Some((s, r.first_chunk::<4>()?))))
    else {
        return Err(e.internal("a read of an image"));
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
        let ty = e.asm.vector(place, rank as u32);
        e.asm.op(S::CompositeConstruct, ty, &at)
    };
    let bound = bound(e, image, reading, rank, texel);
    let mut operands = vec![dr::Operand::IdRef(bound), dr::Operand::IdRef(at)];
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

/// Which texture of the kernel's captures is read, and with which sampler.
fn image_use(e: &Emitter, reading: ImageRead, texels: &Operand, sampler: &[Operand]) -> Lowered<ImageUse> {
    let untraced = |what: &str| {
        Err(KernelError::new(format!(
            "the kernel compiler cannot tell which captured {what} is read: use the captured {what} itself, not a choice of two"
        )))
    };
    let origin = match defined(e, texels) {
        // Only as it was captured: not a part of it.
        Some((Op::Load { .. }, local)) => e.pointers.origins_of(local),
        _ => return untraced("texture"),
    };
    let (offset, further) = match origin.iter().collect::<Vec<_>>()[..] {
        [&Origin::Capture(offset, depth @ 0..=1)] => (offset, depth > 0),
        _ => return untraced("texture"),
    };
    let sampler = match sampler {
        [] => None,
        [filter, address] => Some(match (filter.unsigned(), address.unsigned()) {
            (Some(filter), Some(address)) => SamplerUse::Fixed { filter: filter as u32, address: address as u32 },
            _ => match (captured(e, filter), captured(e, address)) {
                // As the class `sampler` has them.
                (Some(at), Some(next)) if next == at + 4 => SamplerUse::Captured(at),
                _ => return untraced("sampler"),
            },
        }),
        _ => return Err(e.internal("a sampler")),
    };
    Ok(ImageUse { offset, further, sampler, gathers: reading == ImageRead::Gather })
}

/// The instruction that made a value, behind those that only pass it on.
fn defined<'m>(e: &Emitter<'m>, operand: &Operand) -> Option<(&'m Op, crate::ir::LocalId)> {
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

/// Where in the block a number lies that is loaded from there.
fn captured(e: &Emitter, operand: &Operand) -> Option<u32> {
    match defined(e, operand)? {
        (Op::Load { pointer: Operand { value: Value::Local(pointer), .. }, .. }, _) => e.pointers.in_block(*pointer),
        _ => None,
    }
}

/// The image of a descriptor, or image and sampler.
fn bound(e: &mut Emitter, image: ImageUse, reading: ImageRead, rank: usize, texel: Scalar) -> Word {
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
