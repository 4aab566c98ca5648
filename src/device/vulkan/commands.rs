//! The commands a queue records: kernel launches and copies between buffers.

#![allow(unsafe_code)]

use super::core::Core;
use super::memory::VulkanBuffer;
use super::pipeline::VulkanKernel;
use super::queue::{Batch, BufferUse, VulkanQueue};
use super::transfer::Transfers;
use crate::config;
use crate::device::hazard::{Point, Timeline};
use crate::device::layout::CopyPlan;
use crate::device::{Access, Buffer, Direction, Dispatch, HostJob, Queue, Use};
use crate::error::{Error, Result};
use ash::vk;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// From how many bytes on a kernel copies faster than the copy command inside a GPU (measured on an H200).
const KERNEL_COPY: u64 = 64 << 10;
/// More contiguous runs than this are not worth a region each.
const MOST_REGIONS: u64 = 1 << 14;
/// Regions handed over by one copy command.
const REGIONS: usize = 1024;
/// Invocations in a workgroup of the copy kernels.
const COPY_GROUP: u64 = 256;
/// Most workgroups of a copy kernel: each loops over the rest.
const COPY_GROUPS: u64 = 65535;

/// The copy kernels of a device.
pub(super) struct CopyKernels {
    /// Copies 16 bytes at a time.
    pub wide: Arc<VulkanKernel>,
    /// Copies 4 bytes at a time.
    pub narrow: Arc<VulkanKernel>,
}

/// An accelerator_view's queue.
pub(super) struct ViewQueue {
    /// Where it records.
    pub queue: Arc<VulkanQueue>,
    /// Kernels for copies.
    pub copies: Arc<CopyKernels>,
    /// The device's copy lanes.
    pub transfers: Arc<Transfers>,
}

impl Queue for ViewQueue {
    fn timeline(&self) -> &Arc<dyn Timeline> {
        self.queue.timeline()
    }

