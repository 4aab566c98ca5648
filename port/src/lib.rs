//! `revamp-port`: lists code that only Microsoft's compiler accepts or that revamp does not support, with the reason and a replacement.
//! With `--fix`, it makes the mechanical edits. It works on tokens, and ignores comments and the contents of strings.

#![forbid(unsafe_code)]

mod checks;
mod conditions;
mod edits;
mod expression;
mod findings;
mod functions;
mod lex;
mod names;
mod options;
mod source;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use findings::Finding;

use options::{HELP, Options};
use source::{Settings, Source};
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Runs `revamp-port [OPTION]... FILE...`. Returns 0 if no edit is needed, 1 if edits are needed, 2 if a file cannot be read or written.
pub fn port(arguments: &[OsString]) -> u8 {
    let options = match Options::read(arguments) {
        Ok(options) => options,
        Err(message) => {
            eprint!("revamp-port: error: {message}\n{HELP}");
            return 2;
        }
    };
    if options.help {
        print!("{HELP}");
        return 0;
    }
    if options.version {
        println!("revamp-port {}", env!("CARGO_PKG_VERSION"));
        return 0;
    }
    if let Some(header) = options.settings.preincluded.iter().find(|header| !header.is_file()) {
        return error(header, "no such file");
    }
    let (mut status, mut windows_sources) = (0, HashSet::new());
    if options.fix || options.dry_run {
        (status, windows_sources) = edit(&options);
    }
    if !options.dry_run {
        for (file, found) in findings_by_file(&options.files, &options.settings, &windows_sources) {
            match found {
                Ok(findings) => {
                    findings.iter().for_each(|finding| println!("{}:{}", file.display(), finding.report_line()));
                    status = status.max(u8::from(findings.iter().any(|finding| !finding.is_note)));
                }
                Err(message) => status = error(&file, &message),
            }
        }
    }
    status
}

fn error(file: &Path, message: &str) -> u8 {
    eprintln!("revamp-port: error: {}: {message}", file.display());
    2
}

/// The findings in each of the files with default settings, or an error message for a file that cannot be read.
pub fn findings_of(files: &[PathBuf]) -> Vec<(PathBuf, Result<Vec<Finding>, String>)> {
    findings_by_file(files, &Settings::default(), &HashSet::new())
}

/// The findings in each of the files, or why a file cannot be read. `windows_sources`: files that included headers of
/// Windows before the edits.
fn findings_by_file(
    files: &[PathBuf],
    settings: &Settings,
    windows_sources: &HashSet<PathBuf>,
) -> Vec<(PathBuf, Result<Vec<Finding>, String>)> {
    let mut sources = sources(files, settings);
    add_includers(&mut sources);
    for (file, source) in &mut sources {
        if let Ok(source) = source {
            source.includes_windows_headers |= windows_sources.contains(file);
        }
    }
    sources.into_iter().map(|(file, source)| (file, source.map(|source| checks::findings(&source)))).collect()
}

fn sources(files: &[PathBuf], settings: &Settings) -> Vec<(PathBuf, Result<Source, String>)> {
    let read = |file: &PathBuf| {
        let bytes = std::fs::read(file).map_err(|e| e.to_string());
        (file.clone(), bytes.map(|bytes| Source::read(&bytes, file.parent(), &settings.of(file))))
    };
    files.iter().map(read).collect()
}

/// Adds to each header the names and headers of a source that includes it. If several sources include it, uses the one
/// with the most headers.
fn add_includers(sources: &mut [(PathBuf, Result<Source, String>)]) {
    for at in 0..sources.len() {
        let (before, rest) = sources.split_at_mut(at);
        let Some(((file, Ok(header)), after)) = rest.split_first_mut() else { continue };
        let Ok(header_path) = file.canonicalize() else { continue };
        let includes = |source: &&Source| {
            source.headers.iter().any(|h| h.path.canonicalize().is_ok_and(|path| path == header_path))
        };
        let other_sources = before.iter().chain(after.iter()).filter_map(|(_, source)| source.as_ref().ok());
        let includer = other_sources.filter(includes).max_by_key(|source| source.headers.len());
        if let Some(includer) = includer {
            header.add_includer(includer);
        }
    }
}

/// Makes or shows the mechanical edits. Returns the exit status and the files that include headers of Windows. The status is 1 if edits are shown,
/// 2 if a file cannot be read or written, and 0 otherwise.
fn edit(options: &Options) -> (u8, HashSet<PathBuf>) {
    let mut sources = sources(&options.files, &options.settings);
    add_includers(&mut sources);
    let (mut status, mut windows_sources) = (0, HashSet::new());
    for (file, source) in sources {
        let source = match source {
            Ok(source) => source,
            // With --fix, `findings_by_file` reports the error.
            Err(message) => {
                status = if options.dry_run { error(&file, &message) } else { 2 };
                continue;
            }
        };
        if source.includes_windows_headers {
            windows_sources.insert(file.clone());
        }
        let findings = checks::findings(&source);
        let ordered = edits::ordered(findings.iter().flat_map(|finding| &finding.edits));
        if ordered.is_empty() {
            continue;
        }
        if options.dry_run {
            print!("{}", edits::difference(&file.display().to_string(), &source.text, &ordered));
            status = status.max(1);
        } else if let Err(message) = write(&file, &source, &edits::applied(&source.text, &ordered)) {
            status = error(&file, &message);
        }
    }
    (status, windows_sources)
}

/// Writes the new text in the encoding of the old one.
fn write(file: &Path, source: &Source, text: &str) -> Result<(), String> {
    let old = std::fs::read(file).map_err(|e| e.to_string())?;
    if text::encode(&source.text, source.encoding).as_ref() != Some(&old) {
        return Err(format!("the file is not valid {}, so it is left unchanged", source.encoding.name()));
    }
    let new = text::encode(text, source.encoding).ok_or(
        "the encoding of the file lacks a character of the edits, so the file is left unchanged; convert the \
                file to UTF-8",
    )?;
    std::fs::write(file, new).map_err(|e| e.to_string())
}
