//! What a host program must know of a kernel to launch it: bindings, push constants, specialization constants.

use super::usage::Access;
use rspirv::spirv::ImageFormat;
use std::fmt;

/// As what a kernel sees the components of texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampledType {
    /// Floats: float, norm and unorm texels.
    Float,
    /// Integers with sign.
    Int,
    /// Integers without sign.
    Uint,
}

impl fmt::Display for SampledType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Float => "float",
            Self::Int => "int",
            Self::Uint => "uint",
        })
    }
}

/// The type of an image in a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageType {
    /// 1 to 3.
    pub dimensions: u8,
    /// As what the kernel sees its components.
    pub sampled: SampledType,
    /// The format that a storage image is declared with; `None`: any.
    pub format: Option<ImageFormat>,
}

/// What kind of descriptor a binding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingKind {
    /// Storage buffer.
    StorageBuffer,
    /// Uniform buffer: a block that is read.
    UniformBuffer,
    /// An image that is read, and sampled with a sampler of its own binding.
    SampledImage(ImageType),
    /// An image of one level that is read or written.
    StorageImage(ImageType),
    /// A sampler.
    Sampler,
    /// A sampled image with its sampler.
    CombinedImageSampler(ImageType),
    /// Anything else, which revamp cannot bind; its Vulkan name.
    Other(&'static str),
}

impl BindingKind {
    /// Its Vulkan name.
    pub fn name(self) -> &'static str {
        match self {
            Self::StorageBuffer => "storage buffer",
            Self::UniformBuffer => "uniform buffer",
            Self::SampledImage(_) => "sampled image",
            Self::StorageImage(_) => "storage image",
            Self::Sampler => "sampler",
            Self::CombinedImageSampler(_) => "combined image sampler",
            Self::Other(name) => name,
        }
    }

    /// If revamp cannot bind it: what to use instead.
    pub fn refused(self) -> Option<&'static str> {
        let Self::Other(name) = self else { return None };
        Some(if name.ends_with("texel buffer") {
            "use a storage buffer, or an image"
        } else if name.ends_with("without a fixed length") {
            "give the array a length"
        } else if name.ends_with("of descriptor arrays") {
            "write one array, since Vulkan has none of arrays"
        } else if name.ends_with("of another type") {
            "images have 1 to 3 dimensions and components of 32 bits in kernels, without layers, cubes, samples or comparison"
        } else {
            "kernels take uniform and storage buffers, images and samplers"
        })
    }

    /// Its image, if it is or has one.
    pub fn image(self) -> Option<ImageType> {
        match self {
            Self::SampledImage(image) | Self::StorageImage(image) | Self::CombinedImageSampler(image) => Some(image),
            _ => None,
        }
    }
}

/// An image that a kernel samples with a sampler of another binding, each by its set and binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampledPair {
    /// The image.
    pub image: (u32, u32),
    /// The sampler.
    pub sampler: (u32, u32),
}

/// A resource the entry point uses.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding number.
    pub binding: u32,
    /// Debug name, if the module kept it.
    pub name: Option<String>,
    /// Kind of descriptor.
    pub kind: BindingKind,
    /// From NonWritable/NonReadable decorations (on the variable, or on every member of its block), else from what the
    /// instructions do. [`Access::Write`] says that nothing is read, not that every byte is written.
    pub access: Access,
    /// Bytes of the fixed part of the block: a bound range must be at least this plus one element of a run-time array.
    pub min_size: u64,
    /// Byte stride of a run-time array at the end of the block.
    pub stride: Option<u64>,
    /// Descriptors in an array of descriptors (1 if it is none; 0, with [`BindingKind::Other`], if it has no fixed length).
    pub count: u32,
    /// Number of its first descriptor among those of all bindings.
    pub first: usize,
}

/// As messages call it.
impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "binding {} of set {}", self.binding, self.set)?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, " ({name})"))
    }
}

/// A member of the push-constant block.
#[derive(Debug, Clone)]
pub struct PushMember {
    /// Byte offset.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Debug name.
    pub name: Option<String>,
}

/// The push-constant block of the entry point.
#[derive(Debug, Clone)]
pub struct PushBlock {
    /// Bytes, from offset 0 to the end of the last member.
    pub size: u32,
    /// Its members.
    pub members: Vec<PushMember>,
    /// True if it is one 8-byte address (a 64-bit integer, a uvec2 or a physical-storage-buffer pointer).
    pub is_address: bool,
}

/// Type of a specialization constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecKind {
    /// Boolean (4 bytes, VkBool32).
    Bool,
    /// Integer of so many bytes.
    Int(u32),
    /// Floating point of so many bytes.
    Float(u32),
}

impl SpecKind {
    /// Bytes of a value.
    pub fn size(self) -> u32 {
        match self {
            Self::Bool => 4,
            Self::Int(bytes) | Self::Float(bytes) => bytes,
        }
    }
    /// True if a value may have so many bytes: a boolean also comes as one.
    pub(super) fn takes(self, bytes: usize) -> bool {
        bytes == self.size() as usize || (self == Self::Bool && bytes == 1)
    }
}

impl fmt::Display for SpecKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => write!(f, "boolean, 4 bytes"),
            Self::Int(1) | Self::Float(1) => write!(f, "1 byte"),
            Self::Int(bytes) => write!(f, "integer, {bytes} bytes"),
            Self::Float(bytes) => write!(f, "floating point, {bytes} bytes"),
        }
    }
}

/// A specialization constant.
#[derive(Debug, Clone)]
pub struct SpecConstant {
    /// SpecId.
    pub id: u32,
    /// Debug name.
    pub name: Option<String>,
    /// Type.
    pub kind: SpecKind,
    /// Default, as bits.
    pub default: u64,
}
