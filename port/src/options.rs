//! The command line of `revamp-port`, and the text of `--help`.

use crate::source::Settings;
use std::ffi::OsString;
use std::path::PathBuf;

/// The parsed command line.
#[derive(Default)]
pub struct Options {
    /// The sources.
    pub files: Vec<PathBuf>,
    /// Settings for all sources.
    pub settings: Settings,
    /// Makes the mechanical edits.
    pub fix: bool,
    /// Shows the mechanical edits, and makes none.
    pub dry_run: bool,
    /// Prints the text of `--help`.
    pub help: bool,
    /// Prints the version.
    pub version: bool,
}

/// The text of `--help`.
pub const HELP: &str = "\
usage: revamp-port [OPTION]... FILE...

Lists code in C++ AMP sources that only Microsoft's compiler accepts or that revamp does not support, before you compile it here: file,
line, what was found, why, and what to write instead. Comments, strings and branches of #if for other systems are ignored. A line with
`note:` asks for an edit only if GCC alone compiles the source.

  -D NAME[=VALUE]  a macro that is defined
  -U NAME          a macro that is not defined
  -I FOLDER        a folder with headers of the program
  -include FILE    a header that the compiler includes before each source
  --fix            makes the mechanical edits, then lists what is left
  --dry-run        shows the mechanical edits as a difference (diff -u), and changes no file
  --help           prints this text
  --version        prints the version

Exits with 0 if no edits are needed, with 1 if edits are needed, with 2 if a file cannot be read or written. docs/porting.md has more.
";

impl Options {
    /// Parses the arguments, or returns an error message.
    pub fn read(arguments: &[OsString]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        let mut options_ended = false;
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            let mut value = |long: &str| match text.strip_prefix(long).filter(|value| !value.is_empty()) {
                Some(value) => Ok(value.to_owned()),
                None => {
                    rest.next().map(|next| next.to_string_lossy().into_owned()).ok_or(format!("{long} needs a value"))
                }
            };
            match &*text {
                _ if options_ended => options.files.push(argument.into()),
                "--" => options_ended = true,
                "--help" | "-h" => options.help = true,
                "--version" => options.version = true,
                "--fix" => options.fix = true,
                "--dry-run" => options.dry_run = true,
                "-include" => options.settings.preincluded.push(value("-include")?.into()),
                _ if text.starts_with("-D") => options.settings.macros.push((true, value("-D")?)),
                _ if text.starts_with("-U") => options.settings.macros.push((false, value("-U")?)),
                _ if text.starts_with("-I") => options.settings.folders.push(value("-I")?.into()),
                _ if text.starts_with('-') => return Err(format!("unknown option {text}")),
                _ => options.files.push(argument.into()),
            }
        }
        if options.files.is_empty() && !options.help && !options.version {
            return Err("no file is named".to_owned());
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines() {
        let options = read("-DA -D B=2 -UC -U D -I e -If -include g/h.h --fix --dry-run a.cpp -- -b.cpp").unwrap();
        let macros = [(true, "A"), (true, "B=2"), (false, "C"), (false, "D")].map(|(is, name)| (is, name.to_owned()));
        assert_eq!(options.settings.macros, macros);
        assert_eq!(options.settings.folders, ["e", "f"].map(PathBuf::from));
        assert_eq!(options.settings.preincluded, [PathBuf::from("g/h.h")]);
        assert_eq!(options.files, ["a.cpp", "-b.cpp"].map(PathBuf::from));
        assert!(options.fix && options.dry_run && !options.help);
        assert!(read("--help").unwrap().help && read("--version").unwrap().version);
        for (line, message) in
            [("--fox a.cpp", "unknown option --fox"), ("-D", "-D needs a value"), ("--fix", "no file is named")]
        {
            assert_eq!(read(line).err().unwrap(), message);
        }
    }
}
