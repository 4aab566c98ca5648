//! Asynchronous operations: completions, callbacks, and the order of operations that run on the host.

pub mod after;
pub(super) mod begin;
pub mod completion;
pub(super) mod host_operation;
pub mod notifier;
pub mod order;
pub(super) mod promise;

use super::sync;
