//! The physical devices: their properties, limits and features.

#![allow(unsafe_code)]

use super::code_forms::Preferences;
use super::display::{self, DrmNodes};
use super::features::{Extensions, Features};
use super::instance::{Instance, failed, version_text};
use super::memory_types::{MemoryTypes, device_local_bytes};
use crate::config::Config;
use crate::device::physical::DeviceType;
use crate::error::Result;
use crate::kernel::{FloatModes, KernelForm};
use crate::log;
use ash::vk;
use revamp_image::DeviceProperty;
use std::ffi::CStr;
use std::fmt::Write;
use std::sync::OnceLock;

/// `access_type_none`.
pub const ACCESS_NONE: u32 = 0;
/// `access_type_read_write`.
pub const ACCESS_READ_WRITE: u32 = 3;

/// The features without which revamp cannot use a device.
pub const REQUIRED: [&str; 3] = ["bufferDeviceAddress", "timelineSemaphore", "shaderInt64"];

/// The features, extensions and queue family with which a device of the program was created.
pub(super) struct Enabled {
    pub features: Features,
    pub extensions: Extensions,
    /// The family of its queue.
    pub family: u32,
}

/// The limits and properties of a device that revamp uses. Integers without another description are maximum values.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Workgroups in each dimension of one dispatch (lowered by `REVAMP_TEST=groups=N`).
    pub max_groups: [u32; 3],
    /// Invocations of one workgroup.
    pub max_workgroup_invocations: u32,
    /// Size of a workgroup in each dimension.
    pub max_workgroup_size: [u32; 3],
    /// Bytes of Workgroup memory.
    pub shared_memory: u32,
    /// Bytes of push constants.
    pub push_constants: u32,
    /// Bytes visible through one storage-buffer descriptor.
    pub storage_buffer_range: u64,
    /// Bytes visible through one uniform-buffer descriptor.
    pub uniform_buffer_range: u64,
    /// Uniform buffers that one kernel can bind: per stage, and in all sets.
    pub uniform_buffers: [u32; 2],
    /// Alignment of a uniform-buffer descriptor's offset.
    pub uniform_buffer_offset_alignment: u64,
    /// Alignment of a storage-buffer descriptor's offset.
    pub storage_buffer_offset_alignment: u64,
    /// Storage buffers that one kernel can bind (maxPerStageDescriptorStorageBuffers).
    pub storage_buffers: u32,
    /// Storage buffers in all sets of one kernel (maxDescriptorSetStorageBuffers).
    pub set_storage_buffers: u32,
    /// Sampled images that one kernel can bind: per stage, and in all sets.
    pub sampled_images: [u32; 2],
    /// Storage images that one kernel can bind: per stage, and in all sets.
    pub storage_images: [u32; 2],
    /// Samplers that one kernel can bind: per stage, and in all sets.
    pub samplers: [u32; 2],
    /// Samplers that can exist on the device, and samplers with a custom border colour among them.
    pub most_samplers: [u32; 2],
    /// Resources of any kind that one kernel can bind (maxPerStageResources).
    pub stage_resources: u32,
    /// Descriptor sets that one kernel can use.
    pub descriptor_sets: u32,
    /// Descriptors in one pushed set; 0 without `VK_KHR_push_descriptor`.
    pub push_descriptors: u32,
    /// Bytes of one memory allocation.
    pub max_allocation: u64,
    /// Number of memory allocations.
    pub max_allocations: u32,
    /// Bytes of one buffer; known with maintenance4.
    pub max_buffer: Option<u64>,
    /// Bytes of sparse address space.
    pub sparse_address_space: u64,
    /// Granularity of flushes of non-coherent memory.
    pub non_coherent_atom: u64,
    /// Alignment of mapped memory.
    pub map_alignment: u64,
    /// The optimal alignment of the offsets of buffer copies.
    pub copy_offset_alignment: u64,
    /// Alignment of host pointers that are imported; 0 without `VK_EXT_external_memory_host`.
    pub import_alignment: u64,
    /// Nanoseconds per timestamp increment.
    pub timestamp_period: f32,
    /// Valid bits of a timestamp on the compute family; 0 if the family has no timestamps.
    pub timestamp_bits: u32,
    /// Valid bits of a timestamp on the transfer family; 0 if the family has no timestamps. Also 0 without hostQueryReset, because a
    /// transfer family has no commands that reset queries.
    pub transfer_timestamp_bits: u32,
    /// True if the device's timestamps can be compared with the host clock.
    pub has_host_clock: bool,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// The minimum and the maximum size of a subgroup.
    pub subgroup_sizes: [u32; 2],
    /// Subgroup operations of compute shaders.
    pub subgroup_operations: vk::SubgroupFeatureFlags,
    /// The float modes that kernels can declare.
    pub float_modes: FloatModes,
    /// True if any float width can flush denormals.
    pub denorm_flush: bool,
    /// True if any float width can round to nearest even.
    pub rounding_rte: bool,
    /// True if any float width can round to zero.
    pub rounding_rtz: bool,
}

