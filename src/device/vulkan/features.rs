//! Device features and extensions. One table lists the name of each feature and its field in Vulkan's structures. Macros
//! generate the code that reads and enables features from this table.

#![allow(unsafe_code)]

use ash::vk;
use std::ffi::CStr;

/// The feature structures that revamp reads and enables.
#[derive(Default)]
pub(super) struct Chain {
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    /// On Vulkan 1.2 devices, its fields are copied from and to the extension structures below.
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
    sync2: vk::PhysicalDeviceSynchronization2Features<'static>,
    maintenance4: vk::PhysicalDeviceMaintenance4Features<'static>,
    cache_control: vk::PhysicalDevicePipelineCreationCacheControlFeatures<'static>,
    dot: vk::PhysicalDeviceShaderIntegerDotProductFeatures<'static>,
    zero: vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures<'static>,
    subgroup_size: vk::PhysicalDeviceSubgroupSizeControlFeatures<'static>,
    atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    workgroup: vk::PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR<'static>,
    executables: vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR<'static>,
    border: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'static>,
    robust_image: vk::PhysicalDeviceImageRobustnessFeatures<'static>,
}

/// Sets those of the listed fields in `$to` that are set in `$from`.
macro_rules! copy_fields {
    ($from:expr => $to:expr; $($field:ident)*) => {{
        let (from, to) = ($from, &mut $to);
        $(to.$field |= from.$field;)*
    }};
}

macro_rules! features {
    ($($field:ident $name:literal $group:ident . $vk:ident;)*) => {
        /// The device features that revamp uses; true for each that a device has.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Features {
            $(#[doc = concat!("`", $name, "`.")] pub $field: bool,)*
        }
        impl Features {
            /// Vulkan's names of all features and whether the device has them.
            pub fn list(&self) -> Vec<(&'static str, bool)> {
                vec![$(($name, self.$field)),*]
            }
            fn read(chain: &Chain) -> Self {
                Self { $($field: chain.$group.$vk == vk::TRUE,)* }
            }
            fn intersect(&mut self, other: &Self) {
                $(self.$field &= other.$field;)*
            }
            fn write(&self, chain: &mut Chain) {
                $(chain.$group.$vk = vk::Bool32::from(self.$field);)*
            }
        }
    };
}

