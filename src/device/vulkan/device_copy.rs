//! Copies between buffers of one device: by copy commands or by a kernel.

#![allow(unsafe_code)]

use super::batch::Command;
use super::image::is_image;
use super::image_copy;
use super::memory::VulkanBuffer;
use super::pipeline::VulkanKernel;
use super::queue::{BufferUse, VulkanQueue};
use super::recording::LaunchCommand;
use super::timer::LaunchTimer;
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

/// From this many bytes on, a kernel copies within a GPU faster than a copy command does (measured on an H200).
const KERNEL_COPY: u64 = 64 << 10;
/// On software devices, plans with more contiguous runs than this use a kernel, because each region costs time.
const MAX_REGIONS_SOFTWARE: u64 = 1 << 14;
/// On hardware devices, plans with more contiguous runs than this use a kernel. A region costs 1.5 to 2 us there (measured on an H200).
const MAX_REGIONS_HARDWARE: u64 = 4;
/// The maximum number of regions of one copy command.
const REGIONS_PER_COMMAND: usize = 1024;
/// Invocations in a workgroup of the copy kernels.
const COPY_GROUP: u64 = 256;
/// The maximum number of workgroups of a copy kernel. The threads loop until all units are copied.
const MAX_COPY_GROUPS: u64 = 65535;

/// The copy kernels of a device.
pub(super) struct CopyKernels {
    /// Copies 16 bytes at a time.
    pub wide: Arc<VulkanKernel>,
    /// Copies 4 bytes at a time.
    pub narrow: Arc<VulkanKernel>,
}

/// The method of a copy within the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyMethod {
    /// Copy commands with one region for each run.
    Regions,
    /// A compute kernel.
    Kernel,
}

/// Chooses the method for a plan with `runs` contiguous runs. `words`: true if the plan copies whole 4-byte words.
fn choose(
    queue: &VulkanQueue,
    source: &VulkanBuffer,
    destination: &VulkanBuffer,
    plan: &CopyPlan,
    runs: u64,
    words: bool,
) -> CopyMethod {
    // The copy kernels copy whole words. A copy of small texels may not consist of whole words.
    if !queue.computes() || !words {
        return CopyMethod::Regions;
    }
    match config::get().test.copy.as_deref() {
        Some("buffer") if runs <= MAX_REGIONS_SOFTWARE => return CopyMethod::Regions,
        Some("kernel") => return CopyMethod::Kernel,
        _ => {}
    }
    let host = source.staging || destination.staging;
    if plan.is_linear() {
        // On a real GPU, kernels copy several times faster than copy commands, but not over the bus.
        let kernel = queue.core.is_hardware && !host && plan.bytes() >= KERNEL_COPY;
        return if kernel { CopyMethod::Kernel } else { CopyMethod::Regions };
    }
    let regions = runs <= if queue.core.is_hardware { MAX_REGIONS_HARDWARE } else { MAX_REGIONS_SOFTWARE };
    if regions { CopyMethod::Regions } else { CopyMethod::Kernel }
}

