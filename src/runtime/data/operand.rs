//! Operands: the arguments of launches and the sides of copies.

use crate::device::hazard::Tracker;
use crate::error::{Error, Result};
use crate::geometry::Layout;
use crate::host::HostSpan;
use crate::kernel::Access;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::array::Array;
use crate::runtime::data::extents::{checked_bytes, checked_extent, section_of};
use crate::runtime::data::part::Part;
use crate::runtime::data::transfer::Named;
use crate::runtime::race::Elements;
use std::ops::Range;
use std::sync::Arc;

/// The shape of host memory.
pub struct HostBox {
    layout: Layout,
}

impl HostBox {
    /// A box of `extent` elements of `element` bytes with these byte strides (`None`: without gaps).
    pub fn new(extent: &[i32], element: u64, strides: Option<&[i64]>) -> Result<Self> {
        let sizes = checked_extent(extent, "host memory")?;
        if element == 0 {
            return Err(Error::runtime("the element size of the host memory is 0; it must be at least 1"));
        }
        checked_bytes(&sizes, element)?;
        let mut layout = Layout::packed(0, element, &sizes);
        if let Some(strides) = strides {
            let mut span = element;
            for ((dim, &stride), &size) in layout.dims.iter_mut().zip(strides).zip(&sizes) {
                dim.1 = u64::try_from(stride)
                    .map_err(|_| Error::runtime(format!("the host strides are {strides:?}; all must be 0 or more")))?;
                span = (size - 1)
                    .checked_mul(dim.1)
                    .and_then(|s| s.checked_add(span))
                    .filter(|&s| s <= i64::MAX as u64)
                    .ok_or_else(|| {
                        Error::runtime(format!(
                            "the host strides {strides:?} span more than 2^63 bytes, which is the limit"
                        ))
                    })?;
            }
        }
        Ok(Self { layout })
    }

    /// Memory without gaps for the elements of `array`.
    pub fn packed_like(array: &Array) -> Self {
        Self { layout: array.layout().clone() }
    }

    /// The layout of the elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// One side of a copy, or an argument of a launch.
#[derive(Clone)]
pub enum Operand {
    /// Host memory.
    Host(HostSpan, Layout),
    /// An array or a section of it.
    Array(Arc<Array>, Layout),
    /// An array_view.
    View(Arc<Part>),
}

impl Named for Operand {
    fn name(&self) -> String {
        match self {
            Self::Host(..) => "host memory".to_owned(),
            Self::Array(array, _) => array.name(),
            Self::View(part) => part.name(),
        }
    }
}

impl Operand {
    /// Host memory with the layout of `shape`.
    pub fn host(span: HostSpan, shape: HostBox) -> Self {
        Self::Host(span, shape.layout)
    }

    /// A whole array.
    pub fn whole(array: Arc<Array>) -> Self {
        let layout = array.layout().clone();
        Self::Array(array, layout)
    }

    /// True if the operand is `array` or a section of it, and the hull of the operand overlaps `bytes`.
    pub fn overlaps(&self, array: &Arc<Array>, bytes: &Range<u64>) -> bool {
        match self {
            Self::Array(operand_array, layout) if Arc::ptr_eq(operand_array, array) => {
                let hull = layout.hull();
                hull.start < bytes.end && bytes.start < hull.end
            }
            _ => false,
        }
    }

    /// A section: `origin` defaults to zeros, `extent` to the rest of the array.
    pub fn section(array: Arc<Array>, origin: Option<&[i32]>, extent: Option<&[i32]>) -> Result<Self> {
        if origin.is_none() && extent.is_none() {
            return Ok(Self::whole(array));
        }
        let (from, size) = section_of(array.extent(), origin, extent, || "array".to_owned())?;
        let layout = array.layout().section(&from, &size);
        Ok(Self::Array(array, layout))
    }

    /// The layout of the elements in the host memory, the array or the data source.
    pub(in crate::runtime) fn layout(&self) -> &Layout {
        match self {
            Self::Host(_, l) | Self::Array(_, l) => l,
            Self::View(part) => part.layout(),
        }
    }

    /// The elements of the operand, for the race check; `None` for host memory.
    pub(in crate::runtime) fn elements(&self) -> Option<Elements> {
        match self {
            Self::Host(..) => None,
            Self::Array(a, l) => Some(a.elements(l)),
            Self::View(p) => Some(p.elements()),
        }
    }

    /// The inputs of a claim: the tracker of pending operations, and the operand's bytes there.
    pub(in crate::runtime) fn claim(&self) -> Option<(&Tracker, Range<u64>)> {
        match self {
            Self::Host(..) => None,
            Self::Array(a, l) => Some((a.pending(), l.hull())),
            Self::View(part) => Some((part.source().pending(), part.region().hull())),
        }
    }

    /// The accelerator_view whose `wait` covers copies of this operand.
    pub(in crate::runtime) fn view(&self) -> Option<&Arc<AcceleratorView>> {
        match self {
            Self::Host(..) => None,
            Self::Array(a, _) => Some(a.copy_view()),
            Self::View(part) => part.source().array().map(|a| a.copy_view()),
        }
    }

    /// Withdraws the host's permission to use the elements without a call, as far as it conflicts with `access`. No lock may be held.
    pub(in crate::runtime) fn revoke(&self, access: Access) {
        match self {
            Self::Host(..) => {}
            Self::Array(array, l) => {
                if let Some(views) = array.source() {
                    views.host_access().revoke(&l.region(), access);
                }
            }
            Self::View(part) => part.source().host_access().revoke(part.region(), access),
        }
    }

    /// True if there are pending operations that conflict with `access`.
    pub(in crate::runtime) fn is_pending(&self, access: Access) -> bool {
        self.claim().is_some_and(|(pending, range)| !pending.is_free(&range, access))
    }

    /// Waits for pending operations that conflict with `access`. Must be called before any source is locked.
    pub(in crate::runtime) fn wait_pending(&self, access: Access) -> Result<()> {
        match self {
            Self::Host(..) => Ok(()),
            Self::Array(a, l) => a.pending().wait_for_all(&l.hull(), access),
            Self::View(part) => part.wait_pending(access),
        }
    }
}
