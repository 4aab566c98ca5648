//! Fuzz test: registers and looks up images of compiled kernels, intact or damaged. Nothing may panic, hang or read out of bounds.
//!
//! If the environment variable MINUTES is set (`scripts/fuzz`), the test runs for that many minutes, else for a fixed number of rounds.
#![allow(unsafe_code, clippy::unwrap_used, clippy::panic)]

use revamp::capi::image::{revamp_image_add, revamp_image_register, revamp_image_unregister};
use revamp::kernel::compiled::{self, Compiled};
use revamp::kernel::image::ANY_OFFSET;
use revamp::kernel::{KernelForm, Module};
use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// The structure that Clang's registration code passes.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    image: *const u8,
    unused: *const c_void,
}

const MAGIC: u32 = 0x4849_5046;
const SPIRV: &[u8] = include_bytes!("../../src/device/vulkan/shaders/copy4.spv");

/// The random number generator SplitMix64.
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
        (self.next() % n.max(1) as u64) as usize
    }
    fn number(&mut self) -> u64 {
        match self.below(6) {
            0 => self.next(),
            1 => u64::MAX - self.below(9) as u64,
            2 => u64::from(u32::MAX) - self.below(9) as u64,
            3 => (1_u64 << self.below(64)).wrapping_sub(self.below(2) as u64),
            _ => self.below(100) as u64,
        }
    }
}

/// An image in the format of `revamp_image::encode`. The test encodes images itself to know the offset and width of each number.
struct Image {
    bytes: Vec<u8>,
    numbers: Vec<(usize, usize)>,
}

impl Image {
    fn new(names: &[String], random: &mut Random) -> Self {
        let mut image = Self { bytes: b"RVMPKERN".to_vec(), numbers: Vec::new() };
        image.u32(1);
        image.u32(names.len() as u32);
        image.u64(0);
        for name in names {
            image.text(name.as_bytes());
            image.text(b"a.cpp:3");
            let captures = random.below(4) as u32;
            image.u64(u64::from(captures) * 8 + 8);
            image.u64(8);
            image.u32(captures);
            for at in 0..captures {
                image.u32(if random.below(4) == 0 { ANY_OFFSET } else { at * 8 });
                image.u32(random.below(8) as u32);
            }
            image.text(SPIRV);
        }
        image
    }
    fn u32(&mut self, value: u32) {
        self.numbers.push((self.bytes.len(), 4));
        self.bytes.extend(value.to_le_bytes());
    }
    fn u64(&mut self, value: u64) {
        self.numbers.push((self.bytes.len(), 8));
        self.bytes.extend(value.to_le_bytes());
    }
    fn text(&mut self, text: &[u8]) {
        self.u32(text.len() as u32);
        self.bytes.extend(text);
    }

    /// Changes the image at random. `fix_header_size` must then restore what the compiler guarantees: the size in the header is at
    /// most the size of the memory.
    fn damage(&mut self, random: &mut Random) {
        let (at, width) = self.numbers[random.below(self.numbers.len())];
        let len = self.bytes.len();
        match random.below(6) {
            0 => self.bytes[random.below(len)] ^= 1 << random.below(8),
            1..=3 if at + width <= len => {
                let value = random.number().to_le_bytes();
                self.bytes[at..at + width].copy_from_slice(&value[..width]);
            }
            4 => self.bytes.truncate(random.below(len).max(24)),
            _ => {
                let from = random.below(len);
                let copy = self.bytes[from..(from + random.below(200)).min(len)].to_vec();
                let to = random.below(len);
                self.bytes.splice(to..to, copy);
            }
        }
    }

    fn fix_header_size(&mut self, random: &mut Random) {
        let len = self.bytes.len() as u64;
        let header_size = if random.below(10) == 0 { random.below(len as usize + 1) as u64 } else { len };
        self.bytes[16..24].copy_from_slice(&header_size.to_le_bytes());
    }
}

