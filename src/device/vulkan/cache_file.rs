//! The files of a device's caches: the pipeline cache, and the workgroups found for kernels. Drivers have crashed on bad data, so a
//! driver only gets data that it wrote itself, byte for byte.
//!
//! A file has a header, then the data. All numbers are little-endian. The header:
//!
//! | bytes | what |
//! | --- | --- |
//! | 0..8 | magic |
//! | 8..12 | format version |
//! | 12..16 | length of the library version `n` (at most 32) |
//! | 16..48 | library version, padded with zeros |
//! | 48..52 | driver version |
//! | 52..68 | device UUID |
//! | 68..84 | pipeline cache UUID |
//! | 84..92 | length of the data |
//! | 92..100 | checksum over bytes 0..92 and the data |

use super::trusted::{self, Refused};
use crate::log;
use std::path::Path;

/// The kind of data in a cache file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheKind {
    /// Vulkan's pipeline cache.
    Pipelines,
    /// The workgroups found for kernels ([`crate::device::workgroups`]).
    Workgroups,
}

impl CacheKind {
    /// The first bytes of the file.
    fn magic(self) -> [u8; 8] {
        match self {
            Self::Pipelines => *b"REVAMPPC",
            Self::Workgroups => *b"REVAMPWG",
        }
    }
    /// The name of this kind in messages.
    fn what(self) -> &'static str {
        match self {
            Self::Pipelines => "pipeline cache",
            Self::Workgroups => "list of workgroups",
        }
    }
    /// The beginning of the file's name.
    fn name(self) -> &'static str {
        match self {
            Self::Pipelines => "pipelines",
            Self::Workgroups => "workgroups",
        }
    }
}

const FORMAT: u32 = 1;
const HEADER: usize = 100;
/// Length of the header that Vulkan puts before its pipeline cache data, version one.
const VULKAN_HEADER: usize = 32;
/// Larger caches are neither written nor read.
const MAX_BYTES: u64 = 64 << 20;

/// The library, driver and device to which a cache belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The kind of data.
    pub cache_kind: CacheKind,
    /// Version of this library.
    pub library: &'static str,
    /// The driver's version.
    pub driver: u32,
    /// The device's UUID.
    pub device_uuid: [u8; 16],
    /// The driver's `pipelineCacheUUID`.
    pub cache_uuid: [u8; 16],
    /// Vendor of the device.
    pub vendor: u32,
    /// The vendor's id of the device.
    pub device: u32,
}

/// Why a cache file is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reject {
    /// It ends too early.
    #[error("truncated")]
    Truncated,
    /// It is not a cache file, or was damaged.
    #[error("corrupt")]
    Corrupt,
    /// Written by another version of the library or the driver.
    #[error("written by another version")]
    Outdated,
    /// Written for another device.
    #[error("written for another device")]
    OtherDevice,
}

/// FNV-1a with 64 bits.
fn checksum(parts: &[&[u8]]) -> u64 {
    parts
        .iter()
        .flat_map(|p| p.iter())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The bytes of a cache file.
pub fn encode(key: &Key, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER + data.len());
    out.extend_from_slice(&key.cache_kind.magic());
    out.extend_from_slice(&FORMAT.to_le_bytes());
    out.extend_from_slice(&library_field(key.library));
    out.extend_from_slice(&key.driver.to_le_bytes());
    out.extend_from_slice(&key.device_uuid);
    out.extend_from_slice(&key.cache_uuid);
    out.extend_from_slice(&(data.len() as u64).to_le_bytes());
    let sum = checksum(&[&out, data]);
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(data);
    out
}

/// Length and text of the library version; a longer text is cut.
fn library_field(library: &str) -> [u8; 36] {
    let text = library.as_bytes();
    let text = text.get(..32).unwrap_or(text);
    let mut field = [0; 36];
    for (to, from) in field.iter_mut().zip((text.len() as u32).to_le_bytes()) {
        *to = from;
    }
    for (to, from) in field.iter_mut().skip(4).zip(text) {
        *to = *from;
    }
    field
}

/// Takes numbers and arrays off the front of a slice.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Reject> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or(Reject::Truncated)?;
        self.0 = rest;
        Ok(*head)
    }
    fn u32(&mut self) -> Result<u32, Reject> {
        self.array().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Result<u64, Reject> {
        self.array().map(u64::from_le_bytes)
    }
}

