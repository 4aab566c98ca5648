//! Writes the events of a trace to a file. Events are written while the program runs, so that the file is useful even if the
//! program crashes.

use super::encode::{Encoder, PIECE};
use super::events::{self, Entry, Progress, TraceOptions};
use super::lines::LibraryOf;
use super::pace::{ClockConversion, Clocks};
use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use crate::log;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// The interval at which events are written.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// The trace that is being recorded, with its file.
struct Recording {
    file: File,
    encoder: Encoder,
    /// The entries that [`Self::flush`] is writing; empty between flushes.
    entries: Vec<Entry>,
    /// The error message, if writing the file has failed.
    failure: Option<String>,
}

static RECORDING: Mutex<Option<Recording>, { rank::RECORDING }> = Mutex::new(None);

/// Begins a trace in the file at `path`, and returns the number of the trace. The caller must call [`flush`] after each [`INTERVAL`].
pub fn begin(path: &Path, options: TraceOptions, clocks: Clocks, library_of: LibraryOf) -> Result<u64> {
    let mut recording = RECORDING.lock();
    if recording.is_some() {
        return Err(Error::runtime(
            "a trace is already being recorded; call revamp_trace_end() before you begin another",
        ));
    }
    let file = File::create(path)
        .map_err(|e| Error::runtime(format!("the trace cannot be written to {path:?}: {e}; name a writable file")))?;
    *recording = Some(Recording {
        file,
        encoder: Encoder::new(ClockConversion::new(clocks), library_of),
        entries: Vec::new(),
        failure: None,
    });
    Ok(events::begin(options, clocks.counter))
}

/// Writes the recorded events to the file. The caller must hold no lock.
pub fn flush() {
    let mut recording = RECORDING.lock();
    let ended = recording.as_mut().map(Recording::flush);
    drop(recording);
    // Dropped after the lock is released, because timers may hold the last references to a device.
    drop(ended);
}

/// Ends the trace. Events of work that devices have not finished are left out. Fails if the file could not be written.
pub fn end() -> Result<()> {
    let mut recording = RECORDING.lock();
    let Some(mut ended) = recording.take() else {
        return Err(Error::runtime("no trace is recorded; revamp_trace_begin() begins one"));
    };
    events::end();
    let timers = ended.flush();
    let (unfinished, _) = events::take(&mut Vec::new());
    drop(recording);
    drop((timers, unfinished));
    match ended.failure {
        Some(text) => Err(Error::runtime(text)),
        None => Ok(()),
    }
}

impl Recording {
    /// Writes the recorded events to the file. Returns the timers that are no longer needed.
    fn flush(&mut self) -> Vec<events::DeviceTimes> {
        let mut entries = std::mem::take(&mut self.entries);
        let (unfinished, lost) = events::take(&mut entries);
        self.encoder.compare_clocks();
        for entry in entries.drain(..) {
            self.encoder.add_entry(&entry);
            if self.encoder.bytes().len() >= PIECE {
                self.write();
            }
        }
        self.entries = entries;
        let (mut remaining, mut done) = (Vec::new(), Vec::new());
        for (mut event, mut times) in unfinished {
            match times() {
                Progress::Open => remaining.push((event, times)),
                Progress::Done(begin, end) => {
                    event.times = (begin, end);
                    self.encoder.add(&event, event.times);
                    done.push(times);
                }
                Progress::Lost => done.push(times),
            }
        }
        events::give_back(remaining);
        if lost > 0 {
            self.encoder.lost(lost);
        }
        self.write();
        done
    }

    /// Writes the encoded packets.
    fn write(&mut self) {
        let bytes = self.encoder.bytes();
        if self.failure.is_none() {
            let written = self.file.write_all(bytes);
            self.failure =
                written.err().map(|e| format!("the trace is incomplete, because its file could not be written: {e}"));
            if let Some(text) = &self.failure {
                log!(Warn, "{text}");
            }
        }
        bytes.clear();
    }
}
