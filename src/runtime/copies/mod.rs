//! `copy` and `copy_async`.

mod check;
pub mod copy;
mod memory;
