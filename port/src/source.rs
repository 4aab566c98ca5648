//! A source with the headers of its own, without the lines that do not count here.

use crate::conditions::Conditions;
use crate::lex::{Token, lex, parts};
use crate::names::Names;
use crate::syntax::Code;
use crate::table::rows;
use crate::text::{Encoding, decode};
use revamp_source::wide_formats;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// What the options say of all sources.
#[derive(Clone, Default)]
pub struct Settings {
    /// Macros: defined or not, and as the option has them.
    pub macros: Vec<(bool, String)>,
    /// Folders of headers.
    pub folders: Vec<PathBuf>,
    /// Headers that the compiler's options include first.
    pub forced: Vec<PathBuf>,
}

impl Settings {
    /// What holds for a file, which does not include itself.
    pub fn of(&self, file: &Path) -> Self {
        let own = file.canonicalize().ok();
        let mut settings = self.clone();
        settings.forced.retain(|header| own.is_none() || header.canonicalize().ok() != own);
        settings
    }
}

/// A header of the program's own.
pub struct Header {
    /// As it is included, in lower case.
    pub name: String,
    /// The name that the folder has for it.
    pub spelled: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Its text.
    text: String,
    /// What counts of it.
    pub tokens: Vec<Token>,
}

/// A source.
pub struct Source {
    /// Its text.
    pub text: String,
    /// How it is stored.
    pub encoding: Encoding,
    /// What counts of it.
    pub tokens: Vec<Token>,
    /// Its own headers, and theirs.
    pub headers: Vec<Header>,
    /// All that they include.
    pub included: BTreeSet<String>,
    /// What they declare.
    pub names: Names,
    codes: OnceCell<Vec<Code>>,
    /// They include headers of Windows.
    pub has_windows: bool,
    /// They include headers that are neither found nor known.
    pub has_unknown_headers: bool,
}

impl Source {
    /// Reads a source; `folder`: where it lies.
    pub fn read(bytes: &[u8], folder: Option<&Path>, settings: &Settings) -> Self {
        let (text, encoding) = decode(bytes);
        let mut reader = Reader {
            conditions: Conditions::new(&settings.macros),
            folders: &settings.folders,
            headers: Vec::new(),
            seen: HashSet::new(),
        };
        for header in &settings.forced {
            let name = header.to_string_lossy();
            reader.read(format!("\"{}\"", name.to_lowercase()), name.to_string(), header.clone());
        }
        let tokens = reader.counting(lex(&text), folder);
        let headers = reader.headers;
        let mut names = Names::default();
        headers.iter().for_each(|header| names.learn(&header.tokens));
        names.learn(&tokens);
        let all = tokens.iter().chain(headers.iter().flat_map(|header| &header.tokens));
        let included: BTreeSet<String> = all.filter(|t| t.header).map(|t| t.text.clone()).collect();
        let is_found = |name: &String| headers.iter().any(|header| header.name == *name);
        let has_windows = included.iter().any(|name| is_of_windows(name) && name.starts_with('<'));
        let has_unknown_headers =
            included.iter().any(|name| !is_found(name) && !is_of_windows(name) && !is_standard(name));
        Self {
            text,
            encoding,
            tokens,
            headers,
            included,
            names,
            codes: OnceCell::new(),
            has_windows,
            has_unknown_headers,
        }
    }

    /// The functions and macros that pass a wide format on.
    pub fn of_wide_formats(&self) -> Vec<String> {
        let texts = self.headers.iter().rev().map(|header| &header.text).chain([&self.text]);
        texts.fold(Vec::new(), |names, text| wide_formats::declared(text, names))
    }

    /// The structure of each of its headers.
    pub fn codes_of_headers(&self) -> &[Code] {
        self.codes.get_or_init(|| self.headers.iter().map(|header| Code::read(&header.tokens)).collect())
    }

    /// Adds what a source that includes this one knows.
    pub fn included_by(&mut self, other: &Self) {
        self.included.extend(other.included.iter().cloned());
        self.names.extend(&other.names);
        self.has_windows |= other.has_windows;
        self.has_unknown_headers |= other.has_unknown_headers;
    }
}

