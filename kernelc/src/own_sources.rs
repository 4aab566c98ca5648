//! Finds the files of the program: the source file, and the headers that it includes from the folders on the command line.

use crate::flags::Line;
use crate::{files, system};
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// A file's contents and the path by which Clang opens the file.
pub struct OwnSource {
    /// Absolute, without `.` and `..`.
    pub path: PathBuf,
    /// The contents, in any encoding that extends ASCII.
    pub bytes: Vec<u8>,
    /// The contents as text, with `_` for each byte that is not valid UTF-8, so that offsets are those of the bytes.
    pub text: String,
}

impl OwnSource {
    /// A source of these bytes.
    pub fn new(path: PathBuf, bytes: Vec<u8>) -> Self {
        let text = files::masked(&bytes);
        Self { path, bytes, text }
    }
}

/// The source and all headers that it may include, even those whose `#include` is excluded by an `#if`.
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
    let user_folder_count = all.len();
    // The folders of revamp's headers are skipped: these headers need no rewriting.
    let is_revamp_folder =
        |folder: &PathBuf| folder.join("revamp/detail/restrict.h").is_file() || folder.join("revamp.h").is_file();
    all.extend(folders(&["-isystem", "-idirafter"]).into_iter().filter(|folder| !is_revamp_folder(folder)));
    let mut made: Vec<OwnSource> = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![(absolute_path(source), true)];
    waiting.extend(folders(&["-include"]).iter().map(|file| (absolute_path(file), true)));
    while let Some((path, is_users)) = waiting.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        // Clang itself reports files that it cannot read and files in UTF-16.
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let folder_of_file = path.parent().map(Path::to_path_buf).unwrap_or_default();
        for Include { name, in_quotes, next } in includes(&bytes) {
            let in_quote_folders =
                in_quotes.then_some(&folder_of_file).into_iter().chain(quoted.iter().filter(|_| in_quotes));
            let in_quote_folders = in_quote_folders.map(|folder| (folder, is_users));
            let in_other_folders = all.iter().enumerate().map(|(n, folder)| (folder, n < user_folder_count));
            let all = in_quote_folders.chain(in_other_folders).map(|(folder, is_users)| (folder.join(&name), is_users));
            // The folder from which `#include_next` continues depends on how this file was found, so all folders are searched.
            let max_files = if next { usize::MAX } else { 1 };
            let files = all.filter(|(file, _)| file.is_file()).take(max_files);
            waiting.extend(files.map(|(file, is_users)| (absolute_path(&file), is_users)));
        }
        let source = OwnSource::new(path, bytes);
        // A system header is returned only if it has C++ AMP code.
        if is_users || ["restrict", "__GPU", "tile_static"].iter().any(|word| source.text.contains(word)) {
            made.push(source);
        }
    }
    made
}

/// The path by which Clang's overlay finds a file: absolute, without `.` and `..`.
fn absolute_path(path: &Path) -> PathBuf {
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

/// An include directive.
pub struct Include {
    /// The name as written.
    pub name: PathBuf,
    /// True if the name is in quotes.
    in_quotes: bool,
    /// True for `#include_next`.
    next: bool,
}

/// The include directives of a source.
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
    Some(Include { name: system::os_string(name).into(), in_quotes, next: word == b"include_next" })
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
