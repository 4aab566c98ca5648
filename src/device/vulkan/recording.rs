//! Recordings: command buffers that remember their launches.
//!
//! Programs launch the same kernels repeatedly. Only the argument blocks change, and the host writes these. So a command buffer
//! is kept when its work is done, and a batch that begins with the same launch reuses it. As long as the launches of the batch equal
//! those of the command buffer, nothing is recorded (docs/decisions/0013-recorded-again.md). At the first difference, the command
//! buffer is recorded again from its beginning.

#![allow(unsafe_code)]

use super::burst::BurstPosition;
use super::command_pool::CommandPool;
use super::core::Core;
use super::image::ImageDescriptor;
use super::memory::{AllocationRequest, Mapping, VulkanBuffer};
use super::pipeline::Pipeline;
use super::stop_flags::{FLAG_BYTES, Flags};
use super::timeline::VulkanTimeline;
use super::timer::LaunchTimer;
use crate::device::block::Block;
use crate::device::hazard::Point;
use crate::device::{BoundAs, BoundBuffer, Buffer};
use crate::error::{Error, Result};
use crate::grow::Grow;
use ash::vk;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// The minimum alignment of argument blocks. No functor may have a larger alignment.
const ARGUMENT_ALIGN: u64 = 64;
/// Padding after the blocks of a page. The uniform buffer of a block always has the maximum size that kernels may read.
const PAGE_PADDING: u64 = revamp_image::arguments::BYTES;
/// Bytes of a page for argument blocks.
const PAGE: u64 = 16 << 10;
/// The size of a descriptor pool: the number of sets, of storage buffers, and of descriptors of each other type (uniform buffers,
/// images, samplers). The pool is larger if a single set has more descriptors.
const POOL: (u32, u32, u32) = (64, 512, 64);
/// The number of sets with an argument block in a descriptor pool. A recording needs one for each page.
const ARGUMENT_SETS: u32 = 4;
/// Words in the push constants of a kernel for split domains: the first workgroup and the total number of workgroups.
const SPLIT_WORDS: usize = 8;

fn not_mapped() -> Error {
    Error::internal("argument memory is not mapped")
}

/// The alignment of argument blocks on the device.
fn argument_align(core: &Core) -> u64 {
    core.physical.limits.uniform_buffer_offset_alignment.max(ARGUMENT_ALIGN)
}

/// A kernel launch that a queue is to record.
pub(super) struct LaunchCommand<'a> {
    pub pipeline: &'a Arc<Pipeline>,
    /// The number of workgroups. It may exceed the device's limit if the pipeline was created for split domains.
    pub groups: [u64; 3],
    /// The buffer of each buffer descriptor.
    pub bindings: &'a [BoundBuffer],
    /// The images and samplers of each descriptor.
    pub images: &'a [ImageDescriptor],
    /// Push constants.
    pub push: &'a [u8],
    /// An argument block, and the offset in the push constants at which its address is stored.
    pub block: Option<(usize, &'a Block)>,
    /// Work that must be done before the launch, whatever buffers the launch uses.
    pub after: &'a [Point],
}

impl LaunchCommand<'_> {
    /// The range in the push constants at which the address of its block is stored; empty if it has no block.
    fn address(&self) -> Range<usize> {
        self.block.map_or(0..0, |(at, _)| at..at + size_of::<u64>())
    }
}

/// A launch in a recording.
struct RecordedLaunch {
    /// True if a full memory barrier comes before it.
    barrier: bool,
    /// The batch in flight keeps the pipeline alive. While this reference exists, no other pipeline can get its address.
    pipeline: Weak<Pipeline>,
    groups: [u64; 3],
    push: SmallVec<[u8; 64]>,
    bound: SmallVec<[Bound; 4]>,
    images: Vec<ImageDescriptor>,
}

/// A buffer of a recorded launch.
#[derive(Clone, PartialEq)]
struct Bound {
    set: u32,
    binding: u32,
    element: u32,
    bound_as: BoundAs,
    /// The id of the [`VulkanBuffer`]. Unlike Vulkan's handles, ids are not reused.
    buffer: u64,
    range: Range<u64>,
    raw: vk::Buffer,
    /// The offset of the range in `raw`.
    offset: u64,
}

