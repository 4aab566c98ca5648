//! `array_view` (docs/spec/array-views.md): a part of a data source that is usable on the host and on every accelerator.

use crate::device::host::HostTimer;
use crate::error::{Error, Result};
use crate::geometry::Layout;
use crate::host::HostSpan;
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::extents::{check_element, checked_bytes, checked_extent, section_of};
use crate::runtime::data::host_access::{HOST_MAY_READ, HOST_MAY_WRITE};
use crate::runtime::data::part::Part;
use crate::runtime::data::source::Source;
use crate::runtime::data::source_state::{Holder, SourceState};
use crate::runtime::operations::after::AsyncOptions;
use crate::runtime::operations::begin::begin;
use crate::runtime::operations::completion::Completion;
use crate::runtime::race::{self};
use crate::trace::events::{Object, Span, cause, caused_by};
use crate::trace::labels;
use crate::trace::names::Name;
use crate::trace::transfers::{Call, Rule, explicit, implicit};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

const ACCESS: Call = implicit(c"revamp_array_view_data", Rule::Av4);
const SYNCHRONIZE: Call = explicit(c"revamp_array_view_synchronize");
const SYNCHRONIZE_TO: Call = explicit(c"revamp_array_view_synchronize_to");
const SYNCHRONIZE_ASYNC: Call = explicit(c"revamp_array_view_synchronize_async");
const SYNCHRONIZE_TO_ASYNC: Call = explicit(c"revamp_array_view_synchronize_to_async");
const REFRESH: Call = explicit(c"revamp_array_view_refresh");
const DISCARD: Call = explicit(c"revamp_array_view_discard_data");

/// An array_view. Dropping the last array_view of a data source writes changes back to the source's memory.
pub struct ArrayView {
    part: Arc<Part>,
}

impl Drop for ArrayView {
    fn drop(&mut self) {
        if self.part.may_be_published() {
            self.part.source.host_access().forget(self.part.id);
        }
        self.part.source.release();
        labels::forget(self.part.id);
    }
}

/// Options for creating a view.
#[derive(Clone, Copy, Default)]
pub struct ViewOptions<'a> {
    /// True for `array_view<const T>`.
    pub read_only: bool,
    /// A name for messages.
    pub label: Option<&'a str>,
}

impl ArrayView {
    /// A view of a part of `source`. The caller must have counted the view in `source` already.
    fn make(
        source: Arc<Source>,
        extent: &[i32],
        layout: Layout,
        read_only: bool,
        label: Option<Arc<str>>,
    ) -> Arc<Self> {
        Arc::new(Self { part: Arc::new(Part::new(source, extent, layout, read_only, label)) })
    }

    /// A view of memory of the program, with a data source of its own (AV-8). `memory` gets the number of bytes and returns the
    /// memory.
    pub fn over_host(
        extent: &[i32],
        element: usize,
        memory: impl FnOnce(u64) -> Result<HostSpan>,
        options: ViewOptions<'_>,
    ) -> Result<Arc<Self>> {
        let sizes = checked_extent(extent, "array_view")?;
        check_element(element)?;
        let bytes = checked_bytes(&sizes, element as u64)?;
        let source = Source::over_host(memory(bytes)?, options.label.unwrap_or("host memory"));
        source.retain();
        Ok(Self::make(
            source,
            extent,
            Layout::packed(0, element as u64, &sizes),
            options.read_only,
            options.label.map(Into::into),
        ))
    }

    /// A view of a whole array.
    pub fn over_array(array: &Arc<Array>, options: ViewOptions<'_>) -> Arc<Self> {
        let label = options.label.map(Into::into);
        Self::make(array.source_for_view(), array.extent(), array.layout().clone(), options.read_only, label)
    }

    /// A view without a data source (docs/spec/array-views.md#views-without-a-data-source).
    pub fn open(extent: &[i32], element: usize, options: ViewOptions<'_>) -> Result<Arc<Self>> {
        let sizes = checked_extent(extent, "array_view")?;
        check_element(element)?;
        let bytes = checked_bytes(&sizes, element as u64)?;
        if options.read_only {
            return Err(Error::runtime(
                "an array_view without a data source cannot be read-only, because nothing could write its elements; \
                 pass a data source, or make the array_view writable",
            ));
        }
        let source = Source::open(bytes, extent, element, options.label.unwrap_or("no data source"));
        source.retain();
        Ok(Self::make(
            source,
            extent,
            Layout::packed(0, element as u64, &sizes),
            options.read_only,
            options.label.map(Into::into),
        ))
    }

