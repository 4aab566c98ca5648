//! Files that only this user or root can have written: the library passes their contents to drivers, which trust them.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many names for a temporary file are tried.
const NAMES: u32 = 1000;

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The system refused it.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// Someone else could have written it.
    #[error("{0}")]
    Distrusted(String),
    /// It is longer than it may be.
    #[error("larger than {} MiB", .0 >> 20)]
    TooBig(u64),
}

/// The contents of `folder`/`name`. Never blocks, whatever kind of file it is.
pub fn read(folder: &Path, name: &str, limit: u64) -> Result<Vec<u8>, Refused> {
    check_folder(folder)?;
    let path = folder.join(name);
    let mut options = OpenOptions::new();
    options.read(true);
    no_waiting_no_links(&mut options);
    let file = match options.open(&path) {
        Err(_) if path.is_symlink() => {
            return Err(Refused::Distrusted(format!("{} is a symbolic link", path.display())));
        }
        opened => opened?,
    };
    // Asked of the open file, since the name may come to mean another one.
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(Refused::Distrusted(format!("{} is not a regular file", path.display())));
    }
    check_owner(&path, &about)?;
    check_writers(&path, &about)?;
    if about.len() > limit {
        return Err(Refused::TooBig(limit));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    // It has grown meanwhile.
    if bytes.len() as u64 > limit { Err(Refused::TooBig(limit)) } else { Ok(bytes) }
}

/// Writes `folder`/`name`, and makes the folder if it is missing. Readers and other writers see the old file or the new one,
/// never a part.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Refused> {
    make_folder(folder)?;
    check_folder(folder)?;
    let path = folder.join(name);
    let (temporary, mut file) = temporary(&path)?;
    let written = file.write_all(bytes).and_then(|()| std::fs::rename(&temporary, &path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    Ok(written?)
}

/// A new file in the same folder, since a rename cannot leave the file system. A name may still be taken by a killed process
/// that had the same id.
fn temporary(path: &Path) -> Result<(PathBuf, File), Refused> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    no_waiting_no_links(&mut options);
    private_file(&mut options);
    for _ in 0..NAMES {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_extension(format!("{}-{n}.tmp", std::process::id()));
        match options.open(&temporary) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            opened => return Ok((temporary, opened?)),
        }
    }
    Err(std::io::Error::from(std::io::ErrorKind::AlreadyExists).into())
}

/// Makes a missing folder, for this user alone.
fn make_folder(folder: &Path) -> Result<(), Refused> {
    if folder.exists() {
        return Ok(());
    }
    // In another user's home folder (as sudo leaves it) the owner could not use what is made there now.
    if let Some((above, about)) = folder.ancestors().find_map(|a| Some((a, std::fs::metadata(a).ok()?))) {
        check_owner(above, &about)?;
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    private_folder(&mut builder);
    Ok(builder.create(folder)?)
}

/// Fails if another user could replace the file in this folder.
fn check_folder(folder: &Path) -> Result<(), Refused> {
    // A link may belong to another user even if its target does not.
    check_owner(folder, &std::fs::symlink_metadata(folder)?)?;
    let about = std::fs::metadata(folder)?;
    check_owner(folder, &about)?;
    if is_sticky(&about) { Ok(()) } else { check_writers(folder, &about) }
}

#[cfg(unix)]
mod system {
    use super::*;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};

    pub fn no_waiting_no_links(options: &mut OpenOptions) {
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW);
    }

    pub fn private_file(options: &mut OpenOptions) {
        options.mode(0o600);
    }

    pub fn private_folder(builder: &mut DirBuilder) {
        builder.mode(0o700);
    }

    /// True if users may delete or rename only what is theirs.
    pub fn is_sticky(about: &Metadata) -> bool {
        about.mode() & 0o1000 != 0
    }

    /// Fails unless it belongs to this user or to root, who may do anything anyway.
    pub fn check_owner(path: &Path, about: &Metadata) -> Result<(), Refused> {
        let (owner, user) = (about.uid(), crate::privilege::effective_user());
        if owner == user || owner == 0 {
            return Ok(());
        }
        Err(Refused::Distrusted(format!("{} belongs to user {owner}, this process runs as {user}", path.display())))
    }

    pub fn check_writers(path: &Path, about: &Metadata) -> Result<(), Refused> {
        if about.mode() & 0o022 == 0 {
            return Ok(());
        }
        let (path, mode) = (path.display(), about.mode() & 0o7777);
        Err(Refused::Distrusted(format!("other users may write {path} (mode {mode:o}); run chmod go-w on it")))
    }
}

/// Elsewhere a user's folders are the user's own by their lists of rights.
#[cfg(not(unix))]
mod system {
    use super::*;

    pub fn no_waiting_no_links(_: &mut OpenOptions) {}

    pub fn private_file(_: &mut OpenOptions) {}

    pub fn private_folder(_: &mut DirBuilder) {}

    pub fn is_sticky(_: &Metadata) -> bool {
        false
    }

    pub fn check_owner(_: &Path, _: &Metadata) -> Result<(), Refused> {
        Ok(())
    }

    pub fn check_writers(_: &Path, _: &Metadata) -> Result<(), Refused> {
        Ok(())
    }
}

use system::*;

#[cfg(unix)]
#[cfg(test)]
#[path = "trusted_tests.rs"]
mod tests;
