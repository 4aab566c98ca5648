//! Converts the times of events to the host's clock. Events read their times from a counter, which is faster than reading the
//! clock. The counter is compared with the clock from time to time.

/// The clocks of a trace.
#[derive(Debug, Clone, Copy)]
pub struct Clocks {
    /// The host's clock, to which devices are calibrated, in nanoseconds.
    pub now: fn() -> u64,
    /// A counter with a constant rate. May be the same function as `now`.
    pub counter: fn() -> u64,
}

impl Clocks {
    /// Reads the clock and the counter at nearly the same time. Returns the fastest of four readings.
    fn read(&self) -> ClockReading {
        let readings = (0..4).map(|_| {
            let (before, nanoseconds, after) = ((self.counter)(), (self.now)(), (self.counter)());
            (
                after.wrapping_sub(before),
                ClockReading { count: before.wrapping_add(after.wrapping_sub(before) / 2), nanoseconds },
            )
        });
        readings.min_by_key(|(gap, _)| *gap).map_or(ClockReading { count: 0, nanoseconds: 0 }, |(_, at)| at)
    }
}

/// A time, as a count of the counter and in nanoseconds of the host's clock.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    count: u64,
    nanoseconds: u64,
}

/// The rate of the counter is precise enough if it was measured over this many nanoseconds.
const PRECISE_INTERVAL: u64 = 10_000_000;

/// Converts counts to times of the host's clock.
pub(super) struct ClockConversion {
    clocks: Clocks,
    base: ClockReading,
    last: ClockReading,
    /// Nanoseconds per count.
    rate: f64,
    /// The nanoseconds over which the rate was measured.
    measured_interval: u64,
}

impl ClockConversion {
    /// Begins to compare the clocks.
    pub fn new(clocks: Clocks) -> Self {
        let base = clocks.read();
        Self { clocks, base, last: base, rate: 1.0, measured_interval: 0 }
    }

    /// Compares the counter with the clock again. Must be called before counts that are newer than the last comparison
    /// are converted.
    pub fn compare(&mut self) {
        if self.last.nanoseconds.saturating_sub(self.base.nanoseconds) >= PRECISE_INTERVAL {
            self.base = self.last;
        }
        self.last = self.clocks.read();
        let (count, elapsed) = (
            self.last.count.wrapping_sub(self.base.count),
            self.last.nanoseconds.saturating_sub(self.base.nanoseconds),
        );
        if count > 0 && elapsed >= self.measured_interval.min(PRECISE_INTERVAL) {
            (self.rate, self.measured_interval) = (elapsed as f64 / count as f64, elapsed);
        }
    }

    /// Converts a count of the counter to nanoseconds of the host's clock.
    #[inline]
    pub fn time(&self, count: u64) -> u64 {
        let nanoseconds_since = count.wrapping_sub(self.base.count) as i64 as f64 * self.rate;
        self.base.nanoseconds.saturating_add_signed(nanoseconds_since as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static NOW: AtomicU64 = AtomicU64::new(0);

    fn now() -> u64 {
        NOW.load(Ordering::Relaxed)
    }

    /// 2.5 counts per nanosecond.
    fn counter() -> u64 {
        let now = now();
        (now * 2 + now / 2).wrapping_sub(1 << 40)
    }

    #[test]
    fn counts_become_times() {
        let mut counts = Vec::new();
        let mut pace = ClockConversion::new(Clocks { now, counter });
        for step in [10_000, 3, 4_000_000, 100_000_000, 7, 100_000_000, 1_000_000_000_000] {
            counts.push((now(), counter()));
            NOW.fetch_add(step, Ordering::Relaxed);
            pace.compare();
            for &(time, count) in &counts {
                assert!(pace.time(count).abs_diff(time) <= 1, "{time} became {} after {step}", pace.time(count));
            }
        }
    }
}
