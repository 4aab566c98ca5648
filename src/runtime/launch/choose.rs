//! Where a launch runs (SEL-1 to SEL-19).

use crate::coherence::selection::{Conflict, ViewCandidate, dispatch_target};
use crate::device::physical::DeviceKind;
use crate::error::E_INVALIDARG;
use crate::error::{Error, Result};
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::locked::LockedSources;
use crate::runtime::data::operand::Operand;
use crate::runtime::data::part::Part;
use smallvec::SmallVec;
use std::sync::Arc;

/// The view a launch runs on (SEL-1 to SEL-19). `default` is the accelerator whose default view is taken when nothing else
/// decides.
pub(in crate::runtime) fn choose<'a>(
    named: Option<Arc<AcceleratorView>>,
    sides: impl Iterator<Item = &'a Operand> + Clone,
    held: &mut LockedSources<'_>,
    default: impl FnOnce() -> Result<Arc<AcceleratorView>>,
) -> Result<Arc<AcceleratorView>> {
    let named = named.filter(|v| !v.is_auto_selection());
    let arrays: SmallVec<[&Arc<Array>; 4]> = sides
        .clone()
        .filter_map(|s| match s {
            Operand::Array(array, _) => Some(array),
            _ => None,
        })
        .collect();
    let tied: SmallVec<[u64; 4]> = arrays.iter().map(|a| a.view().id()).collect();
    let chosen = if named.is_some() || !arrays.is_empty() {
        let explicit = named.as_ref().map(|v| v.id());
        let there = dispatch_target(explicit, &tied, [], || 0);
        if let Err(Conflict::NotThere(n) | Conflict::Apart(n)) = there {
            let (noun, there) = (arrays[n].noun(), arrays[n].view().accelerator().name());
            let or_view = if arrays[n].texels().is_some() { "" } else { ", or give an array_view of it" };
            return Err(Error::runtime(match &named {
                Some(view) => format!(
                    "{noun} {n} of the launch is on another accelerator_view (of {there}) than the launch (of {}); \
                     copy it to {noun}s there{or_view}",
                    view.accelerator().name()
                ),
                None => format!(
                    "the {noun}s of the launch are on different accelerator_views (of {} and of {there}); copy them to \
                     one accelerator_view",
                    arrays[0].view().accelerator().name()
                ),
            }));
        }
        named.unwrap_or_else(|| arrays[0].view().clone())
    } else {
        free_choice(sides, held, default()?)?
    };
    if chosen.accelerator().kind() == DeviceKind::Cpu {
        return Err(not_on_cpu(chosen.accelerator()));
    }
    Ok(chosen)
}

/// True if nothing else than the default accelerator and the state of array_views decides where a launch runs.
pub(in crate::runtime) fn is_free<'a>(
    named: Option<&Arc<AcceleratorView>>,
    mut sides: impl Iterator<Item = &'a Operand>,
) -> bool {
    named.is_none_or(|view| view.is_auto_selection()) && !sides.any(|side| matches!(side, Operand::Array(..)))
}

/// SEL-8 to SEL-14.
fn free_choice<'a>(
    sides: impl Iterator<Item = &'a Operand>,
    held: &mut LockedSources<'_>,
    default_view: Arc<AcceleratorView>,
) -> Result<Arc<AcceleratorView>> {
    let default = default_view.accelerator().clone();
    let parts: SmallVec<[&Arc<Part>; 8]> = sides
        .filter_map(|s| match s {
            Operand::View(part) => Some(part),
            _ => None,
        })
        .collect();
    let mut views: SmallVec<[Arc<AcceleratorView>; 4]> = SmallVec::new();
    let mut consider = |view: &Arc<AcceleratorView>| {
        let known = view.id() == default_view.id() || views.iter().any(|v| v.id() == view.id());
        if !known && Arc::ptr_eq(view.accelerator(), &default) {
            views.push(view.clone());
        }
    };
    for (_, state) in &held.0 {
        // Home is a location before anything has used the source there (SEL-17).
        state.home_view().into_iter().for_each(&mut consider);
        state.views().for_each(&mut consider);
    }
    // SEL-14 allows any member of the set. The order of creation makes the choice independent of the order in which
    // accelerator_views became locations, which queries influence.
    if views.len() > 1 {
        views.sort_unstable_by_key(|v| v.id());
    }
    let mut candidates: SmallVec<[ViewCandidate<u64>; 4]> = SmallVec::new();
    for view in [&default_view].into_iter().chain(&views) {
        // A view known to some sources may be new to others; only the default view may be new to all.
        let mut holds_all = !views.is_empty();
        for part in parts.iter().take_while(|_| !views.is_empty()) {
            let state = held.state(part)?;
            if !state.is_open() {
                let holder = state.holder(Some(view))?;
                holds_all &= state.directory.is_valid(part.region(), holder.location);
            }
        }
        // A kernel is loaded on its accelerator, so what it needs is there.
        candidates.push(ViewCandidate { view: view.id(), holds_all, on_default_accelerator: true, fits: true });
    }
    let id = dispatch_target(None, &[], candidates, || default_view.id()).unwrap_or(default_view.id());
    Ok(views.into_iter().find(|v| v.id() == id).unwrap_or(default_view))
}

/// PFE-8, for a view that is named: whatever else is wrong with the launch.
pub(in crate::runtime) fn check_runs_kernels(view: Option<&Arc<AcceleratorView>>) -> Result<()> {
    match view {
        Some(v) if v.accelerator().kind() == DeviceKind::Cpu => Err(not_on_cpu(v.accelerator())),
        _ => Ok(()),
    }
}

fn not_on_cpu(accelerator: &Accelerator) -> Error {
    let text = format!(
        "concurrency::parallel_for_each is not supported on the selected accelerator \"{}\".",
        accelerator.name()
    );
    Error { hresult: E_INVALIDARG, ..Error::runtime(text) }
}
