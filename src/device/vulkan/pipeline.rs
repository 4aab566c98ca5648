//! Kernels on a device: descriptor layouts, and a pipeline for each set of specialization constants.

#![allow(unsafe_code)]

use super::core::Core;
use crate::device::{Kernel, SpecValues};
use crate::error::{Error, Result};
use crate::kernel::{BindingKind, Module};
use crate::lock::{Mutex, rank};
use ash::vk;
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
    /// Its layout.
    pub layout: vk::PipelineLayout,
    /// The layouts of its descriptor sets.
    pub sets: Arc<SetLayouts>,
    /// What messages call its kernel; nothing for those that copy.
    pub kernel: Arc<str>,
    /// Where the base and the total of workgroups go in the push constants, if it was made for split domains.
    pub split: Option<u32>,
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: batches in flight hold the pipeline, so none uses it.
        unsafe {
            self.core.raw.destroy_pipeline(self.raw, None);
            self.core.raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}

/// The layout of each descriptor set, from 0 to the highest used.
pub(super) struct SetLayouts {
    core: Arc<Core>,
    /// Vulkan's handles.
    pub raw: Vec<vk::DescriptorSetLayout>,
}

impl Drop for SetLayouts {
    fn drop(&mut self) {
        for layout in self.raw.drain(..) {
            // SAFETY: pipeline layouts and sets made from it do not need it any more.
            unsafe { self.core.raw.destroy_descriptor_set_layout(layout, None) };
        }
    }
}

/// A kernel loaded on a Vulkan device.
pub(super) struct VulkanKernel {
    core: Arc<Core>,
    label: Arc<str>,
    module: Arc<Module>,
    /// What the device gets in place of it.
    plain_module: Option<Module>,
    sets: Arc<SetLayouts>,
    /// The pipeline without specialization constants, found without a lock.
    plain: OnceLock<Arc<Pipeline>>,
    others: Mutex<HashMap<(SpecValues, bool), Arc<Pipeline>>, { rank::PIPELINES }>,
}

