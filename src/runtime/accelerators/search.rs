//! The search for the workgroup size of a kernel without tiles, for one class of domains (decision 37). The *first choice* is the
//! workgroup size that launches use until the search has settled.
//!
//! | state | launches in this state | end of the state |
//! | --- | --- | --- |
//! | begun | use the first choice; some are timed | the time of a launch is known |
//! | counted | use the first choice, and may be repeated as cached launches | their total time equals the cost of a pipeline |
//! | due, building | use the first choice | the pipelines of other workgroup sizes are built |
//! | trying | use each workgroup size in turn, timed | each size has been timed often enough |
//! | settled | use the best size, and may be repeated | |

use crate::device::Timer;
use crate::device::hazard::Point;
use std::sync::Arc;

/// The number of launches timed in the state `begun`.
const TIMED: usize = 3;
/// The number of launches that try each workgroup size.
const TRIES: usize = 5;
/// The number of launches after which a clearly slower workgroup size is not tried again.
const MIN_TRIES: usize = 2;
/// A workgroup size is clearly slower if its fastest launch takes more than this factor of the fastest launch of all.
const MAX_TIME_FACTOR: f64 = 1.5;
/// Another size replaces the first choice only if it takes less than this fraction of the first choice's time.
const MAX_TIME_FRACTION: f64 = 0.97;

/// A timed launch.
enum Sample {
    /// A launch that may not be done yet, with the number of threads of its domain.
    Waiting(Point, Arc<dyn Timer>, u64),
    /// Nanoseconds per thread of the domain; `None` if they cannot be measured.
    Known(Option<f64>),
}

/// The launches with one workgroup size.
struct Tried<K> {
    size: [u32; 3],
    /// `None` for the first choice.
    kernel: Option<K>,
    samples: Vec<Sample>,
}

impl<K> Tried<K> {
    /// True if another launch must try this size. `fastest`: the time of the fastest launch of all.
    fn continues(&self, fastest: f64) -> bool {
        let times = times(&self.samples);
        let is_slow = times.len() >= MIN_TRIES && times.iter().all(|time| *time > fastest * MAX_TIME_FACTOR);
        self.samples.len() < TRIES && !is_slow
    }
}

/// The decision about a launch.
pub enum Decision<K> {
    /// Run with this workgroup size. The launch may be cached and repeated.
    Settled([u32; 3]),
    /// As `Settled`, for the one launch at which the search ends.
    Found {
        /// The workgroup size.
        size: [u32; 3],
        /// The kernel with this size; `None` for the first choice.
        kernel: Option<K>,
        /// Each tried workgroup size with its nanoseconds per million threads; empty if nothing was tried.
        times: Vec<([u32; 3], f64)>,
    },
    /// Run with the first choice.
    First {
        /// True if the launch must be timed, for [`Search::timed`].
        timed: bool,
    },
    /// Run with the first choice, and call [`Search::begin_counting`] with this number of launches to count from now on.
    Count(u64),
    /// Run this kernel, which uses the first choice. The launch may be cached and repeated.
    Counted(K),
    /// Run with the first choice, and build pipelines for [`Search::built`].
    Build,
    /// Run with this workgroup size, timed. The first value is the number of the size, for [`Search::timed`].
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
    /// A search with this first choice. `known`: the result of an earlier search.
    pub fn new(first: [u32; 3], known: Option<[u32; 3]>) -> Self {
        let state = match known {
            Some(size) => State::Settled(size),
            None => State::Begun { launches: 0, samples: Vec::new() },
        };
        Self { first, state }
    }

    /// Decides about the next launch, which has `threads` threads. `cost`: nanoseconds for building a pipeline.
    pub fn next(&mut self, threads: u64, cost: u64) -> Decision<K> {
        match &mut self.state {
            State::Settled(size) => return Decision::Settled(*size),
            State::Counted { kernel, .. } => return Decision::Counted(kernel.clone()),
            State::Building => return Decision::First { timed: false },
            State::Due => {}
            State::Begun { launches, samples } => {
                *launches += 1;
                // The first launch is not timed, because caches are cold.
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
                // Reads all times, because each may decide what to try next.
                let mut done = true;
                for tried in all.iter_mut() {
                    done &= all_known(&mut tried.samples);
                }
                match next_try(all) {
                    Some(next) => return Decision::Try(next, all[next].size, all[next].kernel.clone()),
                    None if done => return self.decide(),
                    None => return Decision::First { timed: false },
                }
            }
        }
        self.state = State::Building;
        Decision::Build
    }

    /// Notes a timed launch. `tried`: the number of its workgroup size; `None` for [`Decision::First`].
    pub fn timed(&mut self, tried: Option<usize>, point: Point, timer: Arc<dyn Timer>, threads: u64) {
        let samples = match (&mut self.state, tried) {
            (State::Begun { samples, .. }, None) => samples,
            (State::Trying(all), Some(n)) if n < all.len() => &mut all[n].samples,
            _ => return,
        };
        samples.push(Sample::Waiting(point, timer, threads));
    }

    /// Starts to count `left` launches of `kernel`, which uses the first choice. Keeps `kernel` until they are counted.
    pub fn begin_counting(&mut self, left: u64, kernel: K) {
        if let State::Begun { .. } = self.state {
            self.state = State::Counted { left, kernel };
        }
    }

