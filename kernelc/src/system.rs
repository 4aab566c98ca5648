//! The differences between Unix and Windows: bytes of file names, private folders, file locks, pipes.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

static STOPPED: AtomicBool = AtomicBool::new(false);

/// True once a signal has asked the process to end.
pub fn is_stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// Makes a folder below `base` whose name begins with `prefix` and which other users cannot open. The folder holds a file
/// named `lock`, which is locked as long as it is open. The file gets its name only after it is locked.
pub fn locked_folder(base: &Path, prefix: &str, lock: &str) -> std::io::Result<(PathBuf, File)> {
    let path = new_folder(base, prefix)?;
    match lock_in(&path, lock) {
        Ok(file) => Ok((path, file)),
        Err(e) => {
            let _ = std::fs::remove_dir_all(&path);
            Err(e)
        }
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::ffi::{CString, OsStr};
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    #[cfg(target_os = "linux")]
    use std::os::unix::process::CommandExt;

    /// Handles a signal. A second signal ends this process at once; the next run then removes the folder of this process.
    extern "C" fn handle_signal(signal: libc::c_int) {
        STOPPED.store(true, Ordering::Relaxed);
        // SAFETY: a handler may call `signal`.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }

    /// From now on, a signal that asks this process to end also ends its children, and temporary files are removed.
    pub fn catch_signals() {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: the handler only stores a flag and calls signal, which handlers may.
            unsafe { libc::signal(signal, handle_signal as *const () as libc::sighandler_t) };
        }
    }

    /// The signal that ended a process.
    pub fn signal_of(status: std::process::ExitStatus) -> i32 {
        std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or_default()
    }

    /// A name from its bytes.
    pub fn os_string(bytes: &[u8]) -> OsString {
        OsStr::from_bytes(bytes).to_os_string()
    }

    pub(super) fn new_folder(base: &Path, prefix: &str) -> std::io::Result<PathBuf> {
        let template = base.join(format!("{prefix}XXXXXX")).into_os_string().into_vec();
        let mut template = CString::new(template)?.into_bytes_with_nul();
        // SAFETY: the template is a NUL-terminated string that outlives the call; the call writes within it.
        let made = unsafe { libc::mkdtemp(template.as_mut_ptr().cast()) };
        if made.is_null() {
            return Err(std::io::Error::last_os_error());
        }
        template.pop();
        Ok(PathBuf::from(OsString::from_vec(template)))
    }

    pub(super) fn lock_in(folder: &Path, lock: &str) -> std::io::Result<File> {
        let unlocked = folder.join("unlocked");
        let file = File::create_new(&unlocked)?;
        lock_file(&file)?;
        std::fs::rename(unlocked, folder.join(lock))?;
        Ok(file)
    }

    /// Locks a file until it is closed. Fails if another process holds the lock.
    fn lock_file(file: &File) -> std::io::Result<()> {
        // SAFETY: the descriptor is open as long as the file is borrowed.
        match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    /// True for a folder of this user, but not for a link to one.
    pub fn is_users_folder(attributes: &std::fs::Metadata) -> bool {
        // SAFETY: the call has no preconditions.
        attributes.is_dir() && attributes.uid() == unsafe { libc::geteuid() }
    }

    /// True if `path` is a file, but not a link to one, and nobody has locked it.
    pub fn is_unlocked(path: &Path) -> bool {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let lock = File::options().read(true).custom_flags(flags).open(path);
        lock.is_ok_and(|lock| lock.metadata().is_ok_and(|attributes| attributes.is_file()) && lock_file(&lock).is_ok())
    }

    /// Kills a process that nobody has waited for yet, and the processes that it started.
    pub fn kill_tree(child: &mut Child) {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        if let Ok(id) = libc::pid_t::try_from(child.id()) {
            // A stopped process starts no other processes.
            // SAFETY: the process is our child, and nobody has waited for its end, so the id still belongs to it. All zeros are a
            // valid siginfo_t, which the call writes.
            unsafe {
                let mut info: libc::siginfo_t = std::mem::zeroed();
                libc::kill(id, libc::SIGSTOP);
                libc::waitid(libc::P_PID, child.id(), &raw mut info, libc::WSTOPPED | libc::WEXITED | libc::WNOWAIT);
            }
            kill_descendants(id);
        }
        let _ = child.kill();
    }

    /// Kills the processes that a stopped process started. On systems that do not list these processes, they keep running.
    fn kill_descendants(parent: libc::pid_t) {
        let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for id in list.split_whitespace().filter_map(|id| id.parse().ok()) {
                // SAFETY: the call has no preconditions. The stopped parent waits for no child, so the ids still belong
                // to its children.
                unsafe { libc::kill(id, libc::SIGSTOP) };
                kill_descendants(id);
                // SAFETY: as above.
                unsafe { libc::kill(id, libc::SIGKILL) };
            }
        }
    }

    /// Makes Linux kill a child process if this process is killed: the child may be waiting for this process.
    #[cfg(target_os = "linux")]
    pub fn end_with_parent(command: &mut Command) {
        let own_id = std::process::id();
        // SAFETY: between fork and exec, the closure makes two system calls and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                let death_signal_set = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0;
                let parent_is_alive = u32::try_from(libc::getppid()).is_ok_and(|parent| parent == own_id);
                if death_signal_set && parent_is_alive { Ok(()) } else { Err(std::io::ErrorKind::Interrupted.into()) }
            });
        }
    }

    /// Only Linux can do this. Elsewhere, a child waits forever if this process is killed before the child has opened its input.
    #[cfg(not(target_os = "linux"))]
    pub fn end_with_parent(_: &mut Command) {}

    /// Makes a named pipe that is open at both ends: a reader waits for more data as long as the file is open. Writing never waits.
    pub fn pipe(path: &Path) -> std::io::Result<File> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the name is a NUL-terminated string that outlives the call.
        if unsafe { libc::mkfifo(name.as_ptr(), 0o600) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)
    }

    /// The number of bytes in a pipe that nobody has read yet.
    pub fn unread(pipe: &File) -> std::io::Result<usize> {
        let mut bytes: libc::c_int = 0;
        // SAFETY: the descriptor is open as long as the file lives, and the call writes one number.
        match unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut bytes) } {
            0 => Ok(usize::try_from(bytes).unwrap_or(0)),
            _ => Err(std::io::Error::last_os_error()),
        }
    }
}

