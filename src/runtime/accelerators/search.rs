//! The search for the workgroup of a kernel without tiles, for one class of domains (decision 37).
//!
//! | state | launches | until |
//! | --- | --- | --- |
//! | begun | run in the first choice, some of them timed | it is known how long one takes |
//! | counted | repeat as launches do | their time together is what a pipeline costs |
//! | due, building | run in the first choice | pipelines of other workgroups are built |
//! | trying | run in each of these in turn, timed | each has been timed often enough |
//! | settled | repeat in the best | |

use crate::device::Timer;
use crate::device::hazard::Point;
use std::sync::Arc;

/// How many launches tell how long one takes.
const TIMED: usize = 3;
/// How many launches try each workgroup.
const TRIES: usize = 5;
/// Another one is taken if it needs at most this part of the time.
const BETTER: f64 = 0.97;

/// A launch that is timed, or the time that it took for a thread of its domain, in nanoseconds; `None` if nobody can tell.
enum Sample {
    Waiting(Point, Arc<dyn Timer>, u64),
    Known(Option<f64>),
}

/// The launches of one workgroup.
struct Tried<K> {
    size: [u32; 3],
    /// `None` for the first choice.
    kernel: Option<K>,
    samples: Vec<Sample>,
}

/// What a launch is to do.
pub enum Decision<K> {
    /// Run in this workgroup. It may be repeated.
    Settled([u32; 3]),
    /// The same; this is told once.
    Found {
        /// The workgroup.
        size: [u32; 3],
        /// Its kernel, unless it is the first choice.
        kernel: Option<K>,
        /// Each workgroup with the nanoseconds that it took for a million threads; none if nothing was tried.
        times: Vec<([u32; 3], f64)>,
    },
    /// Run in the first choice.
    First {
        /// To be timed, for [`Search::timed`].
        timed: bool,
    },
    /// Run in the first choice; launches that repeat it are counted from now on ([`Search::counts`]): as many.
    Count(u64),
    /// Run in the first choice, by this kernel. It may be repeated.
    Counted(K),
    /// Run in the first choice; pipelines are to be built for [`Search::built`].
    Build,
    /// Run in the workgroup with this number, timed.
    Try(usize, [u32; 3], Option<K>),
}

enum State<K> {
    Begun { launches: u64, samples: Vec<Sample> },
    Counted { left: u64, kernel: K },
    Due,
    Building,
    Trying(Vec<Tried<K>>),
    Settled([u32; 3]),
}

/// The search for one class of domains. `K` is a kernel.
pub struct Search<K> {
    first: [u32; 3],
    state: State<K>,
}

impl<K: Clone> Search<K> {
    /// A search that begins with this workgroup; `known`: what it has found before.
    pub fn new(first: [u32; 3], known: Option<[u32; 3]>) -> Self {
        let state = match known {
            Some(size) => State::Settled(size),
            None => State::Begun { launches: 0, samples: Vec::new() },
        };
        Self { first, state }
    }

    /// What the next launch, of so many threads, is to do. `cost`: nanoseconds for building a pipeline.
    pub fn next(&mut self, threads: u64, cost: u64) -> Decision<K> {
        match &mut self.state {
            State::Settled(size) => return Decision::Settled(*size),
            State::Counted { kernel, .. } => return Decision::Counted(kernel.clone()),
            State::Building => return Decision::First { timed: false },
            State::Due => {}
            State::Begun { launches, samples } => {
                *launches += 1;
                // The first one meets cold caches.
                if samples.len() < TIMED {
                    return Decision::First { timed: *launches > 1 };
                }
                if !all_known(samples) {
                    return Decision::First { timed: false };
                }
                let Some(fastest) = times(samples).into_iter().reduce(f64::min) else {
                    return self.found(self.first, None, Vec::new());
                };
                match (cost as f64 / (fastest * threads as f64).max(1.0)) as u64 {
                    0 => {}
                    left => return Decision::Count(left),
                }
            }
            State::Trying(all) => {
                let fewest = all.iter().map(|t| t.samples.len()).min().unwrap_or(TRIES);
                if fewest < TRIES {
                    // Each round begins with another one.
                    let order = (0..all.len()).map(|n| (n + fewest) % all.len());
                    let next = order.clone().find(|&n| all[n].samples.len() == fewest).unwrap_or(0);
                    return Decision::Try(next, all[next].size, all[next].kernel.clone());
                }
                if !all.iter_mut().all(|t| all_known(&mut t.samples)) {
                    return Decision::First { timed: false };
                }
                return self.decide();
            }
        }
        self.state = State::Building;
        Decision::Build
    }