impl Bound {
    fn new(binding: &BoundBuffer, core: &Core) -> Result<Self> {
        let of = VulkanBuffer::of(&binding.bound.buffer, core)?;
        let range = &binding.bound.range;
        Ok(Self {
            set: binding.set,
            binding: binding.binding,
            element: binding.element,
            bound_as: binding.bound_as,
            buffer: of.id(),
            range: range.clone(),
            raw: of.raw,
            offset: of.base + range.start,
        })
    }

    /// True if this is the same buffer, bound in the same way.
    fn is_same(&self, b: &BoundBuffer) -> bool {
        self.buffer == b.bound.buffer.id()
            && self.range == b.bound.range
            && (self.set, self.binding, self.element) == (b.set, b.binding, b.element)
            && self.bound_as == b.bound_as
    }
}

impl RecordedLaunch {
    /// `address`: the address of the launch's block.
    fn new(core: &Core, barrier: bool, launch: &LaunchCommand<'_>, address: Option<u64>) -> Result<Self> {
        let bound = launch.bindings.iter().map(|b| Bound::new(b, core)).collect::<Result<_>>()?;
        let pipeline = Arc::downgrade(launch.pipeline);
        let mut push = SmallVec::from_slice(launch.push);
        if let Some(address) = address {
            push[launch.address()].copy_from_slice(&address.to_ne_bytes());
        }
        Ok(Self { barrier, pipeline, groups: launch.groups, push, bound, images: launch.images.to_vec() })
    }

    /// True if `launch` is the same launch. `address`: the address of its block; `None` if it has no block, or if the address is
    /// not known yet.
    fn is_same(&self, barrier: bool, launch: &LaunchCommand<'_>, address: Option<u64>) -> bool {
        let (push, at) = (self.push.as_slice(), launch.address());
        self.barrier == barrier
            && Weak::as_ptr(&self.pipeline) == Arc::as_ptr(launch.pipeline)
            && self.groups == launch.groups
            && push.len() == launch.push.len()
            && push[..at.start] == launch.push[..at.start]
            && push[at.end..] == launch.push[at.end..]
            && address.is_none_or(|address| push[at] == address.to_ne_bytes())
            && (self.images.is_empty() && launch.images.is_empty() || same_images(&self.images, launch.images))
            && self.bound.len() == launch.bindings.len()
            && self.bound.iter().zip(launch.bindings).all(|(recorded, now)| recorded.is_same(now))
    }
}

/// Out of line, because most launches have no images.
#[cold]
fn same_images(recorded: &[ImageDescriptor], now: &[ImageDescriptor]) -> bool {
    recorded == now
}

/// The contents of a recording's command buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    /// Nothing useful: the command buffer must be recorded before it is submitted.
    Nothing,
    /// The command buffer is being recorded, and contains all commands added so far.
    Open,
    /// The command buffer has been recorded, and contains all launches of [`Recording::list`].
    All,
}

/// A command buffer and the objects that its commands need.
pub(super) struct Recording {
    /// The pool of the command buffer; `None` once the recording is destroyed.
    pool: Option<Arc<CommandPool>>,
    commands: vk::CommandBuffer,
    /// The position of its first launch in the burst.
    pub place: BurstPosition,
    contents: Contents,
    /// Its launches, from the previous use or this one.
    list: Vec<RecordedLaunch>,
    /// The number of launches in `list` that belong to the current use.
    used: usize,
    /// True if the command buffer has commands that are not in `list`. Then it can be used only once.
    single_use: bool,
    /// True if the command buffer is for compute queues.
    computes: bool,
    /// The pipeline that was bound last.
    bound: vk::Pipeline,
    /// The buffers that were bound last. If the next launch has the same buffers and images, nothing is bound again.
    buffers: SmallVec<[Bound; 4]>,
    /// The images that were bound last.
    images: Vec<ImageDescriptor>,
    /// The samplers that its commands use.
    samplers: Vec<Arc<vk::Sampler>>,
    /// The timers that its commands use.
    timers: Vec<Arc<LaunchTimer>>,
    sets: Sets,
    /// The memory of its argument blocks.
    page: Option<Arc<VulkanBuffer>>,
    page_used: u64,
    /// The descriptor set that has the page as a uniform buffer.
    argument_set: Option<vk::DescriptorSet>,
    /// The stop flags of its launches, and the stop word of the device; `None` if no launch has a flag.
    flags: Option<(Arc<Flags>, Arc<dyn Buffer>)>,
    /// The descriptor set for `flags`.
    flag_set: Option<vk::DescriptorSet>,
    /// The number of commands in the current use, including commands that are not in `list`.
    count: usize,
    /// A copy of the page. Equal blocks are not written again, because device memory is slow to write and very slow to read.
    written: Vec<u8>,
}

