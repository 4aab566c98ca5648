//! Compiles the kernels of a module to SPIR-V modules.

use super::checked::Names;
use super::emitter::{Emitted, Emitter, Options};
use super::{pointers, structured_flow};
use crate::bounds_option::Bounds;
use crate::ir::{Function, Module, Op};
use crate::kernel_error::KernelError;
use revamp_image::{Capture, ImageUse};

/// A kernel as SPIR-V.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    /// The name by which the host's object file registers it.
    pub name: String,
    /// The module.
    pub spirv: Vec<u32>,
    /// Of the argument block's fixed part, in bytes.
    pub block_size: u64,
    /// In bytes.
    pub block_align: u64,
    /// Which pointers in the block it uses, and how.
    pub captures: Vec<Capture>,
    /// It checks bounds: the accesses that it reports.
    pub checks: Option<Vec<String>>,
    /// The images that it reads, by binding.
    pub images: Vec<ImageUse>,
    /// The same kernel where its textures are images, if they can be.
    pub with_images: Option<Box<CompiledKernel>>,
    /// `file:line` of the lambda or functor; may be empty.
    pub location: String,
}

/// The most bytes that a kernel that checks bounds may capture: a table of several times that size goes with each launch.
const LARGEST_CHECKED: u64 = 1 << 20;

/// The kernels of a module.
pub fn kernels(module: &Module) -> impl Iterator<Item = &Function> {
    module.functions.iter().filter(|f| f.kernel && !f.blocks.is_empty())
}

/// Compiles all kernels of a module that `pipelines` has prepared, as [`compile`] does.
#[cfg(test)]
pub fn compile_module(module: &Module, options: &Options) -> Result<Vec<CompiledKernel>, Vec<KernelError>> {
    compile(&kernels(module).map(|kernel| (module, kernel)).collect::<Vec<_>>(), options)
}

/// Compiles kernels, each of a module that `pipelines` has prepared. Reports the errors of all kernels, not only the first.
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
                // One line may be part of many kernels.
                let same = |other: &KernelError| {
                    other.message == error.message && other.frames.first() == error.frames.first()
                };
                if !errors.iter().any(same) {
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
            "internal: the entry point '{}' does not take its argument block",
            function.name
        )));
    };
    let size = (block.size(), block.align());
    let (Some(block_size), Some(block_align)) = size else {
        return Err(KernelError::new("internal: an argument block without a size".into()));
    };
    if options.bounds != Bounds::Off && block_size > LARGEST_CHECKED {
        return Err(KernelError::new(format!(
            "the kernel captures {block_size} bytes: the limit is {LARGEST_CHECKED} bytes where bounds are checked; put large \
             captures into an array_view, or compile with -famp-bounds=off"
        )));
    }
    let mut function = function.clone();
    let structure = structured_flow::structurize(&mut function)?;
    let pointers = pointers::analyse(module, &function)?;
    let captures: Vec<Capture> = pointers
        .uses
        .iter()
        .filter(|(_, used)| used.by_address)
        .map(|(&(offset, depth), used)| Capture { offset, further: depth > 0, reads: used.reads, writes: used.writes })
        .collect();
    let Emitted { spirv, checks, images } =
        Emitter::new(module, &function, options, &pointers, block_size, names)?.run(&structure)?;
    let is_written =
        |image: &ImageUse| captures.iter().any(|c| c.writes && (c.offset, c.further) == (image.offset, image.further));
    if images.iter().any(is_written) {
        return Err(KernelError::new(
            "the kernel writes a texture that it also samples or reads as an image: write another texture, and copy"
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
        location: location(module, &function),
    })
}

/// The location of the lambda or functor, which the entry point has inlined.
fn location(module: &Module, function: &Function) -> String {
    let own = function.blocks.iter().flat_map(|b| &b.instructions).filter_map(|i| {
        if matches!(i.op, Op::Phi { .. }) {
            return None;
        }
        // The outermost frame of the program: the entry point and what it calls are in our headers.
        module.frames(i.location?).into_iter().rev().find(|frame| !frame.file.contains("/revamp/detail/"))
    });
    own.filter(|frame| frame.line > 0)
        .min_by_key(|frame| frame.line)
        .map(|frame| format!("{}:{}", frame.file, frame.line))
        .unwrap_or_default()
}
