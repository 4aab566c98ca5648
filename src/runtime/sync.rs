//! The types that `words` and `notifier` synchronize with; their loom tests put others in their place.

pub use crate::lock::Mutex;
pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