impl Recording {
    /// A new recording with a command buffer from `pool`.
    pub fn new(core: &Core, pool: &Arc<CommandPool>) -> Result<Self> {
        let commands = pool.allocate(core)?;
        Ok(Self {
            pool: Some(pool.clone()),
            commands,
            place: BurstPosition::default(),
            contents: Contents::Nothing,
            list: Vec::new(),
            used: 0,
            single_use: false,
            computes: pool.family == core.compute_family,
            bound: vk::Pipeline::null(),
            buffers: SmallVec::new(),
            images: Vec::new(),
            samplers: Vec::new(),
            timers: Vec::new(),
            sets: Sets::default(),
            page: None,
            page_used: 0,
            argument_set: None,
            flags: None,
            flag_set: None,
            count: 0,
            written: Vec::new(),
        })
    }

    /// True if its first launch is `launch`.
    pub fn begins(&self, barrier: bool, launch: &LaunchCommand<'_>) -> bool {
        self.contents == Contents::All && self.list.first().is_some_and(|c| c.is_same(barrier, launch, None))
    }

    /// True if the recording has no commands that could be reused.
    pub fn is_blank(&self) -> bool {
        self.contents == Contents::Nothing
    }

    /// The number of launches in its list.
    pub fn launches(&self) -> usize {
        self.list.len()
    }

    /// The maximum number of launches with blocks of this size in one recording.
    pub fn most_launches(core: &Core, block: u64) -> u64 {
        (PAGE / block.max(1).next_multiple_of(argument_align(core))).max(1)
    }

    /// True if another command can be added. `more`: the burst does not end a command buffer here, so a launch can follow.
    pub fn goes_on(&self, core: &Core, more: bool, block: u64) -> bool {
        let has_room = self.page.is_none() || self.place(core, block).is_some();
        has_room && (self.single_use || more && (self.contents != Contents::All || self.used < self.list.len()))
    }

    /// Adds a launch. Returns true if the launch had to be recorded. On failure, earlier commands stay, and nothing of this launch is
    /// added.
    #[inline(always)]
    pub fn launch(&mut self, timeline: &VulkanTimeline, barrier: bool, launch: &LaunchCommand<'_>) -> Result<bool> {
        let core = &timeline.core;
        let address = self.put_block(core, launch)?;
        if self.contents == Contents::All
            && self.list.get(self.used).is_some_and(|c| c.is_same(barrier, launch, address))
        {
            self.used += 1;
            self.count += 1;
            return Ok(false);
        }
        if launch.pipeline.sets.flag {
            self.make_flags(timeline)?;
        }
        self.open(core)?;
        let command = RecordedLaunch::new(core, barrier, launch, address)?;
        self.emit(core, &command, launch.pipeline, self.count)?;
        self.count += 1;
        if !self.single_use {
            self.list.push(command);
            self.used += 1;
        }
        Ok(true)
    }

    /// Adds a timed launch. No other command runs at the same time. Timed launches are always recorded again.
    pub fn timed(
        &mut self,
        timeline: &VulkanTimeline,
        launch: &LaunchCommand<'_>,
        timer: &Arc<LaunchTimer>,
    ) -> Result<()> {
        let core = &timeline.core;
        let address = self.put_block(core, launch)?;
        if launch.pipeline.sets.flag {
            self.make_flags(timeline)?;
        }
        self.open(core)?;
        self.single_use = true;
        let command = RecordedLaunch::new(core, true, launch, address)?;
        self.timers.push(timer.clone());
        timer.begin(self.commands);
        self.emit(core, &command, launch.pipeline, self.count)?;
        self.count += 1;
        timer.end(self.commands);
        Ok(())
    }

    /// Writes the block of a launch into the page, if it has one, and returns the block's address.
    #[inline(always)]
    fn put_block(&mut self, core: &Arc<Core>, launch: &LaunchCommand<'_>) -> Result<Option<u64>> {
        launch.block.map(|(_, block)| self.put(core, block)).transpose()
    }

