//! `revamp-kernelc`: stands before a C++ compiler and puts kernels into objects.

fn main() -> std::process::ExitCode {
    revamp_kernelc::catch_signals();
    let code = revamp_kernelc::driver::kernelc(std::env::args_os().skip(1).collect());
    std::process::ExitCode::from(u8::try_from(code).unwrap_or(1))
}
