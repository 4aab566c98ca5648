//! Launches kernels for which the library searches the fastest workgroup size (decision 37).

use crate::config::{self, Workgroups};
use crate::device::hazard::Point;
use crate::device::physical::Properties;
use crate::device::workgroups::Class;
use crate::device::{Dispatch, TimerSlot};
use crate::error::Result;
use crate::host::Workers;
use crate::kernel::Variant;
use crate::log;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::loaded_kernel::{LoadedKernel, SearchLock};
use crate::runtime::accelerators::search::{Decision, Search};
use crate::runtime::launch::workgroup::{alternatives, fits};
use std::sync::Arc;

/// Minimum for the estimated cost of building a pipeline, in nanoseconds. The estimate is the time of the kernel's first launch,
/// which includes building the pipeline. This time is too short if the pipeline came from the cache.
const MIN_BUILD_NS: u64 = 20_000_000;

/// The workgroup size of one launch, and the kernel with this size.
pub(super) struct Searched {
    /// The kernel with this workgroup size.
    pub kernel: Arc<LoadedKernel>,
    /// The workgroup size.
    pub size: [u32; 3],
    /// True if the launch may be cached and repeated unchanged.
    pub repeats: bool,
    /// For a launch that the search times: the search, the number of the tried size (`None`: the first choice), and the number of
    /// threads of the launch.
    timed: Option<(Arc<SearchLock>, Option<usize>, u64)>,
}

impl Searched {
    /// Chooses the workgroup size for the next launch of `base`. `first`: the size that is used before a faster one is found.
    pub fn begin(
        view: &Arc<AcceleratorView>,
        base: &Arc<LoadedKernel>,
        first: [u32; 3],
        domain: [u64; 3],
    ) -> Result<Self> {
        let (device, limits) = (view.device(), view.accelerator().properties());
        let class = Class::of(base.module().hash(), domain, first);
        let known = || device.workgroups().and_then(|all| all.get(&class)).filter(|&size| is_possible(limits, size));
        let begin = || {
            let known = known();
            if let Some(size) = known {
                log!(Debug, "{}: workgroup {size:?} for {domain:?} threads, found by an earlier search", base.label());
            }
            Search::new(first, known)
        };
        let Some(search) = base.search(class, begin) else { return Self::plain(view, base, first, true) };
        let threads = domain.iter().product::<u64>();
        let cost = match config::get().workgroups {
            Workgroups::Force => 0,
            _ => base.first_launch_ns(variant_of_size(base, first)).max(MIN_BUILD_NS),
        };
        let step = search.lock().next(threads, cost);
        match step {
            Decision::Settled(size) => Self::plain(view, base, size, true),
            Decision::Found { size, kernel, times } => {
                let all: Vec<_> = times.iter().map(|(size, time)| format!("{size:?} {:.0}", time)).collect();
                log!(
                    Info,
                    "{}: workgroup {size:?} for {domain:?} threads; ns for a million threads: {}",
                    base.label(),
                    all.join(", ")
                );
                if let Some(all) = device.workgroups() {
                    all.put(class, size);
                }
                let found = Self::plain(view, base, size, true);
                // `kernel` has kept the pipeline alive until `plain` has found it.
                drop(kernel);
                found
            }
            Decision::First { timed } => {
                let plain = Self::plain(view, base, first, false)?;
                Ok(Self { timed: timed.then_some((search, None, threads)), ..plain })
            }
            Decision::Count(left) => {
                let plain = Self::plain(view, base, first, true)?;
                let counted = plain.kernel.counted(&search)?;
                search.lock().begin_counting(left, counted.clone());
                Ok(Self { kernel: counted, ..plain })
            }
            Decision::Counted(kernel) => Ok(Self { kernel, size: first, repeats: true, timed: None }),
            Decision::Build => {
                build(view, base, &search, first, domain);
                Self::plain(view, base, first, false)
            }
            Decision::Try(number, size, kernel) => {
                let timed = Some((search, Some(number), threads));
                match kernel {
                    Some(kernel) => Ok(Self { kernel, size, repeats: false, timed }),
                    None => Ok(Self { timed, ..Self::plain(view, base, first, false)? }),
                }
            }
        }
    }

    fn plain(view: &Arc<AcceleratorView>, base: &Arc<LoadedKernel>, size: [u32; 3], repeats: bool) -> Result<Self> {
        let (device, _, kernels) = view.device_and_kernels();
        let kernel = base.variant(device, kernels, variant_of_size(base, size))?.unwrap_or_else(|| base.clone());
        Ok(Self { kernel, size, repeats, timed: None })
    }

    /// Gives the launch to the queue of `view`. `slot` receives the timer of the launch.
    pub fn dispatch(&self, view: &AcceleratorView, dispatch: &Dispatch<'_>, slot: Option<&TimerSlot>) -> Result<Point> {
        let Some((search, tried, threads)) = &self.timed else {
            return match slot {
                None => view.dispatch(&self.kernel, dispatch),
                Some(slot) => view.dispatch_into(&self.kernel, dispatch, slot),
            };
        };
        let (point, timer) = view.dispatch_timed(&self.kernel, dispatch)?;
        if let Some(slot) = slot {
            let _ = slot.set(timer.clone());
        }
        search.lock().timed(*tried, point.clone(), timer, *threads);
        Ok(point)
    }
}

/// Builds pipelines for the workgroup sizes that the search tries, on a thread of the library.
fn build(
    view: &Arc<AcceleratorView>,
    base: &Arc<LoadedKernel>,
    search: &Arc<SearchLock>,
    first: [u32; 3],
    domain: [u64; 3],
) {
    let (view, base, owner) = (view.clone(), base.clone(), search.clone());
    let job = move || {
        let (device, _, kernels) = view.device_and_kernels();
        let mut built = Vec::new();
        let limits = view.accelerator().properties();
        for size in alternatives(first, domain).into_iter().filter(|&size| is_possible(limits, size)) {
            let made = base.make_variant(device, kernels, variant_of_size(&base, size)).and_then(|made| {
                let groups = [0, 1, 2].map(|k| domain[k].div_ceil(u64::from(size[k])));
                made.kernel().prepare(groups).map(|()| made)
            });
            match made {
                Ok(made) => built.push((size, made)),
                Err(e) => log!(Debug, "{}: workgroup {size:?} is not measured: {e}", base.label()),
            }
        }
        owner.lock().built(built);
    };
    if Workers::shared().tasks.try_spawn(Box::new(job)).is_err() {
        search.lock().built(Vec::new());
    }
}

/// The variant of a kernel with this workgroup size.
fn variant_of_size(base: &LoadedKernel, size: [u32; 3]) -> Variant {
    Variant { workgroup: Some(size).filter(|&size| size != base.workgroup()), ..Variant::default() }
}

/// True if the accelerator supports workgroups of this size.
fn is_possible(limits: &Properties, size: [u32; 3]) -> bool {
    fits(size, limits.max_workgroup_size, limits.max_workgroup_invocations)
}