/// A queue family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Its index.
    pub index: u32,
    /// The number of its queues.
    pub count: u32,
}

/// The properties of a C++ AMP accelerator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmpProperties {
    /// `description`.
    pub description: String,
    /// `device_path`: unique on the system and the same in every process.
    pub device_path: String,
    /// `version`: major and minor version of Vulkan, 16 bits each.
    pub version: u32,
    /// `dedicated_memory` in KB.
    pub dedicated_memory: u64,
    /// `is_emulated`.
    pub is_emulated: bool,
    /// `supports_double_precision`, and so `supports_limited_double_precision`.
    pub supports_double_precision: bool,
    /// `supports_cpu_shared_memory`.
    pub supports_cpu_shared_memory: bool,
    /// `default_cpu_access_type`: [`ACCESS_NONE`] or [`ACCESS_READ_WRITE`].
    pub default_cpu_access_type: u32,
}

/// One physical device.
#[derive(Debug, Clone)]
pub struct Physical {
    /// Vulkan's handle.
    pub handle: vk::PhysicalDevice,
    /// The device's name.
    pub name: String,
    /// `device_path` of the accelerator.
    pub device_path: String,
    /// Identifies the hardware (and, for some drivers, the driver).
    pub uuid: [u8; 16],
    /// Identifies drivers and devices that can share a pipeline cache.
    pub pipeline_cache_uuid: [u8; 16],
    /// PCI vendor or Khronos vendor id.
    pub vendor_id: u32,
    /// The vendor's device id.
    pub device_id: u32,
    /// Name and version text of the driver.
    pub driver: String,
    /// The driver's version in its own format.
    pub driver_version: u32,
    /// The driver's identity.
    pub driver_id: vk::DriverId,
    /// Which forms of kernels the driver prefers.
    preferences: Preferences,
    /// True for tests in which kernels get the code for a GPU's driver on any device.
    imitates_gpu: bool,
    /// True for tests in which kernels rely only on Vulkan's floating-point guarantees, not on those of the device.
    plain_floats: bool,
    /// The Vulkan version of the device.
    pub device_version: u32,
    /// The Vulkan version that may be used: the lower one of the device's and the instance's.
    pub api_version: u32,
    /// The type of device.
    pub device_type: DeviceType,
    /// Its limits.
    pub limits: Limits,
    /// Its memory heaps and types.
    pub memory: vk::PhysicalDeviceMemoryProperties,
    /// Memory types by purpose; the default value if `usable` is an error.
    pub memory_types: MemoryTypes,
    /// The family on which kernels run.
    pub compute: Family,
    /// A family that can only copy.
    pub transfer: Option<Family>,
    /// Its features.
    pub features: Features,
    /// Its extensions.
    pub extensions: Extensions,
    /// The properties of its accelerator.
    pub properties: AmpProperties,
    /// Its nodes below `/dev/dri`.
    pub drm: DrmNodes,
    /// PCI domain, bus, device and function.
    pub pci: Option<[u32; 4]>,
    /// `Err` says why revamp cannot use the device.
    pub usable: std::result::Result<(), String>,
    /// True if the device lacks nothing but memory. Such a device is a driver without its hardware, and can compile kernels.
    pub compiles_only: bool,
    has_display: OnceLock<bool>,
}

