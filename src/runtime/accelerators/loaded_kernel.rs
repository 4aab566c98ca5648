//! SPIR-V kernels loaded on a device.

use crate::config::{self, Workgroups};
use crate::device::workgroups::Class;
use crate::device::{Device, Kernel};
use crate::error::{Error, Result};
use crate::kernel::compiled::Compiled;
use crate::kernel::{Module, Variant};
use crate::lock::{Mutex, rank};
use crate::runtime::accelerators::reports::Report;
use crate::runtime::accelerators::search::Search;
use crate::trace::names::{CachedName, Name};
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Kernels by module hash, entry point and device id, so that a second load of a kernel compiles nothing.
pub(in crate::runtime) type KernelCache = Mutex<HashMap<(u64, CString, u64), Weak<dyn Kernel>>, { rank::KERNELS }>;

/// A kernel on a device.
pub struct LoadedKernel {
    kernel: Arc<dyn Kernel>,
    names: Vec<Option<CString>>,
    workgroup: [u32; 3],
    label: Arc<str>,
    name: CachedName,
    checks: Option<KernelChecks>,
    /// The offsets, in the argument block, of references to arrays whose headers the kernel reads from its uniform buffer.
    headers: Box<[u32]>,
    chooses_workgroup: bool,
    /// True if the kernel's code depends on whether captures share memory.
    depends_on_sharing: bool,
    /// The variants that launches have decided on so far.
    variants: Mutex<HashMap<Variant, Arc<LoadedKernel>>, { rank::VARIANTS }>,
    /// The searches for the kernel's workgroup size, by class of domains; `None` if the library does not search.
    searches: Option<Searches>,
    /// The search that counts the launches of this kernel.
    counted: Option<Weak<SearchLock>>,
    /// False until the first launch of the kernel. Always false if launches are counted.
    was_launched: AtomicBool,
    /// Nanoseconds of the first launch, including the creation of the kernel's pipeline.
    first_launch_ns: AtomicU64,
}

/// A search for the workgroup size of a kernel.
pub(in crate::runtime) type SearchLock = Mutex<Search<Arc<LoadedKernel>>, { rank::SEARCH }>;
type Searches = Mutex<HashMap<Class, Arc<SearchLock>>, { rank::SEARCHES }>;

/// True if the library may search for the kernel's workgroup size: it has no barriers, and as far as the module shows, its results
/// do not depend on the order of its threads.
fn is_searched(module: &Module) -> bool {
    let any_order = config::get().workgroups == Workgroups::Atomics || !module.may_add_floats();
    any_order && module.chooses_workgroup() && !module.depends_on_sharing()
}

/// A compiled kernel's module in the form that suits the device.
fn adapted(module: Module, device: &Arc<dyn Device>) -> Result<Module> {
    let module = module.with_float_modes(&device.float_modes())?.unwrap_or(module);
    if !device.kernel_form().arguments_by_address {
        return Ok(module);
    }
    Ok(module.with_arguments_by_address()?.unwrap_or(module))
}

/// The data that launches of a kernel with bounds checks need.
#[derive(Clone, Default)]
pub(in crate::runtime) struct KernelChecks {
    /// The report that the kernel writes, and the kernel's number in this report; `None` if the kernel reports nothing.
    pub report: Option<(Arc<Report>, u32)>,
}

/// The properties of a compiled kernel that the kernel compiler recorded.
pub(in crate::runtime) struct CompiledProperties<'a> {
    /// `Some` if the kernel checks bounds.
    pub checks: Option<KernelChecks>,
    /// The offsets of references to arrays in the argument block.
    pub references: &'a [u32],
}

impl LoadedKernel {
    /// Checks and loads `spirv`, unless `cache` has it.
    pub(in crate::runtime) fn load(
        device: &Arc<dyn Device>,
        cache: &KernelCache,
        spirv: &[u8],
        entry_point: Option<&str>,
        label: Option<&str>,
        compiled: Option<CompiledProperties<'_>>,
    ) -> Result<Arc<Self>> {
        let named = |e: Error| match label {
            Some(label) => e.context(format_args!("kernel {label}")),
            None => e,
        };
        let module = Module::new(spirv, entry_point).map_err(named)?;
        let (module, checks, headers) = match compiled {
            None => (module, None, &[][..]),
            Some(CompiledProperties { checks, references }) => {
                let headers = if module.has_uniform_arguments() { references } else { &[] };
                (adapted(module, device).map_err(named)?, checks, headers)
            }
        };
        let label = label.map_or_else(|| Arc::from(module.entry_point().to_string_lossy()), Arc::from);
        Self::of(device, cache, module, label, checks, headers).map_err(named)
    }