    /// Counts a launch. With the last one, returns the kernel for the caller to drop.
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

    /// Notes that pipelines of these workgroup sizes are built: they will be tried in addition to the first choice.
    pub fn built(&mut self, kernels: Vec<([u32; 3], K)>) {
        if kernels.is_empty() {
            self.state = State::Settled(self.first);
            return;
        }
        let others = kernels.into_iter().map(|(size, kernel)| (size, Some(kernel)));
        let all = std::iter::once((self.first, None)).chain(others);
        self.state = State::Trying(all.map(|(size, kernel)| Tried { size, kernel, samples: Vec::new() }).collect());
    }

    /// Takes the workgroup size with the least median time. Times may depend on the data of a launch, so this median must also be
    /// less than the time of the fastest launch with the first choice.
    fn decide(&mut self) -> Decision<K> {
        let State::Trying(all) = &self.state else { return Decision::Settled(self.first) };
        let medians: Vec<_> = all.iter().map(|t| (t, median(times(&t.samples)))).collect();
        let first = all.first().map(|t| times(&t.samples)).unwrap_or_default();
        let bound = first.iter().copied().fold(median(first.clone()) * MAX_TIME_FRACTION, f64::min);
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

/// The number of the workgroup size to try next; `None` if no size must be tried again.
fn next_try<K>(all: &[Tried<K>]) -> Option<usize> {
    let fastest = all.iter().flat_map(|t| times(&t.samples)).fold(f64::INFINITY, f64::min);
    let fewest = all.iter().filter(|t| t.continues(fastest)).map(|t| t.samples.len()).min()?;
    // Each round of tries begins with another workgroup size.
    let mut order = (0..all.len()).map(|n| (n + fewest) % all.len());
    order.find(|&n| all[n].samples.len() == fewest && all[n].continues(fastest))
}

/// Reads the times of launches that are done. True if all are done.
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

/// The median; infinite if `times` is empty.
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

    struct FixedTimer(Option<f64>);

    impl Timer for FixedTimer {
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

    /// Launches until the search has settled. `time` returns the time of the n-th launch with a workgroup size. Returns the size found,
    /// and for each of the three sizes, the number of launches before the search settled.
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
                    search.begin_counting(left, 7);
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
                search.timed(tried, done(), Arc::new(FixedTimer(time(size, seen[n]))), THREADS);
            }
            seen[n] += 1;
        }
        panic!("the search does not settle");
    }

    #[test]
    fn the_fastest_is_taken() {
        let (size, seen) = search(|size, _| Some(if size == SIZES[1] { 700.0 } else { 1000.0 }));
        // 1 cold launch, 3 timed ones, 6 (`Count` and the 5 launches it counts), 1 (`Build`), and the tries.
        assert_eq!((size, seen), (SIZES[1], [1 + 3 + 6 + 1 + TRIES, TRIES, TRIES]));
    }

    #[test]
    fn a_size_that_is_not_clearly_faster_is_not_taken() {
        assert_eq!(search(|size, _| Some(if size == FIRST { 1000.0 } else { 980.0 })).0, FIRST);
        // Times differ more between launches with one workgroup size than between workgroup sizes.
        assert_eq!(search(|size, n| Some(if size == FIRST && n % 2 == 0 { 2000.0 } else { 500.0 })).0, FIRST);
        // One slow outlier does not affect the decision.
        assert_eq!(
            search(|size, n| Some(if size == SIZES[0] { 700.0 } else { 1000.0 } + [0.0, 9e6][n % 5 / 4])).0,
            SIZES[0]
        );
    }

    #[test]
    fn clearly_slower_sizes_are_not_tried_again() {
        let (size, seen) = search(|size, _| {
            Some(if size == SIZES[0] {
                1600.0
            } else if size == FIRST {
                1000.0
            } else {
                900.0
            })
        });
        assert_eq!((size, seen), (SIZES[1], [1 + 3 + 6 + 1 + TRIES, MIN_TRIES, TRIES]));
        // One slow launch does not exclude a size.
        let (size, seen) = search(|size, n| Some(if size == SIZES[0] { [9000.0, 700.0][n.min(1)] } else { 1000.0 }));
        assert_eq!((size, seen[1]), (SIZES[0], TRIES));
    }

    #[test]
    fn kernels_that_cannot_be_timed_keep_the_first_choice() {
        assert_eq!(search(|_, _| None), (FIRST, [4, 0, 0]));
        assert_eq!(search(|size, _| (size == FIRST).then_some(1000.0)).0, FIRST);
    }

    #[test]
    fn long_launches_are_not_counted() {
        let (_, seen) = search(|_, _| Some(1e9));
        assert_eq!(seen[0], 1 + 3 + 1 + TRIES);
    }

    #[test]
    fn search_settles_at_once_if_the_size_is_known_or_nothing_can_be_built() {
        let mut known = Search::<u32>::new(FIRST, Some(SIZES[0]));
        assert!(matches!(known.next(THREADS, COST), Decision::Settled(size) if size == SIZES[0]));
        let mut none = Search::<u32>::new(FIRST, None);
        none.built(Vec::new());
        assert!(matches!(none.next(THREADS, COST), Decision::Settled(FIRST)));
    }
}
