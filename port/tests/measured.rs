//! Measures precision and recall of the findings, on the programs in tests/port. A person labelled the lines that need edits: `//@ a; b` at
//! the end of a line names its two edits.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

/// The folders of the programs.
const PROGRAMS: [&str; 8] = ["imaging", "simulation", "pricing", "templates", "viewer", "server", "capture", "service"];
/// The minimum of the precision and of the recall of each program.
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
    let mut below_goal = Vec::new();
    for program in PROGRAMS {
        let (mut matched, mut false_positives, mut false_negatives) = (0, Vec::new(), Vec::new());
        for (file, found) in revamp_port::findings_of(&files(program)) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let mut labels = labels(&file);
            for finding in found.unwrap() {
                // If several labels of the line match, take the longest: `FormatMessageW` rather than `W`.
                let fits =
                    |(line, label): &(usize, String)| *line == finding.line && finding.found.contains(label.as_str());
                let best = (0..labels.len()).filter(|&n| fits(&labels[n])).max_by_key(|&n| labels[n].1.len());
                match best {
                    Some(n) => {
                        labels.remove(n);
                        matched += 1;
                    }
                    None => false_positives.push(format!("{name}:{}", finding.report_line())),
                }
            }
            false_negatives.extend(labels.into_iter().map(|(line, label)| format!("{name}:{line}: {label}")));
        }
        let ratio = |errors: usize| f64::from(matched) / (f64::from(matched) + errors as f64);
        let (precision, recall) = (ratio(false_positives.len()), ratio(false_negatives.len()));
        println!("{program}: {matched} right, precision {precision:.3}, recall {recall:.3}");
        if precision < GOAL || recall < GOAL {
            below_goal.push(program);
        }
        false_positives.iter().for_each(|text| println!("  wrong: {text}"));
        false_negatives.iter().for_each(|text| println!("  missed: {text}"));
    }
    assert!(below_goal.is_empty(), "{below_goal:?}");
}
