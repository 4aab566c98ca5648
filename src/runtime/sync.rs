//! The types with which `host_access`, `notifier`, `order` and `users` synchronize; their loom tests replace them.

pub use crate::lock::Mutex;
pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
