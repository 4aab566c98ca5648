//! Images: textures as Vulkan has them, in optimal tiling. To the rest an image is a buffer whose bytes are those of the
//! texture's host form: trackers count so, and copies are planned so; only here they become boxes of texels.
//!
//! Images are in the layout GENERAL from their first command on, and all queues use them.

#![allow(unsafe_code)]

use super::batch::Command;
use super::core::Core;
use super::memory::VulkanBuffer;
use super::queue::{BufferUse, VulkanQueue};
use crate::device::hazard::{Point, Tracker};
use crate::device::{BoundImage, Buffer, ImageAbilities, unique_id};
use crate::error::{Error, Result};
use crate::geometry::{ComponentKind, CopyPlan, TexelBox, TexelFormat, TextureShape};
use crate::host::HostSpan;
use crate::kernel::Access;
use crate::lock::{Mutex, rank};
use ash::vk;
use gpu_allocator::vulkan::Allocation;
use std::any::Any;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Most regions of one copy command.
const REGIONS: usize = 1024;

/// An image of a Vulkan device.
pub(super) struct VulkanImage {
    id: u64,
    core: Arc<Core>,
    /// Vulkan's handle.
    raw: vk::Image,
    kind: vk::ImageViewType,
    format: vk::Format,
    abilities: ImageAbilities,
    tracker: Tracker,
    /// Views of levels, made when they are first bound.
    views: Mutex<HashMap<Range<u32>, vk::ImageView>, { rank::VIEWS }>,
    memory: Mutex<Option<Allocation>, { rank::BUFFER }>,
}

/// Vulkan's format for texels; `None` if it has none.
fn format_of(format: TexelFormat) -> Option<vk::Format> {
    use ComponentKind::{Double, Float, Int, Norm, Uint, Unorm};
    use vk::Format as F;
    let of = |one, two, four| [one, two, F::UNDEFINED, four];
    let all = match (format.kind, format.bits) {
        (Int, 8) => of(F::R8_SINT, F::R8G8_SINT, F::R8G8B8A8_SINT),
        (Int, 16) => of(F::R16_SINT, F::R16G16_SINT, F::R16G16B16A16_SINT),
        (Int, 32) => of(F::R32_SINT, F::R32G32_SINT, F::R32G32B32A32_SINT),
        (Uint, 8) => of(F::R8_UINT, F::R8G8_UINT, F::R8G8B8A8_UINT),
        (Uint, 16) => of(F::R16_UINT, F::R16G16_UINT, F::R16G16B16A16_UINT),
        (Uint, 32) => of(F::R32_UINT, F::R32G32_UINT, F::R32G32B32A32_UINT),
        (Float, 16) => of(F::R16_SFLOAT, F::R16G16_SFLOAT, F::R16G16B16A16_SFLOAT),
        (Float, 32) => of(F::R32_SFLOAT, F::R32G32_SFLOAT, F::R32G32B32A32_SFLOAT),
        (Norm, 8) => of(F::R8_SNORM, F::R8G8_SNORM, F::R8G8B8A8_SNORM),
        (Norm, 16) => of(F::R16_SNORM, F::R16G16_SNORM, F::R16G16B16A16_SNORM),
        (Unorm, 8) => of(F::R8_UNORM, F::R8G8_UNORM, F::R8G8B8A8_UNORM),
        (Unorm, 16) => of(F::R16_UNORM, F::R16G16_UNORM, F::R16G16B16A16_UNORM),
        // Kernels put the two halves together.
        (Double, 64) => of(F::R32G32_UINT, F::R32G32B32A32_UINT, F::UNDEFINED),
        _ => return None,
    };
    let found = *all.get(format.components as usize - 1)?;
    (found != F::UNDEFINED).then_some(found)
}

/// What an image is made with.
struct Description {
    kind: vk::ImageType,
    format: vk::Format,
    usage: vk::ImageUsageFlags,
    linear: bool,
    extent: vk::Extent3D,
}

/// x, y, z of a level of the shape.
fn extent_of(shape: &TextureShape, level: u32) -> [u32; 3] {
    let mut size = [1; 3];
    size.iter_mut().zip(shape.extent(level).iter().rev()).for_each(|(to, &from)| *to = from);
    size
}

