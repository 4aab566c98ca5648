//! The interface of a kernel, which a host program needs for a launch: bindings, push constants, specialization constants.

use super::usage::Access;
use rspirv::spirv::ImageFormat;
use std::fmt;

/// The type of a texel's components in a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampledType {
    /// Floats, for float, norm and unorm texels.
    Float,
    /// Signed integers.
    Int,
    /// Unsigned integers.
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
    /// The number of dimensions, 1 to 3.
    pub dimensions: u8,
    /// The type of its components in the kernel.
    pub sampled: SampledType,
    /// The declared format of a storage image; `None`: any format.
    pub format: Option<ImageFormat>,
}

/// The kind of a binding's descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingKind {
    /// Storage buffer.
    StorageBuffer,
    /// Uniform buffer: a read-only block.
    UniformBuffer,
    /// A read-only image; its sampler is a separate binding.
    SampledImage(ImageType),
    /// An image of one level that the kernel reads or writes.
    StorageImage(ImageType),
    /// A sampler.
    Sampler,
    /// A sampled image with its sampler.
    CombinedImageSampler(ImageType),
    /// Any other kind, with its Vulkan name; revamp cannot bind it.
    Other(&'static str),
}

impl BindingKind {
    /// The Vulkan name of the kind.
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

    /// Advice on what to use instead, if revamp cannot bind this kind.
    pub fn unsupported_advice(self) -> Option<&'static str> {
        let Self::Other(name) = self else { return None };
        Some(if name.ends_with("texel buffer") {
            "use a storage buffer or an image"
        } else if name.ends_with("without a fixed length") {
            "give the array a length"
        } else if name.ends_with("of descriptor arrays") {
            "write a single array, since Vulkan has no arrays of descriptor arrays"
        } else if name.ends_with("of an unsupported type") {
            "use an image of 1 to 3 dimensions with 32-bit components in the kernel; layered, cube, multisampled and \
             comparison images are not supported"
        } else {
            "use a uniform buffer, a storage buffer, an image or a sampler"
        })
    }

    /// The image type of an image or a combined image sampler.
    pub fn image(self) -> Option<ImageType> {
        match self {
            Self::SampledImage(image) | Self::StorageImage(image) | Self::CombinedImageSampler(image) => Some(image),
            _ => None,
        }
    }
}

/// An image, and the sampler with which a kernel samples it. They are two separate bindings, each given as (set, binding).
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
    /// The access that NonWritable/NonReadable decorations of the variable, or of every member of its block, declare;
    /// without them, the access inferred from the instructions. [`Access::Write`] means that nothing is read, not that
    /// every byte is written.
    pub access: Access,
    /// Bytes of the block without a run-time array. A bound range must have at least these bytes, plus one element of the array.
    pub min_size: u64,
    /// Byte stride of a run-time array at the end of the block.
    pub stride: Option<u64>,
    /// Number of descriptors in the array; 1 if it is not an array; 0, with [`BindingKind::Other`], if the length is not fixed.
    pub count: u32,
    /// Index of the binding's first descriptor among the descriptors of all bindings.
    pub first: usize,
}

/// The text for messages.
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
    /// The members of the block.
    pub members: Vec<PushMember>,
    /// True if the block's only member is an 8-byte address (a 64-bit integer, a uvec2 or a physical-storage-buffer pointer).
    pub is_address: bool,
}

/// Type of a specialization constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecKind {
    /// Boolean (4 bytes, VkBool32).
    Bool,
    /// Integer, with its number of bytes.
    Int(u32),
    /// Floating point, with its number of bytes.
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
    /// True if a value may have this number of bytes: a boolean may have 4 bytes or 1.
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
    /// The bits of the default value.
    pub default: u64,
}