    /// Sets the name of the view in messages and traces, and of the buffers of its data source in Vulkan tools.
    pub fn set_label(&self, label: &str) {
        labels::set(self.part.id, label);
        self.part.source.lock().set_label(label.into());
    }

    /// The part of the data source that it covers.
    pub fn part(&self) -> &Arc<Part> {
        &self.part
    }

    /// The span of a call in traces.
    fn span(&self, call: Call) -> Span {
        Span::call(call, || Object::of(Name::of(&self.part.name()), self.part.source.id()))
    }

    fn using(&self, call: Call, access: Access) -> race::CallUses {
        using(&self.part, call, access)
    }

    fn derive(&self, extent: &[i32], layout: Layout, read_only: bool) -> Arc<Self> {
        self.part.source.retain();
        let label = labels::of(self.part.id).or_else(|| self.part.label.clone());
        Self::make(self.part.source.clone(), extent, layout, read_only, label)
    }

    /// `section`: `origin` defaults to zeros, `extent` to the rest.
    pub fn section(&self, origin: Option<&[i32]>, extent: Option<&[i32]>) -> Result<Arc<Self>> {
        let (from, size) = section_of(&self.part.extent, origin, extent, || self.part.name())?;
        let layout = self.part.layout.section(&from, &size);
        let extent: SmallVec<[i32; 4]> = size.iter().map(|&s| s as i32).collect();
        Ok(self.derive(&extent, layout, self.part.read_only))
    }

    /// Projection: slice `index` of the most significant dimension.
    pub fn project(&self, index: i32) -> Result<Arc<Self>> {
        let extent = &self.part.extent;
        if extent.len() < 2 {
            return Err(Error::runtime(format!(
                "the {} has rank 1; only array_views of rank 2 or more have projections; use an index instead",
                self.part.name()
            )));
        }
        if index < 0 || index >= extent[0] {
            return Err(Error::runtime(format!(
                "projection {index} of the {} is out of range: its most significant dimension has {} slices",
                self.part.name(),
                extent[0]
            )));
        }
        let mut layout = self.part.layout.clone();
        layout.offset += index as u64 * layout.dims[0].1;
        layout.dims.remove(0);
        Ok(self.derive(&extent[1..], layout, self.part.read_only))
    }

    fn check_packed(&self, what: &str) -> Result<()> {
        if !self.part.layout.is_packed() {
            return Err(Error::runtime(format!(
                "{what} of the {} needs contiguous elements, but the strides are {:?}; use the whole view, or copy the \
                 section to an array",
                self.part.name(),
                self.part.strides
            )));
        }
        Ok(())
    }

    /// `view_as`: the same bytes with another extent.
    pub fn view_as(&self, extent: &[i32]) -> Result<Arc<Self>> {
        self.check_packed("view_as")?;
        let sizes = checked_extent(extent, "array_view")?;
        let element = self.part.layout.element;
        let bytes = checked_bytes(&sizes, element)?;
        if bytes > self.part.layout.bytes() {
            return Err(Error::runtime(format!(
                "view_as to {extent:?} needs {} elements, but the {} has {}; use a smaller extent",
                bytes / element,
                self.part.name(),
                self.part.layout.elements()
            )));
        }
        Ok(self.derive(extent, Layout::packed(self.part.layout.offset, element, &sizes), self.part.read_only))
    }

    /// `reinterpret_as`: elements of another size, in one dimension.
    pub fn reinterpret_as(&self, element: usize) -> Result<Arc<Self>> {
        self.check_packed("reinterpret_as")?;
        check_element(element)?;
        let bytes = self.part.layout.bytes();
        let count = bytes / element as u64;
        if bytes % element as u64 != 0 {
            return Err(Error::runtime(format!(
                "reinterpret_as of the {}: its {bytes} bytes are not a multiple of the element size {element}",
                self.part.name()
            )));
        }
        let length = i32::try_from(count).map_err(|_| {
            Error::runtime(format!(
                "reinterpret_as would give {count} elements; the limit of one dimension is {}",
                i32::MAX
            ))
        })?;
        let layout = Layout::packed(self.part.layout.offset, element as u64, &[count]);
        Ok(self.derive(&[length], layout, self.part.read_only))
    }

    /// The same elements as `array_view<const T>`.
    pub fn as_read_only(&self) -> Arc<Self> {
        self.derive(&self.part.extent, self.part.layout.clone(), true)
    }