#[cfg(windows)]
mod windows {
    use super::*;
    use std::hash::{BuildHasher, Hasher, RandomState};
    use std::os::windows::fs::OpenOptionsExt;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn SetConsoleCtrlHandler(handler: extern "system" fn(u32) -> i32, add: i32) -> i32;
    }

    extern "system" fn handle_signal(_: u32) -> i32 {
        STOPPED.store(true, Ordering::Relaxed);
        1
    }

    /// From now on, a request to end this process (Ctrl+C, a closed console) also ends its children, and temporary files are removed.
    pub fn catch_signals() {
        // SAFETY: the handler only stores a flag.
        unsafe { SetConsoleCtrlHandler(handle_signal, 1) };
    }

    /// On Windows, a process ends with a status, never by a signal.
    pub fn signal_of(_: std::process::ExitStatus) -> i32 {
        0
    }

    /// A name from its bytes, which are UTF-8.
    pub fn os_string(bytes: &[u8]) -> OsString {
        String::from_utf8_lossy(bytes).into_owned().into()
    }

    /// On Windows, the folder for temporary files belongs to the user, and new folders inherit its permissions.
    pub(super) fn new_folder(base: &Path, prefix: &str) -> std::io::Result<PathBuf> {
        loop {
            let number = RandomState::new().build_hasher().finish();
            let path = base.join(format!("{prefix}{number:016x}"));
            match std::fs::create_dir(&path) {
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                other => return other.map(|()| path),
            }
        }
    }

    pub(super) fn lock_in(folder: &Path, lock: &str) -> std::io::Result<File> {
        // No other process may open the file.
        File::options().write(true).create_new(true).share_mode(0).open(folder.join(lock))
    }

    /// True for a folder, but not for a link to one.
    pub fn is_users_folder(attributes: &std::fs::Metadata) -> bool {
        attributes.is_dir() && !attributes.is_symlink()
    }

    /// True if `path` is a file that nobody has open.
    pub fn is_unlocked(path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|attributes| attributes.is_file())
            && File::options().read(true).share_mode(0).open(path).is_ok()
    }

    /// Kills a process. Its children end with the console.
    pub fn kill_tree(child: &mut Child) {
        let _ = child.kill();
    }

    /// Does nothing: no child waits for this process, because there are no pipes.
    pub fn end_with_parent(_: &mut Command) {}

    /// Fails: Windows has no pipes that are files.
    pub fn pipe(_: &Path) -> std::io::Result<File> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Fails: there are no pipes.
    pub fn unread(_: &File) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
