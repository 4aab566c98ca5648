//! `revamp-c++`: a C++ compiler for programs that use C++ AMP.

fn main() -> std::process::ExitCode {
    revamp_kernelc::catch_signals();
    let code = revamp_kernelc::driver::cxx(std::env::args_os().skip(1).collect());
    std::process::ExitCode::from(u8::try_from(code).unwrap_or(1))
}
