//! The driver's statistics of a pipeline's code, such as registers and spills.

#![allow(unsafe_code)]

use super::core::Core;
use crate::device::Executable;
use ash::{khr, vk};
use std::ffi::CStr;

/// The creation flags that make the driver record statistics; empty if the device has no statistics, or if the caller
/// does not request them and the log level is below debug. The flags may prevent a hit in the pipeline cache.
pub(super) fn flags(core: &Core, requested: bool) -> vk::PipelineCreateFlags {
    let requested = requested || crate::trace::log::enabled(crate::trace::log::Level::Debug);
    if requested && core.physical.features.pipeline_executable_info {
        vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
    } else {
        vk::PipelineCreateFlags::empty()
    }
}

/// The statistics of a pipeline that was created with these flags; empty if the driver fails to return them.
pub(super) fn executables(core: &Core, pipeline: vk::Pipeline, flags: vk::PipelineCreateFlags) -> Vec<Executable> {
    if flags.is_empty() {
        return Vec::new();
    }
    let functions = khr::pipeline_executable_properties::Device::new(&core.instance, &core.raw);
    let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
    // SAFETY: the extension and its feature are enabled. The pipeline is alive and was created with the flag.
    let all = unsafe { functions.get_pipeline_executable_properties(&info) }.unwrap_or_default();
    let figures = |index| {
        let which = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(index);
        // SAFETY: as above, and `index` is below the number of executables.
        unsafe { functions.get_pipeline_executable_statistics(&which) }.unwrap_or_default()
    };
    let executable = |(index, properties): (u32, &vk::PipelineExecutablePropertiesKHR<'_>)| Executable {
        name: text(properties.name_as_c_str()),
        subgroup_size: properties.subgroup_size,
        statistics: figures(index).iter().map(|figure| (text(figure.name_as_c_str()), number(figure))).collect(),
    };
    (0..).zip(&all).map(executable).collect()
}

/// Writes the statistics to the log.
pub(super) fn log(kernel: &str, executables: &[Executable]) {
    for Executable { name, subgroup_size, statistics } in executables {
        let figures: Vec<String> = statistics.iter().map(|(name, value)| format!("{name} {value}")).collect();
        crate::log!(Debug, "{kernel}: {name}, subgroups of {subgroup_size}: {}", figures.join(", "));
    }
}

fn text(name: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    name.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn number(of: &vk::PipelineExecutableStatisticKHR<'_>) -> f64 {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    // SAFETY: `format` says which field of the union the driver has written.
    unsafe {
        match of.format {
            Format::BOOL32 => f64::from(u8::from(of.value.b32 != 0)),
            Format::INT64 => of.value.i64 as f64,
            Format::UINT64 => of.value.u64 as f64,
            _ => of.value.f64,
        }
    }
}
