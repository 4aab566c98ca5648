//! Asynchronous operations: completions, callbacks, operations of the host and their order.

pub mod completion;
pub mod notifier;
pub mod order;

use super::sync;
