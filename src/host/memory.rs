//! Host memory: spans whose validity a caller promises, and blocks that the library owns.
//!
//! The promise for a [`HostSpan`] is made where memory enters the library (the C API, a mapped device block, a
//! [`HostBlock`]). Code that reads or writes through a span checks that the access lies inside.
#![allow(unsafe_code)]

use super::system::total_memory;
use crate::error::{Error, Result};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Alignment of every [`HostBlock`].
pub const BLOCK_ALIGN: usize = 4096;
/// Blocks of at least this size are mapped, so that pages take memory only once they are touched.
const MAPPED_BYTES: usize = 64 << 10;
/// Blocks of at least this size use huge pages if the system has some. For smaller blocks, the first touch of huge pages takes longer
/// than the copy that touches them.
#[cfg(target_os = "linux")]
const HUGE_BYTES: usize = 16 << 20;

/// A range of memory that the host can access: its address and size.
#[derive(Debug, Clone, Copy)]
pub struct HostSpan {
    start: *mut u8,
    len: u64,
}

// SAFETY: the span is an address and a length. The caller of `HostSpan::new` promised that any thread may use the memory for as
// long as the span is used.
unsafe impl Send for HostSpan {}
// SAFETY: as for `Send`; `HostSpan` is `Copy` and has no interior mutability of its own.
unsafe impl Sync for HostSpan {}

impl HostSpan {
    /// The `len` bytes at `ptr`.
    ///
    /// # Safety
    /// For as long as the span or a copy of it is used, all `len` bytes must be valid for reads from any thread, and also for
    /// writes if the span is a destination. `len` is at most `isize::MAX`. Bytes that are being written must not be accessed at the
    /// same time, and bytes that are being read must not be written.
    pub unsafe fn new(ptr: *mut u8, len: u64) -> Self {
        Self { start: ptr, len }
    }

    /// A span without bytes.
    pub fn empty() -> Self {
        Self { start: std::ptr::null_mut(), len: 0 }
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start
    }

    /// The address of the first byte.
    pub fn address(&self) -> u64 {
        self.start.addr() as u64
    }

    /// The bytes `range` of this span.
    pub fn sub(&self, range: Range<u64>) -> Result<Self> {
        if range.start > range.end || range.end > self.len {
            return Err(Error::invalid(format!(
                "bytes {} to {} were requested from a block of {} bytes",
                range.start, range.end, self.len
            )));
        }
        Ok(Self { start: self.start.wrapping_add(range.start as usize), len: range.end - range.start })
    }

    /// Writes `value` to every byte.
    pub fn fill(&self, value: u8) {
        if self.len > 0 {
            // SAFETY: `HostSpan::new`'s caller promised `len` writable bytes.
            unsafe { self.start.write_bytes(value, self.len as usize) }
        }
    }

    /// Copies `bytes` to the span's start; fails if they do not fit.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let to = self.sub(0..bytes.len() as u64)?;
        // SAFETY: `sub` checked the length; `HostSpan::new`'s caller promised that the bytes are writable.
        unsafe { std::ptr::copy(bytes.as_ptr(), to.start, bytes.len()) }
        Ok(())
    }

    /// The first four bytes, which another thread or the device may be writing; `None` if the span is shorter or not aligned.
    #[inline]
    pub fn first_word(&self) -> Option<u32> {
        let word = self.start.cast::<u32>();
        // SAFETY: `HostSpan::new`'s caller promised `len` readable bytes; the access is atomic.
        (self.len >= 4 && word.is_aligned()).then(|| unsafe { AtomicU32::from_ptr(word) }.load(Ordering::Acquire))
    }

    /// Writes the first four bytes, which another thread or the device may be reading or writing. Whoever then reads the word sees
    /// all earlier writes. Fails if the span is shorter or not aligned.
    pub fn set_first_word(&self, value: u32) -> Result<()> {
        let word = self.start.cast::<u32>();
        if self.len < 4 || !word.is_aligned() {
            return Err(Error::internal("a word was written to memory that is too short or not aligned"));
        }
        // SAFETY: `HostSpan::new`'s caller promised `len` writable bytes; the access is atomic.
        unsafe { AtomicU32::from_ptr(word) }.store(value, Ordering::Release);
        Ok(())
    }

    /// A copy of the bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = vec![0; self.len as usize];
        if self.len > 0 {
            // SAFETY: `HostSpan::new`'s caller promised `len` readable bytes; `out` is new and has that length.
            unsafe { std::ptr::copy_nonoverlapping(self.start, out.as_mut_ptr(), out.len()) }
        }
        out
    }
}
/// Zeroed memory that the library owns, aligned to [`BLOCK_ALIGN`]. In large blocks, untouched pages take no memory.
#[derive(Debug)]
pub struct HostBlock {
    start: *mut u8,
    /// Bytes requested.
    len: u64,
    /// Bytes allocated.
    allocated: usize,
    mapped: bool,
}

