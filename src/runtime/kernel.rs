//! SPIR-V kernels loaded on an accelerator.

use super::accelerator::{Accelerator, Kind};
use crate::device::Kernel;
use crate::error::{Error, Result};
use crate::kernel::{Module, registry};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Weak};

/// Kernels by hash of the module and entry point, so that loading one again costs no compilation.
pub(super) type KernelCache = HashMap<(u64, CString, u64), Weak<dyn Kernel>>;

/// A kernel on an accelerator.
pub struct LoadedKernel {
    accelerator: Arc<Accelerator>,
    kernel: Arc<dyn Kernel>,
    names: Vec<Option<CString>>,
    workgroup: [u32; 3],
    label: String,
}

impl LoadedKernel {
    /// Checks and loads `spirv`.
    pub fn load(
        accelerator: &Arc<Accelerator>,
        spirv: &[u8],
        entry_point: Option<&str>,
        label: Option<&str>,
    ) -> Result<Arc<Self>> {
        if accelerator.kind() != Kind::Vulkan {
            return Err(Error::unsupported(format!(
                "{} runs no SPIR-V; load the kernel on a Vulkan accelerator",
                accelerator.name()
            )));
        }
        let named = |e: Error| match label {
            Some(label) => e.context(format_args!("kernel {label}")),
            None => e,
        };
        let module = Arc::new(Module::new(spirv, entry_point).map_err(named)?);
        let label = label.map_or_else(|| module.entry_point().to_string_lossy().into_owned(), str::to_owned);
        let device = accelerator.device()?;
        let key = (module.hash(), module.entry_point().to_owned(), device.id());
        let mut cache = accelerator.kernels.lock();
        let known = cache.get(&key).and_then(Weak::upgrade).filter(|k| k.module().words() == module.words());
        let kernel = match known {
            Some(kernel) => kernel,
            None => {
                let made = device.load(&module, &label).map_err(named)?;
                cache.retain(|_, k| k.strong_count() > 0);
                cache.insert(key, Arc::downgrade(&made));
                made
            }
        };
        drop(cache);
        let module = kernel.module();
        Ok(Arc::new(Self {
            accelerator: accelerator.clone(),
            names: module
                .bindings()
                .iter()
                .map(|b| b.name.as_ref().and_then(|n| CString::new(n.as_str()).ok()))
                .collect(),
            workgroup: module.workgroup_size(&Vec::new()).map_err(named)?,
            label,
            kernel,
        }))
    }

    /// Loads a kernel compiled into the program.
    pub fn find(accelerator: &Arc<Accelerator>, name: &str) -> Result<Arc<Self>> {
        let record = registry::find(name)?;
        Self::load(accelerator, record.spirv(), None, Some(name))
    }

    /// Where it was loaded.
    pub fn accelerator(&self) -> &Arc<Accelerator> {
        &self.accelerator
    }
    /// The device's kernel.
    pub fn kernel(&self) -> &Arc<dyn Kernel> {
        &self.kernel
    }
    /// What reflection found.
    pub fn module(&self) -> &Arc<Module> {
        self.kernel.module()
    }
    /// Its name in messages.
    pub fn label(&self) -> &str {
        &self.label
    }
    /// Workgroup size without specialization constants.
    pub fn workgroup(&self) -> [u32; 3] {
        self.workgroup
    }
    /// The name of a binding as a C string.
    pub fn binding_name(&self, index: usize) -> Option<&std::ffi::CStr> {
        self.names.get(index)?.as_deref()
    }
}
