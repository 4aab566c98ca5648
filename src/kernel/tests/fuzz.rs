//! Fuzz tests of [`Module`]: no input makes it panic, hang or allocate without bound.
//!
//! If MINUTES is set in the environment, a fuzzer runs for that time (`scripts/fuzz`), else for a fixed number of rounds.

use super::*;
use crate::kernel::dense;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// After this time an attempt counts as a hang. No module of the fuzzers' sizes takes this long.
const HANG_TIME: Duration = Duration::from_secs(10);

/// SplitMix64, seeded so that failures can be reproduced.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    /// A random number, often near a limit: 0, a power of two, or `u32::MAX`.
    fn number(&mut self) -> u32 {
        match self.below(6) {
            0 => self.next() as u32,
            1 => u32::MAX - self.below(3) as u32,
            2 => (1_u32 << self.below(32)).wrapping_sub(self.below(2) as u32),
            _ => self.below(200) as u32,
        }
    }
}

/// The rounds of a fuzzer, and the folder for its findings.
pub(crate) struct Rounds {
    pub(crate) random: Random,
    pub(crate) done: u64,
    seed: u64,
    end: Option<Instant>,
    most: u64,
    folder: Option<PathBuf>,
}

impl Rounds {
    /// Runs `most` rounds, or for MINUTES.
    pub(crate) fn new(most: u64) -> Self {
        let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
        let seed = number("SEED").unwrap_or(2026);
        let end = number("MINUTES").map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
        let folder = std::env::var_os("FUZZ_OUT").map(PathBuf::from);
        Self { random: Random(seed), done: 0, seed, end, most, folder }
    }

    /// True if there is another round.
    pub(crate) fn next(&mut self) -> bool {
        let more = self.end.map_or(self.done < self.most, |end| Instant::now() < end);
        self.done += u64::from(more);
        more
    }

    /// Runs `work` on `bytes`. If `work` panics or hangs, saves `bytes` to a file. In a run with MINUTES, input that ends the process is
    /// saved too.
    pub(crate) fn attempt<T>(&self, bytes: &[u8], work: impl FnOnce() -> T) -> T {
        if self.end.is_some() {
            self.keep("current", bytes);
        }
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(work));
        let time = start.elapsed();
        match outcome {
            Ok(value) if time < HANG_TIME => value,
            outcome => {
                let file = self.keep(&format!("find-{}-{}", self.seed, self.done), bytes);
                panic!(
                    "round {} (seed {}, {time:?}): {}: panicked: {}",
                    self.done,
                    self.seed,
                    file.display(),
                    outcome.is_err()
                );
            }
        }
    }

    pub(crate) fn keep(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let file = self.folder.clone().unwrap_or_else(std::env::temp_dir).join(name);
        fs::write(&file, bytes).unwrap();
        file
    }

    /// Prints the fuzzer's summary.
    pub(crate) fn close(&self, what: &str, counts: &str) {
        println!("{what}: {} tried, {counts}, 0 found, seed {}", self.done, self.seed);
    }
}

/// Calls all functions of a module; true if the module was accepted.
pub(crate) fn exercise(bytes: &[u8], entry: Option<&str>) -> bool {
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
    let _ = (module.with_loops_checked(1, true), module.depth());
    if let Ok(split) = module.split() {
        let _ = Module::new(&super::bytes(&split.words), None).map(|module| module.split());
    }
    if let Ok(Some(stripped)) = module.without_non_semantic() {
        assert_eq!(stripped.entry_point(), module.entry_point());
    }
    let renumbered = module.renumbered().unwrap();
    let numbers = |module: &Module| -> Vec<_> { module.bindings().iter().map(|b| (b.set, b.binding)).collect() };
    assert_eq!(numbers(&renumbered), dense(numbers(&module).into_iter()).collect::<Vec<_>>());
    true
}

/// The modules to mutate: the sources below, the copy shaders and the shaders of `tests-c/kernels`.
pub(crate) fn corpus() -> Vec<Vec<u8>> {
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
    let mut all = vec![
        glsl_with(sized, &["--target-env=vulkan1.0"]),
        glsl_with(sized, &["--target-env=vulkan1.1", "-g"]),
        glsl_with(sized, &["--target-env=vulkan1.2", "-O"]),
        glsl_with(sized, &["--target-env=vulkan1.3"]),
        glsl(addresses),
        super::parse::several_entry_points(),
        super::renumber::grouped(),
        include_bytes!("../../device/vulkan/shaders/copy16.spv").to_vec(),
        include_bytes!("../../device/vulkan/shaders/copy4.spv").to_vec(),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests-c/kernels");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "comp")) {
        let args = ["--target-env=vulkan1.2", "-g", "-o", "-", file.to_str().unwrap()];
        all.push(tool("glslc", &args, b"").unwrap());
    }
    all
}

#[test]
fn every_truncation_is_survived() {
    for bytes in corpus().into_iter().take(7) {
        for len in 0..bytes.len() {
            exercise(&bytes[..len], None);
            exercise(&bytes[..len], Some("first"));
        }
    }
}

