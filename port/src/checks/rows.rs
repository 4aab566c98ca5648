//! Where the rows of the table occur.

use crate::findings::{Edit, Finding};
use crate::functions::{is_no_type, is_trailing_return};
use crate::lex::Token;
use crate::source::Source;
use crate::syntax::Code;
use crate::table::{Row, rows as table};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Namespaces whose names the table has without them.
const NAMESPACES: [&str; 8] = ["std", "concurrency", "Concurrency", "direct3d", "graphics", "detail", "WRL", "ATL"];

/// Where the rows of the table occur.
pub fn rows(source: &Source, code: &Code) -> Vec<Finding> {
    let tokens = &source.tokens;
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        places.entry(&token.text).or_default().push(at);
    }
    let own = Own::of(source, code);
    let mut covered = vec![false; tokens.len()];
    let mut all = Vec::new();
    for row in table() {
        let first = row.pattern[0];
        let begins: Vec<usize> = if first.ends_with('*') {
            places.iter().filter(|(text, _)| row.fits(0, text)).flat_map(|(_, at)| at.iter().copied()).collect()
        } else {
            places.get(first).cloned().unwrap_or_default()
        };
        for at in begins {
            let range = at..at + row.pattern.len();
            let Some(place) = tokens.get(range.clone()) else { continue };
            let fits = place.iter().enumerate().all(|(n, token)| row.fits(n, &token.text));
            if fits && !covered[at] && !own.has(row, at) {
                covered[range].fill(true);
                all.push(finding(source, row, at));
            }
        }
    }
    all
}

/// What the program declares itself.
struct Own<'s> {
    source: &'s Source,
    code: &'s Code,
    members: HashSet<&'s str>,
    /// The parameters of templates, and the bytes of their templates.
    parameters: HashMap<&'s str, Vec<Range<usize>>>,
}

impl<'s> Own<'s> {
    fn of(source: &'s Source, code: &'s Code) -> Self {
        let members =
            source.names.classes.values().flat_map(|class| class.members.keys().map(String::as_str)).collect();
        let mut parameters: HashMap<&str, Vec<Range<usize>>> = HashMap::new();
        for template in &code.templates {
            let end = code.tokens.get(template.end).map_or(source.text.len(), |t| t.range.end);
            for (name, _) in &template.parameters {
                parameters.entry(name).or_default().push(code.tokens[template.start].range.start..end);
            }
        }
        Self { source, code, members, parameters }
    }

    /// The token is a name that the program declares.
    fn has_name(&self, at: usize) -> bool {
        let token = &self.source.tokens[at];
        let name = token.text.as_str();
        self.source.names.has(name)
            || self.members.contains(name)
            || self.parameters.get(name).is_some_and(|all| all.iter().any(|bytes| bytes.contains(&token.range.start)))
    }

    /// What fits the row at a token is the program's own.
    fn has(&self, row: &Row, at: usize) -> bool {
        let (source, code) = (self.source, self.code);
        let before = |n: usize| at.checked_sub(n).map_or("", |n| source.tokens[n].text.as_str());
        let is_header = source.headers.iter().any(|header| row.pattern.get(2) == Some(&header.name.as_str()));
        let code_at =
            |n: usize| code.tokens.binary_search_by_key(&source.tokens[n].range.start, |t| t.range.start).ok();
        let is_member = before(1) == "."
            || before(1) == "->" && !code_at(at - 1).is_some_and(|arrow| is_trailing_return(code, arrow));
        if row.pattern[0] == "#" && is_header || is_member {
            return true;
        }
        if before(1) == "::"
            && at >= 2
            && source.tokens[at - 2].is_name()
            && !is_no_type(before(2))
            && !NAMESPACES.contains(&before(2))
        {
            return true;
        }
        // The name that a directive defines.
        let is_defined = before(1) == "define" || matches!(before(1), "ifdef" | "ifndef" | "undef" | "defined");
        is_defined || row.own_name().is_some() && self.has_name(at)
    }
}

