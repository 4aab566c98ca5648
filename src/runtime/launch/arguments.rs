//! What a launch or a copy uses: arrays and array_views, made valid where it runs.

use crate::coherence::selection::{Candidate, Conflict, dispatch_target};
use crate::device::Use;
use crate::device::hazard::any_lost;
use crate::device::physical::Kind;
use crate::error::{E_INVALIDARG, Error, Result};
use crate::geometry::{Layout, Region};
use crate::kernel::Access;
use crate::lock::MutexGuard;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::copies::copy::Side;
use crate::runtime::data::array::Array;
use crate::runtime::data::array_view::Part;
use crate::runtime::data::source::{Place, Source, State, looks_again, take_detour};
use crate::trace::transfers::Call;
use smallvec::SmallVec;
use std::sync::Arc;

/// Data sources that an operation uses.
pub(in crate::runtime) struct Sources<'a> {
    views: SmallVec<[&'a Arc<Source>; 16]>,
    arrays: SmallVec<[Arc<Source>; 4]>,
}

impl<'a> Sources<'a> {
    /// Those of these sides.
    pub fn of(sides: impl Iterator<Item = &'a Side>) -> Self {
        let mut found = Self { views: SmallVec::new(), arrays: SmallVec::new() };
        for side in sides {
            match side {
                Side::Host(..) => {}
                Side::Array(array, _) => found.arrays.extend(array.source()),
                Side::View(part) => found.views.push(part.source()),
            }
        }
        found
    }

    /// Runs `f` under all locks, as [`Source::attempt`] does under one.
    pub fn attempt<T>(&self, mut f: impl FnMut(&mut Held<'_>) -> Result<T>) -> Result<T> {
        let mut rounds = 0;
        loop {
            let mut held = Held(SmallVec::new());
            self.lock(&mut held)?;
            let error = match f(&mut held) {
                Err(e) => e,
                done => return done,
            };
            // All of them, not up to the first.
            let absorb = || held.0.iter_mut().fold(false, |any, (_, state)| state.absorb_losses() || any);
            if looks_again(&error, &mut rounds, absorb) {
                continue;
            }
            drop(held);
            take_detour(error)?;
        }
    }

    /// Locks them in order of id, each once. An array whose last view is gone is used by itself.
    fn lock<'s>(&'s self, held: &mut Held<'s>) -> Result<()> {
        let mut all: SmallVec<[&Arc<Source>; 16]> = self.views.iter().copied().chain(&self.arrays).collect();
        all.sort_unstable_by_key(|s| s.id());
        all.dedup_by_key(|s| s.id());
        for source in all {
            let state = source.lock();
            if !state.is_closed() {
                held.0.push((&**source, state));
            } else if self.views.iter().any(|v| v.id() == source.id()) {
                state.check_open()?;
            }
        }
        Ok(())
    }
}

/// Locked data sources.
pub(in crate::runtime) struct Held<'a>(SmallVec<[(&'a Source, MutexGuard<'a, State>); 16]>);

impl<'a> Held<'a> {
    /// The state of a view's source.
    pub fn state(&mut self, part: &Part) -> Result<&mut State> {
        self.of(part.source())
    }

    /// The state of a source.
    pub fn of(&mut self, source: &Source) -> Result<&mut State> {
        let id = source.id();
        let found = self.0.iter_mut().find(|(s, _)| s.id() == id);
        found.map(|(_, state)| &mut **state).ok_or_else(|| Error::internal("a data source was used without its lock"))
    }

    /// The source of an array that has views, and its state.
    pub fn of_array(&mut self, array: &Arc<Array>) -> Option<(&'a Source, &mut State)> {
        let is = |s: &Source| s.array().is_some_and(|a| Arc::ptr_eq(a, array.storage()));
        self.0.iter_mut().find(|(s, _)| is(s)).map(|(s, state)| (*s, &mut **state))
    }

    /// Fails if the views of an array know that some of it is lost: a kernel that only writes may leave some of it as it was.
    fn check_array(&mut self, array: &Arc<Array>, layout: &Layout) -> Result<()> {
        match self.of_array(array).filter(|_| any_lost()) {
            Some((_, state)) => state.check(&layout.region()),
            None => Ok(()),
        }
    }

