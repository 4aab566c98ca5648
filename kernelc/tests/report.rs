//! Compiles the files of `tests/report` with `-famp-report` and compares all remarks with the lines
//! `// LINE:COLUMN: TEXT` after `// clang-format off` at the end of each file. In remarks on the size of a kernel or of
//! a function of precise_math, `#` stands for any number. `scripts/needs` checks that Clang and libLLVM exist.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary installation of the compiler and the headers, without the library.
struct Installation(PathBuf);

impl Installation {
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

    /// Compiles a file. Returns the compiler's output and the object.
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

impl Drop for Installation {
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

/// The text with `#` in place of each number after `LINE:COLUMN:`.
fn mask_numbers(text: &str) -> String {
    let (place, text) = text.split_once(' ').unwrap();
    let word = |word: &str| if word.parse::<u32>().is_ok() { "#".into() } else { word.to_owned() };
    format!("{place} {}", text.split(' ').map(word).collect::<Vec<_>>().join(" "))
}

/// The remarks in the compiler's output, without the name of the file.
fn remarks(output: &Output, file: &Path) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let remark = |line: &str| {
        let rest = line.strip_prefix(&format!("{}:", file.display()))?;
        let text = rest.strip_suffix(" [-famp-report]")?.replacen(" remark: ", " ", 1);
        Some(if text.contains(" kernel of ") || text.contains(" precise_math: ") { mask_numbers(&text) } else { text })
    };
    text.lines()
        .map(|line| remark(line).unwrap_or_else(|| panic!("not a remark on {}: {line}", file.display())))
        .collect()
}

/// Compares the remarks of each file, and checks that the object does not depend on the report.
#[test]
fn remarks_match_and_the_report_changes_no_object() {
    let place = Installation::new("remarks");
    let mut mismatches = Vec::new();
    for (n, file) in files().iter().enumerate() {
        let (plain, object_without_report) = place.compiled(file, None, Some("0"));
        assert!(plain.stderr.is_empty(), "{}", String::from_utf8_lossy(&plain.stderr));
        let (output, object_with_report) = place.compiled(file, Some("-famp-report"), None);
        assert!(object_without_report == object_with_report, "{} depends on the report", file.display());
        // REVAMP_KERNEL_REPORT=1 gives the same remarks. One file suffices to show it.
        if n == 0 {
            let (by_variable, object_by_variable) = place.compiled(file, None, Some("1"));
            assert!(
                object_without_report == object_by_variable
                    && !output.stderr.is_empty()
                    && output.stderr == by_variable.stderr
            );
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
            mismatches.push(format!("{}:\n// {}", file.display(), found.join("\n// ")));
        }
    }
    assert!(mismatches.is_empty(), "{}", mismatches.join("\n"));
}
