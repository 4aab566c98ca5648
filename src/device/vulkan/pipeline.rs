//! Kernels on a device: descriptor layouts, and a pipeline for each set of specialization constants.

#![allow(unsafe_code)]

use super::core::Core;
use super::statistics;
use crate::device::{Executable, Kernel};
use crate::error::{Error, Result};
use crate::kernel::{Binding, BindingKind, Module, SpecValues, dense};
use crate::lock::{Mutex, rank};
use crate::trace::events::{EventContent, Span};
use crate::trace::names::Name;
use ash::vk;
use revamp_image::DEVICE_PROPERTIES;
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A pipeline and its layout.
pub(super) struct Pipeline {
    core: Arc<Core>,
    /// Vulkan's handle.
    pub raw: vk::Pipeline,
    pub layout: vk::PipelineLayout,
    /// The layouts of its descriptor sets.
    pub sets: Arc<SetLayouts>,
    /// The name of its kernel in messages; empty for copy kernels.
    pub kernel: Arc<str>,
    /// Set if the pipeline is for split domains: the offset in the push constants at which the first workgroup and the total number
    /// of workgroups are stored.
    pub split: Option<u32>,
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: batches in flight hold their pipelines, so no batch uses this pipeline.
        unsafe {
            self.core.raw.destroy_pipeline(self.raw, None);
            self.core.raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}

/// If a set or binding number of a kernel is at least this, all set and binding numbers of the kernel are renumbered
/// densely. Drivers allocate tables whose size grows with the highest number (5 GB at 50 million).
const SPARSE: u32 = 256;

/// Vulkan's descriptor type of a binding that [`check_bindable`] has accepted.
fn descriptor(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::SampledImage(_) => vk::DescriptorType::SAMPLED_IMAGE,
        BindingKind::StorageImage(_) => vk::DescriptorType::STORAGE_IMAGE,
        BindingKind::CombinedImageSampler(_) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        BindingKind::Sampler => vk::DescriptorType::SAMPLER,
        BindingKind::UniformBuffer => vk::DescriptorType::UNIFORM_BUFFER,
        BindingKind::StorageBuffer | BindingKind::Other(_) => vk::DescriptorType::STORAGE_BUFFER,
    }
}

/// The layout of each descriptor set, from 0 to the highest used.
pub(super) struct SetLayouts {
    core: Arc<Core>,
    /// Vulkan's handles.
    pub raw: Vec<vk::DescriptorSetLayout>,
    /// The number of descriptors in each set.
    pub descriptors: Vec<u32>,
    /// Maps the program's (set, binding) to the device's, sorted by the program's; empty if they are the same.
    renumbered: Vec<((u32, u32), (u32, u32))>,
    /// True if the first set has nothing but the argument block, as a uniform buffer.
    pub arguments: bool,
    /// True if the last set has the stop flag of the launch and the stop word of the device ([`super::overruns`]).
    pub flag: bool,
}

impl SetLayouts {
    /// The layouts of `module`, which has been checked.
    fn new(core: &Arc<Core>, module: &Module) -> Result<Self> {
        let old = || module.bindings().iter().map(|b| (b.set, b.binding));
        let most = core.physical.limits.descriptor_sets;
        let is_sparse = old().any(|(set, binding)| set >= most.min(SPARSE) || binding >= SPARSE);
        let renumbered = if is_sparse { old().zip(dense(old())).collect() } else { Vec::new() };
        let (core, raw, descriptors) = (core.clone(), Vec::new(), Vec::new());
        let mut layouts = Self { core, raw, descriptors, renumbered, arguments: false, flag: false };
        if module.has_uniform_arguments() {
            if module.bindings().iter().any(|b| b.set == 0) {
                return Err(Error::invalid(
                    "the kernel reads its arguments from a uniform buffer in descriptor set 0, which also has other \
                     descriptors; move the other descriptors to another set",
                ));
            }
            layouts.add(&[(0, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, 1)])?;
            layouts.arguments = true;
        }
        let of_device: Vec<_> =
            module.bindings().iter().map(|b| (layouts.place(b.set, b.binding), descriptor(b.kind), b.count)).collect();
        for in_set in of_device.chunk_by(|a, b| a.0.0 == b.0.0) {
            // Unused set numbers get a layout without bindings.
            while in_set.first().is_some_and(|((set, _), ..)| layouts.raw.len() < *set as usize) {
                layouts.add(&[])?;
            }
            let bindings: Vec<_> = in_set.iter().map(|&((_, binding), kind, count)| (binding, kind, count)).collect();
            layouts.add(&bindings)?;
        }
        if layouts.core.physical.stops_loops() && module.has_loops() {
            layouts.add_flag()?;
        }
        Ok(layouts)
    }

