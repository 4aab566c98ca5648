//! Tests with modules that exceed the limits of the installed devices, and with mutated modules that reach the driver's compiler.

use super::super::instance::instance;
use super::super::physical::physical_devices;
use super::*;
use crate::config;
use crate::kernel::tests::fuzz::{Rounds, corpus, mutated};
use crate::kernel::tests::slow::{CONSTANT, DECORATE, LOAD, MEMBER_DECORATE, POINTER, STRUCT, VARIABLE, assembled, op};
use crate::kernel::tests::tool;
use std::sync::Arc;

/// All usable devices, opened.
fn devices() -> Vec<Arc<Core>> {
    let Ok(instance) = instance() else {
        println!("SKIPPED: no Vulkan here");
        return Vec::new();
    };
    let all = physical_devices(instance, config::get()).unwrap();
    all.iter().filter(|p| p.usable.is_ok()).map(|p| Arc::new(Core::open(p).unwrap())).collect()
}

/// A module with a storage buffer at each of these (set, binding). The block of each buffer has one `uint` at `offset`.
fn buffers(places: &[(u32, u32)], offset: u32) -> Vec<u8> {
    let id = |at: usize| 1000 + at as u32;
    let numbered = places
        .iter()
        .enumerate()
        .flat_map(|(at, &(set, binding))| [op(4, DECORATE), id(at), 34, set, op(4, DECORATE), id(at), 33, binding]);
    let block = [op(3, DECORATE), 500, 2, op(5, MEMBER_DECORATE), 500, 0, 35, offset];
    let decorations: Vec<u32> = block.into_iter().chain(numbered).collect();
    let types = [op(3, STRUCT), 500, 3, op(4, POINTER), 501, 12, 500];
    let variables = (0..places.len()).flat_map(|at| [op(4, VARIABLE), 501, id(at), 12]);
    let globals: Vec<u32> = types.into_iter().chain(variables).collect();
    let loads: Vec<u32> = (0..places.len()).flat_map(|at| [op(4, LOAD), 500, 1_000_000 + at as u32, id(at)]).collect();
    assembled(&decorations, &globals, &loads)
}

/// A module with `count` storage images.
fn images(count: u32) -> Vec<u8> {
    let numbered = (0..count).flat_map(|n| [op(4, DECORATE), 1000 + n, 34, 0, op(4, DECORATE), 1000 + n, 33, n]);
    // Two-dimensional images of uint in the format R32ui.
    let types = [op(9, 25), 500, 3, 1, 0, 0, 0, 2, 33, op(4, POINTER), 501, 0, 500];
    let globals = types.into_iter().chain((0..count).flat_map(|n| [op(4, VARIABLE), 501, 1000 + n, 0]));
    let loads = (0..count).flat_map(|n| [op(4, LOAD), 500, 1_000_000 + n, 1000 + n]);
    assembled(&numbered.collect::<Vec<_>>(), &globals.collect::<Vec<_>>(), &loads.collect::<Vec<_>>())
}

/// A module with a push-constant block of one `uint` at `offset`.
fn push(offset: u32) -> Vec<u8> {
    let block = [op(3, DECORATE), 500, 2, op(5, MEMBER_DECORATE), 500, 0, 35, offset];
    let globals = [op(3, STRUCT), 500, 3, op(4, POINTER), 501, 9, 500, op(4, VARIABLE), 501, 502, 9];
    assembled(&block, &globals, &[op(4, LOAD), 500, 503, 502])
}

/// A module with a Workgroup array of `uint`. Its length is a specialization constant with id `spec` and default `count`.
fn shared(count: u32, spec: u32) -> Vec<u8> {
    let globals = [
        [op(4, 50), 3, 499, count],
        [op(4, 28), 500, 3, 499],
        [op(4, POINTER), 501, 4, 500],
        [op(4, VARIABLE), 501, 502, 4],
    ];
    assembled(&[op(4, DECORATE), 499, 1, spec], globals.as_flattened(), &[op(4, LOAD), 500, 503, 502])
}