/// The table has the header.
fn is_of_windows(name: &str) -> bool {
    rows().iter().any(|row| row.pattern.len() == 3 && row.pattern[1] == "include" && row.fits(2, name))
}

/// Headers of C, and those of POSIX that Windows has too, whose names end in `.h`.
const OF_C: [&str; 28] = [
    "assert",
    "complex",
    "ctype",
    "errno",
    "fenv",
    "float",
    "inttypes",
    "iso646",
    "limits",
    "locale",
    "math",
    "memory",
    "setjmp",
    "signal",
    "stdarg",
    "stdbool",
    "stddef",
    "stdint",
    "stdio",
    "stdlib",
    "string",
    "time",
    "uchar",
    "wchar",
    "wctype",
    "fcntl",
    "sys/types",
    "sys/stat",
];

/// A header of the standard library, or of C++ AMP.
fn is_standard(name: &str) -> bool {
    let Some(bare) = name.strip_prefix('<').and_then(|name| name.strip_suffix('>')) else { return false };
    match bare.strip_suffix(".h") {
        Some(bare) => OF_C.contains(&bare) || bare.starts_with("amp"),
        None => bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
    }
}

struct Reader<'s> {
    conditions: Conditions,
    folders: &'s [PathBuf],
    headers: Vec<Header>,
    seen: HashSet<PathBuf>,
}

impl Reader<'_> {
    /// What counts of a file in the folder.
    fn counting(&mut self, tokens: Vec<Token>, folder: Option<&Path>) -> Vec<Token> {
        let depth = self.conditions.depth();
        let mut found = Vec::with_capacity(tokens.len());
        for part in parts(&tokens) {
            let directive = &tokens[part.clone()];
            if directive[0].begins_directive {
                let is_condition = self.conditions.take(directive, tokens.get(part.end..).unwrap_or_default());
                if is_condition || !self.conditions.may_count() {
                    continue;
                }
                if let Some(name) = directive.get(2).filter(|name| name.header) {
                    self.header(name, folder);
                }
                found.extend_from_slice(directive);
            } else if self.conditions.may_count() {
                found.extend_from_slice(directive);
            }
        }
        self.conditions.close_to(depth);
        found
    }

    /// Reads a header, if it is one of the program's own.
    fn header(&mut self, name: &Token, folder: Option<&Path>) {
        let own = folder.filter(|_| name.text.starts_with('"')).map(Path::to_path_buf);
        let bare = name.text.trim_matches(['"', '<', '>']).to_owned();
        let folders = own.into_iter().chain(self.folders.iter().cloned());
        let Some((path, spelled)) = folders.into_iter().find_map(|folder| located(&folder, &bare)) else { return };
        self.read(name.text.clone(), spelled, path);
    }

    /// Reads the file of a header.
    fn read(&mut self, name: String, spelled: String, path: PathBuf) {
        let is_new = self.seen.insert(path.clone());
        if !is_new || self.seen.len() > 2000 {
            return;
        }
        let Ok(bytes) = std::fs::read(&path) else { return };
        let place = self.headers.len();
        self.headers.push(Header { name, spelled, path: path.clone(), text: String::new(), tokens: Vec::new() });
        let text = decode(&bytes).0;
        let tokens = self.counting(lex(&text), path.parent());
        self.headers[place].text = text;
        self.headers[place].tokens = tokens;
    }
}

/// A file below a folder, whatever the case of its name, and its name there.
fn located(folder: &Path, lower: &str) -> Option<(PathBuf, String)> {
    let mut path = folder.to_path_buf();
    let mut spelled: Vec<String> = Vec::new();
    for part in lower.split('/') {
        if matches!(part, "." | "..") {
            path.push(part);
            spelled.push(part.to_owned());
            continue;
        }
        let named = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
        let mut entries = std::fs::read_dir(if path.as_os_str().is_empty() { Path::new(".") } else { &path }).ok()?;
        let name = entries.find_map(|entry| named(entry.ok()?).filter(|name| name.to_lowercase() == part))?;
        path.push(&name);
        spelled.push(name);
    }
    path.is_file().then(|| (path, spelled.join("/")))
}
