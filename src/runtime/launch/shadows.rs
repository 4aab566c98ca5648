//! Shadows: copies, as texels, of textures that are stored as images. Kernels that access texels by address use the shadows.

use crate::device::Buffer;
use crate::error::Result;
use crate::kernel::Access;
use crate::kernel::compiled::Compiled;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::operand::Operand;
use crate::runtime::launch::arguments::{Captured, ResolvedArguments};
use crate::runtime::launch::mirrors::TextureAccess;
use crate::runtime::launch::request::FunctionLaunch;
use crate::runtime::launch::uses::access;
use std::ops::Range;
use std::sync::Arc;

/// The shadows that a launch may write.
pub(super) struct Shadows(Vec<Shadowed>);

/// A shadow, with the bytes that a launch may write.
struct Shadowed {
    array: Arc<Array>,
    memory: Arc<dyn Buffer>,
    bytes: Range<u64>,
}

impl Shadows {
    /// Replaces images in `resolved` by their shadows. Does not replace images that the kernel reads only by descriptor. `None`
    /// if the launch has no images.
    pub(super) fn of(
        kernel: &Compiled,
        launch: &FunctionLaunch<'_>,
        texture_access: &TextureAccess,
        used_as: &[Option<Access>],
        captured: &[Captured<'_>],
        resolved: &mut ResolvedArguments,
        view: &Arc<AcceleratorView>,
    ) -> Result<Option<Self>> {
        let is_image = |operand: &Operand| matches!(operand, Operand::Array(array, _) if array.shadow().is_some());
        if !captured.iter().any(|c| is_image(c.operand)) {
            return Ok(None);
        }
        let texture_access = match (texture_access, &kernel.with_images) {
            (TextureAccess::Images(..), Some((with_images, _))) => with_images,
            _ => kernel,
        };
        let mut written = Vec::new();
        let arguments = launch.arguments.iter().zip(used_as).filter(|(_, access)| access.is_some()).map(|(a, _)| a);
        for ((argument, c), bound) in arguments.zip(captured).zip(&mut resolved.uses) {
            let Operand::Array(array, _) = c.operand else { continue };
            let Some(shadow) = array.shadow() else { continue };
            if access(texture_access, argument).is_none() {
                continue;
            }
            let memory = shadow.read(array.buffer(), &bound.range, view)?;
            if c.access.writes() {
                written.push(Shadowed { array: array.clone(), memory: memory.clone(), bytes: bound.range.clone() });
            }
            bound.buffer = memory;
        }
        Ok(Some(Self(written)))
    }

    /// Copies bytes that the launch may have written from the shadows to the images.
    pub(super) fn write(&self, view: &Arc<AcceleratorView>) -> Result<()> {
        for Shadowed { array, memory, bytes } in &self.0 {
            if let Some(shadow) = array.shadow() {
                shadow.write(memory, array.buffer(), bytes, view)?;
            }
        }
        Ok(())
    }
}