/// A module with workgroup size `size`. It is set by a WorkgroupSize constant, which overrides the execution mode.
fn sized(size: [u32; 3]) -> Vec<u8> {
    let constants = (0..3).flat_map(|k| [op(4, CONSTANT), 3, 500 + k as u32, size[k]]);
    let whole = [op(4, 23), 510, 3, 3, op(6, 44), 510, 511, 500, 501, 502];
    assembled(&[op(4, DECORATE), 511, 11, 25], &constants.chain(whole).collect::<Vec<_>>(), &[])
}

/// Checks that the device rejects the module, and that the message contains all `parts`.
fn assert_refused(device: &Arc<Core>, what: &str, bytes: &[u8], parts: &[String]) {
    let text = match Module::new(bytes, None)
        .and_then(|module| VulkanKernel::new(device, &Arc::new(module), "test").map(drop))
    {
        Ok(()) => panic!("{what}: the module was accepted"),
        Err(e) => e.to_string(),
    };
    parts.iter().for_each(|part| assert!(text.contains(part), "{what}: \"{part}\" is not in: {text}"));
}

#[test]
fn modules_beyond_a_limit_are_refused_with_the_name_of_the_limit() {
    for device in devices() {
        let (p, l) = (&device.physical, &device.physical.limits);
        println!("{}: {l:?}", p.name);
        let name = p.name.clone();
        let said = |number: u64, most: u64, limit: &str| {
            vec![number.to_string(), most.to_string(), limit.to_owned(), name.clone()]
        };
        let sets = l.descriptor_sets;
        let in_sets: Vec<_> = (0..=sets).map(|set| (set, 0)).collect();
        if sets < 10_000 {
            let parts = said(u64::from(sets) + 1, sets.into(), "maxBoundDescriptorSets");
            assert_refused(&device, "sets", &buffers(&in_sets, 0), &parts);
        }
        let most = l.storage_buffers.min(l.set_storage_buffers).min(l.stage_resources);
        if most < 100_000 {
            let many: Vec<_> = (0..=most).map(|binding| (0, binding)).collect();
            assert_refused(&device, "buffers", &buffers(&many, 0), &said(u64::from(most) + 1, most.into(), "max"));
        }
        let range = l.storage_buffer_range;
        if range < u64::from(u32::MAX) {
            let least = u64::from(u32::MAX - 3) + 4;
            assert_refused(
                &device,
                "offset",
                &buffers(&[(0, 0)], u32::MAX - 3),
                &said(least, range, "maxStorageBufferRange"),
            );
        }
        let most = u64::from(l.push_constants);
        let parts = said(most + 4, most, "maxPushConstantsSize");
        assert_refused(&device, "push constants", &push(l.push_constants), &parts);
        let bytes = |count: u32| u64::from(count) * 4;
        let parts = |count| said(bytes(count), l.shared_memory.into(), "maxComputeSharedMemorySize");
        assert_refused(&device, "shared memory", &shared(u32::MAX, 0), &parts(u32::MAX));
        let [x, y, z] = l.max_workgroup_size;
        for size in [[x + 1, 1, 1], [1, y + 1, 1], [1, 1, z + 1], [x, y, z]] {
            assert_refused(&device, "workgroup", &sized(size), &[format!("{size:?}"), name.clone()]);
        }
        // Any id is valid for a specialization constant.
        let fits = Module::new(&shared(16, u32::MAX), None).unwrap();
        let kernel = VulkanKernel::new(&device, &Arc::new(fits), "test").unwrap();
        let sized = |count: u32| vec![(u32::MAX, count.to_ne_bytes().to_vec())];
        assert!(kernel.pipeline(&sized(64), false).is_ok());
        let text = kernel.pipeline(&sized(1 << 30), false).map(drop).unwrap_err().to_string();
        assert!(text.contains("4294967296 bytes of workgroup memory"), "{text}");
    }
}

#[test]
fn tex_36_more_images_than_slots_are_refused() {
    for device in devices() {
        let [in_stage, in_sets] = device.physical.limits.storage_images;
        // Some devices allow a million images; their limit is not tested.
        if in_stage <= in_sets && in_stage < 100_000 {
            let limit = "maxPerStageDescriptorStorageImages".to_owned();
            let parts = [format!("{} storage images", in_stage + 1), format!("is {in_stage}"), limit];
            assert_refused(&device, "images", &images(in_stage + 1), &parts);
        }
    }
}

