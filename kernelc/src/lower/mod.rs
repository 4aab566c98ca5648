//! From LLVM IR to SPIR-V for Vulkan, kernel by kernel.
//!
//! `opt` has inlined all calls and structured the flow ([`crate::clang`] says how). Here pointers get their places
//! (`webs`, `memory`), the flow its merge blocks (`structure`), and each instruction its form in SPIR-V (`emit`,
//! `integers`, `calls`, `maths`). A kernel is one module with one entry point, `main`, and one push constant: the 64-bit
//! device address of its argument block.

mod assembler;
mod calls;
mod emit;
mod graph;
mod integers;
pub mod maths;
mod memory;
mod printf;
mod refusal;
mod structure;
#[cfg(test)]
mod tests;
mod values;
mod webs;

use crate::ir::{Function, Module, Op};
pub use refusal::Refusal;
use revamp_image::Capture;

/// How kernels are compiled.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Source lines go into the module, for drivers' and tools' messages.
    pub lines: bool,
}

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
    /// `file:line` of the lambda or functor; may be empty.
    pub location: String,
}

/// Compiles all kernels of a module that `opt` has prepared. All refusals are told, not only the first.
pub fn compile(module: &Module, options: &Options) -> Result<Vec<CompiledKernel>, Vec<Refusal>> {
    let mut kernels = Vec::new();
    let mut refusals: Vec<Refusal> = Vec::new();
    for function in module.functions.iter().filter(|f| f.kernel && !f.blocks.is_empty()) {
        match kernel(module, function, options) {
            Ok(kernel) => kernels.push(kernel),
            Err(refusal) => {
                let refusal = match module.definition(function) {
                    Some(frame) if refusal.frames.is_empty() => Refusal { frames: vec![frame], ..refusal },
                    _ => refusal,
                };
                // One line may be part of many kernels.
                let same = |other: &Refusal| {
                    other.message == refusal.message && other.frames.first() == refusal.frames.first()
                };
                if !refusals.iter().any(same) {
                    refusals.push(refusal);
                }
            }
        }
    }
    if refusals.is_empty() { Ok(kernels) } else { Err(refusals) }
}

fn kernel(module: &Module, function: &Function, options: &Options) -> Result<CompiledKernel, Refusal> {
    let Some(block) = function.parameters.first().and_then(|p| p.pointee.as_ref()) else {
        return Err(Refusal::plain(format!(
            "internal: the entry point '{}' does not take its argument block",
            function.name
        )));
    };
    let size = (block.size(), block.align());
    let (Some(block_size), Some(block_align)) = size else {
        return Err(Refusal::plain("internal: an argument block without a size".into()));
    };
    let mut function = function.clone();
    let structure = structure::structure(&mut function)?;
    let webs = webs::webs(module, &function)?;
    let captures = webs
        .uses
        .iter()
        .map(|(&(offset, depth), used)| Capture { offset, further: depth > 0, reads: used.reads, writes: used.writes })
        .collect();
    let spirv = emit::Emitter::new(module, &function, options, &webs)?.run(&structure)?;
    Ok(CompiledKernel {
        name: function.name.clone(),
        spirv,
        block_size,
        block_align,
        captures,
        location: location(module, &function),
    })
}

/// Where the kernel's own code is: what the entry point inlined from the user's file.
fn location(module: &Module, function: &Function) -> String {
    let own = function.blocks.iter().flat_map(|b| &b.instructions).filter_map(|i| {
        if matches!(i.op, Op::Phi { .. }) {
            return None;
        }
        // The outermost that is the program's: the entry point and what it calls are headers of ours.
        module.frames(i.location?).into_iter().rev().find(|frame| !frame.file.contains("/revamp/detail/"))
    });
    own.filter(|frame| frame.line > 0)
        .min_by_key(|frame| frame.line)
        .map(|frame| format!("{}:{}", frame.file, frame.line))
        .unwrap_or_default()
}