    fn of(
        device: &Arc<dyn Device>,
        cache: &KernelCache,
        module: impl Into<Arc<Module>>,
        label: Arc<str>,
        checks: Option<KernelChecks>,
        headers: &[u32],
    ) -> Result<Arc<Self>> {
        let module = module.into();
        let key = (module.hash(), module.entry_point().to_owned(), device.id());
        let mut cache = cache.lock();
        let known = cache.get(&key).and_then(Weak::upgrade).filter(|k| k.module().words() == module.words());
        let kernel = match known {
            Some(kernel) => kernel,
            None => {
                let made = device.load(&module, &label)?;
                cache.retain(|_, k| k.strong_count() > 0);
                cache.insert(key, Arc::downgrade(&made));
                made
            }
        };
        drop(cache);
        let searches = device.workgroups().filter(|_| is_searched(kernel.module())).map(|_| Searches::default());
        Ok(Arc::new(Self::over(kernel, label, checks, headers, searches)?))
    }

    fn over(
        kernel: Arc<dyn Kernel>,
        label: Arc<str>,
        checks: Option<KernelChecks>,
        headers: &[u32],
        searches: Option<Searches>,
    ) -> Result<Self> {
        let module = kernel.module();
        Ok(Self {
            names: module
                .bindings()
                .iter()
                .map(|b| b.name.as_ref().and_then(|n| CString::new(n.as_str()).ok()))
                .collect(),
            workgroup: module.workgroup_size(&Vec::new())?,
            chooses_workgroup: module.chooses_workgroup(),
            depends_on_sharing: module.depends_on_sharing(),
            variants: Mutex::new(HashMap::new()),
            searches,
            counted: None,
            label,
            name: CachedName::new(),
            kernel,
            checks,
            headers: headers.into(),
            was_launched: AtomicBool::new(false),
            first_launch_ns: AtomicU64::new(0),
        })
    }

    /// A copy of this kernel whose launches `search` counts.
    pub(in crate::runtime) fn counted(&self, search: &Arc<SearchLock>) -> Result<Arc<Self>> {
        let mut same = Self::over(self.kernel.clone(), self.label.clone(), self.checks.clone(), &self.headers, None)?;
        same.counted = Some(Arc::downgrade(search));
        Ok(Arc::new(same))
    }

    /// Counts a launch. False if launches of this kernel are not counted.
    pub(in crate::runtime) fn count(&self) -> bool {
        let Some(search) = &self.counted else { return false };
        let counted_all = search.upgrade().and_then(|search| search.lock().count());
        drop(counted_all);
        true
    }

    /// The search for the kernel's workgroup size in one class of domains. `begin` creates the search if there is none yet. `None` if the
    /// library does not search for this kernel.
    pub(in crate::runtime) fn search(
        &self,
        class: Class,
        begin: impl FnOnce() -> Search<Arc<LoadedKernel>>,
    ) -> Option<Arc<SearchLock>> {
        let mut all = self.searches.as_ref()?.lock();
        Some(all.entry(class).or_insert_with(|| Arc::new(Mutex::new(begin()))).clone())
    }

    /// True if the library searches for the kernel's workgroup size.
    pub(in crate::runtime) fn is_searched(&self) -> bool {
        self.searches.is_some()
    }

