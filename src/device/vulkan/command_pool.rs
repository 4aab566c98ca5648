//! Command pools, each shared by many command buffers of a queue. On an H200 the first recording of a command buffer takes
//! 2 us in a shared pool and 91 us, at times milliseconds, in a pool of its own.

#![allow(unsafe_code)]

use super::core::Core;
use crate::error::Result;
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many command buffers a pool gets.
const MOST: usize = 64;

/// A pool, which lives as long as its command buffers. All calls for it and its command buffers are made with the state of
/// their queue locked, or by their only owner.
pub(super) struct CommandPool {
    raw: vk::CommandPool,
    /// The queue family.
    pub family: u32,
    /// Command buffers that it was asked for.
    given: AtomicUsize,
}

impl CommandPool {
    /// A new pool for queues of `family`.
    pub fn new(core: &Core, family: u32) -> Result<Arc<Self>> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(family)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the device is alive and has the family.
        let raw =
            unsafe { core.raw.create_command_pool(&info, None) }.map_err(|e| core.failed("vkCreateCommandPool", e))?;
        Ok(Arc::new(Self { raw, family, given: AtomicUsize::new(0) }))
    }

    /// True if it has given as many command buffers as it may.
    pub fn is_full(&self) -> bool {
        self.given.load(Ordering::Relaxed) >= MOST
    }

    /// A new command buffer.
    pub fn allocate(&self, core: &Core) -> Result<vk::CommandBuffer> {
        self.given.fetch_add(1, Ordering::Relaxed);
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.raw).command_buffer_count(1);
        // SAFETY: the pool is alive, and no other thread uses it.
        let made = unsafe { core.raw.allocate_command_buffers(&info) };
        match made.map(|c| c.first().copied()) {
            Ok(Some(c)) => Ok(c),
            other => Err(core.failed("vkAllocateCommandBuffers", other.err().unwrap_or(vk::Result::ERROR_UNKNOWN))),
        }
    }

    /// Frees a command buffer, and the pool with its last owner.
    pub fn free(pool: Arc<Self>, core: &Core, commands: vk::CommandBuffer) {
        // SAFETY: the device is done with the command buffer, never got it, or is lost; no other thread uses the pool.
        unsafe { core.raw.free_command_buffers(pool.raw, &[commands]) };
        Self::release(pool, core);
    }

    /// Gives up a reference to the pool, and the pool with the last one.
    pub fn release(pool: Arc<Self>, core: &Core) {
        if let Some(last) = Arc::into_inner(pool) {
            // SAFETY: none of its command buffers is left.
            unsafe { core.raw.destroy_command_pool(last.raw, None) };
        }
    }
}
