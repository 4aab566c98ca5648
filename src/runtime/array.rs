//! array (docs/spec/arrays.md) and staging arrays (rules STG-1 to STG-18).

use super::AccessType;
use super::accelerator_view::AcceleratorView;
use super::capture::bring_home;
use super::source::Source;
use crate::device::hazard::Tracker;
use crate::device::physical::Kind;
use crate::device::{Buffer, Device, Placement};
use crate::error::{Error, Result};
use crate::geometry::Layout;
use crate::host::HostSpan;
use crate::kernel::Access;
use crate::lock::{Mutex, rank};
use crate::trace::transfers::{Call, implicit};
use std::sync::{Arc, Weak};

const DATA: Call = implicit(c"revamp_array_data");

/// What an array shall be.
pub struct ArrayRequest<'a> {
    /// Where it lives.
    pub view: Arc<AcceleratorView>,
    /// Extents, most significant first.
    pub extent: &'a [i32],
    /// Bytes of an element.
    pub element_size: usize,
    /// What the host may do with it directly.
    pub cpu_access: AccessType,
    /// The view a staging array exchanges data with.
    pub associated: Option<Arc<AcceleratorView>>,
    /// A name for messages.
    pub label: Option<&'a str>,
}

/// A block of elements on one accelerator_view.
pub struct Array {
    view: Arc<AcceleratorView>,
    associated: Arc<AcceleratorView>,
    extent: Box<[i32]>,
    layout: Layout,
    cpu_access: AccessType,
    buffer: Arc<dyn Buffer>,
    /// The device that made the buffer: of a staging array the associated view's.
    device: Arc<dyn Device>,
    /// Asynchronous copies of the host that are not done.
    pending: Tracker,
    /// The data source of its array_views, while there are any.
    source: Mutex<Weak<Source>, { rank::ARRAY_SOURCE }>,
}

/// The extents as sizes, or an error naming the bad one. `what` is "array" or the like.
pub(super) fn checked_extent(extent: &[i32], what: &str) -> Result<Vec<u64>> {
    if extent.is_empty() {
        return Err(Error::runtime(format!("the rank of the {what} is 0; it must be at least 1")));
    }
    let bad = extent.iter().position(|&e| e <= 0);
    if let Some(d) = bad {
        return Err(Error::runtime(format!(
            "component {d} of the extent {extent:?} of the {what} is {}; it must be at least 1",
            extent[d]
        )));
    }
    Ok(extent.iter().map(|&e| e as u64).collect())
}

/// Bytes of so many elements, or an error where no memory holds them.
pub(super) fn checked_bytes(extent: &[u64], element: u64) -> Result<u64> {
    let bytes = extent.iter().try_fold(element, |all, &e| all.checked_mul(e)).filter(|&b| b <= i64::MAX as u64);
    bytes.ok_or_else(|| {
        Error::runtime(format!("an extent of {extent:?} with elements of {element} bytes is more than 2^63 bytes"))
    })
}

impl Array {
    /// Makes an array.
    pub fn create(request: ArrayRequest<'_>) -> Result<Arc<Self>> {
        let ArrayRequest { view, extent, element_size, cpu_access, associated, label } = request;
        let (view, associated) = (view.actual(), associated.map(|a| a.actual()));
        let sizes = checked_extent(extent, "array")?;
        if element_size == 0 || element_size % 4 != 0 {
            return Err(Error::runtime(format!(
                "the element size is {element_size} bytes; it must be a multiple of 4 (and at least 4)"
            )));
        }
        let bytes = checked_bytes(&sizes, element_size as u64)?;
        let accelerator = view.accelerator();
        if let Some(lost) = view.device().lost() {
            return Err(lost);
        }
        if associated.is_some() && cpu_access != AccessType::Auto {
            return Err(Error::runtime(
                "an associated view and a cpu access type are given; a staging array is always readable and writable by \
                 the host, so leave the access type out",
            ));
        }
        // STG-4, STG-5: the pair has an effect only as (cpu view, device view).
        let staged = associated.filter(|a| accelerator.kind() == Kind::Cpu && a.accelerator().kind() != Kind::Cpu);
        let cpu_access = if accelerator.kind() != Kind::Vulkan {
            AccessType::ReadWrite
        } else {
            match cpu_access {
                AccessType::Auto => accelerator.settle_cpu_access_type(),
                AccessType::None => AccessType::None,
                other if accelerator.allows_cpu_access() => other,
                _ => {
                    return Err(Error::runtime(format!(
                        "{} has no memory shared with the host, so an array on it cannot have cpu access; use copy, or \
                         a staging array",
                        accelerator.name()
                    )));
                }
            }
        };
        let (device, placement) = match &staged {
            Some(a) => (a.device().clone(), Placement::Staging),
            None if accelerator.kind() == Kind::Vulkan && cpu_access != AccessType::None => {
                (view.device().clone(), Placement::DeviceShared)
            }
            None => (view.device().clone(), Placement::Device),
        };
        let buffer = device.allocate(bytes, placement, label.unwrap_or("array"))?;
        Ok(Arc::new(Self {
            associated: staged.unwrap_or_else(|| view.clone()),
            view,
            extent: extent.into(),
            layout: Layout::packed(0, element_size as u64, &sizes),
            cpu_access,
            buffer,
            device,
            pending: Tracker::new(),
            source: Mutex::default(),
        }))
    }

