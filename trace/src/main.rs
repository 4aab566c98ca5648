//! The program `revamp-trace`, which prints reports on traces.

use revamp_trace::{events, html, json, report, text};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
usage: revamp-trace report [--json | --html] FILE
       revamp-trace json FILE
report summarises a trace that REVAMP_TRACE or revamp_trace_begin() recorded: time by accelerator, bytes by view and cause, the
most expensive implicit transfers, overlap of copies and kernels. --html writes one self-contained page.
json exports the trace in the format of chrome://tracing. The trace itself opens in ui.perfetto.dev.
";

fn run(arguments: &[String]) -> Result<String, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (form, file) = match words[..] {
        ["report", file] if !file.starts_with('-') => ("text", file),
        ["report", "--json", file] | ["report", file, "--json"] => ("json", file),
        ["report", "--html", file] | ["report", file, "--html"] => ("html", file),
        ["json", file] => ("chrome", file),
        ["--help" | "-h"] => return Ok(USAGE.to_owned()),
        ["--version"] => return Ok(format!("revamp-trace {}\n", env!("CARGO_PKG_VERSION"))),
        _ => return Err(USAGE.to_owned()),
    };
    let failed = |e: &dyn std::fmt::Display| format!("revamp-trace: {file}: {e}\n");
    let bytes = std::fs::read(file).map_err(|e| failed(&e))?;
    let trace = events::read(&bytes).map_err(|e| failed(&e))?;
    let name = || Path::new(file).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    Ok(match form {
        "chrome" => json::chrome(&trace),
        "json" => json::json(&report::report(&trace)),
        "html" => html::html(&report::report(&trace), &name()),
        _ => text::text(&report::report(&trace)),
    })
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(text) => match std::io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(text) => {
            // Ignores errors, because standard error may be closed.
            let _ = std::io::stderr().write_all(text.as_bytes());
            ExitCode::from(2)
        }
    }
}
