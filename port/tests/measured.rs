//! Recall and precision of the tool's findings, on programs in tests/port that a person labelled: `//@ a; b` at the end of a line
//! names the edits in it.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

/// The programs.
const PROGRAMS: [&str; 8] = ["imaging", "simulation", "pricing", "templates", "viewer", "server", "capture", "service"];
/// The minimum of precision and of recall.
const GOAL: f64 = 0.95;

/// The labels of a file: line and text.
fn labels(file: &Path) -> Vec<(usize, String)> {
    let bytes = std::fs::read(file).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut found = Vec::new();
    for (n, line) in text.lines().enumerate() {
        if let Some((_, labels)) = line.split_once("//@ ") {
            found.extend(labels.split("; ").map(|label| (n + 1, label.trim().to_owned())));
        }
    }
    found
}

fn files(program: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/port").join(program);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn precision_and_recall() {
    let mut poor = Vec::new();
    for program in PROGRAMS {
        let (mut right, mut wrong, mut missed) = (0, Vec::new(), Vec::new());
        for (file, found) in revamp_port::findings_of(&files(program)) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let mut labels = labels(&file);
            for finding in found.unwrap() {
                // The longest label of the line that matches: `FormatMessageW` before `W`.
                let fits =
                    |(line, label): &(usize, String)| *line == finding.line && finding.found.contains(label.as_str());
                let best = (0..labels.len()).filter(|&n| fits(&labels[n])).max_by_key(|&n| labels[n].1.len());
                match best {
                    Some(n) => {
                        labels.remove(n);
                        right += 1;
                    }
                    None => wrong.push(format!("{name}:{}", finding.told())),
                }
            }
            missed.extend(labels.into_iter().map(|(line, label)| format!("{name}:{line}: {label}")));
        }
        let share = |of: usize| f64::from(right) / (f64::from(right) + of as f64);
        let (precision, recall) = (share(wrong.len()), share(missed.len()));
        println!("{program}: {right} right, precision {precision:.3}, recall {recall:.3}");
        if precision < GOAL || recall < GOAL {
            poor.push(program);
        }
        wrong.iter().for_each(|text| println!("  wrong: {text}"));
        missed.iter().for_each(|text| println!("  missed: {text}"));
    }
    assert!(poor.is_empty(), "{poor:?}");
}
