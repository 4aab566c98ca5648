//! texture (docs/spec/textures.md): texels in memory of one accelerator_view. Its memory is an array's, so that copies and
//! launches use it as they use arrays.

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

/// What is asked of a new texture.
pub struct TextureRequest<'a> {
    /// Where it lives.
    pub view: Arc<AcceleratorView>,
    /// Its texels and levels.
    pub shape: TextureShape,
    /// For a staging texture: the view with which it exchanges data.
    pub associated: Option<Arc<AcceleratorView>>,
    /// How it shall be stored.
    pub storage: StorageWish,
    /// A name for messages.
    pub label: Option<&'a str>,
    /// An image that was made elsewhere.
    pub memory: Option<MakeMemory<'a>>,
}

/// How a texture shall be stored (decision 34).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageWish {
    /// As the library chooses.
    Auto,
    /// As an image.
    Image,
    /// As texels in the host form.
    Texels,
}

/// A texture.
pub struct Texture {
    shape: TextureShape,
    is_image: bool,
    array: Arc<Array>,
}

/// Bytes of memory are a multiple of this: kernels may read the last texels with others.
const WORD: u64 = 16;

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
        // One element: an array's extent counts fewer of them than a texture has bytes.
        let bytes = shape.bytes().next_multiple_of(WORD);
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

    /// Its texels and levels.
    pub fn shape(&self) -> &TextureShape {
        &self.shape
    }

    /// True if it is stored as an image.
    pub fn is_image(&self) -> bool {
        self.is_image
    }

    /// Its memory.
    pub fn array(&self) -> &Arc<Array> {
        &self.array
    }

    /// The memory of a staging texture for the host, after everything that conflicts is done; `None` for any other.
    pub fn host_data(&self, access: AccessType) -> Result<Option<HostSpan>> {
        if self.array.is_staging() { self.array.host_data(access).map(Some) } else { Ok(None) }
    }

    /// Bytes from a row to the next one of a staging texture, and from a slice to the next one; 0 where there is none
    /// (TEX-70, TEX-71).
    pub fn pitches(&self) -> (u64, u64) {
        let rank = self.shape.rank();
        if rank < 2 || !self.array.is_staging() {
            return (0, 0);
        }
        let level = self.shape.level(0);
        (level.dims[rank - 2].1, if rank == 3 { level.dims[0].1 } else { 0 })
    }
}

/// Levels of a texture, or a section of one level: a side of a copy, or an argument of a launch.
pub struct TextureRegion {
    texture: Arc<Texture>,
    levels: Range<u32>,
    layout: Layout,
}

impl TextureRegion {
    /// `count` levels from `first` on (0: all), or a section of one: `origin` defaults to zeros, `extent` to the rest.
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
                    "a section with an origin or extent covers {} levels, but it must lie in one; select one level",
                    levels.len()
                )));
            }
            let whole: SmallVec<[i32; 3]> = shape.extent(first).iter().map(|&e| e as i32).collect();
            let (from, size) = section_of(&whole, origin, extent, || format!("texture's level {first}"))?;
            layout = layout.section(&from, &size);
        }
        Ok(Self { texture, levels, layout })
    }

    /// Bytes in the host form.
    pub fn bytes(&self) -> u64 {
        self.layout.bytes()
    }

    /// As side of a copy, or argument of a launch.
    pub fn operand(&self) -> Operand {
        Operand::Array(self.texture.array.clone(), self.layout.clone())
    }

    /// Memory of the host for these texels, packed.
    pub fn host(&self, span: HostSpan) -> Operand {
        let extent: SmallVec<[u64; 3]> = self.layout.dims.iter().map(|d| d.0).collect();
        Operand::Host(span, Layout::packed(0, self.layout.element, &extent))
    }

    /// As argument of a launch by descriptor, with the levels; of a storage image the first one.
    pub fn image(&self) -> Result<(Operand, Range<u32>)> {
        if !self.texture.is_image {
            return Err(Error::runtime(
                "the texture is not stored as an image; create it with REVAMP_TEXTURE_STORAGE_IMAGE",
            ));
        }
        Ok((self.operand(), self.levels.clone()))
    }

    /// As argument of a launch by address, or of a compiled kernel: staging textures are none (TEX-32).
    pub fn argument(&self) -> Result<Operand> {
        if self.texture.array.is_staging() {
            return Err(Error::runtime(
                "the texture is a staging texture, which kernels cannot use; copy it to a texture on the accelerator",
            ));
        }
        Ok(self.operand())
    }

    /// Checks a copy between textures (TEX-65, TEX-66).
    pub fn check_copy(&self, to: &Self) -> Result<()> {
        let (from, into) = (self.texture.shape().format(), to.texture.shape().format());
        if Arc::ptr_eq(&self.texture, &to.texture) {
            return Err(Error::runtime(
                "source and destination of the copy are the same texture; copy through another texture",
            ));
        }
        if (from.components, from.bits) != (into.components, into.bits) {
            return Err(Error::runtime(format!(
                "the texels differ: the source has {from}, the destination {into}; both need the same number of \
                 components and bits"
            )));
        }
        if self.levels.len() != to.levels.len() {
            return Err(Error::runtime(format!(
                "the source of the copy has {} levels and the destination {}; copy sections with as many levels",
                self.levels.len(),
                to.levels.len()
            )));
        }
        let extents = |r: &Self| r.texture.shape().extent(r.levels.start);
        let (a, b) = (extents(self), extents(to));
        if self.levels.len() > 1 && a != b {
            return Err(Error::runtime(format!(
                "the extents differ: the source is {a:?}, the destination {b:?}; several levels are copied only \
                 between textures of one extent"
            )));
        }
        Ok(())
    }
}

/// Fails if a launch reads a level by one argument and writes it by another (TEX-33).
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
        let conflicts = |(other, used): (&Operand, Access)| {
            let apart = (access == Access::Read && used.writes()) || (used == Access::Read && access.writes());
            array.texels().is_some() && apart && other.overlaps(array, &layout.hull())
        };
        if rest.clone().any(conflicts) {
            return Err(Error::runtime(
                "the launch reads a level of a texture by a read-only view of it and writes the same level by another \
                 argument; a launch may read one level and write another one",
            ));
        }
    }
    Ok(())
}
