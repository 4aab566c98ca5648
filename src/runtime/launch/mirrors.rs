//! The images that a compiled kernel reads in place of the texels of its textures (decision 34).

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

/// A texture of which a launch reads the image.
pub(in crate::runtime) struct Mirroring {
    array: Weak<Array>,
    levels: Range<u32>,
    used: ImageUse,
}

/// How a launch reads its textures.
pub(in crate::runtime) enum TextureAccess {
    /// By address.
    Texels,
    /// By address this time.
    TexelsNow,
    /// As images.
    Images(Vec<Mirroring>, Vec<BoundImage>),
}

/// Decides for a launch on `view`, and brings images up to date.
pub(in crate::runtime) fn form(
    kernel: &Compiled,
    launch: &FunctionLaunch<'_>,
    captured: &[Captured<'_>],
    view: &Arc<AcceleratorView>,
) -> Result<TextureAccess> {
    let Some((_, images)) = &kernel.with_images else { return Ok(TextureAccess::Texels) };
    // By index both forms read the same, so that may change from launch to launch; what is sampled differs by some bits.
    let needed = images.iter().any(|used| used.sampler.is_some());
    let (mut all, mut bound) = (Vec::new(), Vec::new());
    let mut later = false;
    for (binding, used) in (0..).zip(images) {
        let Some((array, bytes)) = texture_of(used, launch) else { return Ok(TextureAccess::Texels) };
        // An image beside the texels would not show what the kernel writes (TEX-35).
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
            (None, Some(mirror)) => match mirror.read(array.buffer(), &levels, needed, view)? {
                Mirrored::No => return Ok(TextureAccess::Texels),
                Mirrored::NotYet => {
                    later = true;
                    continue;
                }
                Mirrored::Image(image) => image,
            },
        };
        let Some(one) = bind(binding, used, &image, &levels, launch.block)? else { return Ok(TextureAccess::Texels) };
        bound.push(one);
        all.push(Mirroring { array: Arc::downgrade(array), levels, used: *used });
    }
    Ok(if later { TextureAccess::TexelsNow } else { TextureAccess::Images(all, bound) })
}

/// The same images for a launch that is done again; `None` if something has changed.
pub(in crate::runtime) fn rebound(all: &[Mirroring], block: &[u8]) -> Result<Option<Vec<BoundImage>>> {
    let mut bound = Vec::new();
    for (binding, one) in (0..).zip(all) {
        let Some(array) = one.array.upgrade() else { return Ok(None) };
        let Some(image) = array.mirror().and_then(|mirror| mirror.fresh(&one.levels)) else { return Ok(None) };
        let Some(one) = bind(binding, &one.used, &image, &one.levels, block)? else { return Ok(None) };
        bound.push(one);
    }
    Ok(Some(bound))
}

/// The texture that lies where a kernel has an image, and its bytes.
fn texture_of<'a>(used: &ImageUse, launch: &'a FunctionLaunch<'_>) -> Option<(&'a Arc<Array>, Range<u64>)> {
    let is_it = |slot: &AddressSlot<'_>| {
        slot.offset() == used.offset && used.further == matches!(slot, AddressSlot::Behind(..))
    };
    let argument = launch.arguments.iter().find(|a| a.slot.as_ref().is_some_and(is_it))?;
    match &argument.section {
        Operand::Array(array, layout) => Some((array, layout.hull())),
        _ => None,
    }
}

/// The descriptor of an image; `None` if the device cannot read it so.
fn bind(
    binding: u32,
    used: &ImageUse,
    image: &Arc<dyn Buffer>,
    levels: &Range<u32>,
    block: &[u8],
) -> Result<Option<BoundImage>> {
    let Some(abilities) = image.image() else { return Err(Error::internal("a mirror that is no image")) };
    let sampler = match &used.sampler {
        Some(how) => Some(sampler(how, block)?),
        None => None,
    };
    // Filters do not count for gathers.
    let sampler = sampler.map(|s| Sampler { linear: s.linear && !used.gathers, ..s });
    if !abilities.robust || sampler.is_some_and(|s| s.linear && !abilities.linear) {
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

/// A sampler in the numbers of C++ AMP.
fn sampler(used: &SamplerUse, block: &[u8]) -> Result<Sampler> {
    let word = |at: u32| {
        let bytes = block.get(at as usize..).and_then(|rest| rest.first_chunk());
        bytes.map(|bytes| u32::from_ne_bytes(*bytes)).ok_or_else(|| Error::internal("a sampler beyond the block"))
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
    Ok(Sampler { linear: filter != 0, address })
}