/// Records a copy of the packed positions `part` of `plan`. `shift` has the numbers that are subtracted from the offsets in the
/// source and in the destination. For a staging chunk, which holds only `part`, the number is the start of `part`; otherwise it is 0.
pub(super) fn copy(
    queue: &VulkanQueue,
    copies: &CopyKernels,
    (source, destination): (&Arc<dyn Buffer>, &Arc<dyn Buffer>),
    shift: (u64, u64),
    plan: &CopyPlan,
    part: Range<u64>,
    timer: Option<&Arc<LaunchTimer>>,
) -> Result<Point> {
    let (read, written) = plan.hulls(&part);
    // The hulls of interleaved sections of one buffer overlap, so their common bytes are both read and written.
    let uses = [
        BufferUse {
            buffer: source,
            range: read.start - shift.0..read.end - shift.0,
            access: Access::Read,
            overwritten: false,
        },
        BufferUse {
            buffer: destination,
            range: written.start - shift.1..written.end - shift.1,
            access: Access::Write,
            overwritten: true,
        },
    ];
    if is_image(source) || is_image(destination) {
        return image_copy::copy(queue, &uses, shift, plan, &part, timer);
    }
    let (from, to) = (VulkanBuffer::of(source, &queue.core)?, VulkanBuffer::of(destination, &queue.core)?);
    let runs = (part.end - part.start) / plan.run.max(1);
    let words = plan.unit() >= 4 && (part.start | part.end | shift.0 | shift.1) % 4 == 0;
    match choose(queue, from, to, plan, runs, words) {
        CopyMethod::Regions => {
            let raw = &queue.core.raw;
            queue.record(
                &uses,
                Command::Other(&mut |commands| regions(raw, commands, from, to, shift, plan, part.clone()), timer),
            )
        }
        CopyMethod::Kernel => {
            let source = (from.address + plan.source).wrapping_sub(shift.0);
            let destination = (to.address + plan.destination).wrapping_sub(shift.1);
            kernel(queue, &uses, copies, (source, destination), plan, part, timer)
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
            // SAFETY: the command buffer is recording. The runtime has checked the plan against both buffers, and that runs do not overlap.
            unsafe { raw.cmd_copy_buffer(commands, from.raw, to.raw, pieces) };
            pieces.clear();
        }
    };
    plan.for_each_run(part.start, part.end, |source, destination, size| {
        let (src_offset, dst_offset) = (from.base + source - shift.0, to.base + destination - shift.1);
        pieces.push(vk::BufferCopy { src_offset, dst_offset, size });
        if pieces.len() == REGIONS_PER_COMMAND {
            flush(&mut pieces);
        }
    });
    flush(&mut pieces);
}

/// Records a copy kernel for the packed positions `part` of a plan. `start_addresses`: the addresses at which the plan begins in the source and
/// in the destination.
fn kernel(
    queue: &VulkanQueue,
    uses: &[BufferUse<'_>],
    copies: &CopyKernels,
    start_addresses: (u64, u64),
    plan: &CopyPlan,
    part: Range<u64>,
    timer: Option<&Arc<LaunchTimer>>,
) -> Result<Point> {
    let aligned = (start_addresses.0 | start_addresses.1 | part.start | part.end) % 16 == 0;
    let wide = plan.unit() == 16 && aligned;
    let unit = if wide { 16 } else { 4 };
    let kernel = if wide { &copies.wide } else { &copies.narrow };
    let pipeline = kernel.pipeline(&Vec::new(), false)?;
    // If the part ends below 2^32 units, the kernel computes in 32 bits. Larger counts can be clamped, because no index reaches them.
    let most = if part.end / unit <= u64::from(u32::MAX) { u64::from(u32::MAX) } else { u64::MAX };
    // For each loop, innermost first: count, source stride and destination stride.
    let mut table = Block::default();
    for dim in plan.dims.iter().rev() {
        [dim.count.min(most), dim.source, dim.destination]
            .iter()
            .for_each(|v| table.bytes.extend_from_slice(&v.to_ne_bytes()));
    }
    let units = (part.end - part.start) / unit;
    let mut push: SmallVec<[u8; 64]> = SmallVec::new();
    for v in [
        start_addresses.0,
        start_addresses.1,
        0,
        part.start / unit,
        units,
        (plan.run / unit).min(most),
        plan.dims.len() as u64,
    ] {
        push.extend_from_slice(&v.to_ne_bytes());
    }
    // The last push constant, the rank, has only 32 bits.
    push.truncate(52);
    let groups = [units.div_ceil(COPY_GROUP).min(MAX_COPY_GROUPS), 1, 1];
    let block = (!table.bytes.is_empty()).then_some((2 * size_of::<u64>(), &table));
    let launch =
        LaunchCommand { pipeline: &pipeline, groups, bindings: &[], images: &[], push: &push, block, after: &[] };
    queue.record(uses, Command::launch(launch, timer))
}
