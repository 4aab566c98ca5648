//! Timed launches and copies: two timestamps around one.

#![allow(unsafe_code)]

use super::core::Core;
use crate::device::hazard::any_lost;
use crate::device::{Timer, Times};
use crate::error::{Error, Result};
use ash::{ext, vk};
use std::sync::Arc;

/// The timestamps of one launch or copy.
pub(super) struct LaunchTimer {
    core: Arc<Core>,
    pool: vk::QueryPool,
    calibration: Option<Calibration>,
}

/// The clocks of the device and of the host at one time.
struct Calibration {
    device: u64,
    host: u64,
    /// How many nanoseconds that may be wrong.
    deviation: u64,
}

impl Calibration {
    /// The times of work that began `before` nanoseconds before the calibration, or else `since` after it, and took `took`.
    fn times(&self, before: u64, since: u64, took: u64) -> Times {
        // The work began after the calibration, except for the error of that.
        let is_before = before <= self.deviation;
        let begin = if is_before { self.host.saturating_sub(before) } else { self.host.saturating_add(since) };
        let end = begin.saturating_add(took);
        Times { begin, end, deviation: Some(self.deviation.saturating_add(drift(end.saturating_sub(self.host)))) }
    }
}

/// How far two clocks go apart in this time, in nanoseconds: NTP slews the host's by at most 500 ppm, and crystals differ by 100.
fn drift(elapsed: u64) -> u64 {
    (elapsed / 5000).saturating_mul(3)
}

impl LaunchTimer {
    pub fn new(core: &Arc<Core>) -> Result<Arc<Self>> {
        if core.physical.limits.timestamp_bits == 0 {
            let name = &core.physical.name;
            return Err(Error::unsupported(format!(
                "{name} does not support timestamps, so operations on it cannot be timed"
            )));
        }
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
        // SAFETY: the device is alive.
        let pool =
            unsafe { core.raw.create_query_pool(&info, None) }.map_err(|e| core.failed("vkCreateQueryPool", e))?;
        // Now and not when it is asked for: the device's clock may have wrapped around until then.
        Ok(Arc::new(Self { core: core.clone(), pool, calibration: calibrate(core) }))
    }

    /// Notes the time when all before is done. A barrier must come between that and the launch.
    pub fn begin(&self, commands: vk::CommandBuffer) {
        let raw = &self.core.raw;
        // SAFETY: the command buffer is recording, and keeps the timer until it is done.
        unsafe {
            raw.cmd_reset_query_pool(commands, self.pool, 0, 2);
            raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, self.pool, 0);
        }
    }

    /// Notes the time when the launch is done.
    pub fn end(&self, commands: vk::CommandBuffer) {
        // SAFETY: as in `begin`.
        unsafe { self.core.raw.cmd_write_timestamp(commands, vk::PipelineStageFlags::BOTTOM_OF_PIPE, self.pool, 1) };
    }
}

impl LaunchTimer {
    /// Both timestamps, if the work is done.
    fn timestamps(&self) -> Result<Option<[u64; 2]>> {
        let mut times = [0_u64; 2];
        // SAFETY: the work is done, so the queries are no longer in use; two numbers are asked for.
        let got =
            unsafe { self.core.raw.get_query_pool_results(self.pool, 0, &mut times, vk::QueryResultFlags::TYPE_64) };
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

    /// The steps from one timestamp to a later one.
    fn steps(&self, first: u64, last: u64) -> u64 {
        last.wrapping_sub(first) & (u64::MAX >> (64 - self.core.physical.limits.timestamp_bits.clamp(1, 64)))
    }
}

/// `None` if the device cannot tell.
fn calibrate(core: &Core) -> Option<Calibration> {
    if !core.physical.limits.has_host_clock {
        return None;
    }
    let of = |domain| vk::CalibratedTimestampInfoEXT::default().time_domain(domain);
    let clocks = [of(vk::TimeDomainEXT::DEVICE), of(vk::TimeDomainEXT::CLOCK_MONOTONIC)];
    let functions = ext::calibrated_timestamps::Device::new(&core.instance, &core.raw);
    // SAFETY: the extension is on, and the device has these clocks.
    let (times, deviation) = unsafe { functions.get_calibrated_timestamps(&clocks) }.ok()?;
    Some(Calibration { device: times[0], host: times[1], deviation })
}

impl Timer for LaunchTimer {
    fn nanoseconds(&self) -> Result<Option<f64>> {
        // What was lost never ran; to ask whether it was this launch would count as telling the program.
        if any_lost() {
            return Err(Error::runtime("launches cannot be timed after accepted work was lost"));
        }
        Ok(self.timestamps()?.map(|[first, last]| self.between(first, last)))
    }

    fn times(&self) -> Result<Times> {
        let [first, last] = self.timestamps()?.ok_or_else(|| Error::internal("timed work that is not done"))?;
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

/// The nanoseconds of steps of `period` ns, also where a double is not exact.
fn nanoseconds(steps: u64, period: f32) -> u64 {
    const ONE: f64 = (1_u64 << 32) as f64;
    let period = (f64::from(period) * ONE) as u128;
    u64::try_from((u128::from(steps) * period) >> 32).unwrap_or(u64::MAX)
}

impl Drop for LaunchTimer {
    fn drop(&mut self) {
        // SAFETY: a recording keeps it until the device is done with it.
        unsafe { self.core.raw.destroy_query_pool(self.pool, None) };
    }
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
        // Within the error of the calibration it may have begun before that.
        assert_eq!(clocks.times(40, u64::MAX - 40, 10), at(5 * SECOND - 40, 5 * SECOND - 30, 40));
        assert_eq!(clocks.times(u64::MAX, u64::MAX, 1).end, u64::MAX);
    }

    /// Doubles tell no single nanosecond beyond 2^53.
    #[test]
    fn long_times_are_exact() {
        let late = (1 << 60) + 1;
        assert_eq!(super::nanoseconds(late, 1.0), late);
        assert_eq!(super::nanoseconds(u64::MAX, 1.0), u64::MAX);
        assert_eq!(super::nanoseconds(u64::MAX, 2.0), u64::MAX);
        assert_eq!(super::nanoseconds(10, 52.5), 525);
    }
}
