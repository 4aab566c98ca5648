//! Requests of the C API to launch a kernel. If a request equals a recent request of this thread, the cached launch of that request is repeated.

use super::handle::is_alive;
use super::kernel::address_slot;
use super::types::*;
use crate::device::hazard::Point;
use crate::error::Result;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::array_view::ArrayView;
use crate::runtime::data::texture::Texture;
use crate::runtime::launch::cache::LaunchCache;
use crate::runtime::launch::cached_launch::CachedLaunch;
use smallvec::SmallVec;
use std::cell::RefCell;

/// The parameters of a launch.
pub(super) struct Request<'a> {
    pub view: revamp_accelerator_view,
    pub compiled: usize,
    pub extent: &'a [i32],
    pub tile: Option<&'a [i32]>,
    pub tile_memory: usize,
    pub block: &'a [u8],
    pub block_alignment: usize,
    pub arguments: &'a [revamp_argument],
}

/// The parameters of a request whose launch is cached, without the bytes of the argument block and the bytes appended to it.
struct CachedRequest {
    view: revamp_accelerator_view,
    compiled: usize,
    extent: SmallVec<[i32; 4]>,
    tile: Option<SmallVec<[i32; 4]>>,
    tile_memory: usize,
    block_size: usize,
    block_alignment: usize,
    arguments: SmallVec<[revamp_argument; 4]>,
}

thread_local! {
    /// Cached launches hold only weak references, so that dropping them at the end of a thread takes no lock. On Windows the loader holds its own
    /// lock at that time.
    static REMEMBERED: RefCell<LaunchCache<CachedRequest>> = const { RefCell::new(LaunchCache::new()) };
}

impl Request<'_> {
    /// A hash of the parameters that usually differ between requests.
    fn hash(&self) -> u64 {
        let mix = |n: u64, value: usize| (n ^ value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let named = mix(mix(1, self.compiled), self.view as usize);
        let sized = self.extent.iter().map(|&e| e as usize).fold(named, mix);
        self.arguments.iter().map(|a| a.view as usize ^ a.array as usize ^ a.texture as usize).fold(sized, mix)
    }

    /// True if the request can be remembered: all arguments are whole arrays, textures or views, and
    /// at least one handle shows when the request becomes invalid.
    fn is_plain(&self) -> bool {
        let whole = |a: &revamp_argument| {
            matches!(a.kind, REVAMP_ARGUMENT_ADDRESS | REVAMP_ARGUMENT_INDIRECT)
                && a.origin.is_null()
                && a.extent.is_null()
        };
        self.arguments.iter().all(whole) && (!self.view.is_null() || !self.arguments.is_empty())
    }
}

impl CachedRequest {
    fn new(r: &Request<'_>) -> Self {
        Self {
            view: r.view,
            compiled: r.compiled,
            extent: r.extent.into(),
            tile: r.tile.map(Into::into),
            tile_memory: r.tile_memory,
            block_size: r.block.len(),
            block_alignment: r.block_alignment,
            arguments: r.arguments.into(),
        }
    }

    /// True if `r` has the same parameters.
    #[inline(always)]
    fn equals(&self, r: &Request<'_>) -> bool {
        let same = |(a, b): (&revamp_argument, &revamp_argument)| {
            (a.kind, a.offset, a.access, a.array, a.view, a.size)
                == (b.kind, b.offset, b.access, b.array, b.view, b.size)
                && a.texture == b.texture
                && (a.texture.is_null() || (a.level, a.level_count) == (b.level, b.level_count))
                && b.origin.is_null()
                && b.extent.is_null()
        };
        (self.compiled, self.view, self.block_size) == (r.compiled, r.view, r.block.len())
            && (self.tile_memory, self.block_alignment) == (r.tile_memory, r.block_alignment)
            && self.extent[..] == *r.extent
            && self.tile.as_deref() == r.tile
            && self.arguments.len() == r.arguments.len()
            && self.arguments.iter().zip(r.arguments).all(same)
    }

    /// True if all handles in the request are still alive.
    #[inline(always)]
    fn is_alive(&self) -> bool {
        let alive = |a: &revamp_argument| {
            if !a.view.is_null() {
                is_alive::<ArrayView, _>(a.view)
            } else if !a.texture.is_null() {
                is_alive::<Texture, _>(a.texture)
            } else {
                is_alive::<Array, _>(a.array)
            }
        };
        (self.view.is_null() || is_alive::<AcceleratorView, _>(self.view)) && self.arguments.iter().all(alive)
    }
}

/// The outcome of a request.
pub(super) enum Outcome<T> {
    /// The cached launch was repeated; the value is `result` of its point.
    Done(T),
    /// No cached launch fits, and the caller must launch. If `remember` is true, the caller then calls [`keep`] with the new cached launch.
    NotCached { remember: bool },
}

/// Repeats the cached launch of a request, if the request is for a compiled kernel, its launch is cached, and nothing has changed. `result` makes
/// the result from the launch's point.
///
/// # Safety
/// The arguments' data is valid as the header says.
#[inline(always)]
pub(super) unsafe fn launch<T>(request: &Request<'_>, result: impl FnOnce(Point) -> T) -> Result<Outcome<T>> {
    if request.compiled == 0 {
        return Ok(Outcome::NotCached { remember: false });
    }
    with(request, |cache, hash| {
        let done = cache.repeat(
            hash,
            |cached_request| cached_request.equals(request),
            |cached_request, launch| {
                let mut slots: SmallVec<[_; 8]> = SmallVec::new();
                for a in request.arguments {
                    // SAFETY: the same contract.
                    slots.push(unsafe { address_slot(a) }?);
                }
                if cached_request.is_alive() { launch.launch(request.block, &slots) } else { Ok(None) }
            },
        )?;
        if let Some(point) = done {
            return Ok(Outcome::Done(result(point)));
        }
        Ok(Outcome::NotCached { remember: cache.record_request(hash) && request.is_plain() })
    })
    .unwrap_or(Ok(Outcome::NotCached { remember: false }))
}

/// Remembers the cached launch of a request.
pub(super) fn keep(request: &Request<'_>, launch: CachedLaunch) {
    with(request, |cache, hash| cache.insert(hash, CachedRequest::new(request), launch));
}

/// Runs `f` on the thread's cache and the request's hash; `None` on a thread that is ending.
#[inline(always)]
fn with<R>(request: &Request<'_>, f: impl FnOnce(&mut LaunchCache<CachedRequest>, u64) -> R) -> Option<R> {
    REMEMBERED.try_with(|cache| f(&mut cache.borrow_mut(), request.hash())).ok()
}