    /// Where it lives.
    pub fn view(&self) -> &Arc<AcceleratorView> {
        &self.view
    }
    /// `associated_accelerator_view`.
    pub fn associated_view(&self) -> &Arc<AcceleratorView> {
        &self.associated
    }
    /// True for a staging array whose memory a device addresses.
    pub fn is_staging(&self) -> bool {
        self.associated.id() != self.view.id()
    }
    /// Its extents.
    pub fn extent(&self) -> &[i32] {
        &self.extent
    }
    /// Where its elements lie in the buffer.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// `cpu_access_type`.
    pub fn cpu_access_type(&self) -> AccessType {
        self.cpu_access
    }
    /// Its memory.
    pub fn buffer(&self) -> &Arc<dyn Buffer> {
        &self.buffer
    }
    /// The device that made the memory.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }
    /// Asynchronous copies of the host that are not done.
    pub(super) fn pending(&self) -> &Tracker {
        &self.pending
    }

    /// The data source of its array_views. Locked while the last view writes back.
    pub(super) fn source(&self) -> &Mutex<Weak<Source>, { rank::ARRAY_SOURCE }> {
        &self.source
    }

    /// True if the host's memory and the array's are one.
    pub(super) fn shares_host(&self) -> bool {
        match self.view.accelerator().kind() {
            Kind::Cpu => true,
            Kind::HostThreads => self.device.shares_memory(),
            Kind::Vulkan => self.buffer.host().is_some(),
        }
    }

    /// The view whose queue copies of this array use.
    pub(super) fn copy_view(&self) -> &Arc<AcceleratorView> {
        if self.is_staging() { &self.associated } else { &self.view }
    }

    /// The memory for the host, once nothing that conflicts is under way.
    pub fn host_data(&self, access: AccessType) -> Result<HostSpan> {
        let wanted = match access {
            AccessType::Read => Access::Read,
            AccessType::Write => Access::Write,
            AccessType::ReadWrite => Access::ReadWrite,
            AccessType::None | AccessType::Auto => {
                return Err(Error::invalid("the access must be READ, WRITE or READ_WRITE"));
            }
        };
        let Some(span) = self.buffer.host().filter(|_| self.cpu_access.allows(access)) else {
            return Err(Error::runtime(format!(
                "the host may not {} this array directly: it lives on {} with cpu access type {:?}; copy it, make it \
                 with a cpu access type where memory is shared, or use a staging array",
                match access {
                    AccessType::Read => "read",
                    AccessType::Write => "write",
                    _ => "read and write",
                },
                self.view.accelerator().name(),
                self.cpu_access
            )));
        };
        let all = 0..self.layout.bytes();
        self.pending.wait_for_all(&all, wanted)?;
        bring_home(self, &self.layout, wanted, DATA)?;
        self.buffer.tracker().wait_for_all(&all, wanted)?;
        if wanted == Access::Write {
            self.buffer.tracker().renewed(std::iter::once(all));
        }
        Ok(span)
    }

    /// The address kernels use.
    pub fn device_address(&self) -> Result<u64> {
        self.buffer.device_address().ok_or_else(|| {
            Error::runtime(format!(
                "an array on {} has no device address: no Vulkan device reaches it",
                self.view.accelerator().name()
            ))
        })
    }
}
