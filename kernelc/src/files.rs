//! Temporary files, the package's files, and child processes that end with this process.

use crate::system;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The prefix of the names of our temporary folders.
const PREFIX: &str = "revamp-";
/// A file in each temporary folder. The process that created the folder keeps the file locked.
const LOCK: &str = "lock";
/// The signal by which a system ends a process when memory runs out.
const SIGKILL: i32 = 9;

/// The text of a file in any encoding that extends ASCII, converted by `masked`; empty if the file cannot be read.
pub fn text_of(file: impl AsRef<Path>) -> String {
    std::fs::read(file).map(|bytes| masked(&bytes)).unwrap_or_default()
}

/// Converts bytes to a text of the same length: each byte that is not UTF-8 becomes `_`.
pub fn masked(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text += chunk.valid();
        text.extend(chunk.invalid().iter().map(|_| '_'));
    }
    text
}

/// The folder of C++ AMP's headers, relative to the package.
pub const HEADERS: &str = "include/revamp-amp";

/// The folder of the installed package. Its subfolder `bin` contains this program.
pub fn package() -> Result<PathBuf, String> {
    let executable = std::env::current_exe()
        .and_then(|p| p.canonicalize())
        .map_err(|e| format!("the path of this program cannot be determined: {e}"))?;
    let prefix = executable.parent().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
    if prefix.join(HEADERS).join("amp.h").is_file() {
        return Ok(prefix);
    }
    Err(format!(
        "the headers of revamp ({HEADERS}) are not in {}, because this program was moved or copied out of its package; \
         run the installed program, or a symbolic link to the installed program",
        prefix.display()
    ))
}

/// A command that runs this program as the child process `name` (`children`).
pub fn child(name: &str) -> Result<Command, String> {
    let executable =
        std::env::current_exe().map_err(|e| format!("the path of this program cannot be determined: {e}"))?;
    let mut command = Command::new(executable);
    command.arg(name);
    Ok(command)
}

/// The folder of C++ AMP's headers.
pub fn headers() -> Result<PathBuf, String> {
    Ok(package()?.join(HEADERS))
}

/// True if the file is in the folder. Compares components of paths, because Clang appends components with `/` on every system.
pub fn is_in_folder(file: &str, folder: &Path) -> bool {
    let components = |path: &str| path.split(std::path::is_separator).map(str::to_owned).collect::<Vec<_>>();
    components(file).starts_with(&components(&folder.to_string_lossy()))
}

/// A temporary folder. Dropping the `Folder` removes the folder with its contents. If this process is killed, the next run removes the folder.
pub struct Folder {
    path: PathBuf,
    /// The locked file.
    _lock: File,
}

impl Folder {
    /// Creates a folder in the system's folder for temporary files. Other users cannot read the new folder.
    pub fn new() -> Result<Self, String> {
        let base = std::env::temp_dir();
        sweep(&base);
        let made = Self::make(&base);
        made.map_err(|e| {
            format!("cannot create a temporary folder in {}: {e}; set TMPDIR to use another folder", base.display())
        })
    }

