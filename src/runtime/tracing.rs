//! Begins and ends traces, and starts the thread that writes them to a file.

use crate::config;
use crate::error::Result;
use crate::host::system;
use crate::host::threads::spawn_named;
use crate::log;
use crate::trace::pace::Clocks;
use crate::trace::{events, recorder};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Begins a trace, which is written to the file at `path`.
pub fn begin(path: &Path) -> Result<()> {
    let settings = config::get();
    let options = events::TraceOptions { times_devices: settings.trace_device, lines: settings.trace_lines };
    let clocks = Clocks { now: system::now, counter: system::counter().unwrap_or(system::now) };
    let trace = recorder::begin(path, options, clocks, system::library_of)?;
    recorder::flush();
    let writer = spawn_named("revamp-trace", move || {
        while events::trace() == Some(trace) {
            std::thread::park_timeout(recorder::INTERVAL);
            recorder::flush();
        }
    });
    match writer {
        Ok(writer) => events::wake(trace, writer.thread().clone()),
        Err(e) => log!(Warn, "{e}; the trace file is written only at the end of the trace"),
    }
    Ok(())
}

/// Ends the trace.
pub fn end() -> Result<()> {
    recorder::end()
}

/// Begins the trace that `REVAMP_TRACE` asks for, at the first use of the library.
pub fn begin_if_set() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        let Some(path) = &config::get().trace else { return };
        if let Err(e) = begin(&path_for_this_process(path)) {
            log!(Warn, "REVAMP_TRACE: {e}");
        }
    });
}

/// `path` with the id of the process in place of `%p`, so that each rank of an MPI program has a file of its own.
fn path_for_this_process(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => text.replace("%p", &std::process::id().to_string()).into(),
        None => path.to_owned(),
    }
}
