//! `revamp-port`: lists what in a source only Microsoft's compiler takes, or revamp does not have, with the reason and what to
//! write instead, and makes the edits that need no person. It looks at tokens; comments and the insides of strings do not count.

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

/// The whole of `revamp-port [OPTION]... FILE...`: 0 if nothing is to be done, 1 if something is, 2 if a file cannot be read or written.
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
    if let Some(header) = options.settings.forced.iter().find(|header| !header.is_file()) {
        return error(header, "no such file");
    }
    let (mut status, mut of_windows) = (0, HashSet::new());
    if options.fix || options.dry_run {
        (status, of_windows) = edit(&options);
    }
    if !options.dry_run {
        for (file, found) in listed(&options.files, &options.settings, &of_windows) {
            match found {
                Ok(findings) => {
                    findings.iter().for_each(|finding| println!("{}:{}", file.display(), finding.told()));
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

/// What is to be edited in each of the files. `folders` and macros: as the options `-I`, `-D` and `-U` give them.
pub fn findings_of(files: &[PathBuf]) -> Vec<(PathBuf, Result<Vec<Finding>, String>)> {
    listed(files, &Settings::default(), &HashSet::new())
}

/// What is to be edited in each of the files, or why one cannot be read. `of_windows`: those that included headers of Windows before the edits.
fn listed(
    files: &[PathBuf],
    settings: &Settings,
    of_windows: &HashSet<PathBuf>,
) -> Vec<(PathBuf, Result<Vec<Finding>, String>)> {
    let mut sources = sources(files, settings);
    with_includers(&mut sources);
    for (file, source) in &mut sources {
        if let Ok(source) = source {
            source.has_windows |= of_windows.contains(file);
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

/// A header knows what the first of the sources includes that includes it.
fn with_includers(sources: &mut [(PathBuf, Result<Source, String>)]) {
    for at in 0..sources.len() {
        let (before, rest) = sources.split_at_mut(at);
        let Some(((file, Ok(header)), after)) = rest.split_first_mut() else { continue };
        let Ok(own) = file.canonicalize() else { continue };
        let includes =
            |source: &&Source| source.headers.iter().any(|h| h.path.canonicalize().is_ok_and(|path| path == own));
        let others = before.iter().chain(after.iter()).filter_map(|(_, source)| source.as_ref().ok());
        let includer = others.filter(includes).max_by_key(|source| source.headers.len());
        if let Some(includer) = includer {
            header.included_by(includer);
        }
    }
}

/// Makes or shows the mechanical edits: 1 if some are shown, 2 if a file cannot be read or written; and the files that include headers of Windows.
fn edit(options: &Options) -> (u8, HashSet<PathBuf>) {
    let mut sources = sources(&options.files, &options.settings);
    with_includers(&mut sources);
    let (mut status, mut of_windows) = (0, HashSet::new());
    for (file, source) in sources {
        let source = match source {
            Ok(source) => source,
            // With --fix the list tells it.
            Err(message) => {
                status = if options.dry_run { error(&file, &message) } else { 2 };
                continue;
            }
        };
        if source.has_windows {
            of_windows.insert(file.clone());
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
    (status, of_windows)
}

/// Writes the new text in the encoding of the old one.
fn write(file: &Path, source: &Source, text: &str) -> Result<(), String> {
    let old = std::fs::read(file).map_err(|e| e.to_string())?;
    if text::encode(&source.text, source.encoding).as_ref() != Some(&old) {
        return Err(format!("the file is not valid {}, so it is left unchanged", source.encoding.name()));
    }
    let new = text::encode(text, source.encoding)
        .ok_or("its encoding lacks a character of the edits, so it is left unchanged; convert it to UTF-8")?;
    std::fs::write(file, new).map_err(|e| e.to_string())
}
