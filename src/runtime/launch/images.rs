//! Checks the images and samplers that a launch of a SPIR-V kernel binds.

use crate::device::{ImageAbilities, Sampler};
use crate::error::{Error, Result};
use crate::geometry::{ComponentKind, TexelFormat};
use crate::kernel::{Access, Binding, BindingKind, ImageFormat, ImageType, SampledType};
use crate::runtime::accelerators::spirv_kernel::SpirvKernel;
use crate::runtime::data::operand::Operand;
use std::ops::Range;

/// An image that a launch binds.
#[derive(Clone)]
pub struct ImageArgument {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Index in an array of descriptors.
    pub element: u32,
    /// The texture's levels, as an operand.
    pub section: Operand,
    /// The numbers of the levels in `section`.
    pub levels: Range<u32>,
    /// The sampler.
    pub sampler: Option<Sampler>,
    /// How the kernel uses the image. `None`: as the kernel declares.
    pub access: Option<Access>,
}

/// The name of a binding in messages.
fn name(b: &Binding) -> String {
    format!("{b}, a {},", b.kind.name())
}

/// Checks an image against the declaration of the binding in the kernel.
pub(super) fn check(kernel: &SpirvKernel, declared: &Binding, argument: &ImageArgument) -> Result<()> {
    let binding_name = || name(declared);
    let ImageArgument { section, levels, sampler, .. } = argument;
    let Some(image) = declared.kind.image() else {
        return Err(Error::invalid(format!(
            "{} is given a texture, but is not an image; pass an array or array_view",
            binding_name()
        )));
    };
    let Operand::Array(array, _) = section else {
        return Err(Error::internal("the section of a texture is not an array"));
    };
    let abilities = array.buffer().image().ok_or_else(|| Error::internal("a texture has no image"))?;
    check_type(declared, image, abilities)?;
    let format = abilities.shape.format();
    let device = kernel.accelerator().name();
    match declared.kind {
        BindingKind::StorageImage(_) => {
            if !abilities.storage {
                return Err(Error::unsupported(format!(
                    "{} is given a texture of {format}, but {device} cannot write images of these texels; use another \
                     format",
                    binding_name()
                )));
            }
            if levels.len() > 1 {
                return Err(Error::invalid(format!(
                    "{} is given {} levels of a texture, but a storage image has one level; set level_count to 1",
                    binding_name(),
                    levels.len()
                )));
            }
        }
        BindingKind::CombinedImageSampler(_) => {
            let Some(sampler) = sampler else {
                return Err(Error::invalid(format!(
                    "{} is given a texture without a sampler; set the sampler",
                    binding_name()
                )));
            };
            if sampler.linear_filter && !abilities.linear_filter {
                return Err(Error::unsupported(format!(
                    "{} is given a texture of {format} with a linear filter, but {device} does not filter these \
                     texels; use REVAMP_FILTER_POINT",
                    binding_name()
                )));
            }
            return Ok(());
        }
        _ => {}
    }
    if sampler.is_some() {
        return Err(Error::invalid(format!(
            "{} is given a sampler, but takes none; leave the sampler NULL",
            binding_name()
        )));
    }
    Ok(())
}

/// Checks an image and the sampler of another binding, if the kernel samples the image with that sampler. `sampler`: the set and
/// the binding of the sampler, and the sampler.
pub(super) fn check_pair(kernel: &SpirvKernel, image: &ImageArgument, sampler: (u32, u32, &Sampler)) -> Result<()> {
    let Operand::Array(array, _) = &image.section else {
        return Err(Error::internal("the section of a texture is not an array"));
    };
    match array.buffer().image() {
        Some(abilities) if sampler.2.linear_filter && !abilities.linear_filter => Err(Error::unsupported(format!(
            "binding {} of set {} is given a linear sampler, but the kernel uses the sampler with a texture (binding \
             {} of set {}) of {}, which {} does not filter; use REVAMP_FILTER_POINT",
            sampler.1,
            sampler.0,
            image.binding,
            image.set,
            abilities.shape.format(),
            kernel.accelerator().name()
        ))),
        _ => Ok(()),
    }
}

