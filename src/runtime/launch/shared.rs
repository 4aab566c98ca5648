//! Detects whether arguments of a launch share memory that the kernel writes.

use crate::device::Use;

/// True if no written argument shares memory with another argument.
pub(super) fn are_disjoint(uses: &[Use]) -> bool {
    uses.iter().enumerate().all(|(n, one)| {
        uses[n + 1..].iter().all(|other| !(one.access.writes() || other.access.writes()) || is_disjoint(one, other))
    })
}

fn is_disjoint(one: &Use, other: &Use) -> bool {
    let disjoint = |a: (u64, u64), b: (u64, u64)| a.1 <= b.0 || b.1 <= a.0;
    let bytes = |of: &Use| (of.range.start, of.range.end);
    if one.buffer.id() == other.buffer.id() {
        return disjoint(bytes(one), bytes(other));
    }
    // Two buffers may import the same memory of the program.
    match (one.buffer.host(), other.buffer.host()) {
        (Some(a), Some(b)) => {
            let (a, b) = (a.as_ptr().addr() as u64, b.as_ptr().addr() as u64);
            disjoint((a + one.range.start, a + one.range.end), (b + other.range.start, b + other.range.end))
        }
        _ => true,
    }
}
