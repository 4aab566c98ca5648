//! The timer of work that host threads do.

use crate::device::{Timer, Times};
use crate::error::Result;
use crate::host::system::now;
use std::sync::atomic::{AtomicU64, Ordering};

/// When work of the host began and ended.
#[derive(Default)]
pub struct HostTimer {
    begin: AtomicU64,
    end: AtomicU64,
}

impl HostTimer {
    /// Does the work and records its times.
    pub fn measure<T>(&self, work: impl FnOnce() -> T) -> T {
        self.begin.store(now(), Ordering::Relaxed);
        let done = work();
        self.end.store(now(), Ordering::Release);
        done
    }
}

impl Timer for HostTimer {
    fn nanoseconds(&self) -> Result<Option<f64>> {
        self.times().map(|t| Some((t.end - t.begin) as f64))
    }

    fn times(&self) -> Result<Times> {
        let end = self.end.load(Ordering::Acquire);
        Ok(Times { begin: self.begin.load(Ordering::Relaxed), end, deviation: Some(0) })
    }
}