/// All physical devices, in Vulkan's order.
pub fn physical_devices(instance: &Instance, config: &Config) -> Result<Vec<Physical>> {
    // SAFETY: the instance is never destroyed.
    let handles =
        unsafe { instance.raw.enumerate_physical_devices() }.map_err(|e| failed("vkEnumeratePhysicalDevices", e))?;
    let mut devices: Vec<Physical> = handles.into_iter().map(|h| Physical::new(instance, h, config, None)).collect();
    let mut paths: Vec<String> = devices.iter().map(|d| d.device_path.clone()).collect();
    make_unique(&mut paths);
    for (d, path) in devices.iter_mut().zip(paths) {
        d.properties.device_path.clone_from(&path);
        d.device_path = path;
    }
    for d in &devices {
        d.log();
    }
    Ok(devices)
}

/// Makes equal paths unique: the second one gets `#2`, and so on.
fn make_unique(paths: &mut [String]) {
    for i in (1..paths.len()).rev() {
        let (before, rest) = paths.split_at_mut(i);
        let Some(path) = rest.first_mut() else { continue };
        let same = before.iter().filter(|p| *p == path).count();
        if same > 0 {
            let _ = write!(path, "#{}", same + 1);
        }
    }
}

/// A UUID in its usual notation.
pub fn uuid_text(uuid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (i, byte) in uuid.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The families for kernels and for copies. Kernels get a family without graphics if possible, because its latency is a third
/// lower. Copies get a family that can only copy.
fn choose_families(families: &[vk::QueueFamilyProperties]) -> (Option<Family>, Option<Family>) {
    use vk::QueueFlags as Q;
    let find = |need: Q, refuse: Q| {
        (0_u32..)
            .zip(families)
            .find(|(_, f)| f.queue_count > 0 && f.queue_flags.contains(need) && !f.queue_flags.intersects(refuse))
            .map(|(index, f)| Family { index, count: f.queue_count })
    };
    let video = Q::VIDEO_DECODE_KHR | Q::VIDEO_ENCODE_KHR | Q::OPTICAL_FLOW_NV;
    let compute = find(Q::COMPUTE, Q::GRAPHICS | video)
        .or_else(|| find(Q::COMPUTE, Q::GRAPHICS))
        .or_else(|| find(Q::COMPUTE, Q::empty()));
    (compute, find(Q::TRANSFER, Q::GRAPHICS | Q::COMPUTE | video))
}

/// True for chips from RDNA 2 on, on which RADV computes an fma of floats in one operation. For older chips, Mesa
/// splits the fma into two operations. The device's name ends with the chip.
fn radv_fuses(name: &str) -> bool {
    ["(RADV NAVI2", "(RADV NAVI3", "(RADV NAVI4"].iter().any(|chip| name.contains(chip))
}

/// True for chips from GFX9 on, whose load and store instructions add a 32-bit offset to the address.
fn radv_adds_offsets(name: &str) -> bool {
    const OLDER: [&str; 17] = [
        "TAHITI", "PITCAIRN", "VERDE", "OLAND", "HAINAN", "BONAIRE", "KAVERI", "KABINI", "MULLINS", "HAWAII", "TONGA",
        "ICELAND", "CARRIZO", "FIJI", "POLARIS", "STONEY", "VEGAM",
    ];
    !OLDER.iter().any(|chip| name.contains(chip))
}

fn float_modes(properties: &vk::PhysicalDeviceVulkan12Properties<'_>) -> FloatModes {
    FloatModes {
        special: [
            properties.shader_signed_zero_inf_nan_preserve_float16,
            properties.shader_signed_zero_inf_nan_preserve_float32,
            properties.shader_signed_zero_inf_nan_preserve_float64,
        ]
        .map(|known| known == vk::TRUE),
        subnormal: [
            properties.shader_denorm_preserve_float16,
            properties.shader_denorm_preserve_float32,
            properties.shader_denorm_preserve_float64,
        ]
        .map(|known| known == vk::TRUE),
        same_for_all_widths: properties.denorm_behavior_independence == vk::ShaderFloatControlsIndependence::NONE,
    }
}

/// The properties of a device that are queried separately from its features and memory.
struct QueriedProperties {
    limits: Limits,
    uuid: [u8; 16],
    driver: String,
    driver_id: vk::DriverId,
    drm: DrmNodes,
    pci: Option<[u32; 4]>,
}

impl Physical {
    /// Properties of the device's arithmetic, memory and compiler that Vulkan does not report. They are derived from the driver.
    pub(super) fn known(&self) -> impl Iterator<Item = DeviceProperty> {
        let floats = |of: &&DeviceProperty| !(self.plain_floats && of.is_float_precision());
        // The compiler may shorten operations with zeros if a kernel cannot declare SignedZeroInfNanPreserve. llvmpipe shortens such
        // operations in any case, so `arithmetic` lists this property for llvmpipe.
        let undeclared = !self.limits.float_modes.special[1] && self.driver_id != vk::DriverId::MESA_LLVMPIPE;
        let zeros: &[DeviceProperty] = if undeclared { &[DeviceProperty::ShortensZeros] } else { &[] };
        self.arithmetic().iter().filter(floats).chain(zeros).copied().chain(self.preferred_code_forms())
    }

    /// The code forms for which the device's driver generates faster machine code.
    fn preferred_code_forms(&self) -> impl Iterator<Item = DeviceProperty> {
        let nvidia = self.preferences == Preferences::Nvidia;
        let radv = self.preferences == Preferences::Radv
            && self.limits.max_allocation < 1 << 32
            && radv_adds_offsets(&self.name);
        let forms = [
            (nvidia || self.kernel_form().rolled_loops, DeviceProperty::Breaks),
            (nvidia, DeviceProperty::Reciprocals),
            (nvidia, DeviceProperty::MergesOnlyLoads),
            (nvidia, DeviceProperty::SmallArraysInRegisters),
            (self.imitates_gpu || radv, DeviceProperty::NarrowOffsets),
        ];
        forms.into_iter().filter_map(|(is_preferred, form)| is_preferred.then_some(form))
    }

    /// The form of kernels that the device's driver prefers.
    pub(super) fn kernel_form(&self) -> KernelForm {
        self.preferences.kernel_form()
    }

    /// True for a driver that ends loops after 65,535 iterations, and ignores conditions and loops that are nested too deeply:
    /// llvmpipe (`LP_MAX_TGSI_LOOP_ITERATIONS` and `LP_MAX_TGSI_NESTING` of Mesa).
    pub(super) fn stops_loops(&self) -> bool {
        self.driver_id == vk::DriverId::MESA_LLVMPIPE
    }

    /// The properties of the device's arithmetic and memory, by driver.
    fn arithmetic(&self) -> &'static [DeviceProperty] {
        match self.driver_id {
            vk::DriverId::NVIDIA_PROPRIETARY => &[
                DeviceProperty::Fused,
                DeviceProperty::ClosePowers,
                DeviceProperty::NearReciprocals,
                DeviceProperty::NearInverseRoots,
            ],
            vk::DriverId::AMD_PROPRIETARY | vk::DriverId::AMD_OPEN_SOURCE => &[DeviceProperty::Fused],
            vk::DriverId::MESA_RADV if radv_fuses(&self.name) => &[DeviceProperty::Fused],
            vk::DriverId::INTEL_PROPRIETARY_WINDOWS | vk::DriverId::INTEL_OPEN_SOURCE_MESA => &[DeviceProperty::Fused],
            // llvmpipe computes roots and quotients with CPU instructions. `Ordered` holds, because Mesa (22.3) compiles a fence as a
            // barrier of the workgroup.
            vk::DriverId::MESA_LLVMPIPE => &[
                DeviceProperty::ExactRoots,
                DeviceProperty::ExactQuotients,
                DeviceProperty::Ordered,
                DeviceProperty::ShortensZeros,
            ],
            _ => &[],
        }
    }

    /// Queries a physical device. `enabled`: for a device of the program, only these features and extensions count.
    pub(super) fn new(
        instance: &Instance,
        handle: vk::PhysicalDevice,
        config: &Config,
        enabled: Option<&Enabled>,
    ) -> Self {
        let raw = &instance.raw;
        // SAFETY: the handle is of this instance; these calls have no further preconditions.
        let (core, memory, families, list) = unsafe {
            (
                raw.get_physical_device_properties(handle),
                raw.get_physical_device_memory_properties(handle),
                raw.get_physical_device_queue_family_properties(handle),
                raw.enumerate_device_extension_properties(handle).unwrap_or_default(),
            )
        };
        let name = core.device_name_as_c_str().map_or_else(|_| "?".to_owned(), |n| n.to_string_lossy().into_owned());
        let device_type = DeviceType::from(core.device_type);
        let api_version = core.api_version.min(instance.api_version);
        let has_vulkan_1_2 = api_version >= vk::API_VERSION_1_2;
        let extensions = enabled.map_or_else(|| Extensions::find(&list), |e| e.extensions);
        // Devices below Vulkan 1.2 do not support the structures that `Features::query` chains, nor some of its calls.
        let features =
            if has_vulkan_1_2 { Features::query(raw, handle, api_version, &extensions) } else { Features::default() };
        let features = enabled.map_or(features, |e| features.intersection(&e.features));
        let (compute, transfer) = match enabled {
            None => choose_families(&families),
            Some(e) => {
                let computes = |f: &&vk::QueueFamilyProperties| f.queue_flags.contains(vk::QueueFlags::COMPUTE);
                let found = families.get(e.family as usize).filter(computes);
                (found.map(|f| Family { index: e.family, count: f.queue_count }), None)
            }
        };
        let mut queried = QueriedProperties::new(instance, handle, &core, api_version, &features, &extensions);
        let bits = |family: Option<Family>| {
            let family = family.filter(|_| !config.test.no_timestamps).and_then(|f| families.get(f.index as usize));
            family.map_or(0, |f| f.timestamp_valid_bits)
        };
        queried.limits.timestamp_bits = bits(compute);
        queried.limits.transfer_timestamp_bits = bits(transfer.filter(|_| features.host_query_reset));
        if config.test.plain_floats {
            queried.limits.float_modes = FloatModes::default();
        }
        if let Some(limit) = config.test.samplers {
            queried.limits.most_samplers = queried.limits.most_samplers.map(|n| n.min(limit));
        }
        if let Some(limit) = config.test.groups {
            queried.limits.max_groups = queried.limits.max_groups.map(|g| g.min(limit));
        }

        let mut lacks = Vec::new();
        if !has_vulkan_1_2 {
            lacks.push(format!("Vulkan 1.2 (it has {})", version_text(core.api_version)));
        } else {
            let missing = features.list().into_iter().filter(|(name, on)| REQUIRED.contains(name) && !on);
            lacks.extend(missing.map(|(name, _)| format!("the device feature {name}")));
        }
        if compute.is_none() {
            lacks.push(
                enabled.map_or("a queue family for compute".to_owned(), |e| {
                    format!("compute in queue family {}", e.family)
                }),
            );
        }
        let memory_types = MemoryTypes::choose(device_type, &memory, config.separate_memory);
        let compiles_only = lacks.is_empty() && memory.memory_type_count == 0;
        match &memory_types {
            Err(_) if compiles_only => {
                lacks.push("memory: the driver can compile kernels (revamp-info --kernels), but not run them".into())
            }
            Err(why) => lacks.push(format!("usable memory ({why})")),
            Ok(_) => {}
        }
        let usable = if lacks.is_empty() {
            Ok(())
        } else {
            Err(format!(
                "{name} ({}) lacks {}{}",
                queried.driver,
                lacks.join(", "),
                if compiles_only { "" } else { ", which revamp needs" }
            ))
        };
        let memory_types = memory_types.unwrap_or_default();
        let device_path = format!("vulkan\\{}", uuid_text(&queried.uuid));
        let properties = AmpProperties {
            description: name.clone(),
            device_path: device_path.clone(),
            version: vk::api_version_major(core.api_version) << 16 | vk::api_version_minor(core.api_version),
            dedicated_memory: device_local_bytes(&memory) / 1024,
            is_emulated: device_type == DeviceType::Cpu,
            supports_double_precision: features.shader_float64,
            supports_cpu_shared_memory: memory_types.shared.is_some(),
            default_cpu_access_type: if memory_types.unified { ACCESS_READ_WRITE } else { ACCESS_NONE },
        };
        Self {
            handle,
            name,
            device_path,
            uuid: queried.uuid,
            pipeline_cache_uuid: core.pipeline_cache_uuid,
            vendor_id: core.vendor_id,
            device_id: core.device_id,
            driver: queried.driver,
            driver_version: core.driver_version,
            driver_id: queried.driver_id,
            preferences: match &config.test {
                test if test.radv_code => Preferences::Radv,
                test if test.gpu_code => Preferences::Nvidia,
                _ => Preferences::of(queried.driver_id),
            },
            imitates_gpu: config.test.gpu_code || config.test.radv_code,
            plain_floats: config.test.plain_floats,
            device_version: core.api_version,
            api_version,
            device_type,
            limits: queried.limits,
            memory,
            memory_types,
            compute: compute.unwrap_or(Family { index: 0, count: 0 }),
            transfer,
            features,
            extensions,
            properties,
            drm: queried.drm,
            pci: queried.pci,
            usable,
            compiles_only,
            has_display: OnceLock::new(),
        }
    }

    /// True if a display is connected to the device. Queried at the first use, because some drivers take long to answer.
    pub fn has_display(&self, instance: &Instance) -> bool {
        *self.has_display.get_or_init(|| {
            self.device_type != DeviceType::Cpu && display::has_display(instance, self.handle, self.drm)
        })
    }

    fn log(&self) {
        log!(
            Info,
            "{}: {}, {:?}, Vulkan {}, driver {}, compute family {} x{}, transfer family {}",
            self.device_path,
            self.name,
            self.device_type,
            version_text(self.device_version),
            self.driver,
            self.compute.index,
            self.compute.count,
            self.transfer.map_or_else(|| "none".to_owned(), |f| format!("{} x{}", f.index, f.count)),
        );
        match &self.usable {
            Ok(()) => log!(Info, "{}: memory: {}", self.device_path, self.memory_types.describe(&self.memory)),
            Err(why) => log!(Info, "{}: not usable: {why}", self.device_path),
        }
        if crate::trace::log::enabled(crate::trace::log::Level::Debug) {
            let missing: Vec<_> = self.features.list().into_iter().filter(|(_, on)| !on).map(|(n, _)| n).collect();
            log!(Debug, "{}: features it lacks: {}", self.device_path, missing.join(", "));
        }
    }
}

