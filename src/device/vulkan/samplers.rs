//! The samplers of a device: each is made once and kept while the device has room for more.

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
    /// One of Vulkan's own.
    Known(vk::BorderColor),
    /// The bits of four floats.
    Custom([u32; 4]),
}

/// What tells samplers apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    linear: bool,
    address: vk::SamplerAddressMode,
    border: Border,
}

impl Key {
    fn is_custom(&self) -> bool {
        matches!(self.border, Border::Custom(_))
    }
}

type Made = HashMap<Key, Arc<vk::Sampler>>;

/// The samplers made so far. Who else has one is a recording that names it.
#[derive(Default)]
pub(super) struct Samplers {
    made: Mutex<Made, { rank::SAMPLERS }>,
}

/// The border for texels of this format (`None`: not known): as far as they have components, in their range.
fn border(colour: [f32; 4], texels: Option<TexelFormat>) -> Border {
    use vk::BorderColor as B;
    let has = texels.map_or(4, |t| t.components as usize);
    let colour = colour.map(|c| match texels.map(|t| t.kind) {
        Some(ComponentKind::Unorm) => c.clamp(0.0, 1.0),
        Some(ComponentKind::Norm) => c.clamp(-1.0, 1.0),
        _ => c,
    });
    let integer =
        texels.is_some_and(|t| matches!(t.kind, ComponentKind::Int | ComponentKind::Uint | ComponentKind::Double));
    let known = [
        ([0.0; 4], B::FLOAT_TRANSPARENT_BLACK, B::INT_TRANSPARENT_BLACK),
        ([0.0, 0.0, 0.0, 1.0], B::FLOAT_OPAQUE_BLACK, B::INT_OPAQUE_BLACK),
        ([1.0; 4], B::FLOAT_OPAQUE_WHITE, B::INT_OPAQUE_WHITE),
    ];
    let found = known.iter().find(|(all, ..)| all[..has] == colour[..has]);
    match found {
        Some(&(_, _, of_integers)) if integer => Border::Known(of_integers),
        Some(&(_, of_floats, _)) => Border::Known(of_floats),
        None => Border::Custom(colour.map(f32::to_bits)),
    }
}

impl Samplers {
    /// The sampler for images of this format, if that is known.
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
        let key = Key { linear: sampler.linear, address, border };
        let mut made = self.made.lock();
        if let Some(found) = made.get(&key) {
            return Ok(Arc::clone(found));
        }
        let name = &physical.name;
        if key.is_custom() {
            let f = &physical.features;
            let integer = texels.is_some_and(|t| matches!(t.kind, ComponentKind::Int | ComponentKind::Uint));
            if integer || !f.custom_border_colors || !f.custom_border_color_without_format {
                return Err(Error::unsupported(format!(
                    "{name} does not support samplers with this border colour (it needs the device features \
                     customBorderColors and customBorderColorWithoutFormat, and texels that are not integers); use 0, \
                     0, 0, 0 or 0, 0, 0, 1 or 1, 1, 1, 1"
                )));
            }
        }
        make_room(&mut made, raw, physical, key.is_custom())?;
        let (filter, mode) = if key.linear {
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
        // SAFETY: the device is alive and has what the sampler asks for.
        let new = unsafe { raw.create_sampler(&info, None) }
            .map_err(|e| failed(format_args!("{name}: vkCreateSampler"), e))?;
        let new = Arc::new(new);
        made.insert(key, Arc::clone(&new));
        Ok(new)
    }

    /// Destroys them.
    ///
    /// # Safety
    /// No work uses them any more.
    pub unsafe fn destroy(&mut self, raw: &ash::Device) {
        for (_, sampler) in self.made.get_mut().drain() {
            // SAFETY: by the caller.
            unsafe { raw.destroy_sampler(*sampler, None) };
        }
    }
}

/// Makes room for one more, if need be by destroying those that no recording names.
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
            // SAFETY: what names it in commands holds a reference, and new ones are given out under this lock alone.
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
    fn borders_count_as_far_as_there_are_components() {
        use vk::BorderColor as B;
        let of = |kind, components| {
            TexelFormat::new(kind, components, if kind == ComponentKind::Float { 32 } else { 8 }).ok()
        };
        let cases = [
            ([0.0, 0.0, 0.0, 0.7], of(ComponentKind::Float, 2), Border::Known(B::FLOAT_TRANSPARENT_BLACK)),
            ([0.0, 0.0, 0.0, 1.0], of(ComponentKind::Float, 4), Border::Known(B::FLOAT_OPAQUE_BLACK)),
            ([2.0, 9.0, 3.0, 1.5], of(ComponentKind::Unorm, 4), Border::Known(B::FLOAT_OPAQUE_WHITE)),
            ([-0.5, 0.0, 0.0, 0.0], of(ComponentKind::Unorm, 4), Border::Known(B::FLOAT_TRANSPARENT_BLACK)),
            ([1.0, 0.0, 0.0, 0.0], of(ComponentKind::Int, 1), Border::Known(B::INT_OPAQUE_WHITE)),
            ([0.0, 0.0, 0.0, 0.7], None, Border::Custom([0.0_f32, 0.0, 0.0, 0.7].map(f32::to_bits))),
        ];
        for (colour, texels, expected) in cases {
            assert_eq!(border(colour, texels), expected, "{colour:?} {texels:?}");
        }
    }
}
