//! The edits that `--fix` makes, and the diff that `--dry-run` shows.

use crate::findings::Edit;
use crate::lex::line_starts;
use std::ops::Range;

/// The number of context lines around a change.
const CONTEXT: usize = 3;

/// The edits in the order of their byte ranges, without those that overlap an earlier edit.
pub fn ordered<'e>(edits: impl IntoIterator<Item = &'e Edit>) -> Vec<&'e Edit> {
    let mut all: Vec<&Edit> = edits.into_iter().collect();
    all.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut end = 0;
    all.retain(|edit| {
        let is_free = edit.range.start >= end;
        if is_free {
            end = edit.range.end;
        }
        is_free
    });
    all.dedup();
    all
}

/// The text with the edits applied. `edits` must come from `ordered`.
pub fn applied(text: &str, edits: &[&Edit]) -> String {
    let mut edited = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        edited += &text[at..edit.range.start];
        edited += &edit.text;
        at = edit.range.end;
    }
    edited + &text[at..]
}

/// Changed lines, counted from 0, and their new text.
struct Change {
    lines: Range<usize>,
    text: String,
}

/// The changed lines. Each edit either keeps the number of lines or deletes whole lines.
fn changes(text: &str, edits: &[&Edit]) -> Vec<Change> {
    let starts = line_starts(text);
    let line_of = |byte: usize| starts.partition_point(|&start| start <= byte) - 1;
    let mut groups: Vec<(Range<usize>, Vec<&Edit>)> = Vec::new();
    for &edit in edits {
        let first = line_of(edit.range.start);
        // The newline of a deleted line belongs to that line.
        let last = line_of(edit.range.end.saturating_sub(1).max(edit.range.start));
        match groups.last_mut() {
            Some((lines, of)) if first < lines.end => {
                lines.end = lines.end.max(last + 1);
                of.push(edit);
            }
            _ => groups.push((first..last + 1, vec![edit])),
        }
    }
    let byte = |line: usize| starts.get(line).copied().unwrap_or(text.len());
    let change = |(lines, edits): (Range<usize>, Vec<&Edit>)| {
        let (from, to) = (byte(lines.start), byte(lines.end));
        let moved = edits
            .iter()
            .map(|e| Edit::new(e.range.start - from..e.range.end - from, e.text.clone()))
            .collect::<Vec<_>>();
        Change { text: applied(&text[from..to], &moved.iter().collect::<Vec<_>>()), lines }
    };
    groups.into_iter().map(change).collect()
}

/// A unified diff, as `diff -u` writes it.
pub fn difference(name: &str, text: &str, edits: &[&Edit]) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut output = format!("--- {name}\n+++ {name}\n");
    let all = changes(text, edits);
    // The numbers of lines in the hunks so far, in the new text and in the old text.
    let (mut new_lines, mut old_lines) = (0, 0);
    let mut rest = &all[..];
    while let Some(first) = rest.first() {
        // Changes whose context lines meet are one hunk.
        let in_hunk =
            rest.windows(2).take_while(|pair| pair[1].lines.start <= pair[0].lines.end + 2 * CONTEXT).count() + 1;
        let (hunk, remaining) = rest.split_at(in_hunk);
        rest = remaining;
        let from = first.lines.start.saturating_sub(CONTEXT);
        let to = hunk.last().map_or(from, |c| (c.lines.end + CONTEXT).min(lines.len()));
        let mut body = String::new();
        let (mut at, mut new) = (from, 0);
        for change in hunk {
            let unchanged_lines = &lines[at..change.lines.start];
            unchanged_lines.iter().for_each(|line| push(&mut body, ' ', line));
            lines[change.lines.clone()].iter().for_each(|line| push(&mut body, '-', line));
            change.text.split_inclusive('\n').for_each(|line| push(&mut body, '+', line));
            new += unchanged_lines.len() + change.text.split_inclusive('\n').count();
            at = change.lines.end;
        }
        lines[at..to].iter().for_each(|line| push(&mut body, ' ', line));
        new += to - at;
        let begin = |line: usize, count: usize| if count == 0 { line } else { line + 1 };
        let old = to - from;
        output += &format!("@@ -{},{old} +{},{new} @@\n", begin(from, old), begin(from + new_lines - old_lines, new));
        output += &body;
        new_lines += new;
        old_lines += old;
    }
    output
}

fn push(body: &mut String, mark: char, line: &str) {
    body.push(mark);
    *body += line;
    if !line.ends_with('\n') {
        *body += "\n\\ No newline at end of file\n";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_dropped_and_changed_lines() {
        let text = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\r\nl";
        let edits =
            [Edit::new(2..4, ""), Edit::new(20..21, "KK"), Edit::new(23..24, "L"), Edit::new(20..22, "overlaps")];
        let edits = ordered(&edits);
        assert_eq!(applied(text, &edits), "a\nc\nd\ne\nf\ng\nh\ni\nj\nKK\r\nL");
        let expected = "--- x\n+++ x\n@@ -1,5 +1,4 @@\n a\n-b\n c\n d\n e\n@@ -8,5 +7,5 @@\n h\n i\n j\n-k\r\n+KK\r\n-l\n\\ No newline at end of file\n+L\n\
                        \\ No newline at end of file\n";
        assert_eq!(difference("x", text, &edits), expected);
        assert_eq!(difference("x", "a\n", &[&Edit::new(0..2, "")]), "--- x\n+++ x\n@@ -1,1 +0,0 @@\n-a\n");
    }
}
