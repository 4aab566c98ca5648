//! The stop flags of launches: a launch sets its flag if the driver stops one of its loops ([`super::overruns`]).

use super::core::Core;
use super::memory::{AllocationRequest, Mapping, VulkanBuffer};
use super::overruns::{LaunchFlags, StopWord, WatchedQueue};
use crate::device::Buffer;
use crate::error::{Error, Result};
use crate::host::HostSpan;
use crate::kernel::overrun::INITIAL_WORDS;
use crate::lock::{Mutex, rank};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// The number of flags of a recording. Commands beyond this number share the last flag.
const FLAGS: usize = 128;
/// The size of a flag and of a device's stop word.
pub(super) const FLAG_BYTES: u64 = size_of_val(&INITIAL_WORDS) as u64;

/// Memory for `count` flags, `stride` bytes apart. The flags are not set.
fn allocate_flags(core: &Arc<Core>, count: u64, stride: u64) -> Result<Arc<VulkanBuffer>> {
    let memory_type = core.physical.memory_types.readback;
    let wanted = AllocationRequest { memory_type, mapped: Mapping::Host, staging: true };
    let buffer = VulkanBuffer::new(core, count * stride, &wanted, "flags of launches")?;
    (0..count).try_for_each(|number| reset(&buffer, number * stride))?;
    Ok(buffer)
}

fn span(buffer: &VulkanBuffer, offset: u64) -> Result<HostSpan> {
    let all = buffer.host().ok_or_else(|| Error::internal("the memory of the stop flags of launches is not mapped"))?;
    all.sub(offset..offset + FLAG_BYTES)
}

fn reset(buffer: &VulkanBuffer, offset: u64) -> Result<()> {
    let [first, second] = INITIAL_WORDS.map(u32::to_ne_bytes);
    span(buffer, offset)?.write(&[first, second].concat())
}

/// True if the flag is set, or cannot be read.
fn is_set(buffer: &VulkanBuffer, offset: u64) -> bool {
    span(buffer, offset).map_or(true, |span| span.first_word() != Some(INITIAL_WORDS[0]))
}

/// A new stop word for a device.
pub(super) fn word(core: &Arc<Core>) -> Result<StopWord> {
    let buffer = allocate_flags(core, 1, FLAG_BYTES)?;
    Ok(StopWord { span: span(&buffer, 0)?, buffer })
}

/// The stop flags of a recording's commands.
pub(super) struct Flags {
    /// The memory of the flags, which is mapped.
    pub buffer: Arc<VulkanBuffer>,
    /// The distance between two flags in bytes.
    stride: u64,
    queue: Weak<dyn WatchedQueue>,
    /// The batch of the recording.
    value: AtomicU64,
    /// The sequence number of the recording's first command.
    first: AtomicU64,
    /// The number of the recording's commands.
    count: AtomicUsize,
    /// The names of the kernels that have flags, by the number of the flag.
    kernels: Mutex<HashMap<usize, Arc<str>>, { rank::FLAGS }>,
}

impl Flags {
    /// Unset flags for a recording of this queue.
    pub fn new(core: &Arc<Core>, queue: Weak<dyn WatchedQueue>) -> Result<Arc<Self>> {
        let stride = core.physical.limits.storage_buffer_offset_alignment.max(FLAG_BYTES);
        let flags = Arc::new(Self {
            buffer: allocate_flags(core, FLAGS as u64, stride)?,
            stride,
            queue,
            value: AtomicU64::new(0),
            first: AtomicU64::new(0),
            count: AtomicUsize::new(0),
            kernels: Mutex::new(HashMap::new()),
        });
        let weak: Weak<Self> = Arc::downgrade(&flags);
        core.overruns.add_flags(weak);
        Ok(flags)
    }

    /// The offset of the flag of command `number`, which is a launch of `kernel`.
    pub fn offset(&self, number: usize, kernel: &Arc<str>) -> u64 {
        let number = number.min(FLAGS - 1);
        self.kernels.lock().insert(number, kernel.clone());
        number as u64 * self.stride
    }

    /// Notes the number of the batch that is about to be submitted, and the recording's commands in it.
    #[inline]
    pub fn set_batch(&self, value: u64, first: u64, count: usize) {
        self.value.store(value, Ordering::Relaxed);
        self.first.store(first, Ordering::Relaxed);
        self.count.store(count, Ordering::Release);
    }
}

impl LaunchFlags for Flags {
    fn queue(&self) -> Option<Arc<dyn WatchedQueue>> {
        self.queue.upgrade()
    }

    fn batch(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }

    fn take(&self) -> Vec<(Range<u64>, Arc<str>)> {
        let (first, count) = (self.first.load(Ordering::Relaxed), self.count.load(Ordering::Acquire));
        let mut found = Vec::new();
        for (&number, kernel) in self.kernels.lock().iter() {
            let offset = number as u64 * self.stride;
            if number < count && is_set(&self.buffer, offset) {
                let end = if number == FLAGS - 1 { count } else { number + 1 };
                found.push((first + number as u64..first + end as u64, kernel.clone()));
                if let Err(e) = reset(&self.buffer, offset) {
                    crate::log!(Error, "{e}");
                }
            }
        }
        found
    }
}
