//! Signals of the program's timeline semaphores that the library has been asked for: their values must increase.

use crate::device::hazard::{Point, Timeline};
use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use std::sync::Weak;
use std::time::Duration;

/// How long a signal that stands in the way is waited for: its semaphore may just have been signalled and replaced by a new one of the same
/// handle.
const SETTLE: Duration = Duration::from_millis(50);

/// A signal whose work may not be done.
struct Pending {
    semaphore: u64,
    value: u64,
    /// The work; `None` while it is being recorded.
    work: Option<Work>,
}

/// Work of a queue. The device owns the list, and the queue the device: so this keeps no queue.
#[derive(Clone)]
struct Work {
    timeline: Weak<dyn Timeline>,
    value: u64,
}

impl Work {
    fn reached(&self) -> bool {
        self.timeline.upgrade().is_none_or(|timeline| timeline.reached(self.value))
    }
    fn wait(&self, most: Duration) -> Result<bool> {
        self.timeline.upgrade().map_or(Ok(true), |timeline| timeline.wait(self.value, Some(most)))
    }
}

/// The signals that may not have happened yet.
#[derive(Default)]
pub(super) struct ProgramSignals(Mutex<Vec<Pending>, { rank::PROGRAM_SIGNALS }>);

impl ProgramSignals {
    /// Records a signal of `semaphore`, whose value `now` gives, by `record`. Fails if the value would not increase.
    pub fn add(
        &self,
        (semaphore, value): (u64, u64),
        now: impl FnOnce() -> Result<u64>,
        record: impl FnOnce() -> Result<Point>,
    ) -> Result<Point> {
        let refused = |what: &str, last: u64| {
            Error::invalid(format!(
                "point.value is {value}, but the timeline semaphore {what} {last}; values of one semaphore must \
                 increase: pass {} or more",
                last.saturating_add(1)
            ))
        };
        if let Some((_, work)) = self.in_the_way(semaphore, value) {
            work.map_or(Ok(true), |work| work.wait(SETTLE))?;
        }
        if let Some((last, _)) = self.in_the_way(semaphore, value) {
            return Err(refused("will be signalled with", last));
        }
        // After that look: what was pending then may have happened meanwhile.
        let now = now()?;
        if value <= now {
            return Err(refused("already has the value", now));
        }
        self.0.lock().push(Pending { semaphore, value, work: None });
        let made = record();
        let mut all = self.0.lock();
        let found = all.iter().position(|p| p.semaphore == semaphore && p.value == value && p.work.is_none());
        if let Some(at) = found {
            match &made {
                Ok(point) => {
                    let timeline = std::sync::Arc::downgrade(&point.timeline);
                    all[at].work = Some(Work { timeline, value: point.value });
                }
                Err(_) => drop(all.swap_remove(at)),
            }
        }
        made
    }

    /// The greatest value that the semaphore will get, if it is not less than `value`, and the work that signals it.
    fn in_the_way(&self, semaphore: u64, value: u64) -> Option<(u64, Option<Work>)> {
        let mut all = self.0.lock();
        all.retain(|p| p.work.as_ref().is_none_or(|work| !work.reached()));
        let those = all.iter().filter(|p| p.semaphore == semaphore && p.value >= value);
        those.max_by_key(|p| p.value).map(|p| (p.value, p.work.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Reached(AtomicU64);

    impl Timeline for Reached {
        fn id(&self) -> u64 {
            0
        }
        fn device(&self) -> Option<u64> {
            None
        }
        fn reached(&self, value: u64) -> bool {
            value <= self.0.load(Ordering::Relaxed)
        }
        fn is_signalled(&self, _: u64) -> bool {
            true
        }
        fn flush(&self, _: u64) -> Result<()> {
            Ok(())
        }
        fn wait(&self, value: u64, _: Option<Duration>) -> Result<bool> {
            Ok(self.reached(value))
        }
        fn as_any(&self) -> &dyn std::any::Any {
            self
        }
    }

    #[test]
    fn values_increase_beyond_signals_that_are_pending() {
        let all = ProgramSignals::default();
        let timeline = Arc::new(Reached(AtomicU64::new(0)));
        let work = |value| Ok(Point { timeline: timeline.clone(), value, sequence: 0 });
        let add = |point, now: u64, at| all.add(point, || Ok(now), || work(at)).map(|_| ()).map_err(|e| e.to_string());
        add((7, 5), 0, 1).unwrap();
        for value in 0..=5 {
            let why = add((7, value), 0, 2).unwrap_err();
            assert!(why.contains("will be signalled with 5") && why.contains("pass 6 or more"), "{why}");
        }
        add((8, 1), 0, 2).unwrap();
        add((7, 6), 0, 3).unwrap();
        // What could not be recorded stands in nobody's way.
        assert!(all.add((7, 9), || Ok(0), || Err(Error::invalid("no"))).is_err());
        add((7, 7), 0, 4).unwrap();
        timeline.0.store(4, Ordering::Relaxed);
        assert!(add((7, 7), 7, 5).unwrap_err().contains("already has the value 7"));
        // A new semaphore of the same handle.
        add((7, 1), 0, 5).unwrap();
        drop(timeline);
    }
}
