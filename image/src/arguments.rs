//! The layout of the uniform buffer from which a kernel reads its arguments. The buffer has the argument block, then a
//! header (the address of the elements, then the extent) of each array whose elements the kernel uses. A kernel that
//! reads this buffer has a uniform variable named [`NAME`] in set 0, binding 0. The same bytes are also at the address
//! of the argument block, which the kernel gets as a push constant.

/// The name of the uniform variable.
pub const NAME: &str = "revamp.arguments";

/// The minimum size of the uniform buffer; no kernel reads beyond it.
pub const BYTES: u64 = 1024;

/// The bytes of a header in the uniform buffer.
pub const HEADER_BYTES: u64 = 48;

/// The offset of a header in the buffer. `number` counts from 0 the arrays of the block whose elements the kernel uses.
/// `block_bytes`: the size of the block, including the table ([`crate::table`]) of a kernel that checks bounds.
pub const fn header(block_bytes: u64, number: u64) -> u64 {
    block_bytes.next_multiple_of(16) + number * HEADER_BYTES
}
