//! A physical device opened for use: the `VkDevice` and its queues.

#![allow(unsafe_code)]

use super::instance::{Instance, failed};
use super::physical::Physical;
use crate::error::{Error, Result};
use ash::vk;

/// The maximum number of compute queues that a device is opened with.
const COMPUTE_QUEUES: u32 = 8;
/// The maximum number of transfer queues that a device is opened with.
const TRANSFER_QUEUES: u32 = 2;

/// An opened device. Its holder must destroy `device`.
pub struct Opened {
    /// Functions of the device.
    pub device: ash::Device,
    /// Compute queues, at least one.
    pub compute: Vec<vk::Queue>,
    /// Transfer queues, possibly none.
    pub transfer: Vec<vk::Queue>,
    /// Family of the compute queues.
    pub compute_family: u32,
    /// Family of the transfer queues.
    pub transfer_family: Option<u32>,
}

/// Opens `physical` and enables all features and extensions that it has and revamp uses.
pub fn create_device(instance: &Instance, physical: &Physical) -> Result<Opened> {
    match &physical.usable {
        Err(why) if !physical.compiles_only => return Err(Error::unsupported(why.clone())),
        _ => {}
    }
    let priorities = [1.0_f32; COMPUTE_QUEUES as usize];
    let families: Vec<(u32, usize)> = std::iter::once((physical.compute, COMPUTE_QUEUES))
        .chain(physical.transfer.map(|f| (f, TRANSFER_QUEUES)))
        .map(|(family, most)| (family.index, family.count.min(most) as usize))
        .collect();
    let queues: Vec<_> = families
        .iter()
        .map(|(index, count)| {
            let priorities = priorities.get(..*count).unwrap_or_default();
            vk::DeviceQueueCreateInfo::default().queue_family_index(*index).queue_priorities(priorities)
        })
        .collect();
    let extensions: Vec<_> = physical.extensions.names().iter().map(|n| n.as_ptr()).collect();
    let device = physical.features.enable(physical.api_version, &physical.extensions, |features| {
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(features);
        // SAFETY: the device reported these families, extensions and features; `info` outlives the call.
        unsafe { instance.raw.create_device(physical.handle, &info, None) }
    });
    let device =
        device.map_err(|e| failed(format_args!("{} could not be opened: vkCreateDevice", physical.name), e))?;
    let take = |(family, count): &(u32, usize)| -> Vec<vk::Queue> {
        // SAFETY: the device was created with `count` queues of this family, without flags.
        (0..*count as u32).map(|i| unsafe { device.get_device_queue(*family, i) }).collect()
    };
    let mut taken = families.iter().map(take);
    let compute = taken.next().unwrap_or_default();
    let transfer = taken.next().unwrap_or_default();
    drop(taken);
    Ok(Opened {
        device,
        compute,
        transfer,
        compute_family: physical.compute.index,
        transfer_family: physical.transfer.map(|f| f.index),
    })
}

#[cfg(test)]
mod tests {
    use super::super::instance::{instance, version_text};
    use super::super::physical::physical_devices;
    use super::*;

    #[test]
    fn every_usable_device_opens() {
        let instance = match instance() {
            Ok(i) => i,
            Err(e) => {
                eprintln!("SKIPPED: {e}");
                return;
            }
        };
        for p in physical_devices(instance, crate::config::get()).unwrap() {
            eprintln!("{p:#?} display {}", p.has_display(instance));
            assert!(p.device_path.starts_with("vulkan\\"));
            assert!(p.api_version <= instance.api_version, "{}", version_text(p.api_version));
            match create_device(instance, &p) {
                Ok(opened) => {
                    assert!(p.usable.is_ok() || p.compiles_only);
                    assert!(!opened.compute.is_empty() && opened.compute.len() <= 8);
                    assert_eq!(opened.transfer.is_empty(), opened.transfer_family.is_none());
                    assert!(p.limits.max_allocation > 0 && p.limits.subgroup_size > 0);
                    // SAFETY: nothing was made with the device.
                    unsafe { opened.device.destroy_device(None) };
                }
                Err(e) => assert!(p.usable.is_err(), "{e}"),
            }
        }
    }
}
