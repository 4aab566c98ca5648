//! The C++ AMP model: accelerators and defaults, arrays, copies, launches and their completion. Safe Rust over the device
//! traits.

pub mod accelerator;
pub mod accelerator_view;
pub mod array;
pub mod completion;
pub mod copy;
pub mod dispatch;
pub mod host_dispatch;
pub mod kernel;
pub mod process;
pub mod selection;

use crate::config;
use crate::error::Result;
use crate::log;
use accelerator::Accelerator;
use accelerator_view::AcceleratorView;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;

/// `access_type` (digest 2.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessType {
    /// No access.
    None,
    /// Read.
    Read,
    /// Write.
    Write,
    /// Read and write.
    ReadWrite,
    /// The runtime decides.
    Auto,
}

impl AccessType {
    /// The value in C and C++.
    pub fn bits(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Read => 1,
            Self::Write => 2,
            Self::ReadWrite => 3,
            Self::Auto => 1 << 31,
        }
    }

    /// True if everything `other` allows is allowed.
    pub fn allows(self, other: Self) -> bool {
        self.bits() & 3 & other.bits() == other.bits() & 3
    }
}

/// Remembers the handle the C API gave an object.
#[derive(Default)]
pub struct HandleCell(Mutex<Option<u64>>);

impl HandleCell {
    /// The handle, made at the first call.
    pub fn get_or_make(&self, make: impl FnOnce() -> Result<u64>) -> Result<u64> {
        let mut slot = self.0.lock();
        match *slot {
            Some(h) => Ok(h),
            None => make().inspect(|h| *slot = Some(*h)),
        }
    }

    /// Forgets the handle.
    pub fn forget(&self) {
        *self.0.lock() = None;
    }
}

/// The default accelerator: what was asked for and what was settled.
#[derive(Default)]
struct Defaults {
    /// Set by the program.
    program: Option<String>,
    spirv: Option<Arc<Accelerator>>,
    host: Option<Arc<Accelerator>>,
}

/// Everything between the first call and `uninitialize`.
pub struct Runtime {
    accelerators: Vec<Arc<Accelerator>>,
    defaults: Mutex<Defaults>,
    auto_view: Mutex<Option<Arc<AcceleratorView>>>,
}

static RUNTIME: RwLock<Option<Arc<Runtime>>> = RwLock::new(None);

/// The runtime; the first call looks for devices.
pub fn runtime() -> Result<Arc<Runtime>> {
    if let Some(runtime) = RUNTIME.read().as_ref() {
        return Ok(runtime.clone());
    }
    let mut slot = RUNTIME.write();
    if let Some(runtime) = slot.as_ref() {
        return Ok(runtime.clone());
    }
    let made = Arc::new(Runtime::new()?);
    *slot = Some(made.clone());
    Ok(made)
}

/// Takes the runtime out; the next call of [`runtime`] begins anew.
fn take() -> Option<Arc<Runtime>> {
    RUNTIME.write().take()
}

impl Runtime {
    fn new() -> Result<Self> {
        let accelerators = Accelerator::all(config::get())?;
        Ok(Self { accelerators, defaults: Mutex::default(), auto_view: Mutex::new(None) })
    }

    /// All accelerators, usable or not.
    pub fn accelerators(&self) -> &[Arc<Accelerator>] {
        &self.accelerators
    }

    fn choices(&self) -> Vec<selection::Choice> {
        self.accelerators.iter().map(|a| a.choice()).collect()
    }

    /// The accelerator with this path (digest 3.1).
    pub fn find(&self, path: &str) -> Result<Arc<Accelerator>> {
        match selection::find(&self.choices(), path)? {
            Some(i) => Ok(self.accelerators[i].clone()),
            None => self.default_for_spirv(),
        }
    }

    /// The default for SPIR-V kernels.
    pub fn default_for_spirv(&self) -> Result<Arc<Accelerator>> {
        let mut d = self.defaults.lock();
        if let Some(a) = &d.spirv {
            return Ok(a.clone());
        }
        let env = config::get().default_accelerator.as_deref();
        let i = selection::default_for_spirv(&self.choices(), env, d.program.as_deref())?;
        let a = self.accelerators[i].clone();
        log!(Info, "the default accelerator for SPIR-V code is {}", a.name());
        d.spirv = Some(a.clone());
        Ok(a)
    }

    /// The default for functions of the program.
    pub fn default_for_host(&self) -> Result<Arc<Accelerator>> {
        let mut d = self.defaults.lock();
        if let Some(a) = &d.host {
            return Ok(a.clone());
        }
        let env = config::get().default_accelerator.as_deref();
        let i = selection::default_for_host(&self.choices(), env, d.program.as_deref())?;
        let a = self.accelerators[i].clone();
        log!(Info, "the default accelerator for host code is {}", a.name());
        d.host = Some(a.clone());
        Ok(a)
    }

    /// Sets the default: true once, before it was used.
    pub fn set_default(&self, path: &str) -> Result<bool> {
        let found = selection::find(&self.choices(), path)?;
        let mut d = self.defaults.lock();
        if d.program.is_some() || d.spirv.is_some() || d.host.is_some() {
            return Ok(false);
        }
        d.program = found.map(|i| self.accelerators[i].path());
        Ok(found.is_some())
    }

    /// The auto-selection view: acts as the default view of the default accelerator.
    pub fn auto_selection_view(&self) -> Result<Arc<AcceleratorView>> {
        let default = self.default_for_spirv().or_else(|_| self.default_for_host())?;
        let mut slot = self.auto_view.lock();
        if let Some(v) = slot.as_ref() {
            return Ok(v.clone());
        }
        let made = Arc::new(AcceleratorView::auto_selection(&Accelerator::default_view(&default)?));
        *slot = Some(made.clone());
        Ok(made)
    }

    /// Waits for all work of all devices.
    fn drain(&self) {
        for a in &self.accelerators {
            a.drain();
        }
    }
}