    /// An array is used at home: its views' changes elsewhere come first (COH-12). What is written is told by [`Self::wrote_array`].
    pub fn use_array(&mut self, array: &Arc<Array>, layout: &Layout, access: Access, call: Call) -> Result<()> {
        match self.of_array(array) {
            Some((source, state)) => source.use_at_home(state, layout, access, call),
            None => Ok(()),
        }
    }

    /// An array was written at home, which alone has those bytes now.
    pub fn wrote_array(&mut self, array: &Arc<Array>, layout: &Layout) -> Result<()> {
        match self.of_array(array) {
            Some((_, state)) => state.written_at_home(&layout.region()),
            None => Ok(()),
        }
    }
}

/// Waits for asynchronous host operations that conflict; before anything is locked.
pub(in crate::runtime) fn settle(side: &Side, access: Access) -> Result<()> {
    match side {
        Side::Host(..) => Ok(()),
        Side::Array(a, l) => a.pending().wait_for_all(&l.hull(), access),
        Side::View(part) => part.settle(access),
    }
}

/// The view a launch runs on (SEL-1 to SEL-19). `default` is the accelerator whose default view is taken when nothing else
/// decides.
pub(in crate::runtime) fn choose<'a>(
    named: Option<Arc<AcceleratorView>>,
    sides: impl Iterator<Item = &'a Side> + Clone,
    held: &mut Held<'_>,
    default: impl FnOnce() -> Result<Arc<AcceleratorView>>,
) -> Result<Arc<AcceleratorView>> {
    let named = named.filter(|v| !v.is_auto_selection());
    let arrays: SmallVec<[&Arc<Array>; 4]> = sides
        .clone()
        .filter_map(|s| match s {
            Side::Array(array, _) => Some(array),
            _ => None,
        })
        .collect();
    let tied: SmallVec<[u64; 4]> = arrays.iter().map(|a| a.view().id()).collect();
    let chosen = if named.is_some() || !arrays.is_empty() {
        let explicit = named.as_ref().map(|v| v.id());
        let there = dispatch_target(explicit, &tied, [], || 0);
        if let Err(Conflict::NotThere(n) | Conflict::Apart(n)) = there {
            let there = arrays[n].view().accelerator().name();
            return Err(Error::runtime(match &named {
                Some(view) => format!(
                    "array {n} of the launch lives on another accelerator_view (of {there}) than the one the launch is for \
                     (of {}); copy it to an array there, or give an array_view of it",
                    view.accelerator().name()
                ),
                None => format!(
                    "the arrays of the launch live on different accelerator_views (of {} and of {there}), so there is no \
                     view to run on",
                    arrays[0].view().accelerator().name()
                ),
            }));
        }
        named.unwrap_or_else(|| arrays[0].view().clone())
    } else {
        free_choice(sides, held, default()?)?
    };
    if chosen.accelerator().kind() == Kind::Cpu {
        return Err(not_on_cpu(chosen.accelerator()));
    }
    Ok(chosen)
}

/// SEL-8 to SEL-14.
fn free_choice<'a>(
    sides: impl Iterator<Item = &'a Side>,
    held: &mut Held<'_>,
    default_view: Arc<AcceleratorView>,
) -> Result<Arc<AcceleratorView>> {
    let default = default_view.accelerator().clone();
    let parts: SmallVec<[&Arc<Part>; 8]> = sides
        .filter_map(|s| match s {
            Side::View(part) => Some(part),
            _ => None,
        })
        .collect();
    let mut views: SmallVec<[Arc<AcceleratorView>; 4]> = SmallVec::new();
    for (_, state) in &held.0 {
        for view in state.views() {
            let known = view.id() == default_view.id() || views.iter().any(|v| v.id() == view.id());
            if !known && Arc::ptr_eq(view.accelerator(), &default) {
                views.push(view.clone());
            }
        }
    }
    let mut candidates: SmallVec<[Candidate<u64>; 4]> = SmallVec::new();
    for view in [&default_view].into_iter().chain(&views) {
        // A view known to some sources may be new to others; only the default view may be new to all.
        let mut holds_all = !views.is_empty();
        for part in parts.iter().take_while(|_| !views.is_empty()) {
            let state = held.state(part)?;
            if !state.is_open() {
                let place = state.place(Some(view))?;
                holds_all &= state.directory.is_valid(part.region(), place.location);
            }
        }
        // A kernel is loaded on its accelerator, so what it needs is there.
        candidates.push(Candidate { view: view.id(), holds_all, on_default_accelerator: true, fits: true });
    }
    let id = dispatch_target(None, &[], candidates, || default_view.id()).unwrap_or(default_view.id());
    Ok(views.into_iter().find(|v| v.id() == id).unwrap_or(default_view))
}