    /// Notes a launch that is timed: `tried` is its number, `None` for [`Decision::First`].
    pub fn timed(&mut self, tried: Option<usize>, point: Point, timer: Arc<dyn Timer>, threads: u64) {
        let samples = match (&mut self.state, tried) {
            (State::Begun { samples, .. }, None) => samples,
            (State::Trying(all), Some(n)) if n < all.len() => &mut all[n].samples,
            _ => return,
        };
        samples.push(Sample::Waiting(point, timer, threads));
    }

    /// Counts so many launches of `kernel` from now on, which is in the first choice and kept until then.
    pub fn counts(&mut self, left: u64, kernel: K) {
        if let State::Begun { .. } = self.state {
            self.state = State::Counted { left, kernel };
        }
    }

    /// Counts a launch; gives the kernel back with the last of them, for the caller to drop.
    pub fn count(&mut self) -> Option<K> {
        let State::Counted { left, .. } = &mut self.state else { return None };
        *left = left.saturating_sub(1);
        if *left > 0 {
            return None;
        }
        match std::mem::replace(&mut self.state, State::Due) {
            State::Counted { kernel, .. } => Some(kernel),
            _ => None,
        }
    }

    /// Pipelines of these workgroups are ready to be tried beside the first choice.
    pub fn built(&mut self, kernels: Vec<([u32; 3], K)>) {
        if kernels.is_empty() {
            self.state = State::Settled(self.first);
            return;
        }
        let others = kernels.into_iter().map(|(size, kernel)| (size, Some(kernel)));
        let all = std::iter::once((self.first, None)).chain(others);
        self.state = State::Trying(all.map(|(size, kernel)| Tried { size, kernel, samples: Vec::new() }).collect());
    }

    /// Takes the workgroup whose launches took least. The time of launches may depend on their data, so it must be less than
    /// that of the fastest launch in the first choice.
    fn decide(&mut self) -> Decision<K> {
        let State::Trying(all) = &self.state else { return Decision::Settled(self.first) };
        let medians: Vec<_> = all.iter().map(|t| (t, median(times(&t.samples)))).collect();
        let first = all.first().map(|t| times(&t.samples)).unwrap_or_default();
        let bound = first.iter().copied().fold(median(first.clone()) * BETTER, f64::min);
        let best = medians.iter().filter(|(_, time)| *time < bound).min_by(|a, b| a.1.total_cmp(&b.1));
        let (size, kernel) = best.map_or((self.first, None), |(t, _)| (t.size, t.kernel.clone()));
        let times = medians.iter().map(|(t, time)| (t.size, time * 1e6)).collect();
        self.found(size, kernel, times)
    }

    fn found(&mut self, size: [u32; 3], kernel: Option<K>, times: Vec<([u32; 3], f64)>) -> Decision<K> {
        self.state = State::Settled(size);
        Decision::Found { size, kernel, times }
    }
}

/// Looks which launches are done; true if all are.
fn all_known(samples: &mut [Sample]) -> bool {
    for sample in samples.iter_mut() {
        let Sample::Waiting(point, timer, threads) = sample else { continue };
        if !point.reached() {
            return false;
        }
        match timer.nanoseconds() {
            Ok(None) => return false,
            Ok(Some(time)) => *sample = Sample::Known(Some(time / (*threads).max(1) as f64)),
            Err(_) => *sample = Sample::Known(None),
        }
    }
    true
}

fn times(samples: &[Sample]) -> Vec<f64> {
    samples.iter().filter_map(|s| if let Sample::Known(time) = s { *time } else { None }).collect()
}

