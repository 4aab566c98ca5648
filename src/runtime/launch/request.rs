//! A launch of a function of the program, as it was requested.

use crate::device::block::{AddressSlot, Block};
use crate::device::host::HostKernel;
use crate::error::Result;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::runtime::data::operand::Operand;
use crate::trace::transfers::{Call, implicit};
use std::sync::Arc;

/// A launch of a function of the program.
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
