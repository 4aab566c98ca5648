//! Copies between buffers of one device: by copy commands or by a kernel.

#![allow(unsafe_code)]

use super::batch::Command;
use super::image::is_image;
use super::image_copy;
use super::memory::VulkanBuffer;
use super::pipeline::VulkanKernel;
use super::queue::{BufferUse, VulkanQueue};
use super::recording::LaunchCommand;
use crate::config;
use crate::device::Buffer;
use crate::device::block::Block;
use crate::device::hazard::Point;
use crate::error::Result;
use crate::geometry::CopyPlan;
use crate::kernel::Access;
use ash::vk;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// From this many bytes on a kernel copies faster than the copy command inside a GPU (measured on an H200).
const KERNEL_COPY: u64 = 64 << 10;
/// Plans with more contiguous runs than this use a kernel: a region costs time on software devices, and 1.5 to 2 us on a GPU
/// (measured on an H200).
const MOST_REGIONS: u64 = 1 << 14;
const FEW_REGIONS: u64 = 4;
/// Most regions of one copy command.
const REGIONS: usize = 1024;
/// Invocations in a workgroup of the copy kernels.
const COPY_GROUP: u64 = 256;
/// Most workgroups of a copy kernel; each loops over the rest.
const COPY_GROUPS: u64 = 65535;

/// The copy kernels of a device.
pub(super) struct CopyKernels {
    /// Copies 16 bytes at a time.
    pub wide: Arc<VulkanKernel>,
    /// Copies 4 bytes at a time.
    pub narrow: Arc<VulkanKernel>,
}

/// How a copy inside the device is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyMethod {
    /// Copy commands with one region for each run.
    Regions,
    /// A compute kernel.
    Kernel,
}

/// The method for a plan of `runs` runs.
fn choose(
    queue: &VulkanQueue,
    source: &VulkanBuffer,
    destination: &VulkanBuffer,
    plan: &CopyPlan,
    runs: u64,
    words: bool,
) -> CopyMethod {
    // The kernels copy words, texels may be smaller.
    if !queue.computes() || !words {
        return CopyMethod::Regions;
    }
    match config::get().test.copy.as_deref() {
        Some("buffer") if runs <= MOST_REGIONS => return CopyMethod::Regions,
        Some("kernel") => return CopyMethod::Kernel,
        _ => {}
    }
    let host = source.staging || destination.staging;
    if plan.is_linear() {
        // On a real GPU, kernels copy several times faster than copy commands, but not over the bus.
        let kernel = queue.core.spins && !host && plan.bytes() >= KERNEL_COPY;
        return if kernel { CopyMethod::Kernel } else { CopyMethod::Regions };
    }
    let regions = runs <= if queue.core.spins { FEW_REGIONS } else { MOST_REGIONS };
    if regions { CopyMethod::Regions } else { CopyMethod::Kernel }
}

/// Records a copy of the packed positions `part` of `plan`. `shift` is subtracted from the offsets in source and
/// destination: a chunk that stands for a packed side holds these positions from its start on.
pub(super) fn copy(
    queue: &VulkanQueue,
    copies: &CopyKernels,
    (source, destination): (&Arc<dyn Buffer>, &Arc<dyn Buffer>),
    shift: (u64, u64),
    plan: &CopyPlan,
    part: Range<u64>,
) -> Result<Point> {
    let (read, written) = plan.hulls(&part);
    // Interleaved sections of one buffer are both read and written in their common hull.
    let uses = [
        BufferUse {
            buffer: source,
            range: read.start - shift.0..read.end - shift.0,
            access: Access::Read,
            renewed: false,
        },
        BufferUse {
            buffer: destination,
            range: written.start - shift.1..written.end - shift.1,
            access: Access::Write,
            renewed: true,
        },
    ];
    if is_image(source) || is_image(destination) {
        return image_copy::copy(queue, &uses, shift, plan, &part);
    }
    let (from, to) = (VulkanBuffer::of(source, &queue.core)?, VulkanBuffer::of(destination, &queue.core)?);
    let runs = (part.end - part.start) / plan.run.max(1);
    let words = plan.unit() >= 4 && (part.start | part.end | shift.0 | shift.1) % 4 == 0;
    match choose(queue, from, to, plan, runs, words) {
        CopyMethod::Regions => {
            let raw = &queue.core.raw;
            queue.record(
                &uses,
                Command::Other(&mut |commands| regions(raw, commands, from, to, shift, plan, part.clone())),
            )
        }
        CopyMethod::Kernel => {
            let source = (from.address + plan.source).wrapping_sub(shift.0);
            let destination = (to.address + plan.destination).wrapping_sub(shift.1);
            kernel(queue, &uses, copies, (source, destination), plan, part)
        }
    }
}

