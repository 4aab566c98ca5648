//! Boxes of elements in memory: where their bytes lie, and how two of them are walked together. Pure arithmetic.

pub mod layout;
pub mod region;
pub mod texels;

pub use layout::{CopyDim, CopyPlan, Layout};
pub use region::Region;
pub use texels::{ComponentKind, TexelBox, TexelFormat, TextureShape};
