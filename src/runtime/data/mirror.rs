//! The image of a texture that is stored as texels: a copy of its levels, from which compiled kernels read and sample (decision 34).
//! It is made when a launch first wants it, and brought up to date on the device, level by level, by later ones.

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
    /// How often the texels were written so far, or may have been.
    writes: AtomicU64,
    state: Mutex<State, { rank::MIRROR }>,
}

#[derive(Default)]
struct State {
    image: Option<Arc<dyn Buffer>>,
    /// There is none, or no memory for it.
    refused: bool,
    /// After how many writes each level was copied.
    copied: SmallVec<[Option<u64>; 4]>,
    /// After how many writes a launch could have done with it.
    wanted: Option<u64>,
}

impl State {
    /// True if this level was copied after so many writes.
    fn is_fresh(&self, level: u32, now: u64) -> bool {
        self.copied.get(level as usize) == Some(&Some(now))
    }
}

/// Whether a launch reads the image.
pub enum Mirrored {
    /// Never.
    No,
    /// Not now: the texels may change before it pays.
    NotYet,
    /// Yes.
    Image(Arc<dyn Buffer>),
}

impl Mirror {
    /// That of a texture of this shape.
    pub fn new(shape: TextureShape) -> Self {
        Self { shape, writes: AtomicU64::new(0), state: Mutex::new(State::default()) }
    }

    /// Notes that the texels were written, or may have been. To be called when the write has been recorded.
    pub fn written(&self) {
        self.writes.fetch_add(1, Ordering::AcqRel);
    }

    /// The texture's shape.
    pub fn shape(&self) -> &TextureShape {
        &self.shape
    }

    /// The levels whose host form is these bytes, if it is whole levels.
    pub fn levels(&self, bytes: &Range<u64>) -> Option<Range<u32>> {
        let hull = |level| self.shape.level(level).hull();
        let first = (0..self.shape.levels()).find(|&level| hull(level).start == bytes.start)?;
        let last = (first..self.shape.levels()).find(|&level| hull(level).end == bytes.end)?;
        Some(first..last + 1)
    }

    /// The image, if these levels of it are as the texels are.
    pub fn fresh(&self, levels: &Range<u32>) -> Option<Arc<dyn Buffer>> {
        let now = self.writes.load(Ordering::Acquire);
        let state = self.state.lock();
        let image = state.image.as_ref()?;
        levels.clone().all(|level| state.is_fresh(level, now)).then(|| image.clone())
    }

    /// The image with these levels of a texture as they are, for a launch on `view`. Unless it is `needed` it is copied for the
    /// second launch without a write between: one that reads what was written once reads the texels.
    pub fn read(
        &self,
        texels: &Arc<dyn Buffer>,
        levels: &Range<u32>,
        needed: bool,
        view: &Arc<AcceleratorView>,
    ) -> Result<Mirrored> {
        let now = self.writes.load(Ordering::Acquire);
        let mut state = self.state.lock();
        if state.refused {
            return Ok(Mirrored::No);
        }
        // What was lost of it is copied again.
        if state.image.as_ref().is_some_and(|image| !image.tracker().take_lost().is_empty()) {
            (state.image, state.copied) = (None, SmallVec::new());
        }
        if levels.clone().all(|level| state.is_fresh(level, now)) {
            if let Some(image) = &state.image {
                return Ok(Mirrored::Image(image.clone()));
            }
        }
        if !needed && state.wanted != Some(now) {
            state.wanted = Some(now);
            return Ok(Mirrored::NotYet);
        }
        let device = view.device();
        let image = match &state.image {
            Some(image) => image.clone(),
            None => {
                let refusal = device.image_refusal(&self.shape);
                let made = match refusal {
                    Some(why) => Err(why),
                    None => device.allocate_image(&self.shape, &**view.queue(), "texture").map_err(|e| e.to_string()),
                };
                match made {
                    Ok(image) => {
                        state.copied = SmallVec::from_elem(None, self.shape.levels() as usize);
                        state.image = Some(image.clone());
                        image
                    }
                    Err(why) => {
                        crate::log!(Info, "a texture has no image: {why}");
                        state.refused = true;
                        return Ok(Mirrored::No);
                    }
                }
            }
        };
        for level in levels.clone() {
            if state.is_fresh(level, now) {
                continue;
            }
            let layout = self.shape.level(level);
            view.queue().copy(texels, &image, &CopyPlan::new(&layout, &layout)?)?;
            if let Some(copied) = state.copied.get_mut(level as usize) {
                *copied = Some(now);
            }
        }
        Ok(Mirrored::Image(image))
    }
}
