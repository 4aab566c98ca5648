//! Writes events to the file of a trace. Packets are written as they come, so that the file of a program that crashed can be
//! read up to its last moments.

use super::encode::Encoder;
use super::events::{self, Entry, Extent, Progress, Times};
use crate::error::{Error, Result};
use crate::lock::{Mutex, rank};
use crate::log;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often events are written.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// So many bytes are written at once.
const PIECE: usize = 1 << 20;

/// The file of the trace that is recorded.
struct Recording {
    file: File,
    encoder: Encoder,
    /// What is on its way to the file; empty between.
    entries: Vec<Entry>,
    /// What is told if the file could not be written.
    failed: Option<String>,
}

static RECORDING: Mutex<Option<Recording>, { rank::RECORDING }> = Mutex::new(None);

/// Begins a trace in the file at `path`. `now`: the host's clock, to which devices are calibrated. The caller sees to it that
/// [`flush`] is called after each [`INTERVAL`].
pub fn begin(path: &Path, extent: Extent, now: fn() -> u64) -> Result<()> {
    let mut recording = RECORDING.lock();
    if recording.is_some() {
        return Err(Error::runtime(
            "a trace is recorded already; end it with revamp_trace_end() before another begins",
        ));
    }
    let file = File::create(path).map_err(|e| {
        Error::runtime(format!("the trace cannot be written to {path:?}: {e}; name a file that can be"))
    })?;
    let encoder = Encoder::new((Instant::now(), now()));
    *recording = Some(Recording { file, encoder, entries: Vec::new(), failed: None });
    events::begin(extent);
    Ok(())
}

/// Writes what is noted. To be called without a lock.
pub fn flush() {
    let mut recording = RECORDING.lock();
    let ended = recording.as_mut().map(Recording::flush);
    drop(recording);
    // Timers may be the last to hold a device.
    drop(ended);
}

/// Ends the trace. Work that devices have not done yet is left out. Fails if the file could not be written.
pub fn end() -> Result<()> {
    let mut recording = RECORDING.lock();
    let Some(mut ended) = recording.take() else {
        return Err(Error::runtime("no trace is recorded; revamp_trace_begin() begins one"));
    };
    events::end();
    let asked = ended.flush();
    let (open, _) = events::take(&mut Vec::new());
    drop(recording);
    drop((asked, open));
    match ended.failed {
        Some(text) => Err(Error::runtime(text)),
        None => Ok(()),
    }
}

impl Recording {
    /// Writes what is noted. Returns what is no longer needed.
    fn flush(&mut self) -> Vec<events::DeviceTimes> {
        let mut entries = std::mem::take(&mut self.entries);
        let (open, lost) = events::take(&mut entries);
        for entry in entries.drain(..) {
            self.encoder.note(&entry);
            if self.encoder.bytes().len() >= PIECE {
                self.write();
            }
        }
        self.entries = entries;
        let (mut still, mut done) = (Vec::new(), Vec::new());
        for (mut event, mut times) in open {
            match times() {
                Progress::Open => still.push((event, times)),
                Progress::Done(begin, end) => {
                    event.times = Times::Device(begin, end);
                    self.encoder.add(&event);
                    done.push(times);
                }
                Progress::Lost => done.push(times),
            }
        }
        events::give_back(still);
        if lost > 0 {
            self.encoder.lost(lost);
        }
        self.write();
        done
    }

    /// Writes the packets that were made.
    fn write(&mut self) {
        let bytes = self.encoder.bytes();
        if self.failed.is_none() {
            let written = self.file.write_all(bytes);
            self.failed =
                written.err().map(|e| format!("the trace is not complete, since its file could not be written: {e}"));
            if let Some(text) = &self.failed {
                log!(Warn, "{text}");
            }
        }
        bytes.clear();
    }
}
