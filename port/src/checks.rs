//! What finds the edits in a source: the table's rows, and the checks that need more than a row of tokens.

use crate::lex::{Token, is_word, text_of, tokens};
use crate::table::{BROUGHT, OURS, PPL, ROWS, Row};
use std::collections::BTreeSet;
use std::path::Path;

/// What is to be edited.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    pub line: usize,
    pub found: String,
    pub reason: &'static str,
    pub replacement: String,
}

/// A source, with its own headers by their names.
pub struct Source<'t> {
    pub tokens: &'t [Token],
    pub headers: &'t [(String, Vec<Token>)],
}

impl Source<'_> {
    /// What the source includes, as do its own headers.
    pub fn included(&self) -> BTreeSet<&str> {
        let all = self.tokens.iter().chain(self.headers.iter().flat_map(|(_, inside)| inside));
        all.filter(|t| t.header.is_some()).map(|t| t.text.as_str()).collect()
    }
}

/// Finds some kind of edits.
pub type Check = fn(&Source<'_>, &mut BTreeSet<Finding>);

pub const CHECKS: [Check; 8] = [rows, spellings, missing, numbers, calls, asserts, tasks, templates];

/// The source's own headers that are there, by their names, with what they include themselves.
pub fn own_headers(words: &[Token], folder: &Path) -> Vec<(String, Vec<Token>)> {
    let named = |tokens: &[Token]| -> Vec<(String, String)> {
        let quoted = tokens.iter().filter_map(|t| Some((t.text.clone(), t.header.clone()?)));
        quoted.filter(|(_, written)| written.starts_with('"')).collect()
    };
    let mut waiting = named(words);
    let mut found: Vec<(String, Vec<Token>)> = Vec::new();
    while let Some((name, written)) = waiting.pop() {
        let file = folder.join(written.trim_matches('"'));
        if found.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let Ok(bytes) = std::fs::read(file) else { continue };
        let inside = tokens(&text_of(&bytes).0);
        waiting.extend(named(&inside));
        found.push((name, inside));
    }
    found
}

/// The names that the source gives to types and macros of its own.
fn own_names(tokens: &[Token]) -> BTreeSet<&str> {
    let text = |at: usize| tokens.get(at).map_or("", |t| t.text.as_str());
    let declared = (0..tokens.len()).filter_map(|at| match (text(at), text(at + 1)) {
        ("#", "define") => Some(text(at + 2)),
        ("using", name) if text(at + 2) == "=" => Some(name),
        ("struct" | "class", name) if matches!(text(at + 2), "{" | ":") => Some(name),
        ("typedef", _) => (at..tokens.len()).find(|n| text(*n) == ";").map(|end| text(end - 1)),
        _ => None,
    });
    declared.collect()
}

/// Where the rows of the table occur.
fn rows(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let Source { tokens, headers } = source;
    let mut own = own_names(tokens);
    own.extend(headers.iter().flat_map(|(_, inside)| own_names(inside)));
    for Row { pattern, reason, replacement } in ROWS {
        let words: Vec<&str> = pattern.split(' ').collect();
        let is_there = headers.iter().any(|(name, _)| pattern.strip_prefix("# include ") == Some(name));
        if words.len() == 1 && own.contains(pattern) || is_there {
            continue;
        }
        for (at, place) in tokens.windows(words.len()).enumerate() {
            // A member of the program's own has nothing to do with it.
            let is_member = at > 0 && matches!(tokens[at - 1].text.as_str(), "." | "->");
            if !is_member && place.iter().zip(&words).all(|(token, word)| token.text == *word) {
                let found = words
                    .join(" ")
                    .replace(". . . ", "...")
                    .replace(" :: ", "::")
                    .replace("# ", "#")
                    .replace(" (", "(")
                    .replace("( ", "(");
                all.insert(Finding { line: place[0].line, found, reason, replacement: (*replacement).to_owned() });
            }
        }
    }
}

/// Headers in other spellings.
fn spellings(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    for (token, written) in source.tokens.iter().filter_map(|token| Some((token, token.header.as_ref()?))) {
        let is_known = token.text.starts_with('<') && ROWS.iter().any(|row| row.pattern.ends_with(&token.text));
        let (reason, replacement) = if written.contains('\\') {
            ("'/' stands between folders here", written.replace('\\', "/"))
        } else if OURS.contains(&token.text.as_str()) && token.text != *written {
            ("names of files have capital letters or not", token.text.clone())
        } else {
            continue;
        };
        if !is_known {
            let found = format!("#include {written}");
            all.insert(Finding { line: token.line, found, reason, replacement: format!("#include {replacement}") });
        }
    }
}

/// Headers that are missing.
fn missing(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let (tokens, included) = (source.tokens, source.included());
    // It brings what the original brought.
    let has_amp = OURS.iter().any(|name| included.contains(name));
    for (names, header, in_c) in BROUGHT {
        if included.contains(header) || included.contains(in_c) || has_amp && *header == "<cstring>" {
            continue;
        }
        let is_use = |at: usize, t: &Token| {
            let after = tokens.get(at + 1).map(|next| next.text.as_str());
            names.contains(&t.text.as_str())
                && matches!(after, Some("(" | "<") | None)
                && !(at > 0 && matches!(tokens[at - 1].text.as_str(), "." | "->"))
        };
        if let Some((_, first)) = tokens.iter().enumerate().find(|(at, t)| is_use(*at, t)) {
            let reason = "no header that is included here needs to bring it";
            let replacement = format!("#include {header}");
            all.insert(Finding { line: first.line, found: first.text.clone(), reason, replacement });
        }
    }
}

/// The index of the token that closes the bracket at `open`.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Numbers with the suffixes of MSVC.
fn numbers(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    for token in source.tokens.iter().filter(|t| t.text.starts_with(|c: char| c.is_ascii_digit())) {
        let suffixes = [("ui64", "ull"), ("i64", "ll"), ("ui32", "u"), ("i32", "")];
        let lower = token.text.to_lowercase();
        let Some((suffix, standard)) = suffixes.iter().find(|(suffix, _)| lower.ends_with(suffix)) else { continue };
        let replacement = format!("{}{standard}", &token.text[..token.text.len() - suffix.len()]);
        let (found, reason) = (token.text.clone(), "a suffix of MSVC");
        all.insert(Finding { line: token.line, found, reason, replacement });
    }
}

/// `min`, `max` and `abs` that are nobody's.
fn calls(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let (tokens, included) = (source.tokens, source.included());
    if tokens.windows(3).any(|t| t[0].text == "using" && t[1].text == "namespace" && t[2].text == "std") {
        return;
    }
    let of_floats = included.contains("<math.h>") || included.contains("<stdlib.h>");
    for (at, pair) in tokens.windows(2).enumerate() {
        let (name, line) = (pair[0].text.as_str(), pair[0].line);
        let before = at.checked_sub(1).map_or("", |n| tokens[n].text.as_str());
        // After a type it is declared, after `::`, `.` and `->` it is somebody's.
        let is_called = matches!(before, "return" | "") || !before.ends_with(|c| is_word(c) || ":.>*&".contains(c));
        if pair[1].text != "(" || !is_called {
            continue;
        }
        let (reason, replacement) = match name {
            "min" | "max" => (
                "a macro of <windows.h>, or a function that MSVC's headers leave in the global namespace",
                format!("std::{name}, with both of one type"),
            ),
            "abs" if !of_floats => (
                "by <cmath> alone it is that of int, and cuts fractions off",
                "std::abs, or #include <math.h>".to_owned(),
            ),
            _ => continue,
        };
        all.insert(Finding { line, found: format!("{name}("), reason, replacement });
    }
}

/// `assert` with a text.
fn asserts(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let tokens = source.tokens;
    for (at, pair) in tokens.windows(2).enumerate() {
        if pair[0].text != "assert" || pair[1].text != "(" {
            continue;
        }
        let end = closing(tokens, at + 1).unwrap_or(tokens.len());
        let mut depth = 0_usize;
        let has_two = tokens[at + 2..end].iter().any(|t| {
            match t.text.as_str() {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && t.text == ","
        });
        if has_two {
            let replacement = "assert(condition && \"text\")".to_owned();
            let (line, found, reason) =
                (pair[0].line, "assert(condition, text)".to_owned(), "the macro takes one argument");
            all.insert(Finding { line, found, reason, replacement });
        }
    }
}

/// Tasks that are made of a function: `task<int> t([] { ... })`.
fn tasks(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let tokens = source.tokens;
    let text = |at: usize| tokens.get(at).map_or("", |t| t.text.as_str());
    for at in 0..tokens.len() {
        if text(at) != "task" || text(at + 1) != "<" {
            continue;
        }
        let end = (at + 2..tokens.len()).take_while(|&n| !matches!(text(n), ";" | "(" | "{")).find(|&n| text(n) == ">");
        let Some(end) = end else { continue };
        let open = if text(end + 1).starts_with(is_word) { end + 2 } else { end + 1 };
        if matches!(text(open), "(" | "{") && text(open + 1) == "[" {
            let replacement = "std::async; completion_future::to_task gives a task".to_owned();
            all.insert(Finding { line: tokens[at].line, found: "task<...>([".to_owned(), reason: PPL, replacement });
        }
    }
}

/// What templates must say here: `typename`, and that the dimensions of a tile are int.
fn templates(source: &Source<'_>, all: &mut BTreeSet<Finding>) {
    let tokens = source.tokens;
    let text = |at: usize| tokens.get(at).map_or("", |t| t.text.as_str());
    let mut types: BTreeSet<&str> = BTreeSet::new();
    let mut unsigned: BTreeSet<&str> = BTreeSet::new();
    for at in 0..tokens.len() {
        match (text(at), text(at + 1)) {
            ("class" | "typename", name) if matches!(text(at + 2), "," | ">" | "=") => {
                types.insert(name);
            }
            ("size_t", name) | ("unsigned", name) if matches!(text(at + 2), "," | ">" | "=") && name != "int" => {
                unsigned.insert(name);
            }
            ("unsigned", "int") if matches!(text(at + 3), "," | ">" | "=") => {
                unsigned.insert(text(at + 2));
            }
            _ => {}
        }
    }
    for at in 1..tokens.len() {
        let line = tokens[at].line;
        if matches!(text(at), "tiled_index" | "tiled_extent") && text(at + 1) == "<" {
            let arguments = (at + 2..tokens.len()).map_while(|n| Some(text(n)).filter(|t| *t != ">"));
            if let Some(name) = arguments.into_iter().find(|name| unsigned.contains(name)) {
                let reason = "its parameters are int, and are not deduced for an unsigned parameter of a template";
                let found = format!("{}<{name}>", text(at));
                all.insert(Finding { line, found, reason, replacement: format!("template <int {name}>") });
            }
        }
        // `std::vector<T>::iterator i` without typename.
        let nested = matches!(text(at), "iterator" | "const_iterator" | "value_type" | "size_type" | "reference");
        if !nested || text(at - 1) != "::" || at < 4 || text(at - 2) != ">" || !text(at + 1).starts_with(is_word) {
            continue;
        }
        let Some(open) = (0..at - 2).rev().find(|&n| text(n) == "<") else { continue };
        if !(open + 1..at - 2).any(|n| types.contains(text(n))) {
            continue;
        }
        let mut first = open.saturating_sub(1);
        while first >= 2 && text(first - 1) == "::" {
            first -= 2;
        }
        if first == 0 || text(first - 1) != "typename" {
            let found = format!("{}<...>::{}", text(open.saturating_sub(1)), text(at));
            let reason = "a type that depends on a parameter of a template";
            all.insert(Finding { line, found, reason, replacement: "typename before it".to_owned() });
        }
    }
}
