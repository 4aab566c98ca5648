//! The library's threads in the process: a pool for computing, and two elastic pools for jobs that may block.

use super::pool::ThreadPool;
use super::threads::Tasks;
use crate::config;
use std::sync::{Arc, OnceLock};

/// The threads that host devices and transfers share.
#[derive(Clone)]
pub struct Workers {
    /// For computing and large copies.
    pub pool: Arc<ThreadPool>,
    /// For work of the library that may block: host operations and the jobs of queues.
    pub tasks: Arc<Tasks>,
    /// For callbacks of the program. Separate, because callbacks may wait for tasks.
    pub callbacks: Arc<Tasks>,
}

impl Workers {
    /// Workers with `threads` computing threads.
    pub fn new(threads: usize) -> Self {
        Self { pool: Arc::new(ThreadPool::new(threads)), tasks: Arc::default(), callbacks: Arc::default() }
    }

    /// Waits until no task and no callback runs or is queued, except those that call this function.
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
