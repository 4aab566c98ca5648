//! Vulkan images of textures, with optimal tiling. Other modules treat an image as a buffer with the bytes of the texture's
//! host form: trackers and copy plans use offsets in the host form, and `image_copy` converts these offsets to boxes of texels.
//!
//! Images stay in the layout GENERAL from their first command on. All queues can use them.

#![allow(unsafe_code)]

use super::core::{Core, Release};
use super::memory::VulkanBuffer;
use super::timeline::VulkanTimeline;
use crate::device::hazard::{Point, Tracker};
use crate::device::{BoundImage, Buffer, ImageAbilities, unique_id};
use crate::error::{Error, Result};
use crate::geometry::{ComponentKind, TexelFormat, TextureShape};
use crate::host::HostSpan;
use crate::lock::{Mutex, rank};
use ash::vk::{self, Handle};
use gpu_allocator::vulkan::Allocation;
use std::any::Any;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// An image of a Vulkan device.
pub(super) struct VulkanImage {
    id: u64,
    core: Arc<Core>,
    /// Vulkan's handle.
    pub raw: vk::Image,
    kind: vk::ImageViewType,
    /// The format of its views.
    format: vk::Format,
    /// The format with which the image was created.
    creation_format: vk::Format,
    /// The image's shape, and the operations that kernels can do on it.
    pub abilities: ImageAbilities,
    tracker: Tracker,
    /// Views of ranges of levels, created when they are first bound.
    views: Mutex<HashMap<Range<u32>, vk::ImageView>, { rank::VIEWS }>,
    memory: Mutex<Option<Allocation>, { rank::BUFFER }>,
    /// The initial layout.
    from: vk::ImageLayout,
    /// The command that did the layout transition to GENERAL.
    transition: Mutex<Option<Point>, { rank::IMAGE_LAYOUT }>,
    /// Held by the thread that records the layout transition.
    pub preparing: Mutex<(), { rank::PREPARING }>,
    /// True if the program owns the image.
    lent: bool,
    /// The callback of the program, called when the library no longer uses the image.
    release: OnceLock<Release>,
}

/// A `VkImage` of the program.
#[derive(Debug, Clone, Copy)]
pub struct ProgramImage {
    /// VkImage.
    pub image: u64,
    /// VkFormat.
    pub format: i32,
    /// VkImageUsageFlags.
    pub usage: u32,
    /// The current VkImageLayout.
    pub layout: i32,
    /// VkImageCreateFlags.
    pub flags: u32,
}

/// Vulkan's format for texels; `None` if Vulkan has no such format.
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
        // Kernels combine the two 32-bit halves of a double.
        (Double, 64) => of(F::R32G32_UINT, F::R32G32B32A32_UINT, F::UNDEFINED),
        _ => return None,
    };
    let found = *all.get(format.components as usize - 1)?;
    (found != F::UNDEFINED).then_some(found)
}

/// The texel size of an uncompressed colour format. Formats of the same size are compatible for image views.
fn bytes_of(format: vk::Format) -> Option<u64> {
    use vk::Format as F;
    // Vulkan numbers formats of the same size consecutively. Each entry has the last format of such a series, and the size in bytes.
    let runs = [
        (F::UNDEFINED, 0),
        (F::R4G4_UNORM_PACK8, 1),
        (F::A1R5G5B5_UNORM_PACK16, 2),
        (F::R8_SRGB, 1),
        (F::R8G8_SRGB, 2),
        (F::B8G8R8_SRGB, 3),
        (F::A2B10G10R10_SINT_PACK32, 4),
        (F::R16_SFLOAT, 2),
        (F::R16G16_SFLOAT, 4),
        (F::R16G16B16_SFLOAT, 6),
        (F::R16G16B16A16_SFLOAT, 8),
        (F::R32_SFLOAT, 4),
        (F::R32G32_SFLOAT, 8),
        (F::R32G32B32_SFLOAT, 12),
        (F::R32G32B32A32_SFLOAT, 16),
        (F::R64_SFLOAT, 8),
        (F::R64G64_SFLOAT, 16),
        (F::R64G64B64_SFLOAT, 24),
        (F::R64G64B64A64_SFLOAT, 32),
        (F::E5B9G9R9_UFLOAT_PACK32, 4),
    ];
    runs.iter().find(|&&(last, _)| format.as_raw() <= last.as_raw()).map(|&(_, bytes)| bytes)
}

/// The parameters for creating an image.
struct Description {
    kind: vk::ImageType,
    format: vk::Format,
    usage: vk::ImageUsageFlags,
    linear_filter: bool,
    extent: vk::Extent3D,
}

