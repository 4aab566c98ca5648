//! Begins launches after the completions in their wait lists.

use crate::device::hazard::{Point, Tracker};
use crate::error::Result;
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::operand::Operand;
use crate::runtime::operations::after::{After, AsyncOptions};
use crate::runtime::operations::begin::begin;
use crate::runtime::operations::completion::Completion;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// The points of `after` for which the queue of `view` can wait on the device. `None` if the host must wait.
pub(super) fn points_on_device(view: Option<&Arc<AcceleratorView>>, after: &After) -> Option<SmallVec<[Point; 4]>> {
    // Without a view, the device of the launch is not known yet. No device has the id 0.
    after.on_device(view.filter(|view| !view.is_auto_selection()).map_or(0, |view| view.device().id()))
}

/// Calls `launch` on a thread of the library once a launch with the arguments `captured` may begin. The returned completion is
/// done when the device has run the launch. `default`: the default view, if the launch may run there. The caller chooses the
/// default view now, because the runtime may be ending when the launch begins.
pub(super) fn later<'a>(
    view: Option<Arc<AcceleratorView>>,
    default: Option<Arc<AcceleratorView>>,
    captured: impl Iterator<Item = (&'a Operand, Access)>,
    options: AsyncOptions,
    launch: impl FnOnce(Option<Arc<AcceleratorView>>, Option<Arc<AcceleratorView>>) -> Result<Point> + Send + 'static,
) -> Arc<Completion> {
    let mut claims: SmallVec<[(&Tracker, Range<u64>, Access); 8]> = SmallVec::new();
    let named = view.as_ref().or(default.as_ref());
    let mut views: SmallVec<[Arc<AcceleratorView>; 4]> = named.map(AcceleratorView::actual).into_iter().collect();
    for (operand, access) in captured {
        operand.revoke(access);
        claims.extend(operand.claim().map(|(tracker, range)| (tracker, range, access)));
        if view.is_none() {
            views.extend(operand.view().cloned());
        }
    }
    let task = move || {
        let point = launch(view, default)?;
        point.wait(None).map(drop)
    };
    begin(&claims, options, AcceleratorView::attach_to(&views), task)
}
