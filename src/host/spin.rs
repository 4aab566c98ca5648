//! Looking for something for a while before sleeping.

use super::threads::processors;
use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// How long to look.
#[derive(Debug, Clone, Copy)]
pub struct Spin {
    /// At first keeping the processor,
    pub alone: Duration,
    /// then, up to this, giving way to other threads.
    pub whole: Duration,
}

impl Spin {
    /// For what comes soon, if it comes. Sleeping costs 50 us and more where waking goes through a hypervisor, which is as long
    /// as many launches last. With two processors the thread that launches needs one; with one, spinning takes it from who works.
    pub fn here() -> Option<Self> {
        let (alone, whole) = match processors() {
            1 => return None,
            2 => (0, 50),
            _ => (20, 100),
        };
        Some(Self { alone: Duration::from_micros(alone), whole: Duration::from_micros(whole) })
    }

    /// True as soon as it is found, false if the time is over.
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
            if passed >= self.whole {
                return false;
            }
            if passed >= self.alone {
                std::thread::yield_now();
            }
        }
    }
}
