//! The memory of an array, with its accelerator_view and the access of the host (rules STG-1 to STG-18).
//! Array_views keep this memory alive after the array is destroyed.

use crate::device::hazard::Tracker;
use crate::device::physical::DeviceKind;
use crate::device::{Buffer, Device, Placement};
use crate::error::{Error, Result};
use crate::geometry::{Layout, TexelFormat, TextureShape};
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::access_type::AccessType;
use crate::runtime::data::extents::{check_element, checked_bytes, checked_extent};
use crate::runtime::data::mirror::Mirror;
use crate::runtime::data::shadow::Shadow;
use std::sync::Arc;

/// The parameters of a new array.
pub struct ArrayRequest<'a> {
    /// The view on which the array lives.
    pub view: Arc<AcceleratorView>,
    /// Extents, most significant first.
    pub extent: &'a [i32],
    /// Bytes of an element.
    pub element_size: usize,
    /// How the host may access the array directly.
    pub cpu_access: AccessType,
    /// For a staging array: the view with which it exchanges data.
    pub associated: Option<Arc<AcceleratorView>>,
    /// A name for messages.
    pub label: Option<&'a str>,
    /// For the memory of a texture: the shape of the texture, and the form in which its texels are stored.
    pub texture: Option<TextureStorage<'a>>,
    /// For memory that is imported instead of allocated: the function that imports it.
    pub memory: Option<MakeMemory<'a>>,
}

/// Makes the memory of an array. The arguments are the view on which the array lives, the number of bytes, and a name for messages.
pub type MakeMemory<'a> = &'a dyn Fn(&Arc<AcceleratorView>, u64, &str) -> Result<Arc<dyn Buffer>>;

/// The memory of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureStorage<'a> {
    /// The texels and levels of the texture.
    pub shape: &'a TextureShape,
    /// True if the texels are in a Vulkan image. Otherwise they are in a buffer, in the host form (docs/spec/textures.md).
    pub image: bool,
}

/// The memory of an array, on one accelerator_view.
pub struct Storage {
    view: Arc<AcceleratorView>,
    associated: Arc<AcceleratorView>,
    extent: Box<[i32]>,
    layout: Layout,
    cpu_access: AccessType,
    texels: Option<TexelFormat>,
    /// The copy, as an image, of a texture that is stored as texels on a Vulkan device.
    mirror: Option<Mirror>,
    /// The copy, as texels, of a texture that is stored as an image.
    shadow: Option<Shadow>,
    buffer: Arc<dyn Buffer>,
    /// The device that made the buffer. For a staging array: the device of the associated view.
    device: Arc<dyn Device>,
    /// Pending operations of the host.
    pending: Tracker,
}

