//! Selects the accelerator_view on which a launch runs (SEL-1 to SEL-19).

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

/// The view on which a launch runs (SEL-1 to SEL-19). `named`: the view that the program has given. `operands`: the arguments.
/// `default` returns the default view, which is used when neither `named` nor the arguments decide.
pub(in crate::runtime) fn choose<'a>(
    named: Option<Arc<AcceleratorView>>,
    operands: impl Iterator<Item = &'a Operand> + Clone,
    held: &mut LockedSources<'_>,
    default: impl FnOnce() -> Result<Arc<AcceleratorView>>,
) -> Result<Arc<AcceleratorView>> {
    let named = named.filter(|v| !v.is_auto_selection());
    let arrays: SmallVec<[&Arc<Array>; 4]> = operands
        .clone()
        .filter_map(|s| match s {
            Operand::Array(array, _) => Some(array),
            _ => None,
        })
        .collect();
    let view_ids: SmallVec<[u64; 4]> = arrays.iter().map(|a| a.view().id()).collect();
    let chosen = if named.is_some() || !arrays.is_empty() {
        let explicit = named.as_ref().map(|v| v.id());
        let there = dispatch_target(explicit, &view_ids, [], || 0);
        if let Err(Conflict::NotOnRequestedView(n) | Conflict::OnDifferentViews(n)) = there {
            let (noun, there) = (arrays[n].noun(), arrays[n].view().accelerator().name());
            let or_view = if arrays[n].texels().is_some() { "" } else { ", or pass an array_view of the array" };
            return Err(Error::runtime(match &named {
                Some(view) => format!(
                    "{noun} {n} of the launch is on an accelerator_view of {there}, but the launch runs on another \
                     accelerator_view, of {}; copy the {noun} to the accelerator_view of the launch{or_view}",
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
        free_choice(operands, held, default()?)?
    };
    if chosen.accelerator().kind() == DeviceKind::Cpu {
        return Err(not_on_cpu(chosen.accelerator()));
    }
    Ok(chosen)
}

/// True if the program has named no view and the launch uses no array. Then only the default accelerator and the state
/// of the array_views decide where the launch runs.
pub(in crate::runtime) fn is_view_undetermined<'a>(
    named: Option<&Arc<AcceleratorView>>,
    mut operands: impl Iterator<Item = &'a Operand>,
) -> bool {
    named.is_none_or(|view| view.is_auto_selection()) && !operands.any(|side| matches!(side, Operand::Array(..)))
}

/// The view of a launch without a named view and without arrays (SEL-8 to SEL-14).
fn free_choice<'a>(
    operands: impl Iterator<Item = &'a Operand>,
    held: &mut LockedSources<'_>,
    default_view: Arc<AcceleratorView>,
) -> Result<Arc<AcceleratorView>> {
    let default = default_view.accelerator().clone();
    let parts: SmallVec<[&Arc<Part>; 8]> = operands
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
        // The home location of a data source counts as a location even before anything has used the source there (SEL-17).
        state.home_view().into_iter().for_each(&mut consider);
        state.views().for_each(&mut consider);
    }
    // SEL-14 allows any of these views. Sorting by creation makes the choice independent of the order in which accelerator_views
    // became locations of the data sources. Queries influence that order.
    if views.len() > 1 {
        views.sort_unstable_by_key(|v| v.id());
    }
    let mut candidates: SmallVec<[ViewCandidate<u64>; 4]> = SmallVec::new();
    for view in [&default_view].into_iter().chain(&views) {
        // A view may be a location of only some of the data sources. The default view may be a location of none of them.
        let mut holds_all = !views.is_empty();
        for part in parts.iter().take_while(|_| !views.is_empty()) {
            let state = held.state(part)?;
            if !state.is_open() {
                let holder = state.holder(Some(view))?;
                holds_all &= state.directory.is_valid(part.region(), holder.location);
            }
        }
        // `fits`: the kernel is loaded on this accelerator, so the accelerator has the features that the kernel needs.
        candidates.push(ViewCandidate { view: view.id(), holds_all, on_default_accelerator: true, fits: true });
    }
    let id = dispatch_target(None, &[], candidates, || default_view.id()).unwrap_or(default_view.id());
    Ok(views.into_iter().find(|v| v.id() == id).unwrap_or(default_view))
}

/// Fails if the named view cannot run kernels (PFE-8). This error takes precedence over other errors of the launch.
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
