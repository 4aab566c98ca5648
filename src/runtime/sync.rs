//! The types that `words`, `notifier` and `order` synchronize with; their loom tests put others in their place.

pub use crate::lock::Mutex;
pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
