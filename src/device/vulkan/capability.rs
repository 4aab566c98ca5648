//! Compares the requirements of a SPIR-V module with the abilities of a device.

use super::features::{Extensions, Features};
use super::physical::{Limits, Physical};
use ash::vk;
use ash::vk::SubgroupFeatureFlags as Subgroup;
use rspirv::spirv::Capability;

/// A requirement: true if the device meets it, and the name of the feature or property that it needs.
type Need = (bool, &'static str);

const CORE: Need = (true, "Vulkan 1.2");

impl Physical {
    /// True if the device accepts modules that import non-semantic instruction sets (`SPV_KHR_non_semantic_info`).
    pub fn takes_non_semantic_info(&self) -> bool {
        self.api_version >= vk::API_VERSION_1_3 || self.extensions.shader_non_semantic_info
    }

    /// Lists the requirements of a module that this device does not meet. The arguments are the module's capabilities,
    /// extensions and SPIR-V version.
    pub fn missing_for(
        &self,
        capabilities: &[Capability],
        extensions: &[impl AsRef<str>],
        version: (u8, u8),
    ) -> Vec<String> {
        missing(
            &self.features,
            &self.extensions,
            &self.limits,
            self.api_version,
            capabilities,
            extensions.iter().map(AsRef::as_ref),
            version,
        )
    }
}

/// The newest SPIR-V version that a Vulkan version accepts.
pub fn spirv_version(api: u32) -> (u8, u8) {
    match (vk::api_version_major(api), vk::api_version_minor(api)) {
        (1, 0) => (1, 0),
        (1, 1) => (1, 3),
        (1, 2) => (1, 5),
        _ => (1, 6),
    }
}

fn missing<'a>(
    features: &Features,
    device_extensions: &Extensions,
    limits: &Limits,
    api: u32,
    capabilities: &[Capability],
    extensions: impl Iterator<Item = &'a str>,
    version: (u8, u8),
) -> Vec<String> {
    let mut lacks = Vec::new();
    let newest = spirv_version(api);
    if version > newest {
        lacks.push(format!("SPIR-V {}.{} (the device supports up to {}.{})", version.0, version.1, newest.0, newest.1));
    }
    for capability in capabilities {
        match capability_need(*capability, features, limits) {
            Some((true, _)) => {}
            Some((false, what)) => lacks.push(format!("capability {capability:?} ({what})")),
            None => lacks.push(format!("capability {capability:?} ({})", unsupported_reason(*capability))),
        }
    }
    for name in extensions {
        match extension_need(name, features, device_extensions) {
            Some((true, _)) => {}
            Some((false, what)) => lacks.push(format!("SPIR-V extension {name} ({what})")),
            None => lacks.push(format!("SPIR-V extension {name} (not supported by revamp)")),
        }
    }
    lacks
}

/// The reason why revamp rejects a capability on every device.
fn unsupported_reason(capability: Capability) -> &'static str {
    use Capability as C;
    match capability {
        C::Kernel | C::Addresses | C::Linkage | C::GenericPointer | C::Float16Buffer | C::Groups | C::Vector16 => {
            "not supported by revamp: it belongs to OpenCL, and Vulkan accepts only Shader modules without Linkage"
        }
        _ => "not supported by revamp",
    }
}

