//! What all timers of a device share: the timestamp queries, and the calibration of the device clock against the host clock.

#![allow(unsafe_code)]

use crate::device::Times;
use crate::lock::{Mutex, rank};
use ash::vk;
use std::time::{Duration, Instant};

/// The number of timers that share a query pool.
const POOL_TIMERS: u32 = 64;
/// How long a calibration stays valid. A new calibration takes microseconds, because it reads both clocks.
const CALIBRATION_LIFETIME: Duration = Duration::from_millis(1);

/// The state that all timers of a device share.
pub(super) struct Timers(Mutex<Shared, { rank::TIMERS }>);

#[derive(Default)]
struct Shared {
    pools: Vec<vk::QueryPool>,
    /// Pairs of queries that no timer uses.
    free: Vec<Queries>,
    calibration: Option<(Instant, Calibration)>,
}

/// Two consecutive queries of a pool.
#[derive(Clone, Copy)]
pub(super) struct Queries {
    pub pool: vk::QueryPool,
    pub first: u32,
}

impl Timers {
    pub fn new() -> Self {
        Self(Mutex::new(Shared::default()))
    }

    /// Takes a pair of queries that no other timer uses.
    pub fn take(&self, device: &ash::Device) -> Result<Queries, vk::Result> {
        let free = self.0.lock().free.pop();
        free.map_or_else(|| self.add_pool(device), Ok)
    }

    fn add_pool(&self, device: &ash::Device) -> Result<Queries, vk::Result> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2 * POOL_TIMERS);
        // SAFETY: the device is alive.
        let pool = unsafe { device.create_query_pool(&info, None) }?;
        let mut shared = self.0.lock();
        shared.pools.push(pool);
        shared.free.extend((1..POOL_TIMERS).map(|i| Queries { pool, first: 2 * i }));
        Ok(Queries { pool, first: 0 })
    }

    /// Makes a pair of queries available to other timers. The device must no longer use the queries.
    pub fn give(&self, queries: Queries) {
        self.0.lock().free.push(queries);
    }

    /// The latest calibration if it is still valid, else a new one by `calibrate`; `None` if the device cannot calibrate.
    pub fn calibration(&self, calibrate: impl FnOnce() -> Option<Calibration>) -> Option<Calibration> {
        let known =
            self.0.lock().calibration.filter(|(calibrated_at, _)| calibrated_at.elapsed() <= CALIBRATION_LIFETIME);
        if let Some((_, calibration)) = known {
            return Some(calibration);
        }
        let calibration = calibrate()?;
        self.0.lock().calibration = Some((Instant::now(), calibration));
        Some(calibration)
    }

    /// Destroys the query pools.
    pub fn destroy(&mut self, device: &ash::Device) {
        for pool in self.0.get_mut().pools.drain(..) {
            // SAFETY: no timer is left, and the device is idle.
            unsafe { device.destroy_query_pool(pool, None) };
        }
    }
}

/// The values of the device clock and the host clock at the same time.
#[derive(Clone, Copy)]
pub(super) struct Calibration {
    pub device: u64,
    pub host: u64,
    /// The maximum error, in nanoseconds.
    pub deviation: u64,
}

impl Calibration {
    /// The start and the end of work in host time. The work took `took` nanoseconds. If `before` is at most the deviation, the work
    /// began `before` nanoseconds before the calibration. Otherwise the work began `since` nanoseconds after the calibration.
    pub fn times(&self, before: u64, since: u64, took: u64) -> Times {
        // The work begins after the calibration. Only the error of the calibration can make it seem to begin earlier.
        let is_before = before <= self.deviation;
        let begin = if is_before { self.host.saturating_sub(before) } else { self.host.saturating_add(since) };
        let end = begin.saturating_add(took);
        Times { begin, end, deviation: Some(self.deviation.saturating_add(drift(end.saturating_sub(self.host)))) }
    }
}

/// The maximum drift between the two clocks in `elapsed` nanoseconds. NTP slews the host clock by at most 500 ppm, and the crystals
/// of the clocks differ by at most 100 ppm.
fn drift(elapsed: u64) -> u64 {
    (elapsed / 5000).saturating_mul(3)
}

#[cfg(test)]
mod tests {
    use super::{Calibration, Times};

    /// The clocks drift between the calibration and the work.
    #[test]
    fn late_work_has_a_larger_deviation() {
        const SECOND: u64 = 1_000_000_000;
        let clocks = Calibration { device: 7, host: 5 * SECOND, deviation: 40 };
        let at = |begin, end, deviation| Times { begin, end, deviation: Some(deviation) };
        assert_eq!(clocks.times(u64::MAX, 0, 0), at(5 * SECOND, 5 * SECOND, 40));
        assert_eq!(clocks.times(u64::MAX, SECOND, SECOND), at(6 * SECOND, 7 * SECOND, 1_200_040));
        // Within the error of the calibration, the work may have begun before the calibration.
        assert_eq!(clocks.times(40, u64::MAX - 40, 10), at(5 * SECOND - 40, 5 * SECOND - 30, 40));
        assert_eq!(clocks.times(u64::MAX, u64::MAX, 1).end, u64::MAX);
    }
}
