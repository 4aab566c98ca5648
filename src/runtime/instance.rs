//! The runtime: everything that exists between the first call and `uninitialize`.

use crate::config;
use crate::devices;
use crate::error::{Error, ErrorKind, Result};
use crate::host::Workers;
use crate::host::threads::InKernel;
use crate::kernel::{compiled, registry};
use crate::lock::{Mutex, RwLock, rank};
use crate::log;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::accelerators::defaults::{self, AcceleratorClass, Code};
use crate::runtime::accelerators::spirv_kernel::SpirvKernel;
use crate::runtime::data::source;
use crate::runtime::operations::promise;
use crate::runtime::user::Ending;
use crate::runtime::{exit, process};
use crate::trace::recorder;
use std::sync::Arc;

/// The default accelerators: the requested path, and the accelerators chosen so far.
#[derive(Default)]
struct Defaults {
    /// The path that the program has set.
    program: Option<String>,
    /// The default for each kind of code, chosen when code of this kind is first used. Functions of the program change from
    /// [`Code::Host`] to [`Code::Both`] when the program gets compiled kernels.
    chosen: Vec<(Code, Arc<Accelerator>)>,
}

/// Everything that exists between the first call and `uninitialize`.
pub struct Runtime {
    accelerators: Vec<Arc<Accelerator>>,
    defaults: Mutex<Defaults, { rank::DEFAULTS }>,
    /// The default view of each accelerator, made at its first use.
    default_views: Box<[DefaultView]>,
    auto_view: Mutex<Option<Arc<AcceleratorView>>, { rank::AUTO_VIEW }>,
}

type DefaultView = Mutex<Option<Arc<AcceleratorView>>, { rank::DEFAULT_VIEW }>;

static RUNTIME: RwLock<Option<Arc<Runtime>>, { rank::RUNTIME }> = RwLock::new(None);

/// The runtime. The first call looks for devices.
pub fn runtime() -> Result<Arc<Runtime>> {
    if let Some(runtime) = RUNTIME.read().as_ref() {
        return Ok(runtime.clone());
    }
    let mut slot = RUNTIME.write();
    if let Some(runtime) = slot.as_ref() {
        return Ok(runtime.clone());
    }
    exit::prepare(promise::abandon_all, [source::write_back_all, finish]);
    let made = Arc::new(Runtime::new()?);
    *slot = Some(made.clone());
    Ok(made)
}

/// The last step of the exit hook: waits for all work.
fn finish() {
    let runtime = RUNTIME.read().clone();
    if let Some(runtime) = runtime {
        finish_work(&runtime);
        // The runtime is not dropped, because devices must not be closed in an exit handler.
        std::mem::forget(runtime);
    }
    recorder::flush();
}

impl Runtime {
    fn new() -> Result<Self> {
        // Listing the accelerators loads the drivers.
        let loading = process::Loading::new();
        let accelerators = Accelerator::all(config::get());
        drop(loading);
        let default_views = accelerators.iter().map(|_| DefaultView::default()).collect();
        Ok(Self { accelerators, defaults: Mutex::default(), default_views, auto_view: Mutex::new(None) })
    }

    /// All accelerators.
    pub fn accelerators(&self) -> &[Arc<Accelerator>] {
        &self.accelerators
    }

    /// All accelerators, usable or not, without the aliases of host threads.
    pub fn listed(&self) -> impl Iterator<Item = &Arc<Accelerator>> {
        self.accelerators.iter().filter(|a| a.candidate().kind != AcceleratorClass::Named)
    }

    /// The accelerators that `get_all()` returns to a C++ program: usable accelerators that can run the program's code, as far as
    /// is known now, and accelerators that hold its arrays (decision 29).
    pub fn offered(&self, will_load_spirv: bool) -> Vec<Arc<Accelerator>> {
        let has_device_code = will_load_spirv || compiled::any() || registry::len() > 0 || SpirvKernel::any();
        let code = if has_device_code { Code::Both } else { Code::Host };
        let explicit = self.explicit_default();
        let is_offered = |a: &&Arc<Accelerator>| {
            let (candidate, chosen) = (a.candidate(), explicit.as_ref().is_some_and(|e| Arc::ptr_eq(e, a)));
            let offered = defaults::is_offered(candidate.kind, code, chosen);
            if !offered && candidate.usable.is_ok() {
                a.log_not_offered();
            }
            offered && candidate.usable.is_ok() && !a.is_reference()
        };
        self.accelerators.iter().filter(is_offered).cloned().collect()
    }

    /// The accelerator that the program or the environment set as the default. Does not choose a default.
    fn explicit_default(&self) -> Option<Arc<Accelerator>> {
        let program = self.defaults.lock().program.clone();
        let path = program.or_else(|| config::get().default_accelerator.clone())?;
        match defaults::find(&self.candidates(), path.trim()) {
            Ok(defaults::Named::At(i)) => Some(self.accelerators[i].clone()),
            _ => None,
        }
    }

    fn candidates(&self) -> Vec<defaults::Candidate> {
        self.accelerators.iter().map(|a| a.candidate()).collect()
    }

    /// The accelerator with this path (docs/spec/accelerators.md).
    pub fn find(&self, path: &str) -> Result<Arc<Accelerator>> {
        match defaults::find(&self.candidates(), path).map_err(Error::runtime)? {
            defaults::Named::At(i) => Ok(self.accelerators[i].clone()),
            defaults::Named::Default => self.default_for(Code::Spirv),
        }
    }

