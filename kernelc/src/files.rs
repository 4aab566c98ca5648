//! Temporary files, and child processes that end with us.
#![allow(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

static STOPPED: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_: libc::c_int) {
    STOPPED.store(true, Ordering::Relaxed);
}

/// From here on, a signal that asks the process to end ends its children, and temporary files are removed.
pub fn catch_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores a flag.
        unsafe { libc::signal(signal, stop as *const () as libc::sighandler_t) };
    }
}

/// A folder that is removed with all it holds.
pub struct Folder(PathBuf);

impl Folder {
    /// A new one, below the system's folder for temporary files.
    pub fn new() -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::temp_dir();
        loop {
            let name = format!("revamp-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let path = base.join(name);
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(format!("cannot make a temporary folder in {}: {e}", base.display())),
            }
        }
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A process under way; killed if it is dropped before it ended.
pub struct Running {
    child: Child,
    name: String,
    ended: bool,
}

impl Running {
    /// Starts it. `errors`: the file that takes what it writes to standard error; `None`: ours does.
    pub fn start(command: &mut Command, errors: Option<&Path>) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        if let Some(path) = errors {
            let file = std::fs::File::create(path).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
            command.stderr(Stdio::from(file));
        }
        let child = command.spawn().map_err(|e| format!("cannot run {name}: {e}"))?;
        Ok(Self { child, name, ended: false })
    }

    /// Waits for its end: its exit code, 128 and more for a signal.
    pub fn wait(mut self) -> Result<i32, String> {
        loop {
            if STOPPED.load(Ordering::Relaxed) {
                return Err("stopped".into());
            }
            match self.child.try_wait().map_err(|e| format!("{}: {e}", self.name))? {
                None => std::thread::sleep(Duration::from_millis(2)),
                Some(status) => {
                    self.ended = true;
                    use std::os::unix::process::ExitStatusExt;
                    return Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
                }
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
