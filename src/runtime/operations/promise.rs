//! Completions that the program completes (revamp_completion_create). One that is abandoned fails.

use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use crate::runtime::operations::host_operation::HostOperation;
use std::sync::{Arc, Weak};

/// The operations that the program has yet to complete.
static OPEN: Mutex<Vec<Weak<HostOperation>>, { rank::PROMISES }> = Mutex::new(Vec::new());

/// The duty to complete an operation.
pub(super) struct Promise(Arc<HostOperation>);

impl Promise {
    pub fn new(operation: Arc<HostOperation>) -> Self {
        let mut open = OPEN.lock();
        if open.len() == open.capacity() {
            open.retain(|o| o.strong_count() > 0);
        }
        open.push(Arc::downgrade(&operation));
        drop(open);
        Self(operation)
    }

    /// Completes the operation; false if that was done before.
    pub fn settle(&self, result: Result<()>) -> bool {
        self.0.settle(result)
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.settle(Err(Error::runtime("the completion was released before it was set with revamp_completion_set()")));
    }
}

/// Lets all operations fail that the program has not completed: nobody can complete them any more.
pub(in crate::runtime) fn abandon_all() {
    let open = std::mem::take(&mut *OPEN.lock());
    for operation in open.iter().filter_map(Weak::upgrade) {
        operation.settle(Err(Error::runtime(
            "the completion was not set before revamp_uninitialize() or the end of the process",
        )));
    }
}