    /// Adds a set with the stop flag of the launch and the stop word of the device.
    fn add_flag(&mut self) -> Result<()> {
        let (physical, sets) = (&self.core.physical, self.raw.len());
        if sets >= physical.limits.descriptor_sets as usize {
            return Err(Error::unsupported(format!(
                "the kernel has loops and uses all {sets} descriptor sets of {}. This device ends loops after 65,535 \
                 iterations, and revamp needs one set to detect that; put the buffers into fewer sets",
                physical.name
            )));
        }
        self.add(&[(0, vk::DescriptorType::STORAGE_BUFFER_DYNAMIC, 1), (1, vk::DescriptorType::STORAGE_BUFFER, 1)])?;
        self.flag = true;
        Ok(())
    }

    /// The sets that have the program's descriptors. Returns the number of the first such set, and for each set its layout and its
    /// number of descriptors.
    pub fn own(&self) -> (usize, impl Iterator<Item = (vk::DescriptorSetLayout, u32)>) {
        let (first, last) = (usize::from(self.arguments), self.raw.len() - usize::from(self.flag));
        let all = self.raw.iter().copied().zip(self.descriptors.iter().copied());
        (first, all.take(last).skip(first))
    }

    /// Adds a set with these bindings: (binding number, descriptor type, number of descriptors).
    fn add(&mut self, bindings: &[(u32, vk::DescriptorType, u32)]) -> Result<()> {
        let of = |&(binding, kind, count): &(u32, vk::DescriptorType, u32)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(count)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings: Vec<_> = bindings.iter().map(of).collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the device is alive; the layout is destroyed with `self`.
        let layout = unsafe { self.core.raw.create_descriptor_set_layout(&info, None) }
            .map_err(|e| self.core.failed("vkCreateDescriptorSetLayout", e))?;
        self.raw.push(layout);
        self.descriptors.push(bindings.iter().map(|b| b.descriptor_count).sum());
        Ok(())
    }

    /// Converts the program's set and binding numbers to the device's.
    pub fn place(&self, set: u32, binding: u32) -> (u32, u32) {
        if self.renumbered.is_empty() {
            return (set, binding);
        }
        let at = self.renumbered.binary_search_by_key(&(set, binding), |(old, _)| *old);
        at.ok().and_then(|at| self.renumbered.get(at)).map_or((set, binding), |(_, new)| *new)
    }
}

impl Drop for SetLayouts {
    fn drop(&mut self) {
        for layout in self.raw.drain(..) {
            // SAFETY: pipeline layouts and descriptor sets do not need the layout after their creation.
            unsafe { self.core.raw.destroy_descriptor_set_layout(layout, None) };
        }
    }
}

/// A kernel loaded on a Vulkan device.
pub(super) struct VulkanKernel {
    core: Arc<Core>,
    label: Arc<str>,
    module: Arc<Module>,
    /// The module rewritten for the device; `None` if the program's module needs no change. A pipeline may add loop checks.
    plain_module: Option<Module>,
    sets: Arc<SetLayouts>,
    /// The plain pipeline: without specialization constants, and not for split domains. Launches find it without a lock.
    plain: OnceLock<Arc<Pipeline>>,
    /// The other pipelines, by specialization constants and by whether they are for split domains.
    other_pipelines: Mutex<HashMap<(SpecValues, bool), Arc<Pipeline>>, { rank::PIPELINES }>,
}

