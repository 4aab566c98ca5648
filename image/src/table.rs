//! The table after the argument block of a kernel that checks bounds. It says to which memory each captured pointer points.
//!
//! The table starts at the end of the block, rounded up to a multiple of 16 bytes. It has a header and one entry for each 8 bytes
//! of the block. All numbers are little-endian. The library fills the table in. The layout is stable, because kernels of older
//! versions read it.

/// The offset of the table from the start of an argument block of `block` bytes.
pub const fn offset_after_block(block: u64) -> u64 {
    block.next_multiple_of(16)
}

/// The size in bytes of the table after an argument block of `block` bytes.
pub const fn bytes(block: u64) -> u64 {
    ENTRIES + block.next_multiple_of(8) * (ENTRY_BYTES / 8)
}

/// In the header, u64: the address of the report ([`report`]), or 0.
pub const REPORT: u64 = 0;
/// In the header, u32: the number of the kernel in reports.
pub const KERNEL: u64 = 8;
/// In the header, u32: the number of the launch.
pub const LAUNCH: u64 = 12;
/// In the header, u64: the size in bytes of the argument block, the table and everything appended to them.
pub const TOTAL_BYTES: u64 = 16;
/// In the header: zeros, which out-of-bounds reads load.
pub const ZEROS: u64 = 32;
/// The number of bytes at [`ZEROS`].
pub const ZERO_BYTES: u64 = 64;
/// The offset of the first entry.
pub const ENTRIES: u64 = ZEROS + ZERO_BYTES;
/// The size of an entry in bytes.
pub const ENTRY_BYTES: u64 = 32;

/// In an entry, u64: the address of the memory to which the pointer points. The size of this memory in bytes follows.
pub const POINTEE: u64 = 0;
/// In an entry, u64: if the pointer points to an array's header, the address of the array's elements, which is the header's
/// first member. The size of the elements in bytes follows.
pub const ELEMENTS: u64 = 16;

/// The offset, in the table, of the entry for the pointer at `offset` in the argument block.
pub const fn entry(offset: u64) -> u64 {
    ENTRIES + offset / 8 * ENTRY_BYTES
}

/// The report of the first access outside its bounds, which the kernel writes.
pub mod report {
    /// The size of the report in bytes.
    pub const BYTES: u64 = 64;
    /// u32, the state: 0, 1 when a thread has claimed the report, [`FILLED`] when it is complete.
    pub const STATE: u64 = 0;
    /// The state of a complete report.
    pub const FILLED: u32 = 2;
    /// u32: the number of the kernel.
    pub const KERNEL: u64 = 4;
    /// u32: the access, as an index into the kernel's list of accesses.
    pub const SITE: u64 = 8;
    /// u32: the rank of the view; 0 if it is not known.
    pub const RANK: u64 = 12;
    /// Three i32: the index of the accessed element.
    pub const INDEX: u64 = 16;
    /// Three i32: the extent of the view.
    pub const EXTENT: u64 = 28;
    /// i64: the offset of the access in the accessed memory, in bytes.
    pub const OFFSET: u64 = 40;
    /// u64: the size of the accessed memory in bytes.
    pub const SIZE: u64 = 48;
    /// u32: the number of the launch.
    pub const LAUNCH: u64 = 56;
}
