//! Asynchronous operations: completions, callbacks, operations of the host and their order.

pub mod after;
pub(super) mod begin;
pub mod completion;
pub(super) mod host_operation;
pub mod notifier;
pub mod order;
pub(super) mod promise;

use super::sync;
