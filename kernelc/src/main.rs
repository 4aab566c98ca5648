//! The kernel compiler, one program under two names. `revamp-kernelc` precedes a C++ compiler on the command line and puts kernels into
//! the compiler's objects. `revamp-c++` is a C++ compiler for programs that use C++ AMP.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().collect::<Vec<_>>().into_iter();
    let name = arguments.next().unwrap_or_default();
    if let Some(status) = revamp_kernelc::run_child(arguments.as_slice()) {
        return ExitCode::from(u8::try_from(status).unwrap_or(1));
    }
    revamp_kernelc::catch_signals();
    // Any other name is a user's link to revamp-c++.
    let compile = match Path::new(&name).file_stem() {
        Some(name) if name == "revamp-kernelc" => revamp_kernelc::driver::kernelc,
        _ => revamp_kernelc::driver::cxx,
    };
    ExitCode::from(u8::try_from(compile(arguments.collect())).unwrap_or(1))
}