impl VulkanKernel {
    /// Checks that the device can run `module`, and creates the descriptor layouts. `label`: the kernel's name in messages.
    pub fn new(core: &Arc<Core>, module: &Arc<Module>, label: &str) -> Result<Self> {
        core.check_alive()?;
        check(core, module)?;
        let sets = SetLayouts::new(core, module)?;
        let plain = if core.physical.takes_non_semantic_info() { None } else { module.without_non_semantic()? };
        let plain = match plain.as_ref().unwrap_or(module) {
            sparse if !sets.renumbered.is_empty() => Some(sparse.renumbered()?),
            _ => plain,
        };
        Ok(Self {
            core: core.clone(),
            label: label.into(),
            module: module.clone(),
            plain_module: plain,
            sets: Arc::new(sets),
            plain: OnceLock::new(),
            other_pipelines: Mutex::new(HashMap::new()),
        })
    }

    /// Fails if the kernel was loaded on another device, which happens if the device was lost and opened again.
    pub fn check_device(&self, core: &Core) -> Result<()> {
        if self.core.id == core.id {
            return Ok(());
        }
        let lost = self.core.lost().unwrap_or_else(|| Error::internal("a kernel of another device reached a queue"));
        Err(lost.context("the kernel was loaded on a device that has been lost; load it again"))
    }

    /// True if a launch of this many workgroups exceeds the device's limit.
    #[inline]
    pub fn is_split(&self, groups: [u64; 3]) -> bool {
        groups.iter().zip(self.core.physical.limits.max_groups).any(|(&g, most)| g > u64::from(most))
    }

    /// The plain pipeline, if the arguments select it and [`Self::pipeline`] has created it. Returns a reference, so that launching
    /// threads do not contend for the pipeline's reference count.
    pub fn plain(&self, spec: &SpecValues, split: bool) -> Option<&Arc<Pipeline>> {
        self.plain.get().filter(|_| spec.is_empty() && !split)
    }

    /// The pipeline for these constants. `split`: true for domains beyond the device's limit of workgroups.
    pub fn pipeline(&self, spec: &SpecValues, split: bool) -> Result<Arc<Pipeline>> {
        if let Some(p) = self.plain(spec, split) {
            return Ok(p.clone());
        }
        if spec.is_empty() && !split {
            let (made, _) = self.make(spec, false, false)?;
            return Ok(self.plain.get_or_init(|| made).clone());
        }
        let mut other_pipelines = self.other_pipelines.lock();
        if let Some(p) = other_pipelines.get(&(spec.clone(), split)) {
            return Ok(p.clone());
        }
        let (made, _) = self.make(spec, split, false)?;
        other_pipelines.insert((spec.clone(), split), made.clone());
        Ok(made)
    }

    /// Adds the specialization constants that tell a compiled kernel the properties of the device.
    fn with_device_constants(&self, spec: &SpecValues) -> SpecValues {
        let known = self.core.physical.known().map(|of| DEVICE_PROPERTIES + of as u32);
        let requested = known.filter(|id| self.module.spec_constants().iter().any(|constant| constant.id == *id));
        spec.iter().cloned().chain(requested.map(|id| (id, vk::TRUE.to_ne_bytes().to_vec()))).collect()
    }

    /// On a driver that stops long loops, the module rewritten to report stopped loops.
    fn with_loops_checked(&self, module: &Module, spec: &SpecValues) -> Result<Option<Module>> {
        if !self.sets.flag {
            return Ok(None);
        }
        // The driver runs this many threads, consecutive in x, as one vector.
        let vector = self.core.physical.limits.subgroup_size.max(1);
        let has_partial_vectors = self.module.workgroup_size(spec)?[0] % vector != 0;
        module.with_loops_checked(self.sets.raw.len() as u32 - 1, has_partial_vectors).map(Some)
    }

