//! Which memory type serves which purpose: a pure function over the device's memory table.

use super::physical::DeviceType;
use ash::vk;
use ash::vk::MemoryPropertyFlags as Flags;

/// The memory types in use on one device, by purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryTypes {
    /// The fastest for kernels, on the biggest device-local heap.
    pub device: u32,
    /// As good for kernels and addressed by the host too; `None` where there is none or memory is kept separate.
    pub shared: Option<u32>,
    /// Written by the host, read by the device once.
    pub upload: u32,
    /// Written by the device, read by the host: cached for it where possible.
    pub readback: u32,
    /// Small blocks of kernel arguments: in device memory where the host can write there.
    pub argument: u32,
    /// Host and device use the same memory equally fast: nothing needs to be copied.
    pub unified: bool,
}

/// Types that need a feature revamp does not enable, or that hold nothing.
const UNUSABLE: Flags = Flags::from_raw(
    Flags::PROTECTED.as_raw()
        | Flags::LAZILY_ALLOCATED.as_raw()
        | Flags::DEVICE_COHERENT_AMD.as_raw()
        | Flags::DEVICE_UNCACHED_AMD.as_raw()
        | Flags::RDMA_CAPABLE_NV.as_raw(),
);
const HOST: Flags = Flags::from_raw(Flags::HOST_VISIBLE.as_raw() | Flags::HOST_COHERENT.as_raw());

/// Size of all device-local heaps.
pub fn device_local_bytes(memory: &vk::PhysicalDeviceMemoryProperties) -> u64 {
    let heaps = memory.memory_heaps_as_slice();
    heaps.iter().filter(|h| h.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL)).map(|h| h.size).sum()
}

/// The best type that has `need` and none of `refuse`, by `score`; the first of equals.
fn best<S: Ord>(
    memory: &vk::PhysicalDeviceMemoryProperties,
    need: Flags,
    refuse: Flags,
    score: impl Fn(Flags, &vk::MemoryHeap) -> S,
) -> Option<u32> {
    let heaps = memory.memory_heaps_as_slice();
    let mut found: Option<(u32, S)> = None;
    for (i, t) in (0_u32..).zip(memory.memory_types_as_slice()) {
        let flags = t.property_flags;
        let Some(heap) = heaps.get(t.heap_index as usize) else { continue };
        if !flags.contains(need) || flags.intersects(refuse | UNUSABLE) {
            continue;
        }
        let s = score(flags, heap);
        if found.as_ref().is_none_or(|(_, best)| s > *best) {
            found = Some((i, s));
        }
    }
    found.map(|(i, _)| i)
}

impl MemoryTypes {
    /// Chooses; `Err` says what is missing from the table. `separate`: as if nothing were shared with the host.
    pub fn choose(
        device_type: DeviceType,
        memory: &vk::PhysicalDeviceMemoryProperties,
        separate: bool,
    ) -> Result<Self, String> {
        let discrete = !matches!(device_type, DeviceType::Integrated | DeviceType::Cpu);
        let heap_of = |i: u32| {
            let heap = memory.memory_types_as_slice().get(i as usize).map_or(0, |t| t.heap_index);
            memory.memory_heaps_as_slice().get(heap as usize).map_or(0, |h| h.size)
        };
        let flags_of =
            |i: u32| memory.memory_types_as_slice().get(i as usize).map_or(Flags::empty(), |t| t.property_flags);

        // Shared with the host means the whole memory, not a window of 256 MiB onto it.
        let biggest = memory
            .memory_heaps_as_slice()
            .iter()
            .filter(|h| h.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
            .map(|h| h.size)
            .max()
            .unwrap_or(0);
        let whole = |i: &u32| u128::from(heap_of(*i)) * 10 >= u128::from(biggest) * 9;
        let shared = best(memory, HOST | Flags::DEVICE_LOCAL, Flags::empty(), |f, heap| {
            (u128::from(heap.size) * 10 >= u128::from(biggest) * 9, f.contains(Flags::HOST_CACHED))
        })
        .filter(|i| whole(i) && !separate);
        let unified = !discrete && shared.is_some_and(|i| flags_of(i).contains(Flags::HOST_CACHED));

        let device = if unified { shared } else { None }
            .or_else(|| {
                best(memory, Flags::DEVICE_LOCAL, Flags::empty(), |f, heap| {
                    (heap.size, !f.contains(Flags::HOST_VISIBLE), !f.contains(Flags::HOST_CACHED))
                })
            })
            .ok_or("no memory type is DEVICE_LOCAL")?;
        let upload = best(memory, HOST, Flags::empty(), |f, heap| {
            (!f.contains(Flags::DEVICE_LOCAL), !f.contains(Flags::HOST_CACHED), heap.size)
        })
        .ok_or("no memory type is HOST_VISIBLE and HOST_COHERENT")?;
        let readback = best(memory, HOST, Flags::empty(), |f, heap| {
            (f.contains(Flags::HOST_CACHED), !f.contains(Flags::DEVICE_LOCAL), heap.size)
        })
        .unwrap_or(upload);
        // Never read by the host, so a cache for it would only cost the device.
        let argument = best(memory, HOST | Flags::DEVICE_LOCAL, Flags::empty(), |f, heap| {
            (!f.contains(Flags::HOST_CACHED), heap.size)
        })
        .unwrap_or(upload);
        Ok(Self { device, shared, upload, readback, argument, unified })
    }

    /// For the log.
    pub fn describe(&self, memory: &vk::PhysicalDeviceMemoryProperties) -> String {
        let one = |i: u32| {
            memory.memory_types_as_slice().get(i as usize).map_or_else(String::new, |t| {
                let bytes = memory.memory_heaps_as_slice().get(t.heap_index as usize).map_or(0, |h| h.size);
                format!("type {i} ({:?}, heap {} of {} MiB)", t.property_flags, t.heap_index, bytes >> 20)
            })
        };
        format!(
            "device {}, shared {}, upload {}, readback {}, arguments {}{}",
            one(self.device),
            self.shared.map_or_else(|| "none".to_owned(), one),
            one(self.upload),
            one(self.readback),
            one(self.argument),
            if self.unified { ", unified" } else { "" }
        )
    }
}
