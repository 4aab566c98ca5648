//! The texels of a texture that is stored as an image: memory beside it, for compiled kernels that reach texels by address
//! (decision 34). It holds nothing between launches: a launch copies the levels it uses, and copies back what it may have written.

use crate::device::{Buffer, Placement};
use crate::error::Result;
use crate::geometry::{CopyPlan, TextureShape};
use crate::lock::{Mutex, rank};
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use std::ops::Range;
use std::sync::Arc;

/// The memory beside an image.
pub struct Shadow {
    shape: TextureShape,
    memory: Mutex<Option<Arc<dyn Buffer>>, { rank::MIRROR }>,
}

impl Shadow {
    /// That of an image of this shape.
    pub fn new(shape: TextureShape) -> Self {
        Self { shape, memory: Mutex::new(None) }
    }

    /// The memory, with the levels that these bytes are as they are in the image, for a launch on `view`.
    pub fn read(
        &self,
        image: &Arc<dyn Buffer>,
        bytes: &Range<u64>,
        view: &Arc<AcceleratorView>,
    ) -> Result<Arc<dyn Buffer>> {
        let mut memory = self.memory.lock();
        // What was lost of it is copied again.
        let lost = memory.as_ref().is_some_and(|m| !m.tracker().take_lost().is_empty());
        let made = match memory.take().filter(|_| !lost) {
            Some(made) => made,
            None => {
                // Kernels read whole words.
                let size = self.shape.bytes().next_multiple_of(16);
                view.device().allocate(size, Placement::Device, "the texels of an image")?
            }
        };
        *memory = Some(made.clone());
        drop(memory);
        self.copy(image, &made, bytes, view)?;
        Ok(made)
    }

    /// Brings levels back that a launch on `view` may have written.
    pub fn write(
        &self,
        memory: &Arc<dyn Buffer>,
        image: &Arc<dyn Buffer>,
        bytes: &Range<u64>,
        view: &Arc<AcceleratorView>,
    ) -> Result<()> {
        self.copy(memory, image, bytes, view)
    }

    fn copy(
        &self,
        from: &Arc<dyn Buffer>,
        to: &Arc<dyn Buffer>,
        bytes: &Range<u64>,
        view: &Arc<AcceleratorView>,
    ) -> Result<()> {
        for level in self.shape.levels_in(bytes) {
            let layout = self.shape.level(level);
            view.queue().copy(from, to, &CopyPlan::new(&layout, &layout)?)?;
        }
        Ok(())
    }
}