// SAFETY: the block owns its memory and exposes it only as `HostSpan`s, under their contract.
unsafe impl Send for HostBlock {}
// SAFETY: as for `Send`.
unsafe impl Sync for HostBlock {}

impl HostBlock {
    /// A block of `bytes` zero bytes. Fails if the machine has less memory. Otherwise the system might allocate the
    /// block, and kill the process when the process writes to it.
    pub fn new(bytes: u64) -> Result<Self> {
        let refused = |why: &str| {
            Error::out_of_memory(format!(
                "{bytes} bytes ({} MiB) of host memory could not be allocated{why}",
                bytes >> 20
            ))
        };
        let allocated = usize::try_from(bytes.max(1))
            .ok()
            .and_then(|n| n.checked_next_multiple_of(BLOCK_ALIGN))
            .filter(|&n| isize::try_from(n).is_ok())
            .ok_or_else(|| refused(": the address space is too small"))?;
        let all = total_memory();
        if all > 0 && bytes > all {
            return Err(refused(&format!(": the machine has {all} bytes of memory")));
        }
        let mapped = allocated >= MAPPED_BYTES;
        let start = if mapped { map(allocated) } else { allocate(allocated) };
        if start.is_null() {
            return Err(refused(""));
        }
        Ok(Self { start, len: bytes, allocated, mapped })
    }

    /// The memory. It is valid only while the block lives, so the caller must keep the block as long as any operation uses the span.
    pub fn span(&self) -> HostSpan {
        // SAFETY: the block owns at least `len` bytes until it is dropped, and its users keep it alive (every job holds
        // the `HostBuffer`s that it uses).
        unsafe { HostSpan::new(self.start, self.len) }
    }

    /// Bytes requested.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if no bytes were requested.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for HostBlock {
    fn drop(&mut self) {
        if self.mapped {
            unmap(self.start, self.allocated);
        } else if let Ok(layout) = std::alloc::Layout::from_size_align(self.allocated, BLOCK_ALIGN) {
            // SAFETY: `allocate` allocated the memory with the same layout, and only this block owns it.
            unsafe { std::alloc::dealloc(self.start, layout) }
        }
    }
}

fn allocate(bytes: usize) -> *mut u8 {
    match std::alloc::Layout::from_size_align(bytes, BLOCK_ALIGN) {
        // SAFETY: `HostBlock::new` never requests 0 bytes.
        Ok(layout) => unsafe { std::alloc::alloc_zeroed(layout) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Maps new pages. `alloc_zeroed` would touch every page, because it writes the zeros itself for this alignment.
#[cfg(unix)]
fn map(bytes: usize) -> *mut u8 {
    // SAFETY: a private anonymous mapping at an address that the system chooses does not affect other memory.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANON,
            -1,
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return std::ptr::null_mut();
    }
    #[cfg(target_os = "linux")]
    if bytes >= HUGE_BYTES {
        // SAFETY: this is only advice about the mapping made above. If it fails, nothing changes.
        unsafe { libc::madvise(start, bytes, libc::MADV_HUGEPAGE) };
    }
    start.cast()
}

#[cfg(windows)]
use super::system::map;

#[cfg(unix)]
fn unmap(start: *mut u8, bytes: usize) {
    // SAFETY: `map` made this mapping and the dropped block alone owned it.
    unsafe { libc::munmap(start.cast(), bytes) };
}

#[cfg(windows)]
fn unmap(start: *mut u8, _bytes: usize) {
    // SAFETY: `map` made these pages and the dropped block alone owned them.
    unsafe { super::system::unmap(start) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_zero_aligned_and_lazy() {
        for bytes in [0, 1, 100, 4096, 70_000, 10 << 20] {
            let block = HostBlock::new(bytes).unwrap();
            assert_eq!((block.len(), block.span().address() % 4096), (bytes, 0));
            assert!(block.span().to_vec().iter().all(|&b| b == 0));
            block.span().fill(7);
        }
        if cfg!(target_pointer_width = "64") {
            // A block of more than 4 GiB, of which only a few pages are touched.
            let block = HostBlock::new(5 << 30).unwrap();
            let end = block.span().sub((5 << 30) - 8..5 << 30).unwrap();
            end.fill(9);
            assert_eq!(end.to_vec(), [9; 8]);
        }
    }

    #[test]
    fn too_large_blocks_are_out_of_memory() {
        for bytes in [1 << 46, 1 << 62, u64::MAX] {
            let e = HostBlock::new(bytes).unwrap_err();
            assert_eq!(e.kind, crate::error::ErrorKind::OutOfMemory);
            assert!(e.message.contains(&bytes.to_string()), "{e}");
        }
    }
}
