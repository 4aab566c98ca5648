//! Compiles the kernels of a program with a driver and reports the driver's statistics.

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

/// The magic number at the start of a SPIR-V module, little endian.
const SPIRV_MAGIC: [u8; 4] = [3, 2, 0x23, 7];

/// Lets the driver of an accelerator compile the kernels of a program, without running any, and
/// reports its statistics (registers, spills and the like). No hardware is needed: Mesa's RADV
/// compiles for the chip that RADV_FORCE_FAMILY names. `program`: the bytes of a program, library
/// or object file made by revamp-c++ or revamp-kernelc, or of a SPIR-V module with one entry point;
/// it is not loaded. The library calls `callback` for each form of each kernel, in order. The call
/// succeeds even if the driver rejects kernels: see `status` of revamp_kernel_code. If the call
/// fails, the results that `callback` got before are valid.
/// Errors: REVAMP_ERROR_UNSUPPORTED_FEATURE if the accelerator is not a Vulkan device or lacks
/// features that revamp needs; REVAMP_ERROR_INVALID_ARGUMENT if `program` has no kernels;
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
        if program.starts_with(&SPIRV_MAGIC) {
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
            "program has no kernels; pass the bytes of a SPIR-V module, or of a program, library or object file that \
             revamp-c++ or revamp-kernelc made",
        ))
    })
}

/// Converts a result to its C struct, and calls `call` with the struct.
fn with_c([name, location]: [&str; 2], result: &DriverCode, call: impl FnOnce(&revamp_kernel_code)) {
    let [name, location, form] = [name, location, result.form].map(c_text);
    let (status, message) = match &result.code {
        Ok(_) => (REVAMP_OK, CString::default()),
        Err(e) => (status_of(e.kind), c_text(&e.to_string())),
    };
    let executables: &[Executable] = result.code.as_deref().unwrap_or_default();
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