    /// Creates a pipeline. Also returns the driver's statistics of its code if they are requested or logged.
    fn make(&self, spec: &SpecValues, split: bool, requested: bool) -> Result<(Arc<Pipeline>, Vec<Executable>)> {
        let _span = Span::new(|| EventContent::Pipeline(Name::of(&self.label)));
        let core = &self.core;
        self.module.check_spec(spec)?;
        check_workgroup(core, &self.module, spec)?;
        let module = self.plain_module.as_ref().unwrap_or(&self.module);
        let loop_checked = self.with_loops_checked(module, spec)?;
        let module = loop_checked.as_ref().unwrap_or(module);
        let variant = if split { Some(module.split()?) } else { None };
        let words = variant.as_ref().map_or(module.words(), |v| &v.words);
        let own_push = self.module.push().map_or(0, |p| p.size.next_multiple_of(4));
        let push = variant.as_ref().map_or(own_push, |v| v.push_size);
        let most = core.physical.limits.push_constants;
        if push > most {
            return Err(Error::unsupported(format!(
                "the kernel needs {push} bytes of push constants{}, but the limit of {} is {most}; pass data in a \
                 buffer",
                if split { " for a domain this large" } else { "" },
                core.physical.name
            )));
        }
        let range = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&self.sets.raw);
        let info = if push > 0 { info.push_constant_ranges(&range) } else { info };
        // SAFETY: the layouts are alive.
        let layout = unsafe { core.raw.create_pipeline_layout(&info, None) }
            .map_err(|e| core.failed("vkCreatePipelineLayout", e))?;
        // `pipeline` owns the layout from here on, and the Vulkan pipeline once it is created.
        let mut pipeline = Pipeline {
            core: core.clone(),
            raw: vk::Pipeline::null(),
            layout,
            sets: self.sets.clone(),
            kernel: self.label.clone(),
            split: variant.as_ref().map(|v| v.offset),
        };
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words passed the checks of `Module`. If the driver rejects them, it returns an error.
        let shader = unsafe { core.raw.create_shader_module(&info, None) }
            .map_err(|e| core.failed("vkCreateShaderModule", e))?;
        let (entries, data) = specialization(&self.with_device_constants(spec));
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .name(self.module.entry_point())
            .specialization_info(&specialization);
        let mut result = vk::PipelineCreationFeedback::default();
        let mut of_stage = [vk::PipelineCreationFeedback::default()];
        let mut feedback = vk::PipelineCreationFeedbackCreateInfo::default()
            .pipeline_creation_feedback(&mut result)
            .pipeline_stage_creation_feedbacks(&mut of_stage);
        let flags = statistics::flags(core, requested);
        let info = vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(layout);
        let has_feedback =
            core.physical.api_version >= vk::API_VERSION_1_3 || core.physical.extensions.pipeline_creation_feedback;
        let info = [if has_feedback { info.push_next(&mut feedback) } else { info }];
        let begun = Instant::now();
        // SAFETY: module, layout and cache are alive; the entry point is in the module.
        let made = unsafe { core.raw.create_compute_pipelines(core.pipelines, &info, None) };
        // SAFETY: pipelines do not need their module after creation.
        unsafe { core.raw.destroy_shader_module(shader, None) };
        pipeline.raw = match made.map(|p| p.first().copied()) {
            Ok(Some(p)) => p,
            Ok(None) => return Err(Error::internal("no pipeline was returned")),
            Err((_, e)) => return Err(core.failed("vkCreateComputePipelines", e)),
        };
        core.pipelines_new.store(true, Ordering::Relaxed);
        let hit = vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
        let source = match result.flags {
            f if !f.contains(vk::PipelineCreationFeedbackFlags::VALID) => {
                "the driver does not report whether it was cached"
            }
            f if f.contains(hit) => "from the cache",
            _ => "compiled",
        };
        crate::log!(Debug, "pipeline made in {} us: {source}", begun.elapsed().as_micros());
        let executables = statistics::executables(core, pipeline.raw, flags);
        statistics::log(&self.label, &executables);
        Ok((Arc::new(pipeline), executables))
    }
}