/// The data in a cache file's bytes, if they are complete and belong to `key`.
pub fn decode<'a>(key: &Key, bytes: &'a [u8]) -> Result<&'a [u8], Reject> {
    let mut r = Reader(bytes);
    let magic: [u8; 8] = r.array()?;
    if magic != key.cache_kind.magic() {
        return Err(Reject::Corrupt);
    }
    // Files with other format versions may have a different header.
    if r.u32()? != FORMAT {
        return Err(Reject::Outdated);
    }
    let library: [u8; 36] = r.array()?;
    let driver = r.u32()?;
    let device_uuid: [u8; 16] = r.array()?;
    let cache_uuid: [u8; 16] = r.array()?;
    let length = r.u64()?;
    let sum = r.u64()?;
    let data = r.0;
    if (data.len() as u64) < length {
        return Err(Reject::Truncated);
    }
    let covered = bytes.get(..HEADER - 8).ok_or(Reject::Truncated)?;
    // Checked before the rest, so that a damaged field is reported as "corrupt".
    if data.len() as u64 > length || checksum(&[covered, data]) != sum {
        return Err(Reject::Corrupt);
    }
    if device_uuid != key.device_uuid {
        return Err(Reject::OtherDevice);
    }
    if library != library_field(key.library) || driver != key.driver || cache_uuid != key.cache_uuid {
        return Err(Reject::Outdated);
    }
    if key.cache_kind == CacheKind::Pipelines {
        check_vulkan(key, data)?;
    }
    Ok(data)
}

/// Checks Vulkan's own header: length, version, vendor, device, pipeline cache UUID.
fn check_vulkan(key: &Key, data: &[u8]) -> Result<(), Reject> {
    let mut r = Reader(data);
    let length = r.u32()?;
    let version = r.u32()?;
    let (vendor, device) = (r.u32()?, r.u32()?);
    let uuid: [u8; 16] = r.array()?;
    if version != 1 || (length as usize) < VULKAN_HEADER || length as usize > data.len() {
        return Err(Reject::Corrupt);
    }
    if (vendor, device) != (key.vendor, key.device) {
        return Err(Reject::OtherDevice);
    }
    if uuid != key.cache_uuid {
        return Err(Reject::Outdated);
    }
    Ok(())
}

/// The name of the file for a device in the cache folder.
fn name(key: &Key) -> String {
    format!("{}-{}.bin", key.cache_kind.name(), super::physical::uuid_text(&key.device_uuid))
}

/// Reads the data of a cache from disk; `None`, and a line in the log, if there are no usable data.
pub fn load(directory: &Path, key: &Key) -> Option<Vec<u8>> {
    let name = name(key);
    let shown = directory.join(&name);
    let (shown, what) = (shown.display(), key.cache_kind.what());
    let bytes = match trusted::read(directory, &name, MAX_BYTES + HEADER as u64) {
        Ok(bytes) => bytes,
        Err(Refused::System(e)) if e.kind() == std::io::ErrorKind::NotFound => {
            log!(Debug, "no {what} {shown} yet");
            return None;
        }
        // A warning, because the user can fix this.
        Err(Refused::Distrusted(why)) => {
            log!(Warn, "the {what} is not used: {why}");
            return None;
        }
        Err(why) => {
            log!(Info, "{what} {shown} is not used: {why}");
            return None;
        }
    };
    match decode(key, &bytes) {
        Ok(data) => {
            log!(Debug, "{what} {shown}: {} bytes", data.len());
            Some(data.to_vec())
        }
        Err(why) => {
            log!(Info, "{what} {shown} is not used: {why}");
            None
        }
    }
}