/// The requirement of a capability; `None` if revamp supports the capability on no device.
fn capability_need(capability: Capability, f: &Features, limits: &Limits) -> Option<Need> {
    use Capability as C;
    let operation = |op: Subgroup, text| (limits.subgroup_operations.contains(op), text);
    Some(match capability {
        C::Matrix | C::Shader | C::DeviceGroup | C::ShaderNonUniform => CORE,
        C::Int64 => (f.shader_int64, "device feature shaderInt64"),
        C::Int16 => (f.shader_int16, "device feature shaderInt16"),
        C::Int8 => (f.shader_int8, "device feature shaderInt8"),
        C::Float16 => (f.shader_float16, "device feature shaderFloat16"),
        C::Float64 => (f.shader_float64, "device feature shaderFloat64"),
        C::Int64Atomics => (
            f.shader_buffer_int64_atomics || f.shader_shared_int64_atomics,
            "device feature shaderBufferInt64Atomics or shaderSharedInt64Atomics",
        ),
        C::AtomicFloat32AddEXT => (
            f.shader_buffer_float32_atomic_add || f.shader_shared_float32_atomic_add,
            "device feature shaderBufferFloat32AtomicAdd or shaderSharedFloat32AtomicAdd",
        ),
        C::AtomicFloat64AddEXT => (
            f.shader_buffer_float64_atomic_add || f.shader_shared_float64_atomic_add,
            "device feature shaderBufferFloat64AtomicAdd or shaderSharedFloat64AtomicAdd",
        ),
        C::StorageBuffer8BitAccess => (f.storage_buffer_8bit_access, "device feature storageBuffer8BitAccess"),
        C::UniformAndStorageBuffer8BitAccess => {
            (f.uniform_and_storage_buffer_8bit_access, "device feature uniformAndStorageBuffer8BitAccess")
        }
        C::StoragePushConstant8 => (f.storage_push_constant8, "device feature storagePushConstant8"),
        C::StorageBuffer16BitAccess => (f.storage_buffer_16bit_access, "device feature storageBuffer16BitAccess"),
        C::UniformAndStorageBuffer16BitAccess => {
            (f.uniform_and_storage_buffer_16bit_access, "device feature uniformAndStorageBuffer16BitAccess")
        }
        C::StoragePushConstant16 => (f.storage_push_constant16, "device feature storagePushConstant16"),
        C::VariablePointers => (f.variable_pointers, "device feature variablePointers"),
        C::VariablePointersStorageBuffer => {
            (f.variable_pointers_storage_buffer, "device feature variablePointersStorageBuffer")
        }
        C::VulkanMemoryModel => (f.vulkan_memory_model, "device feature vulkanMemoryModel"),
        C::VulkanMemoryModelDeviceScope => {
            (f.vulkan_memory_model_device_scope, "device feature vulkanMemoryModelDeviceScope")
        }
        C::PhysicalStorageBufferAddresses => (f.buffer_device_address, "device feature bufferDeviceAddress"),
        C::Sampled1D | C::Image1D | C::ImageQuery => CORE,
        C::StorageImageExtendedFormats => {
            (f.shader_storage_image_extended_formats, "device feature shaderStorageImageExtendedFormats")
        }
        C::StorageImageReadWithoutFormat => {
            (f.shader_storage_image_read_without_format, "device feature shaderStorageImageReadWithoutFormat")
        }
        C::StorageImageWriteWithoutFormat => {
            (f.shader_storage_image_write_without_format, "device feature shaderStorageImageWriteWithoutFormat")
        }
        C::ImageGatherExtended => (f.shader_image_gather_extended, "device feature shaderImageGatherExtended"),
        C::StorageBufferArrayDynamicIndexing => {
            (f.shader_storage_buffer_array_dynamic_indexing, "device feature shaderStorageBufferArrayDynamicIndexing")
        }
        C::StorageBufferArrayNonUniformIndexing => (
            f.shader_storage_buffer_array_non_uniform_indexing,
            "device feature shaderStorageBufferArrayNonUniformIndexing",
        ),
        C::UniformBufferArrayDynamicIndexing => {
            (f.shader_uniform_buffer_array_dynamic_indexing, "device feature shaderUniformBufferArrayDynamicIndexing")
        }
        C::UniformBufferArrayNonUniformIndexing => (
            f.shader_uniform_buffer_array_non_uniform_indexing,
            "device feature shaderUniformBufferArrayNonUniformIndexing",
        ),
        C::SampledImageArrayDynamicIndexing => {
            (f.shader_sampled_image_array_dynamic_indexing, "device feature shaderSampledImageArrayDynamicIndexing")
        }
        C::SampledImageArrayNonUniformIndexing => (
            f.shader_sampled_image_array_non_uniform_indexing,
            "device feature shaderSampledImageArrayNonUniformIndexing",
        ),
        C::StorageImageArrayDynamicIndexing => {
            (f.shader_storage_image_array_dynamic_indexing, "device feature shaderStorageImageArrayDynamicIndexing")
        }
        C::StorageImageArrayNonUniformIndexing => (
            f.shader_storage_image_array_non_uniform_indexing,
            "device feature shaderStorageImageArrayNonUniformIndexing",
        ),
        C::DotProduct | C::DotProductInputAll | C::DotProductInput4x8Bit | C::DotProductInput4x8BitPacked => {
            (f.shader_integer_dot_product, "device feature shaderIntegerDotProduct")
        }
        C::WorkgroupMemoryExplicitLayoutKHR => {
            (f.workgroup_memory_explicit_layout, "device feature workgroupMemoryExplicitLayout")
        }
        C::WorkgroupMemoryExplicitLayout8BitAccessKHR => {
            (f.workgroup_memory_explicit_layout_8bit_access, "device feature workgroupMemoryExplicitLayout8BitAccess")
        }
        C::WorkgroupMemoryExplicitLayout16BitAccessKHR => {
            (f.workgroup_memory_explicit_layout_16bit_access, "device feature workgroupMemoryExplicitLayout16BitAccess")
        }
        C::GroupNonUniform => operation(Subgroup::BASIC, "basic subgroup operations"),
        C::GroupNonUniformVote => operation(Subgroup::VOTE, "subgroup operation vote"),
        C::GroupNonUniformArithmetic => operation(Subgroup::ARITHMETIC, "subgroup operation arithmetic"),
        C::GroupNonUniformBallot => operation(Subgroup::BALLOT, "subgroup operation ballot"),
        C::GroupNonUniformShuffle => operation(Subgroup::SHUFFLE, "subgroup operation shuffle"),
        C::GroupNonUniformShuffleRelative => {
            operation(Subgroup::SHUFFLE_RELATIVE, "subgroup operation shuffle relative")
        }
        C::GroupNonUniformClustered => operation(Subgroup::CLUSTERED, "subgroup operation clustered"),
        C::GroupNonUniformQuad => operation(Subgroup::QUAD, "subgroup operation quad"),
        C::DenormPreserve => (limits.float_modes.subnormal.contains(&true), "property shaderDenormPreserve"),
        C::DenormFlushToZero => (limits.denorm_flush, "property shaderDenormFlushToZero"),
        C::SignedZeroInfNanPreserve => {
            (limits.float_modes.special.contains(&true), "property shaderSignedZeroInfNanPreserve")
        }
        C::RoundingModeRTE => (limits.rounding_rte, "property shaderRoundingModeRTE"),
        C::RoundingModeRTZ => (limits.rounding_rtz, "property shaderRoundingModeRTZ"),
        _ => return None,
    })
}

