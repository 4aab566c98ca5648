//! Launches that wait for completions.

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

/// The points for which the view's queue waits without the host; `None` if the host must wait.
pub(super) fn points_here(view: Option<&Arc<AcceleratorView>>, after: &After) -> Option<SmallVec<[Point; 4]>> {
    // Without a view it is not yet known where the launch runs. No device has the number 0.
    after.on_device(view.filter(|view| !view.is_auto_selection()).map_or(0, |view| view.device().id()))
}

/// Begins a launch of these arguments by `launch`, on a thread of the library, once it may begin. It is done when the device has done
/// it. `default` is the default view if the launch may run there: the runtime may be about to end when it begins.
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
        operand.take_back(access);
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