/// The extent (x, y, z) of a level of the shape.
fn extent_of(shape: &TextureShape, level: u32) -> [u32; 3] {
    let mut size = [1; 3];
    size.iter_mut().zip(shape.extent(level).iter().rev()).for_each(|(to, &from)| *to = from);
    size
}

/// Fails if the extent or the number of levels exceeds the device's limits, which may be lower than C++ AMP's (TEX-8).
fn check_extent(shape: &TextureShape, most: &vk::ImageFormatProperties, name: &str) -> Result<()> {
    let [width, height, depth] = extent_of(shape, 0);
    let limit = most.max_extent;
    if width > limit.width || height > limit.height || depth > limit.depth || shape.levels() > most.max_mip_levels {
        return Err(Error::runtime(format!(
            "images of {} on {name} are limited to {} x {} x {} texels and {} levels",
            shape.format(),
            limit.width,
            limit.height,
            limit.depth,
            most.max_mip_levels
        )));
    }
    Ok(())
}

/// The parameters for an image of this shape; fails if the device does not support such an image.
fn describe(core: &Core, shape: &TextureShape) -> Result<Description> {
    let (texels, name) = (shape.format(), &core.physical.name);
    let format =
        format_of(texels).ok_or_else(|| Error::unsupported(format!("Vulkan has no image format for {texels}")))?;
    let kind = match shape.rank() {
        1 => vk::ImageType::TYPE_1D,
        2 => vk::ImageType::TYPE_2D,
        _ => vk::ImageType::TYPE_3D,
    };
    let tiling = vk::ImageTiling::OPTIMAL;
    let needed = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let query_limits = |usage| {
        let flags = vk::ImageCreateFlags::empty();
        // SAFETY: the physical device belongs to this instance.
        unsafe {
            let handle = core.physical.handle;
            core.instance.get_physical_device_image_format_properties(handle, format, kind, tiling, usage, flags)
        }
    };
    let full = needed | vk::ImageUsageFlags::STORAGE;
    let (usage, most) =
        query_limits(full).map(|p| (full, p)).or_else(|_| query_limits(needed).map(|p| (needed, p))).map_err(|_| {
            Error::unsupported(format!(
                "{name} does not support {}-dimensional images with texels of {texels}",
                shape.rank()
            ))
        })?;
    check_extent(shape, &most, name)?;
    if shape.bytes() > most.max_resource_size {
        let most = most.max_resource_size;
        return Err(Error::unsupported(format!("images of {texels} on {name} are limited to {most} bytes")));
    }
    let [width, height, depth] = extent_of(shape, 0);
    // SAFETY: the physical device belongs to this instance.
    let properties = unsafe { core.instance.get_physical_device_format_properties(core.physical.handle, format) };
    let linear_filter =
        properties.optimal_tiling_features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR);
    Ok(Description { kind, format, usage, linear_filter, extent: vk::Extent3D { width, height, depth } })
}

fn view_type(kind: vk::ImageType) -> vk::ImageViewType {
    match kind {
        vk::ImageType::TYPE_1D => vk::ImageViewType::TYPE_1D,
        vk::ImageType::TYPE_2D => vk::ImageViewType::TYPE_2D,
        _ => vk::ImageViewType::TYPE_3D,
    }
}

/// The reason why the device does not support an image of this shape; `None` if it does.
pub(super) fn refusal(core: &Core, shape: &TextureShape) -> Option<Error> {
    describe(core, shape).err()
}

impl VulkanImage {
    /// A new image.
    pub fn new(core: &Arc<Core>, shape: &TextureShape, label: &str) -> Result<Arc<Self>> {
        core.check_alive()?;
        let d = describe(core, shape)?;
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
        // SAFETY: the device is alive and supports such images.
        let raw = unsafe { core.raw.create_image(&info, None) }.map_err(|e| match e {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => memory(),
            e => core.failed("vkCreateImage", e),
        })?;
        // From here on, dropping the image frees everything.
        let mut image = Self {
            id: unique_id(),
            core: core.clone(),
            raw,
            kind: view_type(d.kind),
            format: d.format,
            creation_format: d.format,
            abilities: ImageAbilities {
                shape: shape.clone(),
                storage: d.usage.contains(vk::ImageUsageFlags::STORAGE),
                linear_filter: d.linear_filter,
                robust: core.physical.features.robust_image_access,
            },
            tracker: Tracker::new(),
            views: Mutex::new(HashMap::new()),
            memory: Mutex::new(None),
            from: vk::ImageLayout::UNDEFINED,
            transition: Mutex::new(None),
            preparing: Mutex::new(()),
            lent: false,
            release: OnceLock::new(),
        };
        let made =
            core.pool.lock().allocate_image(raw, &core.physical.memory, core.physical.memory_types.device, label);
        let made = made.map_err(|e| {
            crate::log!(Info, "{label}: an image of {} bytes could not be allocated: {e}", shape.bytes());
            memory()
        })?;
        // SAFETY: the allocation is for this image, of a type it allows, and bound once.
        let outcome = unsafe { core.raw.bind_image_memory(raw, made.memory(), made.offset()) };
        *image.memory.get_mut() = Some(made);
        outcome.map_err(|e| core.failed("vkBindImageMemory", e))?;
        Ok(Arc::new(image))
    }

