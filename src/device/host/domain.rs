//! Compute domains of host kernels, and the checks of their sizes.

use crate::error::{Error, Result};
use smallvec::SmallVec;

/// The maximum number of threads in a compute domain.
pub const MAX_DOMAIN_THREADS: u64 = u32::MAX as u64;
/// The maximum number of threads in a tile.
pub const MAX_TILE_THREADS: i64 = 1024;

/// The domain of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// Threads in each dimension, most significant first.
    pub extent: SmallVec<[i32; 4]>,
    /// A tile's threads in each dimension. `None`: the launch has no tiles and no barriers.
    pub tile: Option<SmallVec<[i32; 3]>>,
    /// Bytes that the threads of a tile share.
    pub tile_memory: usize,
    /// True if tile memory is filled with a pattern first, so that a read before the first write gives an implausible number.
    pub poisoned: bool,
}

impl Domain {
    /// An untiled domain.
    pub fn new(extent: &[i32]) -> Self {
        Self { extent: SmallVec::from_slice(extent), tile: None, tile_memory: 0, poisoned: false }
    }

    /// A tiled domain.
    pub fn tiled(extent: &[i32], tile: &[i32], tile_memory: usize) -> Self {
        Self {
            extent: SmallVec::from_slice(extent),
            tile: Some(SmallVec::from_slice(tile)),
            tile_memory,
            poisoned: false,
        }
    }

    /// The number of threads; fails with `invalid_compute_domain` if the domain cannot be launched.
    pub fn check(&self) -> Result<u64> {
        let extent = self.extent.as_slice();
        if extent.is_empty() {
            return Err(Error::domain("the compute domain has rank 0; it must have at least one dimension"));
        }
        if let Some(at) = extent.iter().position(|&e| e <= 0) {
            return Err(Error::domain(format!(
                "the compute domain {} has {} in dimension {at}; each dimension must be at least 1",
                Shown(extent),
                extent[at]
            )));
        }
        let total = extent.iter().try_fold(1u64, |a, &e| a.checked_mul(e as u64));
        let Some(total) = total.filter(|&t| t <= MAX_DOMAIN_THREADS) else {
            let size = total.map_or("more than 2^64".to_owned(), |t| t.to_string());
            return Err(Error::domain(format!(
                "the compute domain {} has {size} threads; the limit is {MAX_DOMAIN_THREADS}",
                Shown(extent)
            )));
        };
        if let Some(tile) = &self.tile {
            check_tile(extent, tile)?;
        }
        Ok(total)
    }
}

fn check_tile(extent: &[i32], tile: &[i32]) -> Result<()> {
    if !(1..=3).contains(&tile.len()) || tile.len() != extent.len() {
        return Err(Error::domain(format!(
            "a tile of rank {} does not fit the compute domain {} of rank {}; a tile must have the rank of the domain, \
             which must be 1 to 3",
            tile.len(),
            Shown(extent),
            extent.len()
        )));
    }
    let threads = tile.iter().try_fold(1i64, |a, &t| a.checked_mul(i64::from(t)));
    if tile.iter().any(|&t| t <= 0) || threads.is_none_or(|t| t > MAX_TILE_THREADS) {
        let size = threads.map_or("too many".to_owned(), |t| t.to_string());
        return Err(Error::domain(format!(
            "the tile {} has {size} threads; each dimension of a tile must be at least 1, and a tile must have at most \
             {MAX_TILE_THREADS} threads",
            Shown(tile)
        )));
    }
    if let Some(at) = (0..tile.len()).find(|&d| extent[d] % tile[d] != 0) {
        return Err(Error::domain(format!(
            "dimension {at} of the compute domain {} is {}, which is not a multiple of the tile's dimension {}; pad() \
             or truncate() the tiled extent",
            Shown(extent),
            extent[at],
            tile[at]
        )));
    }
    Ok(())
}

/// Numbers as `(a, b, c)`; long lists are cut.
struct Shown<'a>(&'a [i32]);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN_DIMENSIONS: usize = 8;
        let list: Vec<_> = self.0.iter().take(SHOWN_DIMENSIONS).map(i32::to_string).collect();
        write!(f, "({}{})", list.join(", "), if self.0.len() > SHOWN_DIMENSIONS { ", ..." } else { "" })
    }
}
