use super::super::device::VulkanDevice;
use super::super::instance::instance;
use super::super::physical::physical_devices;
use super::*;
use crate::device::{Device, Placement};

/// So that a message does not wait behind one that waits for another kernel.
#[test]
fn a_queue_knows_whose_work_it_waits_for() {
    let Ok(instance) = instance() else { return println!("SKIPPED: no Vulkan here") };
    for physical in physical_devices(instance, config::get()).unwrap().iter().filter(|p| p.usable.is_ok()) {
        let device = VulkanDevice::open(physical).unwrap();
        let core = device.core();
        let [first, second] = [0; 2].map(|_| VulkanQueue::new(core, Lane::Compute(0), true).unwrap());
        let buffer = device.allocate(64, Placement::Device, "test").unwrap();
        let using = |access| [BufferUse { buffer: &buffer, range: 0..64, access, renewed: true }];
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive and has timeline semaphores.
        let semaphore = unsafe { core.raw.create_semaphore(&info, None) }.unwrap();
        let waits = Command::Foreign { wait: Some((semaphore, 1)), signal: None };
        let own = first.record(&using(Access::Write), waits).unwrap();
        let point = second.record(&using(Access::Read), Command::Other(&mut |_| {})).unwrap();
        assert!(first.waits_only_for(None) && !second.waits_only_for(None));
        assert!(!second.waits_only_for(Some(second.timeline().id())));
        assert!(second.waits_only_for(Some(first.timeline().id())));
        let signal = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(1);
        // SAFETY: the semaphore is alive, and its value is 0.
        unsafe { core.raw.signal_semaphore(&signal) }.unwrap();
        assert!(own.wait(None).unwrap() && point.wait(None).unwrap());
        assert!(second.waits_only_for(None));
        // SAFETY: the work that waited for it is done.
        unsafe { core.raw.destroy_semaphore(semaphore, None) };
    }
}
