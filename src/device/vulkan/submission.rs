//! Submission of batches to the device.

#![allow(unsafe_code)]

use super::core::Core;
use super::timeline::VulkanTimeline;
use crate::error::Result;
use ash::vk;
use smallvec::SmallVec;

/// The arguments of one submission.
#[derive(Default)]
pub(super) struct Submission<'a> {
    /// The value to signal on the queue's semaphore before the waits, when all earlier submissions are done.
    pub before: Option<u64>,
    /// Semaphores to wait for, and their values.
    pub waits: (&'a [vk::Semaphore], &'a [u64]),
    /// The command buffers to run.
    pub commands: &'a [vk::CommandBuffer],
    /// The value to signal on the queue's semaphore afterwards.
    pub after: Option<u64>,
    /// Semaphores of the program to signal afterwards, and their values.
    pub program_signals: &'a [(vk::Semaphore, u64)],
}

/// Submits to `queue`. `own`: the timeline of the queue.
pub(super) fn submit(core: &Core, queue: vk::Queue, own: &VulkanTimeline, submission: &Submission<'_>) -> Result<()> {
    let &Submission { before, waits: (waits, wait_values), commands, after, program_signals } = submission;
    let semaphore = [own.semaphore];
    let first = [before.unwrap_or(0)];
    let own_value = [after.unwrap_or(0)];
    let (all, values);
    let (signals, last) = if program_signals.is_empty() {
        let count = usize::from(after.is_some());
        (&semaphore[..count], &own_value[..count])
    } else {
        (all, values) = with_queue_semaphore(own.semaphore, after, program_signals);
        (&all[..], &values[..])
    };
    let stages: SmallVec<[_; 4]> = waits.iter().map(|_| vk::PipelineStageFlags::ALL_COMMANDS).collect();
    let mut before_it = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&first);
    let mut timeline =
        vk::TimelineSemaphoreSubmitInfo::default().wait_semaphore_values(wait_values).signal_semaphore_values(last);
    let infos = [
        vk::SubmitInfo::default()
            .signal_semaphores(&semaphore[..usize::from(before.is_some())])
            .push_next(&mut before_it),
        vk::SubmitInfo::default()
            .wait_semaphores(waits)
            .wait_dst_stage_mask(&stages)
            .command_buffers(commands)
            .signal_semaphores(signals)
            .push_next(&mut timeline),
    ];
    let infos = &infos[usize::from(before.is_none())..];
    let submitting = core.submitting();
    // Another thread may have marked the device as lost meanwhile.
    core.check_alive()?;
    // SAFETY: no other thread submits. The batch keeps every handle alive until its number is reached. Signals of the semaphores
    // to wait for have been submitted.
    let done = unsafe { core.raw.queue_submit(queue, infos, vk::Fence::null()) };
    drop(submitting);
    done.map_err(|e| core.failed("vkQueueSubmit", e))?;
    for value in before.into_iter().chain(after) {
        own.will_signal(value);
    }
    Ok(())
}

/// The semaphores and values that a submission signals: the queue's own and the program's.
#[cold]
fn with_queue_semaphore(
    own: vk::Semaphore,
    after: Option<u64>,
    program_signals: &[(vk::Semaphore, u64)],
) -> (Vec<vk::Semaphore>, Vec<u64>) {
    after.map(|value| (own, value)).into_iter().chain(program_signals.iter().copied()).unzip()
}
