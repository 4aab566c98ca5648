//! Compiles the kernels of a module to SPIR-V modules.

use super::capture_uses::CaptureUse;
use super::checked::Names;
use super::emitter::{Emitted, Emitter, Options};
use super::{late_arithmetic, pointers, private_stores, quotient_groups, structured_flow, tile_phis};
use crate::bounds_option::Bounds;
use crate::ir::{Function, Module, Op};
use crate::kernel_error::KernelError;
use revamp_image::{Capture, ImageUse};

/// A kernel as SPIR-V.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    /// The name by which the host's object file registers the kernel.
    pub name: String,
    /// The SPIR-V module.
    pub spirv: Vec<u32>,
    /// The size of the argument block's fixed part, in bytes.
    pub block_size: u64,
    /// The alignment of the argument block, in bytes.
    pub block_align: u64,
    /// The pointers in the argument block through which the kernel accesses memory, and the kinds of access.
    pub captures: Vec<Capture>,
    /// The descriptions of the accesses that the kernel can report; `None` if it does not check bounds.
    pub checks: Option<Vec<String>>,
    /// The images that the kernel reads, by binding.
    pub images: Vec<ImageUse>,
    /// The variant of this kernel that reads its textures as images, if possible.
    pub with_images: Option<Box<CompiledKernel>>,
    /// The SPIR-V module with rolled loops, for drivers that unroll loops.
    pub rolled: Option<Vec<u32>>,
    /// `file:line` of the lambda or functor; may be empty.
    pub location: String,
}

/// The maximum number of bytes that a bounds-checked kernel may capture. The limit exists because each launch carries a
/// table that is several times larger than the captures.
const MAX_CHECKED_BYTES: u64 = 1 << 20;

/// The kernels of a module.
pub fn kernels(module: &Module) -> impl Iterator<Item = &Function> {
    module.functions.iter().filter(|f| f.kernel && !f.blocks.is_empty())
}

/// Compiles all kernels of a module that `pipelines` has prepared, as [`compile`] does.
#[cfg(test)]
pub fn compile_module(module: &Module, options: &Options) -> Result<Vec<CompiledKernel>, Vec<KernelError>> {
    compile(&kernels(module).map(|kernel| (module, kernel)).collect::<Vec<_>>(), options)
}

/// Compiles kernels. Each kernel comes with its module, which `pipelines` must have prepared. Reports the errors of all
/// kernels, not only the first.
pub fn compile(all: &[(&Module, &Function)], options: &Options) -> Result<Vec<CompiledKernel>, Vec<KernelError>> {
    let mut kernels = Vec::new();
    let mut errors: Vec<KernelError> = Vec::new();
    let names = Names::default();
    for &(module, function) in all {
        match kernel(module, function, options, &names) {
            Ok(kernel) => kernels.push(kernel),
            Err(error) => {
                let error = match function.definition.clone() {
                    Some(frame) if error.frames.is_empty() => KernelError { frames: vec![frame], ..error },
                    _ => error,
                };
                // An error in a source line that is inlined into many kernels is reported once.
                let is_same_error = |other: &KernelError| {
                    other.message == error.message && other.frames.first() == error.frames.first()
                };
                if !errors.iter().any(is_same_error) {
                    errors.push(error);
                }
            }
        }
    }
    if errors.is_empty() { Ok(kernels) } else { Err(errors) }
}

fn kernel(
    module: &Module,
    function: &Function,
    options: &Options,
    names: &Names,
) -> Result<CompiledKernel, KernelError> {
    let Some(block) = function.parameters.first().and_then(|p| p.pointee.as_ref()) else {
        return Err(KernelError::new(format!(
            "internal: the entry point '{}' has no parameter for the argument block; please report this with the \
             source",
            function.name
        )));
    };
    let size = (block.size(), block.align());
    let (Some(block_size), Some(block_align)) = size else {
        return Err(KernelError::new(
            "internal: the size of the argument block is not known; please report this with the source".into(),
        ));
    };
    if options.bounds != Bounds::Off && block_size > MAX_CHECKED_BYTES {
        return Err(KernelError::new(format!(
            "the kernel captures {block_size} bytes: the limit is {MAX_CHECKED_BYTES} bytes if bounds are checked; put \
             large captures into an array_view, or compile with -famp-bounds=off"
        )));
    }
    let mut function = function.clone();
    let structure = structured_flow::structurize(&mut function)?;
    if options.rolled {
        late_arithmetic::order(&mut function);
    }
    quotient_groups::order(module, &mut function);
    tile_phis::round_down(module, &mut function);
    let pointers = pointers::analyse(module, &function)?;
    private_stores::order(module, &mut function, &pointers);
    let captures: Vec<Capture> = pointers
        .uses
        .iter()
        .filter(|(_, used)| used.by_address)
        .map(|(&(offset, depth), &CaptureUse { reads, writes, thread_bytes, .. })| Capture {
            offset,
            indirect: depth > 0,
            reads,
            writes,
            thread_bytes: thread_bytes.encoded(),
        })
        .collect();
    let Emitted { spirv, checks, images } =
        Emitter::new(module, &function, options, &pointers, block_size, names)?.run(&structure)?;
    let is_written = |image: &ImageUse| {
        captures.iter().any(|c| c.writes && (c.offset, c.indirect) == (image.offset, image.indirect))
    };
    if images.iter().any(is_written) {
        return Err(KernelError::new(
            "the kernel samples a texture, or reads it as an image, and also writes the same texture: write to another \
             texture, and copy that texture back"
                .into(),
        ));
    }
    Ok(CompiledKernel {
        name: function.name.clone(),
        spirv,
        block_size,
        block_align,
        captures,
        checks,
        images,
        with_images: None,
        rolled: None,
        location: location(module, &function),
    })
}

/// The source location of the lambda or functor, whose code is inlined into the entry point `function`.
fn location(module: &Module, function: &Function) -> String {
    let program_frames = function.blocks.iter().flat_map(|b| &b.instructions).filter_map(|i| {
        if matches!(i.op, Op::Phi { .. }) {
            return None;
        }
        // The outermost frame in the program's own sources. The entry point and the functions that it calls are in revamp's headers.
        module.frames(i.location?).into_iter().rev().find(|frame| !frame.file.contains("/revamp/detail/"))
    });
    program_frames
        .filter(|frame| frame.line > 0)
        .min_by_key(|frame| frame.line)
        .map(|frame| format!("{}:{}", frame.file, frame.line))
        .unwrap_or_default()
}
