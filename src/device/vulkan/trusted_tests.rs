//! Tests with files that another user may have planted, and tests of the files that the library writes.

use super::*;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

/// A user that is neither this one nor root.
const STRANGER: u32 = 65534;
const LIMIT: u64 = 1 << 20;

/// A folder of this user with one file.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("revamp-trusted-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        let folder = Self(path);
        write(&folder.0, "f", b"ours").unwrap();
        folder
    }
    fn file(&self) -> PathBuf {
        self.0.join("f")
    }
    fn read(&self) -> Result<Vec<u8>, Refused> {
        read(&self.0, "f", LIMIT)
    }
    /// Checks that the file is rejected as distrusted, with a message that contains `text`.
    fn is_distrusted(&self, text: &str) {
        match self.read() {
            Err(Refused::Distrusted(why)) => assert!(why.contains(text), "{why}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().mode() & 0o7777
}

fn is_root() -> bool {
    crate::privilege::effective_user() == 0
}

#[test]
fn written_files_are_private_to_the_user() {
    let folder = Folder::new("private");
    let deep = folder.0.join("a/b");
    write(&deep, "f", b"x").unwrap();
    for path in [&folder.0, &folder.0.join("a"), &deep] {
        assert_eq!(mode(path), 0o700, "{}", path.display());
    }
    assert_eq!(mode(&deep.join("f")), 0o600);
    assert_eq!(read(&deep, "f", LIMIT).unwrap(), b"x");
}

#[test]
fn a_fifo_does_not_hang_the_reader() {
    let folder = Folder::new("fifo");
    std::fs::remove_file(folder.file()).unwrap();
    assert!(Command::new("mkfifo").arg(folder.file()).status().unwrap().success());
    // A reader that blocks here would block for ever, so another thread reads and reports when it is done.
    let (done, finished) = std::sync::mpsc::channel();
    std::thread::scope(|s| {
        s.spawn(|| {
            folder.is_distrusted("not a regular file");
            done.send(()).unwrap();
        });
        if finished.recv_timeout(Duration::from_secs(60)).is_err() {
            // Unblocks the reader, so that the test ends.
            drop(OpenOptions::new().write(true).open(folder.file()));
            panic!("the reader waits for a writer");
        }
    });
    // `write` replaces the FIFO by a file.
    write(&folder.0, "f", b"new").unwrap();
    assert_eq!(folder.read().unwrap(), b"new");
}

#[test]
fn only_regular_files_are_read() {
    let folder = Folder::new("kinds");
    std::fs::remove_file(folder.file()).unwrap();
    std::fs::create_dir(folder.file()).unwrap();
    folder.is_distrusted("not a regular file");
    std::fs::remove_dir(folder.file()).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(folder.file()).unwrap();
    assert!(matches!(folder.read(), Err(Refused::System(_))));
    drop(socket);
    std::fs::remove_file(folder.file()).unwrap();
    std::fs::write(folder.0.join("target"), b"theirs").unwrap();
    symlink("target", folder.file()).unwrap();
    folder.is_distrusted("symbolic link");
    std::fs::remove_file(folder.file()).unwrap();
    symlink("/dev/zero", folder.file()).unwrap();
    folder.is_distrusted("symbolic link");
    // The link is replaced, not followed.
    write(&folder.0, "f", b"ours").unwrap();
    assert!(!folder.file().is_symlink());
    assert_eq!(folder.read().unwrap(), b"ours");
}

#[test]
fn files_that_other_users_may_write_are_refused() {
    let folder = Folder::new("modes");
    for mode in [0o620, 0o602, 0o666, 0o777] {
        set_mode(&folder.file(), mode);
        folder.is_distrusted("other users may write");
    }
    for mode in [0o600, 0o644, 0o400, 0o755] {
        set_mode(&folder.file(), mode);
        assert_eq!(folder.read().unwrap(), b"ours", "{mode:o}");
    }
    for mode in [0o720, 0o702, 0o777] {
        set_mode(&folder.0, mode);
        folder.is_distrusted("chmod go-w");
        assert!(matches!(write(&folder.0, "f", b"new"), Err(Refused::Distrusted(_))), "{mode:o}");
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "nothing is left behind");
    }
    // Mode 1777 is that of /tmp, where users can delete only their own files.
    for mode in [0o700, 0o755, 0o1777] {
        set_mode(&folder.0, mode);
        assert_eq!(folder.read().unwrap(), b"ours", "{mode:o}");
        write(&folder.0, "f", b"ours").unwrap();
    }
}

#[test]
fn files_of_another_user_are_refused() {
    if !is_root() {
        println!("skipped: only root can give files away");
        return;
    }
    let folder = Folder::new("owners");
    chown(folder.file(), Some(STRANGER), None).unwrap();
    folder.is_distrusted("belongs to user 65534");
    // `write` replaces the file by one of this user.
    write(&folder.0, "f", b"ours").unwrap();
    assert_eq!(folder.read().unwrap(), b"ours");
    chown(&folder.0, Some(STRANGER), None).unwrap();
    folder.is_distrusted("belongs to user 65534");
    assert!(matches!(write(&folder.0, "f", b"x"), Err(Refused::Distrusted(_))));
    // Nothing is created in another user's folder, because its owner could not use it.
    assert!(matches!(write(&folder.0.join("a/b"), "f", b"x"), Err(Refused::Distrusted(_))));
    assert!(!folder.0.join("a").exists());
    // A link of another user is rejected, even if its target belongs to this user.
    let links = Folder::new("links");
    let link = links.0.join("link");
    let target_folder = Folder::new("led-to");
    symlink(&target_folder.0, &link).unwrap();
    assert_eq!(read(&link, "f", LIMIT).unwrap(), b"ours");
    std::os::unix::fs::lchown(&link, Some(STRANGER), None).unwrap();
    assert!(matches!(read(&link, "f", LIMIT), Err(Refused::Distrusted(_))));
}

#[test]
fn a_file_over_the_limit_is_refused() {
    let folder = Folder::new("big");
    let file = OpenOptions::new().write(true).open(folder.file()).unwrap();
    file.set_len(1 << 42).unwrap();
    assert!(matches!(folder.read(), Err(Refused::TooBig(LIMIT))));
    file.set_len(LIMIT).unwrap();
    assert_eq!(folder.read().unwrap().len() as u64, LIMIT);
}

/// Runs this test again as another user. That process trusts files of root, but not files of a third user.
#[test]
fn as_another_user() {
    const FOLDER: &str = "REVAMP_TEST_TRUSTED_FOLDER";
    if let Some(folder) = std::env::var_os(FOLDER) {
        let folder = PathBuf::from(folder);
        assert_eq!(crate::privilege::effective_user(), STRANGER);
        assert_eq!(read(&folder.join("of-root"), "f", LIMIT).unwrap(), b"ours");
        assert!(matches!(write(&folder.join("of-root"), "f", b"x"), Err(Refused::System(_))));
        for theirs in ["of-a-third", "with-a-third"] {
            let read = read(&folder.join(theirs), "f", LIMIT);
            assert!(matches!(&read, Err(Refused::Distrusted(why)) if why.contains("user 65533")), "{theirs}: {read:?}");
        }
        write(&folder.join("shared/own"), "f", b"mine").unwrap();
        assert_eq!(read(&folder.join("shared/own"), "f", LIMIT).unwrap(), b"mine");
        return;
    }
    if !is_root() {
        println!("skipped: only root can become another user");
        return;
    }
    let folder = Folder::new("user");
    set_mode(&folder.0, 0o755);
    for name in ["of-root", "of-a-third", "with-a-third", "shared"] {
        let inner = folder.0.join(name);
        write(&inner, "f", b"ours").unwrap();
        set_mode(&inner, 0o755);
        set_mode(&inner.join("f"), 0o644);
    }
    set_mode(&folder.0.join("shared"), 0o1777);
    chown(folder.0.join("of-a-third"), Some(65533), None).unwrap();
    chown(folder.0.join("with-a-third/f"), Some(65533), None).unwrap();
    // A copy of this test program, which the other user can execute.
    let program = folder.0.join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    set_mode(&program, 0o755);
    let (_, tests) = module_path!().split_once("::").unwrap();
    let outcome = Command::new(&program)
        .args(["--exact", &format!("{tests}::as_another_user")])
        .env(FOLDER, &folder.0)
        .uid(STRANGER)
        .gid(STRANGER)
        .current_dir("/")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&outcome.stdout).into_owned() + &String::from_utf8_lossy(&outcome.stderr);
    assert!(outcome.status.success() && said.contains("1 passed"), "{said}");
}
