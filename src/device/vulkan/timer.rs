//! Timers of launches and copies: a timestamp before the operation and one after it.

#![allow(unsafe_code)]

use super::clocks::{Calibration, Queries};
use super::core::Core;
use crate::device::hazard::any_lost;
use crate::device::{Timer, Times};
use crate::error::{Error, Result};
use ash::{ext, vk};
use std::sync::Arc;

/// The timestamps of one launch or copy.
pub(super) struct LaunchTimer {
    core: Arc<Core>,
    /// The valid bits of its timestamps.
    bits: u32,
    queries: Queries,
    calibration: Option<Calibration>,
}

impl LaunchTimer {
    /// A timer for work of a queue whose timestamps have this many valid bits.
    pub fn new(core: &Arc<Core>, bits: u32) -> Result<Arc<Self>> {
        if bits == 0 {
            let name = &core.physical.name;
            return Err(Error::unsupported(format!(
                "{name} does not support timestamps, so operations on it cannot be timed"
            )));
        }
        // Calibrated now, because the device clock may wrap around before the program asks for the times.
        let calibration = core.timers.calibration(|| calibrate(core));
        let queries = core.timers.take(&core.raw).map_err(|e| core.failed("vkCreateQueryPool", e))?;
        if core.physical.features.host_query_reset {
            // SAFETY: no command buffer uses the queries.
            unsafe { core.raw.reset_query_pool(queries.pool, queries.first, 2) };
        }
        Ok(Arc::new(Self { core: core.clone(), bits, queries, calibration }))
    }

    /// Records the first timestamp, taken when all earlier commands are done. The caller puts a barrier between the earlier commands and the
    /// timed command.
    pub fn begin(&self, commands: vk::CommandBuffer) {
        let raw = &self.core.raw;
        let Queries { pool, first } = self.queries;
        // SAFETY: the command buffer is recording. Its recording keeps the timer alive until the commands are done.
        unsafe {
            if !self.core.physical.features.host_query_reset {
                raw.cmd_reset_query_pool(commands, pool, first, 2);
            }
            raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, first);
        }
    }

    /// Records the second timestamp, taken when the timed command is done.
    pub fn end(&self, commands: vk::CommandBuffer) {
        let Queries { pool, first } = self.queries;
        // SAFETY: as in `begin`.
        unsafe {
            self.core.raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, first + 1);
        }
    }
}

impl LaunchTimer {
    /// Both timestamps, if the work is done.
    fn timestamps(&self) -> Result<Option<[u64; 2]>> {
        let mut times = [0_u64; 2];
        let Queries { pool, first } = self.queries;
        // SAFETY: the work is done, so the queries are no longer in use. Two values are requested.
        let got =
            unsafe { self.core.raw.get_query_pool_results(pool, first, &mut times, vk::QueryResultFlags::TYPE_64) };
        match got {
            Ok(()) => Ok(Some(times)),
            Err(vk::Result::NOT_READY) => Ok(None),
            Err(e) => Err(self.core.failed("vkGetQueryPoolResults", e)),
        }
    }

    /// The nanoseconds from one timestamp to a later one.
    fn between(&self, first: u64, last: u64) -> f64 {
        self.steps(first, last) as f64 * f64::from(self.core.physical.limits.timestamp_period)
    }

    /// The timestamp increments from one timestamp to a later one.
    fn steps(&self, first: u64, last: u64) -> u64 {
        last.wrapping_sub(first) & (u64::MAX >> (64 - self.bits.clamp(1, 64)))
    }
}

/// Reads the device clock and the host clock at the same time; `None` if the device cannot.
fn calibrate(core: &Core) -> Option<Calibration> {
    if !core.physical.limits.has_host_clock {
        return None;
    }
    let of = |domain| vk::CalibratedTimestampInfoEXT::default().time_domain(domain);
    let clocks = [of(vk::TimeDomainEXT::DEVICE), of(vk::TimeDomainEXT::CLOCK_MONOTONIC)];
    let functions = ext::calibrated_timestamps::Device::new(&core.instance, &core.raw);
    // SAFETY: the extension is enabled, and the device supports these clocks.
    let (times, deviation) = unsafe { functions.get_calibrated_timestamps(&clocks) }.ok()?;
    Some(Calibration { device: times[0], host: times[1], deviation })
}

impl Timer for LaunchTimer {
    fn nanoseconds(&self) -> Result<Option<f64>> {
        // Lost launches never ran. Asking whether this launch was lost would mark the loss as reported to the program.
        if any_lost() {
            return Err(Error::runtime("launches cannot be timed after accepted work was lost"));
        }
        Ok(self.timestamps()?.map(|[first, last]| self.between(first, last)))
    }

    fn times(&self) -> Result<Times> {
        let [first, last] =
            self.timestamps()?.ok_or_else(|| Error::internal("the times of unfinished work were requested"))?;
        let whole = |steps| nanoseconds(steps, self.core.physical.limits.timestamp_period);
        let took = whole(self.steps(first, last));
        let Some(calibration) = self.calibration.as_ref() else {
            let begin = whole(first);
            return Ok(Times { begin, end: begin.saturating_add(took), deviation: None });
        };
        let since = |from, to| whole(self.steps(from, to));
        Ok(calibration.times(since(first, calibration.device), since(calibration.device, first), took))
    }
}

/// Converts timestamp increments of `period` ns to nanoseconds. Exact even beyond 2^53, where doubles are not exact.
fn nanoseconds(steps: u64, period: f32) -> u64 {
    const ONE: f64 = (1_u64 << 32) as f64;
    let period = (f64::from(period) * ONE) as u128;
    u64::try_from((u128::from(steps) * period) >> 32).unwrap_or(u64::MAX)
}

impl Drop for LaunchTimer {
    fn drop(&mut self) {
        // A recording holds the timer until the device is done with it, so the queries are unused.
        self.core.timers.give(self.queries);
    }
}

#[cfg(test)]
mod tests {
    /// Beyond 2^53, doubles cannot represent every nanosecond.
    #[test]
    fn long_times_are_exact() {
        let late = (1 << 60) + 1;
        assert_eq!(super::nanoseconds(late, 1.0), late);
        assert_eq!(super::nanoseconds(u64::MAX, 1.0), u64::MAX);
        assert_eq!(super::nanoseconds(u64::MAX, 2.0), u64::MAX);
        assert_eq!(super::nanoseconds(10, 52.5), 525);
    }
}
