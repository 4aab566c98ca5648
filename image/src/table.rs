//! The table behind the argument block of a kernel that checks bounds: which memory each captured pointer leads to.
//!
//! It begins at the block's size, rounded up to 16 bytes: a header, then for each 8 bytes of the block an entry. All numbers
//! are little-endian. The library fills it in; a kernel of any version finds it as it was when it was built.

/// Where the table begins, behind a block of this many bytes.
pub const fn begins(block: u64) -> u64 {
    block.next_multiple_of(16)
}

/// Its bytes.
pub const fn bytes(block: u64) -> u64 {
    ENTRIES + block.next_multiple_of(8) * (ENTRY / 8)
}

/// In the header, u64: the address of the report ([`report`]), or 0.
pub const REPORT: u64 = 0;
/// In the header, u32: the number of the kernel in reports.
pub const KERNEL: u64 = 8;
/// In the header, u32: the number of the launch.
pub const LAUNCH: u64 = 12;
/// In the header, u64: the bytes of block, table and all that is appended.
pub const WHOLE: u64 = 16;
/// In the header: zeros, what is read outside.
pub const ZEROS: u64 = 32;
/// How many bytes of zeros.
pub const ZERO_BYTES: u64 = 64;
/// Where the entries begin.
pub const ENTRIES: u64 = ZEROS + ZERO_BYTES;
/// Bytes of an entry.
pub const ENTRY: u64 = 32;

/// In an entry, u64: the address of the memory to which the pointer leads. Its size follows.
pub const POINTED: u64 = 0;
/// In an entry, u64: the address of the elements, if the pointer leads to an array, whose first member is their address.
/// Their size follows.
pub const ELEMENTS: u64 = 16;

/// The entry of the pointer at this offset of the block.
pub const fn entry(offset: u64) -> u64 {
    ENTRIES + offset / 8 * ENTRY
}

/// The report of the first access outside its bounds, which the kernel writes.
pub mod report {
    /// Its bytes.
    pub const BYTES: u64 = 64;
    /// u32: 0 until a thread takes it, then 1, at last [`FILLED`].
    pub const TAKEN: u64 = 0;
    /// All is written.
    pub const FILLED: u32 = 2;
    /// u32: the number of the kernel.
    pub const KERNEL: u64 = 4;
    /// u32: the place in the kernel's list of accesses.
    pub const SITE: u64 = 8;
    /// u32: the rank of the view; 0 if it is not known.
    pub const RANK: u64 = 12;
    /// Three i32.
    pub const INDEX: u64 = 16;
    /// Three i32.
    pub const EXTENT: u64 = 28;
    /// i64: the offset of the access in its memory, in bytes.
    pub const OFFSET: u64 = 40;
    /// u64: the bytes of that memory.
    pub const SIZE: u64 = 48;
    /// u32: the number of the launch.
    pub const LAUNCH: u64 = 56;
}