features! {
    buffer_device_address "bufferDeviceAddress" v12.buffer_device_address;
    timeline_semaphore "timelineSemaphore" v12.timeline_semaphore;
    shader_int64 "shaderInt64" core.shader_int64;
    shader_int16 "shaderInt16" core.shader_int16;
    shader_int8 "shaderInt8" v12.shader_int8;
    shader_float16 "shaderFloat16" v12.shader_float16;
    shader_float64 "shaderFloat64" core.shader_float64;
    storage_buffer_8bit_access "storageBuffer8BitAccess" v12.storage_buffer8_bit_access;
    uniform_and_storage_buffer_8bit_access "uniformAndStorageBuffer8BitAccess"
        v12.uniform_and_storage_buffer8_bit_access;
    storage_push_constant8 "storagePushConstant8" v12.storage_push_constant8;
    storage_buffer_16bit_access "storageBuffer16BitAccess" v11.storage_buffer16_bit_access;
    uniform_and_storage_buffer_16bit_access "uniformAndStorageBuffer16BitAccess"
        v11.uniform_and_storage_buffer16_bit_access;
    storage_push_constant16 "storagePushConstant16" v11.storage_push_constant16;
    variable_pointers "variablePointers" v11.variable_pointers;
    variable_pointers_storage_buffer "variablePointersStorageBuffer" v11.variable_pointers_storage_buffer;
    vulkan_memory_model "vulkanMemoryModel" v12.vulkan_memory_model;
    vulkan_memory_model_device_scope "vulkanMemoryModelDeviceScope" v12.vulkan_memory_model_device_scope;
    shader_buffer_int64_atomics "shaderBufferInt64Atomics" v12.shader_buffer_int64_atomics;
    shader_shared_int64_atomics "shaderSharedInt64Atomics" v12.shader_shared_int64_atomics;
    shader_buffer_float32_atomics "shaderBufferFloat32Atomics" atomic_float.shader_buffer_float32_atomics;
    shader_buffer_float32_atomic_add "shaderBufferFloat32AtomicAdd" atomic_float.shader_buffer_float32_atomic_add;
    shader_buffer_float64_atomics "shaderBufferFloat64Atomics" atomic_float.shader_buffer_float64_atomics;
    shader_buffer_float64_atomic_add "shaderBufferFloat64AtomicAdd" atomic_float.shader_buffer_float64_atomic_add;
    shader_shared_float32_atomics "shaderSharedFloat32Atomics" atomic_float.shader_shared_float32_atomics;
    shader_shared_float32_atomic_add "shaderSharedFloat32AtomicAdd" atomic_float.shader_shared_float32_atomic_add;
    shader_shared_float64_atomics "shaderSharedFloat64Atomics" atomic_float.shader_shared_float64_atomics;
    shader_shared_float64_atomic_add "shaderSharedFloat64AtomicAdd" atomic_float.shader_shared_float64_atomic_add;
    scalar_block_layout "scalarBlockLayout" v12.scalar_block_layout;
    uniform_buffer_standard_layout "uniformBufferStandardLayout" v12.uniform_buffer_standard_layout;
    shader_subgroup_extended_types "shaderSubgroupExtendedTypes" v12.shader_subgroup_extended_types;
    subgroup_broadcast_dynamic_id "subgroupBroadcastDynamicId" v12.subgroup_broadcast_dynamic_id;
    shader_storage_buffer_array_dynamic_indexing "shaderStorageBufferArrayDynamicIndexing"
        core.shader_storage_buffer_array_dynamic_indexing;
    shader_storage_buffer_array_non_uniform_indexing "shaderStorageBufferArrayNonUniformIndexing"
        v12.shader_storage_buffer_array_non_uniform_indexing;
    shader_uniform_buffer_array_dynamic_indexing "shaderUniformBufferArrayDynamicIndexing"
        core.shader_uniform_buffer_array_dynamic_indexing;
    shader_sampled_image_array_dynamic_indexing "shaderSampledImageArrayDynamicIndexing"
        core.shader_sampled_image_array_dynamic_indexing;
    shader_storage_image_array_dynamic_indexing "shaderStorageImageArrayDynamicIndexing"
        core.shader_storage_image_array_dynamic_indexing;
    shader_uniform_buffer_array_non_uniform_indexing "shaderUniformBufferArrayNonUniformIndexing"
        v12.shader_uniform_buffer_array_non_uniform_indexing;
    shader_sampled_image_array_non_uniform_indexing "shaderSampledImageArrayNonUniformIndexing"
        v12.shader_sampled_image_array_non_uniform_indexing;
    shader_storage_image_array_non_uniform_indexing "shaderStorageImageArrayNonUniformIndexing"
        v12.shader_storage_image_array_non_uniform_indexing;
    host_query_reset "hostQueryReset" v12.host_query_reset;
    sparse_binding "sparseBinding" core.sparse_binding;
    sparse_residency_buffer "sparseResidencyBuffer" core.sparse_residency_buffer;
    shader_storage_image_extended_formats "shaderStorageImageExtendedFormats"
        core.shader_storage_image_extended_formats;
    shader_storage_image_read_without_format "shaderStorageImageReadWithoutFormat"
        core.shader_storage_image_read_without_format;
    shader_storage_image_write_without_format "shaderStorageImageWriteWithoutFormat"
        core.shader_storage_image_write_without_format;
    shader_image_gather_extended "shaderImageGatherExtended" core.shader_image_gather_extended;
    robust_image_access "robustImageAccess" v13.robust_image_access;
    custom_border_colors "customBorderColors" border.custom_border_colors;
    custom_border_color_without_format "customBorderColorWithoutFormat" border.custom_border_color_without_format;
    synchronization2 "synchronization2" v13.synchronization2;
    maintenance4 "maintenance4" v13.maintenance4;
    pipeline_creation_cache_control "pipelineCreationCacheControl" v13.pipeline_creation_cache_control;
    shader_integer_dot_product "shaderIntegerDotProduct" v13.shader_integer_dot_product;
    shader_zero_initialize_workgroup_memory "shaderZeroInitializeWorkgroupMemory"
        v13.shader_zero_initialize_workgroup_memory;
    subgroup_size_control "subgroupSizeControl" v13.subgroup_size_control;
    compute_full_subgroups "computeFullSubgroups" v13.compute_full_subgroups;
    workgroup_memory_explicit_layout "workgroupMemoryExplicitLayout" workgroup.workgroup_memory_explicit_layout;
    workgroup_memory_explicit_layout_scalar "workgroupMemoryExplicitLayoutScalarBlockLayout"
        workgroup.workgroup_memory_explicit_layout_scalar_block_layout;
    workgroup_memory_explicit_layout_8bit_access "workgroupMemoryExplicitLayout8BitAccess"
        workgroup.workgroup_memory_explicit_layout8_bit_access;
    workgroup_memory_explicit_layout_16bit_access "workgroupMemoryExplicitLayout16BitAccess"
        workgroup.workgroup_memory_explicit_layout16_bit_access;
    pipeline_executable_info "pipelineExecutableInfo" executables.pipeline_executable_info;
}

