//! Reads a source file and the program's headers that it includes (not system headers). Skips the lines that
//! conditional directives exclude on Linux.

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

/// The options for all sources.
#[derive(Clone, Default)]
pub struct Settings {
    /// The macros of `-D` (true) and `-U` (false), with the text of the option.
    pub macros: Vec<(bool, String)>,
    /// Folders of `-I`, in which headers are searched.
    pub folders: Vec<PathBuf>,
    /// Headers of `-include`, which the compiler includes before each source.
    pub preincluded: Vec<PathBuf>,
}

impl Settings {
    /// The settings for a file. If it is a header of `-include`, it does not include itself.
    pub fn of(&self, file: &Path) -> Self {
        let own = file.canonicalize().ok();
        let mut settings = self.clone();
        settings.preincluded.retain(|header| own.is_none() || header.canonicalize().ok() != own);
        settings
    }
}

/// A header of the program: in the folder of the file that includes it, in a folder of `-I`, or named by `-include`.
pub struct Header {
    /// The header's name in the `#include` directive, with quotes or angle brackets, in lower case.
    pub name: String,
    /// The header's file name as it is on disk, relative to the folder where it was found.
    pub name_on_disk: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The text of the file.
    text: String,
    /// The tokens on lines that conditional directives do not exclude.
    pub tokens: Vec<Token>,
}

/// A source.
pub struct Source {
    /// Its text.
    pub text: String,
    /// Its encoding.
    pub encoding: Encoding,
    /// The tokens on lines that conditional directives do not exclude.
    pub tokens: Vec<Token>,
    /// The program's own headers that the source includes, directly or through other headers.
    pub headers: Vec<Header>,
    /// The names of all headers that the source and its headers include.
    pub included: BTreeSet<String>,
    /// The names that the source and its headers declare.
    pub names: Names,
    codes: OnceCell<Vec<Code>>,
    /// True if the source or its headers include headers of Windows.
    pub includes_windows_headers: bool,
    /// True if the source or its headers include headers that are neither found nor known.
    pub has_unknown_headers: bool,
}

impl Source {
    /// Reads a source. `folder`: the folder of its file.
    pub fn read(bytes: &[u8], folder: Option<&Path>, settings: &Settings) -> Self {
        let (text, encoding) = decode(bytes);
        let mut reader = Reader {
            conditions: Conditions::new(&settings.macros),
            folders: &settings.folders,
            headers: Vec::new(),
            seen: HashSet::new(),
        };
        for header in &settings.preincluded {
            let name = header.to_string_lossy();
            reader.read(format!("\"{}\"", name.to_lowercase()), name.to_string(), header.clone());
        }
        let tokens = reader.live_tokens(lex(&text), folder);
        let headers = reader.headers;
        let mut names = Names::default();
        headers.iter().for_each(|header| names.add_file(&header.tokens));
        names.add_file(&tokens);
        let all = tokens.iter().chain(headers.iter().flat_map(|header| &header.tokens));
        let included: BTreeSet<String> = all.filter(|t| t.header).map(|t| t.text.clone()).collect();
        let is_found = |name: &String| headers.iter().any(|header| header.name == *name);
        let includes_windows_headers = included.iter().any(|name| is_windows_header(name) && name.starts_with('<'));
        let has_unknown_headers =
            included.iter().any(|name| !is_found(name) && !is_windows_header(name) && !is_standard(name));
        Self {
            text,
            encoding,
            tokens,
            headers,
            included,
            names,
            codes: OnceCell::new(),
            includes_windows_headers,
            has_unknown_headers,
        }
    }

    /// The functions and macros that pass a wide format string (as for `wprintf`) to another function.
    pub fn wide_format_functions(&self) -> Vec<String> {
        let texts = self.headers.iter().rev().map(|header| &header.text).chain([&self.text]);
        texts.fold(Vec::new(), |names, text| wide_formats::declared(text, names))
    }

    /// The parsed code of each of its headers.
    pub fn codes_of_headers(&self) -> &[Code] {
        self.codes.get_or_init(|| self.headers.iter().map(|header| Code::read(&header.tokens)).collect())
    }

