//! The samplers of a device. Equal samplers are created once. Unused samplers are destroyed only when the device's limit is reached.

#![allow(unsafe_code)]

use super::instance::failed;
use super::physical::Physical;
use crate::device::{AddressMode, Sampler};
use crate::error::{Error, Result};
use crate::geometry::{ComponentKind, TexelFormat};
use crate::lock::{Mutex, rank};
use ash::vk;
use std::collections::HashMap;
use std::sync::Arc;

/// A border colour for Vulkan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Border {
    /// A predefined colour of Vulkan.
    Known(vk::BorderColor),
    /// The bits of four floats.
    Custom([u32; 4]),
}

/// The properties by which samplers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    linear_filter: bool,
    address: vk::SamplerAddressMode,
    border: Border,
}

impl Key {
    fn is_custom(&self) -> bool {
        matches!(self.border, Border::Custom(_))
    }
}

type Made = HashMap<Key, Arc<vk::Sampler>>;

/// The samplers created so far. A recording that uses a sampler holds a reference to it.
#[derive(Default)]
pub(super) struct Samplers {
    made: Mutex<Made, { rank::SAMPLERS }>,
}

/// The border colour for texels of this format (`None`: not known). Components that the format lacks are ignored, and values are
/// clamped to the range of the format.
fn border(colour: [f32; 4], texels: Option<TexelFormat>) -> Border {
    use vk::BorderColor as B;
    let component_count = texels.map_or(4, |t| t.components as usize);
    let colour = colour.map(|c| match texels.map(|t| t.kind) {
        Some(ComponentKind::Unorm) => c.clamp(0.0, 1.0),
        Some(ComponentKind::Norm) => c.clamp(-1.0, 1.0),
        _ => c,
    });
    let known = [
        ([0.0; 4], B::FLOAT_TRANSPARENT_BLACK, B::INT_TRANSPARENT_BLACK),
        ([0.0, 0.0, 0.0, 1.0], B::FLOAT_OPAQUE_BLACK, B::INT_OPAQUE_BLACK),
        ([1.0; 4], B::FLOAT_OPAQUE_WHITE, B::INT_OPAQUE_WHITE),
    ];
    // The image of a double texture has integers. Only the integer 0 has the same bits as the double of the same value.
    let usable = if texels.is_some_and(|t| t.kind == ComponentKind::Double) { &known[..1] } else { &known };
    let found = usable.iter().find(|(all, ..)| all[..component_count] == colour[..component_count]);
    match found {
        Some(&(_, _, of_integers)) if has_integers(texels) => Border::Known(of_integers),
        Some(&(_, of_floats, _)) => Border::Known(of_floats),
        None => Border::Custom(colour.map(f32::to_bits)),
    }
}

/// True for texels whose images have integers.
fn has_integers(texels: Option<TexelFormat>) -> bool {
    texels.is_some_and(|t| matches!(t.kind, ComponentKind::Int | ComponentKind::Uint | ComponentKind::Double))
}

impl Samplers {
    /// The sampler for images with texels of this format (`None`: not known).
    pub fn get(
        &self,
        raw: &ash::Device,
        physical: &Physical,
        sampler: &Sampler,
        texels: Option<TexelFormat>,
    ) -> Result<Arc<vk::Sampler>> {
        let (address, border) = match sampler.address {
            AddressMode::Clamp => (vk::SamplerAddressMode::CLAMP_TO_EDGE, None),
            AddressMode::Wrap => (vk::SamplerAddressMode::REPEAT, None),
            AddressMode::Mirror => (vk::SamplerAddressMode::MIRRORED_REPEAT, None),
            AddressMode::Border(colour) => (vk::SamplerAddressMode::CLAMP_TO_BORDER, Some(border(colour, texels))),
        };
        let border = border.unwrap_or(Border::Known(vk::BorderColor::FLOAT_TRANSPARENT_BLACK));
        let key = Key { linear_filter: sampler.linear_filter, address, border };
        let mut made = self.made.lock();
        if let Some(found) = made.get(&key) {
            return Ok(Arc::clone(found));
        }
        let name = &physical.name;
        if key.is_custom() {
            let f = &physical.features;
            if has_integers(texels) || !f.custom_border_colors || !f.custom_border_color_without_format {
                return Err(Error::unsupported(format!(
                    "{name} does not support samplers with this border colour. Use (0, 0, 0, 0), or, unless the texels \
                     are doubles, (0, 0, 0, 1) or (1, 1, 1, 1). Other border colours need the device features \
                     customBorderColors and customBorderColorWithoutFormat, and texels that are neither integers nor \
                     doubles"
                )));
            }
        }
        make_room(&mut made, raw, physical, key.is_custom())?;
        let (filter, mode) = if key.linear_filter {
            (vk::Filter::LINEAR, vk::SamplerMipmapMode::LINEAR)
        } else {
            (vk::Filter::NEAREST, vk::SamplerMipmapMode::NEAREST)
        };
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(filter)
            .mipmap_mode(mode)
            .address_mode_u(address)
            .address_mode_v(address)
            .address_mode_w(address)
            .max_lod(vk::LOD_CLAMP_NONE);
        let mut own = vk::SamplerCustomBorderColorCreateInfoEXT::default();
        let info = match border {
            Border::Known(colour) => info.border_color(colour),
            Border::Custom(bits) => {
                own.custom_border_color = vk::ClearColorValue { uint32: bits };
                info.border_color(vk::BorderColor::FLOAT_CUSTOM_EXT).push_next(&mut own)
            }
        };
        // SAFETY: the device is alive and supports the sampler.
        let new = unsafe { raw.create_sampler(&info, None) }
            .map_err(|e| failed(format_args!("{name}: vkCreateSampler"), e))?;
        let new = Arc::new(new);
        made.insert(key, Arc::clone(&new));
        Ok(new)
    }

