//! SPIR-V modules: parses them, finds their interface for the runtime, and rewrites them. This code does not depend on devices.
//!
//! [`Module`] is the public interface. These files read modules:
//! - `parse`: converts bytes to instructions
//! - `parsed`: indexes the instructions by the ids that they define
//! - `grammar`: the grammar of each opcode
//! - `entry_point`: chooses the entry point and walks the call graph
//! - `constants`: evaluates constants
//! - `type_layout`: computes the sizes of types
//! - `access`: finds which buffers are read and written
//! - `interface`: the types that describe what a launch must bind
//! - `reflect`: finds the interface
//! - `sampled`: finds the pairs of images and samplers
//! - `workgroup_size`: evaluates the workgroup size
//! - `nesting`: estimates the depth of branches and loops
//!
//! These files rewrite modules, with the types of `writer`:
//! - `renumber`: makes descriptor numbers dense
//! - `split`: splits domains beyond the device's limit
//! - `overrun`: reports loops that a driver stops
//! - `strip`: removes non-semantic instructions
//! - `float_modes`: declares float execution modes
//! - `by_address`: reads arguments by address
//! - `variant`: sets constants that a launch decides
//!
//! [`registry`] finds the SPIR-V kernels embedded in the program by their names. [`compiled`] finds the kernels that the kernel
//! compiler made from lambdas. [`image`] decodes the images that contain these compiled kernels.

mod access;
mod by_address;
pub mod compiled;
mod constants;
mod entry_point;
mod float_modes;
mod grammar;
mod hash;
pub mod image;
mod interface;
mod module;
mod nesting;
pub mod overrun;
mod parse;
mod parsed;
mod reflect;
pub mod registry;
mod renumber;
mod sampled;
mod split;
mod strip;
#[cfg(test)]
pub(crate) mod tests;
mod type_layout;
mod usage;
mod variant;
mod workgroup_size;
mod writer;

pub use compiled::KernelForm;
pub use float_modes::FloatModes;
pub use interface::{
    Binding, BindingKind, ImageType, PushBlock, PushMember, SampledPair, SampledType, SpecConstant, SpecKind,
};
pub use module::Module;
pub use nesting::Depth;
pub use renumber::dense;
pub use rspirv::spirv::ImageFormat;
pub use split::SplitModule;
pub use usage::{Access, SpecValues};
pub use variant::Variant;