#[test]
fn mutations_are_survived() {
    let corpus = corpus();
    let mut rounds = Rounds::new(20_000);
    let mut accepted = 0;
    while rounds.next() {
        let bytes = mutated(&corpus, 6, &mut rounds.random);
        let entry = if rounds.random.below(4) == 0 { Some("main") } else { None };
        accepted += u64::from(rounds.attempt(&bytes, || exercise(&bytes, entry)));
    }
    rounds.close("modules", &format!("{accepted} taken"));
    // Enough modules must pass the checks to exercise the code that follows the checks.
    assert!(accepted * 8 > rounds.done, "{accepted} of {} taken", rounds.done);
}

/// A module of the corpus with 1 to `most` changes.
pub(crate) fn mutated(corpus: &[Vec<u8>], most: usize, random: &mut Random) -> Vec<u8> {
    let bytes = &corpus[random.below(corpus.len())];
    // Half of the modules are mutated word by word, the other half by instructions, so that word counts stay correct.
    if random.below(2) == 0 {
        let mut bytes = bytes.clone();
        for _ in 0..=random.below(most) {
            mutate_words(&mut bytes, random);
        }
        return bytes;
    }
    let mut code = Instructions::of(bytes);
    for _ in 0..=random.below(most) {
        code.mutate(corpus, random);
    }
    code.bytes()
}

fn mutate_words(bytes: &mut Vec<u8>, random: &mut Random) {
    let words = bytes.len() / 4;
    if words < 2 {
        return;
    }
    let at = random.below(words) * 4;
    let other = random.below(words) * 4;
    match random.below(7) {
        0 => bytes[at + random.below(4)] ^= 1 << random.below(8),
        1 => bytes[at..at + 4].copy_from_slice(&random.number().to_le_bytes()),
        // A small number, which may be an id, a literal or an enumerant.
        2 | 3 => bytes[at..at + 4].copy_from_slice(&(random.below(200) as u32).to_le_bytes()),
        4 => bytes.copy_within(other..other + 4, at),
        // Another opcode with the same length.
        5 => bytes[at] = random.below(256) as u8,
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

/// A module cut into instructions.
struct Instructions {
    head: Vec<u32>,
    all: Vec<Vec<u32>>,
}

impl Instructions {
    /// Splits an undamaged module.
    fn of(bytes: &[u8]) -> Self {
        let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let (head, mut rest) = words.split_at(5);
        let mut all = Vec::new();
        while let Some(first) = rest.first() {
            let (inst, after) = rest.split_at((*first >> 16) as usize);
            all.push(inst.to_vec());
            rest = after;
        }
        Self { head: head.to_vec(), all }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut words = self.head.clone();
        for inst in &self.all {
            let len = (inst.len() as u32).min(0xffff);
            words.push(len << 16 | inst[0] & 0xffff);
            words.extend(inst.iter().take(len as usize).skip(1));
        }
        super::bytes(&words)
    }

    fn mutate(&mut self, corpus: &[Vec<u8>], random: &mut Random) {
        let (at, other) = (random.below(self.all.len()), random.below(self.all.len()));
        let (bound, many) = (self.head[3] as usize, 1 << random.below(10));
        match random.below(14) {
            0 => self.head[1 + random.below(3)] = random.number(),
            // Changes an operand to a valid id, to the next or previous number, or to a random number.
            1..=3 if self.all[at].len() > 1 => {
                let word = 1 + random.below(self.all[at].len() - 1);
                self.all[at][word] = match random.below(4) {
                    0 => random.below(bound) as u32,
                    1 => self.all[at][word].wrapping_add(1),
                    2 => self.all[at][word].wrapping_sub(1),
                    _ => random.number(),
                };
            }
            4 => self.all.swap(at, other),
            5 => {
                let moved = self.all.remove(at);
                self.all.insert(other, moved);
            }
            6 => _ = self.all.remove(at),
            7 => self.all.insert(other, self.all[at].clone()),
            // Many copies of an instruction, each with a new id.
            8 => {
                for n in 0..many {
                    let mut copy = self.all[at].clone();
                    let word = (1 + random.below(2)).min(copy.len() - 1);
                    copy[word] = (bound + n) as u32;
                    self.all.insert(at + 1, copy);
                }
                self.head[3] = self.head[3].saturating_add(many as u32);
            }
            // More operands.
            9 => {
                let word = random.number();
                self.all[at].extend(vec![word; many]);
            }
            10 => self.all[at].truncate(1 + random.below(4)),
            // A decoration of an id or of a member.
            11 | 12 => {
                let numbers = [33, 34, 6, 35, 1, 24, 25, 11, 2, 3, 7, 4];
                let kind = numbers[random.below(numbers.len())];
                let mut inst = vec![71, random.below(bound) as u32];
                if random.below(3) == 0 {
                    inst = vec![72, inst[1], random.below(4) as u32];
                }
                inst.extend([kind, random.number()]);
                self.all.insert(at.min(20), inst);
            }
            _ => {
                let from = Self::of(&corpus[random.below(corpus.len())]);
                self.all.insert(at, from.all[random.below(from.all.len())].clone());
            }
        }
        if self.all.is_empty() {
            self.all.push(vec![17, 1]);
        }
    }
}