/// True if a device with `VK_EXT_calibrated_timestamps` can read the clock of [`crate::host::system::now`]. That clock is
/// CLOCK_MONOTONIC only on Linux.
fn has_host_clock(instance: &Instance, handle: vk::PhysicalDevice) -> bool {
    if !cfg!(target_os = "linux") {
        return false;
    }
    let functions = ash::ext::calibrated_timestamps::Instance::new(&instance.entry, &instance.raw);
    // SAFETY: the handle is of this instance, and the device has the extension.
    let known = unsafe { functions.get_physical_device_calibrateable_time_domains(handle) }.unwrap_or_default();
    [vk::TimeDomainEXT::DEVICE, vk::TimeDomainEXT::CLOCK_MONOTONIC].iter().all(|clock| known.contains(clock))
}

impl QueriedProperties {
    fn new(
        instance: &Instance,
        handle: vk::PhysicalDevice,
        core: &vk::PhysicalDeviceProperties,
        api: u32,
        features: &Features,
        extensions: &Extensions,
    ) -> Self {
        let l = &core.limits;
        let mut queried = Self {
            limits: Limits {
                max_groups: l.max_compute_work_group_count,
                max_workgroup_invocations: l.max_compute_work_group_invocations,
                max_workgroup_size: l.max_compute_work_group_size,
                shared_memory: l.max_compute_shared_memory_size,
                push_constants: l.max_push_constants_size,
                storage_buffer_range: u64::from(l.max_storage_buffer_range),
                uniform_buffer_range: u64::from(l.max_uniform_buffer_range),
                uniform_buffers: [l.max_per_stage_descriptor_uniform_buffers, l.max_descriptor_set_uniform_buffers],
                uniform_buffer_offset_alignment: l.min_uniform_buffer_offset_alignment,
                storage_buffer_offset_alignment: l.min_storage_buffer_offset_alignment,
                storage_buffers: l.max_per_stage_descriptor_storage_buffers,
                set_storage_buffers: l.max_descriptor_set_storage_buffers,
                sampled_images: [l.max_per_stage_descriptor_sampled_images, l.max_descriptor_set_sampled_images],
                storage_images: [l.max_per_stage_descriptor_storage_images, l.max_descriptor_set_storage_images],
                samplers: [l.max_per_stage_descriptor_samplers, l.max_descriptor_set_samplers],
                most_samplers: [l.max_sampler_allocation_count, 0],
                stage_resources: l.max_per_stage_resources,
                descriptor_sets: l.max_bound_descriptor_sets,
                max_allocations: l.max_memory_allocation_count,
                sparse_address_space: l.sparse_address_space_size,
                non_coherent_atom: l.non_coherent_atom_size,
                map_alignment: l.min_memory_map_alignment as u64,
                copy_offset_alignment: l.optimal_buffer_copy_offset_alignment,
                timestamp_period: l.timestamp_period,
                has_host_clock: extensions.calibrated_timestamps && has_host_clock(instance, handle),
                ..Limits::default()
            },
            uuid: core.pipeline_cache_uuid,
            driver: format!("version {:#x}", core.driver_version),
            driver_id: vk::DriverId::default(),
            drm: DrmNodes::default(),
            pci: None,
        };
        if api >= vk::API_VERSION_1_2 {
            queried.extend(instance, handle, api, features, extensions);
        }
        queried
    }