/// Converts the constants to Vulkan's structures.
fn specialization(spec: &SpecValues) -> (Vec<vk::SpecializationMapEntry>, Vec<u8>) {
    let mut data = Vec::new();
    let mut entries = Vec::new();
    for (id, value) in spec {
        let entry = vk::SpecializationMapEntry { constant_id: *id, offset: data.len() as u32, size: value.len() };
        entries.push(entry);
        data.extend_from_slice(value);
    }
    (entries, data)
}

/// The maximum number of missing requirements that a message lists.
const MAX_LISTED: usize = 16;

/// Fails if the device lacks anything that the module needs.
fn check(core: &Core, module: &Module) -> Result<()> {
    let p = &core.physical;
    // Bindings that revamp does not support are reported first, because that message is more helpful than missing capabilities.
    module.bindings().iter().try_for_each(check_bindable)?;
    let mut missing = p.missing_for(module.capabilities(), module.extensions(), module.version());
    if missing.len() > MAX_LISTED {
        let more = missing.len() - MAX_LISTED;
        missing.truncate(MAX_LISTED);
        missing.push(format!("and {more} more"));
    }
    if !missing.is_empty() {
        return Err(Error::unsupported(format!("{} lacks what the kernel needs: {}", p.name, missing.join("; "))));
    }
    module.bindings().iter().try_for_each(|b| check_binding(core, b))?;
    let check_limit = |wanted: u64, most: u32, what: &str, limit: &str, advice: &str| {
        if wanted <= u64::from(most) {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "the kernel uses {wanted} {what}, but the limit of {} is {most} ({limit}){advice}",
            p.name
        )))
    };
    let sets = module.bindings().chunk_by(|a, b| a.set == b.set).count() as u64;
    check_limit(
        sets,
        p.limits.descriptor_sets,
        "descriptor sets",
        "maxBoundDescriptorSets",
        "; put the buffers into fewer sets",
    )?;
    let count = |of: fn(BindingKind) -> bool| -> u64 {
        module.bindings().iter().filter(|b| of(b.kind)).map(|b| u64::from(b.count)).sum()
    };
    let buffers = count(|k| k == BindingKind::StorageBuffer);
    for (most, limit) in [
        (p.limits.storage_buffers, "maxPerStageDescriptorStorageBuffers"),
        (p.limits.set_storage_buffers, "maxDescriptorSetStorageBuffers"),
    ] {
        check_limit(buffers, most, "storage buffers", limit, "; pass addresses instead")?;
    }
    let uniforms = count(|k| k == BindingKind::UniformBuffer);
    for (most, limit) in p
        .limits
        .uniform_buffers
        .into_iter()
        .zip(["maxPerStageDescriptorUniformBuffers", "maxDescriptorSetUniformBuffers"])
    {
        check_limit(uniforms, most, "uniform buffers", limit, "; put their members into fewer blocks")?;
    }
    let sampled = count(|k| matches!(k, BindingKind::SampledImage(_) | BindingKind::CombinedImageSampler(_)));
    let stored = count(|k| matches!(k, BindingKind::StorageImage(_)));
    let samplers = count(|k| matches!(k, BindingKind::Sampler | BindingKind::CombinedImageSampler(_)));
    for (wanted, most, what, limits) in [
        (
            sampled,
            p.limits.sampled_images,
            "sampled images",
            ["maxPerStageDescriptorSampledImages", "maxDescriptorSetSampledImages"],
        ),
        (
            stored,
            p.limits.storage_images,
            "storage images",
            ["maxPerStageDescriptorStorageImages", "maxDescriptorSetStorageImages"],
        ),
        (samplers, p.limits.samplers, "samplers", ["maxPerStageDescriptorSamplers", "maxDescriptorSetSamplers"]),
    ] {
        for (most, limit) in most.into_iter().zip(limits) {
            check_limit(wanted, most, what, limit, "")?;
        }
    }
    let all = count(|_| true);
    check_limit(
        all,
        p.limits.stage_resources,
        "resources",
        "maxPerStageResources",
        "; pass addresses instead of buffers",
    )?;
    let push = module.push().map_or(0, |b| u64::from(b.size));
    check_limit(
        push,
        p.limits.push_constants,
        "bytes of push constants",
        "maxPushConstantsSize",
        "; pass a buffer instead",
    )?;
    check_nesting(core, module)?;
    check_workgroup(core, module, &Vec::new())
}

