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
pub(super) fn exercise(bytes: &[u8], entry: Option<&str>) -> bool {
    let Ok(module) = Module::new(bytes, entry) else { return false };
    let _ = (module.words(), module.hash(), module.entry_point(), module.version(), module.capabilities());
    let _ = (module.extensions(), module.bindings(), module.push());
    let _ = module.workgroup_size(&vec![]);
    let values = |n: u32| -> Vec<_> {
        let value = |kind: crate::kernel::SpecKind| n.to_ne_bytes().repeat(2)[..kind.size().min(8) as usize].to_vec();
        module.spec_constants().iter().map(|c| (c.id, value(c.kind))).collect()
    };
    for n in [0, 1, 7, u32::MAX] {
        let _ = module.check_spec(&values(n));
        let _ = (module.workgroup_size(&values(n)), module.workgroup_bytes(&values(n)));
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
