//! The synchronization types that `board` uses. Its loom tests replace them by loom's types.

pub use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
