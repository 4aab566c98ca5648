//! Keeps launches that must wait for other operations, with copies of the data that the callers lent.

use crate::device::block::{AddressSlot, Block};
use crate::device::host::HostKernel;
use crate::device::{Sampler, TimerSlot};
use crate::error::Result;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::runtime::data::operand::Operand;
use crate::runtime::launch::images::ImageArgument;
use crate::runtime::launch::request::{
    Argument, FunctionArgument, FunctionLaunch, MakeKernel, SpirvDomain, SpirvLaunch,
};
use std::sync::Arc;

/// An [`AddressSlot`] that owns the bytes to be appended.
struct KeptSlot(u32, Option<Box<[u8]>>);

impl KeptSlot {
    fn new(slot: &AddressSlot<'_>) -> Self {
        match *slot {
            AddressSlot::At(offset) => Self(offset, None),
            AddressSlot::Indirect(offset, bytes) => Self(offset, Some(bytes.into())),
        }
    }

    fn lend(&self) -> AddressSlot<'_> {
        match &self.1 {
            None => AddressSlot::At(self.0),
            Some(bytes) => AddressSlot::Indirect(self.0, bytes),
        }
    }
}

/// An [`Argument`] that owns its bytes.
enum KeptArgument {
    Buffer([u32; 3], Operand, Option<Access>),
    Uniform([u32; 3], Box<[u8]>),
    Image(Box<ImageArgument>),
    Sampler([u32; 3], Box<Sampler>),
    Address(KeptSlot, Operand, Access),
    PushConstant(u32, Box<[u8]>),
    Specialization(u32, Box<[u8]>),
}

impl KeptArgument {
    fn new(argument: &Argument<'_>) -> Self {
        match argument {
            Argument::Buffer { set, binding, element, section, access } => {
                Self::Buffer([*set, *binding, *element], section.clone(), *access)
            }
            Argument::Uniform { set, binding, element, data } => {
                Self::Uniform([*set, *binding, *element], (*data).into())
            }
            Argument::Image(image) => Self::Image(image.clone()),
            Argument::Sampler { set, binding, element, sampler } => {
                Self::Sampler([*set, *binding, *element], sampler.clone())
            }
            Argument::Address { slot, section, access } => Self::Address(KeptSlot::new(slot), section.clone(), *access),
            Argument::PushConstant { offset, data } => Self::PushConstant(*offset, (*data).into()),
            Argument::Specialization { id, data } => Self::Specialization(*id, (*data).into()),
        }
    }

    fn lend(&self) -> Argument<'_> {
        match self {
            Self::Buffer([set, binding, element], section, access) => {
                let (set, binding, element) = (*set, *binding, *element);
                Argument::Buffer { set, binding, element, section: section.clone(), access: *access }
            }
            Self::Uniform([set, binding, element], data) => {
                Argument::Uniform { set: *set, binding: *binding, element: *element, data }
            }
            Self::Image(image) => Argument::Image(image.clone()),
            Self::Sampler([set, binding, element], sampler) => {
                Argument::Sampler { set: *set, binding: *binding, element: *element, sampler: sampler.clone() }
            }
            Self::Address(slot, section, access) => {
                Argument::Address { slot: slot.lend(), section: section.clone(), access: *access }
            }
            Self::PushConstant(offset, data) => Argument::PushConstant { offset: *offset, data },
            Self::Specialization(id, data) => Argument::Specialization { id: *id, data },
        }
    }
}

/// The domain of a launch.
enum KeptDomain {
    Extent(Box<[i32]>),
    Groups([u32; 3]),
}

/// A launch of a SPIR-V kernel.
pub(super) struct KeptLaunch {
    domain: KeptDomain,
    arguments: Vec<KeptArgument>,
    block: Box<[u8]>,
    timer: Option<Arc<TimerSlot>>,
}

impl KeptLaunch {
    pub fn new(launch: &SpirvLaunch<'_>, timer: Option<Arc<TimerSlot>>) -> Self {
        let domain = match launch.domain {
            SpirvDomain::Extent(extent) => KeptDomain::Extent(extent.into()),
            SpirvDomain::Groups(groups) => KeptDomain::Groups(groups),
        };
        let arguments = launch.arguments.iter().map(KeptArgument::new).collect();
        Self { domain, arguments, block: launch.block.into(), timer }
    }

    /// Calls `go` with the kept launch.
    pub fn with<T>(&self, go: impl FnOnce(&SpirvLaunch<'_>) -> T) -> T {
        let domain = match &self.domain {
            KeptDomain::Extent(extent) => SpirvDomain::Extent(extent),
            KeptDomain::Groups(groups) => SpirvDomain::Groups(*groups),
        };
        let arguments: Vec<_> = self.arguments.iter().map(KeptArgument::lend).collect();
        let timer = self.timer.as_deref();
        go(&SpirvLaunch { domain, arguments: &arguments, block: &self.block, after: &[], timer })
    }
}

/// Makes a kernel for host threads from the argument block. Can be called after the call that requested the launch has returned.
pub type KeptKernel = Box<dyn Fn(&Block) -> Result<Arc<dyn HostKernel>> + Send + Sync>;

/// An array or array_view that a function uses.
struct KeptOperand {
    section: Operand,
    access: Access,
    slot: Option<KeptSlot>,
    narrow_bits: Option<u32>,
}

/// A launch of a function of the program.
pub(super) struct KeptFunctionLaunch {
    extent: Box<[i32]>,
    tile: Option<Box<[i32]>>,
    tile_memory: usize,
    arguments: Vec<KeptOperand>,
    block: Box<[u8]>,
    block_align: usize,
    kernel: Option<KeptKernel>,
    compiled: Option<Arc<Compiled>>,
    timer: Option<Arc<TimerSlot>>,
}

impl KeptFunctionLaunch {
    pub fn new(launch: &FunctionLaunch<'_>, kernel: Option<KeptKernel>, timer: Option<Arc<TimerSlot>>) -> Self {
        let kept = |a: &FunctionArgument<'_>| KeptOperand {
            section: a.section.clone(),
            access: a.access,
            slot: a.slot.as_ref().map(KeptSlot::new),
            narrow_bits: a.narrow_bits,
        };
        Self {
            extent: launch.extent.into(),
            tile: launch.tile.map(Into::into),
            tile_memory: launch.tile_memory,
            arguments: launch.arguments.iter().map(kept).collect(),
            block: launch.block.into(),
            block_align: launch.block_align,
            kernel,
            compiled: launch.compiled.cloned(),
            timer,
        }
    }

    /// Calls `go` with the kept launch.
    pub fn with<T>(&self, go: impl FnOnce(&FunctionLaunch<'_>) -> T) -> T {
        let mut arguments = Vec::with_capacity(self.arguments.len());
        for KeptOperand { section, access, slot, narrow_bits } in &self.arguments {
            let (section, slot) = (section.clone(), slot.as_ref().map(KeptSlot::lend));
            arguments.push(FunctionArgument { section, access: *access, slot, narrow_bits: *narrow_bits });
        }
        go(&FunctionLaunch {
            extent: &self.extent,
            tile: self.tile.as_deref(),
            tile_memory: self.tile_memory,
            arguments: &arguments,
            block: &self.block,
            block_align: self.block_align,
            kernel: self.kernel.as_deref().map(|make| make as &MakeKernel<'_>),
            compiled: self.compiled.as_ref(),
            after: &[],
            timer: self.timer.as_deref(),
        })
    }
}
