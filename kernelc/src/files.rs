//! Temporary files, the package's files, and child processes that end with us.

use crate::system;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// How the names of our folders begin.
const PREFIX: &str = "revamp-";
/// A file in each folder, locked as long as the process that made it lives.
const LOCK: &str = "lock";
/// How a system ends a process for want of memory.
const SIGKILL: i32 = 9;

/// A file that may be in any encoding that extends ASCII, as `masked` shows it; nothing if it cannot be read.
pub fn text_of(file: impl AsRef<Path>) -> String {
    std::fs::read(file).map(|bytes| masked(&bytes)).unwrap_or_default()
}

/// The same number of bytes as text: `_` stands for each that is not UTF-8.
pub fn masked(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text += chunk.valid();
        text.extend(chunk.invalid().iter().map(|_| '_'));
    }
    text
}

/// C++ AMP's headers, in the package.
pub const HEADERS: &str = "include/revamp-amp";

/// Where the package is: this program lies in its `bin`.
pub fn package() -> Result<PathBuf, String> {
    let own = std::env::current_exe()
        .and_then(|p| p.canonicalize())
        .map_err(|e| format!("the path of this program cannot be determined: {e}"))?;
    let prefix = own.parent().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default();
    if prefix.join(HEADERS).join("amp.h").is_file() {
        return Ok(prefix);
    }
    Err(format!(
        "the headers of revamp ({HEADERS}) are not in {}, the folder above this program's: the program was moved or \
         copied out of its package; call it where it is installed, or through a symbolic link",
        prefix.display()
    ))
}

/// A call of this program as the child process of this name (`children`).
pub fn child(name: &str) -> Result<Command, String> {
    let own = std::env::current_exe().map_err(|e| format!("the path of this program cannot be determined: {e}"))?;
    let mut command = Command::new(own);
    command.arg(name);
    Ok(command)
}

/// The folder of C++ AMP's headers.
pub fn headers() -> Result<PathBuf, String> {
    Ok(package()?.join(HEADERS))
}

/// True if the file lies in the folder, by the components of their paths: Clang separates those that it adds by `/` everywhere.
pub fn lies_in(file: &str, folder: &Path) -> bool {
    let components = |path: &str| path.split(std::path::is_separator).map(str::to_owned).collect::<Vec<_>>();
    components(file).starts_with(&components(&folder.to_string_lossy()))
}

/// A folder of our own that is removed with all it holds: at its end, or by the next run if the process was killed.
pub struct Folder {
    path: PathBuf,
    /// Holds the lock.
    _lock: File,
}

impl Folder {
    /// A new one, below the system's folder for temporary files, which nobody else can look into.
    pub fn new() -> Result<Self, String> {
        let base = std::env::temp_dir();
        sweep(&base);
        let made = Self::make(&base);
        made.map_err(|e| format!("cannot make a temporary folder in {} (TMPDIR names another): {e}", base.display()))
    }