/// Checks a binding to which the launch gives a sampler without an image. Fails unless the binding declares a sampler.
pub(super) fn check_sampler(declared: &Binding) -> Result<()> {
    if declared.kind == BindingKind::Sampler {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{} is given a sampler without a texture, but is not a sampler; pass an argument of the kind that the kernel \
         uses",
        name(declared)
    )))
}

fn check_type(declared: &Binding, image: ImageType, abilities: &ImageAbilities) -> Result<()> {
    let binding_name = || name(declared);
    let (shape, format) = (&abilities.shape, abilities.shape.format());
    if usize::from(image.dimensions) != shape.rank() {
        return Err(Error::invalid(format!(
            "{} has {} dimensions, but the texture has {}; both must be equal",
            binding_name(),
            image.dimensions,
            shape.rank()
        )));
    }
    let seen = sampled_as(format.kind);
    if image.sampled != seen {
        return Err(Error::invalid(format!(
            "{} has texels of {}, but kernels read the texture's {format} as {seen}; use {seen} for the binding in the \
             kernel",
            binding_name(),
            image.sampled
        )));
    }
    match image.format {
        Some(wanted) if matches!(declared.kind, BindingKind::StorageImage(_)) && Some(wanted) != format_of(format) => {
            Err(Error::invalid(format!(
                "{} is declared with format {wanted:?}, but the texture has {format}; both must be equal",
                binding_name()
            )))
        }
        _ => Ok(()),
    }
}

/// The type as which kernels read components. Kernels read a component of type double as two words.
fn sampled_as(kind: ComponentKind) -> SampledType {
    match kind {
        ComponentKind::Int => SampledType::Int,
        ComponentKind::Uint | ComponentKind::Double => SampledType::Uint,
        ComponentKind::Float | ComponentKind::Norm | ComponentKind::Unorm => SampledType::Float,
    }
}

/// The SPIR-V image format of these texels.
fn format_of(f: TexelFormat) -> Option<ImageFormat> {
    use ComponentKind::{Double, Float, Int, Norm, Uint, Unorm};
    use ImageFormat as I;
    let all = match (f.kind, f.bits) {
        (Int, 8) => [I::R8i, I::Rg8i, I::Unknown, I::Rgba8i],
        (Int, 16) => [I::R16i, I::Rg16i, I::Unknown, I::Rgba16i],
        (Int, 32) => [I::R32i, I::Rg32i, I::Unknown, I::Rgba32i],
        (Uint, 8) => [I::R8ui, I::Rg8ui, I::Unknown, I::Rgba8ui],
        (Uint, 16) => [I::R16ui, I::Rg16ui, I::Unknown, I::Rgba16ui],
        (Uint, 32) => [I::R32ui, I::Rg32ui, I::Unknown, I::Rgba32ui],
        (Float, 16) => [I::R16f, I::Rg16f, I::Unknown, I::Rgba16f],
        (Float, 32) => [I::R32f, I::Rg32f, I::Unknown, I::Rgba32f],
        (Norm, 8) => [I::R8Snorm, I::Rg8Snorm, I::Unknown, I::Rgba8Snorm],
        (Norm, 16) => [I::R16Snorm, I::Rg16Snorm, I::Unknown, I::Rgba16Snorm],
        (Unorm, 8) => [I::R8, I::Rg8, I::Unknown, I::Rgba8],
        (Unorm, 16) => [I::R16, I::Rg16, I::Unknown, I::Rgba16],
        (Double, 64) => [I::Rg32ui, I::Rgba32ui, I::Unknown, I::Unknown],
        _ => return None,
    };
    all.get(f.components as usize - 1).copied()
}