    /// Queries the properties that need Vulkan 1.2.
    fn extend(
        &mut self,
        instance: &Instance,
        handle: vk::PhysicalDevice,
        api: u32,
        features: &Features,
        extensions: &Extensions,
    ) {
        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut maintenance4 = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut subgroups = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut import = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let mut border = vk::PhysicalDeviceCustomBorderColorPropertiesEXT::default();
        let mut push = vk::PhysicalDevicePushDescriptorPropertiesKHR::default();
        let mut drm = vk::PhysicalDeviceDrmPropertiesEXT::default();
        let mut pci = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut v11).push_next(&mut v12);
        if api >= vk::API_VERSION_1_3 || extensions.maintenance4 {
            all = all.push_next(&mut maintenance4);
        }
        if api >= vk::API_VERSION_1_3 || extensions.subgroup_size_control {
            all = all.push_next(&mut subgroups);
        }
        if extensions.external_memory_host {
            all = all.push_next(&mut import);
        }
        if extensions.custom_border_color {
            all = all.push_next(&mut border);
        }
        if extensions.push_descriptor {
            all = all.push_next(&mut push);
        }
        if extensions.physical_device_drm {
            all = all.push_next(&mut drm);
        }
        if extensions.pci_bus_info {
            all = all.push_next(&mut pci);
        }
        // SAFETY: the handle is of this instance. The device's version or extensions support every chained structure.
        unsafe { instance.raw.get_physical_device_properties2(handle, &mut all) };

