//! The texts that a program brings: the source, and what it includes from folders that its command line names.

use crate::flags::Line;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

/// A text and the path that Clang opens it by.
pub struct OwnSource {
    /// Absolute, without `.` and `..`.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
}

/// More than this many are somebody's library: restrictions are looked for in the first ones alone.
const MOST: usize = 2000;

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
        if seen.len() > MOST || !seen.insert(path.clone()) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let own = path.parent().map(Path::to_path_buf).unwrap_or_default();
        for (name, in_quotes) in includes(&text) {
            let near = in_quotes.then_some(&own).into_iter().chain(quoted.iter().filter(|_| in_quotes));
            let near = near.map(|folder| (folder, is_users));
            let far = all.iter().enumerate().map(|(n, folder)| (folder, n < users));
            let mut files = near.chain(far).map(|(folder, is_users)| (folder.join(&name), is_users));
            waiting.extend(files.find(|(file, _)| file.is_file()).map(|(file, is_users)| (plain(&file), is_users)));
        }
        // Of libraries those of C++ AMP.
        if is_users || ["restrict", "__GPU", "tile_static"].iter().any(|word| text.contains(word)) {
            made.push(OwnSource { path, text });
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

/// What a text includes, and whether it stands in quotes.
pub fn includes(text: &str) -> Vec<(String, bool)> {
    let named = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        let (end, in_quotes) = match rest.chars().next()? {
            '"' => ('"', true),
            '<' => ('>', false),
            _ => return None,
        };
        Some((rest[1..].split(end).next()?.to_owned(), in_quotes))
    });
    named.collect()
}
