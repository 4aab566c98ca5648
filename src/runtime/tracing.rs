//! Traces: their beginning and end, and the thread that writes them.

use crate::config;
use crate::error::Result;
use crate::host::system::now;
use crate::host::threads::spawn_named;
use crate::log;
use crate::trace::{events, recorder};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// Begins a trace in a file.
pub fn begin(path: &Path) -> Result<()> {
    let set = config::get();
    let extent = events::Extent { times_devices: set.trace_device, lines: set.trace_lines };
    recorder::begin(path, extent, now)?;
    recorder::flush();
    let trace = events::trace();
    let writer = spawn_named("revamp-trace", move || {
        while events::trace() == trace {
            std::thread::park_timeout(recorder::INTERVAL);
            recorder::flush();
        }
    });
    match writer {
        Ok(writer) => events::wake(writer.thread().clone()),
        Err(e) => log!(Warn, "{e}; the trace is written at its end"),
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
        if let Err(e) = begin(&of_this_process(path)) {
            log!(Warn, "REVAMP_TRACE: {e}");
        }
    });
}

/// The path with the process's id in place of `%p`, so that each rank of an MPI program has a file of its own.
fn of_this_process(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => text.replace("%p", &std::process::id().to_string()).into(),
        None => path.to_owned(),
    }
}
