//! `array` (docs/spec/arrays.md): its storage, and the data source of its array_views.

use crate::device::{Buffer, Queue};
use crate::error::{Error, Result};
use crate::geometry::Layout;
use crate::host::HostSpan;
use crate::kernel::Access;
use crate::runtime::access_type::AccessType;
use crate::runtime::data::retry::wait_detour;
use crate::runtime::data::source::{Source, SourceSlot};
use crate::runtime::data::storage::{ArrayRequest, Storage};
use crate::runtime::race::{self, Elements, UsedThrough};
use crate::trace::events::{ConditionalCallSpan, Object};
use crate::trace::labels;
use crate::trace::names::Name;
use crate::trace::transfers::{Rule, implicit};
use std::ffi::CStr;
use std::ops::Deref;
use std::sync::Arc;

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
    /// Creates an array.
    pub fn create(request: ArrayRequest<'_>) -> Result<Arc<Self>> {
        Ok(Arc::new(Self { storage: Storage::create(request)?, source: Arc::default() }))
    }

    /// Sets the name of the array in traces and in Vulkan tools.
    pub fn set_label(&self, label: &str) {
        labels::set(self.buffer().id(), label);
        self.buffer().set_label(label);
    }

    /// The name of the array in messages and traces.
    pub(in crate::runtime) fn name(&self) -> String {
        match (labels::of(self.buffer().id()), self.texels()) {
            (Some(label), _) => format!("{} {label}", self.noun()),
            (None, None) => format!("array {:?}", self.extent()),
            // The extent of the array is not the extent of the texture.
            (None, Some(_)) => "texture".to_owned(),
        }
    }

    /// The storage of the array.
    pub(in crate::runtime) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// The elements with this layout, for the race check.
    pub(in crate::runtime) fn elements(&self, layout: &Layout) -> Elements {
        let through = if self.is_staging() { UsedThrough::StagingArray } else { UsedThrough::Array };
        Elements { key: self.buffer().id(), region: layout.region(), through }
    }

    /// The data source of its array_views, if there are any.
    pub(in crate::runtime) fn source(&self) -> Option<Arc<Source>> {
        self.source.lock().upgrade()
    }

    /// The data source for a new array_view.
    pub(in crate::runtime) fn source_for_view(&self) -> Arc<Source> {
        Source::over_array(&self.storage, &self.source)
    }

    /// Lets the program use the memory outside of the library. Calls `act` with the queue and the memory when no host operation
    /// conflicts with `access` and the memory holds the array's current elements. `call`: the name of the C function.
    pub fn lend<R>(
        &self,
        access: Access,
        call: &'static CStr,
        mut act: impl FnMut(&dyn Queue, &Arc<dyn Buffer>) -> Result<R>,
    ) -> Result<R> {
        let call = implicit(call, Rule::Coh12);
        let object = || Object::named(Name::of(&self.name()));
        let _span = ConditionalCallSpan::new(call, &object);
        let all = 0..self.layout().bytes();
        self.pending().wait_for_all(&all, access)?;
        if let Some(source) = self.source() {
            source.bring_home(self.layout(), access, call)?;
        }
        loop {
            match act(&**self.copy_view().queue(), self.buffer()) {
                // Waits for work of host threads if `act` needs that, then tries again.
                Err(e) => wait_detour(e)?,
                done => return done,
            }
        }
    }

    /// The memory as the host addresses it, after all conflicting work is done. `call`: the name of the C function.
    pub fn host_data(&self, access: AccessType, call: &'static CStr) -> Result<HostSpan> {
        let wanted = access.access()?;
        let Some(span) = self.buffer().host().filter(|_| self.cpu_access_type().allows(access)) else {
            return Err(Error::runtime(format!(
                "the host cannot {} this array directly: it is on {} with cpu access type {:?}. Copy the array, or use \
                 a staging array. On an accelerator that shares memory with the host, the array can also be created \
                 with a cpu access type",
                match access {
                    AccessType::Read => "read",
                    AccessType::Write => "write",
                    _ => "read and write",
                },
                self.view().accelerator().name(),
                self.cpu_access_type()
            )));
        };
        let call = implicit(call, Rule::Coh12);
        let object = || Object::named(Name::of(&self.name()));
        let _span = ConditionalCallSpan::new(call, &object);
        let using = race::uses(call.name, std::iter::once_with(|| (self.elements(self.layout()), wanted)));
        let all = 0..self.layout().bytes();
        self.pending().wait_for_all(&all, wanted)?;
        if let Some(source) = self.source() {
            source.bring_home(self.layout(), wanted, call)?;
        }
        self.buffer().tracker().wait_for_all(&all, wanted)?;
        using.end_earlier();
        if wanted == Access::Write {
            self.buffer().tracker().renewed(std::iter::once(all));
        }
        Ok(span)
    }
}
