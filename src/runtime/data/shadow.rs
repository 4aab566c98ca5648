//! Shadows. If a texture is stored as an image, its *shadow* is additional memory with its texels, for compiled kernels that access
//! texels by address (decision 34). The contents of a shadow are valid only during a launch. The launch first copies the levels that
//! it uses to the shadow. At the end, the launch copies back the levels that it may have written.

use crate::device::{Buffer, Placement};
use crate::error::Result;
use crate::geometry::{CopyPlan, TextureShape};
use crate::lock::{Mutex, rank};
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use std::ops::Range;
use std::sync::Arc;

/// The texels of an image texture.
pub struct Shadow {
    shape: TextureShape,
    memory: Mutex<Option<Arc<dyn Buffer>>, { rank::MIRROR }>,
}

impl Shadow {
    /// The shadow of an image of this shape.
    pub fn new(shape: TextureShape) -> Self {
        Self { shape, memory: Mutex::new(None) }
    }

    /// Copies from the image the levels that contain these bytes. Returns the memory for a launch on `view`.
    pub fn read(
        &self,
        image: &Arc<dyn Buffer>,
        bytes: &Range<u64>,
        view: &Arc<AcceleratorView>,
    ) -> Result<Arc<dyn Buffer>> {
        let mut memory = self.memory.lock();
        // Memory with lost bytes is replaced.
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

    /// Copies back to the image the levels that a launch on `view` may have written.
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
