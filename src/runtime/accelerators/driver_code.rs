//! Lets drivers compile kernels without running them, and returns the code.

use crate::device::physical::DeviceKind;
use crate::device::{Device, Executable};
use crate::error::{Error, Result};
use crate::kernel::Variant;
use crate::kernel::compiled::Compiled;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::loaded_kernel::{CompiledProperties, KernelCache, LoadedKernel};
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

/// Lets the driver of `accelerator` compile a SPIR-V module of the program, with the module's only compute entry point.
pub fn compile_module(accelerator: &Accelerator, spirv: &[u8]) -> Result<DriverCode> {
    let (device, _loading) = compiler(accelerator)?;
    let loaded = LoadedKernel::load(&device, &KernelCache::default(), spirv, None, None, None);
    Ok(DriverCode { form: "", code: loaded.and_then(|loaded| loaded.kernel().executables()) })
}

/// Lets the driver of `accelerator` compile a kernel with its default workgroup size. The variants are: the general one, the one for
/// captures that do not alias, and both with textures as images.
pub fn compile(accelerator: &Accelerator, kernel: &Compiled) -> Result<Vec<DriverCode>> {
    let (device, _loading) = compiler(accelerator)?;
    let mut all = forms(&device, kernel, ["", "no aliasing"]);
    if let Some((with_images, _)) = &kernel.with_images {
        all.extend(forms(&device, with_images, ["textures as images", "textures as images, no aliasing"]));
    }
    Ok(all)
}

/// The driver's code of a kernel and, if the kernel depends on aliasing, of its variant for captures that do not alias.
fn forms(device: &Arc<dyn Device>, kernel: &Compiled, names: [&'static str; 2]) -> Vec<DriverCode> {
    let cache = KernelCache::default();
    let recorded = CompiledProperties { checks: None, references: &kernel.references() };
    let loaded = kernel
        .spirv(device.kernel_form())
        .and_then(|spirv| LoadedKernel::load(device, &cache, &spirv, None, Some(&kernel.location), Some(recorded)));
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(e) => return vec![DriverCode { form: names[0], code: Err(e) }],
    };
    let mut all = vec![DriverCode { form: names[0], code: loaded.kernel().executables() }];
    if loaded.depends_on_sharing() {
        let no_aliasing = loaded.make_variant(device, &cache, Variant { no_aliasing: true, workgroup: None });
        all.push(DriverCode {
            form: names[1],
            code: no_aliasing.and_then(|no_aliasing| no_aliasing.kernel().executables()),
        });
    }
    all
}