        let words = |c: std::result::Result<&CStr, std::ffi::FromBytesUntilNulError>| {
            c.map_or_else(|_| String::new(), |c| c.to_string_lossy().into_owned())
        };
        self.uuid = v11.device_uuid;
        self.driver = format!("{} {}", words(v12.driver_name_as_c_str()), words(v12.driver_info_as_c_str()));
        self.driver.truncate(self.driver.trim_end().len());
        self.driver_id = v12.driver_id;
        let l = &mut self.limits;
        l.max_allocation = v11.max_memory_allocation_size;
        l.max_buffer = features.maintenance4.then_some(maintenance4.max_buffer_size);
        l.subgroup_size = v11.subgroup_size;
        // A size is 0 if the device does not report it. Then all subgroups have the same size.
        let known = |size| if size == 0 { v11.subgroup_size } else { size };
        l.subgroup_sizes = [known(subgroups.min_subgroup_size), known(subgroups.max_subgroup_size)];
        if v11.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
            l.subgroup_operations = v11.subgroup_supported_operations;
        }
        l.import_alignment = import.min_imported_host_pointer_alignment;
        l.most_samplers[1] = border.max_custom_border_color_samplers;
        l.push_descriptors = push.max_push_descriptors;
        let any = |widths: [vk::Bool32; 3]| widths.contains(&vk::TRUE);
        l.float_modes = float_modes(&v12);
        l.denorm_flush = any([
            v12.shader_denorm_flush_to_zero_float16,
            v12.shader_denorm_flush_to_zero_float32,
            v12.shader_denorm_flush_to_zero_float64,
        ]);
        l.rounding_rte = any([
            v12.shader_rounding_mode_rte_float16,
            v12.shader_rounding_mode_rte_float32,
            v12.shader_rounding_mode_rte_float64,
        ]);
        l.rounding_rtz = any([
            v12.shader_rounding_mode_rtz_float16,
            v12.shader_rounding_mode_rtz_float32,
            v12.shader_rounding_mode_rtz_float64,
        ]);
        self.drm = DrmNodes {
            primary: (drm.has_primary == vk::TRUE).then_some((drm.primary_major, drm.primary_minor)),
            render: (drm.has_render == vk::TRUE).then_some((drm.render_major, drm.render_minor)),
        };
        if extensions.pci_bus_info {
            self.pci = Some([pci.pci_domain, pci.pci_bus, pci.pci_device, pci.pci_function]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::QueueFlags as Q;

    fn family(queue_flags: Q, queue_count: u32) -> vk::QueueFamilyProperties {
        vk::QueueFamilyProperties { queue_flags, queue_count, ..Default::default() }
    }

    #[test]
    fn radv_fuses_from_rdna_2_on() {
        assert!(radv_fuses("AMD Radeon RX 6800 XT (RADV NAVI21)") && radv_fuses("AMD Radeon RX 7900 (RADV NAVI31)"));
        assert!(!radv_fuses("AMD Radeon RX 5700 XT (RADV NAVI10)") && !radv_fuses("AMD RADV VEGA10"));
    }

    #[test]
    fn families_of_special_purpose_are_preferred() {
        let all = Q::GRAPHICS | Q::COMPUTE | Q::TRANSFER | Q::SPARSE_BINDING;
        let nvidia = [
            family(all, 16),
            family(Q::TRANSFER | Q::VIDEO_DECODE_KHR, 1),
            family(Q::TRANSFER | Q::SPARSE_BINDING, 2),
            family(Q::COMPUTE | Q::TRANSFER | Q::SPARSE_BINDING, 8),
        ];
        let found = choose_families(&nvidia);
        assert_eq!(found, (Some(Family { index: 3, count: 8 }), Some(Family { index: 2, count: 2 })));
        assert_eq!(choose_families(&[family(all, 1)]), (Some(Family { index: 0, count: 1 }), None));
        assert_eq!(choose_families(&[family(Q::GRAPHICS, 1), family(Q::COMPUTE, 0)]), (None, None));
    }

    #[test]
    fn equal_paths_are_numbered() {
        let mut paths = ["a", "b", "a", "a"].map(str::to_owned);
        make_unique(&mut paths);
        assert_eq!(paths, ["a", "b", "a#2", "a#3"]);
    }

    #[test]
    fn uuids_read_as_usual() {
        let uuid = std::array::from_fn(|i| i as u8);
        assert_eq!(uuid_text(&uuid), "00010203-0405-0607-0809-0a0b0c0d0e0f");
    }
}
