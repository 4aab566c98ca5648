//! The C++ AMP model: accelerators and defaults, arrays, copies, launches and their completion. Safe Rust over the device
//! traits.

pub mod accelerator;
pub mod accelerator_view;
pub mod array;
pub mod array_view;
mod bridge;
mod capture;
mod compiled;
pub mod completion;
pub mod copy;
pub mod dispatch;
pub mod exit;
pub mod host_dispatch;
pub mod kernel;
mod notifier;
mod order;
pub mod process;
mod race;
pub mod repeat;
pub mod selection;
pub mod source;
mod sync;
mod transfer;
mod users;
pub mod words;

use crate::config;
use crate::device::vulkan::instance::instance;
use crate::error::{Error, Result};
use crate::lock::{Mutex, RwLock, rank};
use crate::log;
use accelerator::Accelerator;
use accelerator_view::AcceleratorView;
use selection::Code;
use std::sync::Arc;

/// `access_type` (docs/spec/arrays.md#cpu-access-types).
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
pub struct HandleCell(Mutex<Option<u64>, { rank::HANDLE_CELL }>);

impl HandleCell {
    /// The handle, made at the first call and again when `alive` says that the last one was released.
    pub fn get_or_make(&self, alive: impl FnOnce(u64) -> bool, make: impl FnOnce() -> Result<u64>) -> Result<u64> {
        let mut slot = self.0.lock();
        match *slot {
            Some(h) if alive(h) => Ok(h),
            _ => make().inspect(|h| *slot = Some(*h)),
        }
    }
}

/// The default accelerator: what was asked for and what was settled.
#[derive(Default)]
struct Defaults {
    /// Set by the program.
    program: Option<String>,
    /// What each kind of code got when it first asked.
    settled: Vec<(Code, Arc<Accelerator>)>,
}

/// Everything between the first call and `uninitialize`.
pub struct Runtime {
    accelerators: Vec<Arc<Accelerator>>,
    defaults: Mutex<Defaults, { rank::DEFAULTS }>,
    auto_view: Mutex<Option<Arc<AcceleratorView>>, { rank::AUTO_VIEW }>,
}

static RUNTIME: RwLock<Option<Arc<Runtime>>, { rank::RUNTIME }> = RwLock::new(None);

/// The runtime; the first call looks for devices.
pub fn runtime() -> Result<Arc<Runtime>> {
    if let Some(runtime) = RUNTIME.read().as_ref() {
        return Ok(runtime.clone());
    }
    let mut slot = RUNTIME.write();
    if let Some(runtime) = slot.as_ref() {
        return Ok(runtime.clone());
    }
    exit::prepare();
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

    fn candidates(&self) -> Vec<selection::Candidate> {
        self.accelerators.iter().map(|a| a.candidate()).collect()
    }

    /// The accelerator with this path (docs/spec/accelerators.md).
    pub fn find(&self, path: &str) -> Result<Arc<Accelerator>> {
        match selection::find(&self.candidates(), path).map_err(Error::runtime)? {
            selection::Named::At(i) => Ok(self.accelerators[i].clone()),
            selection::Named::Default => self.default_for(Code::Spirv),
        }
    }

    /// The default accelerator for code of this kind.
    pub fn default_for(&self, code: Code) -> Result<Arc<Accelerator>> {
        let mut d = self.defaults.lock();
        let Defaults { program, settled } = &mut *d;
        if let Some((_, a)) = settled.iter().find(|(c, _)| *c == code) {
            return Ok(a.clone());
        }
        // What a program's functions run on depends on whether they are compiled for devices too.
        let wanted = code;
        let code = if code == Code::Host && crate::kernel::compiled::any() { Code::Both } else { code };
        let no_vulkan = instance().err().map(|e| e.to_string());
        let request = selection::Request {
            code,
            set: program.as_deref(),
            environment: config::get().default_accelerator.as_deref(),
            no_vulkan: no_vulkan.as_deref(),
        };
        let choice = selection::choose(&self.candidates(), &request).map_err(Error::runtime)?;
        if let Some(warning) = choice.warning {
            log!(Warn, "{warning}");
        }
        let a = self.accelerators[choice.index].clone();
        log!(Info, "the default accelerator is {}: {}", a.name(), choice.why);
        settled.push((wanted, a.clone()));
        Ok(a)
    }

    /// Sets the default: true once, before it was used.
    pub fn set_default(&self, path: &str) -> Result<bool> {
        selection::find(&self.candidates(), path).map_err(Error::runtime)?;
        let mut d = self.defaults.lock();
        if d.program.is_some() || !d.settled.is_empty() {
            return Ok(false);
        }
        d.program = Some(path.to_owned());
        Ok(true)
    }

    /// The auto-selection view: acts as the default view of the default accelerator.
    pub fn auto_selection_view(&self) -> Result<Arc<AcceleratorView>> {
        let default = self.default_for(Code::Spirv).or_else(|_| self.default_for(Code::Host))?;
        let mut slot = self.auto_view.lock();
        let view = Accelerator::default_view(&default)?;
        if let Some(v) = slot.as_ref().filter(|v| v.id() == view.id()) {
            return Ok(v.clone());
        }
        let made = Arc::new(AcceleratorView::auto_selection(&view));
        *slot = Some(made.clone());
        Ok(made)
    }

    /// Lets go of all devices; whoever holds an object of one keeps that one.
    fn close(&self) {
        *self.auto_view.lock() = None;
        for a in &self.accelerators {
            a.close();
        }
    }

    /// Waits for all work of all devices.
    fn drain(&self) {
        for a in &self.accelerators {
            a.drain();
        }
    }
}
