//! Fuzz test of the cache files: `decode` and `load` reject damaged, forged and truncated files and files of other devices, and
//! neither panic nor hang. scripts/fuzz sets `MINUTES`, `SEED` and `FUZZ_OUT`. Without these variables, the run is short and
//! deterministic.

use super::*;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const SHORT_RUN: u64 = 30_000;
/// One in this many inputs is written to disk and read by `load`. The others are passed to `decode` directly.
const ON_DISK: u64 = 32;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let n = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ (n >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// A key with few possible values in each field, so that two keys often differ in only one field.
fn random_key(r: &mut Random) -> Key {
    let uuid = |r: &mut Random| [r.below(2) as u8; 16];
    Key {
        cache_kind: [CacheKind::Pipelines, CacheKind::Workgroups][r.below(2)],
        library: ["0.1.0", "0.1.1", "", "a version text that is longer than thirty-two bytes"][r.below(4)],
        driver: r.below(2) as u32,
        device_uuid: uuid(r),
        cache_uuid: uuid(r),
        vendor: r.below(2) as u32,
        device: r.below(2) as u32,
    }
}

/// Cache data as the driver of `key` might have written it.
fn random_data(r: &mut Random, key: &Key) -> Vec<u8> {
    let mut data = Vec::new();
    for n in [VULKAN_HEADER as u32, 1, key.vendor, key.device] {
        data.extend_from_slice(&n.to_le_bytes());
    }
    data.extend_from_slice(&key.cache_uuid);
    let body = r.below(200);
    data.extend(r.bytes(body));
    data
}

/// Corrects the length and the checksum. Otherwise `decode` would reject the file before it checks the other fields.
fn repair(file: &mut [u8]) {
    let Some(length) = file.len().checked_sub(HEADER) else { return };
    file[84..92].copy_from_slice(&(length as u64).to_le_bytes());
    let sum = checksum(&[&file[..HEADER - 8], &file[HEADER..]]);
    file[92..HEADER].copy_from_slice(&sum.to_le_bytes());
}

fn mutate(r: &mut Random, file: &mut Vec<u8>) {
    const NUMBERS: [u64; 9] = [0, 1, 31, 32, 100, u32::MAX as u64, 1 << 32, i64::MAX as u64, u64::MAX];
    // The offsets of the fields in the file's header and in Vulkan's pipeline cache header.
    const FIELDS: [usize; 15] = [0, 8, 12, 16, 48, 52, 68, 84, 92, 100, 104, 108, 112, 116, 131];
    let at = r.below(file.len());
    let to = (at + r.below(40)).min(file.len());
    match r.below(8) {
        0 => file.truncate(at),
        1 => {
            let more = r.below(60);
            file.extend(r.bytes(more));
        }
        2 => {
            let part = file[at..to].to_vec();
            let place = r.below(file.len());
            file.splice(place..place, part);
        }
        3 => drop(file.drain(at..to)),
        4 => file[at..to].fill(if r.below(2) == 0 { 0 } else { 0xFF }),
        5 => {
            let (field, number) = (FIELDS[r.below(FIELDS.len())], NUMBERS[r.below(NUMBERS.len())]);
            let width = 4 << r.below(2);
            if let Some(place) = file.get_mut(field..field + width) {
                place.copy_from_slice(&number.to_le_bytes()[..width]);
            }
        }
        _ => {
            if let Some(byte) = file.get_mut(at) {
                *byte ^= 1 << r.below(8);
            }
        }
    }
}

/// Computes the expected result of `decode` independently. Returns the data if encoding the data again gives the same file. The
/// data of a pipeline cache must also begin with Vulkan's header for the device of `key`.
fn expected<'a>(key: &Key, file: &'a [u8]) -> Option<&'a [u8]> {
    let data = file.get(HEADER..)?;
    if key.cache_kind == CacheKind::Workgroups {
        return (encode(key, data) == file).then_some(data);
    }
    let number = |at: usize| u32::from_le_bytes(data[at..at + 4].try_into().unwrap());
    let is_good = encode(key, data) == file
        && data.len() >= 32
        && (32..=data.len()).contains(&(number(0) as usize))
        && [number(4), number(8), number(12)] == [1, key.vendor, key.device]
        && data[16..32] == key.cache_uuid;
    is_good.then_some(data)
}

/// Creates `path`, which `load` reads: a regular file with random permissions, a FIFO, a symbolic link or a folder. Returns true if
/// `load` may trust the file.
fn put(r: &mut Random, folder: &Path, path: &Path, file: &[u8]) -> bool {
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_dir(path);
    let write = |path: &Path| {
        use std::io::Write;
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).open(path).unwrap().write_all(file).unwrap();
    };
    match r.below(8) {
        0 => {
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
            false
        }
        1 => {
            let target = folder.join("target");
            write(&target);
            symlink(&target, path).unwrap();
            false
        }
        2 => {
            std::fs::create_dir(path).unwrap();
            false
        }
        3 => {
            write(path);
            let mode = r.below(0o1000) as u32 | 0o400;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            mode & 0o022 == 0
        }
        _ => {
            write(path);
            true
        }
    }
}

/// A temporary folder, removed at the end of the test.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn mutated_files_are_rejected() {
    let setting = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let seed = setting("SEED").unwrap_or(1);
    let until = setting("MINUTES").map(|m| Instant::now() + Duration::from_secs(60 * m));
    let out = std::env::var_os("FUZZ_OUT").map_or_else(std::env::temp_dir, PathBuf::from);
    let scratch = Scratch(out.join(format!("cache-files-{}", std::process::id())));
    std::fs::DirBuilder::new().mode(0o700).create(&scratch.0).unwrap();
    // Otherwise each of thousands of rejected files would be logged.
    crate::trace::log::set_level(crate::trace::log::Level::Off);
    let mut r = Random(seed);
    let (mut tried, mut taken, mut on_disk) = (0_u64, 0_u64, 0_u64);
    while until.map_or(tried < SHORT_RUN, |until| Instant::now() < until) {
        tried += 1;
        let key = random_key(&mut r);
        // Half of the files are written for the device of `key`.
        let writer = if r.below(2) == 0 { key.clone() } else { random_key(&mut r) };
        let mut file = encode(&writer, &random_data(&mut r, &writer));
        for _ in 0..r.below(5) {
            mutate(&mut r, &mut file);
        }
        if r.below(2) == 0 {
            repair(&mut file);
        }
        let mut good = expected(&key, &file).map(<[u8]>::to_vec);
        let is_on_disk = tried % ON_DISK == 0;
        let got = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            if !is_on_disk {
                return decode(&key, &file).ok().map(<[u8]>::to_vec);
            }
            on_disk += 1;
            if !put(&mut r, &scratch.0, &scratch.0.join(name(&key)), &file) {
                good = None;
            }
            load(&scratch.0, &key)
        }));
        taken += u64::from(good.is_some());
        if !matches!(&got, Ok(got) if *got == good) {
            let path = out.join(format!("cache-file-{seed}-{tried}.bin"));
            std::fs::write(&path, &file).unwrap();
            panic!("{key:?}, on disk {is_on_disk}: {} is decoded wrongly: {got:?}", path.display());
        }
    }
    println!("cache files: {tried} tried, {on_disk} of them on disk, {taken} good, 0 found, seed {seed}");
    assert!(taken > 0 && taken < tried);
}
