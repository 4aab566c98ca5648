//! The synchronization types of `host_access`, `notifier`, `order` and `users`. The loom tests of these files replace the types.

pub use crate::lock::Mutex;
pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
