//! Bursts: commands that follow each other so closely that they are gathered into few submissions.

use std::time::{Duration, Instant};

/// A command belongs to a burst if it follows the last submission within `BURST`, or the last command within `STREAM`. A
/// burst is gathered even while the device is idle, since a submission costs as much as many commands.
const BURST: Duration = Duration::from_micros(50);
const STREAM: Duration = Duration::from_micros(5);
/// A burst's command buffers end after these numbers of commands, then after each further multiple of the last one, and
/// where the previous burst ended. Only the position in the burst decides, not how far the device is, so that the bursts of
/// a loop are cut alike and find their command buffers again. Beginning a command buffer costs the device as much as a
/// dependent launch; of a long one, more is recorded late if a burst ends in its middle.
const CUTS: [u64; 4] = [8, 16, 32, 64];

/// Where in a burst a command buffer begins. From the last of [`CUTS`] on all positions are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    position: u64,
    /// True if its first command is the only one of its batch.
    alone: bool,
}

/// The burst of a queue.
#[derive(Default)]
pub(super) struct Burst {
    /// Its commands so far, the number at which the command buffer ends, and the number that the previous burst had.
    commands: u64,
    cut: u64,
    usual: u64,
    /// Until when a command belongs to it: after the last batch was submitted, and after the last command was recorded. Kept
    /// as the end, since comparing times costs less than taking their difference.
    after_batch: Option<Instant>,
    after_command: Option<Instant>,
}

impl Burst {
    /// True if a command recorded at `now` belongs to it.
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
            (self.usual, self.commands, self.cut) = (self.commands, 0, 0);
        }
    }

    /// True if the command buffer ends after the last command.
    pub fn is_cut(&self) -> bool {
        self.commands >= self.cut
    }

    /// The place of the next command.
    pub fn place(&self, alone: bool) -> Place {
        let [.., last] = CUTS;
        Place { position: self.commands.min(last), alone }
    }

    /// Lets the command buffer that begins with the next command end after `commands`.
    pub fn cut_after(&mut self, commands: u64) {
        self.cut = self.commands + commands;
    }

    /// How many commands a new command buffer holds that begins with the next one and has room for `most`: only that one if it
    /// is `alone`.
    pub fn expected(&self, alone: bool, most: u64) -> u64 {
        if alone { 1 } else { until_cut(self.commands, self.usual).min(most) }
    }
}

/// How many commands of a burst follow the first `burst` until it is cut next. The previous burst had `usual`.
fn until_cut(burst: u64, usual: u64) -> u64 {
    let [.., last] = CUTS;
    let cut = CUTS.into_iter().find(|&cut| burst < cut).unwrap_or((burst / last + 1) * last);
    let cut = if burst < usual { cut.min(usual) } else { cut };
    cut - burst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_cut_at_the_same_places() {
        let cuts = |usual| {
            let mut at = 0;
            std::iter::from_fn(move || {
                at += until_cut(at, usual);
                Some(at)
            })
        };
        assert_eq!(cuts(0).take(7).collect::<Vec<_>>(), [8, 16, 32, 64, 128, 192, 256]);
        assert_eq!(cuts(1).take(3).collect::<Vec<_>>(), [1, 8, 16]);
        assert_eq!(cuts(100).take(7).collect::<Vec<_>>(), [8, 16, 32, 64, 100, 128, 192]);
    }

    #[test]
    fn long_bursts_repeat_their_last_place() {
        let places: Vec<Place> =
            [0, 8, 64, 128].map(|commands| Burst { commands, ..Burst::default() }.place(false)).into();
        assert!(places[0] != places[1] && places[1] != places[2] && places[2] == places[3]);
        assert_ne!(Burst::default().place(false), Burst::default().place(true));
    }
}
