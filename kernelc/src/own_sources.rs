//! The texts that a program brings: the source, and what it includes from folders that are not the system's.

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
    let (quoted, all) = (folders(&["-iquote"]), folders(&["-I"]));
    let mut made: Vec<OwnSource> = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![plain(source)];
    waiting.extend(folders(&["-include"]).iter().map(|file| plain(file)));
    while let Some(path) = waiting.pop() {
        if made.len() == MOST || !seen.insert(path.clone()) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let own = path.parent().map(Path::to_path_buf).unwrap_or_default();
        for (name, in_quotes) in includes(&text) {
            let near = in_quotes.then_some(&own).into_iter().chain(quoted.iter().filter(|_| in_quotes));
            let found = near.chain(&all).map(|folder| folder.join(&name)).find(|file| file.is_file());
            waiting.extend(found.map(|file| plain(&file)));
        }
        made.push(OwnSource { path, text });
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
fn includes(text: &str) -> Vec<(String, bool)> {
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
