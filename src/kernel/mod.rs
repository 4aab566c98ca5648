//! SPIR-V modules: checked, reflected, and described for the runtime. Knows no device.

mod module;

pub use module::{Binding, BindingKind, Module, PushBlock, PushMember, SpecConstant, SpecKind, SplitModule};
