//! What this thread launched lately, so that to ask for the same again costs less
//! (docs/decisions/0014-repeated-launches.md).

use super::handle::is_alive;
use super::kernel::argument_place;
use super::types::*;
use crate::error::Result;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::array_view::ArrayView;
use crate::runtime::launch::cached_launch::Repeat;
use smallvec::SmallVec;
use std::cell::RefCell;

/// Launches remembered by a thread, each in the place that its number gives it.
const PLACES: usize = 32;

/// All that a launch is asked for with, but the bytes of its block and of what is appended to it.
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

/// A request that was granted.
struct Granted {
    view: revamp_accelerator_view,
    compiled: usize,
    extent: SmallVec<[i32; 4]>,
    tile: Option<SmallVec<[i32; 4]>>,
    tile_memory: usize,
    block_size: usize,
    block_alignment: usize,
    arguments: SmallVec<[revamp_argument; 4]>,
    repeat: Repeat,
}

/// The number of the request asked for last, and if it was asked for twice, what it takes to do it
/// again.
#[derive(Default)]
struct Place {
    last: u64,
    granted: Option<Box<Granted>>,
}

thread_local! {
    static REMEMBERED: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
}

impl Request<'_> {
    /// Mostly different for different requests.
    fn number(&self) -> u64 {
        let mix = |n: u64, value: usize| (n ^ value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let named = mix(mix(1, self.compiled), self.view as usize);
        let sized = self.extent.iter().map(|&e| e as usize).fold(named, mix);
        self.arguments.iter().map(|a| a.view as usize ^ a.array as usize).fold(sized, mix)
    }

    /// True if it can be remembered: whole arrays and views, and something that tells when it
    /// ends.
    fn is_plain(&self) -> bool {
        let whole = |a: &revamp_argument| {
            matches!(a.kind, REVAMP_ARGUMENT_ADDRESS | REVAMP_ARGUMENT_INDIRECT)
                && a.origin.is_null()
                && a.extent.is_null()
        };
        self.arguments.iter().all(whole) && (!self.view.is_null() || !self.arguments.is_empty())
    }
}

impl Granted {
    fn new(r: &Request<'_>, repeat: Repeat) -> Self {
        Self {
            view: r.view,
            compiled: r.compiled,
            extent: r.extent.into(),
            tile: r.tile.map(Into::into),
            tile_memory: r.tile_memory,
            block_size: r.block.len(),
            block_alignment: r.block_alignment,
            arguments: r.arguments.into(),
            repeat,
        }
    }

    fn is(&self, r: &Request<'_>) -> bool {
        let same = |(a, b): (&revamp_argument, &revamp_argument)| {
            (a.kind, a.offset, a.access, a.array, a.view, a.size)
                == (b.kind, b.offset, b.access, b.array, b.view, b.size)
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

    /// No handle was freed since.
    fn is_alive(&self) -> bool {
        let alive = |a: &revamp_argument| {
            if a.view.is_null() { is_alive::<Array, _>(a.array) } else { is_alive::<ArrayView, _>(a.view) }
        };
        (self.view.is_null() || is_alive::<AcceleratorView, _>(self.view)) && self.arguments.iter().all(alive)
    }
}

/// What became of a request.
pub(super) enum Outcome {
    /// It was done as before.
    Done,
    /// It is to be done; `remember`: then [`keep`] what it takes to do it again.
    Open { remember: bool },
}

/// Does the request if it was granted before and nothing has changed.
///
/// # Safety
/// The arguments' data is valid as the header says.
pub(super) unsafe fn launch(request: &Request<'_>) -> Result<Outcome> {
    with(request, |place, number| {
        if let Some(granted) = place.granted.as_ref().filter(|g| g.is(request)) {
            let mut places: SmallVec<[_; 8]> = SmallVec::new();
            for a in request.arguments {
                // SAFETY: the same contract.
                places.push(unsafe { argument_place(a) }?);
            }
            if granted.is_alive() && granted.repeat.launch(request.block, &places)?.is_some() {
                return Ok(Outcome::Done);
            }
            place.granted = None;
        }
        // A request that does not come again is not worth remembering.
        let remember = std::mem::replace(&mut place.last, number) == number && request.is_plain();
        Ok(Outcome::Open { remember })
    })
    .unwrap_or(Ok(Outcome::Open { remember: false }))
}

/// Remembers what a request was granted by.
pub(super) fn keep(request: &Request<'_>, repeat: Repeat) {
    with(request, |place, _| place.granted = Some(Box::new(Granted::new(request, repeat))));
}

/// Runs `f` on the request's place and number; `None` on a thread that ends.
fn with<R>(request: &Request<'_>, f: impl FnOnce(&mut Place, u64) -> R) -> Option<R> {
    let number = request.number();
    let run = |places: &RefCell<Vec<Place>>| {
        let mut places = places.borrow_mut();
        if places.is_empty() {
            places.resize_with(PLACES, Place::default);
        }
        f(&mut places[(number >> 32) as usize % PLACES], number)
    };
    REMEMBERED.try_with(run).ok()
}
