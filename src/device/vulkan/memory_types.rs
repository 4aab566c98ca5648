//! Chooses a memory type for each purpose, from the type and the memory properties of a device.

use crate::device::physical::DeviceType;
use ash::vk;
use ash::vk::MemoryPropertyFlags as Flags;

/// The memory types in use on one device, by purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryTypes {
    /// The fastest type for kernels, on the biggest device-local heap.
    pub device: u32,
    /// A host-visible type that kernels access as fast as `device`; `None` if there is none, or if
    /// `REVAMP_MEMORY=separate`.
    pub shared: Option<u32>,
    /// For data that the host writes and the device reads once.
    pub upload: u32,
    /// For data that the device writes and the host reads; HOST_CACHED if possible.
    pub readback: u32,
    /// For argument blocks: device memory if it is host-visible.
    pub argument: u32,
    /// True if host and device use the same memory equally fast, so that no data is copied.
    pub unified: bool,
}

/// Properties of types that are never used: they need a feature that revamp does not enable, or have no memory behind them.
const UNUSABLE: Flags = Flags::from_raw(
    Flags::PROTECTED.as_raw()
        | Flags::LAZILY_ALLOCATED.as_raw()
        | Flags::DEVICE_COHERENT_AMD.as_raw()
        | Flags::DEVICE_UNCACHED_AMD.as_raw()
        | Flags::RDMA_CAPABLE_NV.as_raw(),
);
const HOST: Flags = Flags::from_raw(Flags::HOST_VISIBLE.as_raw() | Flags::HOST_COHERENT.as_raw());

/// The total size of all device-local heaps.
pub fn device_local_bytes(memory: &vk::PhysicalDeviceMemoryProperties) -> u64 {
    let heaps = memory.memory_heaps_as_slice();
    heaps.iter().filter(|h| h.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL)).map(|h| h.size).sum()
}

/// The type with the highest `score` that has all flags of `need` and none of `refuse`; of equal types, the first.
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

/// The type for imported host memory, among the types whose bits are set in `allowed`.
pub fn import_type(memory: &vk::PhysicalDeviceMemoryProperties, allowed: u32) -> Option<u32> {
    let mut memory = *memory;
    for (i, t) in memory.memory_types.iter_mut().enumerate() {
        if allowed & 1 << i == 0 {
            t.property_flags = Flags::empty();
        }
    }
    best(&memory, HOST, Flags::empty(), |f, _| (f.contains(Flags::HOST_CACHED), f.contains(Flags::DEVICE_LOCAL)))
}

impl MemoryTypes {
    /// Chooses a type for each purpose; the error says which type is missing. `separate`: choose as if no memory were shared with the
    /// host.
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

        // Shared memory must be almost the whole device memory, not a BAR window of 256 MiB.
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
        // The host never reads argument blocks, so HOST_CACHED would only slow down the device.
        let argument = best(memory, HOST | Flags::DEVICE_LOCAL, Flags::empty(), |f, heap| {
            (!f.contains(Flags::HOST_CACHED), heap.size)
        })
        .unwrap_or(upload);
        Ok(Self { device, shared, upload, readback, argument, unified })
    }

    /// A description for the log.
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

#[cfg(test)]
mod tests {
    use super::*;

    const L: Flags = Flags::DEVICE_LOCAL;
    const V: Flags = Flags::HOST_VISIBLE;
    const C: Flags = Flags::HOST_COHERENT;
    const K: Flags = Flags::HOST_CACHED;
    const MIB: u64 = 1 << 20;
    const GIB: u64 = 1 << 30;

    /// Memory properties with these heaps (bytes, true if device-local) and types (flags, heap).
    fn table(heaps: &[(u64, bool)], types: &[(Flags, u32)]) -> vk::PhysicalDeviceMemoryProperties {
        let mut m = vk::PhysicalDeviceMemoryProperties {
            memory_heap_count: heaps.len() as u32,
            memory_type_count: types.len() as u32,
            ..Default::default()
        };
        for (to, (size, local)) in m.memory_heaps.iter_mut().zip(heaps) {
            let flags = if *local { vk::MemoryHeapFlags::DEVICE_LOCAL } else { vk::MemoryHeapFlags::empty() };
            *to = vk::MemoryHeap { size: *size, flags };
        }
        for (to, (property_flags, heap_index)) in m.memory_types.iter_mut().zip(types) {
            *to = vk::MemoryType { property_flags: *property_flags, heap_index: *heap_index };
        }
        m
    }

    fn types(
        device: u32,
        shared: Option<u32>,
        upload: u32,
        readback: u32,
        argument: u32,
        unified: bool,
    ) -> MemoryTypes {
        MemoryTypes { device, shared, upload, readback, argument, unified }
    }

    #[test]
    fn lavapipe() {
        let m = table(&[(2 * GIB, true)], &[(L | V | C | K, 0)]);
        assert_eq!(MemoryTypes::choose(DeviceType::Cpu, &m, false), Ok(types(0, Some(0), 0, 0, 0, true)));
        assert_eq!(MemoryTypes::choose(DeviceType::Cpu, &m, true), Ok(types(0, None, 0, 0, 0, false)));
        assert_eq!(device_local_bytes(&m), 2 * GIB);
    }

