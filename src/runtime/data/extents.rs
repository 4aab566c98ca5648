//! Checks of extents, sections and element sizes that the program gives.

use crate::error::{Error, Result};
use smallvec::SmallVec;

/// The extents as sizes, or an error that names the invalid component. `what` names the object in messages ("array").
pub(in crate::runtime) fn checked_extent(extent: &[i32], what: &str) -> Result<Vec<u64>> {
    if extent.is_empty() {
        return Err(Error::runtime(format!("the rank of the {what} is 0; it must be at least 1")));
    }
    let bad = extent.iter().position(|&e| e <= 0);
    if let Some(d) = bad {
        return Err(Error::runtime(format!(
            "component {d} of the extent {extent:?} of the {what} is {}; it must be at least 1",
            extent[d]
        )));
    }
    Ok(extent.iter().map(|&e| e as u64).collect())
}

/// The bytes of a box of this extent, or an error if they exceed 2^63.
pub(in crate::runtime) fn checked_bytes(extent: &[u64], element: u64) -> Result<u64> {
    let bytes = extent.iter().try_fold(element, |all, &e| all.checked_mul(e)).filter(|&b| b <= i64::MAX as u64);
    bytes.ok_or_else(|| {
        Error::runtime(format!(
            "an extent of {extent:?} with elements of {element} bytes needs more than 2^63 bytes, which is the limit"
        ))
    })
}

/// Fails if the element size is 0.
pub(in crate::runtime) fn check_element(element: usize) -> Result<()> {
    if element == 0 { Err(Error::runtime("the element size is 0 bytes; it must be at least 1")) } else { Ok(()) }
}

/// One value for each dimension.
type Sizes = SmallVec<[u64; 4]>;

/// Origin and extent of a section of an object with the extent `whole`. `name` names the object in messages.
pub(in crate::runtime) fn section_of(
    whole: &[i32],
    origin: Option<&[i32]>,
    extent: Option<&[i32]>,
    name: impl Fn() -> String,
) -> Result<(Sizes, Sizes)> {
    let mut from = Sizes::with_capacity(whole.len());
    let mut size = Sizes::with_capacity(whole.len());
    for (d, &all) in whole.iter().enumerate() {
        let start = origin.map_or(0, |o| o[d]);
        let count = extent.map_or(all.saturating_sub(start), |e| e[d]);
        if start < 0 || count <= 0 || i64::from(start) + i64::from(count) > i64::from(all) {
            let name = name();
            return Err(Error::runtime(format!(
                "the section is not inside the {name}: in dimension {d}, the section begins at {start} and has {count} \
                 elements, but the {name} has {all} elements; a section has at least 1 element per dimension"
            )));
        }
        from.push(start as u64);
        size.push(count as u64);
    }
    Ok((from, size))
}
