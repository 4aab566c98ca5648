//! SPIR-V modules: parsed, reflected, and described for the runtime. Knows no device.
//!
//! [`Module`] is the door. Behind it, each with one job: `parse` (bytes to whole instructions), `parsed` (instructions indexed
//! by what they define), `grammar` (facts of opcodes), `entry_point` (its choice and call graph), `constants` (their
//! evaluation), `type_layout` (sizes of types), `access` (which buffers are read and written), `interface` (what a launch
//! binds), `reflect` (which finds it), `sampled` (images with samplers of their own), `workgroup_size`, `nesting` (how deep branches are);
//! and the rewrites, with `writer`: `renumber` (dense descriptor numbers), `split` (domains beyond the device's limit), `overrun` (loops that a
//! driver stops), `strip` (no non-semantic instructions), `float_modes` (what the device keeps of floats), `variant` (what a launch decides). [`registry`] holds the
//! kernels compiled into programs by name, [`compiled`] those that the kernel compiler made of lambdas, whose bytes
//! [`image`] reads.

mod access;
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