/// What an image of this shape is made with, or why there can be none.
fn describe(core: &Core, shape: &TextureShape) -> std::result::Result<Description, String> {
    let (texels, name) = (shape.format(), &core.physical.name);
    let format = format_of(texels).ok_or_else(|| format!("Vulkan has no format for images of {texels}"))?;
    let kind = match shape.rank() {
        1 => vk::ImageType::TYPE_1D,
        2 => vk::ImageType::TYPE_2D,
        _ => vk::ImageType::TYPE_3D,
    };
    let tiling = vk::ImageTiling::OPTIMAL;
    let needed = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let instance = super::instance::instance().map_err(|e| e.to_string())?;
    let ask = |usage| {
        let flags = vk::ImageCreateFlags::empty();
        // SAFETY: the physical device is of this instance.
        unsafe {
            let handle = core.physical.handle;
            instance.raw.get_physical_device_image_format_properties(handle, format, kind, tiling, usage, flags)
        }
    };
    let full = needed | vk::ImageUsageFlags::STORAGE;
    let (usage, most) = ask(full)
        .map(|p| (full, p))
        .or_else(|_| ask(needed).map(|p| (needed, p)))
        .map_err(|_| format!("{name} has no images of {} dimensions of {texels}", shape.rank()))?;
    let [width, height, depth] = extent_of(shape, 0);
    let limit = most.max_extent;
    if width > limit.width || height > limit.height || depth > limit.depth || shape.levels() > most.max_mip_levels {
        return Err(format!(
            "{name} has images of {texels} of at most {} x {} x {} texels and {} levels",
            limit.width, limit.height, limit.depth, most.max_mip_levels
        ));
    }
    if shape.bytes() > most.max_resource_size {
        return Err(format!("{name} has images of {texels} of at most {} bytes", most.max_resource_size));
    }
    // SAFETY: as above.
    let properties = unsafe { instance.raw.get_physical_device_format_properties(core.physical.handle, format) };
    let linear = properties.optimal_tiling_features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
    Ok(Description { kind, format, usage, linear, extent: vk::Extent3D { width, height, depth } })
}

/// Why the device has no image of this shape.
pub(super) fn refusal(core: &Core, shape: &TextureShape) -> Option<String> {
    describe(core, shape).err()
}

impl VulkanImage {
    /// A new image. Its first command goes to `queue`.
    pub fn create(core: &Arc<Core>, shape: &TextureShape, queue: &VulkanQueue, label: &str) -> Result<Arc<dyn Buffer>> {
        core.check_alive()?;
        let d = describe(core, shape).map_err(Error::unsupported)?;
        let memory = || {
            Error::out_of_memory(format!(
                "{label}: an image of {} bytes could not be allocated on {}, which has {} MiB of memory",
                shape.bytes(),
                core.physical.name,
                core.physical.properties.dedicated_memory / 1024
            ))
        };
        if crate::config::get().test.allocation_fails() {
            return Err(memory().context("REVAMP_TEST=fail-alloc"));
        }
        let info = vk::ImageCreateInfo::default()
            .image_type(d.kind)
            .format(d.format)
            .extent(d.extent)
            .mip_levels(shape.levels())
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(d.usage);
        let info = if core.families.len() > 1 {
            info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&core.families)
        } else {
            info
        };
        // SAFETY: the device is alive and has such images.
        let raw = unsafe { core.raw.create_image(&info, None) }.map_err(|e| match e {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => memory(),
            e => core.failed("vkCreateImage", e),
        })?;
        // From here on dropping the image frees all.
        let mut image = Self {
            id: unique_id(),
            core: core.clone(),
            raw,
            kind: match d.kind {
                vk::ImageType::TYPE_1D => vk::ImageViewType::TYPE_1D,
                vk::ImageType::TYPE_2D => vk::ImageViewType::TYPE_2D,
                _ => vk::ImageViewType::TYPE_3D,
            },
            format: d.format,
            abilities: ImageAbilities {
                shape: shape.clone(),
                storage: d.usage.contains(vk::ImageUsageFlags::STORAGE),
                linear: d.linear,
            },
            tracker: Tracker::new(),
            views: Mutex::new(HashMap::new()),
            memory: Mutex::new(None),
        };
        let made =
            core.pool.lock().allocate_image(raw, &core.physical.memory, core.physical.memory_types.device, label);
        let made = made.map_err(|e| {
            crate::log!(Info, "{label}: an image of {} bytes: {e}", shape.bytes());
            memory()
        })?;
        // SAFETY: the allocation is for this image, of a type it allows, and bound once.
        let outcome = unsafe { core.raw.bind_image_memory(raw, made.memory(), made.offset()) };
        *image.memory.get_mut() = Some(made);
        outcome.map_err(|e| core.failed("vkBindImageMemory", e))?;
        let image: Arc<dyn Buffer> = Arc::new(image);
        let all = BufferUse { buffer: &image, range: 0..shape.bytes(), access: Access::Write, renewed: true };
        queue.record(&[all], Command::Other(&mut |commands| prepare(core, commands, raw)))?;
        Ok(image)
    }

    /// The view of these levels.
    fn view(&self, levels: &Range<u32>) -> Result<vk::ImageView> {
        let mut views = self.views.lock();
        if let Some(&view) = views.get(levels) {
            return Ok(view);
        }
        let range = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .base_mip_level(levels.start)
            .level_count(levels.end - levels.start)
            .layer_count(1);
        let info = vk::ImageViewCreateInfo::default()
            .image(self.raw)
            .view_type(self.kind)
            .format(self.format)
            .subresource_range(range);
        // SAFETY: the image is alive and has these levels, as the runtime has checked.
        let view = unsafe { self.core.raw.create_image_view(&info, None) }
            .map_err(|e| self.core.failed("vkCreateImageView", e))?;
        views.insert(levels.clone(), view);
        Ok(view)
    }

    /// The image behind `buffer`, if it is one.
    pub fn of(buffer: &Arc<dyn Buffer>) -> Option<&Self> {
        buffer.as_any().downcast_ref()
    }
}