    /// Adds commands other than launches. Commands with a timer begin when all earlier commands are done.
    pub fn add(
        &mut self,
        core: &Core,
        barrier: bool,
        timer: Option<&Arc<LaunchTimer>>,
        write: &mut dyn FnMut(vk::CommandBuffer),
    ) -> Result<()> {
        self.open(core)?;
        self.single_use = true;
        self.count += 1;
        if let Some(timer) = timer {
            self.timers.push(timer.clone());
            timer.begin(self.commands);
        }
        if barrier || timer.is_some() {
            self.barrier(core, false);
        }
        write(self.commands);
        if let Some(timer) = timer {
            timer.end(self.commands);
        }
        Ok(())
    }

    /// Makes the device write `value` into a word of host memory when all earlier commands are done and visible to the host.
    pub fn write_word(&mut self, core: &Core, word: vk::Buffer, value: u32) -> Result<()> {
        self.open(core)?;
        self.single_use = true;
        self.barrier(core, true);
        // No barrier is needed after the write: a host that does not see the word yet checks the semaphore.
        // SAFETY: the command buffer is recording; the word is a buffer of this device.
        unsafe { core.raw.cmd_fill_buffer(self.commands, word, 0, 4, value) };
        Ok(())
    }

    /// Ends recording. Returns the command buffer with all added commands, ready to be submitted.
    pub fn end(&mut self, core: &Core) -> Result<vk::CommandBuffer> {
        if self.contents != Contents::All || self.used < self.list.len() {
            self.open(core)?;
            self.contents = Contents::Nothing;
            // SAFETY: it is being recorded.
            unsafe { core.raw.end_command_buffer(self.commands) }.map_err(|e| core.failed("vkEndCommandBuffer", e))?;
            self.contents = Contents::All;
        }
        Ok(self.commands)
    }

    /// A command buffer with nothing but a barrier that makes memory visible to the host. It can be submitted any number of times.
    pub fn host_barrier(core: &Core, pool: &Arc<CommandPool>) -> Result<Self> {
        let mut recording = Self::new(core, pool)?;
        let done = recording.begin(core, vk::CommandBufferUsageFlags::SIMULTANEOUS_USE).and_then(|()| {
            recording.barrier(core, true);
            recording.end(core)
        });
        match done {
            Ok(_) => Ok(recording),
            Err(e) => {
                recording.destroy(core);
                Err(e)
            }
        }
    }

    /// Prepares the recording for the next use. The device must be done with the recording.
    pub fn release(&mut self, core: &Core) -> Result<()> {
        self.page_used = 0;
        self.used = 0;
        self.count = 0;
        if self.single_use || self.contents != Contents::All || self.list.is_empty() {
            return self.clear(core);
        }
        Ok(())
    }

    /// Removes all commands of the recording. The device must be done with the commands.
    pub fn clear(&mut self, core: &Core) -> Result<()> {
        self.list.clear();
        self.single_use = false;
        self.used = 0;
        self.count = 0;
        self.reset(core)
    }

    /// Begins recording, and records the commands that were added so far. Does nothing if the command buffer is being recorded already.
    pub fn open(&mut self, core: &Core) -> Result<()> {
        if self.contents == Contents::Open {
            return Ok(());
        }
        self.list.truncate(self.used);
        if self.contents == Contents::All || !self.list.is_empty() {
            self.reset(core)?;
        }
        self.begin(core, vk::CommandBufferUsageFlags::empty())?;
        let list = std::mem::take(&mut self.list);
        let emitted = list.iter().enumerate().try_for_each(|(number, command)| {
            let pipeline = command.pipeline.upgrade();
            let pipeline =
                pipeline.ok_or_else(|| Error::internal("a pipeline was destroyed before the batch that uses it"))?;
            self.emit(core, command, &pipeline, number)
        });
        self.list = list;
        if emitted.is_err() {
            self.contents = Contents::Nothing;
        }
        emitted
    }

    fn begin(&mut self, core: &Core, usage: vk::CommandBufferUsageFlags) -> Result<()> {
        let info = vk::CommandBufferBeginInfo::default().flags(usage);
        // SAFETY: the command buffer was reset or is new, and no other thread uses it.
        unsafe { core.raw.begin_command_buffer(self.commands, &info) }
            .map_err(|e| core.failed("vkBeginCommandBuffer", e))?;
        self.bound = vk::Pipeline::null();
        self.contents = Contents::Open;
        Ok(())
    }

