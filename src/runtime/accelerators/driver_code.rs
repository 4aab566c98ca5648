//! What drivers make of compiled kernels, which are not run.

use crate::device::physical::DeviceKind;
use crate::device::{Device, Executable};
use crate::error::{Error, Result};
use crate::kernel::Variant;
use crate::kernel::compiled::Compiled;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::loaded_kernel::{KernelCache, LoadedKernel, OfCompiled};
use crate::runtime::process::Loading;
use std::sync::Arc;

/// A kernel in one of the forms in which a launch may need it.
pub struct DriverCode {
    /// Which form: "" if there is one only.
    pub form: &'static str,
    /// What the driver made of it.
    pub code: Result<Vec<Executable>>,
}

/// The device, for as long as its driver compiles.
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

/// Lets the driver of `accelerator` compile a kernel with its own workgroup: in general, for captures that do not alias, and with
/// textures as images.
pub fn compile(accelerator: &Accelerator, kernel: &Compiled) -> Result<Vec<DriverCode>> {
    let (device, _loading) = compiler(accelerator)?;
    let mut all = forms(&device, kernel, ["", "no aliasing"]);
    if let Some((with_images, _)) = &kernel.with_images {
        all.extend(forms(&device, with_images, ["textures as images", "textures as images, no aliasing"]));
    }
    Ok(all)
}

/// A kernel, and the same for launches whose captures share no memory, if that makes a difference.
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