/// True for an image.
pub(super) fn is_image(buffer: &Arc<dyn Buffer>) -> bool {
    VulkanImage::of(buffer).is_some()
}

/// Fails for memory of another device.
pub(super) fn check_device(buffer: &Arc<dyn Buffer>, core: &Core) -> Result<()> {
    match VulkanImage::of(buffer) {
        Some(image) if image.core.id == core.id => Ok(()),
        _ => VulkanBuffer::of(buffer, core).map(drop),
    }
}

/// Brings a new image into its layout.
fn prepare(core: &Core, commands: vk::CommandBuffer, raw: vk::Image) {
    let all = vk::ImageSubresourceRange::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .level_count(vk::REMAINING_MIP_LEVELS)
        .layer_count(1);
    let stages = vk::PipelineStageFlags::TRANSFER | vk::PipelineStageFlags::COMPUTE_SHADER;
    let barrier = [vk::ImageMemoryBarrier::default()
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
        .old_layout(vk::ImageLayout::UNDEFINED)
        .new_layout(vk::ImageLayout::GENERAL)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(raw)
        .subresource_range(all)];
    let (from, none) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::DependencyFlags::empty());
    // SAFETY: recording on a compute queue; the image is new and bound.
    unsafe { core.raw.cmd_pipeline_barrier(commands, from, stages, none, &[], &[], &barrier) };
}

impl Buffer for VulkanImage {
    fn id(&self) -> u64 {
        self.id
    }
    fn size(&self) -> u64 {
        self.abilities.shape.bytes()
    }
    fn host(&self) -> Option<HostSpan> {
        None
    }
    fn device_address(&self) -> Option<u64> {
        None
    }
    fn image(&self) -> Option<&ImageAbilities> {
        Some(&self.abilities)
    }
    fn tracker(&self) -> &Tracker {
        &self.tracker
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for VulkanImage {
    fn drop(&mut self) {
        // SAFETY: queues hold what unfinished work uses, so no queue uses this image.
        unsafe {
            self.views.get_mut().drain().for_each(|(_, view)| self.core.raw.destroy_image_view(view, None));
            self.core.raw.destroy_image(self.raw, None);
        }
        if let Some(memory) = self.memory.get_mut().take() {
            self.core.pool.lock().free_image(memory);
        }
    }
}

/// An image, a sampler or both, as a descriptor has them.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct ImageDescriptor {
    /// The program's set and binding.
    pub set: u32,
    pub binding: u32,
    /// What kind of descriptor.
    pub kind: vk::DescriptorType,
    /// The id of the image, which is never used again, unlike Vulkan's handles; 0: none.
    image: u64,
    /// What it has.
    pub info: Info,
}

/// What a descriptor has. Vulkan's own structure cannot be compared.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Info {
    view: vk::ImageView,
    sampler: vk::Sampler,
}

impl Info {
    /// As Vulkan takes it.
    pub fn raw(self) -> vk::DescriptorImageInfo {
        vk::DescriptorImageInfo { sampler: self.sampler, image_view: self.view, image_layout: vk::ImageLayout::GENERAL }
    }
}

impl ImageDescriptor {
    /// The descriptor of what is bound.
    pub fn new(bound: &BoundImage, core: &Core) -> Result<Self> {
        use vk::DescriptorType as D;
        let (mut info, mut id, mut texels) =
            (Info { view: vk::ImageView::null(), sampler: vk::Sampler::null() }, 0, None);
        if let Some((used, levels)) = &bound.image {
            check_device(&used.buffer, core)?;
            let image =
                VulkanImage::of(&used.buffer).ok_or_else(|| Error::internal("a buffer was bound as an image"))?;
            (info.view, id) = (image.view(levels)?, image.id);
            texels = Some(image.abilities.shape.format());
        }
        if let Some(sampler) = &bound.sampler {
            info.sampler = core.samplers.get(core, sampler, texels)?;
        }
        let kind = match (&bound.image, &bound.sampler) {
            (Some(_), _) if bound.storage => D::STORAGE_IMAGE,
            (Some(_), Some(_)) => D::COMBINED_IMAGE_SAMPLER,
            (Some(_), None) => D::SAMPLED_IMAGE,
            (None, _) => D::SAMPLER,
        };
        Ok(Self { set: bound.set, binding: bound.binding, kind, image: id, info })
    }
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
    use crate::geometry::Layout;

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