/// Records copy commands, one region for each contiguous run.
fn regions(
    raw: &ash::Device,
    commands: vk::CommandBuffer,
    from: &VulkanBuffer,
    to: &VulkanBuffer,
    shift: (u64, u64),
    plan: &CopyPlan,
    part: Range<u64>,
) {
    let mut pieces: SmallVec<[vk::BufferCopy; 8]> = SmallVec::new();
    let flush = |pieces: &mut SmallVec<[vk::BufferCopy; 8]>| {
        if !pieces.is_empty() {
            // SAFETY: recording; the runtime has checked the plan against both buffers, and that nothing overlaps.
            unsafe { raw.cmd_copy_buffer(commands, from.raw, to.raw, pieces) };
            pieces.clear();
        }
    };
    plan.for_each_run(part.start, part.end, |source, destination, size| {
        let (src_offset, dst_offset) = (from.base + source - shift.0, to.base + destination - shift.1);
        pieces.push(vk::BufferCopy { src_offset, dst_offset, size });
        if pieces.len() == REGIONS {
            flush(&mut pieces);
        }
    });
    flush(&mut pieces);
}

/// Records a copy kernel for packed positions `part` of a plan whose sides begin at these addresses.
fn kernel(
    queue: &VulkanQueue,
    uses: &[BufferUse<'_>],
    copies: &CopyKernels,
    ends: (u64, u64),
    plan: &CopyPlan,
    part: Range<u64>,
) -> Result<Point> {
    let aligned = (ends.0 | ends.1 | part.start | part.end) % 16 == 0;
    let wide = plan.unit() == 16 && aligned;
    let unit = if wide { 16 } else { 4 };
    let kernel = if wide { &copies.wide } else { &copies.narrow };
    let pipeline = kernel.pipeline(&Vec::new(), false)?;
    // Below 2^32 units the kernel counts in 32 bits; no index reaches a larger count.
    let most = if part.end / unit <= u64::from(u32::MAX) { u64::from(u32::MAX) } else { u64::MAX };
    // Count, source stride, destination stride of each loop, innermost first.
    let mut table = Block::default();
    for dim in plan.dims.iter().rev() {
        [dim.count.min(most), dim.source, dim.destination]
            .iter()
            .for_each(|v| table.bytes.extend_from_slice(&v.to_ne_bytes()));
    }
    let units = (part.end - part.start) / unit;
    let mut push: SmallVec<[u8; 64]> = SmallVec::new();
    for v in [ends.0, ends.1, 0, part.start / unit, units, (plan.run / unit).min(most), plan.dims.len() as u64] {
        push.extend_from_slice(&v.to_ne_bytes());
    }
    // The push constants end with a 32-bit rank.
    push.truncate(52);
    let groups = [units.div_ceil(COPY_GROUP).min(COPY_GROUPS), 1, 1];
    let block = (!table.bytes.is_empty()).then_some((2 * size_of::<u64>(), &table));
    queue.record(
        uses,
        Command::Dispatch(LaunchCommand {
            pipeline: &pipeline,
            groups,
            bindings: &[],
            images: &[],
            push: &push,
            block,
            after: &[],
        }),
    )
}
