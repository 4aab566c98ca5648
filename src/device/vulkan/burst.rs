//! Bursts: commands that follow each other so closely that they are gathered into few submissions.

use std::time::{Duration, Instant};

/// A command belongs to a burst if it follows the last submission within `BURST`, or the last command within `STREAM`. A
/// burst is gathered even while the device is idle, since a submission costs as much as many commands.
const BURST: Duration = Duration::from_micros(50);
const STREAM: Duration = Duration::from_micros(5);
/// The command buffers of a burst end after these numbers of commands, then after each further multiple of the last number.
/// A command buffer also ends where the previous burst ended. Only the position in the burst decides, not the progress of
/// the device, so that the bursts of a loop are cut alike and reuse their command buffers. Short command buffers cost time,
/// because beginning a command buffer costs the device as much as a dependent launch. If a burst ends in the middle of a long
/// command buffer that it reuses, the command buffer must then be recorded again.
const CUTS: [u64; 4] = [8, 16, 32, 64];

/// The place in a burst at which a command buffer begins. Positions from the last of [`CUTS`] on count as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct BurstPosition {
    position: u64,
    /// True if the command buffer's first command is the only command of its batch.
    alone: bool,
}

/// The burst of a queue.
#[derive(Default)]
pub(super) struct Burst {
    /// The number of commands of the burst so far.
    commands: u64,
    /// The number of commands of the burst at which the command buffer ends.
    cut: u64,
    /// The number of commands of the previous burst.
    previous_commands: u64,
    /// A command until this time follows the last submission closely enough to belong to the burst. An end time, since comparing
    /// times costs less than taking their difference.
    after_batch: Option<Instant>,
    /// A command until this time follows the last command closely enough to belong to the burst.
    after_command: Option<Instant>,
}

impl Burst {
    /// True if a command recorded at `now` belongs to the burst.
    pub fn goes_on(&self, now: Instant) -> bool {
        let before = |end: Option<Instant>| end.is_some_and(|end| now <= end);
        before(self.after_command) || before(self.after_batch)
    }

    /// Counts a command.
    pub fn add(&mut self, recorded: Instant) {
        self.commands += 1;
        self.after_command = recorded.checked_add(STREAM);
    }

    /// Notes that a batch was submitted.
    pub fn submitted(&mut self, at: Instant) {
        self.after_batch = at.checked_add(BURST);
    }

    /// Ends the burst: the next command begins a new one.
    pub fn end(&mut self) {
        if self.commands > 0 {
            (self.previous_commands, self.commands, self.cut) = (self.commands, 0, 0);
        }
    }

    /// True if the command buffer ends after the last command.
    pub fn is_cut(&self) -> bool {
        self.commands >= self.cut
    }

    /// The place of a command buffer that begins with the next command.
    pub fn place(&self, alone: bool) -> BurstPosition {
        let [.., last] = CUTS;
        BurstPosition { position: self.commands.min(last), alone }
    }

    /// Sets the end of the command buffer that begins with the next command: it ends after `commands` commands.
    pub fn cut_after(&mut self, commands: u64) {
        self.cut = self.commands + commands;
    }

    /// The number of commands in a new command buffer that begins with the next command and has room for `most`; 1 if that
    /// command is `alone` in its batch.
    pub fn expected(&self, alone: bool, most: u64) -> u64 {
        if alone { 1 } else { until_cut(self.commands, self.previous_commands).min(most) }
    }
}

/// The number of commands from a position in a burst to the next cut. The previous burst had `previous_commands` commands.
fn until_cut(burst_position: u64, previous_commands: u64) -> u64 {
    let [.., last] = CUTS;
    let cut = CUTS.into_iter().find(|&cut| burst_position < cut).unwrap_or((burst_position / last + 1) * last);
    let cut = if burst_position < previous_commands { cut.min(previous_commands) } else { cut };
    cut - burst_position
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_cut_at_the_same_places() {
        let cuts = |previous_commands| {
            let mut at = 0;
            std::iter::from_fn(move || {
                at += until_cut(at, previous_commands);
                Some(at)
            })
        };
        assert_eq!(cuts(0).take(7).collect::<Vec<_>>(), [8, 16, 32, 64, 128, 192, 256]);
        assert_eq!(cuts(1).take(3).collect::<Vec<_>>(), [1, 8, 16]);
        assert_eq!(cuts(100).take(7).collect::<Vec<_>>(), [8, 16, 32, 64, 100, 128, 192]);
    }

    #[test]
    fn long_bursts_repeat_their_last_place() {
        let places: Vec<BurstPosition> =
            [0, 8, 64, 128].map(|commands| Burst { commands, ..Burst::default() }.place(false)).into();
        assert!(places[0] != places[1] && places[1] != places[2] && places[2] == places[3]);
        assert_ne!(Burst::default().place(false), Burst::default().place(true));
    }
}