macro_rules! extensions {
    ($($field:ident $name:path;)*) => {
        /// The device extensions that revamp uses; true for each that a device has. All available extensions are enabled.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Extensions {
            $(#[doc = concat!("`ash::", stringify!($name), "`.")] pub $field: bool,)*
        }
        impl Extensions {
            /// The extensions in the extension list of a device.
            pub(super) fn find(list: &[vk::ExtensionProperties]) -> Self {
                let has = |name: &CStr| list.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
                Self { $($field: has($name),)* }
            }
            /// The extensions in `names`.
            pub(super) fn among(names: &[&CStr]) -> Self {
                Self { $($field: names.contains(&$name),)* }
            }
            /// The names of the available extensions.
            pub fn names(&self) -> Vec<&'static CStr> {
                [$((self.$field, $name)),*].into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect()
            }
        }
    };
}

use ash::{ext, khr};

extensions! {
    external_memory_host ext::external_memory_host::NAME;
    memory_budget ext::memory_budget::NAME;
    pipeline_creation_cache_control ext::pipeline_creation_cache_control::NAME;
    pipeline_creation_feedback ext::pipeline_creation_feedback::NAME;
    portability_subset khr::portability_subset::NAME;
    custom_border_color ext::custom_border_color::NAME;
    image_robustness ext::image_robustness::NAME;
    shader_atomic_float ext::shader_atomic_float::NAME;
    push_descriptor khr::push_descriptor::NAME;
    pci_bus_info ext::pci_bus_info::NAME;
    physical_device_drm ext::physical_device_drm::NAME;
    external_memory_fd khr::external_memory_fd::NAME;
    external_semaphore_fd khr::external_semaphore_fd::NAME;
    calibrated_timestamps ext::calibrated_timestamps::NAME;
    shader_non_semantic_info khr::shader_non_semantic_info::NAME;
    workgroup_memory_explicit_layout khr::workgroup_memory_explicit_layout::NAME;
    synchronization2 khr::synchronization2::NAME;
    maintenance4 khr::maintenance4::NAME;
    shader_integer_dot_product khr::shader_integer_dot_product::NAME;
    zero_initialize_workgroup_memory khr::zero_initialize_workgroup_memory::NAME;
    subgroup_size_control ext::subgroup_size_control::NAME;
    pipeline_executable_properties khr::pipeline_executable_properties::NAME;
}