    fn reset(&mut self, core: &Core) -> Result<()> {
        self.contents = Contents::Nothing;
        self.argument_set = None;
        self.flag_set = None;
        self.sets.reset(core)?;
        // SAFETY: the device is done with the command buffer, or never got it; its pool allows resetting it.
        unsafe { core.raw.reset_command_buffer(self.commands, vk::CommandBufferResetFlags::empty()) }
            .map_err(|e| core.failed("vkResetCommandBuffer", e))?;
        self.images.clear();
        self.samplers.clear();
        self.timers.clear();
        Ok(())
    }

    /// The descriptor set with the page, and the offset of the launch's block in the page.
    fn argument_set(
        &mut self,
        core: &Core,
        command: &RecordedLaunch,
        layout: vk::DescriptorSetLayout,
    ) -> Result<(vk::DescriptorSet, u32)> {
        let no_block = || Error::internal("a kernel with arguments was launched without an argument block");
        let page = self.page.as_ref().ok_or_else(no_block)?;
        let address = command.push.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes)).ok_or_else(no_block)?;
        let offset = u32::try_from(address.wrapping_sub(page.address)).map_err(|_| no_block())?;
        if let Some(set) = self.argument_set {
            return Ok((set, offset));
        }
        let set = self.sets.allocate(core, layout, 0)?;
        let info = [vk::DescriptorBufferInfo { buffer: page.raw, offset: 0, range: PAGE_PADDING }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)
            .buffer_info(&info);
        // SAFETY: the set is new, and the page lives as long as the recording uses it.
        unsafe { core.raw.update_descriptor_sets(&[write], &[]) };
        self.argument_set = Some(set);
        Ok((set, offset))
    }

    /// The descriptor set with the stop flags, and the offset of the flag of launch `number`.
    #[cold]
    fn flag_set(&mut self, core: &Core, pipeline: &Pipeline, number: usize) -> Result<(vk::DescriptorSet, u32)> {
        let layout = pipeline.sets.raw.last().copied().unwrap_or_default();
        let (flags, word) = self.flags.as_ref().ok_or_else(|| Error::internal("a launch has no stop flag"))?;
        let offset = flags.offset(number, &pipeline.kernel) as u32;
        if let Some(set) = self.flag_set {
            return Ok((set, offset));
        }
        let set = self.sets.allocate(core, layout, 0)?;
        let of = |buffer: vk::Buffer| [vk::DescriptorBufferInfo { buffer, offset: 0, range: FLAG_BYTES }];
        let (flag, word) = (of(flags.buffer.raw), of(VulkanBuffer::of(word, core)?.raw));
        let write = vk::WriteDescriptorSet::default().dst_set(set);
        let writes = [
            write.descriptor_type(vk::DescriptorType::STORAGE_BUFFER_DYNAMIC).buffer_info(&flag),
            write.dst_binding(1).descriptor_type(vk::DescriptorType::STORAGE_BUFFER).buffer_info(&word),
        ];
        // SAFETY: the set is new, and both buffers live as long as the recording.
        unsafe { core.raw.update_descriptor_sets(&writes, &[]) };
        self.flag_set = Some(set);
        Ok((set, offset))
    }

    /// Creates the stop flags, unless they exist already.
    #[cold]
    fn make_flags(&mut self, timeline: &VulkanTimeline) -> Result<()> {
        if self.flags.is_none() {
            let word = timeline.stop_word()?.buffer.clone();
            self.flags = Some((Flags::new(&timeline.core, timeline.weak_self.clone())?, word));
        }
        Ok(())
    }

    /// Notes the number of the batch that is about to be submitted, and the sequence number of the recording's first command.
    /// Returns the number of the recording's commands.
    #[inline]
    pub fn set_batch(&self, value: u64, first: u64) -> u64 {
        if let Some((flags, _)) = &self.flags {
            flags.set_batch(value, first, self.count);
        }
        self.count as u64
    }

    /// Records a launch, which is number `number` of the current use.
    fn emit(&mut self, core: &Core, command: &RecordedLaunch, pipeline: &Pipeline, number: usize) -> Result<()> {
        let arguments = match pipeline.sets.raw.first() {
            Some(&layout) if pipeline.sets.arguments => Some(self.argument_set(core, command, layout)?),
            _ => None,
        };
        let flag = if pipeline.sets.flag { Some(self.flag_set(core, pipeline, number)?) } else { None };
        let mut sets: SmallVec<[vk::DescriptorSet; 4]> = SmallVec::new();
        let is_bound = self.bound == pipeline.raw && self.buffers == command.bound && self.images == command.images;
        // The sets with the page and the flags are bound for each launch. The other sets are bound if they differ from those of the last
        // launch.
        let (first, layouts) = pipeline.sets.own();
        for (layout, descriptors) in layouts.filter(|_| !is_bound) {
            sets.push(self.sets.allocate(core, layout, descriptors)?);
        }
        let infos: SmallVec<[[vk::DescriptorBufferInfo; 1]; 8]> = command
            .bound
            .iter()
            .map(|b| [vk::DescriptorBufferInfo { buffer: b.raw, offset: b.offset, range: b.range.end - b.range.start }])
            .collect();
        let image_infos: SmallVec<[[vk::DescriptorImageInfo; 1]; 4]> =
            command.images.iter().map(|i| [i.info.raw()]).collect();
        let image_writes = command.images.iter().zip(&image_infos).filter_map(|(i, info)| {
            let (set, binding) = pipeline.sets.place(i.set, i.binding);
            let set = *sets.get((set as usize).checked_sub(first)?)?;
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
            Some(write.dst_array_element(i.element).descriptor_type(i.kind).image_info(info))
        });
        let writes: SmallVec<[vk::WriteDescriptorSet<'_>; 8]> = command
            .bound
            .iter()
            .zip(&infos)
            .filter_map(|(b, info)| {
                let (set, binding) = pipeline.sets.place(b.set, b.binding);
                let set = *sets.get((set as usize).checked_sub(first)?)?;
                Some(
                    vk::WriteDescriptorSet::default()
                        .dst_set(set)
                        .dst_binding(binding)
                        .dst_array_element(b.element)
                        .descriptor_type(match b.bound_as {
                            BoundAs::Storage => vk::DescriptorType::STORAGE_BUFFER,
                            BoundAs::Uniform | BoundAs::HostWrittenUniform => vk::DescriptorType::UNIFORM_BUFFER,
                        })
                        .buffer_info(info),
                )
            })
            .chain(image_writes)
            .collect();
        if command.barrier {
            self.barrier(core, false);
        }
        if command.bound.iter().any(|b| b.bound_as == BoundAs::Uniform) {
            self.uniform_barrier(core);
        }
        let raw = &core.raw;
        let (bind, stage) = (vk::PipelineBindPoint::COMPUTE, vk::ShaderStageFlags::COMPUTE);
        let commands = self.commands;
        // SAFETY: the command buffer is recording under the queue's lock. Sets, pipeline and buffers belong to this device, and the
        // batch keeps them alive. The runtime has checked ranges and push constants against the module.
        unsafe {
            if !writes.is_empty() {
                raw.update_descriptor_sets(&writes, &[]);
            }
            if self.bound != pipeline.raw {
                raw.cmd_bind_pipeline(commands, bind, pipeline.raw);
                self.bound = pipeline.raw;
            }
            if let Some((set, offset)) = arguments {
                raw.cmd_bind_descriptor_sets(commands, bind, pipeline.layout, 0, &[set], &[offset]);
            }
            if !sets.is_empty() {
                raw.cmd_bind_descriptor_sets(commands, bind, pipeline.layout, first as u32, &sets, &[]);
                self.buffers.clone_from(&command.bound);
                self.images.clone_from(&command.images);
                self.samplers.extend(command.images.iter().filter_map(|i| i.info.sampler.clone()));
            }
            if let Some((set, offset)) = flag {
                let last = pipeline.sets.raw.len() as u32 - 1;
                raw.cmd_bind_descriptor_sets(commands, bind, pipeline.layout, last, &[set], &[offset]);
            }
            if !command.push.is_empty() {
                raw.cmd_push_constants(commands, pipeline.layout, stage, 0, &command.push);
            }
            match pipeline.split {
                None => {
                    let [x, y, z] = command.groups.map(|g| g as u32);
                    raw.cmd_dispatch(commands, x, y, z);
                }
                Some(offset) => {
                    for_each_piece(command.groups, core.physical.limits.max_groups, |base, count| {
                        let mut words = [0_u32; SPLIT_WORDS];
                        for k in 0..3 {
                            words[k] = base[k] as u32;
                            words[4 + k] = command.groups[k] as u32;
                        }
                        let bytes: SmallVec<[u8; 4 * SPLIT_WORDS]> =
                            words.iter().flat_map(|w| w.to_ne_bytes()).collect();
                        raw.cmd_push_constants(commands, pipeline.layout, stage, offset, &bytes);
                        raw.cmd_dispatch(commands, count[0], count[1], count[2]);
                    });
                }
            }
        }
        Ok(())
    }

    /// A full memory barrier between all earlier and all later commands. `host`: also makes writes visible to the host. The command
    /// buffer must be recording.
    fn barrier(&self, core: &Core, host: bool) {
        let mut stages = vk::PipelineStageFlags::TRANSFER;
        let mut access = vk::AccessFlags::TRANSFER_READ | vk::AccessFlags::TRANSFER_WRITE;
        if self.computes {
            stages |= vk::PipelineStageFlags::COMPUTE_SHADER;
            access |= vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
        }
        let (to, seen) = if host {
            (stages | vk::PipelineStageFlags::HOST, access | vk::AccessFlags::HOST_READ)
        } else {
            (stages, access)
        };
        let barrier = [vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(seen)];
        // SAFETY: the command buffer is recording, and its queue family supports the stages.
        unsafe {
            core.raw.cmd_pipeline_barrier(self.commands, stages, to, vk::DependencyFlags::empty(), &barrier, &[], &[]);
        }
    }

    /// A barrier between earlier writes and later reads of uniform buffers. The full barriers do not include UNIFORM_READ, because
    /// few launches have uniform buffers. The command buffer must be recording.
    #[cold]
    fn uniform_barrier(&self, core: &Core) {
        let (stages, compute) = (vk::PipelineStageFlags::TRANSFER, vk::PipelineStageFlags::COMPUTE_SHADER);
        let written = vk::AccessFlags::TRANSFER_WRITE | vk::AccessFlags::SHADER_WRITE;
        let barrier =
            [vk::MemoryBarrier::default().src_access_mask(written).dst_access_mask(vk::AccessFlags::UNIFORM_READ)];
        // SAFETY: the command buffer is recording, for a family with compute.
        unsafe {
            let none = vk::DependencyFlags::empty();
            core.raw.cmd_pipeline_barrier(self.commands, stages | compute, compute, none, &barrier, &[], &[]);
        }
    }

    /// The offset in the page for a block of this size, if there is room.
    fn place(&self, core: &Core, bytes: u64) -> Option<u64> {
        let page = self.page.as_ref()?;
        // Aligns both the offset and the address, because the address of a page has this alignment too.
        let at = self.page_used.next_multiple_of(argument_align(core));
        (at + bytes + PAGE_PADDING <= page.size()).then_some(at)
    }

    /// Writes a block into the page, where the device can read it until the batch is done. Returns the block's address.
    fn put(&mut self, core: &Arc<Core>, block: &Block) -> Result<u64> {
        let size = block.bytes.len() as u64;
        let at = match self.place(core, size) {
            Some(at) => at,
            None => self.begin_page(core, size)?,
        };
        let Some(page) = &self.page else {
            return Err(Error::internal("no page of memory was allocated for an argument block"));
        };
        let own: SmallVec<[u8; 256]>;
        let bytes = if block.inner.is_empty() {
            &block.bytes
        } else {
            own = block.with_addresses(page.address + at)?;
            &own
        };
        let written = &mut self.written[at as usize..(at + size) as usize];
        if written != &bytes[..] {
            page.host().ok_or_else(not_mapped)?.sub(at..at + size)?.write(bytes)?;
            written.copy_from_slice(bytes);
        }
        self.page_used = at + size;
        Ok(page.address + at)
    }

    /// Creates a page with room for a block of this size. Returns the offset for the block.
    #[cold]
    fn begin_page(&mut self, core: &Arc<Core>, size: u64) -> Result<u64> {
        let wanted = AllocationRequest {
            memory_type: core.physical.memory_types.argument,
            mapped: Mapping::Host,
            staging: true,
        };
        let page = VulkanBuffer::new(core, PAGE.max(size) + PAGE_PADDING, &wanted, "argument blocks")?;
        if page.address % argument_align(core) != 0 {
            return Err(Error::internal("the memory for argument blocks is misaligned"));
        }
        let mut zeros = Vec::new();
        zeros.make_room(page.size() as usize)?;
        zeros.resize(page.size() as usize, 0);
        page.host().ok_or_else(not_mapped)?.write(&zeros)?;
        (self.page, self.written, self.page_used) = (Some(page), zeros, 0);
        self.argument_set = None;
        self.place(core, size).ok_or_else(|| Error::internal("a new page of memory has no room for an argument block"))
    }

    /// Frees everything. The device must be done with the recording, or lost.
    pub fn destroy(&mut self, core: &Core) {
        self.sets.destroy(core);
        if let Some(pool) = self.pool.take() {
            CommandPool::free(pool, core, self.commands);
        }
        self.page = None;
        self.flags = None;
    }
}