impl Storage {
    /// Makes the memory of an array.
    pub(in crate::runtime) fn create(request: ArrayRequest<'_>) -> Result<Arc<Self>> {
        let ArrayRequest { view, extent, element_size, cpu_access, associated, label, texture, memory } = request;
        let (view, associated) = (view.actual(), associated.map(|a| a.actual()));
        let sizes = checked_extent(extent, "array")?;
        check_element(element_size)?;
        let bytes = checked_bytes(&sizes, element_size as u64)?;
        let accelerator = view.accelerator();
        if let Some(lost) = view.device().lost() {
            return Err(lost);
        }
        if associated.is_some() && cpu_access != AccessType::Auto {
            return Err(Error::runtime(
                "an associated view cannot be combined with a cpu access type, because the host can always read and \
                 write a staging array; omit the access type",
            ));
        }
        // STG-4, STG-5: the array is a staging array only if it is on the cpu and the associated view is on another accelerator.
        let staged =
            associated.filter(|a| accelerator.kind() == DeviceKind::Cpu && a.accelerator().kind() != DeviceKind::Cpu);
        let cpu_access = if accelerator.kind() == DeviceKind::Cpu {
            AccessType::ReadWrite
        } else {
            match cpu_access {
                AccessType::Auto => accelerator.fix_cpu_access_type(),
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
            None if accelerator.kind() == DeviceKind::Vulkan && cpu_access != AccessType::None => {
                (view.device().clone(), Placement::DeviceShared)
            }
            None => (view.device().clone(), Placement::Device),
        };
        let label = label.unwrap_or("array");
        // Imported memory gets no mirror, because the program may write it.
        let mirrors = memory.is_none()
            && staged.is_none()
            && accelerator.kind() == DeviceKind::Vulkan
            && texture.is_some_and(|t| !t.image);
        let buffer = match (memory, texture) {
            (Some(make), _) => make(&view, bytes, label)?,
            (None, Some(TextureStorage { shape, image: true })) => {
                device.allocate_image(shape, &**view.queue(), label)?
            }
            _ => device.allocate(bytes, placement, label)?,
        };
        Ok(Arc::new(Self {
            associated: staged.unwrap_or_else(|| view.clone()),
            view,
            extent: extent.into(),
            layout: Layout::packed(0, element_size as u64, &sizes),
            cpu_access,
            texels: texture.map(|t| t.shape.format()),
            shadow: texture.filter(|t| t.image).map(|t| Shadow::new(t.shape.clone())),
            mirror: texture.filter(|_| mirrors).map(|t| Mirror::new(t.shape.clone())),
            buffer,
            device,
            pending: Tracker::new(),
        }))
    }

    /// The view on which the array lives.
    pub fn view(&self) -> &Arc<AcceleratorView> {
        &self.view
    }
    /// `associated_accelerator_view`.
    pub fn associated_view(&self) -> &Arc<AcceleratorView> {
        &self.associated
    }
    /// The format of the texels, if this is the memory of a texture.
    pub fn texels(&self) -> Option<TexelFormat> {
        self.texels
    }
    /// The copy, as an image, of a texture that is stored as texels on a Vulkan device.
    pub(in crate::runtime) fn mirror(&self) -> Option<&Mirror> {
        self.mirror.as_ref()
    }
    /// The copy, as texels, of a texture that is stored as an image.
    pub(in crate::runtime) fn shadow(&self) -> Option<&Shadow> {
        self.shadow.as_ref()
    }
    /// The noun for this memory in messages.
    pub(in crate::runtime) fn noun(&self) -> &'static str {
        if self.texels.is_some() { "texture" } else { "array" }
    }
    /// True for a staging array: an array on the cpu accelerator whose buffer belongs to the device of the associated view.
    pub fn is_staging(&self) -> bool {
        self.associated.id() != self.view.id()
    }
    /// The extents of the array.
    pub fn extent(&self) -> &[i32] {
        &self.extent
    }
    /// The layout of the elements in the buffer.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// `cpu_access_type`.
    pub fn cpu_access_type(&self) -> AccessType {
        self.cpu_access
    }
    /// The buffer that holds the elements.
    pub fn buffer(&self) -> &Arc<dyn Buffer> {
        &self.buffer
    }
    /// The device that made the buffer.
    pub fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }
    /// Pending operations of the host.
    pub(in crate::runtime) fn pending(&self) -> &Tracker {
        &self.pending
    }

    /// True if the host can address the array's memory.
    pub(in crate::runtime) fn shares_host(&self) -> bool {
        match self.view.accelerator().kind() {
            DeviceKind::Cpu => true,
            DeviceKind::HostThreads => self.device.shares_memory(),
            DeviceKind::Vulkan => self.buffer.host().is_some(),
        }
    }

    /// The view whose queue runs copies from and to this array.
    pub(in crate::runtime) fn copy_view(&self) -> &Arc<AcceleratorView> {
        if self.is_staging() { &self.associated } else { &self.view }
    }

    /// The address of the memory in kernels.
    pub fn device_address(&self) -> Result<u64> {
        self.buffer.device_address().ok_or_else(|| {
            Error::runtime(format!(
                "an array on {} has no device address; only arrays on Vulkan accelerators have one",
                self.view.accelerator().name()
            ))
        })
    }
}
