//! Launches as they were requested: of SPIR-V kernels, and of functions of the program.

use crate::device::block::{AddressSlot, Block};
use crate::device::hazard::Point;
use crate::device::host::HostKernel;
use crate::device::{Sampler, TimerSlot};
use crate::error::Result;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::runtime::data::operand::Operand;
use crate::runtime::launch::images::ImageArgument;
use crate::trace::transfers::{Call, implicit};
use std::sync::Arc;

/// The domain of a launch.
#[derive(Clone, Copy)]
pub enum SpirvDomain<'a> {
    /// Threads, most significant dimension first.
    Extent(&'a [i32]),
    /// Workgroups in x, y, z.
    Groups([u32; 3]),
}

/// An argument of a launch.
pub enum Argument<'a> {
    /// A storage or uniform buffer.
    Buffer {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
        /// Number in an array of descriptors.
        element: u32,
        /// The array or array_view bound.
        section: Operand,
        /// How the kernel uses it; `None`: as it declares.
        access: Option<Access>,
    },
    /// The bytes of a uniform buffer.
    Uniform {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
        /// Number in an array of descriptors.
        element: u32,
        /// The bytes.
        data: &'a [u8],
    },
    /// An image, with its sampler if the binding has both. Boxed: most arguments are not images, and the enum is moved often.
    Image(Box<ImageArgument>),
    /// A sampler alone.
    Sampler {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
        /// Number in an array of descriptors.
        element: u32,
        /// The sampler.
        sampler: Box<Sampler>,
    },
    /// The address of a section's first element.
    Address {
        /// Where the address goes in the block.
        slot: AddressSlot<'a>,
        /// The section.
        section: Operand,
        /// How it is used.
        access: Access,
    },
    /// Bytes of the push-constant block.
    PushConstant {
        /// Their offset in the block.
        offset: u32,
        /// The bytes.
        data: &'a [u8],
    },
    /// A specialization constant.
    Specialization {
        /// Its id.
        id: u32,
        /// Its value.
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
    /// Work of the view's device that comes first.
    pub after: &'a [Point],
    /// Where its timer goes, if it is timed.
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
    /// The arrays and array_views that it uses.
    pub arguments: &'a [FunctionArgument<'a>],
    /// The argument block; empty if there is none.
    pub block: &'a [u8],
    /// The block's alignment.
    pub block_align: usize,
    /// The kernel for host threads.
    pub kernel: Option<&'a MakeKernel<'a>>,
    /// The kernel for Vulkan views.
    pub compiled: Option<&'a Arc<Compiled>>,
    /// Work of the view's device that comes first; host threads take none.
    pub after: &'a [Point],
    /// Where its timer goes, if it is timed.
    pub timer: Option<&'a TimerSlot>,
}

impl<'a> FunctionLaunch<'a> {
    /// Its kernel, if what the compiler found of it holds: on every accelerator (DST-6), for the block that it knows.
    pub(super) fn known(&self) -> Option<&'a Arc<Compiled>> {
        self.compiled.filter(|kernel| kernel.block_size == self.block.len() as u64)
    }
}

/// Makes a kernel from the argument block.
pub type MakeKernel<'a> = dyn Fn(&Block) -> Result<Arc<dyn HostKernel>> + 'a;

/// An array or array_view that a launch uses.
pub struct FunctionArgument<'a> {
    /// The array or array_view.
    pub section: Operand,
    /// How the kernel uses it.
    pub access: Access,
    /// Where its address goes in the block.
    pub slot: Option<AddressSlot<'a>>,
    /// A texture whose components have less than 32 bits: a kernel reads it or writes it, not both (TEX-21).
    pub narrow_bits: Option<u32>,
}

pub(in crate::runtime) const DISPATCH: Call = implicit(c"revamp_parallel_for_each");
