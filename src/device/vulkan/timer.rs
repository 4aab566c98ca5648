//! Timed launches: two timestamps around one.

#![allow(unsafe_code)]

use super::core::Core;
use crate::device::Timer;
use crate::device::hazard::any_lost;
use crate::error::{Error, Result};
use ash::vk;
use std::sync::Arc;

/// The timestamps of one launch.
pub(super) struct LaunchTimer {
    core: Arc<Core>,
    pool: vk::QueryPool,
}

impl LaunchTimer {
    pub fn new(core: &Arc<Core>) -> Result<Arc<Self>> {
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

impl Timer for LaunchTimer {
    fn nanoseconds(&self) -> Result<Option<f64>> {
        // What was lost never ran; to ask whether it was this launch would count as telling the program.
        if any_lost() {
            return Err(Error::runtime("work was lost, so no launch is timed any more"));
        }
        let mut times = [0_u64; 2];
        // SAFETY: the launch is done, so the queries are no longer in use; two numbers are asked for.
        let got =
            unsafe { self.core.raw.get_query_pool_results(self.pool, 0, &mut times, vk::QueryResultFlags::TYPE_64) };
        let limits = &self.core.physical.limits;
        match got {
            Ok(()) => {
                let steps = times[1].wrapping_sub(times[0]) & (u64::MAX >> (64 - limits.timestamp_bits.clamp(1, 64)));
                Ok(Some(steps as f64 * f64::from(limits.timestamp_period)))
            }
            Err(vk::Result::NOT_READY) => Ok(None),
            Err(e) => Err(self.core.failed("vkGetQueryPoolResults", e)),
        }
    }
}

impl Drop for LaunchTimer {
    fn drop(&mut self) {
        // SAFETY: a recording keeps it until the device is done with it.
        unsafe { self.core.raw.destroy_query_pool(self.pool, None) };
    }
}
