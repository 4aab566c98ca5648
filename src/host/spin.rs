//! Spinning on a condition for a while before sleeping.

use super::threads::processors;
use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// How long to spin.
#[derive(Debug, Clone, Copy)]
pub struct Spin {
    /// How long the thread spins without yielding.
    pub alone: Duration,
    /// How long the thread spins in total. After `alone`, it yields to other threads between its checks.
    pub timeout: Duration,
}

impl Spin {
    /// The times for this machine; `None`: do not spin. Spinning pays off because under a hypervisor, waking a thread
    /// takes 50 us or more, which is the time of many launches. With two processors, the launching thread needs one of
    /// them, so spinning yields from the start. With one processor, a spinning thread would take the processor from the
    /// working thread.
    pub fn for_this_machine() -> Option<Self> {
        let (alone, timeout) = match processors() {
            1 => return None,
            2 => (0, 50),
            _ => (20, 100),
        };
        Some(Self { alone: Duration::from_micros(alone), timeout: Duration::from_micros(timeout) })
    }

    /// Spins until `found()` is true. False if the total time passes first.
    pub fn until(self, found: impl Fn() -> bool) -> bool {
        let start = Instant::now();
        loop {
            for _ in 0..16 {
                if found() {
                    return true;
                }
                spin_loop();
            }
            let passed = start.elapsed();
            if passed >= self.timeout {
                return false;
            }
            if passed >= self.alone {
                std::thread::yield_now();
            }
        }
    }
}
