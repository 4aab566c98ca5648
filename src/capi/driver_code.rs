//! What drivers make of the kernels of a program.

use super::guard::{c_text, guard, status_of};
use super::handle::get;
use super::pointer;
use super::types::*;
use crate::device::Executable;
use crate::error::Error;
use crate::kernel::compiled;
use crate::runtime::accelerators::accelerator::Accelerator;
use crate::runtime::accelerators::driver_code::{self, DriverCode};
use std::ffi::{CString, c_void};

/// What SPIR-V modules begin with.
const SPIRV: [u8; 4] = [3, 2, 0x23, 7];

/// Lets the driver of an accelerator compile the kernels of a program, without running any, and
/// reports its statistics (registers, spills and the like). No hardware is needed: Mesa's RADV
/// compiles for the chip that RADV_FORCE_FAMILY names. `program`: the bytes of a program, library
/// or object file made by revamp-c++ or revamp-kernelc, which is not loaded, or of a SPIR-V module
/// with one entry point. `callback` is called for each kernel and each form of it, in order. The
/// call succeeds even if the driver rejects kernels: see `status`. If it fails, what `callback` got
/// before is right.
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE if the accelerator is no Vulkan device or lacks what
/// revamp needs; REVAMP_ERROR_INVALID_ARGUMENT if there are no kernels in `program`;
/// REVAMP_ERROR_RUNTIME if they are damaged or of another version of revamp.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_accelerator_compile(
    accelerator: revamp_accelerator,
    program: *const c_void,
    size: usize,
    callback: revamp_kernel_code_callback,
    context: *mut c_void,
) -> revamp_status {
    guard(|| {
        let accelerator = get::<Accelerator, _>(accelerator)?;
        let callback = callback.ok_or_else(|| Error::invalid("callback is NULL; pass a function"))?;
        // SAFETY: the caller vouches for function and context.
        let call = |code: &revamp_kernel_code| unsafe { callback(code, context) };
        // SAFETY: the caller vouches for `size` readable bytes or NULL.
        let program = unsafe { pointer::slice(program.cast::<u8>(), size, "program") }?;
        if program.starts_with(&SPIRV) {
            with_c(["", ""], &driver_code::compile_module(&accelerator, program)?, call);
            return Ok(());
        }
        let count = compiled::each_in_program(program, |kernel| {
            let codes = driver_code::compile(&accelerator, &kernel)?;
            codes.iter().for_each(|code| with_c([&kernel.name, &kernel.location], code, call));
            Ok(())
        })?;
        if count > 0 {
            return Ok(());
        }
        Err(Error::invalid(
            "program has no kernels; give the bytes of a program, library or object file made by revamp-c++ or \
             revamp-kernelc, or of a SPIR-V module",
        ))
    })
}

/// Calls `call` with the struct for C.
fn with_c([name, location]: [&str; 2], of: &DriverCode, call: impl FnOnce(&revamp_kernel_code)) {
    let [name, location, form] = [name, location, of.form].map(c_text);
    let (status, message) = match &of.code {
        Ok(_) => (REVAMP_OK, CString::default()),
        Err(e) => (status_of(e.kind), c_text(&e.to_string())),
    };
    let executables: &[Executable] = of.code.as_deref().unwrap_or_default();
    let figures = || executables.iter().flat_map(|e| &e.statistics);
    let names: Vec<CString> = figures().map(|(name, _)| c_text(name)).collect();
    let figure =
        |(name, (_, value)): (&CString, &(String, f64))| revamp_statistic { name: name.as_ptr(), value: *value };
    let statistics: Vec<_> = names.iter().zip(figures()).map(figure).collect();
    call(&revamp_kernel_code {
        struct_size: size_of::<revamp_kernel_code>(),
        name: name.as_ptr(),
        location: location.as_ptr(),
        form: form.as_ptr(),
        status,
        message: message.as_ptr(),
        subgroup_size: executables.first().map_or(0, |e| e.subgroup_size),
        statistics: statistics.as_ptr(),
        statistic_count: statistics.len(),
    });
}