    /// Adds the names and headers of a source that includes this one.
    pub fn add_includer(&mut self, other: &Self) {
        self.included.extend(other.included.iter().cloned());
        self.names.extend(&other.names);
        self.includes_windows_headers |= other.includes_windows_headers;
        self.has_unknown_headers |= other.has_unknown_headers;
    }
}

/// True if the table `idioms.txt`, which lists headers of Windows, has a row for the header.
fn is_windows_header(name: &str) -> bool {
    rows().iter().any(|row| row.pattern.len() == 3 && row.pattern[1] == "include" && row.fits(2, name))
}

/// Headers of C, and headers of POSIX that Windows has too, without `.h`.
const C_HEADERS: [&str; 28] = [
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

/// True for a header of the standard library or of C++ AMP.
fn is_standard(name: &str) -> bool {
    let Some(bare) = name.strip_prefix('<').and_then(|name| name.strip_suffix('>')) else { return false };
    match bare.strip_suffix(".h") {
        Some(bare) => C_HEADERS.contains(&bare) || bare.starts_with("amp"),
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
    /// Returns a file's tokens on lines that conditional directives do not exclude. Also reads the headers that the file
    /// includes. `folder`: the folder of the file.
    fn live_tokens(&mut self, tokens: Vec<Token>, folder: Option<&Path>) -> Vec<Token> {
        let depth = self.conditions.depth();
        let mut found = Vec::with_capacity(tokens.len());
        for part in parts(&tokens) {
            let part_tokens = &tokens[part.clone()];
            if part_tokens[0].begins_directive {
                let is_condition =
                    self.conditions.process_directive(part_tokens, tokens.get(part.end..).unwrap_or_default());
                if is_condition || !self.conditions.may_be_live() {
                    continue;
                }
                if let Some(name) = part_tokens.get(2).filter(|name| name.header) {
                    self.header(name, folder);
                }
                found.extend_from_slice(part_tokens);
            } else if self.conditions.may_be_live() {
                found.extend_from_slice(part_tokens);
            }
        }
        self.conditions.truncate_to(depth);
        found
    }

    /// Reads the named header if it is one of the program's own.
    fn header(&mut self, name: &Token, folder: Option<&Path>) {
        let own = folder.filter(|_| name.text.starts_with('"')).map(Path::to_path_buf);
        let bare = name.text.trim_matches(['"', '<', '>']).to_owned();
        let folders = own.into_iter().chain(self.folders.iter().cloned());
        let Some((path, name_on_disk)) = folders.into_iter().find_map(|folder| find_ignoring_case(&folder, &bare))
        else {
            return;
        };
        self.read(name.text.clone(), name_on_disk, path);
    }

    /// Reads the file of a header, unless it was read before.
    fn read(&mut self, name: String, name_on_disk: String, path: PathBuf) {
        let is_new = self.seen.insert(path.clone());
        if !is_new || self.seen.len() > 2000 {
            return;
        }
        let Ok(bytes) = std::fs::read(&path) else { return };
        let index = self.headers.len();
        self.headers.push(Header { name, name_on_disk, path: path.clone(), text: String::new(), tokens: Vec::new() });
        let text = decode(&bytes).0;
        let tokens = self.live_tokens(lex(&text), path.parent());
        self.headers[index].text = text;
        self.headers[index].tokens = tokens;
    }
}

/// Finds a file below a folder, ignoring the case of its name. Returns the path, and its name relative to the folder.
fn find_ignoring_case(folder: &Path, lower: &str) -> Option<(PathBuf, String)> {
    let mut path = folder.to_path_buf();
    let mut name_on_disk: Vec<String> = Vec::new();
    for part in lower.split('/') {
        if matches!(part, "." | "..") {
            path.push(part);
            name_on_disk.push(part.to_owned());
            continue;
        }
        let named = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
        let mut entries = std::fs::read_dir(if path.as_os_str().is_empty() { Path::new(".") } else { &path }).ok()?;
        let name = entries.find_map(|entry| named(entry.ok()?).filter(|name| name.to_lowercase() == part))?;
        path.push(&name);
        name_on_disk.push(name);
    }
    path.is_file().then(|| (path, name_on_disk.join("/")))
}
