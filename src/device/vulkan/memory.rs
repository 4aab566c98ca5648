//! Buffers of a Vulkan device: `VkBuffer`s with a device address. The memory of a buffer comes from the pool (its memory type depends
//! on the buffer's purpose), is imported from the host, is shared by file descriptor, or belongs to the program.

#![allow(unsafe_code)]

use super::core::{Core, Release};
use super::import::{HOST_ALLOCATION, Importer, USAGE};
use super::memory_types::import_type;
use super::pool::BoundMemory;
use super::shared::{SharedMemory, memory_fd};
use crate::device::hazard::Tracker;
use crate::device::{Buffer, unique_id};
use crate::error::{Error, Result};
use crate::host::HostSpan;
use crate::lock::{Mutex, rank};
use ash::vk;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A buffer of a Vulkan device.
pub(super) struct VulkanBuffer {
    id: u64,
    /// The device it belongs to.
    pub core: Arc<Core>,
    /// Vulkan's handle.
    pub raw: vk::Buffer,
    /// The offset of the buffer's first byte in `raw`.
    pub base: u64,
    /// The device address of the buffer's first byte.
    pub address: u64,
    size: u64,
    host: Option<HostSpan>,
    /// Set if the host can write small uploads directly into this device memory. Reads by the host are very slow.
    pub window: Option<HostSpan>,
    /// True if the buffer is in host memory.
    pub staging: bool,
    /// The usage with which the `VkBuffer` was created. The program chooses the usage of its own buffers.
    pub usage: vk::BufferUsageFlags,
    tracker: Tracker,
    /// True if tools may know the `VkBuffer` by a name.
    has_name: AtomicBool,
    memory: Mutex<Allocation, { rank::BUFFER }>,
}

/// Held while a thread names a buffer.
static NAMING: Mutex<(), { rank::NAMING }> = Mutex::new(());

/// The memory to which a buffer is bound.
enum Allocation {
    /// No memory: not bound yet, or already released.
    None,
    /// Memory of the pool. The pool also owns the `VkBuffer`.
    Pooled(BoundMemory),
    /// Imported host memory, which the buffer does not own.
    Imported(vk::DeviceMemory),
    /// Memory that is shared by file descriptor.
    Shared(vk::DeviceMemory, SharedMemory),
    /// The program owns the memory and the `VkBuffer`. The callback says that the library no longer uses them.
    Lent(Option<Release>),
}

/// How a buffer is mapped into the host's address space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mapping {
    /// Not at all.
    None,
    /// For reading and writing.
    Host,
    /// Only for writing small uploads.
    Window,
}

/// The memory that is requested for a buffer.
pub(super) struct AllocationRequest {
    /// Index of the memory type.
    pub memory_type: u32,
    /// How it is mapped.
    pub mapped: Mapping,
    /// The value of [`VulkanBuffer::staging`].
    pub staging: bool,
}

impl VulkanBuffer {
    /// A new buffer of `size` bytes.
    pub fn new(core: &Arc<Core>, size: u64, wanted: &AllocationRequest, label: &str) -> Result<Arc<Self>> {
        core.check_alive()?;
        let name = &core.physical.name;
        let memory = || {
            Error::out_of_memory(format!(
                "{label}: {size} bytes could not be allocated on {name}, which has {} MiB of memory; free arrays or \
                 use smaller ones",
                core.physical.properties.dedicated_memory / 1024
            ))
        };
        if let Some(most) = core.physical.limits.max_buffer {
            if size > most {
                return Err(Error::out_of_memory(format!(
                    "{label}: {size} bytes were requested, but buffers of {name} are limited to {most} bytes; use \
                     several arrays"
                )));
            }
        }
        if crate::config::get().test.allocation_fails() {
            return Err(memory().context("REVAMP_TEST=fail-alloc"));
        }
        let reused = core.pool.lock().reuse(wanted.memory_type, size);
        let bound = match reused {
            Some(bound) => bound,
            None => {
                // SAFETY: the device is alive; the families are its own.
                let raw = unsafe { core.raw.create_buffer(&describe(core, size), None) }.map_err(|e| match e {
                    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => memory(),
                    e => core.failed("vkCreateBuffer", e),
                })?;
                let made = core.pool.lock().allocate(raw, wanted.memory_type, size, label).map_err(|e| {
                    // SAFETY: the buffer was never used.
                    unsafe { core.raw.destroy_buffer(raw, None) };
                    crate::log!(
                        Info,
                        "{label}: {size} bytes of memory type {} could not be allocated: {e}",
                        wanted.memory_type
                    );
                    memory()
                })?;
                // SAFETY: the allocation is for this buffer, of a type it allows, and bound once.
                let outcome =
                    unsafe { core.raw.bind_buffer_memory(raw, made.allocation.memory(), made.allocation.offset()) };
                if let Err(e) = outcome {
                    // Not `free`: the pool would keep the unbound buffer for reuse.
                    core.pool.lock().discard(made);
                    return Err(core.failed("vkBindBufferMemory", e));
                }
                made
            }
        };
        // SAFETY: the mapping covers the allocation, which lives as long as the buffer.
        let span = bound.allocation.mapped_ptr().map(|p| unsafe { HostSpan::new(p.as_ptr().cast(), size) });
        let mut buffer = Self {
            id: unique_id(),
            core: core.clone(),
            raw: bound.raw,
            base: 0,
            address: 0,
            size,
            host: span.filter(|_| wanted.mapped == Mapping::Host),
            window: span.filter(|_| wanted.mapped == Mapping::Window),
            staging: wanted.staging,
            usage: USAGE,
            tracker: Tracker::new(),
            has_name: AtomicBool::new(false),
            memory: Mutex::new(Allocation::Pooled(bound)),
        };
        // From here on, dropping the buffer frees everything.
        if wanted.mapped == Mapping::Host && buffer.host.is_none() {
            return Err(Error::internal(format!("memory type {} of {name} is not mapped", wanted.memory_type)));
        }
        // SAFETY: the buffer is bound.
        unsafe { buffer.find_address() };
        Ok(Arc::new(buffer))
    }

