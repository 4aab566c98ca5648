//! What goes on while the program does something else: completions, callbacks, operations of the host.

pub mod completion;
pub mod notifier;
pub mod order;

use super::sync;