/// Infinite if there are none.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Times;
    use crate::device::hazard::tests::done;
    use crate::error::{Error, Result};

    struct Took(Option<f64>);

    impl Timer for Took {
        fn times(&self) -> Result<Times> {
            Err(Error::internal("a test without a clock"))
        }
        fn nanoseconds(&self) -> Result<Option<f64>> {
            self.0.map(Some).ok_or_else(|| Error::runtime("the device was lost"))
        }
    }

    const FIRST: [u32; 3] = [256, 1, 1];
    const SIZES: [[u32; 3]; 2] = [[64, 4, 1], [16, 16, 1]];
    const THREADS: u64 = 1000;
    const COST: u64 = 5_000;

    /// Launches until it has settled. `time`: of the n-th launch in a workgroup. Returns what it found, and how many launches
    /// were in each of the three workgroups before.
    fn search(time: impl Fn([u32; 3], usize) -> Option<f64>) -> ([u32; 3], [usize; 3]) {
        let mut search = Search::new(FIRST, None);
        let mut seen = [0; 3];
        for _ in 0..1000 {
            let (tried, n, timed) = match search.next(THREADS, COST) {
                Decision::Found { size, .. } => return (size, seen),
                Decision::Settled(size) => return (size, seen),
                Decision::First { timed } => (None, 0, timed),
                Decision::Try(n, size, kernel) => {
                    assert_eq!((size, kernel), if n == 0 { (FIRST, None) } else { (SIZES[n - 1], Some(n - 1)) });
                    (Some(n), n, true)
                }
                Decision::Count(left) => {
                    search.counts(left, 7);
                    (None, 0, false)
                }
                Decision::Counted(kernel) => {
                    assert_eq!(kernel, 7);
                    search.count();
                    (None, 0, false)
                }
                Decision::Build => {
                    assert!(matches!(search.next(THREADS, COST), Decision::First { timed: false }));
                    search.built(SIZES.into_iter().enumerate().map(|(n, size)| (size, n)).collect());
                    (None, 0, false)
                }
            };
            let size = if n == 0 { FIRST } else { SIZES[n - 1] };
            if timed {
                search.timed(tried, done(), Arc::new(Took(time(size, seen[n]))), THREADS);
            }
            seen[n] += 1;
        }
        panic!("it never ends");
    }

    #[test]
    fn the_fastest_is_taken() {
        let (size, seen) = search(|size, _| Some(if size == SIZES[1] { 700.0 } else { 1000.0 }));
        // One cold, three timed, five that pay for pipelines with the one that says so, one that builds, and the tries.
        assert_eq!((size, seen), (SIZES[1], [1 + 3 + 6 + 1 + TRIES, TRIES, TRIES]));
    }

    #[test]
    fn what_is_hardly_faster_or_no_matter_of_the_workgroup_is_not_taken() {
        assert_eq!(search(|size, _| Some(if size == FIRST { 1000.0 } else { 980.0 })).0, FIRST);
        // The work of a launch differs more than that of workgroups.
        assert_eq!(search(|size, n| Some(if size == FIRST && n % 2 == 0 { 2000.0 } else { 500.0 })).0, FIRST);
        // One disturbed launch decides nothing.
        assert_eq!(
            search(|size, n| Some(if size == SIZES[0] { 700.0 } else { 1000.0 } + [0.0, 9e6][n % 5 / 4])).0,
            SIZES[0]
        );
    }

    #[test]
    fn what_cannot_be_timed_stays() {
        assert_eq!(search(|_, _| None), (FIRST, [4, 0, 0]));
        assert_eq!(search(|size, _| (size == FIRST).then_some(1000.0)).0, FIRST);
    }

    #[test]
    fn long_launches_are_not_counted() {
        let (_, seen) = search(|_, _| Some(1e9));
        assert_eq!(seen[0], 1 + 3 + 1 + TRIES);
    }

    #[test]
    fn nothing_is_looked_for_where_nothing_can_be_built_or_all_is_known() {
        let mut known = Search::<u32>::new(FIRST, Some(SIZES[0]));
        assert!(matches!(known.next(THREADS, COST), Decision::Settled(size) if size == SIZES[0]));
        let mut none = Search::<u32>::new(FIRST, None);
        none.built(Vec::new());
        assert!(matches!(none.next(THREADS, COST), Decision::Settled(FIRST)));
    }
}
