//! The types that `words` synchronizes with; its loom test puts others in their place.

pub use parking_lot::Mutex;
pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
