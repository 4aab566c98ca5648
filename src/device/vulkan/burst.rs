//! Bursts: commands that follow each other so closely that they are gathered into few submissions.

use std::time::{Duration, Instant};

/// Commands that follow the last submission within this time, or the last command within the other, belong to a burst, which
/// is gathered even while the device is idle: a submission costs as much as many commands.
const BURST: Duration = Duration::from_micros(50);
const STREAM: Duration = Duration::from_micros(5);
/// A burst's command buffers end after so many commands of it, after each further of the last number, and where the burst
/// before ended. What counts is the place in the burst and not how far the device is, so that the bursts of a loop are cut
/// alike and find their command buffers again. To begin one costs the device as much as a dependent launch; of a long one more
/// is recorded late when a burst ends amid it.
const CUTS: [u64; 4] = [8, 16, 32, 64];
/// The burst that a queue is in.
#[derive(Default)]
pub(super) struct Burst {
    /// Its commands so far, at which of them the command buffer ends, and how many the burst before had.
    commands: u64,
    cut: u64,
    usual: u64,
    /// When the last batch was submitted, and the last command was recorded.
    submitted: Option<Instant>,
    last: Option<Instant>,
}

impl Burst {
    /// True if a command of now belongs to it.
    pub fn goes_on(&self, now: Instant) -> bool {
        let since = |t: Option<Instant>| t.map_or(Duration::MAX, |t| now.duration_since(t));
        since(self.last) <= STREAM || since(self.submitted) <= BURST
    }

    /// Counts a command.
    pub fn add(&mut self, recorded: Instant) {
        self.commands += 1;
        self.last = Some(recorded);
    }

    /// A batch was submitted.
    pub fn submitted(&mut self, at: Instant) {
        self.submitted = Some(at);
    }

    /// What comes next begins a new one.
    pub fn end(&mut self) {
        if self.commands > 0 {
            (self.usual, self.commands, self.cut) = (self.commands, 0, 0);
        }
    }

    /// True if the command buffer ends here.
    pub fn is_cut(&self) -> bool {
        self.commands >= self.cut
    }

    /// Commands until the command buffer ends.
    pub fn left(&self) -> u64 {
        self.cut - self.commands
    }

    /// Decides where the command buffer ends that begins with the next command and takes at most `most`: after that one if it is
    /// `alone`.
    pub fn choose_cut(&mut self, alone: bool, most: u64) {
        let expected = if alone { 1 } else { until_cut(self.commands, self.usual) };
        self.cut = self.commands + expected.min(most);
    }
}

/// Commands of a burst from after the first `burst` to where it is cut next. The burst before had `usual`.
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
}
