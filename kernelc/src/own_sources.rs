//! The texts that a program brings: the source, and what it includes from folders that its command line names.

use crate::flags::Line;
use crate::{files, system};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// A text and the path that Clang opens it by.
pub struct OwnSource {
    /// Absolute, without `.` and `..`.
    pub path: PathBuf,
    /// What is in it, in any encoding that extends ASCII.
    pub bytes: Vec<u8>,
    /// The same as text, with `_` for each byte that is not UTF-8: offsets are those of the bytes.
    pub text: String,
}

impl OwnSource {
    /// A source of these bytes.
    pub fn new(path: PathBuf, bytes: Vec<u8>) -> Self {
        let text = files::masked(&bytes);
        Self { path, bytes, text }
    }
}

/// The source, and all headers that it may include. Branches of `#if` are not told apart.
pub fn gathered(source: &Path, line: &Line) -> Vec<OwnSource> {
    let folders = |flags: &[&str]| -> Vec<PathBuf> {
        let values = line.flags.iter().filter_map(|flag| {
            let name = flag.first()?.to_string_lossy().into_owned();
            let found = flags.iter().find(|f| name.starts_with(**f))?;
            match flag.get(1) {
                Some(value) => (name == **found).then(|| PathBuf::from(value)),
                None => Some(PathBuf::from(&name[found.len()..])),
            }
        });
        values.collect()
    };
    let quoted = folders(&["-iquote"]);
    let mut all = folders(&["-I"]);
    let users = all.len();
    // Our headers are as Clang wants them.
    let ours =
        |folder: &PathBuf| folder.join("revamp/detail/restrict.h").is_file() || folder.join("revamp.h").is_file();
    all.extend(folders(&["-isystem", "-idirafter"]).into_iter().filter(|folder| !ours(folder)));
    let mut made: Vec<OwnSource> = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![(plain(source), true)];
    waiting.extend(folders(&["-include"]).iter().map(|file| (plain(file), true)));
    while let Some((path, is_users)) = waiting.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        // Clang reports a file that cannot be read, and UTF-16.
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let own = path.parent().map(Path::to_path_buf).unwrap_or_default();
        for Include { name, in_quotes, next } in includes(&bytes) {
            let near = in_quotes.then_some(&own).into_iter().chain(quoted.iter().filter(|_| in_quotes));
            let near = near.map(|folder| (folder, is_users));
            let far = all.iter().enumerate().map(|(n, folder)| (folder, n < users));
            let all = near.chain(far).map(|(folder, is_users)| (folder.join(&name), is_users));
            // Which folder `#include_next` continues from depends on how this file was found: any may be meant.
            let most = if next { usize::MAX } else { 1 };
            let files = all.filter(|(file, _)| file.is_file()).take(most);
            waiting.extend(files.map(|(file, is_users)| (plain(&file), is_users)));
        }
        let source = OwnSource::new(path, bytes);
        // Of libraries those of C++ AMP.
        if is_users || ["restrict", "__GPU", "tile_static"].iter().any(|word| source.text.contains(word)) {
            made.push(source);
        }
    }
    made
}

/// As Clang's overlay looks for it: absolute, without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut made = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => {
                made.pop();
            }
            Component::CurDir => {}
            other => made.push(other),
        }
    }
    made
}

/// What a line includes.
pub struct Include {
    /// As it is written.
    pub name: PathBuf,
    /// The name stands in quotes.
    in_quotes: bool,
    /// It is `#include_next`.
    next: bool,
}

/// What a source includes.
pub fn includes(source: &[u8]) -> Vec<Include> {
    source.split(|&byte| byte == b'\n').filter_map(include).collect()
}

fn include(line: &[u8]) -> Option<Include> {
    let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
    let words: [&[u8]; 3] = [b"include_next", b"include", b"import"];
    let (word, rest) = words.into_iter().find_map(|word| Some((word, rest.strip_prefix(word)?.trim_ascii_start())))?;
    let (end, in_quotes) = match rest.first()? {
        b'"' => (b'"', true),
        b'<' => (b'>', false),
        _ => return None,
    };
    let name = rest[1..].split(|&byte| byte == end).next()?;
    Some(Include { name: system::name_of(name).into(), in_quotes, next: word == b"include_next" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_include_is_found() {
        let source = b"#include \"caf\xE9.h\" // \xA9\r\n  #  include_next<a/b.h>\n#import \"c.h\"\n// #include <d>\n#include X\n";
        let found = includes(source);
        let shown: Vec<_> = found.iter().map(|i| (i.name.as_os_str().len(), i.in_quotes, i.next)).collect();
        let bytes = if cfg!(unix) { 6 } else { 8 };
        assert_eq!(shown, [(bytes, true, false), (5, false, true), (3, true, false)]);
    }
}
