//! Mirror images: images that a compiled kernel reads in place of the texels of its textures (decision 34).

use crate::device::block::AddressSlot;
use crate::device::{AddressMode, BoundImage, Buffer, Sampler, Use};
use crate::error::{Error, Result};
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::kernel::image::{IMAGE_SET, ImageUse, SamplerUse};
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::mirror::{Mirror, Mirrored};
use crate::runtime::data::operand::Operand;
use crate::runtime::launch::arguments::Captured;
use crate::runtime::launch::request::FunctionLaunch;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// A texture that a launch reads as an image.
pub(in crate::runtime) struct Mirroring {
    array: Weak<Array>,
    levels: Range<u32>,
    used: ImageUse,
}

/// How a launch reads its textures.
pub(in crate::runtime) enum TextureAccess {
    /// As texels, by address.
    Texels,
    /// As texels in this launch. A later launch may read images.
    TexelsNow,
    /// As images.
    Images(Vec<Mirroring>, Vec<BoundImage>),
}

/// Decides how a launch on `view` reads its textures, and brings images up to date.
pub(in crate::runtime) fn texture_access(
    kernel: &Compiled,
    launch: &FunctionLaunch<'_>,
    captured: &[Captured<'_>],
    view: &Arc<AcceleratorView>,
) -> Result<TextureAccess> {
    let Some((_, images)) = &kernel.with_images else { return Ok(TextureAccess::Texels) };
    // A read by index returns the same texel from an image and by address, so the choice may differ between launches. Sampling
    // an image and sampling texels by address give slightly different values, so a kernel that samples always needs the images.
    let needs_images = images.iter().any(|used| used.sampler.is_some());
    let (mut all, mut bound) = (Vec::new(), Vec::new());
    let mut is_pending = false;
    for (binding, used) in (0..).zip(images) {
        let Some((array, bytes)) = texture_of(used, launch) else { return Ok(TextureAccess::Texels) };
        // A mirror image would not show the kernel's own writes to the texels (TEX-35).
        if captured.iter().any(|c| c.access.writes() && c.operand.overlaps(array, &bytes)) {
            return Ok(TextureAccess::Texels);
        }
        let image = array.buffer().image().map(|_| array.buffer());
        let shape = image.and_then(|image| image.image()).map(|a| &a.shape);
        let Some(shape) = shape.or(array.mirror().map(Mirror::shape)) else { return Ok(TextureAccess::Texels) };
        let Some(levels) = shape.levels_of(&bytes) else { return Ok(TextureAccess::Texels) };
        let image = match (image, array.mirror()) {
            (Some(image), _) => image.clone(),
            (None, None) => return Ok(TextureAccess::Texels),
            (None, Some(mirror)) => match mirror.read(array.buffer(), &levels, needs_images, view)? {
                Mirrored::No => return Ok(TextureAccess::Texels),
                Mirrored::NotYet => {
                    is_pending = true;
                    continue;
                }
                Mirrored::Image(image) => image,
            },
        };
        let Some(one) = bind(binding, used, &image, &levels, launch.block)? else { return Ok(TextureAccess::Texels) };
        bound.push(one);
        all.push(Mirroring { array: Arc::downgrade(array), levels, used: *used });
    }
    Ok(if is_pending { TextureAccess::TexelsNow } else { TextureAccess::Images(all, bound) })
}

/// The descriptors of the images `all`, for a repeated launch with the argument block `block`. `None` if something has
/// changed.
pub(in crate::runtime) fn rebound(all: &[Mirroring], block: &[u8]) -> Result<Option<Vec<BoundImage>>> {
    let mut bound = Vec::new();
    for (binding, one) in (0..).zip(all) {
        let Some(array) = one.array.upgrade() else { return Ok(None) };
        // Launches with textures that are stored as images are not cached.
        debug_assert!(array.mirror().is_some());
        let Some(image) = array.mirror().and_then(|mirror| mirror.fresh(&one.levels)) else { return Ok(None) };
        let Some(one) = bind(binding, &one.used, &image, &one.levels, block)? else { return Ok(None) };
        bound.push(one);
    }
    Ok(Some(bound))
}

/// The texture that the kernel reads as the image `used`, and the bytes of the texture.
fn texture_of<'a>(used: &ImageUse, launch: &'a FunctionLaunch<'_>) -> Option<(&'a Arc<Array>, Range<u64>)> {
    let is_slot_of_image = |slot: &AddressSlot<'_>| {
        slot.offset() == used.offset && used.indirect == matches!(slot, AddressSlot::Indirect(..))
    };
    let argument = launch.arguments.iter().find(|a| a.slot.as_ref().is_some_and(is_slot_of_image))?;
    match &argument.section {
        Operand::Array(array, layout) => Some((array, layout.hull())),
        _ => None,
    }
}

/// The descriptor of an image. `None` if the device cannot read or sample the image as the kernel does.
fn bind(
    binding: u32,
    used: &ImageUse,
    image: &Arc<dyn Buffer>,
    levels: &Range<u32>,
    block: &[u8],
) -> Result<Option<BoundImage>> {
    let Some(abilities) = image.image() else { return Err(Error::internal("the mirror of a texture is not an image")) };
    let sampler = match &used.sampler {
        Some(sampler_use) => Some(sampler(sampler_use, block)?),
        None => None,
    };
    // Gathers ignore the filter.
    let sampler = sampler.map(|s| Sampler { linear_filter: s.linear_filter && !used.gathers, ..s });
    if !abilities.robust || sampler.is_some_and(|s| s.linear_filter && !abilities.linear_filter) {
        return Ok(None);
    }
    let range = abilities.shape.layout(levels).hull();
    let read = Use { buffer: image.clone(), range, access: Access::Read };
    Ok(Some(BoundImage {
        set: IMAGE_SET,
        binding,
        element: 0,
        image: Some((read, levels.clone())),
        storage: false,
        sampler,
    }))
}

/// Converts a sampler from the numbers of C++ AMP's filter and address modes. `block`: the argument block, for a captured sampler.
fn sampler(used: &SamplerUse, block: &[u8]) -> Result<Sampler> {
    let word = |at: u32| {
        let bytes = block.get(at as usize..).and_then(|rest| rest.first_chunk());
        bytes
            .map(|bytes| u32::from_ne_bytes(*bytes))
            .ok_or_else(|| Error::internal("a sampler is outside of the argument block"))
    };
    let (filter, address) = match *used {
        SamplerUse::Fixed { filter, address } => (filter, address),
        SamplerUse::Captured(at) => (word(at)?, word(at + 4)?),
    };
    let address = match (address, used) {
        (1, _) => AddressMode::Wrap,
        (2, _) => AddressMode::Mirror,
        (4, &SamplerUse::Captured(at)) => {
            let mut colour = [0.0; 4];
            for (n, c) in (0..).zip(&mut colour) {
                *c = f32::from_bits(word(at + 8 + 4 * n)?);
            }
            AddressMode::Border(colour)
        }
        _ => AddressMode::Clamp,
    };
    Ok(Sampler { linear_filter: filter != 0, address })
}
