//! Devices of the program (docs/interop.md): what is loaded there goes with their last accelerator_view, so that the program
//! can destroy them.

use crate::device::Device;
use crate::error::Result;
use crate::lock::{Mutex, rank};
use crate::runtime::accelerators::loaded_kernel::{KernelCache, LoadedCompiled, LoadedKernel};
use std::sync::{Arc, Weak};

/// A device of the program.
pub(in crate::runtime) struct LentDevice {
    /// The device.
    pub device: Arc<dyn Device>,
    /// The kernels loaded here.
    pub kernels: KernelCache,
    /// The loaded kernels of the kernel compiler.
    pub compiled: LoadedCompiled,
    /// Kernels of the program that were launched here, and what they are here.
    spirv: Mutex<Vec<(Weak<LoadedKernel>, Arc<LoadedKernel>)>, { rank::LENT_KERNELS }>,
}

impl LentDevice {
    /// Nothing is loaded on it yet.
    pub fn new(device: Arc<dyn Device>) -> Self {
        Self { device, kernels: KernelCache::default(), compiled: LoadedCompiled::default(), spirv: Mutex::default() }
    }

    /// `kernel` as it is loaded here.
    pub fn load(&self, kernel: &Arc<LoadedKernel>) -> Result<Arc<LoadedKernel>> {
        let mut all = self.spirv.lock();
        all.retain(|(known, _)| known.strong_count() > 0);
        let same = |known: &Weak<LoadedKernel>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(kernel));
        if let Some((_, loaded)) = all.iter().find(|(known, _)| same(known)) {
            return Ok(loaded.clone());
        }
        let loaded = kernel.on(&self.device, &self.kernels)?;
        all.push((Arc::downgrade(kernel), loaded.clone()));
        Ok(loaded)
    }
}
