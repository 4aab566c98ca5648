//! Mirrors. If a texture is stored as texels in a buffer, its *mirror* is an image with a copy of the texture's levels. Compiled
//! kernels read and sample the image (decision 34). A launch creates the image when it is first needed. Later launches update it on
//! the device, level by level.

use crate::device::Buffer;
use crate::error::Result;
use crate::geometry::{CopyPlan, TextureShape};
use crate::lock::{Mutex, rank};
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The image of a texture.
pub struct Mirror {
    shape: TextureShape,
    /// The number of (possible) writes to the texels of each level so far.
    writes: SmallVec<[AtomicU64; 4]>,
    state: Mutex<State, { rank::MIRROR }>,
}

#[derive(Default)]
struct State {
    image: Option<Arc<dyn Buffer>>,
    /// True if an image is impossible, or there is no memory for it.
    refused: bool,
    /// The value of `writes` when each level was last copied to the image.
    copied: SmallVec<[Option<u64>; 4]>,
    /// The value of `writes` at the last launch that could have used each level of the image.
    wanted: SmallVec<[Option<u64>; 4]>,
}

/// Levels as a range of indices.
fn indices(levels: &Range<u32>) -> Range<usize> {
    levels.start as usize..levels.end as usize
}

/// The decision whether a launch reads the image.
pub enum Mirrored {
    /// No launch can read an image of this texture.
    No,
    /// This launch reads the texels: they may change before a copy pays off.
    NotYet,
    /// The launch reads this image.
    Image(Arc<dyn Buffer>),
}

impl Mirror {
    /// The mirror of a texture of this shape.
    pub fn new(shape: TextureShape) -> Self {
        let levels = shape.levels() as usize;
        let none = SmallVec::from_elem(None, levels);
        let state = State { copied: none.clone(), wanted: none, ..State::default() };
        Self { writes: (0..levels).map(|_| AtomicU64::new(0)).collect(), shape, state: Mutex::new(state) }
    }

    /// Notes a (possible) write to texels among these bytes. Must be called after the write has been recorded.
    pub fn written(&self, bytes: &Range<u64>) {
        for level in self.shape.levels_in(bytes) {
            self.writes[level as usize].fetch_add(1, Ordering::AcqRel);
        }
    }

    /// The number of writes to the texels of each of these levels.
    fn written_so_far(&self, levels: &Range<u32>) -> SmallVec<[Option<u64>; 4]> {
        self.writes[indices(levels)].iter().map(|w| Some(w.load(Ordering::Acquire))).collect()
    }

    /// The texture's shape.
    pub fn shape(&self) -> &TextureShape {
        &self.shape
    }

    /// The image, if these levels of it are up to date.
    pub fn fresh(&self, levels: &Range<u32>) -> Option<Arc<dyn Buffer>> {
        let now = self.written_so_far(levels);
        let state = self.state.lock();
        let image = state.image.as_ref()?;
        (state.copied[indices(levels)] == now[..]).then(|| image.clone())
    }

    /// The image with these levels up to date, for a launch on `view`. Unless `needed`, levels are copied only at the
    /// second launch without a write in between: copying texels for a single launch does not pay off.
    pub fn read(
        &self,
        texels: &Arc<dyn Buffer>,
        levels: &Range<u32>,
        needed: bool,
        view: &Arc<AcceleratorView>,
    ) -> Result<Mirrored> {
        let now = self.written_so_far(levels);
        let mut state = self.state.lock();
        if state.refused {
            return Ok(Mirrored::No);
        }
        // If bytes of the image were lost, a new image is made.
        if state.image.as_ref().is_some_and(|image| !image.tracker().take_lost().is_empty()) {
            state.image = None;
            state.copied.fill(None);
        }
        if state.copied[indices(levels)] == now[..] {
            if let Some(image) = &state.image {
                return Ok(Mirrored::Image(image.clone()));
            }
        }
        let wanted = &mut state.wanted[indices(levels)];
        if !needed && wanted != &now[..] {
            wanted.copy_from_slice(&now);
            return Ok(Mirrored::NotYet);
        }
        let device = view.device();
        let image = match &state.image {
            Some(image) => image.clone(),
            None => {
                let refusal = device.image_refusal(&self.shape);
                let made = match refusal {
                    Some(why) => Err(why.to_string()),
                    None => device.allocate_image(&self.shape, &**view.queue(), "texture").map_err(|e| e.to_string()),
                };
                let made = made.and_then(|image| match image.image() {
                    Some(abilities) if !abilities.robust => Err("the device lacks robustImageAccess".to_owned()),
                    _ => Ok(image),
                });
                match made {
                    Ok(image) => {
                        state.image = Some(image.clone());
                        image
                    }
                    Err(why) => {
                        crate::log!(
                            Info,
                            "a texture has no mirror image, so kernels read its texels from a buffer: {why}"
                        );
                        state.refused = true;
                        return Ok(Mirrored::No);
                    }
                }
            }
        };
        for ((level, copied), now) in levels.clone().zip(&mut state.copied[indices(levels)]).zip(now) {
            if *copied != now {
                let layout = self.shape.level(level);
                view.queue().copy(texels, &image, &CopyPlan::new(&layout, &layout)?)?;
                *copied = now;
            }
        }
        Ok(Mirrored::Image(image))
    }
}
