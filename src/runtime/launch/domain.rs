//! Computes the number of workgroups that cover a compute domain.

use crate::error::{Error, Result};

/// The number of workgroups in x, y and z that cover `extent`. `size`: threads of a workgroup in x, y and z. If `extent` has more
/// than three dimensions, z covers all dimensions but the last two (PFE-3, PFE-4, PFE-9).
pub(in crate::runtime) fn groups(extent: &[i32], size: [u32; 3]) -> Result<[u64; 3]> {
    let mut all: u64 = 1;
    for &e in extent {
        if e <= 0 {
            return Err(Error::domain(format!(
                "the extent {extent:?} has a component of {e}; each must be at least 1"
            )));
        }
        all = all.saturating_mul(e as u64);
    }
    if extent.is_empty() || all > u64::from(u32::MAX) {
        return Err(Error::domain(format!("the extent {extent:?} has {all} threads; the limit is 4294967295")));
    }
    let [x, y, z] = threads(extent);
    let [gx, gy, gz] = size.map(u64::from);
    Ok([x.div_ceil(gx), y.div_ceil(gy), z.div_ceil(gz)])
}

/// The number of threads of an extent in x, y and z.
pub(in crate::runtime) fn threads(extent: &[i32]) -> [u64; 3] {
    let mut from_last = extent.iter().rev().map(|&e| u64::from(e.max(1).unsigned_abs()));
    let x = from_last.next().unwrap_or(1);
    let y = from_last.next().unwrap_or(1);
    [x, y, from_last.fold(1, u64::saturating_mul)]
}
