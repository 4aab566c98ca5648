//! Command pools, each shared by many command buffers of a queue. On an H200 the first recording of a command buffer takes
//! 2 us in a shared pool, but 91 us and sometimes milliseconds in a pool of its own.

#![allow(unsafe_code)]

use super::core::Core;
use crate::error::Result;
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum number of command buffers that are allocated from a pool.
const MAX_COMMAND_BUFFERS: usize = 64;

/// A command pool. It lives as long as its command buffers. A thread that calls a function for the pool or for one of its command
/// buffers must hold the lock of the queue's state, or be the only owner of the pool.
pub(super) struct CommandPool {
    raw: vk::CommandPool,
    /// The queue family.
    pub family: u32,
    /// The number of command buffers allocated so far, including the freed ones.
    allocated: AtomicUsize,
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
        Ok(Arc::new(Self { raw, family, allocated: AtomicUsize::new(0) }))
    }

    /// True if no more command buffers may be allocated from the pool.
    pub fn is_full(&self) -> bool {
        self.allocated.load(Ordering::Relaxed) >= MAX_COMMAND_BUFFERS
    }

    /// A new command buffer.
    pub fn allocate(&self, core: &Core) -> Result<vk::CommandBuffer> {
        self.allocated.fetch_add(1, Ordering::Relaxed);
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.raw).command_buffer_count(1);
        // SAFETY: the pool is alive, and no other thread uses it.
        let made = unsafe { core.raw.allocate_command_buffers(&info) };
        match made.map(|c| c.first().copied()) {
            Ok(Some(c)) => Ok(c),
            other => Err(core.failed("vkAllocateCommandBuffers", other.err().unwrap_or(vk::Result::ERROR_UNKNOWN))),
        }
    }

    /// Frees a command buffer and releases the reference to its pool.
    pub fn free(pool: Arc<Self>, core: &Core, commands: vk::CommandBuffer) {
        // SAFETY: the device is done with the command buffer, never got it, or is lost; no other thread uses the pool.
        unsafe { core.raw.free_command_buffers(pool.raw, &[commands]) };
        Self::release(pool, core);
    }

    /// Releases a reference to the pool. Releasing the last reference destroys the pool.
    pub fn release(pool: Arc<Self>, core: &Core) {
        if let Some(last) = Arc::into_inner(pool) {
            // SAFETY: all its command buffers have been freed.
            unsafe { core.raw.destroy_command_pool(last.raw, None) };
        }
    }
}
