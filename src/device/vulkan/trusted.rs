//! Reads and writes files that only this user or root can have written. The library passes their contents to drivers, which do not
//! check them.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of names that are tried for a temporary file.
const NAMES: u32 = 1000;

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The operating system returned an error.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// Another user could have written the file.
    #[error("{0}")]
    Distrusted(String),
    /// The file is longer than the limit.
    #[error("larger than {} MiB", .0 >> 20)]
    TooBig(u64),
}

/// The contents of `folder`/`name`. Never blocks, not even for a FIFO.
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
    // Checks the open file, because the path may be replaced by another file meanwhile.
    let attributes = file.metadata()?;
    if !attributes.is_file() {
        return Err(Refused::Distrusted(format!("{} is not a regular file", path.display())));
    }
    check_owner(&path, &attributes)?;
    check_writers(&path, &attributes)?;
    if attributes.len() > limit {
        return Err(Refused::TooBig(limit));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    // The file may have grown meanwhile.
    if bytes.len() as u64 > limit { Err(Refused::TooBig(limit)) } else { Ok(bytes) }
}

/// Writes `folder`/`name`. Creates the folder if it is missing. The file is replaced atomically: other processes see the old file or
/// the new one, never a part.
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

/// A new temporary file in the same folder, because a rename cannot cross file systems. A killed process with the same id may have
/// left a file with the first name, so several names are tried.
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

/// Creates the folder if it is missing, with access for this user only.
fn make_folder(folder: &Path) -> Result<(), Refused> {
    if folder.exists() {
        return Ok(());
    }
    // Creates nothing in another user's home folder (as under sudo), because that user could not use the new folder.
    if let Some((above, attributes)) = folder.ancestors().find_map(|a| Some((a, std::fs::metadata(a).ok()?))) {
        check_owner(above, &attributes)?;
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
    let attributes = std::fs::metadata(folder)?;
    check_owner(folder, &attributes)?;
    if is_sticky(&attributes) { Ok(()) } else { check_writers(folder, &attributes) }
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

    /// True if users may delete or rename only their own files in the folder.
    pub fn is_sticky(attributes: &Metadata) -> bool {
        attributes.mode() & 0o1000 != 0
    }

    /// Fails unless the file belongs to this user or to root. Root can change any file anyway.
    pub fn check_owner(path: &Path, attributes: &Metadata) -> Result<(), Refused> {
        let (owner, user) = (attributes.uid(), crate::privilege::effective_user());
        if owner == user || owner == 0 {
            return Ok(());
        }
        Err(Refused::Distrusted(format!(
            "{} belongs to user {owner}, but this process runs as user {user}",
            path.display()
        )))
    }

    /// Fails if other users may write the file or folder.
    pub fn check_writers(path: &Path, attributes: &Metadata) -> Result<(), Refused> {
        if attributes.mode() & 0o022 == 0 {
            return Ok(());
        }
        let (path, mode) = (path.display(), attributes.mode() & 0o7777);
        Err(Refused::Distrusted(format!("other users may write {path} (mode {mode:o}); run chmod go-w on it")))
    }
}

/// On other systems, access control lists protect a user's folders.
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