impl Chain {
    /// Chains to `head` the structures that a device of version `api` with these extensions supports.
    fn link<'a>(
        &'a mut self,
        mut head: vk::PhysicalDeviceFeatures2<'a>,
        api: u32,
        extensions: &Extensions,
    ) -> vk::PhysicalDeviceFeatures2<'a> {
        head = head.push_next(&mut self.v11).push_next(&mut self.v12);
        if api >= vk::API_VERSION_1_3 {
            head = head.push_next(&mut self.v13);
        } else {
            if extensions.synchronization2 {
                head = head.push_next(&mut self.sync2);
            }
            if extensions.maintenance4 {
                head = head.push_next(&mut self.maintenance4);
            }
            if extensions.pipeline_creation_cache_control {
                head = head.push_next(&mut self.cache_control);
            }
            if extensions.shader_integer_dot_product {
                head = head.push_next(&mut self.dot);
            }
            if extensions.zero_initialize_workgroup_memory {
                head = head.push_next(&mut self.zero);
            }
            if extensions.image_robustness {
                head = head.push_next(&mut self.robust_image);
            }
            if extensions.subgroup_size_control {
                head = head.push_next(&mut self.subgroup_size);
            }
        }
        if extensions.custom_border_color {
            head = head.push_next(&mut self.border);
        }
        if extensions.shader_atomic_float {
            head = head.push_next(&mut self.atomic_float);
        }
        if extensions.workgroup_memory_explicit_layout {
            head = head.push_next(&mut self.workgroup);
        }
        if extensions.pipeline_executable_properties {
            head = head.push_next(&mut self.executables);
        }
        head
    }

    /// Copies the extension structures to `v13`.
    fn copy_from_extensions(&mut self) {
        self.v13.synchronization2 |= self.sync2.synchronization2;
        self.v13.maintenance4 |= self.maintenance4.maintenance4;
        self.v13.pipeline_creation_cache_control |= self.cache_control.pipeline_creation_cache_control;
        self.v13.shader_integer_dot_product |= self.dot.shader_integer_dot_product;
        self.v13.shader_zero_initialize_workgroup_memory |= self.zero.shader_zero_initialize_workgroup_memory;
        self.v13.subgroup_size_control |= self.subgroup_size.subgroup_size_control;
        self.v13.compute_full_subgroups |= self.subgroup_size.compute_full_subgroups;
        self.v13.robust_image_access |= self.robust_image.robust_image_access;
    }

    /// Copies a structure of a `pNext` chain if the structure has features that revamp uses.
    ///
    /// # Safety
    /// `next` points to the structure that its sType names.
    unsafe fn copy_structure(&mut self, next: *const vk::BaseInStructure<'_>) {
        use vk::StructureType as S;
        macro_rules! whole {
            ($to:ident) => {
                // SAFETY: by the caller. Only the features of the copy are read.
                self.$to = unsafe { std::ptr::read(next.cast()) }
            };
        }
        macro_rules! part {
            ($type:ident => $to:ident; $($field:ident)*) => {
                // SAFETY: by the caller.
                copy_fields!(unsafe { &*next.cast::<vk::$type<'_>>() } => self.$to; $($field)*)
            };
        }
        // SAFETY: by the caller.
        match unsafe { (*next).s_type } {
            S::PHYSICAL_DEVICE_FEATURES_2 => {
                // SAFETY: by the caller.
                self.core = unsafe { (*next.cast::<vk::PhysicalDeviceFeatures2<'_>>()).features };
            }
            S::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES => whole!(v11),
            S::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => whole!(v12),
            S::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => whole!(v13),
            S::PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES => whole!(sync2),
            S::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES => whole!(maintenance4),
            S::PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES => whole!(cache_control),
            S::PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES => whole!(dot),
            S::PHYSICAL_DEVICE_ZERO_INITIALIZE_WORKGROUP_MEMORY_FEATURES => whole!(zero),
            S::PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES => whole!(subgroup_size),
            S::PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT => whole!(atomic_float),
            S::PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR => whole!(workgroup),
            S::PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR => whole!(executables),
            S::PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT => whole!(border),
            S::PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES => whole!(robust_image),
            S::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES => part!(PhysicalDevice16BitStorageFeatures => v11;
                storage_buffer16_bit_access uniform_and_storage_buffer16_bit_access storage_push_constant16),
            S::PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES => part!(PhysicalDeviceVariablePointersFeatures => v11;
                variable_pointers variable_pointers_storage_buffer),
            S::PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES => part!(PhysicalDevice8BitStorageFeatures => v12;
                storage_buffer8_bit_access uniform_and_storage_buffer8_bit_access storage_push_constant8),
            S::PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES => part!(PhysicalDeviceShaderFloat16Int8Features => v12;
                shader_float16 shader_int8),
            S::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES => {
                part!(PhysicalDeviceBufferDeviceAddressFeatures => v12; buffer_device_address)
            }
            S::PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES => {
                part!(PhysicalDeviceTimelineSemaphoreFeatures => v12; timeline_semaphore)
            }
            S::PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES => part!(PhysicalDeviceVulkanMemoryModelFeatures => v12;
                vulkan_memory_model vulkan_memory_model_device_scope),
            S::PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES => part!(PhysicalDeviceShaderAtomicInt64Features => v12;
                shader_buffer_int64_atomics shader_shared_int64_atomics),
            S::PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES => {
                part!(PhysicalDeviceScalarBlockLayoutFeatures => v12; scalar_block_layout)
            }
            S::PHYSICAL_DEVICE_UNIFORM_BUFFER_STANDARD_LAYOUT_FEATURES => {
                part!(PhysicalDeviceUniformBufferStandardLayoutFeatures => v12; uniform_buffer_standard_layout)
            }
            S::PHYSICAL_DEVICE_SHADER_SUBGROUP_EXTENDED_TYPES_FEATURES => {
                part!(PhysicalDeviceShaderSubgroupExtendedTypesFeatures => v12; shader_subgroup_extended_types)
            }
            S::PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES => {
                part!(PhysicalDeviceHostQueryResetFeatures => v12; host_query_reset)
            }
            S::PHYSICAL_DEVICE_DESCRIPTOR_INDEXING_FEATURES => {
                part!(PhysicalDeviceDescriptorIndexingFeatures => v12;
                    shader_storage_buffer_array_non_uniform_indexing shader_uniform_buffer_array_non_uniform_indexing
                    shader_sampled_image_array_non_uniform_indexing shader_storage_image_array_non_uniform_indexing)
            }
            _ => {}
        }
    }

    /// Copies `v13` to the extension structures.
    fn copy_to_extensions(&mut self) {
        self.sync2.synchronization2 = self.v13.synchronization2;
        self.maintenance4.maintenance4 = self.v13.maintenance4;
        self.cache_control.pipeline_creation_cache_control = self.v13.pipeline_creation_cache_control;
        self.dot.shader_integer_dot_product = self.v13.shader_integer_dot_product;
        self.zero.shader_zero_initialize_workgroup_memory = self.v13.shader_zero_initialize_workgroup_memory;
        self.subgroup_size.subgroup_size_control = self.v13.subgroup_size_control;
        self.subgroup_size.compute_full_subgroups = self.v13.compute_full_subgroups;
        self.robust_image.robust_image_access = self.v13.robust_image_access;
    }
}

impl Features {
    /// The features of a device. `api`: the Vulkan version that may be used, 1.2 or later.
    pub(super) fn query(raw: &ash::Instance, handle: vk::PhysicalDevice, api: u32, extensions: &Extensions) -> Self {
        let mut chain = Chain::default();
        let mut all = chain.link(vk::PhysicalDeviceFeatures2::default(), api, extensions);
        // SAFETY: the handle is of this instance. The device's version or extensions support every chained structure.
        unsafe { raw.get_physical_device_features2(handle, &mut all) };
        let core = all.features;
        chain.core = core;
        chain.copy_from_extensions();
        Self::read(&chain)
    }

    /// The features that were enabled when a device was created.
    ///
    /// # Safety
    /// `info` is the structure that was passed to vkCreateDevice, and all its pointers are still valid.
    pub(super) unsafe fn enabled(info: &vk::DeviceCreateInfo<'_>) -> Self {
        let mut chain = Chain::default();
        // SAFETY: by the caller.
        if let Some(core) = unsafe { info.p_enabled_features.as_ref() } {
            chain.core = *core;
        }
        let mut next = info.p_next.cast::<vk::BaseInStructure<'_>>();
        while !next.is_null() {
            // SAFETY: by the caller.
            next = unsafe {
                chain.copy_structure(next);
                (*next).p_next
            };
        }
        chain.copy_from_extensions();
        Self::read(&chain)
    }

    /// The features that are set in both `self` and `other`.
    pub(super) fn intersection(&self, other: &Self) -> Self {
        let mut all = *self;
        all.intersect(other);
        all
    }

    /// A chain that enables these features. Its memory is never freed.
    pub(super) fn leak(&self, api: u32, extensions: &Extensions) -> &'static vk::PhysicalDeviceFeatures2<'static> {
        let chain = Box::leak(Box::<Chain>::default());
        self.write(chain);
        chain.copy_to_extensions();
        let head = vk::PhysicalDeviceFeatures2::default().features(chain.core);
        Box::leak(Box::new(chain.link(head, api, extensions)))
    }

    /// Calls `make` with a chain that enables these features.
    pub(super) fn enable<R>(
        &self,
        api: u32,
        extensions: &Extensions,
        make: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>) -> R,
    ) -> R {
        let mut chain = Chain::default();
        self.write(&mut chain);
        chain.copy_to_extensions();
        let head = vk::PhysicalDeviceFeatures2::default().features(chain.core);
        make(&mut chain.link(head, api, extensions))
    }
}