    /// `get_source_accelerator_view`: `None` if there is no data source; the inner `None` means the host.
    pub fn source_view(&self) -> Option<Option<Arc<AcceleratorView>>> {
        let source = &self.part.source;
        (!source.is_open()).then(|| source.array().map(|a| a.view().clone()))
    }

    /// Makes the view valid on the host. Returns the memory from the view's first element on (AV-16, AV-17).
    pub fn access(&self, access: Access) -> Result<HostSpan> {
        let part = &self.part;
        access_on_host(part, access, |_, _| {
            let bits = bits_of(access);
            part.source.host_access().publish((part.id, 0), &part.word, 0, &part.region, bits);
        })
    }

    /// Makes one slice valid on the host. Fixing the first `depth` indices of the view gives a slice; `number` is the slice's row-major
    /// number. The rest of the view is unchanged. Returns the slice's memory, and the state words of all slices of this depth.
    pub fn access_slice(&self, depth: usize, number: u64, access: Access) -> Result<(HostSpan, &[AtomicU32])> {
        let part = &self.part;
        let slice = part.slice(depth, number)?;
        let words = part.slices(depth)?;
        let memory = access_on_host(&slice, access, |state, holder| {
            let bits = bits_of(access);
            let host_access = part.source.host_access();
            if part.is_usable_on_host(state, holder, access) {
                host_access.publish((part.id, 0), &part.word, 0, &part.region, bits);
            } else {
                host_access.publish((part.id, depth), words, number as usize, &slice.region, bits);
            }
        })?;
        Ok((memory, words))
    }

    /// Transfers changes to home, the storage of the data source. After a write access, the view is valid only at home
    /// (docs/spec/array-views.md#synchronize).
    pub fn synchronize(&self, access: Access) -> Result<()> {
        self.part.check(access)?;
        let _span = self.span(SYNCHRONIZE);
        let _using = self.using(SYNCHRONIZE, access);
        self.part.wait_pending(access)?;
        move_to(&self.part, None, access, SYNCHRONIZE)
    }

    /// [`Self::synchronize`] as an asynchronous operation.
    pub fn synchronize_async(&self, access: Access, options: AsyncOptions) -> Result<Arc<Completion>> {
        self.start(None, access, options)
    }

    /// Makes the view valid on `target`. After a write access, it is valid only there.
    pub fn synchronize_to(&self, target: &Arc<AcceleratorView>, access: Access) -> Result<()> {
        self.part.check(access)?;
        let _span = self.span(SYNCHRONIZE_TO);
        let _using = self.using(SYNCHRONIZE_TO, access);
        self.part.wait_pending(access)?;
        move_to(&self.part, Some(target), access, SYNCHRONIZE_TO)
    }

    /// [`Self::synchronize_to`] as an asynchronous operation.
    pub fn synchronize_to_async(
        &self,
        target: &Arc<AcceleratorView>,
        access: Access,
        options: AsyncOptions,
    ) -> Result<Arc<Completion>> {
        self.start(Some(target), access, options)
    }

    fn start(
        &self,
        target: Option<&Arc<AcceleratorView>>,
        access: Access,
        options: AsyncOptions,
    ) -> Result<Arc<Completion>> {
        let part = self.part.clone();
        part.check(access)?;
        let call = if target.is_some() { SYNCHRONIZE_TO_ASYNC } else { SYNCHRONIZE_ASYNC };
        let elements = std::iter::once_with(|| (part.elements(), access));
        let _span = self.span(call);
        let cause = cause();
        let using = race::uses_after(call.name, elements, || options.after.completions());
        let target = target.cloned();
        part.source.host_access().revoke(&part.region, access);
        let claims = [(part.source.pending(), part.region.hull(), access)];
        let views: SmallVec<[Arc<AcceleratorView>; 2]> = target.iter().map(|v| v.actual()).collect();
        let task = {
            let part = part.clone();
            let timer = options.timer.clone();
            move || {
                let run = || caused_by(cause, || move_to(&part, target.as_ref(), access, call));
                let Some(slot) = &timer else { return run() };
                let host_timer = Arc::new(HostTimer::default());
                host_timer.measure(run)?;
                let _ = slot.set(host_timer);
                Ok(())
            }
        };
        let made = begin(&claims, options, AcceleratorView::attach_to(&views), task);
        made.uses(using);
        Ok(made)
    }