    /// Destroys all samplers.
    ///
    /// # Safety
    /// No work uses the samplers any more.
    pub unsafe fn destroy(&mut self, raw: &ash::Device) {
        for (_, sampler) in self.made.get_mut().drain() {
            // SAFETY: by the caller.
            unsafe { raw.destroy_sampler(*sampler, None) };
        }
    }
}

/// Makes room for another sampler. If the limit is reached, destroys the samplers that no recording uses.
fn make_room(made: &mut Made, raw: &ash::Device, physical: &Physical, custom: bool) -> Result<()> {
    let [most, most_custom] = physical.limits.most_samplers.map(|n| n as usize);
    let full = |made: &Made| {
        let own = made.keys().filter(|k| k.is_custom()).count();
        (custom && own >= most_custom)
            .then_some((most_custom, "with a custom border colour"))
            .or((made.len() >= most).then_some((most, "in use at once")))
    };
    if full(made).is_none() {
        return Ok(());
    }
    made.retain(|_, sampler| {
        let used = Arc::strong_count(sampler) > 1;
        if !used {
            // SAFETY: recordings that use the sampler hold a reference, and new references are created only under this lock.
            unsafe { raw.destroy_sampler(**sampler, None) };
        }
        used
    });
    full(made).map_or(Ok(()), |(most, which)| {
        Err(Error::unsupported(format!(
            "{} supports at most {most} samplers {which}; use fewer different samplers",
            physical.name
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn border_components_that_the_format_lacks_are_ignored() {
        use vk::BorderColor as B;
        let of = |kind, components| {
            let bits = match kind {
                ComponentKind::Double => 64,
                ComponentKind::Float => 32,
                _ => 8,
            };
            TexelFormat::new(kind, components, bits).ok()
        };
        let cases = [
            ([0.0, 0.0, 0.0, 0.7], of(ComponentKind::Float, 2), Border::Known(B::FLOAT_TRANSPARENT_BLACK)),
            ([0.0, 0.0, 0.0, 1.0], of(ComponentKind::Float, 4), Border::Known(B::FLOAT_OPAQUE_BLACK)),
            ([2.0, 9.0, 3.0, 1.5], of(ComponentKind::Unorm, 4), Border::Known(B::FLOAT_OPAQUE_WHITE)),
            ([-0.5, 0.0, 0.0, 0.0], of(ComponentKind::Unorm, 4), Border::Known(B::FLOAT_TRANSPARENT_BLACK)),
            ([1.0, 0.0, 0.0, 0.0], of(ComponentKind::Int, 1), Border::Known(B::INT_OPAQUE_WHITE)),
            ([0.0, 0.0, 0.0, 1.0], of(ComponentKind::Double, 2), Border::Known(B::INT_TRANSPARENT_BLACK)),
            ([1.0; 4], of(ComponentKind::Double, 2), Border::Custom([1.0_f32; 4].map(f32::to_bits))),
            ([0.0, 0.0, 0.0, 0.7], None, Border::Custom([0.0_f32, 0.0, 0.0, 0.7].map(f32::to_bits))),
        ];
        for (colour, texels, expected) in cases {
            assert_eq!(border(colour, texels), expected, "{colour:?} {texels:?}");
        }
    }
}
