//! What the driver says of a pipeline's code: registers, spills and the like, for the log.

#![allow(unsafe_code)]

use super::core::Core;
use ash::{khr, vk};
use std::ffi::CStr;

/// The flags with which a pipeline is made whose figures are asked for, if the device has them and the log tells them. They may
/// keep a driver from taking the pipeline from its cache.
pub(super) fn flags(core: &Core) -> vk::PipelineCreateFlags {
    let told =
        core.physical.features.pipeline_executable_info && crate::trace::log::enabled(crate::trace::log::Level::Debug);
    if told { vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR } else { vk::PipelineCreateFlags::empty() }
}

/// Tells the log the figures of a pipeline that was made with them.
pub(super) fn tell(core: &Core, pipeline: vk::Pipeline, kernel: &str) {
    let functions = khr::pipeline_executable_properties::Device::new(&core.instance, &core.raw);
    let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
    // SAFETY: the extension and its feature are enabled; the pipeline is alive and was made with the flag.
    let Ok(executables) = (unsafe { functions.get_pipeline_executable_properties(&info) }) else { return };
    for (index, executable) in (0..).zip(&executables) {
        let which = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(index);
        // SAFETY: as above; there are as many executables.
        let Ok(figures) = (unsafe { functions.get_pipeline_executable_statistics(&which) }) else { return };
        let figures: Vec<String> =
            figures.iter().map(|figure| format!("{} {}", text(figure.name_as_c_str()), number(figure))).collect();
        let name = text(executable.name_as_c_str());
        crate::log!(Debug, "{kernel}: {name}, subgroups of {}: {}", executable.subgroup_size, figures.join(", "));
    }
}

fn text(name: Result<&CStr, std::ffi::FromBytesUntilNulError>) -> String {
    name.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn number(of: &vk::PipelineExecutableStatisticKHR<'_>) -> String {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    // SAFETY: the format says which field the driver has written.
    unsafe {
        match of.format {
            Format::BOOL32 => (of.value.b32 != 0).to_string(),
            Format::INT64 => of.value.i64.to_string(),
            Format::UINT64 => of.value.u64.to_string(),
            _ => of.value.f64.to_string(),
        }
    }
}
