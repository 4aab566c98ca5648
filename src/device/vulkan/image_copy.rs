//! Copies of images: runs of bytes of a texture's host form become boxes of texels.

#![allow(unsafe_code)]

use super::batch::Command;
use super::core::{Core, Release};
use super::image::{ProgramImage, VulkanImage};
use super::memory::VulkanBuffer;
use super::queue::{BufferUse, VulkanQueue};
use crate::device::Buffer;
use crate::device::hazard::Point;
use crate::error::{Error, Result};
use crate::geometry::{CopyPlan, TexelBox, TextureShape};
use ash::vk;
use std::ops::Range;
use std::sync::Arc;

/// Most regions of one copy command.
const REGIONS: usize = 1024;

/// A new image. Its first command goes to `queue`.
pub(super) fn create(
    core: &Arc<Core>,
    shape: &TextureShape,
    queue: &VulkanQueue,
    label: &str,
) -> Result<Arc<dyn Buffer>> {
    let image = VulkanImage::new(core, shape, label)?;
    let buffer: Arc<dyn Buffer> = image.clone();
    queue.prepare(&buffer, &image)?;
    Ok(buffer)
}

/// An image of the program, which is brought into its layout.
///
/// # Safety
/// As for [`VulkanImage::over_program`]; it lives until `release` is called.
pub(super) unsafe fn adopt(
    core: &Arc<Core>,
    queue: &VulkanQueue,
    image: &ProgramImage,
    shape: &TextureShape,
    release: Option<Release>,
) -> Result<Arc<dyn Buffer>> {
    // SAFETY: by the caller.
    let made = unsafe { VulkanImage::over_program(core, image, shape) }?;
    let buffer: Arc<dyn Buffer> = made.clone();
    queue.prepare(&buffer, &made)?;
    // If it is not taken, the program is not told either.
    if let Some(release) = release {
        made.set_release(release);
    }
    Ok(buffer)
}

/// Texels of an image and where they lie in a buffer, from `offset` on; rows lie `pitch` bytes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Region {
    texels: TexelBox,
    offset: u64,
    pitch: u64,
}

/// The regions of contiguous runs of bytes: (offset in the host form, offset in the buffer, bytes). Rows of a box become one.
fn regions(shape: &TextureShape, runs: impl Iterator<Item = (u64, u64, u64)>) -> Vec<Region> {
    let texel = shape.format().bytes();
    let mut all: Vec<Region> = Vec::new();
    for (inside, outside, bytes) in runs {
        let mut offset = outside;
        shape.for_each_box(&(inside..inside + bytes), |texels| {
            let next = Region { texels, offset, pitch: u64::from(texels.size[0]) * texel };
            offset += texels.size.iter().map(|&n| u64::from(n)).product::<u64>() * texel;
            if !all.last_mut().is_some_and(|last| join(last, &next, texel)) {
                all.push(next);
            }
        });
    }
    all
}

/// Adds a row to a region that it follows.
fn join(region: &mut Region, row: &Region, texel: u64) -> bool {
    let (a, b) = (&region.texels, &row.texels);
    let flat = a.size[2] == 1 && b.size[1] == 1 && b.size[2] == 1;
    let below = (b.level, b.at, b.size[0]) == (a.level, [a.at[0], a.at[1] + a.size[1], a.at[2]], a.size[0]);
    let ascends = row.offset >= region.offset + region.pitch;
    if !flat || !below || !ascends {
        return false;
    }
    let pitch = if a.size[1] == 1 { row.offset - region.offset } else { region.pitch };
    if pitch % texel != 0 || row.offset - region.offset != pitch * u64::from(a.size[1]) {
        return false;
    }
    region.pitch = pitch;
    region.texels.size[1] += 1;
    true
}

fn subresource(level: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).mip_level(level).layer_count(1)
}

fn offset_of(b: &TexelBox) -> vk::Offset3D {
    let [x, y, z] = b.at.map(|n| n as i32);
    vk::Offset3D { x, y, z }
}

fn size_of(b: &TexelBox) -> vk::Extent3D {
    let [width, height, depth] = b.size;
    vk::Extent3D { width, height, depth }
}

/// A copy of which one side or both are images.
enum ImageCopy<'a> {
    Up(&'a VulkanBuffer, &'a VulkanImage, Vec<vk::BufferImageCopy>),
    Down(&'a VulkanImage, &'a VulkanBuffer, Vec<vk::BufferImageCopy>),
    Across(&'a VulkanImage, &'a VulkanImage, Vec<vk::ImageCopy>),
}