    /// An image of the program.
    ///
    /// # Safety
    /// The image is bound to memory and has the format, usage and flags of `image` and the extents and levels of `shape`. It
    /// outlives the returned object.
    pub unsafe fn over_program(core: &Arc<Core>, image: &ProgramImage, shape: &TextureShape) -> Result<Arc<Self>> {
        let d = describe(core, shape)?;
        let (format, usage) = (vk::Format::from_raw(image.format), vk::ImageUsageFlags::from_raw(image.usage));
        let raw = vk::Image::from_raw(image.image);
        if raw == vk::Image::null() {
            return Err(Error::invalid("image is VK_NULL_HANDLE; pass a VkImage"));
        }
        let is_mutable = vk::ImageCreateFlags::from_raw(image.flags).contains(vk::ImageCreateFlags::MUTABLE_FORMAT);
        let same_size = bytes_of(format) == Some(shape.format().bytes());
        if format != d.format && !(is_mutable && same_size) {
            return Err(Error::runtime(format!(
                "the VkImage has the format {format:?}, but a texture of {} needs {:?}; with \
                 VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT, the VkImage can have any format of {} bytes per texel",
                shape.format(),
                d.format,
                shape.format().bytes()
            )));
        }
        let needed =
            vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::SAMPLED;
        if !usage.contains(needed) {
            return Err(Error::runtime(format!(
                "the VkImage was created without the usage {:?}; textures need {needed:?}, and also STORAGE if kernels \
                 write them",
                needed & !usage
            )));
        }
        let made = Arc::new(Self {
            id: unique_id(),
            core: core.clone(),
            raw,
            kind: view_type(d.kind),
            format: d.format,
            creation_format: format,
            abilities: ImageAbilities {
                shape: shape.clone(),
                storage: usage.contains(vk::ImageUsageFlags::STORAGE),
                linear_filter: d.linear_filter,
                robust: core.physical.features.robust_image_access,
            },
            tracker: Tracker::new(),
            views: Mutex::new(HashMap::new()),
            memory: Mutex::new(None),
            from: vk::ImageLayout::from_raw(image.layout),
            transition: Mutex::new(None),
            preparing: Mutex::new(()),
            lent: true,
            release: OnceLock::new(),
        });
        Ok(made)
    }

    /// Sets the callback that is called when the library no longer uses the image.
    pub fn set_release(&self, release: Release) {
        let _ = self.release.set(release);
    }

    /// The format with which the image was created.
    pub fn creation_format(&self) -> vk::Format {
        self.creation_format
    }

    /// True if the image is in the layout GENERAL for all commands from now on.
    pub fn is_prepared(&self) -> bool {
        let by = self.transition.lock().clone();
        let is_lost = |p: &Point| p.timeline.as_any().downcast_ref::<VulkanTimeline>().is_some_and(|t| t.has_lost(p));
        self.from == vk::ImageLayout::GENERAL || by.is_some_and(|point| !is_lost(&point))
    }

    /// Notes the command that did the layout transition.
    pub fn prepared_by(&self, point: Point) {
        *self.transition.lock() = Some(point);
    }

    /// Records the layout transition to GENERAL. The command buffer must belong to a compute queue.
    pub fn prepare(&self, commands: vk::CommandBuffer) {
        let all = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .level_count(vk::REMAINING_MIP_LEVELS)
            .layer_count(1);
        let stages = vk::PipelineStageFlags::TRANSFER | vk::PipelineStageFlags::COMPUTE_SHADER;
        let barrier = [vk::ImageMemoryBarrier::default()
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .old_layout(self.from)
            .new_layout(vk::ImageLayout::GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.raw)
            .subresource_range(all)];
        let (top, none) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::DependencyFlags::empty());
        // SAFETY: recording on a compute queue; the image is bound, and nobody else uses it.
        unsafe { self.core.raw.cmd_pipeline_barrier(commands, top, stages, none, &[], &[], &barrier) };
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

