//! Textures (docs/spec/textures.md). All texels of a texture are on one accelerator_view. The memory of a texture is an array,
//! so copies and launches treat textures like arrays.

use crate::device::physical::DeviceKind;
use crate::error::{Error, Result};
use crate::geometry::{Layout, TextureShape};
use crate::host::HostSpan;
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::access_type::AccessType;
use crate::runtime::data::array::Array;
use crate::runtime::data::extents::section_of;
use crate::runtime::data::operand::Operand;
use crate::runtime::data::storage::{ArrayRequest, MakeMemory, TextureStorage};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// The parameters of a new texture.
pub struct TextureRequest<'a> {
    /// The view on which the texture lives.
    pub view: Arc<AcceleratorView>,
    /// The texels and levels of the texture.
    pub shape: TextureShape,
    /// For a staging texture: the view with which it exchanges data.
    pub associated: Option<Arc<AcceleratorView>>,
    /// The requested form of storage.
    pub storage: StorageWish,
    /// A name for messages.
    pub label: Option<&'a str>,
    /// For an image of the program: the function that imports it.
    pub memory: Option<MakeMemory<'a>>,
}

/// The requested form of storage of a texture (decision 34).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageWish {
    /// The library chooses the form.
    Auto,
    /// As an image.
    Image,
    /// As texels in a buffer, in the host form.
    Texels,
}

/// A texture.
pub struct Texture {
    shape: TextureShape,
    is_image: bool,
    array: Arc<Array>,
}

/// The size of a texture's memory is a multiple of this many bytes, because kernels may read texels as whole words.
const SIZE_GRANULARITY: u64 = 16;

impl Texture {
    /// Makes a texture.
    pub fn create(request: TextureRequest<'_>) -> Result<Arc<Self>> {
        let TextureRequest { view, shape, associated, storage, label, memory } = request;
        let view = view.actual();
        let on_cpu = |v: &Arc<AcceleratorView>| v.accelerator().kind() == DeviceKind::Cpu;
        let mut cpu_access = AccessType::None;
        let mut staged = None;
        if on_cpu(&view) {
            let Some(associated) = associated.filter(|a| !on_cpu(&a.actual())) else {
                return Err(Error::unsupported(
                    "textures on the cpu accelerator must be staging textures; pass an associated view on another \
                     accelerator",
                ));
            };
            if shape.levels() > 1 {
                return Err(Error::runtime(format!(
                    "a staging texture with {} levels was requested; staging textures have one level",
                    shape.levels()
                )));
            }
            (staged, cpu_access) = (Some(associated), AccessType::Auto);
        }
        let is_image = storage == StorageWish::Image;
        if is_image {
            let refusal = match view.accelerator().kind() {
                DeviceKind::Vulkan => view.device().image_refusal(&shape),
                _ => Some(Error::unsupported(format!("{} cannot store textures as images", view.accelerator().name()))),
            };
            if let Some(why) = refusal {
                return Err(why.context("the texture cannot be stored as an image (use REVAMP_TEXTURE_STORAGE_TEXELS)"));
            }
        }
        // The array has a single element, which holds all bytes: the number of bytes may exceed the limit of an extent.
        let bytes = shape.bytes().next_multiple_of(SIZE_GRANULARITY);
        let element_size = usize::try_from(bytes).map_err(|_| {
            Error::out_of_memory(format!("a texture of {bytes} bytes exceeds the address space; make it smaller"))
        })?;
        let array = Array::create(ArrayRequest {
            view,
            extent: &[1],
            element_size,
            cpu_access,
            associated: staged,
            label: Some(label.unwrap_or("texture")),
            texture: Some(TextureStorage { shape: &shape, image: is_image }),
            memory,
        })?;
        Ok(Arc::new(Self { shape, is_image, array }))
    }

    /// The texels and levels of the texture.
    pub fn shape(&self) -> &TextureShape {
        &self.shape
    }

    /// True if the texture is stored as an image.
    pub fn is_image(&self) -> bool {
        self.is_image
    }

    /// The array that is the memory of the texture.
    pub fn array(&self) -> &Arc<Array> {
        &self.array
    }

    /// Waits for conflicting operations, and returns the memory of a staging texture for access by the host. `None` for other
    /// textures.
    pub fn host_data(&self, access: AccessType) -> Result<Option<HostSpan>> {
        if self.array.is_staging() { self.array.host_data(access, c"revamp_texture_data").map(Some) } else { Ok(None) }
    }

    /// The row pitch and the slice pitch of a staging texture in bytes (TEX-70, TEX-71). A pitch is 0 if the texture has no
    /// rows or no slices, or is not a staging texture.
    pub fn pitches(&self) -> (u64, u64) {
        let rank = self.shape.rank();
        if rank < 2 || !self.array.is_staging() {
            return (0, 0);
        }
        let level = self.shape.level(0);
        (level.dims[rank - 2].1, if rank == 3 { level.dims[0].1 } else { 0 })
    }
}

/// Levels of a texture, or a section of one level. A region is the source or destination of a copy, or an argument of a launch.
pub struct TextureRegion {
    texture: Arc<Texture>,
    levels: Range<u32>,
    layout: Layout,
}

