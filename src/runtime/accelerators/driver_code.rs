//! Lets drivers compile kernels without running them, and returns the code.

use crate::device::physical::DeviceKind;
use crate::device::{Device, Executable};
use crate::error::{Error, Result};
use crate::kernel::Variant;
use crate::kernel::compiled::Compiled;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::loaded_kernel::{KernelCache, LoadedKernel, OfCompiled};
use crate::runtime::process::Loading;
use std::sync::Arc;

/// One variant of a kernel that launches may need.
pub struct DriverCode {
    /// The name of the variant; "" if there is only one.
    pub form: &'static str,
    /// The driver's code.
    pub code: Result<Vec<Executable>>,
}

/// The device, and a guard for the time in which its driver compiles.
fn compiler(accelerator: &Accelerator) -> Result<(Arc<dyn Device>, Loading)> {
    if accelerator.kind() != DeviceKind::Vulkan {
        return Err(Error::unsupported(format!(
            "{} has no driver that compiles kernels; choose a Vulkan accelerator",
            accelerator.name()
        )));
    }
    Ok((accelerator.compiler()?, Loading::new()))
}

/// Lets the driver of `accelerator` compile a SPIR-V module of the program's own, with its only entry point.
pub fn compile_module(accelerator: &Accelerator, spirv: &[u8]) -> Result<DriverCode> {
    let (device, _loading) = compiler(accelerator)?;
    let loaded = LoadedKernel::load(&device, &KernelCache::default(), spirv, None, None, None);
    Ok(DriverCode { form: "", code: loaded.and_then(|loaded| loaded.kernel().executables()) })
}

/// Lets the driver of `accelerator` compile the variants of a kernel with its own workgroup: the general one, one for captures
/// that do not alias, and one with textures as images.
pub fn compile(accelerator: &Accelerator, kernel: &Compiled) -> Result<Vec<DriverCode>> {
    let (device, _loading) = compiler(accelerator)?;
    let mut all = forms(&device, kernel, ["", "no aliasing"]);
    if let Some((with_images, _)) = &kernel.with_images {
        all.extend(forms(&device, with_images, ["textures as images", "textures as images, no aliasing"]));
    }
    Ok(all)
}

/// A kernel, and its variant for launches whose captures share no memory, if it differs.
fn forms(device: &Arc<dyn Device>, kernel: &Compiled, names: [&'static str; 2]) -> Vec<DriverCode> {
    let cache = KernelCache::default();
    let of = OfCompiled { checks: None, references: &kernel.references() };
    let loaded = match LoadedKernel::load(device, &cache, &kernel.spirv, None, Some(&kernel.location), Some(of)) {
        Ok(loaded) => loaded,
        Err(e) => return vec![DriverCode { form: names[0], code: Err(e) }],
    };
    let mut all = vec![DriverCode { form: names[0], code: loaded.kernel().executables() }];
    if loaded.depends_on_sharing() {
        let apart = loaded.make_variant(device, &cache, Variant { apart: true, workgroup: None });
        all.push(DriverCode { form: names[1], code: apart.and_then(|apart| apart.kernel().executables()) });
    }
    all
}