    fn dispatch(&self, d: &Dispatch<'_>) -> Result<Point> {
        let kernel = d.kernel.as_any().downcast_ref::<VulkanKernel>();
        let kernel = kernel.ok_or_else(|| Error::internal("a kernel of another kind of device reached a queue"))?;
        let core = &self.queue.core;
        let limits = core.physical.limits.max_groups;
        let split = d.groups.iter().zip(limits).any(|(&g, most)| g > u64::from(most));
        let pipeline = kernel.pipeline(d.spec, split)?;
        let mut uses: SmallVec<[BufferUse<'_>; 16]> = SmallVec::new();
        for u in d.bindings.iter().map(|b| &b.bound).chain(d.uses) {
            VulkanBuffer::of(&u.buffer, core)?;
            uses.push(BufferUse { buffer: &u.buffer, range: u.range.clone(), access: u.access });
        }
        self.queue.record(&uses, |batch, _| {
            let raw = &core.raw;
            let block = d.block.map(|b| batch.put(core, &b.bytes, &b.inner)).transpose()?.map(u64::to_ne_bytes);
            let push: &[u8] = block.as_ref().map_or(d.push, |b| b);
            let mut sets: SmallVec<[vk::DescriptorSet; 4]> = SmallVec::new();
            for &layout in &kernel.sets {
                sets.push(batch.descriptor_set(core, layout)?);
            }
            let infos: SmallVec<[[vk::DescriptorBufferInfo; 1]; 8]> = d
                .bindings
                .iter()
                .map(|b| {
                    let of = VulkanBuffer::of(&b.bound.buffer, core)?;
                    let (offset, range) = (of.base + b.bound.range.start, b.bound.range.end - b.bound.range.start);
                    Ok([vk::DescriptorBufferInfo { buffer: of.raw, offset, range }])
                })
                .collect::<Result<_>>()?;
            let writes: SmallVec<[vk::WriteDescriptorSet<'_>; 8]> = d
                .bindings
                .iter()
                .zip(&infos)
                .filter_map(|(b, info)| {
                    let set = *sets.get(b.set as usize)?;
                    Some(
                        vk::WriteDescriptorSet::default()
                            .dst_set(set)
                            .dst_binding(b.binding)
                            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                            .buffer_info(info),
                    )
                })
                .collect();
            let bind = vk::PipelineBindPoint::COMPUTE;
            let stage = vk::ShaderStageFlags::COMPUTE;
            let commands = batch.commands;
            // SAFETY: the command buffer is recording under the queue's lock; sets, pipeline and buffers are of this
            // device and kept by the batch; the runtime has checked ranges and push constants against the module.
            unsafe {
                if !writes.is_empty() {
                    raw.update_descriptor_sets(&writes, &[]);
                }
                if batch.bound != pipeline.raw {
                    raw.cmd_bind_pipeline(commands, bind, pipeline.raw);
                    batch.bound = pipeline.raw;
                }
                if !sets.is_empty() {
                    raw.cmd_bind_descriptor_sets(commands, bind, pipeline.layout, 0, &sets, &[]);
                }
                if !push.is_empty() {
                    raw.cmd_push_constants(commands, pipeline.layout, stage, 0, push);
                }
                match pipeline.split {
                    None => {
                        let [x, y, z] = d.groups.map(|g| g as u32);
                        raw.cmd_dispatch(commands, x, y, z);
                    }
                    Some(offset) => {
                        for_each_piece(d.groups, limits, |base, count| {
                            let mut words = [0_u32; 8];
                            for k in 0..3 {
                                words[k] = base[k] as u32;
                                words[4 + k] = d.groups[k] as u32;
                            }
                            let bytes: SmallVec<[u8; 32]> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
                            raw.cmd_push_constants(commands, pipeline.layout, stage, offset, &bytes);
                            raw.cmd_dispatch(commands, count[0], count[1], count[2]);
                        });
                    }
                }
            }
            batch.keep(&pipeline);
            Ok(())
        })
    }

    fn run(&self, _: &[Use], _: HostJob) -> Result<Point> {
        Err(Error::unsupported("a Vulkan accelerator runs SPIR-V, not functions of the program; use host threads"))
    }

    fn copy(&self, source: &Arc<dyn Buffer>, destination: &Arc<dyn Buffer>, plan: &CopyPlan) -> Result<Point> {
        let all = 0..plan.bytes();
        let core = &self.queue.core;
        let (from, to) = (VulkanBuffer::of(source, core)?.staging, VulkanBuffer::of(destination, core)?.staging);
        // Beside the view's own work where the side on the device allows it, so that copies and kernels overlap.
        let lane = match (from, to) {
            (true, false) => {
                self.transfers.beside(destination, &plan.destination_hull(), Access::Write, &self.queue, plan)
            }
            (false, true) => self.transfers.beside(source, &plan.source_hull(), Access::Read, &self.queue, plan),
            _ => false,
        };
        if lane || config::get().test.copy.as_deref() == Some("lane") {
            let direction = if to { Direction::Download } else { Direction::Upload };
            let lane = self.transfers.lane(direction, !plan.is_linear())?;
            return copy(&lane, &self.copies, source, destination, plan, all);
        }
        copy(&self.queue, &self.copies, source, destination, plan, all)
    }

    fn marker(&self) -> Result<Point> {
        self.queue.release_finished();
        self.transfers.trim();
        Ok(self.queue.marker())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// Cuts `groups` into dispatches the device allows: base and count of each.
fn for_each_piece(groups: [u64; 3], limits: [u32; 3], mut each: impl FnMut([u64; 3], [u32; 3])) {
    let axis = |k: usize| {
        let (all, most) = (groups[k], u64::from(limits[k]));
        (0..all).step_by(most as usize).map(move |base| (base, (all - base).min(most) as u32))
    };
    for (z, nz) in axis(2) {
        for (y, ny) in axis(1) {
            for (x, nx) in axis(0) {
                each([x, y, z], [nx, ny, nz]);
            }
        }
    }
}

/// How a copy inside the device is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Copy commands, one region a run.
    Regions,
    /// A compute kernel.
    Kernel,
}

fn choose(queue: &VulkanQueue, source: &VulkanBuffer, destination: &VulkanBuffer, plan: &CopyPlan) -> Way {
    if !queue.computes() {
        return Way::Regions;
    }
    match config::get().test.copy.as_deref() {
        Some("buffer") if plan.runs() <= MOST_REGIONS => return Way::Regions,
        Some("kernel") => return Way::Kernel,
        _ => {}
    }
    let host = source.staging || destination.staging;
    if plan.is_linear() {
        // A real GPU's kernels copy several times faster than its copy command; over the bus they do not.
        let kernel = queue.core.spins && !host && plan.bytes() >= KERNEL_COPY;
        return if kernel { Way::Kernel } else { Way::Regions };
    }
    let regions = plan.runs() <= if queue.core.spins { 64 } else { MOST_REGIONS };
    if regions { Way::Regions } else { Way::Kernel }
}

/// Records a copy of the packed positions `part` of `plan`.
pub(super) fn copy(
    queue: &VulkanQueue,
    copies: &CopyKernels,
    source: &Arc<dyn Buffer>,
    destination: &Arc<dyn Buffer>,
    plan: &CopyPlan,
    part: Range<u64>,
) -> Result<Point> {
    let (from, to) = (VulkanBuffer::of(source, &queue.core)?, VulkanBuffer::of(destination, &queue.core)?);
    let (mut read, mut written) = (plan.source_hull(), plan.destination_hull());
    if plan.is_linear() {
        read = plan.source + part.start..plan.source + part.end;
        written = plan.destination + part.start..plan.destination + part.end;
    }
    // Sections of one buffer that interleave are both read and written in their common hull.
    let uses = [
        BufferUse { buffer: source, range: read, access: Access::Read },
        BufferUse { buffer: destination, range: written, access: Access::Write },
    ];
    let way = choose(queue, from, to, plan);
    queue.record(&uses, |batch, core| match way {
        Way::Regions => {
            regions(batch, core, from, to, plan, part);
            Ok(())
        }
        Way::Kernel => {
            let ends = (from.address + plan.source, to.address + plan.destination);
            kernel(batch, &queue.core, copies, ends, plan.run, &loops(plan), part, plan.unit())
        }
    })
}

/// Records a copy of packed positions `part` between a strided side and a packed buffer that holds them from its start
/// on. `upload`: from the packed buffer to the strided side.
pub(super) fn copy_packed(
    queue: &VulkanQueue,
    copies: &CopyKernels,
    packed: &Arc<dyn Buffer>,
    strided: &Arc<dyn Buffer>,
    plan: &CopyPlan,
    part: Range<u64>,
    upload: bool,
) -> Result<Point> {
    let length = part.end - part.start;
    let (chunk, other) = (VulkanBuffer::of(packed, &queue.core)?, VulkanBuffer::of(strided, &queue.core)?);
    let (down, up) = plan.through_packed();
    let (walk, offset) = if upload { (up, plan.destination) } else { (down, plan.source) };
    let hull = if walk.is_linear() {
        offset + part.start..offset + part.end
    } else if upload {
        plan.destination_hull()
    } else {
        plan.source_hull()
    };
    let uses = [
        BufferUse { buffer: packed, range: 0..length, access: if upload { Access::Read } else { Access::Write } },
        BufferUse { buffer: strided, range: hull, access: if upload { Access::Write } else { Access::Read } },
    ];
    let mut pieces: SmallVec<[vk::BufferCopy; 8]> = SmallVec::new();
    let many = length / walk.run.max(1) > MOST_REGIONS;
    if many && queue.computes() {
        return queue.record(&uses, |batch, _| {
            // The packed side is addressed by position.
            let (base, strided) = (chunk.address.wrapping_sub(part.start), other.address + offset);
            let ends = if upload { (base, strided) } else { (strided, base) };
            kernel(batch, &queue.core, copies, ends, walk.run, &loops(&walk), part.clone(), walk.unit())
        });
    }
    queue.record(&uses, |batch, core| {
        let flush = |pieces: &mut SmallVec<[vk::BufferCopy; 8]>| {
            if pieces.is_empty() {
                return;
            }
            let (from, to) = if upload { (chunk.raw, other.raw) } else { (other.raw, chunk.raw) };
            // SAFETY: recording; the pieces lie inside both buffers: plan and part were checked against them.
            unsafe { core.raw.cmd_copy_buffer(batch.commands, from, to, pieces) };
            pieces.clear();
        };
        let mut packed = 0;
        plan.for_each_run(part.start, part.end, |source, destination, size| {
            let at = chunk.base + packed;
            let (src_offset, dst_offset) =
                if upload { (at, other.base + destination) } else { (other.base + source, at) };
            packed += size;
            pieces.push(vk::BufferCopy { src_offset, dst_offset, size });
            if pieces.len() == REGIONS {
                flush(&mut pieces);
            }
        });
        flush(&mut pieces);
        Ok(())
    })
}

/// The loops of a plan as the copy kernels take them.
fn loops(plan: &CopyPlan) -> SmallVec<[[u64; 3]; 4]> {
    plan.dims.iter().map(|d| [d.count, d.source, d.destination]).collect()
}

/// Records copy commands, one region for each contiguous run.
fn regions(batch: &Batch, core: &Core, from: &VulkanBuffer, to: &VulkanBuffer, plan: &CopyPlan, part: Range<u64>) {
    let mut pieces: Vec<vk::BufferCopy> = Vec::new();
    let flush = |pieces: &mut Vec<vk::BufferCopy>| {
        if !pieces.is_empty() {
            // SAFETY: recording; the runtime has checked the plan against both buffers, and that nothing overlaps.
            unsafe { core.raw.cmd_copy_buffer(batch.commands, from.raw, to.raw, pieces) };
            pieces.clear();
        }
    };
    plan.for_each_run(part.start, part.end, |source, destination, size| {
        let (src_offset, dst_offset) = (from.base + source, to.base + destination);
        pieces.push(vk::BufferCopy { src_offset, dst_offset, size });
        if pieces.len() == REGIONS {
            flush(&mut pieces);
        }
    });
    flush(&mut pieces);
}

/// Records a copy kernel for packed positions `part` of loops `dims` (count, source stride, destination stride; outermost
/// first) around runs of `run` bytes, in units that divide all of them.
#[allow(clippy::too_many_arguments)]
fn kernel(
    batch: &mut Batch,
    core: &Arc<Core>,
    copies: &CopyKernels,
    ends: (u64, u64),
    run: u64,
    dims: &[[u64; 3]],
    part: Range<u64>,
    unit: u64,
) -> Result<()> {
    let aligned = (ends.0 | ends.1 | part.start | part.end) % 16 == 0;
    let wide = unit == 16 && aligned;
    let unit = if wide { 16 } else { 4 };
    let kernel = if wide { &copies.wide } else { &copies.narrow };
    let pipeline = kernel.pipeline(&Vec::new(), false)?;
    let mut table = Vec::with_capacity(dims.len() * 24);
    for dim in dims.iter().rev() {
        dim.iter().for_each(|v| table.extend_from_slice(&v.to_ne_bytes()));
    }
    let table = if table.is_empty() { 0 } else { batch.put(core, &table, &[])? };
    let units = (part.end - part.start) / unit;
    let mut push = Vec::with_capacity(56);
    for v in [ends.0, ends.1, table, part.start / unit, units, run / unit, dims.len() as u64] {
        push.extend_from_slice(&v.to_ne_bytes());
    }
    // The block ends with a 32-bit rank.
    push.truncate(52);
    let groups = units.div_ceil(COPY_GROUP).min(COPY_GROUPS) as u32;
    // SAFETY: recording; addresses and ranges are those of buffers the batch keeps.
    unsafe {
        if batch.bound != pipeline.raw {
            core.raw.cmd_bind_pipeline(batch.commands, vk::PipelineBindPoint::COMPUTE, pipeline.raw);
            batch.bound = pipeline.raw;
        }
        core.raw.cmd_push_constants(batch.commands, pipeline.layout, vk::ShaderStageFlags::COMPUTE, 0, &push);
        core.raw.cmd_dispatch(batch.commands, groups, 1, 1);
    }
    batch.keep(&pipeline);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_every_group_once() {
        let mut seen = std::collections::HashSet::new();
        for_each_piece([7, 3, 5], [3, 2, 4], |base, count| {
            assert!(count[0] <= 3 && count[1] <= 2 && count[2] <= 4);
            for z in 0..u64::from(count[2]) {
                for y in 0..u64::from(count[1]) {
                    for x in 0..u64::from(count[0]) {
                        assert!(seen.insert([base[0] + x, base[1] + y, base[2] + z]));
                    }
                }
            }
        });
        assert_eq!(seen.len(), 7 * 3 * 5);
    }
}