impl TextureRegion {
    /// Without `origin` and `extent`: `count` levels from level `first` on (a `count` of 0: all levels from there). Otherwise a
    /// section of level `first`. `origin` defaults to zeros, and `extent` to the rest of the level from `origin` on.
    pub fn new(
        texture: Arc<Texture>,
        first: u32,
        count: u32,
        origin: Option<&[i32]>,
        extent: Option<&[i32]>,
    ) -> Result<Self> {
        let is_section = origin.is_some() || extent.is_some();
        let shape = texture.shape();
        let levels = shape.range(first, if is_section { count.max(1) } else { count })?;
        let mut layout = shape.layout(&levels);
        if is_section {
            if levels.len() > 1 {
                return Err(Error::runtime(format!(
                    "a section with an origin or extent must lie in one level, but covers {} levels; select one level",
                    levels.len()
                )));
            }
            let whole: SmallVec<[i32; 3]> = shape.extent(first).iter().map(|&e| e as i32).collect();
            let (from, size) = section_of(&whole, origin, extent, || format!("texture's level {first}"))?;
            layout = layout.section(&from, &size);
        }
        Ok(Self { texture, levels, layout })
    }

    /// The number of bytes of the region in the host form.
    pub fn bytes(&self) -> u64 {
        self.layout.bytes()
    }

    /// The region as the source or destination of a copy, or as an argument of a launch.
    pub fn operand(&self) -> Operand {
        Operand::Array(self.texture.array.clone(), self.layout.clone())
    }

    /// `span` as the other side of a copy: host memory that holds the texels of this region without gaps.
    pub fn host(&self, span: HostSpan) -> Operand {
        let extent: SmallVec<[u64; 3]> = self.layout.dims.iter().map(|d| d.0).collect();
        Operand::Host(span, Layout::packed(0, self.layout.element, &extent))
    }

    /// The region and the numbers of its levels, for an argument that a launch binds to a descriptor.
    pub fn image(&self) -> Result<(Operand, Range<u32>)> {
        if !self.texture.is_image {
            return Err(Error::runtime(
                "the texture is not stored as an image; create it with REVAMP_TEXTURE_STORAGE_IMAGE",
            ));
        }
        Ok((self.operand(), self.levels.clone()))
    }

    /// The region as an argument that is passed by address or to a compiled kernel. Fails for staging textures (TEX-32).
    pub fn argument(&self) -> Result<Operand> {
        if self.texture.array.is_staging() {
            return Err(Error::runtime(
                "the texture is a staging texture, which kernels cannot use; copy it to a texture on the accelerator",
            ));
        }
        Ok(self.operand())
    }

    /// Checks a copy from this texture to the texture of `to` (TEX-65, TEX-66).
    pub fn check_copy(&self, to: &Self) -> Result<()> {
        let (from, into) = (self.texture.shape().format(), to.texture.shape().format());
        if Arc::ptr_eq(&self.texture, &to.texture) {
            return Err(Error::runtime(
                "source and destination of the copy are the same texture; copy through another texture",
            ));
        }
        if (from.components, from.bits) != (into.components, into.bits) {
            return Err(Error::runtime(format!(
                "the texels differ: the source has {from}, the destination {into}; both must have the same number of \
                 components and bits"
            )));
        }
        if self.levels.len() != to.levels.len() {
            return Err(Error::runtime(format!(
                "the source of the copy has {} levels and the destination {}; copy sections with the same number of \
                 levels",
                self.levels.len(),
                to.levels.len()
            )));
        }
        let extents = |r: &Self| r.texture.shape().extent(r.levels.start);
        let (a, b) = (extents(self), extents(to));
        if self.levels.len() > 1 && a != b {
            return Err(Error::runtime(format!(
                "the extents differ: the source is {a:?}, the destination {b:?}; several levels can be copied only \
                 between textures of the same extent"
            )));
        }
        Ok(())
    }
}

/// Fails if a launch reads a level of a texture through one argument and writes the same level through another one (TEX-33).
#[inline]
pub(in crate::runtime) fn check_levels<'a>(uses: impl Iterator<Item = (&'a Operand, Access)> + Clone) -> Result<()> {
    let is_texture = |operand: &Operand| matches!(operand, Operand::Array(array, _) if array.texels().is_some());
    if uses.clone().any(|(operand, _)| is_texture(operand)) { check_each_level(uses) } else { Ok(()) }
}

#[cold]
fn check_each_level<'a>(uses: impl Iterator<Item = (&'a Operand, Access)> + Clone) -> Result<()> {
    let mut rest = uses.clone();
    while let Some((operand, access)) = rest.next() {
        let Operand::Array(array, layout) = operand else { continue };
        let conflicts = |(other, other_access): (&Operand, Access)| {
            let is_read_write_conflict =
                (access == Access::Read && other_access.writes()) || (other_access == Access::Read && access.writes());
            array.texels().is_some() && is_read_write_conflict && other.overlaps(array, &layout.hull())
        };
        if rest.clone().any(conflicts) {
            return Err(Error::runtime(
                "the launch reads a level of a texture through a read-only view and writes the same level through \
                 another argument; read and write different levels",
            ));
        }
    }
    Ok(())
}
