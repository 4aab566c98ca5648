//! The types with which `board` synchronizes; its loom tests replace them.

pub use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
