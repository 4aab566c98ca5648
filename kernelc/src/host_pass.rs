//! The host's pass of a source. It runs beside the passes that make the kernels, and reads them at its end, from a pipe.

use crate::files::Running;
use crate::flags::Line;
use crate::system;
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The pass, under way.
pub struct HostPass {
    running: Running,
    /// Open as long as it may not have read all.
    pipe: File,
}

impl HostPass {
    /// Starts it; `image` is where it reads the kernels. `None` where that cannot be a pipe.
    pub fn start(command: &mut Command, line: &Line, image: &Path) -> Option<Self> {
        let _ = std::fs::remove_file(image);
        let pipe = system::pipe(image).ok()?;
        // What it says is kept until the source is known to be right; it sees no terminal.
        let chosen = line.last(|f| f.contains("color-diagnostics") || f.starts_with("-fdiagnostics-color"));
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if chosen.is_none() && !dumb && std::io::stderr().is_terminal() {
            command.arg("-fcolor-diagnostics");
        }
        Some(Self { running: Running::quiet(command).ok()?, pipe })
    }

    /// Gives it the kernels and waits for its end: its exit code, and what it said.
    pub fn end(mut self, image: &[u8]) -> Result<(i32, String), String> {
        let failed = |e: std::io::Error| format!("cannot hand over the kernels: {e}");
        let mut left = image;
        // Where it fails it does not ask for them.
        while !self.running.has_ended()? {
            match self.pipe.write(left) {
                Ok(written) => left = &left[written..],
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(e) => return Err(failed(e)),
            }
            if left.is_empty() && system::unread(&self.pipe).map_err(failed)? == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        drop(self.pipe);
        Ok(self.running.end()?)
    }
}
