//! Promises: they belong to completions that the program completes (revamp_completion_create). If a promise is abandoned, the
//! completion fails.

use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use crate::runtime::operations::host_operation::HostOperation;
use std::sync::{Arc, Weak};

struct PendingPromises {
    /// True while the runtime ends. New promises are then refused, because no thread may be left to complete them.
    closed: bool,
    operations: Vec<Weak<HostOperation>>,
}

/// The operations that the program has yet to complete.
static PENDING: Mutex<PendingPromises, { rank::PROMISES }> =
    Mutex::new(PendingPromises { closed: false, operations: Vec::new() });

/// The duty to complete an operation.
pub(super) struct Promise(Arc<HostOperation>);

impl Promise {
    /// A promise for this operation. Fails during revamp_uninitialize() and at the end of the process.
    pub fn new(operation: Arc<HostOperation>) -> Result<Self> {
        let mut open = PENDING.lock();
        if open.closed {
            return Err(Error::runtime(
                "a completion cannot be created during revamp_uninitialize() or the end of the process; create the \
                 completion before that",
            ));
        }
        let operations = &mut open.operations;
        if operations.len() == operations.capacity() {
            operations.retain(|o| o.strong_count() > 0);
        }
        operations.push(Arc::downgrade(&operation));
        drop(open);
        Ok(Self(operation))
    }

    /// Completes the operation. False if the operation was completed before.
    pub fn settle(&self, result: Result<()>) -> bool {
        self.0.settle(result)
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.settle(Err(Error::runtime("the completion was released before it was set with revamp_completion_set()")));
    }
}

/// Allows new promises again, after [`abandon_all`].
pub(in crate::runtime) fn reopen() {
    PENDING.lock().closed = false;
}

/// Fails all operations that the program has not completed, and refuses new promises, because no thread may be left to complete
/// them.
pub(in crate::runtime) fn abandon_all() {
    let operations = {
        let mut open = PENDING.lock();
        open.closed = true;
        std::mem::take(&mut open.operations)
    };
    for operation in operations.iter().filter_map(Weak::upgrade) {
        operation.settle(Err(Error::runtime(
            "the completion was not set before revamp_uninitialize() or the end of the process",
        )));
    }
}
