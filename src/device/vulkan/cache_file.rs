//! The pipeline cache on disk. Drivers have crashed on bad blobs, so nothing reaches one that is not byte for byte what
//! the same driver wrote.
//!
//! A file is a header of our own and Vulkan's data, all numbers little-endian:
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

use crate::log;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const MAGIC: [u8; 8] = *b"REVAMPPC";
const FORMAT: u32 = 1;
const HEADER: usize = 100;
/// Length of Vulkan's own header, version one.
const VULKAN_HEADER: usize = 32;
/// Bigger caches are neither written nor read.
const MAX_BYTES: u64 = 64 << 20;

/// Whose pipelines a cache holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Version of this library.
    pub library: &'static str,
    /// The driver's version.
    pub driver: u32,
    /// The device.
    pub device_uuid: [u8; 16],
    /// The driver's word for what may share a cache.
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
    /// It is no cache file, or was damaged.
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
    out.extend_from_slice(&MAGIC);
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

/// Vulkan's data in the bytes of a cache file, if they are whole and for `key`.
pub fn decode<'a>(key: &Key, bytes: &'a [u8]) -> Result<&'a [u8], Reject> {
    let mut r = Reader(bytes);
    let magic: [u8; 8] = r.array()?;
    if magic != MAGIC {
        return Err(Reject::Corrupt);
    }
    // The rest of the header may look different in other formats.
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
    // Before the rest: the answer to a damaged field shall be "corrupt".
    if data.len() as u64 > length || checksum(&[covered, data]) != sum {
        return Err(Reject::Corrupt);
    }
    if device_uuid != key.device_uuid {
        return Err(Reject::OtherDevice);
    }
    if library != library_field(key.library) || driver != key.driver || cache_uuid != key.cache_uuid {
        return Err(Reject::Outdated);
    }
    check_vulkan(key, data)?;
    Ok(data)
}

/// Vulkan's own header: length, version, vendor, device, pipeline cache UUID.
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

/// The file for a device below the cache folder.
pub fn path(directory: &Path, key: &Key) -> PathBuf {
    directory.join(format!("pipelines-{}.bin", super::physical::uuid_text(&key.device_uuid)))
}

/// Vulkan's data from disk; `None`, and a line in the log, if there is none to use.
pub fn load(directory: &Path, key: &Key) -> Option<Vec<u8>> {
    let path = path(directory, key);
    let bytes = match read(&path) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            log!(Info, "pipeline cache {} is not used: bigger than {} MiB", path.display(), MAX_BYTES >> 20);
            return None;
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            log!(Debug, "no pipeline cache {} yet", path.display());
            return None;
        }
        Err(e) => {
            log!(Info, "pipeline cache {} cannot be read: {e}", path.display());
            return None;
        }
    };
    match decode(key, &bytes) {
        Ok(data) => {
            log!(Debug, "pipeline cache {}: {} bytes", path.display(), data.len());
            Some(data.to_vec())
        }
        Err(why) => {
            log!(Info, "pipeline cache {} is not used: {why}", path.display());
            None
        }
    }
}

/// The whole file; `None` if it is over the limit.
fn read(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let limit = MAX_BYTES + HEADER as u64;
    std::fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Writes the cache; false, and a line in the log, if that cannot be done. Readers and other writers see the old file
/// or the new one, never a part.
pub fn store(directory: &Path, key: &Key, data: &[u8]) -> bool {
    let path = path(directory, key);
    if data.len() as u64 > MAX_BYTES {
        log!(Info, "pipeline cache {} is not written: bigger than {} MiB", path.display(), MAX_BYTES >> 20);
        return false;
    }
    match write(directory, &path, &encode(key, data)) {
        Ok(()) => {
            log!(Debug, "pipeline cache {} written, {} bytes", path.display(), data.len());
            true
        }
        Err(e) => {
            log!(Info, "pipeline cache {} cannot be written: {e}", path.display());
            false
        }
    }
}

fn write(directory: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    std::fs::create_dir_all(directory)?;
    // In the same folder, since a rename cannot leave its file system; unique across threads and processes.
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_extension(format!("{}-{n}.tmp", std::process::id()));
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&temporary)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}
