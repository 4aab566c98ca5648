//! array (docs/spec/arrays.md): its storage, and the data source of its array_views.

use crate::device::{Buffer, Queue};
use crate::error::{Error, Result};
use crate::host::HostSpan;
use crate::kernel::Access;
use crate::runtime::access_type::AccessType;
use crate::runtime::data::retry::wait_detour;
use crate::runtime::data::source::{Source, SourceSlot};
use crate::runtime::data::storage::{ArrayRequest, Storage};
use crate::trace::labels;
use crate::trace::transfers::{Call, implicit};
use std::ops::Deref;
use std::sync::Arc;

const DATA: Call = implicit(c"revamp_array_data");
const LEND: Call = implicit(c"revamp_vulkan_signal");

/// An array: elements in memory of one accelerator_view.
pub struct Array {
    storage: Arc<Storage>,
    /// The data source of its array_views, while there are any.
    source: Arc<SourceSlot>,
}

impl Deref for Array {
    type Target = Storage;

    fn deref(&self) -> &Storage {
        &self.storage
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        labels::forget(self.buffer().id());
    }
}

impl Array {
    /// Makes an array.
    pub fn create(request: ArrayRequest<'_>) -> Result<Arc<Self>> {
        Ok(Arc::new(Self { storage: Storage::create(request)?, source: Arc::default() }))
    }

    /// Names it in traces, and for tools that look at Vulkan.
    pub fn set_label(&self, label: &str) {
        labels::set(self.buffer().id(), label);
        self.buffer().set_label(label);
    }

    /// Its memory.
    pub(in crate::runtime) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// The data source of its array_views, if there are any.
    pub(in crate::runtime) fn source(&self) -> Option<Arc<Source>> {
        self.source.lock().upgrade()
    }

    /// The data source for a new array_view.
    pub(in crate::runtime) fn source_for_view(&self) -> Arc<Source> {
        Source::over_array(&self.storage, &self.source)
    }

    /// Lets the program use the memory outside of the library: `act` gets the queue and the memory, once nothing of the host
    /// conflicts and the array has its elements.
    pub fn lend<R>(&self, access: Access, mut act: impl FnMut(&dyn Queue, &Arc<dyn Buffer>) -> Result<R>) -> Result<R> {
        let all = 0..self.layout().bytes();
        self.pending().wait_for_all(&all, access)?;
        if let Some(source) = self.source() {
            source.bring_home(self.layout(), access, LEND)?;
        }
        loop {
            match act(&**self.copy_view().queue(), self.buffer()) {
                // What host threads do must be waited for; then it is tried again.
                Err(e) => wait_detour(e)?,
                done => return done,
            }
        }
    }

    /// The memory for the host, after everything that conflicts is done.
    pub fn host_data(&self, access: AccessType) -> Result<HostSpan> {
        let wanted = match access {
            AccessType::Read => Access::Read,
            AccessType::Write => Access::Write,
            AccessType::ReadWrite => Access::ReadWrite,
            AccessType::None | AccessType::Auto => {
                return Err(Error::invalid(
                    "the access must be REVAMP_ACCESS_READ, _WRITE or _READ_WRITE, not _NONE or _AUTO",
                ));
            }
        };
        let Some(span) = self.buffer().host().filter(|_| self.cpu_access_type().allows(access)) else {
            return Err(Error::runtime(format!(
                "the host cannot {} this array directly: it is on {} with cpu access type {:?}; copy it, create it \
                 with a cpu access type where memory is shared, or use a staging array",
                match access {
                    AccessType::Read => "read",
                    AccessType::Write => "write",
                    _ => "read and write",
                },
                self.view().accelerator().name(),
                self.cpu_access_type()
            )));
        };
        let all = 0..self.layout().bytes();
        self.pending().wait_for_all(&all, wanted)?;
        if let Some(source) = self.source() {
            source.bring_home(self.layout(), wanted, DATA)?;
        }
        self.buffer().tracker().wait_for_all(&all, wanted)?;
        if wanted == Access::Write {
            self.buffer().tracker().renewed(std::iter::once(all));
        }
        Ok(span)
    }
}