/// PFE-8, for a view that is named: whatever else is wrong with the launch.
pub(in crate::runtime) fn check_runs_kernels(view: Option<&Arc<AcceleratorView>>) -> Result<()> {
    match view {
        Some(v) if v.accelerator().kind() == Kind::Cpu => Err(not_on_cpu(v.accelerator())),
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

/// One argument of a launch.
pub(in crate::runtime) struct Captured<'a> {
    /// It.
    pub side: &'a Side,
    /// How the kernel uses it.
    pub access: Access,
    /// What of it must be valid: a kernel that only says it writes may leave elements out.
    pub needs: Access,
}

/// Which bytes of which buffers the arguments are, and the places of the array_views. Filled in place: it is large to move.
#[derive(Default)]
pub(in crate::runtime) struct Brought {
    /// One for each argument.
    pub uses: SmallVec<[Use; 8]>,
    places: SmallVec<[Option<Arc<Place>>; 16]>,
    changed: bool,
}

impl Brought {
    /// Makes arguments valid on the view a launch runs on. Call [`Self::written`] once the launch is recorded.
    pub fn bring(
        &mut self,
        captured: &[Captured<'_>],
        view: &Arc<AcceleratorView>,
        held: &mut Held<'_>,
        call: Call,
    ) -> Result<()> {
        // Blocks grow before any address is taken: aliases share one (docs/spec/array-views.md#parts-and-shapes).
        for c in captured {
            self.places.push(match c.side {
                Side::View(part) => {
                    let state = held.state(part)?;
                    let place = state.place(Some(view))?;
                    state.reserve(&place, &part.region().hull())?;
                    Some(place)
                }
                _ => None,
            });
        }
        for (c, place) in captured.iter().zip(&self.places) {
            self.uses.push(match (c.side, place) {
                (Side::Array(array, layout), _) => {
                    held.check_array(array, layout)?;
                    held.use_array(array, layout, c.needs, call)?;
                    Use { buffer: array.buffer().clone(), range: layout.hull(), access: c.access }
                }
                (Side::View(part), Some(place)) => {
                    let state = held.state(part)?;
                    let words = part.source().words();
                    if !part.is_settled(state, place, c.needs) || words.any() {
                        self.changed = true;
                        state.check(part.region())?;
                        part.make_valid(state, place, c.needs, call)?;
                        words.take_back(part.region(), c.needs);
                    }
                    let hull = part.region().hull();
                    let (buffer, base) = state.device_memory(place, &hull, c.access)?;
                    Use { buffer, range: hull.start - base..hull.end - base, access: c.access }
                }
                _ => return Err(Error::internal("host memory where an array was needed")),
            });
        }
        Ok(())
    }

    /// The places of the array_views: one for each argument.
    pub fn places(&self) -> &[Option<Arc<Place>>] {
        &self.places
    }

    /// True if something was to be done before all was valid.
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// Records what the launch writes.
    pub fn written(&self, captured: &[Captured<'_>], held: &mut Held<'_>) -> Result<()> {
        for (c, place) in captured.iter().zip(&self.places).filter(|(c, _)| c.needs.writes()) {
            match (c.side, place) {
                (Side::View(part), Some(place)) => part.written(held.state(part)?, place),
                (Side::Array(array, layout), _) => held.wrote_array(array, layout)?,
                _ => {}
            }
        }
        Ok(())
    }
}
