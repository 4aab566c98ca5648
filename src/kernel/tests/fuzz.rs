//! Nothing that is fed in panics, hangs or allocates without bound.

use super::*;
use std::time::{Duration, Instant};

/// SplitMix64: seeded, so that a failure can be found again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Everything there is to call; true if the module was taken.
fn exercise(bytes: &[u8], entry: Option<&str>) -> bool {
    let Ok(module) = Module::new(bytes, entry) else { return false };
    let _ = (module.words(), module.hash(), module.entry_point(), module.version(), module.capabilities());
    let _ = (module.extensions(), module.bindings(), module.push(), module.workgroup_bytes());
    let _ = module.workgroup_size(&vec![]);
    let values = |n: u32| -> Vec<_> {
        let value = |kind: crate::kernel::SpecKind| n.to_ne_bytes().repeat(2)[..kind.size().min(8) as usize].to_vec();
        module.spec_constants().iter().map(|c| (c.id, value(c.kind))).collect()
    };
    for n in [0, 1, 7, u32::MAX] {
        let _ = module.check_spec(&values(n));
        let _ = module.workgroup_size(&values(n));
    }
    if let Ok(split) = module.split() {
        let _ = Module::new(&super::bytes(&split.words), None).map(|module| module.split());
    }
    true
}

fn corpus() -> Vec<Vec<u8>> {
    let sized = "layout(local_size_x_id = 3, local_size_y = 2, local_size_z_id = 1) in;
        layout(constant_id = 5) const uint N = 4; layout(constant_id = 6) const bool b = true;
        shared uint tile[N * 2 + gl_WorkGroupSize.x];
        layout(push_constant) uniform P { uint n; mat3 m; vec2 v[3]; } p;
        layout(set = 1, binding = 2) readonly buffer A { uint c; uint a[]; } bufs[2];
        layout(binding = 0) buffer O { uint o[]; };
        uint f(uvec3 id) { return id.x + (b ? gl_WorkGroupID.y : gl_NumWorkGroups.x); }
        void main() {
            tile[gl_LocalInvocationIndex] = bufs[1].a[gl_GlobalInvocationID.x];
            barrier();
            switch (p.n) { case 0: o[0] = 1; break; case 7: o[1] = tile[0]; break; default: atomicAdd(o[2], f(gl_GlobalInvocationID)); }
        }";
    let addresses = "#extension GL_EXT_buffer_reference : require
        #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
        layout(local_size_x = 8) in; layout(buffer_reference) buffer D;
        layout(buffer_reference) buffer D { D next; uint v[]; };
        layout(push_constant) uniform P { uint64_t a; };
        void main() { D d = D(a); d.next.v[gl_GlobalInvocationID.x] = gl_WorkGroupID.x; }";
    vec![
        glsl_with(sized, &["--target-env=vulkan1.0"]),
        glsl_with(sized, &["--target-env=vulkan1.1", "-g"]),
        glsl_with(sized, &["--target-env=vulkan1.2", "-O"]),
        glsl_with(sized, &["--target-env=vulkan1.3"]),
        glsl(addresses),
        super::check::several(),
    ]
}

#[test]
fn every_truncation_is_survived() {
    for bytes in corpus() {
        for len in 0..bytes.len() {
            exercise(&bytes[..len], None);
            exercise(&bytes[..len], Some("first"));
        }
    }
}

#[test]
fn mutations_are_survived() {
    let corpus = corpus();
    let mut random = Random(2026);
    let (mut taken, mut longest) = (0, Duration::ZERO);
    for round in 0..24_000 {
        let mut bytes = corpus[round % corpus.len()].clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &mut random);
        }
        let start = Instant::now();
        let entry = if random.below(4) == 0 { Some("main") } else { None };
        taken += usize::from(exercise(&bytes, entry));
        longest = longest.max(start.elapsed());
    }
    // Enough of them got past the checks for the rest to have been tried.
    assert!(taken > 4_000, "{taken} of 24000 taken");
    assert!(longest < Duration::from_secs(2), "one module took {longest:?}");
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let words = bytes.len() / 4;
    if words < 2 {
        return;
    }
    let at = random.below(words) * 4;
    let other = random.below(words) * 4;
    match random.below(8) {
        0 => bytes[at + random.below(4)] ^= 1 << random.below(8),
        1 => bytes[at..at + 4].copy_from_slice(&(random.next() as u32).to_le_bytes()),
        // A small number: an id, a literal, an enum.
        2 | 3 => bytes[at..at + 4].copy_from_slice(&(random.below(200) as u32).to_le_bytes()),
        4 => bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes()),
        5 => bytes.copy_within(other..other + 4, at),
        // Another opcode with the same length.
        6 => bytes[at] = random.below(256) as u8,
        _ => {
            let len = (random.below(8) + 1) * 4;
            let end = (at + len).min(bytes.len());
            if random.below(2) == 0 {
                bytes.drain(at..end);
            } else {
                let copy = bytes[at..end].to_vec();
                bytes.splice(other..other, copy);
            }
        }
    }
}