fn finding(source: &Source, row: &Row, at: usize) -> Finding {
    let place = &source.tokens[at..at + row.pattern.len()];
    let texts: Vec<&str> = place.iter().map(|t| t.text.as_str()).collect();
    let mut found = texts.join(" ");
    for (from, to) in [(". . . ", "..."), (" :: ", "::"), ("# ", "#"), (" (", "("), ("( ", "("), (" )", ")")] {
        found = found.replace(from, to);
    }
    let edits = row.edit.map(|edit| edits(source, at, row.pattern.len(), edit)).unwrap_or_default();
    let finding = Finding::new(place[0].line, found, row.reason, row.replacement).with(edits);
    if row.is_note { finding.as_note() } else { finding }
}

/// What `--fix` does at a place; nothing if its tokens are not as it needs them.
fn edits(source: &Source, at: usize, count: usize, edit: &str) -> Vec<Edit> {
    let tokens = &source.tokens;
    let text = |n: usize| tokens.get(n).map_or("", |t| t.text.as_str());
    let before = at.checked_sub(1).map_or("", text);
    let whole = tokens[at].range.start..tokens[at + count - 1].range.end;
    match edit {
        "(drop)" => {
            let behind = &source.text[whole.end..];
            let blanks = behind.len() - behind.trim_start_matches(' ').len();
            vec![Edit::new(whole.start..whole.end + blanks, "")]
        }
        "(line)" => line(source, &tokens[at]).into_iter().collect(),
        "(string)" if text(at + 2) == "\"\"" && text(at + 3) == ")" => {
            // Not the string, which may have edits of its own.
            let (begin, end) =
                (whole.start..tokens[at + 2].range.start, tokens[at + 2].range.end..tokens[at + 3].range.end);
            vec![Edit::new(begin, ""), Edit::new(end, "")]
        }
        "(handle)" if text(at + 3) == ")" => {
            let name = text(at + 2);
            let new = format!("struct {name}__ {{ int unused; }}; typedef {name}__ *{name}");
            vec![Edit::new(whole.start..tokens[at + 3].range.end, new)]
        }
        "(align)" => align(source, at, count),
        // In an initialiser list the name is that of a base or member, which keeps its class.
        "(thrown)" => {
            let is_qualified = before == "::" && at >= 3 && text(at - 2) == "std";
            let is_thrown = before == "throw" || is_qualified && text(at - 3) == "throw";
            is_thrown.then(|| Edit::new(tokens[at].range.clone(), "runtime_error")).into_iter().collect()
        }
        "(int8)" => {
            // `char`, where its sign is written.
            let signs = ["signed", "unsigned"];
            let has_sign = signs.contains(&text(at + count)) || signs.contains(&before);
            vec![Edit::new(whole, if has_sign { "char" } else { "signed char" })]
        }
        "(each)" => {
            let within =
                (at + count..tokens.len()).take_while(|&n| text(n) != "{" && text(n) != ";").find(|&n| text(n) == "in");
            let edits = within.map(|n| [Edit::new(whole, "for ("), Edit::new(tokens[n].range.clone(), ":")]);
            edits.into_iter().flatten().collect()
        }
        "(string)" | "(handle)" => Vec::new(),
        _ if edit.ends_with('*') && declares_several(tokens, at) => Vec::new(),
        _ => {
            let (range, new) = match edit.strip_prefix("(first)") {
                Some(name) => (tokens[at].range.clone(), name),
                None => (whole, edit),
            };
            let new = match before {
                "::" => new.trim_start_matches("::").to_owned(),
                // `a ?b:f()` must not become `a ?b:::f()`.
                ":" if new.starts_with("::") => format!(" {new}"),
                _ => new.to_owned(),
            };
            vec![Edit::new(range, new)]
        }
    }
}