impl ImageCopy<'_> {
    fn write(&self, raw: &ash::Device, commands: vk::CommandBuffer) {
        let layout = vk::ImageLayout::GENERAL;
        // SAFETY: recording on a compute queue; the regions lie in images and buffers, as the runtime has checked, and those
        // are of this device.
        unsafe {
            match self {
                Self::Up(from, to, regions) => regions
                    .chunks(REGIONS)
                    .for_each(|r| raw.cmd_copy_buffer_to_image(commands, from.raw, to.raw, layout, r)),
                Self::Down(from, to, regions) => regions
                    .chunks(REGIONS)
                    .for_each(|r| raw.cmd_copy_image_to_buffer(commands, from.raw, layout, to.raw, r)),
                Self::Across(from, to, regions) => regions
                    .chunks(REGIONS)
                    .for_each(|r| raw.cmd_copy_image(commands, from.raw, layout, to.raw, layout, r)),
            }
        }
    }
}

/// The runs of packed positions `part`: offsets in source and destination, and bytes.
fn runs(plan: &CopyPlan, part: &Range<u64>, shift: (u64, u64)) -> Vec<(u64, u64, u64)> {
    let mut all = Vec::new();
    plan.for_each_run(part.start, part.end, |from, to, bytes| all.push((from - shift.0, to - shift.1, bytes)));
    all
}

fn buffer_copies(
    shape: &TextureShape,
    base: u64,
    runs: impl Iterator<Item = (u64, u64, u64)>,
) -> Vec<vk::BufferImageCopy> {
    let texel = shape.format().bytes();
    let one = |r: &Region| {
        vk::BufferImageCopy::default()
            .buffer_offset(base + r.offset)
            .buffer_row_length((r.pitch / texel) as u32)
            .image_subresource(subresource(r.texels.level))
            .image_offset(offset_of(&r.texels))
            .image_extent(size_of(&r.texels))
    };
    regions(shape, runs).iter().map(one).collect()
}

/// The boxes of both sides: those of whole rows and slices are alike, since the extents of both sides are.
fn image_copies(from: &TextureShape, to: &TextureShape, runs: &[(u64, u64, u64)]) -> Result<Vec<vk::ImageCopy>> {
    let boxes = |shape: &TextureShape, side: fn(&(u64, u64, u64)) -> u64| {
        regions(shape, runs.iter().map(move |r| (side(r), side(r), r.2)))
    };
    let (a, b) = (boxes(from, |r| r.0), boxes(to, |r| r.1));
    if a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| a.texels.size != b.texels.size) {
        return Err(Error::internal("a copy between images of different boxes"));
    }
    let one = |(a, b): (&Region, &Region)| {
        vk::ImageCopy::default()
            .src_subresource(subresource(a.texels.level))
            .src_offset(offset_of(&a.texels))
            .dst_subresource(subresource(b.texels.level))
            .dst_offset(offset_of(&b.texels))
            .extent(size_of(&a.texels))
    };
    Ok(a.iter().zip(&b).map(one).collect())
}

/// Records a copy of which one side or both are images; `uses` are both.
pub(super) fn copy(
    queue: &VulkanQueue,
    uses: &[BufferUse<'_>; 2],
    shift: (u64, u64),
    plan: &CopyPlan,
    part: &Range<u64>,
) -> Result<Point> {
    let core = &queue.core;
    let all = runs(plan, part, shift);
    let [source, destination] = [uses[0].buffer, uses[1].buffer];
    let copy = match (VulkanImage::of(source), VulkanImage::of(destination)) {
        (None, Some(to)) => {
            let from = VulkanBuffer::of(source, core)?;
            let turned = all.iter().map(|&(outside, inside, bytes)| (inside, outside, bytes));
            ImageCopy::Up(from, to, buffer_copies(&to.abilities.shape, from.base, turned))
        }
        (Some(from), None) => {
            let to = VulkanBuffer::of(destination, core)?;
            ImageCopy::Down(from, to, buffer_copies(&from.abilities.shape, to.base, all.iter().copied()))
        }
        (Some(from), Some(to)) => {
            ImageCopy::Across(from, to, image_copies(&from.abilities.shape, &to.abilities.shape, &all)?)
        }
        (None, None) => return Err(Error::internal("a copy of images without one")),
    };
    queue.record(uses, Command::Other(&mut |commands| copy.write(&core.raw, commands)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{ComponentKind, Layout, TexelFormat};

    #[test]
    fn rows_of_a_section_become_one_region() {
        let format = TexelFormat::new(ComponentKind::Uint, 2, 8).unwrap();
        let shape = TextureShape::new(format, &[4, 6, 8], None).unwrap();
        let level = shape.level(1);
        let section = level.section(&[1, 1, 2], &[1, 2, 2]);
        let plan = CopyPlan::new(&section, &Layout::packed(0, 2, &[1, 2, 2])).unwrap();
        let all = runs(&plan, &(0..plan.bytes()), (0, 0));
        let texels = TexelBox { level: 1, at: [2, 1, 1], size: [2, 2, 1] };
        assert_eq!(regions(&shape, all.into_iter()), [Region { texels, offset: 0, pitch: 4 }]);
        // Packed levels: one region each.
        let linear = regions(&shape, [(0, 0, shape.bytes())].into_iter());
        assert_eq!(linear.len() as u32, shape.levels());
        assert_eq!(linear[1].texels, TexelBox { level: 1, at: [0; 3], size: [4, 3, 2] });
    }
}