/// The requirement of a SPIR-V extension; `None` if revamp does not know the extension. The capabilities of the extension are
/// checked separately.
fn extension_need(name: &str, f: &Features, e: &Extensions) -> Option<Need> {
    Some(match name {
        // Part of Vulkan 1.2.
        "SPV_KHR_storage_buffer_storage_class"
        | "SPV_KHR_variable_pointers"
        | "SPV_KHR_16bit_storage"
        | "SPV_KHR_8bit_storage"
        | "SPV_KHR_device_group"
        | "SPV_KHR_float_controls"
        | "SPV_KHR_vulkan_memory_model"
        | "SPV_KHR_physical_storage_buffer"
        | "SPV_EXT_physical_storage_buffer"
        | "SPV_EXT_descriptor_indexing" => CORE,
        "SPV_EXT_shader_atomic_float_add" => (e.shader_atomic_float, "device extension VK_EXT_shader_atomic_float"),
        "SPV_KHR_workgroup_memory_explicit_layout" => {
            (e.workgroup_memory_explicit_layout, "device extension VK_KHR_workgroup_memory_explicit_layout")
        }
        "SPV_KHR_integer_dot_product" => (f.shader_integer_dot_product, "device feature shaderIntegerDotProduct"),
        // If the device does not support this extension, src/kernel/strip.rs removes the extension's instructions.
        "SPV_KHR_non_semantic_info" => CORE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [&str; 0] = [];

    fn check(f: &Features, caps: &[Capability], exts: &[&str], version: (u8, u8)) -> Vec<String> {
        let e = Extensions::default();
        missing(f, &e, &Limits::default(), vk::API_VERSION_1_2, caps, exts.iter().copied(), version)
    }

    #[test]
    fn missing_feature_is_named() {
        let mut f = Features::default();
        let caps = [Capability::Shader, Capability::Float64];
        assert_eq!(check(&f, &caps, &NONE, (1, 3)), ["capability Float64 (device feature shaderFloat64)"]);
        f.shader_float64 = true;
        assert!(check(&f, &caps, &NONE, (1, 5)).is_empty());
    }

    #[test]
    fn unknown_capabilities_and_extensions_are_unsupported() {
        let f = Features::default();
        let got = check(&f, &[Capability::Geometry], &["SPV_ACME_magic", "SPV_KHR_variable_pointers"], (1, 0));
        assert_eq!(
            got,
            [
                "capability Geometry (not supported by revamp)",
                "SPIR-V extension SPV_ACME_magic (not supported by revamp)"
            ]
        );
        assert!(check(&f, &[Capability::Kernel], &NONE, (1, 0)).concat().contains("OpenCL"));
    }

    #[test]
    fn version_follows_vulkan() {
        let f = Features::default();
        assert_eq!(check(&f, &[], &NONE, (1, 6)), ["SPIR-V 1.6 (the device supports up to 1.5)"]);
        assert_eq!(spirv_version(vk::API_VERSION_1_3), (1, 6));
        assert_eq!(spirv_version(vk::API_VERSION_1_1), (1, 3));
    }

    #[test]
    fn subgroups_and_float_controls_come_from_properties() {
        let caps = [Capability::GroupNonUniformBallot, Capability::RoundingModeRTE];
        let f = Features::default();
        let mut l = Limits::default();
        let run = |l: &Limits| {
            missing(&f, &Extensions::default(), l, vk::API_VERSION_1_3, &caps, std::iter::empty(), (1, 6)).len()
        };
        assert_eq!(run(&l), 2);
        l.subgroup_operations = Subgroup::BASIC | Subgroup::BALLOT;
        l.rounding_rte = true;
        assert_eq!(run(&l), 0);
    }
}