/// Rewrites `__declspec(align(N))` and `DECLSPEC_ALIGN(N)` as `alignas(N)`. C++ takes `alignas` at the beginning of a declaration of
/// variables and behind a class key; an attribute before a class definition moves behind the key. No edits at other places.
fn align(source: &Source, at: usize, count: usize) -> Vec<Edit> {
    let tokens = &source.tokens;
    let text = |n: usize| tokens.get(n).map_or("", |t| t.text.as_str());
    let has_own_parentheses = text(at) == "__declspec";
    let open = if has_own_parentheses { at + count } else { at + count - 1 };
    let close = closing(tokens, open);
    let Some(end) = close.map(|n| n + usize::from(has_own_parentheses)).filter(|&n| text(n) == ")") else {
        return Vec::new();
    };
    let before = at.checked_sub(1).map_or(";", text);
    let is_class = |n: usize| matches!(text(n), "struct" | "class" | "union");
    let begins = matches!(before, ";" | "{" | "}" | ":") || at > 0 && tokens[at - 1].directive && !tokens[at].directive;
    let mut declaration = (end + 1..tokens.len()).take_while(|&n| !matches!(text(n), ";" | "{" | "=" | "("));
    let mut edits = Vec::new();
    let new = if is_class(end + 1) && (begins || before == ">") && defines_class(tokens, end + 1) {
        let rest = tokens.get(end + 2).map_or(source.text.len(), |t| t.range.start);
        let blanks = &source.text[tokens[end + 1].range.end..rest];
        let blanks = blanks.len() - blanks.trim_start_matches(' ').len();
        edits.push(Edit::new(tokens[end + 1].range.start..tokens[end + 1].range.end + blanks, ""));
        format!("{} alignas", text(end + 1))
    } else if is_class(at.wrapping_sub(1))
        || begins && !declaration.any(|n| is_class(n) || matches!(text(n), "enum" | "typedef"))
    {
        "alignas".to_owned()
    } else {
        return Vec::new();
    };
    edits.push(Edit::new(tokens[at].range.start..tokens[open - 1].range.end, new));
    if has_own_parentheses {
        edits.push(Edit::new(tokens[end].range.clone(), ""));
    }
    edits
}

/// The keyword begins the definition of a class, without variables.
fn defines_class(tokens: &[Token], keyword: usize) -> bool {
    let is = |n: usize, texts: &[&str]| tokens.get(n).is_some_and(|t| texts.contains(&t.text.as_str()));
    let body = (keyword..tokens.len()).find(|&n| is(n, &["{", ";", "(", "="])).filter(|&n| is(n, &["{"]));
    body.and_then(|body| closing(tokens, body)).is_some_and(|end| is(end + 1, &[";"]))
}

/// The other half of a `(` or `{`.
fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let (begin, end) = match tokens.get(open)?.text.as_str() {
        "(" => ("(", ")"),
        "{" => ("{", "}"),
        _ => return None,
    };
    let mut depth = 0_usize;
    (open..tokens.len()).find(|&n| {
        match tokens[n].text.as_str() {
            text if text == begin => depth += 1,
            text if text == end => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

/// `LPSTR a, b;` becomes two declarations, and `const LPSTR a` is no `const char *a`.
fn declares_several(tokens: &[Token], at: usize) -> bool {
    let behind = |n: usize| tokens.get(at + n).map_or("", |t| t.text.as_str());
    let opened =
        tokens[..at].iter().rev().take_while(|t| !matches!(t.text.as_str(), ";" | "{" | "}")).any(|t| t.text == "(");
    at > 0 && tokens[at - 1].text == "const"
        || !opened && tokens[at + 1..].iter().take_while(|t| t.text != ";").any(|t| t.text == ",")
        || behind(1) == "const"
}

/// The line of a directive, if nothing else is in it.
fn line(source: &Source, hash: &Token) -> Option<Edit> {
    let start = source.text[..hash.range.start].rfind('\n').map_or(0, |n| n + 1);
    let end = source.text[start..].find('\n').map_or(source.text.len(), |n| start + n + 1);
    let line = source.text[start..end].trim_end();
    let is_alone = source.text[start..hash.range.start].trim_start_matches('\u{FEFF}').trim().is_empty();
    let from = start + if source.text[start..].starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    (is_alone && !line.ends_with('\\') && !line.contains("/*")).then(|| Edit::new(from..end, ""))
}
