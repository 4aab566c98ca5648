//! The parameters of a launch of a SPIR-V kernel, and of a launch of a function of the program.

use crate::device::block::{AddressSlot, Block};
use crate::device::hazard::Point;
use crate::device::host::HostKernel;
use crate::device::{Sampler, TimerSlot};
use crate::error::Result;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::runtime::data::operand::Operand;
use crate::runtime::launch::images::ImageArgument;
use crate::trace::transfers::{Call, Rule, implicit};
use std::sync::Arc;

/// The domain of a launch of a SPIR-V kernel.
#[derive(Clone, Copy)]
pub enum SpirvDomain<'a> {
    /// The number of threads, most significant dimension first.
    Extent(&'a [i32]),
    /// The number of workgroups in x, y, z.
    Groups([u32; 3]),
}

/// An argument of a launch of a SPIR-V kernel.
pub enum Argument<'a> {
    /// A storage or uniform buffer.
    Buffer {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
        /// Index in an array of descriptors.
        element: u32,
        /// The array or array_view bound.
        section: Operand,
        /// How the kernel uses the buffer. `None`: as the kernel declares.
        access: Option<Access>,
    },
    /// The bytes of a uniform buffer.
    Uniform {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
        /// Index in an array of descriptors.
        element: u32,
        /// The bytes.
        data: &'a [u8],
    },
    /// An image, with its sampler if the binding has both. Boxed: most arguments are not images, and the enum is moved often.
    Image(Box<ImageArgument>),
    /// A sampler without an image.
    Sampler {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
        /// Index in an array of descriptors.
        element: u32,
        /// The sampler.
        sampler: Box<Sampler>,
    },
    /// The address of a section's first element.
    Address {
        /// The position of the address in the argument block.
        slot: AddressSlot<'a>,
        /// The section.
        section: Operand,
        /// How the kernel uses the section.
        access: Access,
    },
    /// Bytes of the push-constant block.
    PushConstant {
        /// The offset of the bytes in the push-constant block.
        offset: u32,
        /// The bytes.
        data: &'a [u8],
    },
    /// A specialization constant.
    Specialization {
        /// The id of the constant.
        id: u32,
        /// The bytes of the value.
        data: &'a [u8],
    },
}

/// A launch of a SPIR-V kernel.
pub struct SpirvLaunch<'a> {
    /// The domain.
    pub domain: SpirvDomain<'a>,
    /// The arguments.
    pub arguments: &'a [Argument<'a>],
    /// The argument block; empty if there is none.
    pub block: &'a [u8],
    /// Work of the view's device that must be done before the launch begins.
    pub after: &'a [Point],
    /// The slot that receives the timer, if the launch is timed.
    pub timer: Option<&'a TimerSlot>,
}

/// A launch of a function of the program.
#[derive(Clone, Copy)]
pub struct FunctionLaunch<'a> {
    /// Global extent.
    pub extent: &'a [i32],
    /// Tile extent.
    pub tile: Option<&'a [i32]>,
    /// Bytes of tile_static memory.
    pub tile_memory: usize,
    /// The arrays and array_views that the function uses.
    pub arguments: &'a [FunctionArgument<'a>],
    /// The argument block; empty if there is none.
    pub block: &'a [u8],
    /// The alignment of the argument block.
    pub block_align: usize,
    /// The kernel for host threads.
    pub kernel: Option<&'a MakeKernel<'a>>,
    /// The kernel for Vulkan views.
    pub compiled: Option<&'a Arc<Compiled>>,
    /// Work of the view's device that must be done before the launch begins; empty for host threads.
    pub after: &'a [Point],
    /// The slot that receives the timer, if the launch is timed.
    pub timer: Option<&'a TimerSlot>,
}

impl<'a> FunctionLaunch<'a> {
    /// The compiled kernel, if the compiler's findings about the kernel apply to this launch. The findings apply on every
    /// accelerator (DST-6), but only to an argument block of the size for which the kernel was compiled.
    pub(super) fn applicable_kernel(&self) -> Option<&'a Arc<Compiled>> {
        self.compiled.filter(|kernel| kernel.block_size == self.block.len() as u64)
    }
}

/// Makes a kernel for host threads from the argument block.
pub type MakeKernel<'a> = dyn Fn(&Block) -> Result<Arc<dyn HostKernel>> + 'a;

/// An array or array_view that a launch uses.
pub struct FunctionArgument<'a> {
    /// The array or array_view.
    pub section: Operand,
    /// How the kernel uses the array or array_view.
    pub access: Access,
    /// The position of the address in the argument block.
    pub slot: Option<AddressSlot<'a>>,
    /// For a texture with less than 32 bits per component: the bits per component. A kernel may read such a texture or write it,
    /// but not both (TEX-21).
    pub narrow_bits: Option<u32>,
}

pub(in crate::runtime) const DISPATCH: Call = implicit(c"revamp_parallel_for_each", Rule::Av2);
