//! SPIR-V kernels that the program loads on an accelerator.

use crate::device::physical::DeviceKind;
use crate::error::{Error, Result};
use crate::kernel::registry;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::loaded_kernel::LoadedKernel;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A kernel of the program on an accelerator.
pub struct SpirvKernel {
    accelerator: Arc<Accelerator>,
    loaded: Arc<LoadedKernel>,
}

/// True once the program has loaded SPIR-V.
static ANY: AtomicBool = AtomicBool::new(false);

impl SpirvKernel {
    /// True if the program has loaded SPIR-V.
    pub(in crate::runtime) fn any() -> bool {
        ANY.load(Ordering::Relaxed)
    }

    /// Checks and loads `spirv`.
    pub fn load(
        accelerator: &Arc<Accelerator>,
        spirv: &[u8],
        entry_point: Option<&str>,
        label: Option<&str>,
    ) -> Result<Arc<Self>> {
        if accelerator.kind() != DeviceKind::Vulkan {
            return Err(Error::unsupported(format!(
                "{} cannot run SPIR-V; load the kernel on a Vulkan accelerator",
                accelerator.name()
            )));
        }
        let loaded = LoadedKernel::load(&accelerator.device()?, &accelerator.kernels, spirv, entry_point, label, None)?;
        ANY.store(true, Ordering::Relaxed);
        Ok(Arc::new(Self { accelerator: accelerator.clone(), loaded }))
    }

    /// Loads the kernel that is embedded in the program under `name`.
    pub fn find(accelerator: &Arc<Accelerator>, name: &str) -> Result<Arc<Self>> {
        let record = registry::find(name)?;
        Self::load(accelerator, record.spirv(), None, Some(name))
    }

    /// The kernel as loaded on the accelerator.
    pub(in crate::runtime) fn loaded(&self) -> &Arc<LoadedKernel> {
        &self.loaded
    }

    /// The accelerator on which it was loaded.
    pub fn accelerator(&self) -> &Arc<Accelerator> {
        &self.accelerator
    }
}

impl std::ops::Deref for SpirvKernel {
    type Target = LoadedKernel;

    fn deref(&self) -> &LoadedKernel {
        &self.loaded
    }
}