    /// The offsets, in the argument block, of references to arrays whose headers the kernel reads from its uniform buffer.
    pub(in crate::runtime) fn headers(&self) -> &[u32] {
        &self.headers
    }
    /// True if the launch may choose the workgroup size.
    pub(in crate::runtime) fn chooses_workgroup(&self) -> bool {
        self.chooses_workgroup
    }
    /// True if the kernel's code depends on whether captures share memory that the kernel writes.
    pub(in crate::runtime) fn depends_on_sharing(&self) -> bool {
        self.depends_on_sharing
    }
    /// The variant of the kernel for launches with the decisions `of`; `None` if it is this kernel itself.
    pub(in crate::runtime) fn variant(
        &self,
        device: &Arc<dyn Device>,
        cache: &KernelCache,
        of: Variant,
    ) -> Result<Option<Arc<Self>>> {
        if of == Variant::default() {
            return Ok(None);
        }
        if let Some(known) = self.variants.lock().get(&of) {
            return Ok(Some(known.clone()));
        }
        let made = self.make_variant(device, cache, of)?;
        Ok(Some(self.variants.lock().entry(of).or_insert(made).clone()))
    }
    /// Makes a variant without adding it to `variants`.
    pub(in crate::runtime) fn make_variant(
        &self,
        device: &Arc<dyn Device>,
        cache: &KernelCache,
        of: Variant,
    ) -> Result<Arc<Self>> {
        let (label, checks) = (self.label.clone(), self.checks.clone());
        Self::of(device, cache, self.module().variant(of)?, label, checks, &self.headers)
    }
    /// This kernel loaded on another device.
    pub(in crate::runtime) fn on(&self, device: &Arc<dyn Device>, cache: &KernelCache) -> Result<Arc<Self>> {
        Self::of(device, cache, self.module().clone(), self.label.clone(), None, &self.headers)
    }
    /// True until the first launch of the kernel. Always true if launches are counted.
    pub fn is_new(&self) -> bool {
        !self.was_launched.load(Ordering::Relaxed)
    }
    /// Notes the first launch, and the time that it took, including the creation of the kernel's pipeline.
    pub fn set_launched(&self, took: Duration) {
        self.first_launch_ns.store(took.as_nanos() as u64, Ordering::Relaxed);
        self.was_launched.store(true, Ordering::Relaxed);
    }
    /// Nanoseconds of the first launch of a variant, including the creation of its pipeline; 0 if it has not been launched.
    pub(in crate::runtime) fn first_launch_ns(&self, of: Variant) -> u64 {
        let first_launch_ns = |kernel: &Self| kernel.first_launch_ns.load(Ordering::Relaxed);
        if of == Variant::default() {
            first_launch_ns(self)
        } else {
            self.variants.lock().get(&of).map_or(0, |k| first_launch_ns(k))
        }
    }
    /// The device's kernel.
    pub fn kernel(&self) -> &Arc<dyn Kernel> {
        &self.kernel
    }
    /// The reflected module.
    pub fn module(&self) -> &Arc<Module> {
        self.kernel.module()
    }
    /// The name of the kernel in messages.
    pub fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// The name of the kernel in traces.
    pub(in crate::runtime) fn name(&self) -> Name {
        self.name.of(&self.label)
    }
    /// `Some` if the kernel checks bounds.
    pub(in crate::runtime) fn checks(&self) -> Option<&KernelChecks> {
        self.checks.as_ref()
    }
    /// Workgroup size with the default values of specialization constants.
    pub fn workgroup(&self) -> [u32; 3] {
        self.workgroup
    }
    /// The name of a binding as a C string.
    pub fn binding_name(&self, index: usize) -> Option<&std::ffi::CStr> {
        self.names.get(index)?.as_deref()
    }
}

/// Compiled kernels loaded on an accelerator, by the address of the [`Compiled`] kernel, each with the id of its device.
#[derive(Default)]
pub(in crate::runtime) struct LoadedCompiled(Mutex<Loaded, { rank::COMPILED }>);

#[derive(Default)]
struct Loaded {
    kernels: CompiledMap,
    /// The report that these kernels write, with the id of the report's device.
    report: Option<(u64, Arc<Report>)>,
}

impl Loaded {
    /// The data that the kernel needs for its checks on a device.
    fn checks(&mut self, device: &Arc<dyn Device>, kernel: &Compiled) -> Result<Option<KernelChecks>> {
        let Some(checks) = &kernel.checks else { return Ok(None) };
        if checks.sites.is_empty() {
            return Ok(Some(KernelChecks { report: None }));
        }
        let report = match &self.report {
            Some((id, report)) if *id == device.id() => report.clone(),
            _ => {
                let made = Report::new(device)?;
                self.report = Some((device.id(), made.clone()));
                made
            }
        };
        let number = report.number(checks);
        Ok(Some(KernelChecks { report: Some((report, number)) }))
    }
}

type CompiledMap = BTreeMap<usize, (Weak<Compiled>, u64, Arc<LoadedKernel>)>;

impl LoadedCompiled {
    /// `kernel` loaded on `device`. The first launch creates its pipeline.
    pub fn load(
        &self,
        device: &Arc<dyn Device>,
        cache: &KernelCache,
        kernel: &Arc<Compiled>,
    ) -> Result<Arc<LoadedKernel>> {
        let id = device.id();
        let mut known = self.0.lock();
        let key = Arc::as_ptr(kernel).addr();
        if let Some((_, _, loaded)) = known.kernels.get(&key).filter(|(_, d, _)| *d == id) {
            return Ok(loaded.clone());
        }
        let checks = known.checks(device, kernel)?;
        let loaded = LoadedKernel::load(
            device,
            cache,
            &kernel.spirv(device.kernel_form())?,
            None,
            Some(&kernel.location),
            Some(CompiledProperties { checks, references: &kernel.references() }),
        )?;
        if loaded.module().push().is_none_or(|p| !p.is_address) {
            return Err(Error::runtime(format!(
                "the compiled kernel of {} takes no argument block; rebuild the program",
                kernel.location
            )));
        }
        known.kernels.retain(|_, (k, d, _)| *d == id && k.strong_count() > 0);
        known.kernels.insert(key, (Arc::downgrade(kernel), id, loaded.clone()));
        Ok(loaded)
    }

    /// Releases all kernels.
    pub fn clear(&self) {
        let all = std::mem::take(&mut *self.0.lock());
        drop(all);
    }
}