    /// `buffer` as an image, if it is one.
    pub fn of(buffer: &Arc<dyn Buffer>) -> Option<&Self> {
        buffer.as_any().downcast_ref()
    }
}

pub(super) fn is_image(buffer: &Arc<dyn Buffer>) -> bool {
    VulkanImage::of(buffer).is_some()
}

/// Fails if the buffer or image belongs to another device.
pub(super) fn check_device(buffer: &Arc<dyn Buffer>, core: &Core) -> Result<()> {
    match VulkanImage::of(buffer) {
        Some(image) if image.core.id == core.id => Ok(()),
        _ => VulkanBuffer::of(buffer, core).map(drop),
    }
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
            if !self.lent {
                self.core.raw.destroy_image(self.raw, None);
            }
        }
        if let Some(release) = self.release.take() {
            release.call();
        }
        if let Some(memory) = self.memory.get_mut().take() {
            self.core.pool.lock().free_image(memory);
        }
    }
}

/// The contents of a descriptor: an image, a sampler or both.
#[derive(Clone, PartialEq)]
pub(super) struct ImageDescriptor {
    /// The descriptor set of the shader, and the binding in it.
    pub set: u32,
    pub binding: u32,
    /// The index in an array of descriptors.
    pub element: u32,
    /// The type of the descriptor.
    pub kind: vk::DescriptorType,
    /// The id of the image, or 0. Unlike Vulkan's handles, ids are not reused.
    image: u64,
    /// The view and the sampler.
    pub info: Info,
}

/// The view and the sampler of a descriptor. Unlike Vulkan's structure, it can be compared.
#[derive(Clone, PartialEq)]
pub(super) struct Info {
    view: vk::ImageView,
    /// Kept alive by recordings and batches that use it.
    pub sampler: Option<Arc<vk::Sampler>>,
}

impl Info {
    /// Vulkan's structure.
    pub fn raw(&self) -> vk::DescriptorImageInfo {
        let sampler = self.sampler.as_deref().copied().unwrap_or_default();
        vk::DescriptorImageInfo { sampler, image_view: self.view, image_layout: vk::ImageLayout::GENERAL }
    }
}

impl ImageDescriptor {
    /// The descriptor for a bound image or sampler.
    pub fn new(bound: &BoundImage, core: &Core) -> Result<Self> {
        use vk::DescriptorType as D;
        let (mut info, mut id, mut texels) = (Info { view: vk::ImageView::null(), sampler: None }, 0, None);
        if let Some((used, levels)) = &bound.image {
            check_device(&used.buffer, core)?;
            let image =
                VulkanImage::of(&used.buffer).ok_or_else(|| Error::internal("a buffer was bound as an image"))?;
            (info.view, id) = (image.view(levels)?, image.id);
            texels = Some(image.abilities.shape.format());
        }
        if let Some(sampler) = &bound.sampler {
            info.sampler = Some(core.samplers.get(&core.raw, &core.physical, sampler, texels)?);
        }
        let kind = match (&bound.image, &bound.sampler) {
            (Some(_), _) if bound.storage => D::STORAGE_IMAGE,
            (Some(_), Some(_)) => D::COMBINED_IMAGE_SAMPLER,
            (Some(_), None) => D::SAMPLED_IMAGE,
            (None, _) => D::SAMPLER,
        };
        Ok(Self { set: bound.set, binding: bound.binding, element: bound.element, kind, image: id, info })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn tex_8_a_lower_limit_of_the_device_is_enforced() {
        let format = TexelFormat { kind: ComponentKind::Uint, components: 1, bits: 8 };
        let most = vk::ImageFormatProperties {
            max_extent: vk::Extent3D { width: 4096, height: 256, depth: 16 },
            max_mip_levels: 3,
            ..Default::default()
        };
        let check = |extent: &[i32], levels| {
            check_extent(&TextureShape::new(format, extent, Some(levels)).unwrap(), &most, "device")
        };
        // The last component of an extent is the width.
        check(&[4096], 3).unwrap();
        check(&[256, 4096], 1).unwrap();
        check(&[16, 256, 2048], 1).unwrap();
        let beyond: [(&[i32], u32); 5] =
            [(&[4097], 1), (&[257, 1], 1), (&[17, 1, 1], 1), (&[1, 257, 1], 1), (&[64], 4)];
        for (extent, levels) in beyond {
            let error = check(extent, levels).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Runtime, "{extent:?} {levels}");
            assert!(error.to_string().contains("4096 x 256 x 16 texels and 3 levels"), "{error}");
        }
    }
}