    fn make(base: &Path) -> std::io::Result<Self> {
        let (path, lock) = system::locked_folder(base, PREFIX, LOCK)?;
        Ok(Self { path, _lock: lock })
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Moves a file of it to where it is wanted, whole or not at all.
    pub fn hand_over(&self, made: &Path, output: &Path) -> Result<(), String> {
        let failed = |e: std::io::Error| format!("cannot write {}: {e}", output.display());
        match std::fs::metadata(output) {
            // A device or a pipe takes the bytes.
            Ok(found) if !found.is_file() && !found.is_dir() => {
                let mut to = File::options().write(true).open(output).map_err(failed)?;
                return File::open(made)
                    .and_then(|mut from| std::io::copy(&mut from, &mut to))
                    .map(drop)
                    .map_err(failed);
            }
            // What may not be written may not be replaced.
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

/// Removes the folders that killed runs left: ours by name and owner, with a lock that nobody holds. Follows no links.
fn sweep(base: &Path) {
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        let ours = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && entry.metadata().is_ok_and(|found| system::is_own_folder(&found));
        if ours && system::is_unlocked(&entry.path().join(LOCK)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Why a process has no exit code.
#[derive(Debug)]
pub enum Unfinished {
    /// A signal ended the process. Says which, and what the process printed.
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

/// Work of another thread that starts processes. If it is dropped before its end, nothing of it goes on: the folder that it writes to can
/// be removed.
pub struct Background<T> {
    thread: Option<JoinHandle<T>>,
    cancelled: Arc<AtomicBool>,
}

impl<T: Send + 'static> Background<T> {
    /// Begins. The work gives the flag to [`Running::cancelled_by`].
    pub fn start(work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static) -> Self {
        let cancelled = Arc::<AtomicBool>::default();
        let flag = Arc::clone(&cancelled);
        Self { thread: Some(std::thread::spawn(move || work(&flag))), cancelled }
    }

    /// Waits for its end.
    pub fn wait(&self) {
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for its result; `None` if it panicked.
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

/// A process under way; killed with its own children if it is dropped before it ended, or if we are killed.
pub struct Running {
    child: Child,
    name: String,
    /// Reads what it writes to standard error.
    diagnostics: Option<JoinHandle<Vec<u8>>>,
    /// Reads what it writes to standard output.
    output: Option<JoinHandle<Vec<u8>>>,
    /// Set when nobody wants its result any more.
    cancelled: Arc<AtomicBool>,
}

impl Running {
    /// Starts it.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        system::ends_with_us(command);
        let child = command.spawn().map_err(|e| format!("cannot run {name}: {e}"))?;
        Ok(Self { child, name, diagnostics: None, output: None, cancelled: Arc::default() })
    }

    /// Starts it; what it writes to standard error is kept, in memory: the disk may be full.
    pub fn quiet(command: &mut Command) -> Result<Self, String> {
        let mut this = Self::start(command.stderr(Stdio::piped()))?;
        this.diagnostics = this.child.stderr.take().map(read);
        Ok(this)
    }

    /// The same; what it writes to standard output is kept too.
    pub fn heard(command: &mut Command) -> Result<Self, String> {
        let mut this = Self::quiet(command.stdout(Stdio::piped()))?;
        this.output = this.child.stdout.take().map(read);
        Ok(this)
    }

    /// Errors call it so, not by its program.
    pub fn named(mut self, name: String) -> Self {
        self.name = name;
        self
    }

    /// [`Running::end`] gives up once `flag` is set.
    pub fn cancelled_by(mut self, flag: &Arc<AtomicBool>) -> Self {
        self.cancelled = Arc::clone(flag);
        self
    }

    /// Whether it has ended, or is to be.
    pub fn has_ended(&mut self) -> Result<bool, String> {
        let ended = self.child.try_wait().map_err(|e| format!("{}: {e}", self.name))?.is_some();
        Ok(ended || system::is_stopped())
    }

    /// Waits for its end: its exit code.
    pub fn wait(self) -> Result<i32, String> {
        Ok(self.end().map(|(code, _)| code)?)
    }

    /// Waits for its end: its exit code, and what was kept of what it said.
    pub fn end(self) -> Result<(i32, String), Unfinished> {
        self.output().map(|(code, _, diagnostics)| (code, diagnostics))
    }

    /// Waits for its end: its exit code, what was kept of its output, and of what it said.
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
        let kept = |reader: Option<JoinHandle<_>>| reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
        let (output, diagnostics) = (kept(self.output.take()), kept(self.diagnostics.take()));
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
        // Of one that ended both do nothing.
        system::kill_tree(&mut self.child);
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_killed_runs_left_is_swept_and_nothing_else() {
        let base = std::env::temp_dir().join(format!("kernelc-sweep-{}", std::process::id()));
        let outside = base.join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        let alive = Folder::make(&base).unwrap();
        assert_eq!(std::fs::metadata(&alive.path).unwrap().permissions().mode() & 0o777, 0o700);
        let left = base.join("revamp-left");
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(&outside, left.join("link")).unwrap();
        std::fs::write(outside.join("kept"), "").unwrap();
        // Not ours: without a lock, with one that is a link or no file, by another name, a link itself.
        let others = ["revamp-unlocked", "revamp-link", "revamp-folder", "other"];
        for name in others {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(outside.join("kept"), base.join("revamp-link").join(LOCK)).unwrap();
        std::fs::create_dir(base.join("revamp-folder").join(LOCK)).unwrap();
        std::fs::write(base.join("other").join(LOCK), "").unwrap();
        std::fs::write(outside.join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(&outside, base.join("revamp-linked")).unwrap();
        sweep(&base);
        assert!(!left.exists() && alive.path.exists() && outside.join("kept").exists() && outside.join(LOCK).exists());
        assert!(others.iter().all(|name| base.join(name).exists()) && base.join("revamp-linked").exists());
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
    fn bytes_that_are_not_utf8_keep_their_places() {
        assert_eq!(masked(b"// \xA9 \xC3\xA9\xC3 caf\xE9"), "// _ \u{e9}_ caf_");
    }

    #[test]
    fn files_lie_in_folders_by_whole_names() {
        let headers = Path::new("/usr/include/revamp-amp");
        assert!(lies_in("/usr/include/revamp-amp/revamp/detail/launch.h", headers));
        assert!(!lies_in("/usr/include/revamp-amp2/amp.h", headers));
        assert!(!lies_in("/home/me/revamp-amp/main.cpp", headers));
    }

    #[test]
    fn a_signal_is_told() {
        let ended = Running::quiet(Command::new("sh").args(["-c", "echo why >&2; kill -9 $$"])).unwrap().end();
        let Err(Unfinished::BySignal(diagnostics)) = ended else { panic!("{ended:?}") };
        assert!(diagnostics.contains("sh was ended by signal 9") && diagnostics.contains("why"), "{diagnostics}");
    }
}

/// How the names of a source's files begin that `REVAMP_KERNEL_DUMP` asks for.
pub fn dump_of(source: &Path) -> Option<PathBuf> {
    let folder = std::env::var_os("REVAMP_KERNEL_DUMP").filter(|folder| !folder.is_empty())?;
    Some(PathBuf::from(folder).join(source.file_stem().unwrap_or_default()))
}

/// A file whose name begins with that of the source.
pub fn beside(stem: &Path, suffix: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}