    fn make(base: &Path) -> std::io::Result<Self> {
        let (path, lock) = system::locked_folder(base, PREFIX, LOCK)?;
        Ok(Self { path, _lock: lock })
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Copies a file of the folder to `output`, atomically.
    pub fn hand_over(&self, made: &Path, output: &Path) -> Result<(), String> {
        let failed = |e: std::io::Error| format!("cannot write {}: {e}", output.display());
        match std::fs::metadata(output) {
            // A device or a pipe is written to, not replaced.
            Ok(found) if !found.is_file() && !found.is_dir() => {
                let mut to = File::options().write(true).open(output).map_err(failed)?;
                return File::open(made)
                    .and_then(|mut from| std::io::copy(&mut from, &mut to))
                    .map(drop)
                    .map_err(failed);
            }
            // A file that this user may not write must not be replaced.
            Ok(_) => drop(File::options().write(true).open(output).map_err(failed)?),
            Err(_) => {}
        }
        let name = format!(".{}.o", self.path.file_name().unwrap_or_default().to_string_lossy());
        let beside = output.parent().unwrap_or(Path::new("")).join(name);
        let moved = std::fs::copy(made, &beside).and_then(|_| std::fs::rename(&beside, output));
        moved.map_err(|e| {
            let _ = std::fs::remove_file(&beside);
            failed(e)
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders of killed runs: the folders with our prefix and owner whose lock no process holds. Follows no links.
fn sweep(base: &Path) {
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && entry.metadata().is_ok_and(|found| system::is_users_folder(&found));
        if is_ours && system::is_unlocked(&entry.path().join(LOCK)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Why a process has no exit code.
#[derive(Debug)]
pub enum Unfinished {
    /// A signal ended the process. The text names the signal and contains the process's diagnostics.
    BySignal(String),
    Other(String),
}

impl From<Unfinished> for String {
    fn from(why: Unfinished) -> Self {
        match why {
            Unfinished::BySignal(text) | Unfinished::Other(text) => text,
        }
    }
}

/// Work on another thread, which starts processes. Dropping a `Background` cancels the work and waits until the work ends. The folder to
/// which the work writes can then be removed.
pub struct Background<T> {
    thread: Option<JoinHandle<T>>,
    cancelled: Arc<AtomicBool>,
}

impl<T: Send + 'static> Background<T> {
    /// Starts `work`, which must pass its argument, a flag, to [`Running::cancelled_by`].
    pub fn start(work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static) -> Self {
        let cancelled = Arc::<AtomicBool>::default();
        let flag = Arc::clone(&cancelled);
        Self { thread: Some(std::thread::spawn(move || work(&flag))), cancelled }
    }

    /// Waits for the end of the work.
    pub fn wait(&self) {
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the result of the work; `None` if the work panicked.
    pub fn end(mut self) -> Option<T> {
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// A child process. The child and its own children are killed if the `Running` is dropped before the child ends, or if this process is killed.
pub struct Running {
    child: Child,
    name: String,
    /// Reads the child's standard error.
    diagnostics: Option<JoinHandle<Vec<u8>>>,
    /// Reads the child's standard output.
    output: Option<JoinHandle<Vec<u8>>>,
    /// Set when the child's result is no longer needed.
    cancelled: Arc<AtomicBool>,
}

impl Running {
    /// Starts the process.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        system::end_with_parent(command);
        let child = command.spawn().map_err(|e| format!("cannot run {name}: {e}"))?;
        Ok(Self { child, name, diagnostics: None, output: None, cancelled: Arc::default() })
    }

    /// Starts the process and keeps its standard error in memory, because the disk may be full.
    pub fn with_diagnostics(command: &mut Command) -> Result<Self, String> {
        let mut this = Self::start(command.stderr(Stdio::piped()))?;
        this.diagnostics = this.child.stderr.take().map(read);
        Ok(this)
    }

    /// Starts the process and keeps its standard error and standard output.
    pub fn with_output(command: &mut Command) -> Result<Self, String> {
        let mut this = Self::with_diagnostics(command.stdout(Stdio::piped()))?;
        this.output = this.child.stdout.take().map(read);
        Ok(this)
    }

    /// Sets the name of the process in errors. Without this call, errors name the program.
    pub fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }

    /// [`Running::end`] gives up once `flag` is set.
    pub fn cancelled_by(mut self, flag: &Arc<AtomicBool>) -> Self {
        self.cancelled = Arc::clone(flag);
        self
    }

    /// True if the child has ended, or if this process was asked to end.
    pub fn has_ended(&mut self) -> Result<bool, String> {
        let ended = self.child.try_wait().map_err(|e| format!("{}: {e}", self.name))?.is_some();
        Ok(ended || system::is_stopped())
    }

    /// Waits for the end of the process and returns its exit code.
    pub fn wait(self) -> Result<i32, String> {
        Ok(self.end().map(|(code, _)| code)?)
    }

    /// Waits for the end of the process and returns its exit code and the kept standard error.
    pub fn end(self) -> Result<(i32, String), Unfinished> {
        self.output().map(|(code, _, diagnostics)| (code, diagnostics))
    }

    /// Waits for the end of the process and returns its exit code, the kept standard output and the kept standard error.
    pub fn output(mut self) -> Result<(i32, Vec<u8>, String), Unfinished> {
        let status = loop {
            if system::is_stopped() || self.cancelled.load(Ordering::Relaxed) {
                return Err(Unfinished::Other("stopped".into()));
            }
            match self.child.try_wait().map_err(|e| Unfinished::Other(format!("{}: {e}", self.name)))? {
                None => std::thread::sleep(Duration::from_millis(2)),
                Some(status) => break status,
            }
        };
        let collected =
            |reader: Option<JoinHandle<_>>| reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
        let (output, diagnostics) = (collected(self.output.take()), collected(self.diagnostics.take()));
        let diagnostics = String::from_utf8_lossy(&diagnostics).into_owned();
        match status.code() {
            Some(code) => Ok((code, output, diagnostics)),
            None => {
                let signal = system::signal_of(status);
                let guess = if signal == SIGKILL { ", possibly because memory ran out" } else { "" };
                Err(Unfinished::BySignal(format!("{} was ended by signal {signal}{guess}\n{diagnostics}", self.name)))
            }
        }
    }
}

/// Reads a pipe to its end.
fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both calls do nothing if the process has ended.
        system::kill_tree(&mut self.child);
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_folders_of_killed_runs_are_removed() {
        let base = std::env::temp_dir().join(format!("kernelc-sweep-{}", std::process::id()));
        let outside = base.join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        let alive = Folder::make(&base).unwrap();
        assert_eq!(std::fs::metadata(&alive.path).unwrap().permissions().mode() & 0o777, 0o700);
        let leftover = base.join("revamp-left");
        std::fs::create_dir(&leftover).unwrap();
        std::fs::write(leftover.join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(&outside, leftover.join("link")).unwrap();
        std::fs::write(outside.join("kept"), "").unwrap();
        // These folders must stay, because they have no lock, a lock that is a link or a folder, or another name.
        let kept_folders = ["revamp-unlocked", "revamp-link", "revamp-folder", "other"];
        for name in kept_folders {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(outside.join("kept"), base.join("revamp-link").join(LOCK)).unwrap();
        std::fs::create_dir(base.join("revamp-folder").join(LOCK)).unwrap();
        std::fs::write(base.join("other").join(LOCK), "").unwrap();
        std::fs::write(outside.join(LOCK), "").unwrap();
        // A link to a folder must stay, too.
        std::os::unix::fs::symlink(&outside, base.join("revamp-linked")).unwrap();
        sweep(&base);
        assert!(
            !leftover.exists() && alive.path.exists() && outside.join("kept").exists() && outside.join(LOCK).exists()
        );
        assert!(kept_folders.iter().all(|name| base.join(name).exists()) && base.join("revamp-linked").exists());
        let path = alive.path.clone();
        drop(alive);
        assert!(!path.exists());
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn outputs_are_whole_or_absent() {
        let base = std::env::temp_dir().join(format!("kernelc-output-{}", std::process::id()));
        std::fs::create_dir_all(&base).unwrap();
        let folder = Folder::make(&base).unwrap();
        let made = folder.file("made");
        std::fs::write(&made, "bytes").unwrap();
        let output = base.join("x".repeat(250));
        folder.hand_over(&made, &output).unwrap();
        assert_eq!(std::fs::read_to_string(&output).unwrap(), "bytes");
        for bad in [base.clone(), base.join("nowhere/x.o"), "/dev/full".into()] {
            assert!(folder.hand_over(&made, &bad).unwrap_err().contains("cannot write"), "{}", bad.display());
        }
        folder.hand_over(&made, Path::new("/dev/null")).unwrap();
        drop(folder);
        assert_eq!(std::fs::read_dir(&base).unwrap().count(), 1);
        std::fs::remove_dir_all(base).unwrap();
    }

    #[test]
    fn masking_keeps_the_length() {
        assert_eq!(masked(b"// \xA9 \xC3\xA9\xC3 caf\xE9"), "// _ \u{e9}_ caf_");
    }

    #[test]
    fn only_whole_components_of_paths_match() {
        let headers = Path::new("/usr/include/revamp-amp");
        assert!(is_in_folder("/usr/include/revamp-amp/revamp/detail/launch.h", headers));
        assert!(!is_in_folder("/usr/include/revamp-amp2/amp.h", headers));
        assert!(!is_in_folder("/home/me/revamp-amp/main.cpp", headers));
    }

    #[test]
    fn an_error_names_the_signal() {
        let ended =
            Running::with_diagnostics(Command::new("sh").args(["-c", "echo why >&2; kill -9 $$"])).unwrap().end();
        let Err(Unfinished::BySignal(diagnostics)) = ended else { panic!("{ended:?}") };
        assert!(diagnostics.contains("sh was ended by signal 9") && diagnostics.contains("why"), "{diagnostics}");
    }
}

/// The folder and the common prefix of the names of the dump files that `REVAMP_KERNEL_DUMP` requests for a source.
pub fn dump_of(source: &Path) -> Option<PathBuf> {
    let folder = std::env::var_os("REVAMP_KERNEL_DUMP").filter(|folder| !folder.is_empty())?;
    Some(PathBuf::from(folder).join(source.file_stem().unwrap_or_default()))
}

/// The path `stem` with `suffix` appended to its name.
pub fn beside(stem: &Path, suffix: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}
