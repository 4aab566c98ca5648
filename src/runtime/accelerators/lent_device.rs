//! Devices of the program (docs/interop.md). Kernels loaded there are released with the device's last accelerator_view, so that
//! the program can destroy the device.

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
    /// SPIR-V kernels of the program that were launched here, each with its form loaded on this device.
    spirv: Mutex<Vec<(Weak<LoadedKernel>, Arc<LoadedKernel>)>, { rank::LENT_KERNELS }>,
}

impl LentDevice {
    /// A device on which nothing is loaded yet.
    pub fn new(device: Arc<dyn Device>) -> Self {
        Self { device, kernels: KernelCache::default(), compiled: LoadedCompiled::default(), spirv: Mutex::default() }
    }

    /// `kernel` loaded on this device.
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
