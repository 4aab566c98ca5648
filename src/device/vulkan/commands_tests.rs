use super::super::device::VulkanDevice;
use super::super::instance::instance;
use super::super::physical::physical_devices;
use super::*;
use crate::device::{Device, Placement};
use crate::geometry::CopyDim;
use std::sync::atomic::Ordering;

fn devices() -> Vec<Arc<VulkanDevice>> {
    let Ok(instance) = instance() else {
        println!("SKIPPED: no Vulkan here");
        return Vec::new();
    };
    let all = physical_devices(instance, config::get()).unwrap();
    all.iter().filter(|p| p.usable.is_ok()).map(|p| VulkanDevice::open(p).unwrap()).collect()
}

/// Bytes of a buffer that the host addresses.
fn bytes(buffer: &Arc<dyn Buffer>) -> Vec<u8> {
    buffer.tracker().wait(&(0..buffer.size()), Access::ReadWrite).unwrap();
    buffer.host().unwrap().to_vec()
}

/// A column of 64 words, 16 bytes apart, to or from packed memory.
fn column(upload: bool) -> CopyPlan {
    let (source, destination) = if upload { (4, 16) } else { (16, 4) };
    let dims = [CopyDim { count: 64, source, destination }].into_iter().collect();
    CopyPlan { dims, ..CopyPlan::linear(0, 0, 4) }
}

#[test]
fn copies_beside_a_queue_neither_wait_for_its_later_work_nor_delay_it() {
    for device in devices() {
        let queue = device.create_queue(false).unwrap();
        let [own, other] = [0; 2].map(|_| device.allocate(1024, Placement::Device, "test").unwrap());
        let [staging, column_of, back] = [0; 3].map(|_| device.allocate(1024, Placement::Staging, "test").unwrap());
        let pattern: Vec<u8> = (0..1024).map(|i| (i * 7 + i / 256) as u8).collect();
        staging.host().unwrap().write(&pattern).unwrap();
        let all = CopyPlan::linear(0, 0, 1024);

        // Each follows what the queue did, and nothing that the queue gets later belongs to its batch.
        let mut beside = vec![queue.copy_beside(&staging, &own, &all).unwrap()];
        queue.copy(&own, &other, &all).unwrap();
        beside.push(queue.copy_beside(&other, &column_of, &column(false)).unwrap());
        beside.push(queue.copy_beside(&column_of, &other, &column(true)).unwrap());
        queue.copy(&other, &own, &all).unwrap();
        beside.push(queue.copy_beside(&own, &back, &all).unwrap());
        let later = queue.copy(&own, &other, &all).unwrap();
        for point in &beside {
            let own = point.timeline.id() == later.timeline.id();
            assert!(!own || point.value < later.value, "{point:?} {later:?}");
            assert!(!own || device.core().compute.len() == 1);
            assert!(point.wait(None).unwrap());
        }
        assert_eq!(bytes(&back), pattern);
        let packed: Vec<u8> = (0..64).flat_map(|i| pattern[16 * i..16 * i + 4].to_vec()).collect();
        assert_eq!(bytes(&column_of)[..256], packed);
        later.wait(None).unwrap();
    }
}

#[test]
fn who_waits_for_one_queue_lets_the_gathered_commands_of_others_begin() {
    for device in devices() {
        let [queue, waited] = [0; 2].map(|_| device.create_queue(false).unwrap());
        let [from, to, own, staging] = [Placement::Device, Placement::Device, Placement::Device, Placement::Staging]
            .map(|placement| device.allocate(64, placement, "test").unwrap());
        let all = CopyPlan::linear(0, 0, 64);
        let done = waited.copy(&own, &staging, &all).unwrap();
        done.wait(None).unwrap();
        let gathering = || device.core().gathering.load(Ordering::Relaxed);
        // On a loaded machine a command may come too late to be gathered.
        let gathered = (0..10_000).any(|_| {
            let _ = queue.copy(&from, &to, &all).unwrap();
            gathering() > 0
        });
        assert!(gathered);
        // Unless the device still has several batches of that queue.
        while gathering() > 0 {
            assert!(done.wait(Some(std::time::Duration::ZERO)).unwrap());
        }
    }
}