/// A module with `globals` between its types and an empty entry point.
fn assembled(decorations: &[u32], globals: &[u32], body: &[u32]) -> Vec<u8> {
    let op = |len: u32, opcode: u32| len << 16 | opcode;
    let mut words = vec![0x0723_0203, 0x1_0500, 0, 0x3f_0000, 0, op(2, 17), 1, op(3, 14), 0, 1];
    words.extend([op(5, 15), 5, 10, u32::from_le_bytes(*b"main"), 0, op(6, 16), 10, 17, 1, 1, 1]);
    words.extend(decorations);
    words.extend([op(2, 19), 1, op(3, 33), 2, 1, op(4, 21), 3, 32, 0]);
    words.extend(globals);
    words.extend([op(5, 54), 1, 10, 0, 2, op(2, 248), 11]);
    words.extend(body);
    words.extend([op(1, 253), op(1, 56)]);
    super::bytes(&words)
}

/// Takes a module that is made to be slow or deep; it must be quick and flat.
fn quick(what: &str, bytes: &[u8]) -> bool {
    let start = Instant::now();
    let taken = exercise(bytes, None);
    assert!(start.elapsed() < Duration::from_secs(5), "{what}: {:?} for {} bytes", start.elapsed(), bytes.len());
    taken
}

#[test]
fn modules_made_to_be_slow_are_quick() {
    const N: u32 = 60_000;
    let op = |len: u32, opcode: u32| len << 16 | opcode;
    // Structs that double at each level: sizes grow without bound, work does not.
    let doubling: Vec<u32> = (0..N).flat_map(|i| [op(4, 30), 1001 + i, 1000 + i, 1000 + i]).collect();
    let workgroup = [op(4, 32), 500, 4, 1000 + N, op(4, 59), 500, 501, 4];
    let globals = [&[op(3, 30), 1000, 3][..], &doubling, &workgroup].concat();
    assert!(quick("doubling structs", &assembled(&[], &globals, &[op(4, 61), 1000 + N, 502, 501])));
    // Arrays of arrays, as deep as there are.
    let nested: Vec<u32> = (0..N).flat_map(|i| [op(4, 28), 1001 + i, 1000 + i, 500]).collect();
    let globals = [&[op(4, 43), 3, 500, 2, op(3, 30), 1000, 3][..], &nested].concat();
    assert!(quick("nested arrays", &assembled(&[], &globals, &[])));
    // Constants made of constants.
    let chain: Vec<u32> = (0..N).flat_map(|i| [op(6, 52), 3, 1001 + i, 128, 1000 + i, 1000 + i]).collect();
    let globals = [&[op(4, 50), 3, 1000, 2][..], &chain].concat();
    assert!(quick("chained operations", &assembled(&[], &globals, &[])));
    let wide = [&[op(N + 3, 44), 3, 500][..], &vec![500; N as usize]].concat();
    let extracts: Vec<u32> = (0..N).flat_map(|i| [op(5, 52), 3, 1000 + i, 81, 500]).collect();
    assert!(quick("extracts of a wide composite", &assembled(&[], &[wide, extracts].concat(), &[])));
    // Decorations of groups multiply.
    let decorations: Vec<u32> = (0..N).flat_map(|i| [op(3, 71), 500, 100 + i]).collect();
    let targets = [&[op(N + 2, 74), 500][..], &(0..N).collect::<Vec<_>>()].concat();
    assert!(!quick("groups", &assembled(&[decorations, vec![op(2, 73), 500], targets].concat(), &[], &[])));
    // Blocks with very many members behind very many variables.
    let members = 20_000_u32;
    let block = [&[op(members + 2, 30), 500][..], &vec![3; members as usize]].concat();
    let each = |i: u32| [op(4, 71), 1000 + i, 34, 0, op(4, 71), 1000 + i, 33, i];
    let readonly = |i: u32| [op(5, 72), 500, i, 35, i * 4, op(4, 72), 500, i, 24];
    let decorations: Vec<u32> = (0..members).flat_map(each).chain((0..members).flat_map(readonly)).collect();
    let variables: Vec<u32> = (0..members).flat_map(|i| [op(4, 59), 501, 1000 + i, 12]).collect();
    let loads: Vec<u32> = (0..members).flat_map(|i| [op(4, 61), 500, 200_000 + i, 1000 + i]).collect();
    let globals = [&block[..], &[op(4, 32), 501, 12, 500], &variables].concat();
    assert!(quick("many variables of a big block", &assembled(&decorations, &globals, &loads)));
    // Whole loads of a big push-constant block.
    let globals = [&block[..], &[op(4, 32), 501, 9, 500, op(4, 59), 501, 502, 9]].concat();
    let loads: Vec<u32> = (0..members).flat_map(|i| [op(4, 61), 500, 200_000 + i, 502]).collect();
    assert!(quick("whole loads", &assembled(&decorations, &globals, &loads)));
    // Many built-ins.
    let decorations: Vec<u32> = (0..members).flat_map(|i| [op(4, 71), 1000 + i, 11, 26]).collect();
    let variables: Vec<u32> = (0..members).flat_map(|i| [op(4, 59), 501, 1000 + i, 1]).collect();
    let loads: Vec<u32> = (0..members).flat_map(|i| [op(4, 61), 500, 200_000 + i, 1000 + i]).collect();
    let globals = [&[op(4, 23), 500, 3, 3, op(4, 32), 501, 1, 500][..], &variables].concat();
    assert!(quick("many built-ins", &assembled(&decorations, &globals, &loads)));
    // A long name for a set that is used often.
    let set = [&[op(N + 2, 11), 500][..], &vec![0x4141_4141; N as usize - 1], &[0]].concat();
    let uses: Vec<u32> = (0..N).flat_map(|i| [op(5, 12), 1, 1000 + i, 500, 1]).collect();
    assert!(quick("a long set name", &assembled(&set, &[], &uses)));
}