    /// The default accelerator for code of this kind. If the program has compiled kernels, its functions ([`Code::Host`]) can run
    /// on devices too.
    pub fn default_for(&self, code: Code) -> Result<Arc<Accelerator>> {
        let code = if code == Code::Host && compiled::any() { Code::Both } else { code };
        let mut d = self.defaults.lock();
        let Defaults { program, chosen } = &mut *d;
        if let Some((_, a)) = chosen.iter().find(|(c, _)| *c == code) {
            return Ok(a.clone());
        }
        let no_vulkan = devices::no_vulkan();
        let request = defaults::DefaultRequest {
            code,
            set: program.as_deref(),
            environment: config::get().default_accelerator.as_deref(),
            no_vulkan: no_vulkan.as_deref(),
        };
        let choice = defaults::choose(&self.candidates(), &request).map_err(Error::runtime)?;
        if let Some(warning) = choice.warning {
            log!(Warn, "{warning}");
        }
        let a = self.accelerators[choice.index].clone();
        log!(Info, "the default accelerator is {}: {}", a.name(), choice.why);
        chosen.push((code, a.clone()));
        Ok(a)
    }

    /// The default for a launch without a compiled kernel. If the program loads a library with compiled kernels later,
    /// this default does not change to a device, because devices cannot run launches without a compiled kernel.
    pub fn default_without_kernel(&self) -> Result<Arc<Accelerator>> {
        let first = self.defaults.lock().chosen.iter().find(|(c, _)| *c == Code::Host).map(|(_, a)| a.clone());
        first.map_or_else(|| self.default_for(Code::Host), Ok)
    }

    fn default_view_slot(&self, accelerator: &Arc<Accelerator>) -> Result<&DefaultView> {
        let at = self.accelerators.iter().position(|a| Arc::ptr_eq(a, accelerator));
        at.map(|at| &self.default_views[at]).ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidHandle,
                "the accelerator was obtained before revamp_uninitialize(); get the accelerator again",
            )
        })
    }

    /// The default view of an accelerator: always the same one.
    pub fn default_view(&self, accelerator: &Arc<Accelerator>) -> Result<Arc<AcceleratorView>> {
        let mut slot = self.default_view_slot(accelerator)?.lock();
        if let Some(view) = slot.as_ref() {
            return Ok(view.clone());
        }
        let view = Arc::new(AcceleratorView::new(accelerator, false, true)?);
        *slot = Some(view.clone());
        Ok(view)
    }

    /// Reopens a lost device, with a new default view. Does nothing if the device was not lost.
    pub fn reopen(&self, accelerator: &Arc<Accelerator>) -> Result<()> {
        let slot = self.default_view_slot(accelerator)?;
        let lost = slot.lock().as_ref().is_some_and(|v| v.device().lost().is_some());
        accelerator.device()?;
        if lost {
            let made = Arc::new(AcceleratorView::new(accelerator, false, true)?);
            let old = slot.lock().replace(made);
            drop(old);
        }
        Ok(())
    }

    /// Sets the default accelerator and returns true. Returns false if a default was set or used before.
    pub fn set_default(&self, path: &str) -> Result<bool> {
        defaults::find(&self.candidates(), path).map_err(Error::runtime)?;
        let mut d = self.defaults.lock();
        if d.program.is_some() || !d.chosen.is_empty() {
            return Ok(false);
        }
        d.program = Some(path.to_owned());
        Ok(true)
    }

    /// The auto-selection view. It acts as the default view of the default accelerator.
    pub fn auto_selection_view(&self) -> Result<Arc<AcceleratorView>> {
        let default = self.default_for(Code::Spirv).or_else(|_| self.default_for(Code::Host))?;
        let mut slot = self.auto_view.lock();
        let view = self.default_view(&default)?;
        if let Some(v) = slot.as_ref().filter(|v| v.id() == view.id()) {
            return Ok(v.clone());
        }
        let made = Arc::new(AcceleratorView::auto_selection(&view));
        *slot = Some(made.clone());
        Ok(made)
    }

    /// Releases all devices. A device whose objects are in use stays open until these objects are dropped.
    fn close(&self) {
        *self.auto_view.lock() = None;
        for view in &self.default_views {
            let view = view.lock().take();
            drop(view);
        }
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

/// Waits for all work, then drops the runtime and all its objects. `clear` drops the objects that C handles refer to. Does
/// nothing while the library has users.
pub fn uninitialize(clear: impl FnOnce()) -> Result<()> {
    if InKernel::is_here() {
        return Err(Error::runtime(
            "revamp_uninitialize() was called in a host kernel, which the call would wait for; call \
             revamp_uninitialize() after the kernel has ended",
        ));
    }
    let Some(_ending) = Ending::begin() else {
        log!(Info, "revamp_uninitialize() has no effect, because the library has other users (revamp_user_create)");
        return Ok(());
    };
    let Some(runtime) = RUNTIME.write().take() else {
        clear();
        return Ok(());
    };
    promise::abandon_all();
    finish_work(&runtime);
    // The recorder of traces holds objects of devices. This call releases them.
    recorder::flush();
    clear();
    promise::reopen();
    runtime.close();
    drop(runtime);
    // Queues that still have work are destroyed by a task.
    Workers::shared().drain();
    Ok(())
}

/// Waits for all work.
fn finish_work(runtime: &Runtime) {
    // Waits for asynchronous copies first, because they give the devices work.
    Workers::shared().drain();
    runtime.drain();
    // Waits for the callbacks of the devices' work.
    Workers::shared().drain();
}