impl VulkanKernel {
    /// Checks that the device can run `module` and makes the descriptor layouts. Messages call it `label`.
    pub fn new(core: &Arc<Core>, module: &Arc<Module>, label: &str) -> Result<Self> {
        core.check_alive()?;
        check(core, module)?;
        let takes_all = core.physical.takes_non_semantic_info();
        let mut layouts = SetLayouts { core: core.clone(), raw: Vec::new() };
        let sets = module.bindings().iter().map(|b| b.set + 1).max().unwrap_or(0);
        for set in 0..sets {
            let bindings: Vec<_> = module
                .bindings()
                .iter()
                .filter(|b| b.set == set)
                .map(|b| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(b.binding)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the device is alive. What was made so far is destroyed when `layouts` is dropped.
            let layout = unsafe { core.raw.create_descriptor_set_layout(&info, None) }
                .map_err(|e| core.failed("vkCreateDescriptorSetLayout", e))?;
            layouts.raw.push(layout);
        }
        Ok(Self {
            core: core.clone(),
            label: label.into(),
            module: module.clone(),
            plain_module: if takes_all { None } else { module.without_non_semantic()? },
            sets: Arc::new(layouts),
            plain: OnceLock::new(),
            others: Mutex::new(HashMap::new()),
        })
    }

    /// Fails on another device than the one it was loaded on: that one was lost.
    pub fn check_device(&self, core: &Core) -> Result<()> {
        if self.core.id == core.id {
            return Ok(());
        }
        let lost = self.core.lost().unwrap_or_else(|| Error::internal("a kernel of another device reached a queue"));
        Err(lost.context("the kernel was loaded on a device that was lost since; load it again"))
    }

    /// What [`Self::pipeline`] gives without constants and for domains within the limit, if it was made. Borrowed, so that
    /// threads that launch it need not change its count each time.
    pub fn plain(&self, spec: &SpecValues, split: bool) -> Option<&Arc<Pipeline>> {
        self.plain.get().filter(|_| spec.is_empty() && !split)
    }

    /// The pipeline for these constants; `split` for domains beyond the device's limit of groups.
    pub fn pipeline(&self, spec: &SpecValues, split: bool) -> Result<Arc<Pipeline>> {
        if let Some(p) = self.plain(spec, split) {
            return Ok(p.clone());
        }
        if spec.is_empty() && !split {
            let made = self.make(spec, false)?;
            return Ok(self.plain.get_or_init(|| made).clone());
        }
        let mut others = self.others.lock();
        if let Some(p) = others.get(&(spec.clone(), split)) {
            return Ok(p.clone());
        }
        let made = self.make(spec, split)?;
        others.insert((spec.clone(), split), made.clone());
        Ok(made)
    }

    fn make(&self, spec: &SpecValues, split: bool) -> Result<Arc<Pipeline>> {
        let core = &self.core;
        self.module.check_spec(spec)?;
        check_workgroup(core, &self.module, spec)?;
        let module = self.plain_module.as_ref().unwrap_or(&self.module);
        let variant = if split { Some(module.split()?) } else { None };
        let words = variant.as_ref().map_or(module.words(), |v| &v.words);
        let own_push = self.module.push().map_or(0, |p| p.size.next_multiple_of(4));
        let push = variant.as_ref().map_or(own_push, |v| v.push_size);
        let most = core.physical.limits.push_constants;
        if push > most {
            return Err(Error::unsupported(format!(
                "the kernel needs {push} bytes of push constants{}, {} has {most}",
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
        // Owns the layout from here on, and the pipeline once it is made.
        let mut pipeline = Pipeline {
            core: core.clone(),
            raw: vk::Pipeline::null(),
            layout,
            sets: self.sets.clone(),
            kernel: self.label.clone(),
            split: variant.as_ref().map(|v| v.offset),
        };
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words passed Module's checks. A driver may still dislike them, with an error.
        let shader = unsafe { core.raw.create_shader_module(&info, None) }
            .map_err(|e| core.failed("vkCreateShaderModule", e))?;
        let (entries, data) = specialization(spec);
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(shader)
            .name(self.module.entry_point())
            .specialization_info(&specialization);
        let mut told = vk::PipelineCreationFeedback::default();
        let mut of_stage = [vk::PipelineCreationFeedback::default()];
        let mut feedback = vk::PipelineCreationFeedbackCreateInfo::default()
            .pipeline_creation_feedback(&mut told)
            .pipeline_stage_creation_feedbacks(&mut of_stage);
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
        let tells =
            core.physical.api_version >= vk::API_VERSION_1_3 || core.physical.extensions.pipeline_creation_feedback;
        let info = [if tells { info.push_next(&mut feedback) } else { info }];
        let begun = Instant::now();
        // SAFETY: module, layout and cache are alive; the entry point is in the module.
        let made = unsafe { core.raw.create_compute_pipelines(core.pipelines, &info, None) };
        // SAFETY: pipelines do not need their module any more.
        unsafe { core.raw.destroy_shader_module(shader, None) };
        pipeline.raw = match made.map(|p| p.first().copied()) {
            Ok(Some(p)) => p,
            Ok(None) => return Err(Error::internal("no pipeline was returned")),
            Err((_, e)) => return Err(core.failed("vkCreateComputePipelines", e)),
        };
        core.pipelines_new.store(true, Ordering::Relaxed);
        let hit = vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
        let source = match told.flags {
            f if !f.contains(vk::PipelineCreationFeedbackFlags::VALID) => "the driver does not say whence",
            f if f.contains(hit) => "from the cache",
            _ => "compiled",
        };
        crate::log!(Debug, "pipeline made in {} us: {source}", begun.elapsed().as_micros());
        Ok(Arc::new(pipeline))
    }
}

/// The constants as Vulkan takes them.
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

/// What the device lacks for the module, as an error.
fn check(core: &Core, module: &Module) -> Result<()> {
    let p = &core.physical;
    let missing = p.missing_for(module.capabilities(), module.extensions(), module.version());
    if !missing.is_empty() {
        return Err(Error::unsupported(format!("{} lacks what the kernel needs: {}", p.name, missing.join("; "))));
    }
    for b in module.bindings() {
        let at = format!(
            "binding {} of set {}{}",
            b.binding,
            b.set,
            b.name.as_ref().map(|n| format!(" ({n})")).unwrap_or_default()
        );
        if let BindingKind::Other(kind) = b.kind {
            return Err(Error::unsupported(format!("{at} is a {kind}; kernels take storage buffers only")));
        }
        if b.count != 1 {
            return Err(Error::unsupported(format!("{at} is an array of {} descriptors; give each its own", b.count)));
        }
        if b.set >= p.limits.descriptor_sets {
            return Err(Error::unsupported(format!("{at}: {} has {} sets", p.name, p.limits.descriptor_sets)));
        }
    }
    let buffers = module.bindings().len();
    if buffers > p.limits.storage_buffers as usize {
        return Err(Error::unsupported(format!(
            "the kernel uses {buffers} storage buffers, {} has {}; pass addresses instead",
            p.name, p.limits.storage_buffers
        )));
    }
    let (push, most) = (module.push().map_or(0, |b| b.size), p.limits.push_constants);
    if push > most {
        return Err(Error::unsupported(format!(
            "the kernel needs {push} bytes of push constants, {} has {most}",
            p.name
        )));
    }
    check_workgroup(core, module, &Vec::new())
}

/// Whether a workgroup of this size fits the device.
fn check_workgroup(core: &Core, module: &Module, spec: &SpecValues) -> Result<()> {
    let (p, limits) = (&core.physical.name, &core.physical.limits);
    let size = module.workgroup_size(spec)?;
    let all: u64 = size.iter().map(|&s| u64::from(s)).product();
    if size.iter().zip(&limits.max_workgroup_size).any(|(s, most)| s > most)
        || all > u64::from(limits.max_workgroup_invocations)
    {
        return Err(Error::unsupported(format!(
            "the kernel's workgroup is {size:?}, {all} invocations; {p} allows {:?} and {} in all",
            limits.max_workgroup_size, limits.max_workgroup_invocations
        )));
    }
    if module.workgroup_bytes() > u64::from(limits.shared_memory) {
        return Err(Error::unsupported(format!(
            "the kernel uses {} bytes of workgroup memory, {p} has {}",
            module.workgroup_bytes(),
            limits.shared_memory
        )));
    }
    Ok(())
}

impl Kernel for VulkanKernel {
    fn module(&self) -> &Arc<Module> {
        &self.module
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}
