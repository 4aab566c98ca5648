//! Clang's host pass over a source. It runs in parallel with the passes that compile the kernels. At its end, it reads the compiled kernels
//! from a pipe.

use crate::files::Running;
use crate::flags::Line;
use crate::system;
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A running host pass.
pub struct HostPass {
    running: Running,
    /// The pipe. It stays open until the pass has read everything.
    pipe: File,
}

impl HostPass {
    /// Starts the pass, which reads the kernels from `image`. `None` if `image` cannot be a pipe on this system.
    pub fn start(command: &mut Command, line: &Line, image: &Path) -> Option<Self> {
        let _ = std::fs::remove_file(image);
        let pipe = system::pipe(image).ok()?;
        // Diagnostics are kept until the check of the source has passed. Therefore Clang does not write to a terminal and needs a flag to use
        // colours.
        let colour_flag = line.last(|f| f.contains("color-diagnostics") || f.starts_with("-fdiagnostics-color"));
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if colour_flag.is_none() && !dumb && std::io::stderr().is_terminal() {
            command.arg("-fcolor-diagnostics");
        }
        Some(Self { running: Running::with_diagnostics(command).ok()?, pipe })
    }

    /// Writes the kernels to the pipe and waits for the end of the pass. Returns the exit code and the diagnostics of the pass.
    pub fn end(mut self, image: &[u8]) -> Result<(i32, String), String> {
        let failed = |e: std::io::Error| format!("cannot pass the kernels to the host pass of Clang: {e}");
        let mut unwritten = image;
        // A pass that fails ends without reading the kernels.
        while !self.running.has_ended()? {
            match self.pipe.write(unwritten) {
                Ok(written) => unwritten = &unwritten[written..],
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(e) => return Err(failed(e)),
            }
            if unwritten.is_empty() && system::unread(&self.pipe).map_err(failed)? == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        drop(self.pipe);
        Ok(self.running.end()?)
    }
}