/// Registers the image, looks up its kernels, and unregisters it. Returns the number of kernels found.
fn exercise(image: &Image, names: &[String]) -> u64 {
    let wrapper = Wrapper { magic: MAGIC, version: 1, image: image.bytes.as_ptr(), unused: null() };
    // SAFETY: the wrapper and the image live until they are unregistered. The size in the header is at most the size of the image.
    let id = unsafe { revamp_image_register((&raw const wrapper).cast()) };
    let stub = |at: usize| 0x1000 + at * 16;
    for (at, name) in names.iter().enumerate() {
        let name = CString::new(name.as_str()).unwrap();
        let stub = std::ptr::without_provenance(stub(at));
        // SAFETY: the name ends with a zero; the other pointers are not dereferenced.
        unsafe {
            let (n, i) = (null_mut(), null_mut());
            assert_eq!(revamp_image_add(id, stub, name.as_ptr(), null(), 0, n, n, n, n, i), 0);
        }
    }
    let mut taken = 0;
    for at in 0..names.len() {
        if let Ok(Some(kernel)) = compiled::find(stub(at)) {
            check_kernel(&kernel, image.bytes.len());
            taken += 1;
        }
    }
    // Reads the same bytes as part of a program's file.
    let file = [b"RVMPKERN, ", &image.bytes[..], b"RVMPKERN"].concat();
    let mut listed = 0;
    let _ = compiled::each_in_program(&file, |kernel| {
        check_kernel(&kernel, image.bytes.len());
        listed += 1;
        Ok(())
    });
    assert!(listed >= taken, "every kernel that a launch finds is also listed");
    // SAFETY: `id` is from `revamp_image_register`.
    unsafe { revamp_image_unregister(id) };
    assert!(compiled::find(stub(0)).unwrap().is_none(), "a kernel is found after its image was unregistered");
    taken
}

fn check_kernel(kernel: &Compiled, size: usize) {
    let spirv = kernel.spirv(KernelForm::default()).unwrap();
    assert!(spirv.len() + kernel.name.len() + kernel.location.len() + 8 * kernel.captures.len() <= size);
    for c in &kernel.captures {
        assert!(c.offset == ANY_OFFSET || u64::from(c.offset) + 8 <= kernel.block_size);
    }
    let _ = Module::new(&spirv, None);
    let rolled = kernel.spirv(KernelForm { rolled_loops: true, ..KernelForm::default() });
    let _ = rolled.and_then(|spirv| Module::new(&spirv, None));
}

#[test]
fn damaged_images_cause_no_panic() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let (seed, minutes) = (number("SEED").unwrap_or(2026), number("MINUTES"));
    let end = minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let folder = std::env::var_os("FUZZ_OUT").map_or_else(std::env::temp_dir, PathBuf::from);
    let mut random = Random(seed);
    let (mut tried, mut kernels, mut taken) = (0_u64, 0_u64, 0_u64);
    while end.map_or(tried < 20_000, |end| Instant::now() < end) {
        tried += 1;
        let names: Vec<String> = (0..1 + random.below(3)).map(|n| format!("k{n}")).collect();
        let mut image = Image::new(&names, &mut random);
        let changes = random.below(4);
        (0..changes).for_each(|_| image.damage(&mut random));
        if changes == 0 {
            let len = image.bytes.len() as u64;
            image.bytes[16..24].copy_from_slice(&len.to_le_bytes());
        } else {
            image.fix_header_size(&mut random);
        }
        if end.is_some() {
            std::fs::write(folder.join("current"), &image.bytes).unwrap();
        }
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| exercise(&image, &names)));
        let found = match outcome {
            Ok(found) if start.elapsed() < Duration::from_secs(10) => found,
            _ => {
                let file = folder.join(format!("find-{seed}-{tried}"));
                std::fs::write(&file, &image.bytes).unwrap();
                panic!("round {tried} (seed {seed}): {}", file.display());
            }
        };
        assert!(changes > 0 || found == names.len() as u64, "a whole image was refused");
        (kernels, taken) = (kernels + names.len() as u64, taken + found);
    }
    println!("images: {tried} tried with {kernels} kernels, {taken} taken, 0 found, seed {seed}");
    assert!(taken * 8 > kernels && taken < kernels);
}
