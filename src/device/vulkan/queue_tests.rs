//! Tests of the functions by which a queue reports its waits for other queues and its later work.

use super::super::device::VulkanDevice;
use super::super::instance::instance;
use super::super::physical::physical_devices;
use super::*;
use crate::device::{Device, Direction, Placement};
use crate::geometry::{ComponentKind, TexelFormat, TextureShape};

/// Copy lanes rely on this: a copy must not be queued behind a copy that waits for an unrelated kernel.
#[test]
fn a_queue_knows_whose_work_it_waits_for() {
    let Ok(instance) = instance() else { return println!("SKIPPED: no Vulkan here") };
    for physical in physical_devices(instance, config::get()).unwrap().iter().filter(|p| p.usable.is_ok()) {
        let device = VulkanDevice::open(physical).unwrap();
        let core = device.core();
        let first = VulkanQueue::new(core, Lane::Compute(0), true).unwrap();
        let transfers = device.transfers();
        let lanes = transfers.free_lanes(Direction::Upload, None).unwrap();
        let second = &lanes[0];
        let buffer = device.allocate(64, Placement::Device, "test").unwrap();
        let using = |access| [BufferUse { buffer: &buffer, range: 0..64, access, overwritten: true }];
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive and has timeline semaphores.
        let semaphore = unsafe { core.raw.create_semaphore(&info, None) }.unwrap();
        let waits = Command::Foreign { wait: Some((semaphore, 1)), signal: None };
        let first_point = first.record(&using(Access::Write), waits).unwrap();
        let point = second.record(&using(Access::Read), Command::Other(&mut |_| {}, None)).unwrap();
        assert!(first.waits_only_for(None) && !second.waits_only_for(None));
        assert!(!first.has_later_work(first_point.value) && first.has_later_work(first_point.value - 1));
        assert!(!second.waits_only_for(Some(second.timeline().id())));
        assert!(second.waits_only_for(Some(first.timeline().id())));
        // The pieces of a large copy do not use lane `second` either, unless the copy follows work of `first`.
        let free = |follows| transfers.free_lanes(Direction::Download, follows).unwrap();
        assert_eq!(free(Some(first.timeline().id())).len(), lanes.len());
        assert!(lanes.len() == 1 || !free(None).iter().any(|lane| Arc::ptr_eq(lane, second)));
        let signal = vk::SemaphoreSignalInfo::default().semaphore(semaphore).value(1);
        // SAFETY: the semaphore is alive, and its value is 0.
        unsafe { core.raw.signal_semaphore(&signal) }.unwrap();
        assert!(first_point.wait(None).unwrap() && point.wait(None).unwrap());
        assert!(second.waits_only_for(None));
        // SAFETY: the work that waited for it is done.
        unsafe { core.raw.destroy_semaphore(semaphore, None) };
    }
}

/// The initial layout is right only for the first transition.
#[test]
fn one_of_several_threads_records_the_layout_transition() {
    const THREADS: usize = 4;
    let Ok(instance) = instance() else { return println!("SKIPPED: no Vulkan here") };
    let format = TexelFormat { kind: ComponentKind::Uint, components: 1, bits: 32 };
    let shape = TextureShape::new(format, &[8, 8], Some(1)).unwrap();
    for physical in physical_devices(instance, config::get()).unwrap().iter().filter(|p| p.usable.is_ok()) {
        let device = VulkanDevice::open(physical).unwrap();
        let queues: Vec<_> =
            (0..THREADS).map(|_| VulkanQueue::new(device.core(), Lane::Compute(0), true).unwrap()).collect();
        for round in 1..=50 {
            let image = VulkanImage::new(device.core(), &shape, "test").unwrap();
            let buffer: Arc<dyn Buffer> = image.clone();
            let (image, buffer, start) = (&image, &buffer, &std::sync::Barrier::new(THREADS));
            std::thread::scope(|s| {
                for queue in &queues {
                    s.spawn(move || {
                        start.wait();
                        queue.prepare(buffer, image).unwrap();
                        assert!(image.is_prepared());
                    });
                }
            });
            let recorded: u64 = queues.iter().map(|queue| queue.state.lock().sequence).sum();
            assert_eq!(recorded, round, "{}", physical.name);
        }
    }
}