    /// A buffer over `span`; `None` if the device cannot import it. `staging`: true if the device has faster memory of its own.
    pub fn import(core: &Arc<Core>, span: HostSpan, staging: bool, label: &str) -> Result<Option<Arc<Self>>> {
        core.check_alive()?;
        let Some(importer) = &core.importer else { return Ok(None) };
        match Self::imported(core, importer, span, staging) {
            Ok(buffer) => Ok(Some(Arc::new(buffer))),
            // A lost device is an error. After any other failure, the bytes are copied instead.
            Err(e) => core.check_alive().map(|()| {
                crate::log!(Debug, "{label}: {} bytes of host memory are not imported: {e}", span.len());
                None
            }),
        }
    }

    fn imported(core: &Arc<Core>, importer: &Importer, span: HostSpan, staging: bool) -> Result<Self> {
        let pages = importer.range(span, &core.physical.limits)?;
        // SAFETY: the range includes only pages of the span, whose creator promised that they are mapped.
        let allowed = unsafe { importer.memory_types(pages.start) }
            .map_err(|e| core.failed("vkGetMemoryHostPointerPropertiesEXT", e))?;
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(HOST_ALLOCATION);
        // SAFETY: the device is alive, and the families belong to it. A device with an importer can import such buffers.
        let raw = unsafe { core.raw.create_buffer(&describe(core, pages.size).push_next(&mut external), None) }
            .map_err(|e| core.failed("vkCreateBuffer", e))?;
        // From here on, dropping the buffer frees everything.
        let mut buffer = Self {
            id: unique_id(),
            core: core.clone(),
            raw,
            base: pages.base,
            address: 0,
            size: span.len(),
            host: Some(span),
            window: None,
            staging,
            usage: USAGE,
            tracker: Tracker::new(),
            has_name: AtomicBool::new(false),
            memory: Mutex::new(Allocation::None),
        };
        // SAFETY: the buffer is alive.
        let requirements = unsafe { core.raw.get_buffer_memory_requirements(raw) };
        let memory_type = import_type(&core.physical.memory, allowed & requirements.memory_type_bits)
            .filter(|_| requirements.size <= pages.size)
            .ok_or_else(|| Error::unsupported("no memory type fits"))?;
        let mut pointer =
            vk::ImportMemoryHostPointerInfoEXT::default().handle_type(HOST_ALLOCATION).host_pointer(pages.start.cast());
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(raw);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(pages.size)
            .memory_type_index(memory_type)
            .push_next(&mut pointer)
            .push_next(&mut flags);
        let info = if importer.dedicated { info.push_next(&mut dedicated) } else { info };
        // SAFETY: start and size have the alignment that the device requires. The caller of `import` keeps the pages mapped while
        // the buffer lives.
        let memory = unsafe { core.raw.allocate_memory(&info, None) }
            .map_err(|e| core.failed("vkAllocateMemory of host memory", e))?;
        *buffer.memory.get_mut() = Allocation::Imported(memory);
        importer.count(true);
        // SAFETY: the memory is for this buffer, of a type it allows and large enough, and bound once.
        unsafe { core.raw.bind_buffer_memory(raw, memory, 0) }.map_err(|e| core.failed("vkBindBufferMemory", e))?;
        // SAFETY: the buffer is bound.
        unsafe { buffer.find_address() };
        Ok(buffer)
    }

    /// A buffer of `size` bytes over `memory`. Takes ownership of `raw` and `memory`.
    pub fn over_memory(
        core: &Arc<Core>,
        raw: vk::Buffer,
        memory: vk::DeviceMemory,
        size: u64,
        shared: SharedMemory,
    ) -> Result<Arc<Self>> {
        let mut made = Self::without_memory(core, raw, shared.offset, size);
        *made.memory.get_mut() = Allocation::Shared(memory, SharedMemory { size, ..shared });
        // SAFETY: the memory is for this buffer, of a type it allows and large enough, and bound once.
        unsafe { core.raw.bind_buffer_memory(raw, memory, 0) }.map_err(|e| core.failed("vkBindBufferMemory", e))?;
        // SAFETY: the buffer is bound.
        unsafe { made.find_address() };
        Ok(Arc::new(made))
    }

