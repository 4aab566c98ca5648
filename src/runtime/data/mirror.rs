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
    /// How often the texels of each level were written so far, or may have been.
    writes: SmallVec<[AtomicU64; 4]>,
    state: Mutex<State, { rank::MIRROR }>,
}

#[derive(Default)]
struct State {
    image: Option<Arc<dyn Buffer>>,
    /// There is none, or no memory for it.
    refused: bool,
    /// After how many of its writes each level was copied.
    copied: SmallVec<[Option<u64>; 4]>,
    /// After how many of its writes a launch could have done with each level.
    wanted: SmallVec<[Option<u64>; 4]>,
}

/// Levels as places in a list.
fn numbers(levels: &Range<u32>) -> Range<usize> {
    levels.start as usize..levels.end as usize
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
        let levels = shape.levels() as usize;
        let none = SmallVec::from_elem(None, levels);
        let state = State { copied: none.clone(), wanted: none, ..State::default() };
        Self { writes: (0..levels).map(|_| AtomicU64::new(0)).collect(), shape, state: Mutex::new(state) }
    }

    /// Notes that texels among these bytes were written, or may have been. To be called when the write has been recorded.
    pub fn written(&self, bytes: &Range<u64>) {
        for level in self.shape.levels_in(bytes) {
            self.writes[level as usize].fetch_add(1, Ordering::AcqRel);
        }
    }

    /// How often the texels of these levels were written.
    fn written_so_far(&self, levels: &Range<u32>) -> SmallVec<[Option<u64>; 4]> {
        self.writes[numbers(levels)].iter().map(|w| Some(w.load(Ordering::Acquire))).collect()
    }

    /// The texture's shape.
    pub fn shape(&self) -> &TextureShape {
        &self.shape
    }

    /// The image, if these levels of it are as the texels are.
    pub fn fresh(&self, levels: &Range<u32>) -> Option<Arc<dyn Buffer>> {
        let now = self.written_so_far(levels);
        let state = self.state.lock();
        let image = state.image.as_ref()?;
        (state.copied[numbers(levels)] == now[..]).then(|| image.clone())
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
        let now = self.written_so_far(levels);
        let mut state = self.state.lock();
        if state.refused {
            return Ok(Mirrored::No);
        }
        // What was lost of it is copied again.
        if state.image.as_ref().is_some_and(|image| !image.tracker().take_lost().is_empty()) {
            state.image = None;
            state.copied.fill(None);
        }
        if state.copied[numbers(levels)] == now[..] {
            if let Some(image) = &state.image {
                return Ok(Mirrored::Image(image.clone()));
            }
        }
        let wanted = &mut state.wanted[numbers(levels)];
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
                        crate::log!(Info, "no mirror image for a texture: {why}");
                        state.refused = true;
                        return Ok(Mirrored::No);
                    }
                }
            }
        };
        for ((level, copied), now) in levels.clone().zip(&mut state.copied[numbers(levels)]).zip(now) {
            if *copied != now {
                let layout = self.shape.level(level);
                view.queue().copy(texels, &image, &CopyPlan::new(&layout, &layout)?)?;
                *copied = now;
            }
        }
        Ok(Mirrored::Image(image))
    }
}