/// Descriptor sets of a recording.
#[derive(Default)]
struct Sets {
    pools: Vec<vk::DescriptorPool>,
    used: usize,
}

impl Sets {
    /// Allocates a set of `layout`, which has this many descriptors. The set lives until the next reset.
    fn allocate(
        &mut self,
        core: &Core,
        layout: vk::DescriptorSetLayout,
        descriptors: u32,
    ) -> Result<vk::DescriptorSet> {
        let layouts = [layout];
        let mut made = false;
        loop {
            if self.used > 0 {
                let pool = self.pools[self.used - 1];
                let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
                let mut set = vk::DescriptorSet::null();
                // ash's wrapper would allocate a `Vec`.
                // SAFETY: pool and layout are alive, no other thread uses the pool, and one set is requested.
                let done =
                    unsafe { (core.raw.fp_v1_0().allocate_descriptor_sets)(core.raw.handle(), &info, &raw mut set) };
                match done {
                    vk::Result::SUCCESS => return Ok(set),
                    vk::Result::ERROR_OUT_OF_POOL_MEMORY | vk::Result::ERROR_FRAGMENTED_POOL if !made => {}
                    e => return Err(core.failed("vkAllocateDescriptorSets", e)),
                }
            }
            if self.used == self.pools.len() {
                let of = |kind, count| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(count);
                let size = [
                    of(vk::DescriptorType::STORAGE_BUFFER, POOL.1.max(descriptors)),
                    of(vk::DescriptorType::UNIFORM_BUFFER, POOL.2.max(descriptors)),
                    of(vk::DescriptorType::SAMPLED_IMAGE, POOL.2.max(descriptors)),
                    of(vk::DescriptorType::STORAGE_IMAGE, POOL.2.max(descriptors)),
                    of(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, POOL.2.max(descriptors)),
                    of(vk::DescriptorType::SAMPLER, POOL.2.max(descriptors)),
                    of(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, ARGUMENT_SETS),
                    of(vk::DescriptorType::STORAGE_BUFFER_DYNAMIC, 1),
                ];
                let info = vk::DescriptorPoolCreateInfo::default().max_sets(POOL.0).pool_sizes(&size);
                // SAFETY: the device is alive.
                let pool = unsafe { core.raw.create_descriptor_pool(&info, None) }
                    .map_err(|e| core.failed("vkCreateDescriptorPool", e))?;
                self.pools.push(pool);
                made = true;
            }
            self.used += 1;
        }
    }

    fn reset(&mut self, core: &Core) -> Result<()> {
        for pool in self.pools.iter().take(self.used) {
            // SAFETY: the device is done with the sets, or never got them.
            unsafe { core.raw.reset_descriptor_pool(*pool, vk::DescriptorPoolResetFlags::empty()) }
                .map_err(|e| core.failed("vkResetDescriptorPool", e))?;
        }
        self.used = 0;
        Ok(())
    }

    fn destroy(&mut self, core: &Core) {
        for pool in self.pools.drain(..) {
            // SAFETY: as in `reset`.
            unsafe { core.raw.destroy_descriptor_pool(pool, None) };
        }
    }
}

/// Splits `groups` into dispatches within the device's limits. `each` gets the first workgroup and the number of workgroups.
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