    /// A buffer over `size` bytes of a buffer of the program.
    ///
    /// # Safety
    /// The program's buffer is bound to memory, has an address, and lives until `release` is called.
    pub unsafe fn over_program(
        core: &Arc<Core>,
        raw: vk::Buffer,
        base: u64,
        size: u64,
        usage: vk::BufferUsageFlags,
        release: Option<Release>,
    ) -> Arc<Self> {
        let mut made = Self::without_memory(core, raw, base, size);
        made.usage = usage;
        *made.memory.get_mut() = Allocation::Lent(release);
        // SAFETY: by the caller.
        unsafe { made.find_address() };
        Arc::new(made)
    }

    /// A buffer over `raw` without memory.
    fn without_memory(core: &Arc<Core>, raw: vk::Buffer, base: u64, size: u64) -> Self {
        Self {
            id: unique_id(),
            core: core.clone(),
            raw,
            base,
            address: 0,
            size,
            host: None,
            window: None,
            staging: false,
            usage: USAGE,
            tracker: Tracker::new(),
            has_name: AtomicBool::new(false),
            memory: Mutex::new(Allocation::None),
        }
    }

    /// Exports the memory as a new file descriptor.
    pub fn export(&self) -> Result<SharedMemory> {
        match &*self.memory.lock() {
            Allocation::Shared(memory, shared) => Ok(SharedMemory { fd: memory_fd(&self.core, *memory)?, ..*shared }),
            _ => Err(Error::runtime(
                "the array cannot be exported; create it with revamp_vulkan_create_exportable_array()",
            )),
        }
    }

    /// Queries the buffer's device address.
    ///
    /// # Safety
    /// The buffer is bound to memory.
    unsafe fn find_address(&mut self) {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.raw);
        // SAFETY: every buffer has the usage SHADER_DEVICE_ADDRESS. The caller promises that it is bound.
        self.address = unsafe { self.core.raw.get_buffer_device_address(&info) } + self.base;
    }

    /// `buffer` as a Vulkan buffer; fails if it belongs to another device than `core`.
    pub fn of<'a>(buffer: &'a Arc<dyn Buffer>, core: &Core) -> Result<&'a Self> {
        match buffer.as_any().downcast_ref::<Self>() {
            Some(b) if b.core.id == core.id => Ok(b),
            _ => Err(Error::internal("a buffer of another device reached a queue")),
        }
    }
}

/// The parameters for creating a buffer of `size` bytes that all queues can use.
pub(super) fn describe(core: &Core, size: u64) -> vk::BufferCreateInfo<'_> {
    let info = vk::BufferCreateInfo::default().size(size).usage(USAGE);
    if core.families.len() > 1 {
        info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&core.families)
    } else {
        info
    }
}

impl Buffer for VulkanBuffer {
    fn set_label(&self, label: &str) {
        // Vulkan allows only one thread at a time to name a `VkBuffer`.
        let _one = NAMING.lock();
        self.has_name.store(true, Ordering::Relaxed);
        // SAFETY: the buffer is alive, and no other thread names a buffer now.
        unsafe { self.core.set_name(self.raw, label) };
    }
    fn id(&self) -> u64 {
        self.id
    }
    fn size(&self) -> u64 {
        self.size
    }
    fn host(&self) -> Option<HostSpan> {
        self.host
    }
    fn window(&self) -> Option<HostSpan> {
        self.window
    }
    fn device_address(&self) -> Option<u64> {
        Some(self.address)
    }
    fn base(&self) -> u64 {
        self.base
    }
    fn tracker(&self) -> &Tracker {
        &self.tracker
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for VulkanBuffer {
    fn drop(&mut self) {
        // Queues hold the buffers of unfinished work, so no queue uses this buffer.
        match std::mem::replace(self.memory.get_mut(), Allocation::None) {
            // SAFETY: no queue uses the buffer.
            Allocation::None => unsafe { self.core.raw.destroy_buffer(self.raw, None) },
            Allocation::Pooled(bound) => {
                // The pool may reuse the `VkBuffer`.
                if *self.has_name.get_mut() {
                    self.set_label("");
                }
                self.core.pool.lock().free(bound);
            }
            // SAFETY: no queue uses the buffer, and only this buffer was bound to the memory.
            Allocation::Shared(memory, _) => unsafe {
                self.core.raw.destroy_buffer(self.raw, None);
                self.core.raw.free_memory(memory, None);
            },
            Allocation::Lent(release) => release.into_iter().for_each(Release::call),
            Allocation::Imported(memory) => {
                // SAFETY: no queue uses the buffer, and only this buffer was bound to the memory.
                unsafe {
                    self.core.raw.destroy_buffer(self.raw, None);
                    self.core.raw.free_memory(memory, None);
                }
                if let Some(importer) = &self.core.importer {
                    importer.count(false);
                }
            }
        }
    }
}
