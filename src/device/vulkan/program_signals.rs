//! Tracks the signals of the program's timeline semaphores that the program requests from the library, because the values of one
//! semaphore must increase.

use crate::device::hazard::{Point, Timeline};
use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use std::sync::Weak;
use std::time::Duration;

/// How long a new signal waits for a pending signal of the same handle whose value is not lower. The pending signal may
/// belong to a semaphore that the program has since destroyed, because a new semaphore may have the same handle.
const SETTLE: Duration = Duration::from_millis(50);

/// A signal whose work may not be done yet.
struct Pending {
    semaphore: u64,
    value: u64,
    /// The work; `None` while it is being recorded.
    work: Option<Work>,
}

/// Work of a queue. Weak, because the device owns the list of signals, and the queue keeps the device alive.
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
    /// Records a signal of `semaphore` by calling `record`. `now` reads the semaphore's current value. Fails if the value would not
    /// increase.
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
        let blocking = blocking_signal(&mut self.0.lock(), semaphore, value);
        if let Some((_, Some(work))) = blocking {
            work.wait(SETTLE)?;
        }
        {
            // Held from the check to the addition, so that only one of several threads adds a value.
            let mut all = self.0.lock();
            if let Some((last, _)) = blocking_signal(&mut all, semaphore, value) {
                return Err(refused("will be signalled with", last));
            }
            // Read only now, because pending signals may have been reached meanwhile.
            let now = now()?;
            if value <= now {
                return Err(refused("already has the value", now));
            }
            all.push(Pending { semaphore, value, work: None });
        }
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
}

/// Finds the pending signal of the semaphore with the greatest value. Returns that value and the signal's work if
/// that value is at least `value`.
fn blocking_signal(all: &mut Vec<Pending>, semaphore: u64, value: u64) -> Option<(u64, Option<Work>)> {
    all.retain(|p| p.work.as_ref().is_none_or(|work| !work.reached()));
    let those = all.iter().filter(|p| p.semaphore == semaphore && p.value >= value);
    those.max_by_key(|p| p.value).map(|p| (p.value, p.work.clone()))
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
        // A signal that could not be recorded does not count as pending.
        assert!(all.add((7, 9), || Ok(0), || Err(Error::invalid("no"))).is_err());
        add((7, 7), 0, 4).unwrap();
        timeline.0.store(4, Ordering::Relaxed);
        assert!(add((7, 7), 7, 5).unwrap_err().contains("already has the value 7"));
        // A new semaphore with the same handle.
        add((7, 1), 0, 5).unwrap();
        drop(timeline);
    }

    #[test]
    fn one_of_several_threads_adds_a_value() {
        let (all, start) = (ProgramSignals::default(), std::sync::Barrier::new(4));
        let timeline = Arc::new(Reached(AtomicU64::new(0)));
        let now = || {
            std::thread::sleep(Duration::from_millis(20));
            Ok(0)
        };
        let add = &|at| {
            start.wait();
            all.add((7, 5), now, || Ok(Point { timeline: timeline.clone(), value: at, sequence: 0 })).is_ok()
        };
        let added = std::thread::scope(|s| {
            let threads: Vec<_> = (1..=4).map(|at| s.spawn(move || add(at))).collect();
            threads.into_iter().map(|t| t.join().unwrap()).filter(|&is_added| is_added).count()
        });
        assert_eq!(added, 1);
    }
}
