//! Tests of copies on the queue of an accelerator_view, and of waits for several queues.

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

/// The contents of a buffer in host-visible memory, once all work that uses the buffer is done.
fn bytes(buffer: &Arc<dyn Buffer>) -> Vec<u8> {
    buffer.tracker().wait(&(0..buffer.size()), Access::ReadWrite).unwrap();
    buffer.host().unwrap().to_vec()
}

/// A copy of a column of 64 words that are 16 bytes apart: from packed memory if `upload`, else to packed memory.
fn column(upload: bool) -> CopyPlan {
    let (source, destination) = if upload { (4, 16) } else { (16, 4) };
    let dims = [CopyDim { count: 64, source, destination }].into_iter().collect();
    CopyPlan { dims, ..CopyPlan::linear(0, 0, 4) }
}

#[test]
fn unordered_copies_neither_wait_for_later_work_of_the_queue_nor_delay_it() {
    for device in devices() {
        let queue = device.create_queue(false).unwrap();
        let [own, other] = [0; 2].map(|_| device.allocate(1024, Placement::Device, "test").unwrap());
        let [staging, packed_column, back] = [0; 3].map(|_| device.allocate(1024, Placement::Staging, "test").unwrap());
        let pattern: Vec<u8> = (0..1024).map(|i| (i * 7 + i / 256) as u8).collect();
        staging.host().unwrap().write(&pattern).unwrap();
        let all = CopyPlan::linear(0, 0, 1024);

        // Each unordered copy waits for earlier work of `queue`. Later work of `queue` never joins the batch of the copy.
        let mut unordered_points = vec![queue.copy_unordered(&staging, &own, &all).unwrap()];
        queue.copy(&own, &other, &all).unwrap();
        unordered_points.push(queue.copy_unordered(&other, &packed_column, &column(false)).unwrap());
        unordered_points.push(queue.copy_unordered(&packed_column, &other, &column(true)).unwrap());
        queue.copy(&other, &own, &all).unwrap();
        unordered_points.push(queue.copy_unordered(&own, &back, &all).unwrap());
        let later = queue.copy(&own, &other, &all).unwrap();
        for point in &unordered_points {
            let own = point.timeline.id() == later.timeline.id();
            assert!(!own || point.value < later.value, "{point:?} {later:?}");
            assert!(!own || device.core().compute.len() == 1);
            assert!(point.wait(None).unwrap());
        }
        assert_eq!(bytes(&back), pattern);
        let packed: Vec<u8> = (0..64).flat_map(|i| pattern[16 * i..16 * i + 4].to_vec()).collect();
        assert_eq!(bytes(&packed_column)[..256], packed);
        later.wait(None).unwrap();
    }
}

#[test]
fn a_wait_for_one_queue_submits_the_gathered_commands_of_other_queues() {
    for device in devices() {
        let [queue, waited_queue] = [0; 2].map(|_| device.create_queue(false).unwrap());
        let [from, to, own, staging] = [Placement::Device, Placement::Device, Placement::Device, Placement::Staging]
            .map(|placement| device.allocate(64, placement, "test").unwrap());
        let all = CopyPlan::linear(0, 0, 64);
        let done = waited_queue.copy(&own, &staging, &all).unwrap();
        done.wait(None).unwrap();
        let gathering = || device.core().gathering.load(Ordering::Relaxed);
        // On a loaded machine, the device may be idle again before the next command, which is then submitted and not gathered.
        let gathered = (0..10_000).any(|_| {
            let _ = queue.copy(&from, &to, &all).unwrap();
            gathering() > 0
        });
        assert!(gathered);
        // A wait that does not block submits no gathered commands while the device still has several batches of `queue`. Therefore this loop
        // repeats the wait.
        while gathering() > 0 {
            assert!(done.wait(Some(std::time::Duration::ZERO)).unwrap());
        }
    }
}
