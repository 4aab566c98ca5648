//! A physical device opened for use: the `VkDevice` and its queues.

#![allow(unsafe_code)]

use super::instance::{Instance, failed};
use super::physical::Physical;
use crate::error::{Error, Result};
use ash::vk;

/// Most compute queues taken from a device.
const COMPUTE_QUEUES: u32 = 8;
/// Most transfer queues taken from a device.
const TRANSFER_QUEUES: u32 = 2;

/// An opened device. Whoever holds it destroys `device`.
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

/// Opens `physical` with every feature and extension it has that revamp knows.
pub fn create_device(instance: &Instance, physical: &Physical) -> Result<Opened> {
    if let Err(why) = &physical.usable {
        return Err(Error::unsupported(why.clone()));
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
        // SAFETY: families, extensions and features are those the device reported; `info` outlives the call.
        unsafe { instance.raw.create_device(physical.handle, &info, None) }
    });
    let device =
        device.map_err(|e| failed(format_args!("{} could not be opened: vkCreateDevice", physical.name), e))?;
    let take = |(family, count): &(u32, usize)| -> Vec<vk::Queue> {
        // SAFETY: the family was asked for with `count` queues, and no flags.
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
