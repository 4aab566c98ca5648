//! The program `revamp-port`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    ExitCode::from(revamp_port::port(&arguments))
}
