//! The program `revamp-port`, which runs [`revamp_port::port`].

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    ExitCode::from(revamp_port::port(&arguments))
}
