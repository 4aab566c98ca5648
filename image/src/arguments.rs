//! The argument block as a uniform buffer, where a kernel reads what its launch cannot change: its block, and the faces of the
//! arrays of which it uses elements (the address of the elements, then the extent). A kernel that does so has a uniform variable
//! of the name [`NAME`], in set 0, binding 0; the same bytes are at the address of its block.

/// What the variable is called.
pub const NAME: &str = "revamp.arguments";

/// The bytes that the uniform buffer has at least: no kernel reads more there.
pub const BYTES: u64 = 1024;

/// The bytes of a face, as far as it is there.
pub const FACE: u64 = 48;

/// Where a face is: that of the array whose reference is the `number`-th in the block, of those whose elements the kernel uses.
/// `behind`: the bytes of the block, with the table ([`crate::table`]) that a kernel has which checks bounds.
pub const fn face(behind: u64, number: u64) -> u64 {
    behind.next_multiple_of(16) + number * FACE
}
