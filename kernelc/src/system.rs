//! What differs between Unix and Windows: bytes of names, folders of one's own, locks of files, pipes.
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

/// True once the process was asked to end.
pub fn is_stopped() -> bool {
    STOPPED.load(Ordering::Relaxed)
}

/// A new folder below `base` whose name begins with `prefix`, which other users cannot look into, with a file `lock` in it that is
/// locked as long as it is open. The file has that name only once it is locked.
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

    /// A second one ends us at once: the next run removes our folder.
    extern "C" fn call(signal: libc::c_int) {
        STOPPED.store(true, Ordering::Relaxed);
        // SAFETY: a handler may call it.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }

    /// From here on, a signal that asks the process to end ends its children, and temporary files are removed.
    pub fn catch_signals() {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: the handler only stores a flag and calls signal, which handlers may.
            unsafe { libc::signal(signal, call as *const () as libc::sighandler_t) };
        }
    }

    /// The signal that ended a process.
    pub fn signal_of(status: std::process::ExitStatus) -> i32 {
        std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or_default()
    }

    /// A name from its bytes.
    pub fn name_of(bytes: &[u8]) -> OsString {
        OsStr::from_bytes(bytes).to_os_string()
    }

    pub(super) fn new_folder(base: &Path, prefix: &str) -> std::io::Result<PathBuf> {
        let template = base.join(format!("{prefix}XXXXXX")).into_os_string().into_vec();
        let mut template = CString::new(template)?.into_bytes_with_nul();
        // SAFETY: the template is a string with a zero at its end, which lives over the call; the call writes within it.
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
        locked(&file)?;
        std::fs::rename(unlocked, folder.join(lock))?;
        Ok(file)
    }

    /// Locks a file until it is closed; an error if somebody else has.
    fn locked(file: &File) -> std::io::Result<()> {
        // SAFETY: the descriptor is open as long as the file is borrowed.
        match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    /// True of a folder (no link to one) of this user.
    pub fn is_own_folder(found: &std::fs::Metadata) -> bool {
        // SAFETY: the call has no conditions.
        found.is_dir() && found.uid() == unsafe { libc::geteuid() }
    }

    /// True if `path` is a file (no link to one) that nobody has locked.
    pub fn is_unlocked(path: &Path) -> bool {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let lock = File::options().read(true).custom_flags(flags).open(path);
        lock.is_ok_and(|lock| lock.metadata().is_ok_and(|found| found.is_file()) && locked(&lock).is_ok())
    }

    /// Kills a process that nobody has waited for yet, and the processes that it started.
    pub fn kill_tree(child: &mut Child) {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        if let Ok(id) = libc::pid_t::try_from(child.id()) {
            // While it is stopped it starts no others.
            // SAFETY: the process is our child, and nobody has waited for its end: the number is still its own. All zeros are a
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

    /// Kills the processes that a stopped process started. Where the system does not list them they are left.
    fn kill_descendants(parent: libc::pid_t) {
        let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for id in list.split_whitespace().filter_map(|id| id.parse().ok()) {
                // SAFETY: the call has no conditions. The parent is stopped: it waits for no child, so the numbers stay their own.
                unsafe { libc::kill(id, libc::SIGSTOP) };
                kill_descendants(id);
                // SAFETY: as above.
                unsafe { libc::kill(id, libc::SIGKILL) };
            }
        }
    }

    /// A process that is killed if we are: it may wait for us.
    #[cfg(target_os = "linux")]
    pub fn ends_with_us(command: &mut Command) {
        let us = std::process::id();
        // SAFETY: between fork and exec it makes two system calls and allocates nothing.
        unsafe {
            command.pre_exec(move || {
                let asked = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0;
                let alive = u32::try_from(libc::getppid()).is_ok_and(|parent| parent == us);
                if asked && alive { Ok(()) } else { Err(std::io::ErrorKind::Interrupted.into()) }
            });
        }
    }

    /// What only Linux has: elsewhere it waits if we are killed before it has opened what it reads.
    #[cfg(not(target_os = "linux"))]
    pub fn ends_with_us(_: &mut Command) {}

    /// Makes a pipe that has a name, open at both ends: who reads it waits for what is written as long as the file lives. Writing
    /// never waits.
    pub fn pipe(path: &Path) -> std::io::Result<File> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the name is a string with a zero at its end, which lives over the call.
        if unsafe { libc::mkfifo(name.as_ptr(), 0o600) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)
    }

    /// How many bytes in a pipe nobody has read yet.
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

    extern "system" fn call(_: u32) -> i32 {
        STOPPED.store(true, Ordering::Relaxed);
        1
    }

    /// From here on, what asks the process to end (Ctrl+C, its console closed) ends its children, and temporary files are removed.
    pub fn catch_signals() {
        // SAFETY: the handler only stores a flag.
        unsafe { SetConsoleCtrlHandler(call, 1) };
    }

    /// Processes end with a status here.
    pub fn signal_of(_: std::process::ExitStatus) -> i32 {
        0
    }

    /// A name from its bytes, which are UTF-8.
    pub fn name_of(bytes: &[u8]) -> OsString {
        String::from_utf8_lossy(bytes).into_owned().into()
    }

    /// The folder for temporary files is the user's own here, and what is made in it inherits that.
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
        // Nobody else may open it.
        File::options().write(true).create_new(true).share_mode(0).open(folder.join(lock))
    }

    /// True of a folder, and of no link to one.
    pub fn is_own_folder(found: &std::fs::Metadata) -> bool {
        found.is_dir() && !found.is_symlink()
    }

    /// True if `path` is a file that nobody has open.
    pub fn is_unlocked(path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
            && File::options().read(true).share_mode(0).open(path).is_ok()
    }

    /// Kills a process; what it started ends with the console.
    pub fn kill_tree(child: &mut Child) {
        let _ = child.kill();
    }

    /// It waits for nobody, as there are no pipes.
    pub fn ends_with_us(_: &mut Command) {}

    /// Files are no pipes here.
    pub fn pipe(_: &Path) -> std::io::Result<File> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// As there are none.
    pub fn unread(_: &File) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}
