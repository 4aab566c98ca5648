//! Finds the code in a source that matches a row of the table `idioms.txt`.

use crate::findings::{Edit, Finding};
use crate::functions::{is_non_type_keyword, is_trailing_return};
use crate::lex::Token;
use crate::source::Source;
use crate::syntax::Code;
use crate::table::{Row, rows as table};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Namespaces that the table's patterns omit. A row also matches a name that is qualified with one of these namespaces.
const NAMESPACES: [&str; 8] = ["std", "concurrency", "Concurrency", "direct3d", "graphics", "detail", "WRL", "ATL"];

/// Finds the code that rows of the table match.
pub fn rows(source: &Source, code: &Code) -> Vec<Finding> {
    let tokens = &source.tokens;
    let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        positions.entry(&token.text).or_default().push(at);
    }
    let program_names = ProgramNames::of(source, code);
    let mut covered = vec![false; tokens.len()];
    let mut all = Vec::new();
    for row in table() {
        let first = row.pattern[0];
        let begins: Vec<usize> = if first.ends_with('*') {
            positions.iter().filter(|(text, _)| row.fits(0, text)).flat_map(|(_, at)| at.iter().copied()).collect()
        } else {
            positions.get(first).cloned().unwrap_or_default()
        };
        for at in begins {
            let range = at..at + row.pattern.len();
            let Some(matched_tokens) = tokens.get(range.clone()) else { continue };
            let fits = matched_tokens.iter().enumerate().all(|(n, token)| row.fits(n, &token.text));
            if fits && !covered[at] && !program_names.has(row, at) {
                covered[range].fill(true);
                all.push(finding(source, row, at));
            }
        }
    }
    all
}

/// Names that the program declares itself. Rows of the table do not apply to these names.
struct ProgramNames<'s> {
    source: &'s Source,
    code: &'s Code,
    members: HashSet<&'s str>,
    /// Template parameters by name, each with the byte ranges of the templates that have it.
    parameters: HashMap<&'s str, Vec<Range<usize>>>,
}

impl<'s> ProgramNames<'s> {
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

    /// True if the token is a name that the program declares.
    fn has_name(&self, at: usize) -> bool {
        let token = &self.source.tokens[at];
        let name = token.text.as_str();
        self.source.names.has(name)
            || self.members.contains(name)
            || self.parameters.get(name).is_some_and(|all| all.iter().any(|bytes| bytes.contains(&token.range.start)))
    }

    /// True if the row, which matches at a token, does not apply because the name there belongs to the program.
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
            && !is_non_type_keyword(before(2))
            && !NAMESPACES.contains(&before(2))
        {
            return true;
        }
        // The name is an operand of a directive.
        let is_defined = before(1) == "define" || matches!(before(1), "ifdef" | "ifndef" | "undef" | "defined");
        is_defined || row.single_name().is_some() && self.has_name(at)
    }
}

fn finding(source: &Source, row: &Row, at: usize) -> Finding {
    let matched_tokens = &source.tokens[at..at + row.pattern.len()];
    let texts: Vec<&str> = matched_tokens.iter().map(|t| t.text.as_str()).collect();
    let mut found = texts.join(" ");
    for (from, to) in [(". . . ", "..."), (" :: ", "::"), ("# ", "#"), (" (", "("), ("( ", "("), (" )", ")")] {
        found = found.replace(from, to);
    }
    let edits = row.edit.map(|edit| edits(source, at, row.pattern.len(), edit)).unwrap_or_default();
    let finding = Finding::new(matched_tokens[0].line, found, row.reason, row.replacement).with(edits);
    if row.is_note { finding.as_note() } else { finding }
}