/// The maximum nesting depth on llvmpipe, which ignores conditions and loops more than 80 levels deep, and adds some levels itself.
const DEEPEST: u32 = 72;

/// Fails if conditions or loops are nested so deeply that the driver would ignore them.
fn check_nesting(core: &Core, module: &Module) -> Result<()> {
    let p = &core.physical;
    if !p.stops_loops() {
        return Ok(());
    }
    let depth = module.depth()?;
    let (levels, of) =
        if depth.conditions > DEEPEST { (depth.conditions, "conditions") } else { (depth.loops, "loops") };
    if levels <= DEEPEST {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "the kernel nests {of} {levels} levels deep, but {} compiles at most {DEEPEST} levels correctly. Use fewer \
         levels (each early return or continue adds one), or another accelerator, such as host threads \
         (docs/devices.md)",
        p.name
    )))
}

/// Fails if revamp does not bind descriptors of this kind.
fn check_bindable(b: &Binding) -> Result<()> {
    b.kind
        .unsupported_advice()
        .map_or(Ok(()), |advice| Err(Error::unsupported(format!("{b} cannot be bound: {}; {advice}", b.kind.name()))))
}

/// Fails if this binding exceeds the device's limits.
fn check_binding(core: &Core, b: &Binding) -> Result<()> {
    let p = &core.physical;
    if b.stride == Some(0) {
        return Err(Error::invalid(format!("{b} is an array with stride 0; check the module with spirv-val")));
    }
    let least = b.min_size.saturating_add(b.stride.unwrap_or(0));
    let (most, limit, advice) = match b.kind {
        BindingKind::UniformBuffer => (p.limits.uniform_buffer_range, "maxUniformBufferRange", "use a storage buffer"),
        _ => (p.limits.storage_buffer_range, "maxStorageBufferRange", "pass an address"),
    };
    if least > most {
        return Err(Error::unsupported(format!(
            "{b} needs at least {least} bytes, but on {} a binding covers at most {most} bytes ({limit}); {advice} \
             instead",
            p.name
        )));
    }
    Ok(())
}

/// Fails if the workgroup size exceeds the device's limits.
fn check_workgroup(core: &Core, module: &Module, spec: &SpecValues) -> Result<()> {
    let (p, limits) = (&core.physical.name, &core.physical.limits);
    let size = module.workgroup_size(spec)?;
    let all: u64 = size.iter().map(|&s| u64::from(s)).product();
    if size.iter().zip(&limits.max_workgroup_size).any(|(s, most)| s > most)
        || all > u64::from(limits.max_workgroup_invocations)
    {
        return Err(Error::unsupported(format!(
            "the kernel's workgroup is {size:?} with {all} invocations in total, but the limit of {p} is {:?} with {} \
             invocations in total; use smaller workgroups",
            limits.max_workgroup_size, limits.max_workgroup_invocations
        )));
    }
    let bytes = module.workgroup_bytes(spec)?;
    if bytes > u64::from(limits.shared_memory) {
        return Err(Error::unsupported(format!(
            "the kernel uses {bytes} bytes of workgroup memory, but the limit of {p} is {} \
             (maxComputeSharedMemorySize); use less tile_static memory",
            limits.shared_memory
        )));
    }
    Ok(())
}

impl Kernel for VulkanKernel {
    fn module(&self) -> &Arc<Module> {
        &self.module
    }
    fn prepare(&self, groups: [u64; 3]) -> Result<()> {
        self.pipeline(&Vec::new(), self.is_split(groups)).map(drop)
    }
    fn executables(&self) -> Result<Vec<Executable>> {
        self.make(&Vec::new(), false, true).map(|(_, executables)| executables)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
