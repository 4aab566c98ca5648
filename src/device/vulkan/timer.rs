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
}

impl LaunchTimer {
    pub fn new(core: &Arc<Core>) -> Result<Arc<Self>> {
        if core.physical.limits.timestamp_bits == 0 {
            let name = &core.physical.name;
            return Err(Error::unsupported(format!("{name} has no timestamps, so its work cannot be timed")));
        }
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
        // SAFETY: the device is alive.
        let pool =
            unsafe { core.raw.create_query_pool(&info, None) }.map_err(|e| core.failed("vkCreateQueryPool", e))?;
        Ok(Arc::new(Self { core: core.clone(), pool }))
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
        let limits = &self.core.physical.limits;
        let steps = last.wrapping_sub(first) & (u64::MAX >> (64 - limits.timestamp_bits.clamp(1, 64)));
        steps as f64 * f64::from(limits.timestamp_period)
    }

    /// The device's clock and the host's at one time, and how far that may be wrong; `None` if the device cannot tell.
    fn calibrate(&self) -> Option<(u64, u64, u64)> {
        let core = &self.core;
        if !core.physical.limits.has_host_clock {
            return None;
        }
        let of = |domain| vk::CalibratedTimestampInfoEXT::default().time_domain(domain);
        let clocks = [of(vk::TimeDomainEXT::DEVICE), of(vk::TimeDomainEXT::CLOCK_MONOTONIC)];
        let functions = ext::calibrated_timestamps::Device::new(&core.instance, &core.raw);
        // SAFETY: the extension is on, and the device has these clocks.
        let (times, deviation) = unsafe { functions.get_calibrated_timestamps(&clocks) }.ok()?;
        Some((times[0], times[1], deviation))
    }
}

impl Timer for LaunchTimer {
    fn nanoseconds(&self) -> Result<Option<f64>> {
        // What was lost never ran; to ask whether it was this launch would count as telling the program.
        if any_lost() {
            return Err(Error::runtime("work was lost, so no launch is timed any more"));
        }
        Ok(self.timestamps()?.map(|[first, last]| self.between(first, last)))
    }

    fn times(&self) -> Result<Times> {
        let [first, last] = self.timestamps()?.ok_or_else(|| Error::internal("timed work that is not done"))?;
        let took = self.between(first, last) as u64;
        let Some((device, host, deviation)) = self.calibrate() else {
            let begin = (first as f64 * f64::from(self.core.physical.limits.timestamp_period)) as u64;
            return Ok(Times { begin, end: begin + took, deviation: None });
        };
        let begin = host - self.between(first, device) as u64;
        Ok(Times { begin, end: begin + took, deviation: Some(deviation) })
    }
}

impl Drop for LaunchTimer {
    fn drop(&mut self) {
        // SAFETY: a recording keeps it until the device is done with it.
        unsafe { self.core.raw.destroy_query_pool(self.pool, None) };
    }
}