/// The edits that `--fix` makes at a match of a row. Empty if the tokens around do not allow the edit.
fn edits(source: &Source, at: usize, count: usize, edit: &str) -> Vec<Edit> {
    let tokens = &source.tokens;
    let text = |n: usize| tokens.get(n).map_or("", |t| t.text.as_str());
    let before = at.checked_sub(1).map_or("", text);
    let whole = tokens[at].range.start..tokens[at + count - 1].range.end;
    match edit {
        "(drop)" => {
            let following = &source.text[whole.end..];
            let blanks = following.len() - following.trim_start_matches(' ').len();
            vec![Edit::new(whole.start..whole.end + blanks, "")]
        }
        "(line)" => line(source, &tokens[at]).into_iter().collect(),
        "(string)" if text(at + 2) == "\"\"" && text(at + 3) == ")" => {
            // One edit before the string and one after it: the string may have edits of its own.
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
        // Edits only throw expressions. In an initialiser list, the name is a base or member, whose class does not
        // change.
        "(thrown)" => {
            let is_qualified = before == "::" && at >= 3 && text(at - 2) == "std";
            let is_thrown = before == "throw" || is_qualified && text(at - 3) == "throw";
            is_thrown.then(|| Edit::new(tokens[at].range.clone(), "runtime_error")).into_iter().collect()
        }
        "(int8)" => {
            // `signed` or `unsigned` before or after the keyword gives the sign.
            let signs = ["signed", "unsigned"];
            let has_sign = signs.contains(&text(at + count)) || signs.contains(&before);
            vec![Edit::new(whole, if has_sign { "char" } else { "signed char" })]
        }
        "(each)" => {
            let in_keyword =
                (at + count..tokens.len()).take_while(|&n| text(n) != "{" && text(n) != ";").find(|&n| text(n) == "in");
            let edits = in_keyword.map(|n| [Edit::new(whole, "for ("), Edit::new(tokens[n].range.clone(), ":")]);
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

/// Rewrites `__declspec(align(N))` and `DECLSPEC_ALIGN(N)` as `alignas(N)`. C++ allows `alignas` at the beginning of a declaration of
/// variables and after a class key. An attribute before a class definition moves after the class key. In other places, no edit is made.
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

/// True if the keyword begins a class definition that has no variables after its closing brace.
fn defines_class(tokens: &[Token], keyword: usize) -> bool {
    let is = |n: usize, texts: &[&str]| tokens.get(n).is_some_and(|t| texts.contains(&t.text.as_str()));
    let body = (keyword..tokens.len()).find(|&n| is(n, &["{", ";", "(", "="])).filter(|&n| is(n, &["{"]));
    body.and_then(|body| closing(tokens, body)).is_some_and(|end| is(end + 1, &[";"]))
}

/// The bracket that closes a `(` or `{`.
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

/// True if a pointer type cannot replace the name at a token: `LPSTR a, b;` would need two declarations, and `const LPSTR a` is not `const char *a`.
fn declares_several(tokens: &[Token], at: usize) -> bool {
    let following = |n: usize| tokens.get(at + n).map_or("", |t| t.text.as_str());
    let opened =
        tokens[..at].iter().rev().take_while(|t| !matches!(t.text.as_str(), ";" | "{" | "}")).any(|t| t.text == "(");
    at > 0 && tokens[at - 1].text == "const"
        || !opened && tokens[at + 1..].iter().take_while(|t| t.text != ";").any(|t| t.text == ",")
        || following(1) == "const"
}

/// An edit that deletes the line of a directive; `None` if the line contains anything else.
fn line(source: &Source, hash: &Token) -> Option<Edit> {
    let start = source.text[..hash.range.start].rfind('\n').map_or(0, |n| n + 1);
    let end = source.text[start..].find('\n').map_or(source.text.len(), |n| start + n + 1);
    let line = source.text[start..end].trim_end();
    let is_alone = source.text[start..hash.range.start].trim_start_matches('\u{FEFF}').trim().is_empty();
    let from = start + if source.text[start..].starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
    (is_alone && !line.ends_with('\\') && !line.contains("/*")).then(|| Edit::new(from..end, ""))
}
