//! Whether memory that a kernel writes is memory of another of its arguments too.

use crate::device::Use;

/// True if no argument that is written shares memory with another one.
pub(super) fn are_apart(uses: &[Use]) -> bool {
    uses.iter().enumerate().all(|(n, one)| {
        uses[n + 1..].iter().all(|other| !(one.access.writes() || other.access.writes()) || apart(one, other))
    })
}

fn apart(one: &Use, other: &Use) -> bool {
    let disjoint = |a: (u64, u64), b: (u64, u64)| a.1 <= b.0 || b.1 <= a.0;
    let bytes = |of: &Use| (of.range.start, of.range.end);
    if one.buffer.id() == other.buffer.id() {
        return disjoint(bytes(one), bytes(other));
    }
    // Two buffers may be over the same memory of the program.
    match (one.buffer.host(), other.buffer.host()) {
        (Some(a), Some(b)) => {
            let (a, b) = (a.as_ptr().addr() as u64, b.as_ptr().addr() as u64);
            disjoint((a + one.range.start, a + one.range.end), (b + other.range.start, b + other.range.end))
        }
        _ => true,
    }
}