#[test]
fn sparse_set_and_binding_numbers_are_renumbered() {
    for device in devices() {
        let most = device.physical.limits.descriptor_sets;
        for (places, layouts) in [
            (vec![(0, u32::MAX), (u32::MAX, u32::MAX)], 2),
            (vec![(0, 50_000_000)], 1),
            (vec![(most, 0)], 1),
            // Numbers below the limits stay unchanged.
            (vec![(0, 3), (2, SPARSE - 1)], 3),
        ] {
            let module = Arc::new(Module::new(&buffers(&places, 0), None).unwrap());
            let kernel = VulkanKernel::new(&device, &module, "test").unwrap();
            assert_eq!(kernel.sets.raw.len(), layouts, "{places:?}");
            let reported: Vec<_> = kernel.module.bindings().iter().map(|b| (b.set, b.binding)).collect();
            assert_eq!(reported, places, "the program's numbers stay");
            for split in [false, true] {
                kernel.pipeline(&Vec::new(), split).unwrap();
            }
        }
    }
}

#[test]
fn unused_bindings_are_ignored() {
    for device in devices() {
        let mut words = buffers(&[(0, 0), (u32::MAX, u32::MAX)], 0);
        // Replaces the load of the second buffer by a second load of the first.
        let second = (1001_u32).to_le_bytes();
        let at = words.windows(4).rposition(|w| w == second).unwrap();
        words[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes());
        let kernel = VulkanKernel::new(&device, &Arc::new(Module::new(&words, None).unwrap()), "test").unwrap();
        assert_eq!(kernel.module.bindings().len(), 1);
        kernel.pipeline(&Vec::new(), false).unwrap();
    }
}

/// The driver compiles mutated modules that revamp and spirv-val accept: plain, with specialization constants, and split.
#[test]
fn mutated_modules_reach_the_driver() {
    let Some(device) = devices().into_iter().next() else { return };
    let corpus = corpus();
    let mut rounds = Rounds::new(300);
    let (mut taken, mut loaded, mut compiled) = (0_u64, 0_u64, 0_u64);
    while rounds.next() {
        let bytes = mutated(&corpus, 1, &mut rounds.random);
        let Ok(module) = Module::new(&bytes, None) else { continue };
        taken += 1;
        let made = rounds.attempt(&bytes, || VulkanKernel::new(&device, &Arc::new(module), "test"));
        let Ok(kernel) = made else { continue };
        loaded += 1;
        let args = ["--target-env", "vulkan1.3", "--scalar-block-layout", "-"];
        if tool("spirv-val", &args, &bytes).is_err() {
            continue;
        }
        compiled += u64::from(rounds.attempt(&bytes, || compile(&kernel)));
    }
    rounds.close("driver", &format!("{taken} taken, {loaded} loaded, {compiled} compiled"));
    assert!(compiled > 0);
}

/// True if the driver creates the plain pipeline. spirv-val must accept the rewritten modules, as it accepted the original.
fn compile(kernel: &VulkanKernel) -> bool {
    let module = kernel.plain_module.as_ref().unwrap_or(&kernel.module);
    let loop_checked = kernel.with_loops_checked(module, &Vec::new()).ok().flatten();
    let module = loop_checked.as_ref().unwrap_or(module);
    for words in [module.words().to_vec(), module.split().map(|split| split.words).unwrap_or_default()] {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if !bytes.is_empty() {
            let said = tool("spirv-val", &["--target-env", "vulkan1.3", "--scalar-block-layout", "-"], &bytes);
            assert!(said.is_ok(), "a rewrite is invalid: {said:?}");
        }
    }
    let constants: SpecValues =
        kernel.module.spec_constants().iter().map(|c| (c.id, vec![1; c.kind.size() as usize])).collect();
    let plain = kernel.pipeline(&Vec::new(), false).is_ok();
    let _ = (kernel.pipeline(&constants, false), kernel.pipeline(&Vec::new(), true));
    plain
}
