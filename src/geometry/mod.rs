//! Boxes of elements in memory, copies between two boxes, and the texels of textures. Pure arithmetic.

pub mod layout;
pub mod region;
pub mod texels;

pub use layout::{CopyDim, CopyPlan, Layout};
pub use region::Region;
pub use texels::{ComponentKind, TexelBox, TexelFormat, TextureShape};
