//! Copies from and to images. Runs of bytes in a texture's host form are converted to boxes of texels.

#![allow(unsafe_code)]

use super::batch::Command;
use super::core::{Core, Release};
use super::image::{ProgramImage, VulkanImage};
use super::memory::VulkanBuffer;
use super::queue::{BufferUse, VulkanQueue};
use super::timer::LaunchTimer;
use crate::device::Buffer;
use crate::device::hazard::Point;
use crate::error::{Error, Result};
use crate::geometry::{CopyPlan, TexelBox, TextureShape};
use ash::vk;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of regions of one copy command.
const REGIONS_PER_COMMAND: usize = 1024;

/// Creates an image. `queue` does its layout transition.
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

/// Wraps an image of the program. `queue` does its layout transition.
///
/// # Safety
/// The conditions of [`VulkanImage::over_program`] hold. The image lives until `release` is called.
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
    // Set last: if this function fails, the program's callback is not called.
    if let Some(release) = release {
        made.set_release(release);
    }
    Ok(buffer)
}

/// A box of texels of an image, and the place of these texels in a buffer: the offset of the first byte, and the distance between
/// rows in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Region {
    texels: TexelBox,
    offset: u64,
    pitch: u64,
}

/// Converts contiguous runs of bytes (offset in the host form, offset in the buffer, bytes) to regions. Consecutive rows of the
/// same width become one region.
fn regions(shape: &TextureShape, runs: impl Iterator<Item = (u64, u64, u64)>) -> Vec<Region> {
    let texel = shape.format().bytes();
    let mut all: Vec<Region> = Vec::new();
    for (offset_in_image, offset_in_buffer, bytes) in runs {
        let mut offset = offset_in_buffer;
        shape.for_each_box(&(offset_in_image..offset_in_image + bytes), |texels| {
            let next = Region { texels, offset, pitch: u64::from(texels.size[0]) * texel };
            offset += texels.size.iter().map(|&n| u64::from(n)).product::<u64>() * texel;
            if !all.last_mut().is_some_and(|last| join(last, &next, texel)) {
                all.push(next);
            }
        });
    }
    all
}

/// Adds a row to a region if it is the next row of the image, and if all rows of the region have the same distance in
/// the buffer. Otherwise returns false.
fn join(region: &mut Region, row: &Region, texel: u64) -> bool {
    let (a, b) = (&region.texels, &row.texels);
    let flat = a.size[2] == 1 && b.size[1] == 1 && b.size[2] == 1;
    let below = (b.level, b.at, b.size[0]) == (a.level, [a.at[0], a.at[1] + a.size[1], a.at[2]], a.size[0]);
    let ascends = row.offset >= region.offset + region.pitch;
    if !flat || !below || !ascends {
        return false;
    }
    let pitch = if a.size[1] == 1 { row.offset - region.offset } else { region.pitch };
    // Vulkan's limit (VUID-VkBufferImageCopy-bufferRowLength-09101).
    if pitch % texel != 0 || pitch > i32::MAX as u64 || row.offset - region.offset != pitch * u64::from(a.size[1]) {
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

/// A copy with an image on one side or both.
enum ImageCopy<'a> {
    BufferToImage(&'a VulkanBuffer, &'a VulkanImage, Vec<vk::BufferImageCopy>),
    ImageToBuffer(&'a VulkanImage, &'a VulkanBuffer, Vec<vk::BufferImageCopy>),
    ImageToImage(&'a VulkanImage, &'a VulkanImage, Vec<vk::ImageCopy>),
}

impl ImageCopy<'_> {
    fn write(&self, raw: &ash::Device, commands: vk::CommandBuffer) {
        let layout = vk::ImageLayout::GENERAL;
        // SAFETY: recording on a compute queue. The runtime has checked that the regions lie within the images and buffers, which
        // belong to this device.
        unsafe {
            match self {
                Self::BufferToImage(from, to, regions) => regions
                    .chunks(REGIONS_PER_COMMAND)
                    .for_each(|r| raw.cmd_copy_buffer_to_image(commands, from.raw, to.raw, layout, r)),
                Self::ImageToBuffer(from, to, regions) => regions
                    .chunks(REGIONS_PER_COMMAND)
                    .for_each(|r| raw.cmd_copy_image_to_buffer(commands, from.raw, layout, to.raw, r)),
                Self::ImageToImage(from, to, regions) => regions
                    .chunks(REGIONS_PER_COMMAND)
                    .for_each(|r| raw.cmd_copy_image(commands, from.raw, layout, to.raw, layout, r)),
            }
        }
    }
}

/// The runs of the packed positions `part`: (offset in source, offset in destination, bytes).
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

/// The regions of a copy between images. The boxes of source and destination have the same sizes, because the copied sections
/// have the same extents.
fn image_copies(from: &TextureShape, to: &TextureShape, runs: &[(u64, u64, u64)]) -> Result<Vec<vk::ImageCopy>> {
    let boxes = |shape: &TextureShape, side: fn(&(u64, u64, u64)) -> u64| {
        regions(shape, runs.iter().map(move |r| (side(r), side(r), r.2)))
    };
    let (a, b) = (boxes(from, |r| r.0), boxes(to, |r| r.1));
    if a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| a.texels.size != b.texels.size) {
        return Err(Error::internal("a copy between images has boxes of different sizes"));
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

/// Records a copy with an image on one side or both. `uses`: the source and the destination.
pub(super) fn copy(
    queue: &VulkanQueue,
    uses: &[BufferUse<'_>; 2],
    shift: (u64, u64),
    plan: &CopyPlan,
    part: &Range<u64>,
    timer: Option<&Arc<LaunchTimer>>,
) -> Result<Point> {
    let core = &queue.core;
    let all = runs(plan, part, shift);
    let [source, destination] = [uses[0].buffer, uses[1].buffer];
    let copy = match (VulkanImage::of(source), VulkanImage::of(destination)) {
        (None, Some(to)) => {
            let from = VulkanBuffer::of(source, core)?;
            let swapped = all
                .iter()
                .map(|&(offset_in_buffer, offset_in_image, bytes)| (offset_in_image, offset_in_buffer, bytes));
            ImageCopy::BufferToImage(from, to, buffer_copies(&to.abilities.shape, from.base, swapped))
        }
        (Some(from), None) => {
            let to = VulkanBuffer::of(destination, core)?;
            ImageCopy::ImageToBuffer(from, to, buffer_copies(&from.abilities.shape, to.base, all.iter().copied()))
        }
        (Some(from), Some(to)) => {
            ImageCopy::ImageToImage(from, to, image_copies(&from.abilities.shape, &to.abilities.shape, &all)?)
        }
        (None, None) => return Err(Error::internal("neither side of an image copy is an image")),
    };
    queue.record(uses, Command::Other(&mut |commands| copy.write(&core.raw, commands), timer))
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
        // A linear copy of packed levels has one region for each level.
        let linear = regions(&shape, [(0, 0, shape.bytes())].into_iter());
        assert_eq!(linear.len() as u32, shape.levels());
        assert_eq!(linear[1].texels, TexelBox { level: 1, at: [0; 3], size: [4, 3, 2] });
    }
}
