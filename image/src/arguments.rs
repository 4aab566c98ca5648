//! The argument block as a uniform buffer. A kernel reads the constants of its launch there: its block, and a header (the address
//! of the elements, then the extent) of each array whose elements it uses. Such a kernel has a uniform variable with the name
//! [`NAME`] in set 0, binding 0. The address of its block leads to the same bytes.

/// The name of the variable.
pub const NAME: &str = "revamp.arguments";

/// The minimum size of the uniform buffer; no kernel reads beyond it.
pub const BYTES: u64 = 1024;

/// The bytes of a header in the uniform buffer.
pub const HEADER_BYTES: u64 = 48;

/// The offset of a header. Among the arrays of the block whose elements the kernel uses, `number` counts from 0.
/// `behind`: the size of the block, including the table ([`crate::table`]) of a kernel that checks bounds.
pub const fn header(behind: u64, number: u64) -> u64 {
    behind.next_multiple_of(16) + number * HEADER_BYTES
}
