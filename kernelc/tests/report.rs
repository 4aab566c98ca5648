//! `-famp-report` on the files of `tests/report`: all remarks, word for word, are the lines `// LINE:COLUMN: TEXT` behind `// clang-format off` at the end of the file. `#` is the
//! size of a kernel or of a function of precise_math.
//! `scripts/needs` asks for Clang and libLLVM.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An installation without the library.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("kernelc-report-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        for folder in ["bin", "include"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_revamp-kernelc"), root.join("bin/revamp-c++")).unwrap();
        symlink(sources.join("cpp-shim"), root.join("include/revamp-amp")).unwrap();
        symlink(sources.join("include/revamp.h"), root.join("include/revamp.h")).unwrap();
        Self(root)
    }

    /// Compiles a file: what the compiler says, and the object.
    fn compiled(&self, file: &Path, option: Option<&str>, variable: Option<&str>) -> (Output, Vec<u8>) {
        let object = self.0.join("a.o");
        let mut command = Command::new(self.0.join("bin/revamp-c++"));
        command.args(["-O2", "-c"]).args(option).arg(file).arg("-o").arg(&object).env_remove("REVAMP_KERNEL_REPORT");
        command.envs(variable.map(|value| ("REVAMP_KERNEL_REPORT", value)));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
        (output, std::fs::read(object).unwrap())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 3);
    files
}

/// The text with `#` in place of the numbers behind the place.
fn without_size(text: &str) -> String {
    let (place, text) = text.split_once(' ').unwrap();
    let word = |word: &str| if word.parse::<u32>().is_ok() { "#".into() } else { word.to_owned() };
    format!("{place} {}", text.split(' ').map(word).collect::<Vec<_>>().join(" "))
}

/// The remarks of a compiler, without the name of the file.
fn remarks(output: &Output, file: &Path) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let remark = |line: &str| {
        let rest = line.strip_prefix(&format!("{}:", file.display()))?;
        let text = rest.strip_suffix(" [-famp-report]")?.replacen(" remark: ", " ", 1);
        Some(if text.contains(" kernel of ") || text.contains(" precise_math: ") { without_size(&text) } else { text })
    };
    text.lines()
        .map(|line| remark(line).unwrap_or_else(|| panic!("not a remark on {}: {line}", file.display())))
        .collect()
}

/// All remarks of each file; the object is the same without them.
#[test]
fn remarks_are_what_the_files_say_and_change_no_object() {
    let place = Place::new("remarks");
    let mut wrong = Vec::new();
    for (n, file) in files().iter().enumerate() {
        let (plain, without) = place.compiled(file, None, Some("0"));
        assert!(plain.stderr.is_empty(), "{}", String::from_utf8_lossy(&plain.stderr));
        let (output, with) = place.compiled(file, Some("-famp-report"), None);
        assert!(without == with, "{} depends on the report", file.display());
        // By the variable it is the same, whatever the file.
        if n == 0 {
            let (by_variable, other) = place.compiled(file, None, Some("1"));
            assert!(without == other && !output.stderr.is_empty() && output.stderr == by_variable.stderr);
        }
        let text = std::fs::read_to_string(file).unwrap();
        let expected: Vec<&str> = text
            .lines()
            .skip_while(|line| *line != "// clang-format off")
            .skip(1)
            .filter_map(|line| line.strip_prefix("// "))
            .collect();
        let found = remarks(&output, file);
        assert!(!found.is_empty());
        if found != expected {
            wrong.push(format!("{}:\n// {}", file.display(), found.join("\n// ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
