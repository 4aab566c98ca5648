//! Compute domains of host kernels.

use crate::error::{Error, Result};
use smallvec::SmallVec;

/// The most threads of a compute domain.
pub const MOST_THREADS: u64 = u32::MAX as u64;
/// The most threads of a tile.
pub const MOST_TILE_THREADS: i64 = 1024;

/// The domain of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// Threads in each dimension, most significant first.
    pub extent: SmallVec<[i32; 4]>,
    /// A tile's threads in each dimension; `None` launches without tiles and barriers.
    pub tile: Option<SmallVec<[i32; 3]>>,
    /// Bytes that the threads of a tile share.
    pub tile_memory: usize,
    /// They begin with bytes that show: what a kernel reads before it wrote is no number that could be right.
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

    /// The number of threads; fails with `invalid_compute_domain` if such a domain cannot be launched.
    pub fn check(&self) -> Result<u64> {
        let extent = self.extent.as_slice();
        if extent.is_empty() {
            return Err(Error::domain("the compute domain has rank 0; it takes at least one dimension"));
        }
        if let Some(at) = extent.iter().position(|&e| e <= 0) {
            return Err(Error::domain(format!(
                "the compute domain {} has {} in dimension {at}; each dimension takes at least 1",
                Shown(extent),
                extent[at]
            )));
        }
        let total = extent.iter().try_fold(1u64, |a, &e| a.checked_mul(e as u64));
        let Some(total) = total.filter(|&t| t <= MOST_THREADS) else {
            let size = total.map_or("more than 2^64".to_owned(), |t| t.to_string());
            return Err(Error::domain(format!(
                "the compute domain {} has {size} threads; the limit is {MOST_THREADS}",
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
            "a tile of rank {} does not fit the compute domain {} of rank {}; tiles have the domain's rank, 1 to 3",
            tile.len(),
            Shown(extent),
            extent.len()
        )));
    }
    let threads = tile.iter().try_fold(1i64, |a, &t| a.checked_mul(i64::from(t)));
    if tile.iter().any(|&t| t <= 0) || threads.is_none_or(|t| t > MOST_TILE_THREADS) {
        let size = threads.map_or("too many".to_owned(), |t| t.to_string());
        return Err(Error::domain(format!(
            "the tile {} has {size} threads; each dimension takes at least 1 and a tile at most {MOST_TILE_THREADS}",
            Shown(tile)
        )));
    }
    if let Some(at) = (0..tile.len()).find(|&d| extent[d] % tile[d] != 0) {
        return Err(Error::domain(format!(
            "dimension {at} of the compute domain {} is {}, which the tile's {} does not divide; pad() or truncate() \
             the extent to a multiple",
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
