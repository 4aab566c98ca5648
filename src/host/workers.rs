//! The threads of the process: one pool for computing, and two elastic ones for jobs that may block.

use super::pool::ThreadPool;
use super::threads::Tasks;
use crate::config;
use std::sync::{Arc, OnceLock};

/// The threads that host devices and transfers share.
#[derive(Clone)]
pub struct Workers {
    /// For computing and large copies.
    pub pool: Arc<ThreadPool>,
    /// For work of the library that may block: operations of the host, queues' jobs.
    pub tasks: Arc<Tasks>,
    /// For callbacks of the program. Separate, since callbacks may wait for the other tasks.
    pub callbacks: Arc<Tasks>,
}

impl Workers {
    /// Workers of which `threads` compute.
    pub fn new(threads: usize) -> Self {
        Self { pool: Arc::new(ThreadPool::new(threads)), tasks: Arc::default(), callbacks: Arc::default() }
    }

    /// Waits until no task and no callback runs or is queued, except those that call this.
    pub fn drain(&self) {
        loop {
            self.tasks.drain();
            self.callbacks.drain();
            // A callback may have begun further work.
            if self.tasks.is_quiet() {
                return;
            }
        }
    }

    /// The process's workers, with `REVAMP_HOST_THREADS` computing threads. Threads start when first used.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Workers> = OnceLock::new();
        SHARED.get_or_init(|| Self::new(config::get().host_threads))
    }
}