    /// Notes that the program changed the source's memory directly (docs/spec/array-views.md#refresh).
    pub fn refresh(&self) -> Result<()> {
        let part = &self.part;
        let _span = self.span(REFRESH);
        let _using = self.using(REFRESH, Access::Write);
        part.wait_pending(Access::Write)?;
        if part.source.is_open() {
            return Ok(());
        }
        part.source.host_access().revoke(&part.region, Access::Write);
        part.source.attempt(|state| {
            let home = state.home_holder(None)?;
            state.renewed(&part.region, &home);
            state.directory.make_room(&part.region)?;
            state.directory.refresh(&part.region);
            Ok(())
        })
    }

    /// Notes that the contents are not needed until they are written (docs/spec/array-views.md#discard).
    pub fn discard_data(&self) -> Result<()> {
        let part = &self.part;
        part.check(Access::Write)?;
        let _span = Span::call(DISCARD, || {
            // In a trace, the call has a source only if it discards all of the source. Otherwise other parts may still be of use.
            let is_whole = part.region.bytes() == part.source.bytes();
            Object::of(Name::of(&part.name()), if is_whole { part.source.id() } else { 0 })
        });
        let _using = self.using(DISCARD, Access::Write);
        part.wait_pending(Access::Write)?;
        part.source.host_access().revoke(&part.region, Access::Write);
        part.source.attempt(|state| {
            state.directory.make_room(&part.region)?;
            state.directory.discard(&part.region);
            Ok(())
        })
    }

    /// The residency of the view on an accelerator_view: the bytes that are valid, discarded and allocated there.
    pub fn residency(&self, view: &Arc<AcceleratorView>) -> Result<Residency> {
        let part = &self.part;
        let bytes = part.region.bytes();
        part.source.attempt(|state| {
            if state.is_open() {
                return Ok(Residency { bytes, valid: 0, discarded: bytes, allocated: 0, shares_home: false });
            }
            let holder = state.holder(Some(view))?;
            let (valid, discarded) = state.directory.count(&part.region, holder.location);
            let allocated = state.allocated(&holder);
            Ok(Residency { bytes, valid, discarded, allocated, shares_home: holder.shares_home() })
        })
    }
}

/// The result of [`ArrayView::residency`], in bytes.
pub struct Residency {
    /// Bytes of the view.
    pub bytes: u64,
    /// Bytes of the view that are valid there.
    pub valid: u64,
    /// Bytes of the view that are discarded or were never written.
    pub discarded: u64,
    /// Bytes allocated there for the whole source, not counting home.
    pub allocated: u64,
    /// True if the accelerator_view uses home's memory itself.
    pub shares_home: bool,
}

/// The bits of a state word after an access of the host.
fn bits_of(access: Access) -> u32 {
    if access.writes() { HOST_MAY_READ | HOST_MAY_WRITE } else { HOST_MAY_READ }
}

/// Makes a part valid on the host and returns its memory. Calls `publish` under the lock of its source.
fn access_on_host(part: &Part, access: Access, publish: impl Fn(&mut SourceState, &Holder)) -> Result<HostSpan> {
    part.check(access)?;
    let _span = Span::call(ACCESS, || Object::of(Name::of(&part.name()), part.source.id()));
    let _using = using(part, ACCESS, access);
    part.wait_pending(access)?;
    part.source.attempt(|state| {
        let holder = state.holder(None)?;
        part.make_valid(state, &holder, access, ACCESS)?;
        let hull = part.region.hull();
        let memory = state.host_memory(&holder, &hull, access)?;
        if access.writes() {
            part.renewed(state, &holder, access);
        }
        publish(state, &holder);
        memory.sub(hull)
    })
}

fn using(part: &Part, call: Call, access: Access) -> race::CallUses {
    race::uses(call.name, std::iter::once_with(|| (part.elements(), access)))
}

/// Makes a part valid on `target` (`None`: at home). After a write access, it is valid only there.
fn move_to(part: &Part, target: Option<&Arc<AcceleratorView>>, access: Access, call: Call) -> Result<()> {
    let hull = part.region.hull();
    part.source.attempt(|state| {
        let holder = match target {
            Some(view) => state.holder(Some(view))?,
            // There is nothing to move, and no home yet.
            None if state.is_open() => return Ok(()),
            None => state.home_holder(None)?,
        };
        part.source.host_access().revoke(&part.region, access);
        part.make_valid(state, &holder, access, call)?;
        state.wait_conflicts(&holder, &hull, access)?;
        if access.writes() {
            part.written(state, &holder);
        }
        Ok(())
    })
}