/// Writes the cache; false, and a line in the log, if that fails. Readers and other writers see the old file or the new one,
/// never a part.
pub fn store(directory: &Path, key: &Key, data: &[u8]) -> bool {
    let name = name(key);
    let shown = directory.join(&name);
    let (shown, what) = (shown.display(), key.cache_kind.what());
    if data.len() as u64 > MAX_BYTES {
        log!(Info, "{what} {shown} is not written, because it is larger than {} MiB", MAX_BYTES >> 20);
        return false;
    }
    match trusted::write(directory, &name, &encode(key, data)) {
        Ok(()) => {
            log!(Debug, "{what} {shown} written, {} bytes", data.len());
            true
        }
        Err(why) => {
            log!(Info, "{what} {shown} is not written: {why}");
            false
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::DirBuilderExt;
    use std::path::PathBuf;

    fn key() -> Key {
        Key {
            cache_kind: CacheKind::Pipelines,
            library: "0.1.0",
            driver: 7,
            device_uuid: [1; 16],
            cache_uuid: [2; 16],
            vendor: 0x10de,
            device: 0x2335,
        }
    }

    /// Data as a driver might give them: Vulkan's header and `body`.
    fn data(key: &Key, body: &[u8]) -> Vec<u8> {
        let mut d = Vec::new();
        for n in [VULKAN_HEADER as u32, 1, key.vendor, key.device] {
            d.extend_from_slice(&n.to_le_bytes());
        }
        d.extend_from_slice(&key.cache_uuid);
        d.extend_from_slice(body);
        d
    }

    struct Folder(PathBuf);
    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("revamp-cache-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            Self(path)
        }
        fn make(&self) {
            std::fs::DirBuilder::new().mode(0o700).create(&self.0).unwrap();
        }
        fn file(&self) -> PathBuf {
            self.0.join(name(&key()))
        }
    }
    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let k = key();
        let d = data(&k, b"pipelines");
        let file = encode(&k, &d);
        assert_eq!(file.len(), HEADER + d.len());
        assert_eq!(decode(&k, &file), Ok(&d[..]));
        let long = Key { library: "a version text that is longer than thirty-two bytes", ..key() };
        assert_eq!(decode(&long, &encode(&long, &d)), Ok(&d[..]));
    }

    #[test]
    fn every_shorter_file_is_truncated_and_a_longer_one_corrupt() {
        let k = key();
        let file = encode(&k, &data(&k, b"pipelines"));
        for n in 0..file.len() {
            assert_eq!(decode(&k, &file[..n]), Err(Reject::Truncated), "{n}");
        }
        let mut longer = file;
        longer.push(0);
        assert_eq!(decode(&k, &longer), Err(Reject::Corrupt));
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let k = key();
        let file = encode(&k, &data(&k, b"pipelines"));
        for i in 0..file.len() {
            for bit in 0..8 {
                let mut bad = file.clone();
                bad[i] ^= 1 << bit;
                assert!(decode(&k, &bad).is_err(), "byte {i} bit {bit}");
            }
        }
        let mut bad = file;
        bad[HEADER + 40] ^= 1;
        assert_eq!(decode(&k, &bad), Err(Reject::Corrupt));
        assert_eq!(decode(&k, b"#!/bin/sh\nexit 0\n"), Err(Reject::Corrupt));
    }

    #[test]
    fn other_versions_are_outdated() {
        let k = key();
        let file = encode(&k, &data(&k, b"x"));
        assert_eq!(decode(&Key { library: "0.2.0", ..key() }, &file), Err(Reject::Outdated));
        assert_eq!(decode(&Key { driver: 8, ..key() }, &file), Err(Reject::Outdated));
        assert_eq!(decode(&Key { cache_uuid: [3; 16], ..key() }, &file), Err(Reject::Outdated));
        let mut format = file;
        format[8] = 2;
        assert_eq!(decode(&k, &format), Err(Reject::Outdated));
    }

    #[test]
    fn files_of_other_devices_are_rejected() {
        let k = key();
        let file = encode(&k, &data(&k, b"x"));
        assert_eq!(decode(&Key { device_uuid: [9; 16], ..key() }, &file), Err(Reject::OtherDevice));
        assert_eq!(decode(&Key { device: 1, ..key() }, &file), Err(Reject::OtherDevice));
        assert_eq!(decode(&Key { vendor: 1, ..key() }, &file), Err(Reject::OtherDevice));
    }

    #[test]
    fn vulkans_header_is_checked_after_the_checksum() {
        let k = key();
        assert_eq!(decode(&k, &encode(&k, &[])), Err(Reject::Truncated));
        assert_eq!(decode(&k, &encode(&k, &data(&k, b"")[..31])), Err(Reject::Truncated));
        for (at, value) in [(0, 31_u32), (0, 1000), (4, 2)] {
            let mut d = data(&k, b"x");
            d[at..at + 4].copy_from_slice(&value.to_le_bytes());
            assert_eq!(decode(&k, &encode(&k, &d)), Err(Reject::Corrupt));
        }
        let mut d = data(&k, b"x");
        d[16] = 9;
        assert_eq!(decode(&k, &encode(&k, &d)), Err(Reject::Outdated));
    }

    #[test]
    fn files_of_another_kind_are_rejected() {
        let pipelines = key();
        let workgroups = Key { cache_kind: CacheKind::Workgroups, ..key() };
        let file = encode(&workgroups, b"any bytes");
        assert_eq!(decode(&workgroups, &file), Ok(&b"any bytes"[..]));
        assert_eq!(decode(&pipelines, &file), Err(Reject::Corrupt));
        assert_eq!(decode(&workgroups, &encode(&pipelines, &data(&pipelines, b"x"))), Err(Reject::Corrupt));
        assert_ne!(name(&pipelines), name(&workgroups));
    }

    #[test]
    fn store_creates_the_folder_and_load_reads_the_data() {
        let folder = Folder::new("trip");
        let (deep, k) = (folder.0.join("a/b"), key());
        assert_eq!(load(&deep, &k), None);
        let d = data(&k, b"one");
        assert!(store(&deep, &k, &d));
        assert_eq!(load(&deep, &k), Some(d));
        assert_eq!(load(&deep, &Key { driver: 8, ..key() }), None);
        let d = data(&k, b"two");
        assert!(store(&deep, &k, &d));
        assert_eq!(load(&deep, &k), Some(d));
        assert_eq!(std::fs::read_dir(&deep).unwrap().count(), 1, "temporary files are gone");
    }

    #[test]
    fn too_large_caches_are_neither_written_nor_read() {
        let (folder, k) = (Folder::new("big"), key());
        assert!(!store(&folder.0, &k, &vec![0; MAX_BYTES as usize + 1]));
        assert!(store(&folder.0, &k, &data(&k, b"x")));
        // The file is sparse; its contents would not fit into memory.
        let file = std::fs::OpenOptions::new().write(true).open(folder.file()).unwrap();
        for bytes in [MAX_BYTES + HEADER as u64 + 1, 1 << 42] {
            file.set_len(bytes).unwrap();
            let read = trusted::read(&folder.0, &name(&k), MAX_BYTES + HEADER as u64);
            assert!(matches!(read, Err(Refused::TooBig(_))), "{read:?}");
            assert_eq!(load(&folder.0, &k), None);
        }
    }

    #[test]
    fn concurrent_writers_and_readers_see_whole_files() {
        let (folder, k) = (Folder::new("race"), key());
        assert!(store(&folder.0, &k, &data(&k, &[0; 5000])));
        std::thread::scope(|s| {
            for n in 0..4_u8 {
                let (dir, k) = (&folder.0, &k);
                s.spawn(move || {
                    for _ in 0..20 {
                        assert!(store(dir, k, &data(k, &vec![n; 5000 + usize::from(n)])));
                        let body = load(dir, k).expect("always a whole file").split_off(VULKAN_HEADER);
                        assert!(body.iter().all(|b| *b == body[0]) && body.len() == 5000 + usize::from(body[0]));
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_error() {
        let (folder, k) = (Folder::new("blocked"), key());
        folder.make();
        // A file at the path of the folder blocks even root.
        let blocked = folder.0.join("file");
        std::fs::write(&blocked, b"").unwrap();
        assert!(!store(&blocked, &k, &data(&k, b"x")));
        assert_eq!(load(&blocked, &k), None);
        // Here a folder has the path of the cache file: the temporary file must not stay.
        let dir = folder.0.join("dir");
        std::fs::DirBuilder::new().mode(0o700).recursive(true).create(dir.join(name(&k))).unwrap();
        assert!(!store(&dir, &k, &data(&k, b"x")));
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
    }

    #[test]
    fn temporary_files_of_dead_processes_are_skipped() {
        let (folder, k) = (Folder::new("stale"), key());
        folder.make();
        for n in 0..200 {
            let stale = folder.file().with_extension(format!("{}-{n}.tmp", std::process::id()));
            std::fs::write(stale, b"").unwrap();
        }
        assert!(store(&folder.0, &k, &data(&k, b"x")));
    }
}

#[cfg(unix)]
#[cfg(test)]
#[path = "cache_fuzz.rs"]
mod fuzz;