    #[test]
    fn nvidia_whole_card_bar() {
        // As on the H200: five types, of which the last is a BAR over the whole device memory.
        let m = table(
            &[(140 * GIB, true), (96 * GIB, false)],
            &[(Flags::empty(), 1), (L, 0), (V | C, 1), (V | C | K, 1), (L | V | C, 0)],
        );
        assert_eq!(MemoryTypes::choose(DeviceType::Discrete, &m, false), Ok(types(1, Some(4), 2, 3, 4, false)));
        assert_eq!(MemoryTypes::choose(DeviceType::Discrete, &m, true), Ok(types(1, None, 2, 3, 4, false)));
    }

    #[test]
    fn nvidia_window_bar() {
        let m = table(
            &[(8 * GIB, true), (24 * GIB, false), (246 * MIB, true)],
            &[(Flags::empty(), 1), (L, 0), (V | C, 1), (V | C | K, 1), (L | V | C, 2)],
        );
        assert_eq!(MemoryTypes::choose(DeviceType::Discrete, &m, false), Ok(types(1, None, 2, 3, 4, false)));
        assert_eq!(device_local_bytes(&m), 8 * GIB + 246 * MIB);
    }

    #[test]
    fn nvidia_without_bar() {
        let m =
            table(&[(4 * GIB, true), (16 * GIB, false)], &[(Flags::empty(), 1), (L, 0), (V | C, 1), (V | C | K, 1)]);
        assert_eq!(MemoryTypes::choose(DeviceType::Discrete, &m, false), Ok(types(1, None, 2, 3, 2, false)));
    }

    #[test]
    fn intel_integrated() {
        // In older drivers, all device-local types are also host-visible.
        let m = table(&[(15 * GIB, true)], &[(L | V | C, 0), (L | V | C | K, 0)]);
        assert_eq!(MemoryTypes::choose(DeviceType::Integrated, &m, false), Ok(types(1, Some(1), 0, 1, 0, true)));
        let m = table(&[(15 * GIB, true)], &[(L, 0), (L | V | C | K, 0), (L | V | C, 0)]);
        assert_eq!(MemoryTypes::choose(DeviceType::Integrated, &m, false), Ok(types(1, Some(1), 2, 1, 2, true)));
        assert_eq!(MemoryTypes::choose(DeviceType::Integrated, &m, true), Ok(types(0, None, 2, 1, 2, false)));
    }

    #[test]
    fn amd_integrated() {
        // RADV reports 2/3 of the memory as VRAM and the rest as GTT. Device memory is host-visible but not cached. The host reads
        // it slowly, so it can be shared but is not unified. The last two types need the feature deviceCoherentMemory.
        let amd = Flags::DEVICE_COHERENT_AMD | Flags::DEVICE_UNCACHED_AMD;
        let m = table(
            &[(10 * GIB, true), (5 * GIB, true)],
            &[(L, 0), (V | C, 1), (L | V | C, 0), (V | C | K, 1), (L | V | C | amd, 0), (V | C | K | amd, 1)],
        );
        assert_eq!(MemoryTypes::choose(DeviceType::Integrated, &m, false), Ok(types(0, Some(2), 1, 3, 2, false)));
    }

    #[test]
    fn amd_discrete_with_window() {
        let m = table(
            &[(16 * GIB - 256 * MIB, true), (32 * GIB, false), (256 * MIB, true)],
            &[(L, 0), (L, 0), (V | C, 1), (L | V | C, 2), (V | C | K, 1)],
        );
        assert_eq!(MemoryTypes::choose(DeviceType::Discrete, &m, false), Ok(types(0, None, 2, 4, 3, false)));
    }

    #[test]
    fn apple_memory_is_unified() {
        let m = table(&[(11 * GIB, true)], &[(L, 0), (L | V | C | K, 0), (L | Flags::LAZILY_ALLOCATED, 0)]);
        assert_eq!(MemoryTypes::choose(DeviceType::Integrated, &m, false), Ok(types(1, Some(1), 1, 1, 1, true)));
    }

    #[test]
    fn imports_are_cached_and_of_an_allowed_type() {
        let m = table(&[(15 * GIB, true)], &[(L, 0), (V | C, 0), (V | C | K, 0), (L | V | C | K, 0), (L | V | K, 0)]);
        assert_eq!(import_type(&m, u32::MAX), Some(3));
        assert_eq!(import_type(&m, 0b0_0111), Some(2));
        assert_eq!(import_type(&m, 0b0_0011), Some(1));
        assert_eq!(import_type(&m, 0b1_0001), None);
        assert_eq!(import_type(&m, 0), None);
    }

    #[test]
    fn missing_memory_types_are_named_in_the_error() {
        let m = table(&[(GIB, false)], &[(V | C, 0)]);
        assert!(MemoryTypes::choose(DeviceType::Discrete, &m, false).unwrap_err().contains("DEVICE_LOCAL"));
        let m = table(&[(GIB, true)], &[(L, 0)]);
        assert!(MemoryTypes::choose(DeviceType::Discrete, &m, false).unwrap_err().contains("HOST_VISIBLE"));
    }
}
