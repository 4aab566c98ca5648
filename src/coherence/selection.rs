//! Selects the accelerator_view on which a launch runs (SEL-1 to SEL-19) and the location from which a copy reads (SEL-20 to
//! SEL-26). These are pure functions of the state of the captured objects.

use super::locations::{Location, LocationSet};

/// An accelerator_view on which a launch could run.
#[derive(Debug, Clone, Copy)]
pub struct ViewCandidate<V> {
    /// The view itself.
    pub view: V,
    /// True if all captured array_views are valid on the view (SEL-9); discarded array_views do not matter (SEL-10).
    pub holds_all: bool,
    /// True if the view belongs to the default accelerator (SEL-11).
    pub on_default_accelerator: bool,
    /// True if the view supports the features that the kernel needs (SEL-12).
    pub fits: bool,
}

/// The reason why no view can run the launch. The numbers are indices into the argument `tied` of [`dispatch_target`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict {
    /// This object lives on another view than the requested one (SEL-4).
    NotOnRequestedView(usize),
    /// This object lives on another view than the first one (SEL-6).
    OnDifferentViews(usize),
}

/// The view on which a launch runs. `explicit`: the requested view; `tied`: the views on which captured arrays live; `default`: the
/// default view of the default accelerator.
pub fn dispatch_target<V: Copy + PartialEq>(
    explicit: Option<V>,
    tied: &[V],
    candidates: impl IntoIterator<Item = ViewCandidate<V>>,
    default: impl FnOnce() -> V,
) -> Result<V, Conflict> {
    let wanted = explicit.or(tied.first().copied());
    if let Some(wanted) = wanted {
        return match tied.iter().position(|t| *t != wanted) {
            None => Ok(wanted),
            Some(n) if explicit.is_some() => Err(Conflict::NotOnRequestedView(n)),
            Some(n) => Err(Conflict::OnDifferentViews(n)),
        };
    }
    let default = default();
    let mut member = None;
    for c in candidates {
        if c.holds_all && c.on_default_accelerator && c.fits {
            if c.view == default {
                return Ok(default);
            }
            member = member.or(Some(c.view));
        }
    }
    Ok(member.unwrap_or(default))
}

/// The location from which a copy reads: the destination's own, else the host, else any (SEL-22 to SEL-24). `None` if no
/// location holds all bytes of the source. Worthless bytes (`valid_at` is `None`) are read at the destination's own location.
pub fn copy_source(
    valid_at: Option<&LocationSet>,
    destination: Option<Location>,
    host: Option<Location>,
) -> Option<Location> {
    let Some(valid) = valid_at else { return Some(destination.unwrap_or(Location::HOME)) };
    let preferred = [destination, host].into_iter().flatten().find(|l| valid.contains(*l));
    preferred.or_else(|| valid.iter().next())
}
